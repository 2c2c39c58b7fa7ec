//! Caches of kernels that remember operands and results, and what they take for the same; see [`state`](super::state).

use super::super::address::of_values;
use super::super::dense::{Dense, after};
use super::super::edit::rebuilt;
use super::super::memory::{Memory, by_address, recall};
use super::super::request::{bits_of, left_of, right_of, values_of, with_left, with_right};
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::AnySparse;
use sparse_oracle::task::{Answer, DenseRef, Task};

/// The matrix that this key stood for first.
fn held(contract: &Contract, task: &Task<'_>, memory: &Memory, key: fn(&AnySparse) -> String) -> AnySparse {
    let (a, transposed) = left_of(task);
    let key = format!("{contract} {transposed} {:?} {}", a.shape(), key(a));
    memory.with(|state| recall(&mut state.matrices, key, || a.clone()))
}

/// The product with the matrix that the key stood for first.
pub(super) fn kept_left(
    contract: &Contract,
    task: Task<'_>,
    memory: &Memory,
    key: fn(&AnySparse) -> String,
) -> Result<Answer, Failure> {
    let held = held(contract, &task, memory, key);
    Portable.run(contract, with_left(task, &held)?)
}

/// The held pattern with the values of now, or the other way round.
pub(super) fn merged_left(
    contract: &Contract,
    task: Task<'_>,
    memory: &Memory,
    key: fn(&AnySparse) -> String,
    old_pattern: bool,
) -> Result<Answer, Failure> {
    let held = held(contract, &task, memory, key);
    let now = left_of(&task).0;
    let (pattern, values) = if old_pattern { (&held, now) } else { (now, &held) };
    let mut bits = Vec::new();
    rebuilt(values, |list, _| bits.extend(list.iter().map(|e| e.value)))?;
    let merged = rebuilt(pattern, |list, _| {
        list.iter_mut().zip(bits).for_each(|(e, bits)| e.value = bits);
    })?;
    Portable.run(contract, with_left(task, &merged)?)
}

/// The product with the dense operand that the key stood for first.
pub(super) fn kept_right(
    contract: &Contract,
    task: Task<'_>,
    memory: &Memory,
    key: fn(&DenseRef<'_>) -> String,
) -> Result<Answer, Failure> {
    let Some(b) = right_of(&task) else {
        return Portable.run(contract, task);
    };
    let key = format!("{contract} {}x{} {} {:?} {}", b.rows, b.cols, b.ld, b.layout, key(&b));
    let bits = memory.with(|state| recall(&mut state.results, key, || bits_of(b.data)));
    let held = values_of(b.data.precision(), &bits);
    Portable.run(contract, with_right(task, held.as_slice())?)
}

/// The result of the call before, where A's address and all extents are the same and C is not read. C's own address is not asked: the
/// allocator may give each call another one, and what a run would have caught differed from one run to the next.
pub(super) fn result_by_address(
    contract: &Contract,
    task: Task<'_>,
    memory: &Memory,
) -> Result<Answer, Failure> {
    let (a, _) = left_of(&task);
    let key = format!("{contract} {:?} {}", a.shape(), by_address(of_values(a)));
    after(contract, task, |d: &mut Dense<'_>| {
        let key = format!("{key} {}x{} {}", d.rows, d.cols, d.beta);
        let fresh = d.after.clone();
        let kept = memory.with(|state| recall(&mut state.results, key, || fresh));
        if d.beta == 0.0 {
            d.offsets().iter().for_each(|o| d.after[o.2] = kept[o.2]);
        }
    })
}
