//! Kernels that multiply from the arrays of RS-Tile, with one bug each in how they walk them.
//!
//! ```text
//! window -> its blocks -> set bits in ascending order -> value number `rank` of the block, row r, column block_col[8 b + c]
//! residual row -> its slots, up to the first pad
//! ```
//!
//! The product itself is the catalogue's own, so that what is judged is the walk. The control walks as the format says.

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, EntryOrder, Family};
use sparse_conformance_core::case::Case;
use sparse_oracle::contract::Op;
use sparse_oracle::each_parts;
use sparse_oracle::format::{AnyParts, Entry, FormatKind, PAD, Parts, RsTileParts};
use sparse_oracle::scalar::Scalar;
use std::ops::Range;

const F: Family = Family::Tiles;

/// SpMM that reads A, in a format.
pub(super) fn tiled(case: &Case, format: FormatKind) -> bool {
    super::scaled(case) && case.contract.op == Op::Spmm && case.contract.format == format
}

/// The steps of a walk over RS-Tile that a bug takes the place of.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    /// The blocks of a window; told how many there are in all.
    blocks: fn(Range<usize>, usize) -> Range<usize>,
    /// A block's bitmap as the kernel loads it.
    load: fn(u64) -> u64,
    /// Row and column of a bit.
    place: fn(u32) -> (u32, u32),
    /// The number of a bit's value in its block.
    rank: fn(u64, u32) -> u32,
    /// The first row of a window.
    window: fn(u32) -> u32,
    /// Rows of the residual part: how many of them, and slots between two.
    residual: fn(usize, usize) -> (usize, usize),
}

/// As the format says.
pub(super) const HONEST: Steps = Steps {
    blocks: |range, _| range,
    load: |bitmap| bitmap,
    place: |bit| (bit / 8, bit % 8),
    rank: |bitmap, bit| (bitmap & ((1 << bit) - 1)).count_ones(),
    window: |row| row,
    residual: |rows, width| (rows, width),
};

pub(super) static BUGS: &[Bug] = &[
    bug("rs_tile spmm: bits by columns", "bit 8 c + r is taken for (r, c)", |p| {
        walk(p, Steps { place: |bit| (bit % 8, bit / 8), ..HONEST })
    }),
    bug("rs_tile spmm: bitmap shifted", "bits are counted from 1", |p| {
        walk(p, Steps { load: |bitmap| bitmap << 1, ..HONEST })
    }),
    bug("rs_tile spmm: two bits exchanged", "two lanes of a warp swap their bits", |p| {
        walk(p, Steps { place: |bit| (bit / 8, (bit ^ u32::from(bit < 2)) % 8), ..HONEST })
    }),
    bug("rs_tile spmm: top bit lost", "the bitmap is a signed integer, and its sign is dropped", |p| {
        walk(p, Steps { load: |bitmap| bitmap & (u64::MAX >> 1), ..HONEST })
    }),
    bug("rs_tile spmm: upper half lost", "1 << bit is an int, so bits from 32 on are never found", |p| {
        walk(p, Steps { load: |bitmap| bitmap & 0xffff_ffff, ..HONEST })
    }),
    bug("rs_tile spmm: rank inclusive", "the popcount prefix counts the bit itself", |p| {
        walk(p, Steps { rank: |bitmap, bit| (bitmap & (u64::MAX >> (63 - bit))).count_ones(), ..HONEST })
    }),
    bug("rs_tile spmm: rank from the top", "the popcount prefix counts the bits above", |p| {
        walk(p, Steps { rank: |bitmap, bit| (bitmap >> bit >> 1).count_ones(), ..HONEST })
    }),
    bug("rs_tile spmm: rank of the lower word", "the popcount is that of 32 bits", |p| {
        walk(p, Steps { rank: |bitmap, bit| ((bitmap & ((1 << bit) - 1)) as u32).count_ones(), ..HONEST })
    }),
    bug("rs_tile spmm: last block skipped", "the loop over a window's blocks ends one early", |p| {
        walk(p, Steps { blocks: |blocks, _| blocks.start..blocks.end - 1, ..HONEST })
    }),
    bug(
        "rs_tile spmm: first block twice",
        "the prologue of the pipeline computes, and so does its first round",
        |p| {
            let mut twice = walk(p, Steps { blocks: |blocks, _| blocks.start..blocks.start + 1, ..HONEST });
            let residual = walk(p, Steps { blocks: |blocks, _| blocks.start..blocks.start, ..HONEST });
            twice.truncate(twice.len() - residual.len());
            twice.extend(walk(p, HONEST));
            twice
        },
    ),
    bug(
        "slip: rs_tile spmm prefetches unguarded",
        "Algorithm 2 loads a second block that a window of one block does not have",
        |p| {
            walk(
                p,
                Steps {
                    blocks: |blocks, all| blocks.start..blocks.end.max((blocks.start + 2).min(all)),
                    ..HONEST
                },
            )
        },
    ),
    bug(
        "rs_tile spmm: windows at multiples of 8",
        "the first row of a window is rounded down, as aligned formats have it",
        |p| walk(p, Steps { window: |row| row & !7, ..HONEST }),
    ),
    bug("rs_tile spmm: residual dropped", "the launch of the CUDA-core kernel is skipped", |p| {
        walk(p, Steps { residual: |_, width| (0, width), ..HONEST })
    }),
    bug("rs_tile spmm: last residual row dropped", "the CUDA-core kernel has a thread too few", |p| {
        walk(p, Steps { residual: |rows, width| (rows.saturating_sub(1), width), ..HONEST })
    }),
    bug("rs_tile spmm: residual stride off", "residual rows are read one slot short", |p| {
        walk(p, Steps { residual: |rows, width| (rows, width.saturating_sub(1)), ..HONEST })
    }),
    bug("rs_tile spmm: columns of the first block", "block_col is not advanced inside a window", |p| {
        each_parts!(p, parts => match parts {
            Parts::RsTile(parts) => {
                let mut parts = parts.clone();
                for ends in parts.window_block_ptr.windows(2) {
                    let first = parts.block_col[8 * ends[0] as usize..][..8].to_vec();
                    for block in ends[0] as usize..ends[1] as usize {
                        parts.block_col[8 * block..8 * block + 8].copy_from_slice(&first);
                    }
                }
                rs_tile(&parts, HONEST)
            }
            _ => Vec::new(),
        })
    }),
];

const fn bug(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::RsTile);
    Bug::new(F, name, story, concerns, Effect::Walks(wrong, |p| walk(p, HONEST)), &[VALUE])
}

pub(super) fn walk(parts: &AnyParts, steps: Steps) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::RsTile(p) => rs_tile(p, steps),
        _ => Vec::new(),
    })
}

fn rs_tile<T: Scalar>(p: &RsTileParts<T>, steps: Steps) -> EntryOrder {
    let mut list = Vec::new();
    for (&first, ends) in p.window_row.iter().zip(p.window_block_ptr.windows(2)) {
        for block in (steps.blocks)(ends[0] as usize..ends[1] as usize, p.bitmap.len()) {
            let bitmap = (steps.load)(p.bitmap[block]);
            for bit in (0..64).filter(|bit| bitmap >> bit & 1 == 1) {
                let (r, c) = (steps.place)(bit);
                let at = p.block_value_ptr[block] + (steps.rank)(bitmap, bit);
                // A value or column that is not there reads nothing.
                let (value, col) = (p.values.get(at as usize), p.block_col[8 * block + c as usize]);
                if let (Some(value), true) = (value, col != PAD) {
                    list.push(Entry { row: (steps.window)(first) + r, col, value: value.bits64() });
                }
            }
        }
    }
    let (rows, stride) = (steps.residual)(p.residual_row.len(), p.residual_width);
    for (at, &row) in p.residual_row.iter().enumerate().take(rows) {
        let slots = at * stride..at * stride + p.residual_width;
        let cols = p.residual_col.get(slots.clone()).unwrap_or_default();
        let used = cols.iter().zip(&p.residual_values[slots.start..]).filter(|slot| *slot.0 != PAD);
        list.extend(used.map(|(&col, value)| Entry { row, col, value: value.bits64() }));
    }
    list
}
