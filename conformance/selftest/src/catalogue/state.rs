//! What a kernel remembers of calls before, and takes for what it is asked now.
//!
//! ```text
//! key of a cache    address | extents | offsets | first value | hash of 3 bits        what it holds   A, its pattern, B, a result
//! count of calls    1st, 64th, 256th, 65536th
//! ```
//!
//! Caches by address hold the last matrix alone, and are not hunted after operands were freed: what lay at an address before is up to
//! the allocator there, and a hunt must repeat. Calls on the same arrays with other contents show these bugs without it.

use super::super::address::{of_slice, of_values};
use super::super::bug::symptom::{NONDETERMINISTIC, PATTERN, REFUSED, STRUCTURE, UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::after;
use super::super::edit::{retain, triples};
use super::super::memory::{Memory, by_address};
use super::super::request::factors;
use super::caches::{kept_left, kept_right, merged_left, result_by_address};
use super::{dense, legal, plain, product, scaled, spmm};
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::plan::Tier;
use sparse_conformance_core::report::Defect;
use sparse_conformance_core::sequence::After;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::task::{Answer, Task};
use xxhash_rust::xxh3::xxh3_64;

const F: Family = Family::State;
const OLD: &[Symptom] = &[VALUE, Symptom::Wrong(Defect::Stale), NONDETERMINISTIC, UNWRITTEN];

type Run = fn(&Contract, Task<'_>, &Memory) -> Result<Answer, Failure>;

fn sddmm(case: &Case) -> bool {
    legal(case, Op::Sddmm)
}

/// True where the case line alone says which calls find their operands at the addresses of those before.
fn settled(case: &Case) -> bool {
    case.params.after != Some(After::Freed)
}

pub(super) static BUGS: &[Bug] = &[
    row(
        "state: A by the address of its values",
        "a plan is kept as long as the pointer and the extents stay",
        |c| scaled(c) && settled(c),
        |c, t, m| kept_left(c, t, m, |a| format!("{} {}", by_address(of_values(a)), a.nnz())),
    ),
    row(
        "state: values by their address",
        "values are uploaded once per pointer, the pattern each time",
        |c| plain(c) && settled(c),
        |c, t, m| merged_left(c, t, m, |a| format!("{} {}", by_address(of_values(a)), a.nnz()), false),
    ),
    row("state: A by its extents", "a plan is kept by rows, columns and entries", scaled, |c, t, m| {
        kept_left(c, t, m, |a| a.nnz().to_string())
    }),
    row(
        "state: pattern by extents",
        "the analysis is kept by rows, columns and entries, values are fresh",
        plain,
        |c, t, m| merged_left(c, t, m, |a| a.nnz().to_string(), true),
    ),
    row(
        "state: A by its row lengths",
        "a plan is kept by a hash of row_ptr, which columns and values are not in",
        scaled,
        |c, t, m| {
            kept_left(c, t, m, |a| {
                let rows: Vec<u8> = triples(a).iter().flat_map(|e| e.row.to_le_bytes()).collect();
                format!("{:x}", xxh3_64(&rows))
            })
        },
    ),
    row("state: A by its first entry", "a fingerprint of the first column and value", scaled, |c, t, m| {
        kept_left(c, t, m, |a| format!("{:?}", triples(a).first()))
    }),
    row("state: A by a sample of its values", "a fingerprint of every 16th value", scaled, |c, t, m| {
        kept_left(c, t, m, |a| format!("{:?}", triples(a).iter().step_by(16).collect::<Vec<_>>()))
    }),
    row(
        "state: A by its first and its last entry",
        "a fingerprint of the two ends of the arrays",
        scaled,
        |c, t, m| kept_left(c, t, m, |a| format!("{:?} {:?}", triples(a).first(), triples(a).last())),
    ),
    row(
        "state: A by a hash of three bits",
        "a table of eight plans, whose keys are never compared",
        scaled,
        |c, t, m| {
            kept_left(c, t, m, |a| {
                let all: Vec<u8> =
                    triples(a).iter().flat_map(|e| (u64::from(e.col) ^ e.value).to_le_bytes()).collect();
                format!("{}", xxh3_64(&all) & 7)
            })
        },
    ),
    row(
        "state: B by its address",
        "B is packed once per pointer and extents",
        |c| scaled(c) && settled(c),
        |c, t, m| kept_right(c, t, m, |b| by_address(of_slice(b.data))),
    ),
    row(
        "state: B by its extents",
        "B is packed once per rows, columns and leading dimension",
        scaled,
        |c, t, m| kept_right(c, t, m, |_| String::new()),
    ),
    row(
        "state: B by its first element",
        "B is packed again where its first element changes",
        scaled,
        |c, t, m| {
            kept_right(c, t, m, |b| {
                let first = if b.data.is_empty() { 0 } else { b.data.bits(0) };
                first.to_string()
            })
        },
    ),
    row(
        "state: B by a sample of its elements",
        "B is packed again where one of every 16 elements changes",
        scaled,
        |c, t, m| {
            kept_right(c, t, m, |b| {
                let sample: Vec<u64> = (0..b.data.len()).step_by(16).map(|at| b.data.bits(at)).collect();
                format!("{sample:?}")
            })
        },
    ),
    row("state: X by its extents", "X is transposed once per extents", sddmm, |c, t, m| {
        kept_right(c, t, m, |_| String::new())
    }),
    row(
        "state: result by the address of A",
        "a call with the matrix of the one before, by its pointer, is taken for a repeat",
        |c| product(c) && settled(c),
        result_by_address,
    ),
    row(
        "state: workspace past 64 rows",
        "sums of a workspace are cleared for the first 64 rows",
        scaled,
        workspace,
    ),
    row(
        "state: alpha of the call before",
        "alpha is copied to the device asynchronously, after the launch",
        |c| product(c) && c.params.alpha != 1.0,
        |c, t, m| late_factors(c, t, m, |then, now| (then.0, now.1)),
    ),
    row(
        "state: beta of the first call",
        "a captured graph holds the beta that it was captured with",
        product,
        first_factors,
    ),
    row(
        "state: transpose of the call before",
        "a handle keeps the operation, where the matrix is square",
        |c| scaled(c) && plain(c),
        late_transpose,
    ),
    row(
        "calls: every 256th does nothing",
        "a counter of a byte wraps to the value that says done",
        dense,
        |c, t, m| nothing_where(c, t, m, |call| call.is_multiple_of(256)),
    ),
    row(
        "calls: every 64th does nothing",
        "a ring of 64 buffers, one of which is never launched",
        dense,
        |c, t, m| nothing_where(c, t, m, |call| call.is_multiple_of(64)),
    ),
    row(
        "calls: the 65,536th does nothing",
        "a counter of 16 bits wraps to the value that says done",
        dense,
        |c, t, m| nothing_where(c, t, m, |call| call.is_multiple_of(1 << 16)),
    )
    .only_from(Tier::Full),
    row(
        "calls: the first leaves the last row",
        "the first call is taken to measure, with a row less",
        spmm,
        |c, t, m| {
            after(c, t, |d| {
                // A call without a result is none.
                let rows = d.rows;
                let first = rows * d.cols > 0 && m.count(&c.to_string()) == 1;
                d.leave(|_, i, _| first && i + 1 == rows);
            })
        },
    ),
    Bug::new(
        F,
        "calls: refused from the 200th on",
        "a handle is made for each call, and none is given back",
        |c| c.params.fault.is_none(),
        Effect::Remembers(|c, t, m| {
            if m.count(&c.to_string()) >= 200 { Err("no more handles".into()) } else { Portable.run(c, t) }
        }),
        &[REFUSED, NONDETERMINISTIC],
    ),
    Bug::new(
        F,
        "state: entries of C by extents",
        "SpGEMM's symbolic phase is skipped for extents that it has seen",
        |c| legal(c, Op::Spgemm),
        Effect::Remembers(kept_count),
        &[PATTERN, NONDETERMINISTIC],
    ),
    Bug::new(
        F,
        "state: conversion by extents",
        "a conversion is kept by rows, columns and entries",
        |c| c.contract.op.is_exact() && c.params.fault.is_none(),
        Effect::Remembers(|c, t, m| kept_left(c, t, m, |a| a.nnz().to_string())),
        &[PATTERN, VALUE, STRUCTURE, NONDETERMINISTIC],
    ),
];

const fn row(name: &'static str, story: &'static str, concerns: fn(&Case) -> bool, run: Run) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Remembers(run), OLD)
}

/// Rows from 64 on add to what the last call left in the workspace, element by element.
fn workspace(contract: &Contract, task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    after(contract, task, |d| {
        let precision = d.precision;
        memory.with(|state| {
            let held = state.results.entry(format!("{precision}")).or_default();
            for (i, j, at) in d.offsets().into_iter().filter(|o| o.0 >= 64) {
                let slot = (i - 64) * d.cols + j;
                if held.len() <= slot {
                    held.resize(slot + 1, 0);
                }
                let fresh = d.number(d.after[at]);
                d.after[at] = d.bits(fresh + d.number(held[slot]));
                held[slot] = d.bits(if fresh.is_finite() { fresh } else { 0.0 });
            }
        });
    })
}

/// alpha and beta.
type Factors = (f64, f64);

/// Runs with factors made of those of the call before, of this contract, and of now.
fn late_factors(
    contract: &Contract,
    mut task: Task<'_>,
    memory: &Memory,
    mix: fn(Factors, Factors) -> Factors,
) -> Result<Answer, Failure> {
    factors(&mut task, |alpha, beta| {
        let now = vec![alpha.to_bits(), beta.to_bits()];
        let then =
            memory.with(|state| state.results.insert(contract.to_string(), now.clone())).unwrap_or(now);
        mix((f64::from_bits(then[0]), f64::from_bits(then[1])), (alpha, beta))
    });
    Portable.run(contract, task)
}

fn first_factors(contract: &Contract, mut task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    factors(&mut task, |alpha, beta| {
        let held = |bits: &mut Vec<u64>| f64::from_bits(bits[0]);
        let first = memory.with(|state| {
            held(state.results.entry(contract.to_string()).or_insert_with(|| vec![beta.to_bits()]))
        });
        (alpha, first)
    });
    Portable.run(contract, task)
}

fn late_transpose(contract: &Contract, mut task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    if let Task::Spmm { a, transpose_a, .. } | Task::Spmv { a, transpose_a, .. } = &mut task {
        let now = u64::from(*transpose_a);
        let then =
            memory.with(|state| state.counts.insert(format!("transpose {contract}"), now)).unwrap_or(now);
        if a.shape().0 == a.shape().1 {
            *transpose_a = then == 1;
        }
    }
    Portable.run(contract, task)
}

/// Calls of a contract, counted from 1, for which nothing is computed.
fn nothing_where(
    contract: &Contract,
    task: Task<'_>,
    memory: &Memory,
    idle: fn(u64) -> bool,
) -> Result<Answer, Failure> {
    if idle(memory.count(&contract.to_string())) { Ok(Answer::Written) } else { Portable.run(contract, task) }
}

/// No more entries than the first product of these extents had.
fn kept_count(contract: &Contract, task: Task<'_>, memory: &Memory) -> Result<Answer, Failure> {
    let key = if let Task::Spgemm { a, b } = &task {
        format!("{contract} {:?} {:?}", a.shape(), b.shape())
    } else {
        String::new()
    };
    let mut answer = Portable.run(contract, task)?;
    if let Answer::Sparse(raw) = &mut answer {
        let stored = raw.indices.len() as u64;
        let first = memory.with(|state| *state.counts.entry(key).or_insert(stored));
        retain(raw, |at, _| (at as u64) < first);
    }
    Ok(answer)
}
