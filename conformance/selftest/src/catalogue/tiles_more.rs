//! Kernels that multiply from the arrays of LOOPS, Libra, N:M, 2:4 and BitTCF, with one bug each; see
//! [`tiles`](super::tiles).
//!
//! ```text
//! LOOPS  CSR rows, then tiles: value r of tile t is (boundary + br * block + r, block_col[t])
//! Libra  blocks of 8 x kb under a bitmap of one or two words, then CSR
//! N:M    row u of B' is row floor(u / N) * M + D of B
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, EntryOrder, Family};
use super::tiles::tiled;
use sparse_conformance_core::case::Case;
use sparse_oracle::each_parts;
use sparse_oracle::format::{
    AnyParts, BitTcfParts, Entry, FormatKind, LibraSpmmParts, LoopsParts, NmParts, PAD, Parts, SparseMma,
    TwoFourParts,
};
use sparse_oracle::scalar::{Precision, Rounding, Scalar, decode, encode};

const F: Family = Family::Tiles;

pub(super) static BUGS: &[Bug] = &[
    loops(
        "slip 1: loops spmm, absolute rows",
        "blocks are counted from row 0, and two threads write the rows at the boundary",
        |p| walk_loops(p, |p, block| (p.0 / p.1 + block) * p.1, true, true),
    ),
    loops("loops spmm: CSR part dropped", "only the tiles are multiplied", |p| {
        walk_loops(p, honest_row, false, true)
    }),
    loops("loops spmm: tile part dropped", "only the CSR rows are multiplied", |p| {
        walk_loops(p, honest_row, true, false)
    }),
    loops(
        "loops spmm: odd tile dropped",
        "tiles go in pairs, and the last one of an odd number is forgotten",
        |p| {
            each_parts!(p, parts => match parts {
                Parts::Loops(parts) => {
                    let mut parts = parts.clone();
                    for ends in parts.block_ptr.windows(2).filter(|ends| (ends[1] - ends[0]) % 2 == 1) {
                        let last = (ends[1] as usize - 1) * parts.br;
                        parts.values[last..last + parts.br].fill(Scalar::from_bits64(0));
                    }
                    read_loops(&parts, honest_row, true, true)
                }
                _ => Vec::new(),
            })
        },
    ),
    libra("libra spmm: rest dropped", "the CUDA-core part is never launched", |p| {
        walk_libra(p, |words| words, false)
    }),
    libra("libra spmm: second word ignored", "blocks of 16 columns have two words, and one is read", |p| {
        walk_libra(p, |words| words.min(1), true)
    }),
    nm("slip 5: nm spmm, index of equation (1)", "row u M / N + D of B", |p| {
        walk_nm(p, |u, n, m| u * m / n, |v, _, _| v)
    }),
    nm(
        "slip 5: nm spmm, factor M / N",
        "the factor of equation (1), which the paper's own kernels leave out",
        |p| walk_nm(p, honest_base, |v, n, m| v * m as f64 / n as f64),
    ),
    nm("nm spmm: offset ignored", "the first row of each window is read", |p| {
        each_parts!(p, parts => match parts {
            Parts::Nm(parts) => {
                let mut parts = parts.clone();
                parts.index.fill(0);
                read_nm(&parts, honest_base, |v, _, _| v)
            }
            _ => Vec::new(),
        })
    }),
    nm("nm spmm: offsets of the next group", "D is indexed by the wrong group of columns", |p| {
        each_parts!(p, parts => match parts {
            Parts::Nm(parts) => {
                let mut parts = parts.clone();
                if !parts.index.is_empty() {
                    parts.index.rotate_left(1);
                }
                read_nm(&parts, honest_base, |v, _, _| v)
            }
            _ => Vec::new(),
        })
    }),
    two_four("two_four spmm: metadata ignored", "the first two columns of every chunk are read", |p| {
        walk_two_four(p, |_| 0b0100)
    }),
    two_four("two_four spmm: nibble reversed", "the two indices of a nibble are exchanged", |p| {
        walk_two_four(p, |nibble| nibble >> 2 | (nibble & 3) << 2)
    }),
    bit_tcf("bit_tcf spmm: bits by columns", "bit 8 c + r is taken for (r, c)", |p| {
        walk_bit_tcf(p, |bit| (bit % 8, bit / 8))
    }),
    bit_tcf("bit_tcf spmm: windows of 16", "windows are as high as TCF's", |p| {
        walk_bit_tcf(p, |bit| (bit / 8 * 2, bit % 8))
    }),
];

const fn loops(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::Loops);
    Bug::new(
        F,
        name,
        story,
        concerns,
        Effect::Walks(wrong, |p| walk_loops(p, honest_row, true, true)),
        &[VALUE],
    )
}

const fn libra(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::LibraSpmm);
    Bug::new(F, name, story, concerns, Effect::Walks(wrong, |p| walk_libra(p, |words| words, true)), &[VALUE])
}

const fn nm(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::Nm);
    Bug::new(
        F,
        name,
        story,
        concerns,
        Effect::Walks(wrong, |p| walk_nm(p, honest_base, |v, _, _| v)),
        &[VALUE],
    )
}

const fn two_four(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::TwoFour) && c.contract.types.a != Precision::Tf32;
    Bug::new(F, name, story, concerns, Effect::Walks(wrong, |p| walk_two_four(p, |nibble| nibble)), &[VALUE])
}

const fn bit_tcf(name: &'static str, story: &'static str, wrong: fn(&AnyParts) -> EntryOrder) -> Bug {
    let concerns = |c: &Case| tiled(c, FormatKind::BitTcf);
    Bug::new(
        F,
        name,
        story,
        concerns,
        Effect::Walks(wrong, |p| walk_bit_tcf(p, |bit| (bit / 8, bit % 8))),
        &[VALUE],
    )
}

/// First row of a block of tiles, from (boundary, br) and its number.
pub(super) type FirstRow = fn((usize, usize), usize) -> usize;

pub(super) fn honest_row(p: (usize, usize), block: usize) -> usize {
    p.0 + block * p.1
}

pub(super) fn walk_loops(parts: &AnyParts, first: FirstRow, csr: bool, tiles: bool) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::Loops(p) => read_loops(p, first, csr, tiles),
        _ => Vec::new(),
    })
}

fn read_loops<T: Scalar>(p: &LoopsParts<T>, first: FirstRow, csr: bool, tiles: bool) -> EntryOrder {
    let mut list = Vec::new();
    for row in (0..p.boundary).filter(|_| csr) {
        for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
            list.push(Entry { row: row as u32, col: p.col_idx[at], value: p.csr_values[at].bits64() });
        }
    }
    for (block, ends) in p.block_ptr.windows(2).enumerate().filter(|_| tiles) {
        for tile in ends[0] as usize..ends[1] as usize {
            let slots = p.values[tile * p.br..(tile + 1) * p.br].iter().enumerate();
            // Only a tile can't tell an explicit +0.0 from a pad.
            for (r, value) in slots.filter(|(_, value)| value.bits64() != 0) {
                let row = (first((p.boundary, p.br), block) + r) as u32;
                list.push(Entry { row, col: p.block_col[tile], value: value.bits64() });
            }
        }
    }
    list
}

pub(super) fn walk_libra(parts: &AnyParts, words: fn(usize) -> usize, rest: bool) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::LibraSpmm(p) => read_libra(p, words, rest),
        _ => Vec::new(),
    })
}

fn read_libra<T: Scalar>(p: &LibraSpmmParts<T>, words: fn(usize) -> usize, rest: bool) -> EntryOrder {
    let mut list = Vec::new();
    let per_block = (8 * p.kb).div_ceil(64);
    for (window, ends) in p.window_block_ptr.windows(2).enumerate() {
        for block in ends[0] as usize..ends[1] as usize {
            let mut at = p.block_value_ptr[block] as usize;
            for bit in 0..(8 * p.kb).min(64 * words(per_block)) {
                if p.bitmap[block * per_block + bit / 64] >> (bit % 64) & 1 == 1 {
                    let (row, col) =
                        ((8 * window + bit / p.kb) as u32, p.block_col[block * p.kb + bit % p.kb]);
                    list.push(Entry { row, col, value: p.values[at].bits64() });
                    at += 1;
                }
            }
        }
    }
    for row in (0..p.rows).filter(|_| rest) {
        for at in p.row_ptr[row] as usize..p.row_ptr[row + 1] as usize {
            list.push(Entry { row: row as u32, col: p.col_idx[at], value: p.rest_values[at].bits64() });
        }
    }
    list
}

/// First row of the window of row u of B', from u, N and M.
type Base = fn(usize, usize, usize) -> usize;

fn honest_base(u: usize, n: usize, m: usize) -> usize {
    u / n * m
}

fn walk_nm(parts: &AnyParts, base: Base, scale: fn(f64, usize, usize) -> f64) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::Nm(p) => read_nm(p, base, scale),
        _ => Vec::new(),
    })
}

fn read_nm<T: Scalar>(p: &NmParts<T>, base: Base, scale: fn(f64, usize, usize) -> f64) -> EntryOrder {
    let groups = p.cols.div_ceil(p.l);
    let stride = groups * p.l;
    let slots = p.values.iter().enumerate().filter(|slot| !slot.1.is_positive_zero());
    slots
        .map(|(at, value)| {
            let (u, col) = (at / stride, at % stride);
            let row = base(u, p.n, p.m) + p.index[u * groups + col / p.l] as usize;
            let scaled = scale(decode(value.bits64(), T::PRECISION), p.n, p.m);
            Entry {
                row: row as u32,
                col: col as u32,
                value: encode(scaled, T::PRECISION, Rounding::NearestEven),
            }
        })
        .collect()
}

fn walk_two_four(parts: &AnyParts, nibble: fn(u32) -> u32) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::TwoFour(p) => read_two_four(p, nibble),
        _ => Vec::new(),
    })
}

fn read_two_four<T: Scalar>(p: &TwoFourParts<T>, nibble: fn(u32) -> u32) -> EntryOrder {
    let Some(mma) = SparseMma::of(T::PRECISION, p.short_k) else {
        return Vec::new();
    };
    let across = p.cols.div_ceil(mma.k());
    let mut list = Vec::new();
    for (at, &word) in p.metadata.iter().enumerate() {
        let (tile, word_at) = (at / mma.words(), at % mma.words());
        for place in 0..8 {
            let (row, chunk) = mma.chunk_of_nibble(word_at, place);
            let (row, col) = (tile / across * 16 + row, tile % across * mma.k() + chunk * mma.chunk());
            let slot = (row * across * mma.k() + col) / 2;
            let named = nibble(word >> (4 * place) & 15);
            for (i, value) in p.values[slot..slot + mma.chunk() / 2].iter().enumerate() {
                let col = (col as u32) + (named >> (2 * i) & 3);
                list.push(Entry { row: row as u32, col, value: value.bits64() });
            }
        }
    }
    list.retain(|e| e.value != 0);
    list
}

pub(super) fn walk_bit_tcf(parts: &AnyParts, place: fn(usize) -> (usize, usize)) -> EntryOrder {
    each_parts!(parts, p => match p {
        Parts::BitTcf(p) => read_bit_tcf(p, place),
        _ => Vec::new(),
    })
}

fn read_bit_tcf<T: Scalar>(p: &BitTcfParts<T>, place: fn(usize) -> (usize, usize)) -> EntryOrder {
    let mut list = Vec::new();
    for (window, ends) in p.row_window_offset.windows(2).enumerate() {
        for block in ends[0] as usize..ends[1] as usize {
            let set = (0..64).filter(|bit| p.tc_local_bit[block] >> bit & 1 == 1);
            for (bit, at) in set.zip(p.tc_offset[block] as usize..) {
                let (r, c) = place(bit);
                let (row, col) = ((8 * window + r) as u32, p.sparse_a_to_b[8 * block + c]);
                if col != PAD {
                    list.push(Entry { row, col, value: p.values[at].bits64() });
                }
            }
        }
    }
    list
}
