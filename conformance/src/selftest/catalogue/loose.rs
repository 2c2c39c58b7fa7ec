//! Kernels and decoders that take for granted what encoders do and formats do not demand.
//!
//! ```text
//! a block without a bit   a column without a bit   a vector in both parts   a tile of pads   more slots than the longest row needs
//! ```
//!
//! On the encodings that our encoders write all but a few of these are right. The walk of the control goes by the format's rules.

use super::super::bug::symptom::{CRASHED, PATTERN, STRUCTURE, VALUE};
use super::super::bug::{Bug, Effect, Family, Walked};
use super::super::edit::triples;
use super::super::request::{left_of, reborrow, values_of};
use super::tiles::{HONEST as TILES, tiled, walk as walk_rs};
use super::tiles_more::{honest_row, walk_bit_tcf, walk_libra, walk_loops};
use super::{legal, scaled};
use crate::backend::{Backend, Failure, Portable};
use crate::case::Case;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::each_parts;
use sparse_oracle::format::{
    AnyParts, BcsrParts, BlockedEllParts, EllParts, Entry, FormatKind, PAD, Parts, SrBcrsParts,
};
use sparse_oracle::scalar::Scalar;
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
        "loose: libra vector in both parts",
        "a column of the tensor part is skipped in the rest of its window",
        |c| tiled(c, FormatKind::LibraSpmm),
        libra_once,
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
        Effect::Runs(cut_by_rows),
        &[STRUCTURE, PATTERN, VALUE],
    ),
    decodes(
        "loose: rs_tile decoder packs columns",
        "columns without a bit are skipped by the decoder",
        FormatKind::RsTile,
        |c, t| decoded(c, t, |p| walk_rs(&rs_packed(p), TILES)),
    ),
    decodes(
        "loose: rs_tile decoder ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        FormatKind::RsTile,
        |c, t| decoded(c, t, |p| walk_rs(&rs_ended(p), TILES)),
    ),
    decodes(
        "loose: libra decoder ends at a block without a bit",
        "an empty bitmap is taken for the end of a window",
        FormatKind::LibraSpmm,
        |c, t| decoded(c, t, |p| walk_libra(&libra_ended(p), |w| w, true)),
    ),
    decodes(
        "loose: libra decoder, vector in both parts",
        "a column of the tensor part is skipped in the rest of its window",
        FormatKind::LibraSpmm,
        |c, t| decoded(c, t, libra_once),
    ),
    decodes(
        "loose: ell decoder ends at a zero",
        "a stored zero is taken for the end of its row",
        FormatKind::Ell,
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
    wrong: fn(&AnyParts) -> Walked,
    right: fn(&AnyParts) -> Walked,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Walks(wrong, right), &[VALUE])
}

const fn decodes(
    name: &'static str,
    story: &'static str,
    format: FormatKind,
    run: fn(&Contract, Task<'_>) -> Result<Answer, Failure>,
) -> Bug {
    let concerns: fn(&Case) -> bool = match format {
        FormatKind::RsTile => |c| to_csr(c) && c.contract.format == FormatKind::RsTile,
        FormatKind::LibraSpmm => |c| to_csr(c) && c.contract.format == FormatKind::LibraSpmm,
        _ => |c| to_csr(c) && c.contract.format == FormatKind::Ell,
    };
    Bug::new(
        F,
        name,
        story,
        concerns,
        Effect::Runs(run),
        &[PATTERN, VALUE, STRUCTURE],
    )
}

/// In each window, blocks from the first without a bit on lose their bits.
fn ended(windows: &[u32], words: usize, bitmap: &mut [u64]) {
    for ends in windows.windows(2) {
        let mut over = false;
        for block in ends[0] as usize..ends[1] as usize {
            let block = &mut bitmap[block * words..(block + 1) * words];
            over |= block.iter().all(|word| *word == 0);
            if over {
                block.fill(0);
            }
        }
    }
}

fn rs_ended(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::RsTile(p) = p {
        ended(&p.window_block_ptr, 1, &mut p.bitmap);
    });
    parts
}

/// Columns that have a bit first, those without after them; bits stay.
fn rs_packed(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::RsTile(p) = p {
        for (cols, &bitmap) in p.block_col.chunks_mut(8).zip(&p.bitmap) {
            let has = |c: usize| (0..8).any(|r| bitmap >> (8 * r + c) & 1 == 1);
            let (with, without): (Vec<usize>, Vec<usize>) = (0..cols.len()).partition(|&c| has(c));
            let packed: Vec<u32> = with.iter().chain(&without).map(|&c| cols[c]).collect();
            cols.copy_from_slice(&packed);
        }
    });
    parts
}

fn rs_first_width(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::RsTile(p) = p {
        let width = p.residual_width;
        let used = p.residual_col.iter().take(width).filter(|c| **c != PAD).count();
        for row in p.residual_col.chunks_mut(width.max(1)) {
            row.iter_mut().skip(used).for_each(|c| *c = PAD);
        }
    });
    parts
}

fn libra_ended(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::LibraSpmm(p) = p {
        ended(&p.window_block_ptr, (8 * p.kb).div_ceil(64), &mut p.bitmap);
    });
    parts
}

/// Entries of the rest whose column the tensor part of their window has are left out.
fn libra_once(parts: &AnyParts) -> Walked {
    rest_where(parts, |cols, col| !cols.contains(&col))
}

fn libra_behind(parts: &AnyParts) -> Walked {
    rest_where(parts, |cols, _| !cols.is_empty())
}

/// The tensor part, and of the rest what `keep` holds for: told the columns of the window's blocks.
fn rest_where(parts: &AnyParts, keep: fn(&[u32], u32) -> bool) -> Walked {
    let mut list = walk_libra(parts, |w| w, false);
    let tensor = list.len();
    let all = walk_libra(parts, |w| w, true);
    each_parts!(parts, p => if let Parts::LibraSpmm(p) = p {
        let columns = |window: usize| {
            let ends = &p.window_block_ptr[window..=window + 1];
            &p.block_col[ends[0] as usize * p.kb..ends[1] as usize * p.kb]
        };
        list.extend(all.iter().skip(tensor).copied().filter(|e| keep(columns(e.row as usize / 8), e.col)));
    });
    list
}

fn loops_ended(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::Loops(p) = p {
        for ends in p.block_ptr.windows(2) {
            let mut over = false;
            for tile in ends[0] as usize..ends[1] as usize {
                let slots = &mut p.values[tile * p.br..(tile + 1) * p.br];
                over |= slots.iter().all(|v| v.is_positive_zero());
                if over {
                    slots.fill(Scalar::from_bits64(0));
                }
            }
        }
    });
    parts
}

/// An empty window takes the first block of the one after it.
fn tcf_shared(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::BitTcf(p) = p {
        let (mut offset, mut bits, mut at, mut cols) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let all = p.tc_local_bit.len();
        for ends in p.row_window_offset.windows(2) {
            let (first, last) = (ends[0] as usize, ends[1] as usize);
            for block in first..last.max((first + 1).min(all)) {
                bits.push(p.tc_local_bit[block]);
                at.push(p.tc_offset[block]);
                cols.extend_from_slice(&p.sparse_a_to_b[8 * block..8 * block + 8]);
            }
            offset.push(bits.len() as u32);
        }
        at.extend(p.tc_offset.last().copied());
        (p.row_window_offset, p.tc_local_bit, p.tc_offset, p.sparse_a_to_b) = (offset, bits, at, cols);
    });
    parts
}

fn entry<T: Scalar>(row: usize, col: usize, value: T) -> Entry<u64> {
    Entry {
        row: row as u32,
        col: col as u32,
        value: value.bits64(),
    }
}

/// The elements of one block that are not +0.0.
fn block_entries<T: Scalar>(values: &[T], at: (usize, usize), shape: (usize, usize), list: &mut Walked) {
    for (slot, value) in values.iter().enumerate().filter(|v| !v.1.is_positive_zero()) {
        list.push(entry(
            at.0 * shape.0 + slot / shape.1,
            at.1 * shape.1 + slot % shape.1,
            *value,
        ));
    }
}

fn bcsr(parts: &AnyParts, ends_at_pads: bool) -> Walked {
    fn read<T: Scalar>(p: &BcsrParts<T>, ends_at_pads: bool) -> Walked {
        let mut list = Vec::new();
        let area = p.block_rows * p.block_cols;
        for (row, ends) in p.block_row_ptr.windows(2).enumerate() {
            for block in ends[0] as usize..ends[1] as usize {
                let values = &p.values[block * area..(block + 1) * area];
                if ends_at_pads && values.iter().all(|v| v.is_positive_zero()) {
                    break;
                }
                block_entries(
                    values,
                    (row, p.block_col[block] as usize),
                    (p.block_rows, p.block_cols),
                    &mut list,
                );
            }
        }
        list
    }
    each_parts!(parts, p => match p {
        Parts::Bcsr(p) => read(p, ends_at_pads),
        _ => Vec::new(),
    })
}

/// What a kernel takes for the slots of a row: told how many there are, and how many the longest row uses.
type Width = fn(usize, usize) -> usize;

fn blocked(parts: &AnyParts, ends_at_pads: bool, width: Width) -> Walked {
    fn read<T: Scalar>(p: &BlockedEllParts<T>, ends_at_pads: bool, width: Width) -> Walked {
        let mut list = Vec::new();
        let (area, rows) = (p.block_rows * p.block_cols, p.rows.div_ceil(p.block_rows.max(1)));
        let width = width(p.width, longest(&p.block_col, p.width));
        for (row, slot) in (0..rows).flat_map(|row| (0..width).map(move |s| (row, row * width + s))) {
            let (Some(&col), Some(values)) = (
                p.block_col.get(slot),
                p.values.get(slot * area..(slot + 1) * area),
            ) else {
                continue;
            };
            let over = ends_at_pads
                && (row * width..=slot).any(|s| {
                    p.block_col[s] != PAD
                        && p.values[s * area..(s + 1) * area]
                            .iter()
                            .all(|v| v.is_positive_zero())
                });
            if col != PAD && !over {
                block_entries(
                    values,
                    (row, col as usize),
                    (p.block_rows, p.block_cols),
                    &mut list,
                );
            }
        }
        list
    }
    each_parts!(parts, p => match p {
        Parts::BlockedEll(p) => read(p, ends_at_pads, width),
        _ => Vec::new(),
    })
}

/// The slots that the longest row uses.
fn longest(columns: &[u32], width: usize) -> usize {
    let rows = columns.chunks(width.max(1));
    rows.map(|row| row.iter().filter(|c| **c != PAD).count())
        .max()
        .unwrap_or(0)
}

fn ell(parts: &AnyParts, ends_at_zero: bool, width: Width) -> Walked {
    fn read<T: Scalar>(p: &EllParts<T>, ends_at_zero: bool, width: Width) -> Walked {
        let mut list = Vec::new();
        let width = width(p.width, longest(&p.col_idx, p.width));
        for row in 0..p.rows {
            let slots = p.col_idx.iter().zip(&p.values).skip(row * width).take(width);
            for (&col, &value) in slots.filter(|slot| *slot.0 != PAD) {
                if ends_at_zero && value.to_f64() == 0.0 {
                    break;
                }
                list.push(entry(row, col as usize, value));
            }
        }
        list
    }
    each_parts!(parts, p => match p {
        Parts::Ell(p) => read(p, ends_at_zero, width),
        _ => Vec::new(),
    })
}

/// Pads of the last row read as its first column, with one for a value: what lies there is another array's.
fn ell_full(parts: &AnyParts) -> Walked {
    let mut list = ell(parts, false, |w, _| w);
    each_parts!(parts, p => if let Parts::Ell(p) = p {
        let last = p.col_idx.rchunks(p.width.max(1)).next().unwrap_or_default();
        if let (Some(&col), Some(value)) = (last.first().filter(|c| **c != PAD), p.values.iter().rev().nth(p.width.saturating_sub(1))) {
            let pads = last.iter().filter(|c| **c == PAD).count();
            list.extend((0..pads).map(|_| entry(p.rows - 1, col as usize, *value)));
        }
    });
    list
}

fn sr_bcrs(parts: &AnyParts, ends_at_pads: bool) -> Walked {
    fn read<T: Scalar>(p: &SrBcrsParts<T>, ends_at_pads: bool) -> Walked {
        let mut list = Vec::new();
        let slot =
            |vector: usize, r: usize| vector / p.stride * p.stride * p.v + r * p.stride + vector % p.stride;
        for (window, ends) in p.window_ptr.windows(2).enumerate() {
            for vector in (ends[0] as usize..ends[1] as usize).filter(|&v| p.vector_col[v] != PAD) {
                let values: Vec<T> = (0..p.v).map(|r| p.values[slot(vector, r)]).collect();
                if ends_at_pads && values.iter().all(|v| v.is_positive_zero()) {
                    break;
                }
                block_entries(
                    &values,
                    (window, p.vector_col[vector] as usize),
                    (p.v, 1),
                    &mut list,
                );
            }
        }
        list
    }
    each_parts!(parts, p => match p {
        Parts::SrBcrs(p) => read(p, ends_at_pads),
        _ => Vec::new(),
    })
}

/// Walked entries as the CSR matrix that a conversion gives.
fn decoded(contract: &Contract, task: Task<'_>, walk: fn(&AnyParts) -> Walked) -> Result<Answer, Failure> {
    let (Task::Convert { a, .. }, Op::Convert) = (&task, contract.op) else {
        return Portable.run(contract, task);
    };
    let mut list = walk(&AnyParts::from((*a).clone()));
    list.sort_by_key(|e| (e.row, e.col));
    Ok(as_csr(&task, &list))
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
    let Answer::Sparse(honest) = Portable.run(contract, reborrow(&mut task))? else {
        return Err("a conversion is answered by a sparse matrix".into());
    };
    let mut list = triples(left_of(&task).0);
    list.sort_by_key(|e| (e.row, e.col));
    let merged = list
        .chunk_by(|a, b| (a.row, a.col) == (b.row, b.col))
        .enumerate()
        .flat_map(|(at, same)| {
            let value = honest.values.as_slice().bits(at);
            let more = same.len().div_ceil(2);
            (0..more).map(move |_| Entry { value, ..same[0] })
        });
    Ok(as_csr(&task, &merged.collect::<Vec<_>>()))
}

/// Each row is its last run of triples.
fn cut_by_rows(_: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let list = triples(left_of(&task).0);
    let mut last = std::collections::BTreeMap::new();
    for run in list.chunk_by(|a, b| a.row == b.row) {
        last.insert(run[0].row, run.to_vec());
    }
    let mut kept: Vec<Entry<u64>> = last.into_values().flatten().collect();
    kept.sort_by_key(|e| (e.row, e.col));
    kept.dedup_by_key(|e| (e.row, e.col));
    Ok(as_csr(&task, &kept))
}
