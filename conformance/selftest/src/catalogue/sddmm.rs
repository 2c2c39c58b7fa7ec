//! SDDMM: the dense product, sampled.
//!
//! ```text
//! out_p = alpha * (X_i . Y_j) for the p-th stored position (i, j) of S      mode scale: times S_ij; mode add: plus beta * S_ij
//! ```

use super::super::bug::symptom::{UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::{after, offset};
use super::super::edit::triples;
use super::super::request::{bits_of, values_of};
use super::legal;
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::Layout;
use sparse_oracle::scalar::{Values, decode};
use sparse_oracle::task::{Answer, DenseRef, SddmmMode, Task};

const F: Family = Family::Sddmm;

fn any(case: &Case) -> bool {
    legal(case, Op::Sddmm)
}

fn deep(case: &Case) -> bool {
    any(case) && case.params.n > 1
}

fn mode(case: &Case, mode: SddmmMode) -> bool {
    any(case) && case.params.mode == mode
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "sddmm: mode ignored",
        "S is a pattern, whatever was asked",
        |c| any(c) && c.params.mode != SddmmMode::Pattern,
        Effect::Request(|t| set_mode(t, SddmmMode::Pattern)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: always scaled",
        "the result is multiplied by S, whatever was asked",
        |c| mode(c, SddmmMode::Pattern) && c.params.alpha == 1.0,
        Effect::Request(|t| set_mode(t, SddmmMode::Scale)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: beta ignored",
        "S is added as it is",
        |c| mode(c, SddmmMode::AddS) && c.params.beta != 1.0,
        Effect::Request(|t| {
            if let Task::Sddmm { beta, .. } = t {
                *beta = 1.0;
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: last k dropped",
        "the inner loop ends one step early",
        deep,
        Effect::Runs(|contract, task| cut(contract, task, |k| k.saturating_sub(1))),
        &[VALUE],
    ),
    Bug::new(F, "sddmm: Y one row on", "Y is indexed by j + 1", any, Effect::Runs(wrong_row_of_y), &[VALUE]),
    Bug::new(
        F,
        "sddmm: order by columns",
        "results are stored in the order of a CSC pattern",
        any,
        Effect::Runs(by_columns),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: explicit zeros of S skipped",
        "positions whose value is zero are taken for absent and get zero",
        any,
        Effect::Runs(zeros_skipped),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: zero of S times NaN is zero",
        "a stored zero short-circuits the product",
        |c| mode(c, SddmmMode::Scale),
        Effect::Runs(zeros_skipped),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: one position late",
        "result p is stored at p + 1",
        any,
        Effect::Output(|d| {
            if !d.after.is_empty() {
                d.after.rotate_right(1);
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: last position left",
        "a thread per position, rounded down to warps of 32",
        any,
        Effect::Output(|d| {
            let whole = d.rows / 32 * 32;
            d.leave(|_, i, _| i >= whole);
        }),
        &[UNWRITTEN],
    ),
];

fn set_mode(task: &mut Task<'_>, other: SddmmMode) {
    if let Task::Sddmm { mode, .. } = task {
        *mode = other;
    }
}

/// The stored positions of S.
pub(super) fn positions(task: &Task<'_>) -> Vec<(u32, u32)> {
    let Task::Sddmm { s, .. } = task else {
        return Vec::new();
    };
    triples(s).iter().map(|e| (e.row, e.col)).collect()
}

/// The first `inner` columns, compact.
fn short(d: DenseRef<'_>, inner: usize) -> Values {
    let at = |i: usize| (0..inner).map(move |j| (i, j));
    let bits: Vec<u64> =
        (0..d.rows).flat_map(at).map(|(i, j)| d.data.bits(offset(d.layout, d.ld, i, j))).collect();
    values_of(d.data.precision(), &bits)
}

/// The product with an inner extent cut to `kept` of it.
pub(super) fn cut(contract: &Contract, task: Task<'_>, kept: fn(usize) -> usize) -> Result<Answer, Failure> {
    let Task::Sddmm { s, x, y, alpha, beta, mode, out } = task else {
        return Portable.run(contract, task);
    };
    let inner = kept(x.cols);
    let (xs, ys) = (short(x, inner), short(y, inner));
    let (ld, layout) = (inner, Layout::RowMajor);
    let x = DenseRef { rows: x.rows, cols: inner, ld, layout, data: xs.as_slice() };
    let y = DenseRef { rows: y.rows, cols: inner, ld, layout, data: ys.as_slice() };
    Portable.run(contract, Task::Sddmm { s, x, y, alpha, beta, mode, out })
}

/// Row j of Y is row j + 1, around the end.
fn wrong_row_of_y(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    rows_of_y(contract, task, |j, rows| (j + 1) % rows)
}

/// The product with row `from(j, rows)` of Y in the place of row j.
pub(super) fn rows_of_y(
    contract: &Contract,
    task: Task<'_>,
    from: fn(usize, usize) -> usize,
) -> Result<Answer, Failure> {
    let Task::Sddmm { s, x, y, alpha, beta, mode, out } = task else {
        return Portable.run(contract, task);
    };
    let mut bits = bits_of(y.data);
    for j in 0..y.rows {
        for k in 0..y.cols {
            let other = from(j, y.rows);
            bits[offset(y.layout, y.ld, j, k)] = y.data.bits(offset(y.layout, y.ld, other, k));
        }
    }
    let ys = values_of(y.data.precision(), &bits);
    let y = DenseRef { data: ys.as_slice(), ..y };
    Portable.run(contract, Task::Sddmm { s, x, y, alpha, beta, mode, out })
}

fn by_columns(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let mut order: Vec<((u32, u32), usize)> =
        positions(&task).into_iter().enumerate().map(|(p, (i, j))| ((j, i), p)).collect();
    order.sort_unstable();
    after(contract, task, |d| {
        let right = d.after.clone();
        for (to, &(_, from)) in order.iter().enumerate() {
            d.after[to] = right[from];
        }
    })
}

fn zeros_skipped(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Sddmm { s, .. } = &task else {
        return Portable.run(contract, task);
    };
    let precision = s.precision();
    let zero: Vec<bool> = triples(s).iter().map(|e| decode(e.value, precision) == 0.0).collect();
    after(contract, task, |d| {
        for (p, _) in zero.iter().enumerate().filter(|z| *z.1) {
            d.after[p] = 0;
        }
    })
}
