//! The target that hands arrays to constructors, nearly valid ones and arbitrary ones, and what others use of it.

use super::FuzzOutcome;
use super::bitmaps::BITMAPS;
use super::input::{Input, SIDE};
use super::same::same_csr;
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnySparse, Csr, Fields, FormatKind, FormatParams, Parts, PartsElement, Sparse};
use sparse_oracle::judge::first_difference;
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Element, Precision};
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::with_scalar;
use std::sync::OnceLock;

/// Arrays of any format: the constructor refuses with a typed error, or takes them as they are, and then all that
/// decoders and kernels rely on holds.
///
/// # Panics
/// When it does not.
pub fn invalid_parts(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    let kind = input.pick(&FormatKind::ALL);
    with_scalar!(input.pick(kind.precisions()), T => {
        let Some(parts) = build::<T>(&mut input, kind) else {
            return FuzzOutcome::Refused;
        };
        match parts.clone().check() {
            Err(refusal) => {
                assert!(!refusal.to_string().is_empty());
                FuzzOutcome::Refused
            }
            Ok(matrix) => {
                let kept = Parts::from(matrix.clone());
                assert_eq!(first_difference(&parts, &kept), None, "the constructor changed its arrays");
                assert!(parts.index_bytes() == kept.index_bytes());
                decoded_alike(matrix)
            }
        }
    })
}

/// Arbitrary arrays, or those of a small matrix with up to three fields damaged. `None` where the encoder refuses.
fn build<T: Element>(input: &mut Input<'_>, kind: FormatKind) -> Option<Parts<T>> {
    if input.one_in(4) {
        return Some(input.parts(kind));
    }
    let params = input.params(&[kind]);
    let mut damage = input.damages();
    let entries = prune(&input.entries::<T>(SIDE), kind, &params).ok()?;
    let matrix = Sparse::from_entries(kind, params, &entries).ok()?;
    Some(damaged(matrix.into(), &mut damage))
}

/// The arrays with each piece of damage done.
pub(super) fn damaged<T: Element>(mut parts: Parts<T>, damage: &mut [Input<'_>]) -> Parts<T> {
    for piece in damage {
        piece.damage(&mut parts);
    }
    parts
}

/// The reference's entries are valid, as many as promised, and those that the kernel decodes.
pub(super) fn decoded_alike<T: PartsElement + Element>(matrix: Sparse<T>) -> FuzzOutcome
where
    AnySparse: From<Sparse<T>>,
{
    let kind = matrix.kind();
    let (rows, cols) = matrix.shape();
    // Decoders walk rows, stored or not; the bitmap formats walk what is stored.
    if rows.max(cols) > 1 << 20 && !BITMAPS.contains(&kind) {
        return FuzzOutcome::Accepted;
    }
    let entries = matrix.entries();
    assert_eq!(entries.check(), Ok(()), "the reference decodes to valid entries");
    if kind != FormatKind::Coo {
        assert_eq!(matrix.nnz(), entries.nnz());
    }
    let a = AnySparse::from(matrix);
    let mut outcome = FuzzOutcome::Accepted;
    for kernel in converters(kind, FormatKind::Csr, T::PRECISION) {
        let answer =
            (kernel.run)(Task::Convert { a: &a, to: FormatKind::Csr, params: FormatParams::default() });
        match answer {
            Ok(Answer::Sparse(raw)) => {
                assert_eq!(same_csr(&raw, &entries, kind == FormatKind::Coo), None, "{}", kernel.name);
            }
            Ok(other) => panic!("{} answered {other:?}", kernel.name),
            // More rows than a row pointer may have.
            Err(refusal) => {
                assert_eq!(Csr::from_entries(&entries).err(), Some(refusal), "{}", kernel.name);
                outcome = FuzzOutcome::Refused;
            }
        }
    }
    outcome
}

type Table = [[Vec<&'static Kernel>; Precision::ALL.len()]; FormatKind::ALL.len()];

/// The kernels that convert to or from CSR.
pub(super) fn converters(
    from: FormatKind,
    to: FormatKind,
    precision: Precision,
) -> &'static [&'static Kernel] {
    // Not `LazyLock`, which names what fills it and so brings every kernel into this crate (`sparse_kernels::registry`).
    static DECODERS: OnceLock<Table> = OnceLock::new();
    static ENCODERS: OnceLock<Table> = OnceLock::new();
    let (table, other) = if to == FormatKind::Csr {
        let of = |c: &Contract| (c.to == Some(FormatKind::Csr)).then_some(c.format);
        (DECODERS.get_or_init(|| table(of)), from)
    } else {
        let of = |c: &Contract| c.to.filter(|_| c.format == FormatKind::Csr);
        (ENCODERS.get_or_init(|| table(of)), to)
    };
    &table[other as usize][precision as usize]
}

fn table(other: impl Fn(&Contract) -> Option<FormatKind>) -> Table {
    let mut table = Table::default();
    for kernel in kernels_here().filter(|k| k.contract.op == Op::Convert) {
        if let Some(other) = other(&kernel.contract) {
            table[other as usize][kernel.contract.types.a as usize].push(kernel);
        }
    }
    table
}
