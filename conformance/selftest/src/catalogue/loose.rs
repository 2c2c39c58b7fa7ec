//! Kernels and decoders that take for granted what encoders do and formats do not demand.
//!
//! ```text
//! a block without a bit   a column without a bit   a vector in both parts   a tile of pads   more slots than the longest row needs
//! ```
//!
//! On the encodings that our encoders write all but a few of these are right. The walk of the control goes by the format's rules.

use super::super::bug::symptom::{CRASHED, PATTERN, STRUCTURE, VALUE};
use super::super::bug::{Bug, Effect, EntryOrder, Family};
use super::super::edit::triples;
use super::super::request::{left_of, reborrow, values_of};
use super::tiles::{HONEST as TILES, tiled, walk as walk_rs};
use super::tiles_more::{honest_row, walk_bit_tcf, walk_libra, walk_loops};
use super::walks::{
    bcsr, blocked, ell, ell_full, libra_behind, libra_ended, libra_once, loops_ended, rs_ended,
    rs_first_width, rs_packed, sr_bcrs, tcf_shared,
};
use super::{legal, scaled};
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_core::case::Case;
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::{AnyParts, Entry, FormatKind, in_order};
use sparse_oracle::task::{Answer, RawSparse, Task};

const F: Family = Family::Loose;

pub(super) static BUGS: &[Bug] = &[
    walks(
        "loose: rs_tile ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        |c| tiled(c, FormatKind::RsTile),
        |p| walk_rs(&rs_ended(p), TILES),
        |p| walk_rs(p, TILES),
    ),
    walks(
        "loose: rs_tile skips columns without a bit",
        "columns of a block are loaded for the set bits of its rows alone, close together",
        |c| tiled(c, FormatKind::RsTile),
        |p| walk_rs(&rs_packed(p), TILES),
        |p| walk_rs(p, TILES),
    ),
    walks(
        "loose: rs_tile residual rows in full",
        "a residual row is as long as the slots of the first",
        |c| tiled(c, FormatKind::RsTile),
        |p| walk_rs(&rs_first_width(p), TILES),
        |p| walk_rs(p, TILES),
    ),
    walks(
        "loose: libra ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        |c| tiled(c, FormatKind::LibraSpmm),
        |p| walk_libra(&libra_ended(p), |w| w, true),
        |p| walk_libra(p, |w| w, true),
    ),
    walks(
        "loose: libra rest only behind blocks",
        "a window without a block has no rest to be read",
        |c| tiled(c, FormatKind::LibraSpmm),
        libra_behind,
        |p| walk_libra(p, |w| w, true),
    ),
    walks(
        "loose: loops ends at a tile of pads",
        "a tile of zeros is taken for the end of its block",
        |c| tiled(c, FormatKind::Loops),
        |p| walk_loops(&loops_ended(p), honest_row, true, true),
        |p| walk_loops(p, honest_row, true, true),
    ),
    walks(
        "loose: bit_tcf one block for an empty window",
        "a window without blocks reads that of the next",
        |c| tiled(c, FormatKind::BitTcf),
        |p| walk_bit_tcf(&tcf_shared(p), |bit| (bit / 8, bit % 8)),
        |p| walk_bit_tcf(p, |bit| (bit / 8, bit % 8)),
    ),
    walks(
        "loose: bcsr ends at a block of pads",
        "a block of zeros is taken for the end of its row",
        |c| general(c, FormatKind::Bcsr),
        |p| bcsr(p, true),
        |p| bcsr(p, false),
    ),
    walks(
        "loose: blocked_ell ends at a block of pads",
        "a slot is unused where its block is zero, and so is what follows",
        |c| general(c, FormatKind::BlockedEll),
        |p| blocked(p, true, |w, _| w),
        |p| blocked(p, false, |w, _| w),
    ),
    walks(
        "loose: blocked_ell width from the slots used",
        "slots of a block row are as many as the longest one uses",
        |c| general(c, FormatKind::BlockedEll),
        |p| blocked(p, false, |_, used| used),
        |p| blocked(p, false, |w, _| w),
    ),
    walks(
        "loose: ell ends at a zero",
        "a stored zero is taken for the end of its row",
        |c| general(c, FormatKind::Ell),
        |p| ell(p, true, |w, _| w),
        |p| ell(p, false, |w, _| w),
    ),
    walks(
        "loose: ell width from the longest row",
        "slots of a row are as many as the longest one uses",
        |c| general(c, FormatKind::Ell),
        |p| ell(p, false, |_, used| used),
        |p| ell(p, false, |w, _| w),
    ),
    walks(
        "loose: ell last row taken for full",
        "the last row has no pads to be tested for, and reads its first column for each",
        |c| general(c, FormatKind::Ell),
        ell_full,
        |p| ell(p, false, |w, _| w),
    ),
    walks(
        "loose: sr_bcrs ends at a vector of pads",
        "a vector of zeros is taken for the end of its window",
        |c| tiled(c, FormatKind::SrBcrs),
        |p| sr_bcrs(p, true),
        |p| sr_bcrs(p, false),
    ),
    Bug::new(
        F,
        "loose: only neighbouring duplicates merged",
        "triples are merged in pairs once sorted: of three, the last stays",
        |c| to_csr(c) && c.contract.format == FormatKind::Coo && c.params.duplicates,
        Effect::Runs(merged_in_pairs),
        &[STRUCTURE, CRASHED, PATTERN, VALUE],
    ),
    Bug::new(
        F,
        "loose: triples taken for sorted",
        "row_ptr is cut where the row changes: a row that comes back is lost",
        |c| to_csr(c) && c.contract.format == FormatKind::Coo && c.params.duplicates,
        Effect::Runs(|_, task| Ok(cut_by_rows(&task))),
        &[STRUCTURE, PATTERN, VALUE],
    ),
    decodes(
        "loose: rs_tile decoder packs columns",
        "columns without a bit are skipped by the decoder",
        |c| to_csr(c) && c.contract.format == FormatKind::RsTile,
        |c, t| decoded(c, t, |p| walk_rs(&rs_packed(p), TILES)),
    ),
    decodes(
        "loose: rs_tile decoder ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        |c| to_csr(c) && c.contract.format == FormatKind::RsTile,
        |c, t| decoded(c, t, |p| walk_rs(&rs_ended(p), TILES)),
    ),
    decodes(
        "loose: libra decoder ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        |c| to_csr(c) && c.contract.format == FormatKind::LibraSpmm,
        |c, t| decoded(c, t, |p| walk_libra(&libra_ended(p), |w| w, true)),
    ),
    decodes(
        "loose: libra decoder, vector in both parts",
        "a column of the tensor part is skipped in the rest of its window",
        |c| to_csr(c) && c.contract.format == FormatKind::LibraSpmm,
        |c, t| decoded(c, t, libra_once),
    ),
    decodes(
        "loose: ell decoder ends at a zero",
        "a stored zero is taken for the end of its row",
        |c| to_csr(c) && c.contract.format == FormatKind::Ell,
        |c, t| decoded(c, t, |p| ell(p, true, |w, _| w)),
    ),
];

fn general(case: &Case, format: FormatKind) -> bool {
    scaled(case) && case.contract.format == format
}

fn to_csr(case: &Case) -> bool {
    legal(case, Op::Convert) && case.contract.to == Some(FormatKind::Csr)
}

const fn walks(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    wrong: fn(&AnyParts) -> EntryOrder,
    right: fn(&AnyParts) -> EntryOrder,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Walks(wrong, right), &[VALUE])
}

const fn decodes(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    run: fn(&Contract, Task<'_>) -> Result<Answer, Failure>,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Runs(run), &[PATTERN, VALUE, STRUCTURE])
}

/// Walked entries as the CSR matrix that a conversion gives.
fn decoded(
    contract: &Contract,
    task: Task<'_>,
    walk: fn(&AnyParts) -> EntryOrder,
) -> Result<Answer, Failure> {
    let (Task::Convert { a, .. }, Op::Convert) = (&task, contract.op) else {
        return Portable.run(contract, task);
    };
    Ok(as_csr(&task, &in_order(&walk(&AnyParts::from((*a).clone())))))
}

fn as_csr(task: &Task<'_>, list: &[Entry<u64>]) -> Answer {
    let a = left_of(task).0;
    let (rows, cols) = a.shape();
    let bits: Vec<u64> = list.iter().map(|e| e.value).collect();
    Answer::Sparse(RawSparse {
        kind: FormatKind::Csr,
        rows,
        cols,
        params: Default::default(),
        width: 0,
        offsets: (0..=rows)
            .map(|row| list.iter().filter(|e| (e.row as usize) < row).count() as u32)
            .collect(),
        indices: list.iter().map(|e| e.col).collect(),
        values: values_of(a.precision(), &bits),
    })
}

/// Of a position with three triples or more, pairs are merged, and the pairs stay apart.
fn merged_in_pairs(contract: &Contract, mut task: Task<'_>) -> Result<Answer, Failure> {
    let Answer::Sparse(honest) = Portable.run(contract, reborrow(&mut task)?)? else {
        return Err("a conversion is answered by a sparse matrix".into());
    };
    let list = in_order(&triples(left_of(&task).0));
    let merged = list.chunk_by(|a, b| (a.row, a.col) == (b.row, b.col)).enumerate().flat_map(|(at, same)| {
        let value = honest.values.as_slice().bits(at);
        let more = same.len().div_ceil(2);
        (0..more).map(move |_| Entry { value, ..same[0] })
    });
    Ok(as_csr(&task, &merged.collect::<Vec<_>>()))
}

/// Each row is its last run of triples.
fn cut_by_rows(task: &Task<'_>) -> Answer {
    let list = triples(left_of(task).0);
    let mut last = std::collections::BTreeMap::new();
    for run in list.chunk_by(|a, b| a.row == b.row) {
        last.insert(run[0].row, run.to_vec());
    }
    let mut kept = in_order(&last.into_values().flatten().collect::<Vec<_>>());
    kept.dedup_by_key(|e| (e.row, e.col));
    as_csr(task, &kept)
}
