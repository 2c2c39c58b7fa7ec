//! Walks over encodings that are valid and not canonical, honest ones and such as end too early; see [`loose`](super::loose).

use super::super::bug::EntryOrder;
use super::tiles_more::walk_libra;
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, BcsrParts, BlockedEllParts, EllParts, Entry, PAD, Parts, SrBcrsParts};
use sparse_oracle::scalar::Scalar;

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

/// A window of RS-Tile ends at its first block without a bit.
pub(super) fn rs_ended(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::RsTile(p) = p {
        ended(&p.window_block_ptr, 1, &mut p.bitmap);
    });
    parts
}

/// Columns that have a bit first, those without after them; bits stay.
pub(super) fn rs_packed(parts: &AnyParts) -> AnyParts {
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

/// Residual rows have as many entries as the first.
pub(super) fn rs_first_width(parts: &AnyParts) -> AnyParts {
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

/// A window of Libra ends at its first block without a bit.
pub(super) fn libra_ended(parts: &AnyParts) -> AnyParts {
    let mut parts = parts.clone();
    each_parts!(&mut parts, p => if let Parts::LibraSpmm(p) = p {
        ended(&p.window_block_ptr, (8 * p.kb).div_ceil(64), &mut p.bitmap);
    });
    parts
}

/// Entries of the rest whose column the tensor part of their window has are left out.
pub(super) fn libra_once(parts: &AnyParts) -> EntryOrder {
    rest_where(parts, |cols, col| !cols.contains(&col))
}

/// The rest of windows without a block is left out.
pub(super) fn libra_behind(parts: &AnyParts) -> EntryOrder {
    rest_where(parts, |cols, _| !cols.is_empty())
}

/// The tensor part, and of the rest what `keep` holds for: told the columns of the window's blocks.
fn rest_where(parts: &AnyParts, keep: fn(&[u32], u32) -> bool) -> EntryOrder {
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

/// A block of tiles ends at its first tile of pads.
pub(super) fn loops_ended(parts: &AnyParts) -> AnyParts {
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
pub(super) fn tcf_shared(parts: &AnyParts) -> AnyParts {
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
    Entry { row: row as u32, col: col as u32, value: value.bits64() }
}

/// The elements of one block that are not +0.0.
fn block_entries<T: Scalar>(values: &[T], at: (usize, usize), shape: (usize, usize), list: &mut EntryOrder) {
    for (slot, value) in values.iter().enumerate().filter(|v| !v.1.is_positive_zero()) {
        list.push(entry(at.0 * shape.0 + slot / shape.1, at.1 * shape.1 + slot % shape.1, *value));
    }
}

/// The entries of BCSR; a row of blocks may end at a block of pads.
pub(super) fn bcsr(parts: &AnyParts, ends_at_pads: bool) -> EntryOrder {
    fn read<T: Scalar>(p: &BcsrParts<T>, ends_at_pads: bool) -> EntryOrder {
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
pub(super) type Width = fn(usize, usize) -> usize;

/// The entries of Blocked-ELL; a row of blocks may end at a block of pads.
pub(super) fn blocked(parts: &AnyParts, ends_at_pads: bool, width: Width) -> EntryOrder {
    fn read<T: Scalar>(p: &BlockedEllParts<T>, ends_at_pads: bool, width: Width) -> EntryOrder {
        let mut list = Vec::new();
        let (area, rows) = (p.block_rows * p.block_cols, p.rows.div_ceil(p.block_rows.max(1)));
        let width = width(p.width, longest(&p.block_col, p.width));
        for (row, slot) in (0..rows).flat_map(|row| (0..width).map(move |s| (row, row * width + s))) {
            let (Some(&col), Some(values)) =
                (p.block_col.get(slot), p.values.get(slot * area..(slot + 1) * area))
            else {
                continue;
            };
            let over = ends_at_pads
                && (row * width..=slot).any(|s| {
                    p.block_col[s] != PAD
                        && p.values[s * area..(s + 1) * area].iter().all(|v| v.is_positive_zero())
                });
            if col != PAD && !over {
                block_entries(values, (row, col as usize), (p.block_rows, p.block_cols), &mut list);
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
    rows.map(|row| row.iter().filter(|c| **c != PAD).count()).max().unwrap_or(0)
}

/// The entries of ELL; a row may end at a zero.
pub(super) fn ell(parts: &AnyParts, ends_at_zero: bool, width: Width) -> EntryOrder {
    fn read<T: Scalar>(p: &EllParts<T>, ends_at_zero: bool, width: Width) -> EntryOrder {
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
pub(super) fn ell_full(parts: &AnyParts) -> EntryOrder {
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

/// The entries of SR-BCRS; a window may end at a vector of pads.
pub(super) fn sr_bcrs(parts: &AnyParts, ends_at_pads: bool) -> EntryOrder {
    fn read<T: Scalar>(p: &SrBcrsParts<T>, ends_at_pads: bool) -> EntryOrder {
        let mut list = Vec::new();
        let slot =
            |vector: usize, r: usize| vector / p.stride * p.stride * p.v + r * p.stride + vector % p.stride;
        for (window, ends) in p.window_ptr.windows(2).enumerate() {
            for vector in (ends[0] as usize..ends[1] as usize).filter(|&v| p.vector_col[v] != PAD) {
                let values: Vec<T> = (0..p.v).map(|r| p.values[slot(vector, r)]).collect();
                if ends_at_pads && values.iter().all(|v| v.is_positive_zero()) {
                    break;
                }
                block_entries(&values, (window, p.vector_col[vector] as usize), (p.v, 1), &mut list);
            }
        }
        list
    }
    each_parts!(parts, p => match p {
        Parts::SrBcrs(p) => read(p, ends_at_pads),
        _ => Vec::new(),
    })
}
