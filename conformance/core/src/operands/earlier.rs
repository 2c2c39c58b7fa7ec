//! The operands of earlier calls: those of the case, changed in what a kernel may take for granted.

use super::{Earlier, build, family_of, seed_of, sparse_operand, sparse_role};
use crate::after::After;
use crate::case::{Case, Filling, Params};
use crate::origin::Loaded;
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::format::{Coo, CooParts, FormatKind};
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::SddmmMode;

/// The calls before a case's own, in order. One that can't be made (too large, no such encoding) is left out.
pub(crate) fn earlier(case: &Case, loaded: &Loaded) -> Vec<Earlier> {
    let Some(after) = case.params.after else {
        return Vec::new();
    };
    let same = plain(case);
    let asked: Vec<(Case, Option<Loaded>)> = match after {
        After::Contents | After::Freed => vec![
            (reseeded(&same, 1), mirrored(loaded, true, true)),
            // The same row lengths, other columns.
            (reseeded(&same, 2), mirrored(loaded, false, true)),
            (reseeded(&same, 3), Some(loaded.clone())),
        ],
        After::Many | After::Myriad => vec![(reseeded(&same, 1), mirrored(loaded, true, true))],
        After::Extents => {
            let n = same.params.n;
            let with_n = |case: Case, n| Case { params: Params { n, ..case.params }, ..case };
            let fewer = |by| (with_n(reseeded(&same, by), (n / 2).max(1)), halved(loaded));
            // A kernel that keeps the workspace of the first call has too small a one in the second; one that does not clear its sums
            // adds those of the larger second call to the third.
            vec![fewer(1), (with_n(reseeded(&same, 2), 2 * n + 1), doubled(loaded)), fewer(3)]
        }
        After::Other => others(&same).into_iter().map(|case| (case, Some(loaded.clone()))).collect(),
    };
    let made = asked.into_iter().filter_map(|(case, loaded)| {
        let operands = build(&case, &loaded?).ok()?;
        Some(Earlier { case, operands })
    });
    let mut made: Vec<Earlier> = made.collect();
    if after == After::Contents {
        // Who remembers one call remembers the last: half of the seeds end with the one, half with the other.
        made.extend(nearly(&same, loaded));
        made.extend(moved(&same, loaded));
        let count = made.len();
        if seed_of(case).is_multiple_of(2) && count >= 2 {
            made.swap(count - 2, count - 1);
        }
    }
    made
}

/// The judged call itself, but for the columns of A: what is kept by offsets, by values, or by B is another's.
fn moved(case: &Case, loaded: &Loaded) -> Option<Earlier> {
    let operands = build(case, &mirrored(loaded, false, true)?).ok()?;
    Some(Earlier { case: case.clone(), operands })
}

/// The judged call itself, but for the sign of one value of A and of one of B: a kernel that knows its operands by some of their values
/// takes it for the judged one. `None` where A has no entry.
fn nearly(case: &Case, loaded: &Loaded) -> Option<Earlier> {
    if loaded.coo.nnz() == 0 {
        return None;
    }
    // Neither the first nor the last where there are others, nor one of every second, which samples are taken of.
    let middle = |count: usize| if count > 2 { (count / 2) | 1 } else { count / 2 };
    let (changed, mut number) = (middle(loaded.coo.nnz()), 0..);
    let coo = with_values(case, &loaded.coo)
        .map(|&value| if number.next() == Some(changed) { -value } else { value });
    let own = Case { filling: Filling::Own(seed_of(case)), ..case.clone() };
    let mut operands = build(case, loaded).ok()?;
    operands.a = sparse_operand(&own, &Loaded::new(coo, true), stored_in(case)).ok()?;
    if let Some(b) = operands.y.as_mut().or(operands.b.as_mut()) {
        b.negate(middle(b.data.len()), case.params.align);
    }
    Some(Earlier { case: case.clone(), operands })
}

/// The matrix with the values that the case gives it.
pub(crate) fn with_values(case: &Case, coo: &Coo<f64>) -> Coo<f64> {
    let Filling::Drawn(family, seed) = case.filling else {
        return coo.clone();
    };
    let mut values = family.of(sparse_role(case)).fill(coo.nnz(), seed, stored_in(case)).into_iter();
    coo.map(|_| values.next().unwrap_or(1.0))
}

/// Type of the sparse operand's elements.
fn stored_in(case: &Case) -> Precision {
    case.contract.op.signature().stored(&case.contract.types)
}

/// The case as a legal request with nothing before it.
pub(crate) fn plain(case: &Case) -> Case {
    Case {
        params: Params { after: None, kept_calls: None, fault: None, unpruned: false, ..case.params },
        ..case.clone()
    }
}

/// The same with other values, all of them as drawn.
fn reseeded(case: &Case, by: u64) -> Case {
    let seed = seed_of(case) ^ (by << 32) ^ 0x5eed;
    Case {
        filling: Filling::Drawn(family_of(case), seed),
        params: Params { kept_b: None, kept_c: None, ..case.params },
        ..case.clone()
    }
}

/// A matrix of these entries, row by row.
fn matrix(loaded: &Loaded, rows: usize, mut entries: Vec<(u32, u32, f64)>) -> Option<Loaded> {
    entries.sort_by_key(|&(row, col, _)| (row, col));
    let coo = Coo::try_new(CooParts {
        rows,
        cols: loaded.coo.cols,
        row_idx: entries.iter().map(|e| e.0).collect(),
        col_idx: entries.iter().map(|e| e.1).collect(),
        values: entries.iter().map(|e| e.2).collect(),
    });
    Some(Loaded::new(coo.ok()?, loaded.has_values))
}

fn entries(loaded: &Loaded) -> impl Iterator<Item = (u32, u32, f64)> {
    let coo = &loaded.coo;
    let positions = coo.row_idx.iter().zip(&coo.col_idx);
    positions.zip(&coo.values).map(|((&row, &col), &value)| (row, col, value))
}

/// Rows, columns or both in reverse order: as many entries, at other places.
fn mirrored(loaded: &Loaded, rows: bool, cols: bool) -> Option<Loaded> {
    let (last_row, last_col) = (loaded.coo.rows.max(1) - 1, loaded.coo.cols.max(1) - 1);
    let turned = entries(loaded).map(|(row, col, value)| {
        let row = if rows { last_row as u32 - row } else { row };
        let col = if cols { last_col as u32 - col } else { col };
        (row, col, value)
    });
    matrix(loaded, loaded.coo.rows, turned.collect())
}

/// The matrix above itself.
fn doubled(loaded: &Loaded) -> Option<Loaded> {
    let rows = loaded.coo.rows;
    let below = u32::try_from(rows.checked_mul(2)?).ok()? / 2;
    let twice = entries(loaded).flat_map(|(row, col, value)| [(row, col, value), (row + below, col, value)]);
    matrix(loaded, 2 * rows, twice.collect())
}

/// The upper half of the rows, one at least.
fn halved(loaded: &Loaded) -> Option<Loaded> {
    let rows = loaded.coo.rows.div_ceil(2);
    let upper = entries(loaded).filter(|e| (e.0 as usize) < rows);
    matrix(loaded, rows, upper.collect())
}

/// Other requests on the same matrix: one contract of every other operation on the format, then the case's own contract with
/// the other transpose, and with other factors.
fn others(case: &Case) -> Vec<Case> {
    let (contract, p) = (case.contract, case.params);
    let mut list: Vec<Case> = Vec::new();
    for op in [Op::Spmv, Op::Spmm, Op::Transpose, Op::Spgemm, Op::Sddmm] {
        // What is pruned to a pattern stores other positions than a sampled product of the same matrix would have.
        let pruned = contract.to.is_some_and(FormatKind::is_structured);
        if op.is_sampled() && pruned {
            continue;
        }
        let fits = |c: &&Contract| {
            let types = c.op.is_exact() || contract.op.is_exact() || c.types == contract.types;
            c.op == op && op != contract.op && c.format == contract.format && types
        };
        let stored = |c: &Contract| c.op.signature().stored(&c.types);
        let found = all_contracts().iter().filter(fits);
        list.extend(found.filter(|c| stored(c) == stored(&contract)).take(1).map(|&contract| {
            let params = Params {
                n: p.n,
                blocks: p.blocks,
                duplicates: p.duplicates,
                align: p.align,
                ..Params::default()
            };
            Case { contract, params, ..case.clone() }
        }));
    }
    let of = |params: Params| Case { params, ..case.clone() };
    if contract.op.transposes_a() {
        list.push(of(Params { transpose_a: !p.transpose_a, ..p }));
    }
    if contract.op.is_dense() && p.mode != SddmmMode::Scale {
        let alpha = if p.alpha == 2.0 { 1.0 } else { 2.0 };
        let beta = if p.beta == 0.0 && contract.op.updates() { 1.0 } else { 0.0 };
        list.push(of(Params { alpha, ..p }));
        list.push(of(Params { beta, ..p }));
    }
    list
}
