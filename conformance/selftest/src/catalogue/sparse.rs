//! Sparse results: SpGEMM, transposes, conversions between general formats.
//!
//! ```text
//! offsets  0 2 3      what is wrong may be the offsets, an index, the order inside a lane, or what is stored at all
//! indices  0 3 1
//! ```

use super::super::bug::symptom::{PATTERN, SHAPE, STRUCTURE, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::edit::{drop_last_entry, edit_values, rebuilt, retain, swap_neighbours, triples};
use super::super::request::{left_of, values_of, with_left};
use super::{general_move, legal, spmm};
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnySparse, FormatKind, in_order};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::decode;
use sparse_oracle::task::{Answer, RawSparse, Task};
use std::collections::BTreeMap;

const F: Family = Family::Sparse;

fn spgemm(case: &Case) -> bool {
    legal(case, Op::Spgemm)
}

fn to_csr(case: &Case) -> bool {
    legal(case, Op::Convert) && case.contract.to == Some(FormatKind::Csr)
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "spgemm: offsets past the end",
        "the last offset is one too large",
        spgemm,
        Effect::Result(|raw| {
            if let Some(last) = raw.offsets.last_mut() {
                *last += 1;
            }
        }),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "spgemm: offsets are counts",
        "the prefix sum is forgotten",
        spgemm,
        Effect::Result(|raw| {
            let counts: Vec<u32> = raw.offsets.windows(2).map(|w| w[1] - w[0]).collect();
            raw.offsets.truncate(1);
            raw.offsets.extend(counts);
        }),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "spgemm: column out of range",
        "an index is the end marker of a list",
        spgemm,
        Effect::Result(|raw| {
            if let Some(last) = raw.indices.last_mut() {
                *last = u32::MAX - 1;
            }
        }),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "spgemm: unsorted",
        "columns of a row come in reverse",
        spgemm,
        Effect::Result(unsorted),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "spgemm: columns sorted without values",
        "indices are sorted and values stay where they were",
        spgemm,
        Effect::Result(|raw| {
            let offsets = raw.offsets.clone();
            edit_values(raw, |bits| {
                offsets.windows(2).for_each(|w| bits[w[0] as usize..w[1] as usize].reverse());
            });
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "spgemm: cancelled zeros dropped",
        "entries that sum to zero are not stored, undeclared",
        spgemm,
        Effect::Result(|raw| {
            let precision = raw.values.precision();
            retain(raw, |_, bits| decode(bits, precision) != 0.0);
        }),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "spgemm: a position too many",
        "a zero is stored where no product reaches",
        spgemm,
        Effect::Result(stores_too_much),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "spgemm: last entry lost",
        "the symbolic phase counts one too few",
        spgemm,
        Effect::Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "spgemm: last product wins",
        "products of one position are not added",
        spgemm,
        Effect::Left(only_last_of_row),
        &[PATTERN, VALUE],
    ),
    Bug::new(
        F,
        "spgemm: next row of B",
        "row k + 1 of B is taken where row k should be",
        spgemm,
        Effect::Left(|a, _| {
            rebuilt(a, |list, (_, cols)| {
                list.iter_mut().for_each(|e| e.col = (e.col + 1) % cols.max(1) as u32);
            })
        }),
        &[PATTERN, VALUE],
    ),
    Bug::new(
        F,
        "spgemm: writes nothing",
        "the answer says that C was written in place",
        |c| spgemm(c) || c.contract.op.is_exact(),
        Effect::Runs(|_, _| Ok(Answer::Written)),
        &[SHAPE],
    ),
    Bug::new(
        F,
        "duplicates: last wins in a conversion",
        "COO triples are put into a map",
        |c| c.contract.op.is_exact() && c.params.duplicates,
        Effect::Runs(last_wins),
        &[VALUE, PATTERN],
    ),
    Bug::new(
        F,
        "duplicates: last wins in a product",
        "COO triples are put into a map",
        |c| spmm(c) && c.params.duplicates,
        Effect::Runs(last_wins),
        &[VALUE],
    ),
    Bug::new(
        F,
        "duplicates: kept in CSR",
        "triples are sorted and never merged",
        |c| to_csr(c) && c.params.duplicates,
        Effect::Runs(never_merged),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "transpose: not done",
        "the matrix comes back as it is",
        |c| legal(c, Op::Transpose),
        Effect::Runs(|contract, task| {
            if let Task::Transpose { a } = task {
                return Ok(Answer::Sparse(RawSparse::of(a.clone())));
            }
            Portable.run(contract, task)
        }),
        &[SHAPE, PATTERN, VALUE],
    ),
    Bug::new(
        F,
        "transpose: indices only",
        "values stay in the order of the original",
        |c| legal(c, Op::Transpose) && c.contract.format != FormatKind::Coo,
        Effect::Runs(indices_only),
        &[VALUE],
    ),
    Bug::new(
        F,
        "transpose: unsorted",
        "a counting sort that runs backwards is not stable",
        |c| legal(c, Op::Transpose) && c.contract.format != FormatKind::Coo,
        Effect::Result(unsorted),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "conversion: another format",
        "the matrix comes back in its own format",
        |c| legal(c, Op::Convert),
        Effect::Runs(|contract, task| {
            if let Task::Convert { a, .. } = task {
                return Ok(Answer::Sparse(RawSparse::of(a.clone())));
            }
            Portable.run(contract, task)
        }),
        &[SHAPE],
    ),
    Bug::new(
        F,
        "conversion: last entry lost",
        "the last offset is that of the row before",
        to_csr,
        Effect::Result(drop_last_entry),
        &[PATTERN],
    ),
    Bug::new(
        F,
        "conversion: two values exchanged",
        "an unstable sort moves values apart from their positions",
        general_move,
        Effect::Result(|raw| {
            edit_values(raw, |bits| swap_neighbours(bits));
        }),
        &[VALUE, PATTERN, STRUCTURE],
    ),
    Bug::new(
        F,
        "conversion: wider than needed",
        "ELL gets a slot more than its longest row",
        |c| c.contract.to == Some(FormatKind::Ell),
        Effect::Result(wider),
        &[STRUCTURE],
    ),
    Bug::new(
        F,
        "conversion: blocks of another shape",
        "a 4 x 4 kernel serves every block shape",
        |c| c.contract.to == Some(FormatKind::Bcsr),
        Effect::Encodes(|p, _| (p.block_rows, p.block_cols) = (4, 4)),
        &[SHAPE],
    ),
];

fn unsorted(raw: &mut RawSparse) {
    let offsets = raw.offsets.clone();
    let lanes = || offsets.windows(2).map(|w| w[0] as usize..w[1] as usize);
    lanes().for_each(|lane| raw.indices[lane].reverse());
    edit_values(raw, |bits| lanes().for_each(|lane| bits[lane].reverse()));
}

/// A +0 in the last lane, after its last entry, where it has room.
fn stores_too_much(raw: &mut RawSparse) {
    let width = if raw.kind == FormatKind::Csr { raw.cols } else { raw.rows };
    let Some(last) = raw.offsets.len().checked_sub(1).filter(|&last| last > 0) else {
        return;
    };
    let filled = raw.offsets[last - 1] < raw.offsets[last];
    let next = if filled { raw.indices.last().map_or(0, |i| i + 1) } else { 0 };
    if (next as usize) < width {
        raw.offsets[last] += 1;
        raw.indices.push(next);
        edit_values(raw, |bits| bits.push(0));
    }
}

/// Of each row of A, the last entry alone.
fn only_last_of_row(a: &AnySparse, _: bool) -> Result<AnySparse, String> {
    rebuilt(a, |list, _| {
        let mut next = None;
        list.reverse();
        list.retain(|e| next.replace(e.row) != Some(e.row));
    })
}

/// The stored triples of a COO matrix with duplicates settled by `last wins`.
fn settled(a: &AnySparse) -> Result<AnySparse, String> {
    let last: BTreeMap<(u32, u32), u64> = triples(a).iter().map(|e| ((e.row, e.col), e.value)).collect();
    rebuilt(a, |list, _| {
        list.iter_mut().for_each(|e| e.value = last[&(e.row, e.col)]);
    })
}

fn last_wins(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let other = settled(left_of(&task).0)?;
    Portable.run(contract, with_left(task, &other)?)
}

/// CSR with a position as often as COO had it.
fn never_merged(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Convert { a, .. } = task else {
        return Portable.run(contract, task);
    };
    let list = in_order(&triples(a));
    let (rows, cols) = a.shape();
    let before = |row: usize| list.partition_point(|e| (e.row as usize) < row) as u32;
    let bits: Vec<u64> = list.iter().map(|e| e.value).collect();
    Ok(Answer::Sparse(RawSparse {
        kind: FormatKind::Csr,
        rows,
        cols,
        params: Default::default(),
        width: 0,
        offsets: (0..=rows).map(before).collect(),
        indices: list.iter().map(|e| e.col).collect(),
        values: values_of(a.precision(), &bits),
    }))
}

fn indices_only(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Transpose { a } = task else {
        return Portable.run(contract, task);
    };
    let original = RawSparse::of(a.clone());
    Ok(match Portable.run(contract, Task::Transpose { a })? {
        Answer::Sparse(raw) => Answer::Sparse(RawSparse { values: original.values, ..raw }),
        other => other,
    })
}

fn wider(raw: &mut RawSparse) {
    let (rows, width) = (raw.rows, raw.width);
    let widen = |list: Vec<u64>, pad: u64| -> Vec<u64> {
        (0..rows)
            .flat_map(|i| {
                let row = list[i * width..(i + 1) * width].to_vec();
                row.into_iter().chain([pad])
            })
            .collect()
    };
    let columns = raw.indices.iter().map(|&c| u64::from(c)).collect();
    raw.indices = widen(columns, u64::from(u32::MAX)).into_iter().map(|c| c as u32).collect();
    edit_values(raw, |bits| *bits = widen(std::mem::take(bits), 0));
    raw.width += 1;
}
