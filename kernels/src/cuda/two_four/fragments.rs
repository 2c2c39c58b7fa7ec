//! 2:4 arrays in the order of the registers of m16n8k32 (tf32: m16n8k16), and as lists of terms.
//!
//! ```text
//! one instruction, lane (g, t) = (lane / 4, lane % 4), kept values of a row 0..16 (tf32: 0..8):
//!   16 bit   registers  [g][2t, 2t + 1]  [g + 8][2t, 2t + 1]  [g][2t + 8, 2t + 9]  [g + 8][2t + 8, 2t + 9]
//!   tf32     registers  [g][t]           [g + 8][t]           [g][t + 4]           [g + 8][t + 4]
//!   metadata            chunks 4p..4p + 4 of row g (low half), of row g + 8 (high half), p = t % 2
//!
//! one stage of a block of 128 rows, in words:
//!   registers  [step 2][row block of 16, 8 of them][lane][4]
//!   metadata   [step 2][64 rows, 2 of them][lane][row block of 16, 4 of them], for groups of warps [row block of 16][lane]
//! ```
//!
//! Rows past the end and steps past the last are chunks 0100 of zeros. Arrays that were cut for the shorter instruction hold the
//! same chunks in the same order, in other words: nibbles are looked up, and a last instruction that is half there is filled up
//! with 0100 and +0.

use crate::cuda::listed::TermLists;
use crate::cuda::nm::MatrixUnitElement;
use crate::portable::convert::two_four::{ROWS, TwoFourCut};
use sparse_types::format::TwoFourParts;
use sparse_types::refusal::Refusal;

/// The first columns of a chunk.
const EMPTY: u32 = 0b0100;

/// Steps along k in a stage.
pub(super) const STEPS: usize = 2;

/// Row blocks of 16 in a block of threads, and those that share a lane's words of metadata.
const HIGH: usize = 8;
const SHARED: usize = 4;

/// Words of a stage: 4 registers and one of metadata for each lane of each instruction.
pub(super) const STAGE: usize = STEPS * HIGH * 32 * 5;

/// A matrix in registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fragments {
    /// Stages along k.
    pub(super) stages: usize,
    /// [block of 128 rows][stage][STAGE].
    pub(super) words: Vec<u32>,
}

/// Rows of the arrays: blocks of them are whole.
fn stored_rows<T>(m: &TwoFourParts<T>) -> usize {
    m.rows.next_multiple_of(ROWS)
}

/// The nibble of a chunk; that of an empty one past the end.
fn nibble<T: MatrixUnitElement>(m: &TwoFourParts<T>, cut: TwoFourCut, row: usize, chunk: usize) -> u32 {
    let kept = cut.chunk / 2;
    if chunk >= cut.stride() / kept || row >= stored_rows(m) {
        return EMPTY;
    }
    let (word, bit) = cut.nibble(row, chunk);
    m.metadata[row / ROWS * cut.words() + word] >> bit & 15
}

/// Whose words of metadata lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetadataOrder {
    /// Those of a lane, for `two_four.cu`: a warp has 64 rows.
    Lane,
    /// Those of 16 rows, for `two_four_group.cu`: a warp has these of 64.
    Rows,
}

/// The matrix for `two_four.cu` or `two_four_group.cu`.
pub(super) fn fragments<T: MatrixUnitElement>(
    m: &TwoFourParts<T>,
    order: MetadataOrder,
) -> Result<Fragments, Refusal> {
    let cut = TwoFourCut::new::<T>(m.cols, m.short_k)?;
    let (blocks, stages) = (m.rows.div_ceil(HIGH * ROWS), cut.stride().div_ceil(STEPS * T::K));
    // A kernel of groups takes two stages at a time.
    let stages = if order == MetadataOrder::Rows { stages.next_multiple_of(2) } else { stages };
    let mut words = Vec::with_capacity(blocks * stages * STAGE);
    for (block, stage) in (0..blocks).flat_map(|block| (0..stages).map(move |stage| (block, stage))) {
        let top = block * HIGH * ROWS;
        for step in stage * STEPS..(stage + 1) * STEPS {
            for tile in 0..HIGH {
                registers(m, cut, (top + tile * ROWS, step), &mut words);
            }
        }
        for step in stage * STEPS..(stage + 1) * STEPS {
            for first in (0..HIGH).step_by(SHARED) {
                let word = |tile: usize, lane| metadata(m, cut, (top + tile * ROWS, step), lane);
                let tiles = first..first + SHARED;
                match order {
                    MetadataOrder::Lane => {
                        words
                            .extend((0..32).flat_map(|lane| tiles.clone().map(move |tile| word(tile, lane))));
                    }
                    MetadataOrder::Rows => {
                        words.extend(tiles.flat_map(|tile| (0..32).map(move |lane| word(tile, lane))));
                    }
                }
            }
        }
    }
    Ok(Fragments { stages, words })
}

/// Registers of operand A of one instruction: 16 rows from `top` on, all lanes.
fn registers<T: MatrixUnitElement>(
    m: &TwoFourParts<T>,
    cut: TwoFourCut,
    (top, step): (usize, usize),
    words: &mut Vec<u32>,
) {
    // Kept values of a row that one instruction takes; chunks are 8.
    let k = T::K;
    let value = |row: usize, at: usize| match row < stored_rows(m) && at < cut.stride() {
        true => m.values[row * cut.stride() + at],
        false => T::from_bits64(0),
    };
    for (g, t) in (0..32).map(|lane| (lane / 4, lane % 4)) {
        for (row, side) in [(g, 0), (g + 8, 0), (g, 1), (g + 8, 1)] {
            let first = step * k + t * T::EACH + side * k / 2;
            let elements: Vec<T> = (first..first + T::EACH).map(|at| value(top + row, at)).collect();
            words.push(T::register(&elements));
        }
    }
}

/// The word of metadata of one instruction that a lane holds.
fn metadata<T: MatrixUnitElement>(
    m: &TwoFourParts<T>,
    cut: TwoFourCut,
    (top, step): (usize, usize),
    lane: usize,
) -> u32 {
    let half = |row: usize| {
        (0..4).fold(0, |word, c| word | nibble(m, cut, top + row, step * 8 + lane % 2 * 4 + c) << (4 * c))
    };
    half(lane / 4) | half(lane / 4 + 8) << 16
}

/// The terms of op(A): every kept slot inside the matrix.
pub(super) fn lists<T: MatrixUnitElement>(
    m: &TwoFourParts<T>,
    transpose: bool,
) -> Result<TermLists<T>, Refusal> {
    let cut = TwoFourCut::new::<T>(m.cols, m.short_k)?;
    let kept = cut.chunk / 2;
    let slots = (0..m.rows).flat_map(|row| (0..cut.stride()).map(move |at| (row, at)));
    let terms = slots.filter_map(|(row, at)| {
        let (chunk, place) = (at / kept, at % kept);
        let nibble = nibble(m, cut, row, chunk);
        // Of tf32 the second index tells the first half of the pair from the second.
        let offset = match kept {
            2 => nibble >> (2 * place) & 3,
            _ => nibble >> 3,
        };
        let col = chunk * cut.chunk + offset as usize;
        let value = m.values[row * cut.stride() + at];
        (col < m.cols).then_some((row as u32, col as u32, value))
    });
    TermLists::of((m.rows, m.cols), transpose, terms, T::from_bits64(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::format::{Entries, Entry, FormatParams, SparseMma, TwoFour};
    use sparse_oracle::prelude::*;
    use sparse_types::{Bf16, F16, Scalar, Tf32};

    /// A pseudo-random matrix that fits: of each chunk at most half.
    fn matrix<T: Scalar>(rows: usize, cols: usize, short_k: bool) -> TwoFour<T> {
        let chunk = if T::PRECISION == sparse_types::Precision::Tf32 { 2 } else { 4 };
        let mut list = Vec::new();
        for row in 0..rows {
            for first in (0..cols).step_by(chunk) {
                let seed = row * 7 + first * 5 + row * first;
                let mut kept = vec![first + seed % chunk, first + (seed / 3 + 1) % chunk];
                kept.truncate(chunk / 2);
                kept.sort_unstable();
                kept.dedup();
                for col in kept.into_iter().filter(|&col| col < cols && seed % 5 > 0) {
                    list.push(Entry {
                        row: row as u32,
                        col: col as u32,
                        // At most 11 bits: tf32 is rounded on its way into registers.
                        value: T::from_f64((1 + (row * cols + col) % 200) as f64),
                    });
                }
            }
        }
        let params = FormatParams { short_k, ..FormatParams::DEFAULT };
        TwoFour::from_entries_with(&Entries { rows, cols, list }, &params).expect("fits")
    }

    /// What the instruction multiplies, read back from the registers by the layouts of the PTX manual, is the matrix.
    fn read_back<T: MatrixUnitElement + Scalar>(mma: SparseMma, order: MetadataOrder) {
        for (rows, cols, short_k) in
            [(1, 1, true), (16, 32, false), (37, 75, true), (40, 64, true), (19, 33, false)]
        {
            let m = matrix::<T>(rows, cols, short_k);
            let f = fragments(&m, order).expect("legal");
            assert!(order == MetadataOrder::Lane || f.stages.is_multiple_of(2));
            let bits = 32 / T::EACH;
            let mut found = Vec::new();
            let stages = f.words.chunks(STAGE).zip(0..).flat_map(|(stage, at)| {
                let (block, first) = (at / f.stages, at % f.stages * STEPS);
                let (registers, metadata) = stage.split_at(STEPS * HIGH * 128);
                (0..STEPS * HIGH)
                    .map(move |at| (block * HIGH + at % HIGH, first + at / HIGH, at, registers, metadata))
            });
            for (tile, step, at, registers, metadata) in stages {
                for (lane, i) in (0..32).flat_map(|lane| (0..4 * T::EACH).map(move |i| (lane, i))) {
                    let (row, kept_at) = mma.a_of_lane(lane, i);
                    let word = registers[at * 128 + lane * 4 + i / T::EACH];
                    let value = T::from_bits64(
                        u64::from(word >> (bits * (i % T::EACH) % 32)) & (u64::MAX >> (64 - bits)),
                    );
                    let kept = mma.chunk() / 2;
                    let (meta, shift) = mma.nibble_of_chunk(row, kept_at / kept);
                    let holder = mma.lane_of_word(meta, 0);
                    let word = metadata[match order {
                        MetadataOrder::Lane => (at / SHARED * 32 + holder) * SHARED + at % SHARED,
                        MetadataOrder::Rows => at * 32 + holder,
                    }];
                    let offsets = mma.offsets(word >> shift & 15).expect("legal nibble");
                    let col = step * mma.k() + kept_at / kept * mma.chunk() + offsets[kept_at % kept];
                    if !value.is_positive_zero() {
                        found.push((tile * ROWS + row, col, value.to_f64()));
                    }
                }
            }
            found.sort_by_key(|x| (x.0, x.1));
            let stored: Vec<_> =
                m.entries().list.iter().map(|e| (e.row as usize, e.col as usize, e.value.to_f64())).collect();
            assert_eq!(found, stored, "{rows} x {cols}, short_k {short_k}");
        }
    }

    #[test]
    fn registers_hold_the_matrix() {
        for order in [MetadataOrder::Lane, MetadataOrder::Rows] {
            read_back::<F16>(SparseMma::HalfK32, order);
            read_back::<Bf16>(SparseMma::HalfK32, order);
        }
        read_back::<Tf32>(SparseMma::Tf32K16, MetadataOrder::Lane);
    }

    #[test]
    fn lists_hold_every_kept_slot_of_a_row_and_of_a_column() {
        let m = matrix::<F16>(5, 10, true);
        let stored = lists(&m, false).expect("legal");
        // Two of each whole chunk, and of columns 8 and 9 both.
        assert_eq!(stored.ptr, [0, 6, 12, 18, 24, 30]);
        let turned = lists(&m, true).expect("legal");
        assert_eq!(turned.ptr.len(), 11);
        for (lists, turn) in [(&stored, false), (&turned, true)] {
            let mut found = Vec::new();
            for row in 0..lists.ptr.len() - 1 {
                for at in lists.ptr[row] as usize..lists.ptr[row + 1] as usize {
                    let (row, col) = (row as u32, lists.index[at]);
                    let value = lists.values[at];
                    if !value.is_positive_zero() {
                        found.push(if turn {
                            (col, row, value.to_f64())
                        } else {
                            (row, col, value.to_f64())
                        });
                    }
                }
            }
            found.sort_by_key(|x| (x.0, x.1));
            let entries: Vec<_> = m.entries().list.iter().map(|e| (e.row, e.col, e.value.to_f64())).collect();
            assert_eq!(found, entries);
        }
    }
}
