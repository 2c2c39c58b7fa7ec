//! The operands of `mma.sp::ordered_metadata`: which lane holds what (PTX ISA, sections 9.7.14.6.1 and .2).
//!
//! ```text
//! one instruction: 16 rows x k columns of A, in chunks of 4 (2 for tf32) columns, of which 2 (1) are kept
//!
//! metadata, short k         row g:    chunk  0  1  2  3     word g:       bits 0..16  = nibbles of row g
//! (4 chunks a row)          row g+8:         0  1  2  3                   bits 16..32 = nibbles of row g + 8
//!
//! metadata, long k          row g:    0 1 2 3 | 4 5 6 7     word 2g + p:  the same of chunks 4p..4p + 4
//! (8 chunks a row)          row g+8:  0 1 2 3 | 4 5 6 7
//!
//! lanes, short k:  word g       in lane 4g + f        f = selector, 0..4
//! lanes, long k:   word 2g + p  in lane 4g + 2f + p   f = selector, 0..2
//! ```
//!
//! Four (two) instructions with different selectors share one register of metadata; the lanes that a selector does not
//! name are not read. g = lane / 4 and t = lane % 4 throughout.

use crate::scalar::Precision;

/// Rows of A that one instruction takes.
pub const ROWS: usize = 16;

/// One shape of `mma.sp`, m16n8 and the named k: the number of rows of B that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SparseMma {
    /// f16 or bf16, 16 columns of A, of which 8 are kept.
    HalfK16,
    /// f16 or bf16, 32 columns of A, of which 16 are kept.
    HalfK32,
    /// tf32, 8 columns of A, of which 4 are kept.
    Tf32K8,
    /// tf32, 16 columns of A, of which 8 are kept.
    Tf32K16,
}

impl SparseMma {
    /// Every shape.
    pub const ALL: [SparseMma; 4] =
        [SparseMma::HalfK16, SparseMma::HalfK32, SparseMma::Tf32K8, SparseMma::Tf32K16];

    /// The shape for an element type; `None` for types that 2:4 is not defined for.
    #[must_use]
    pub const fn of(precision: Precision, short_k: bool) -> Option<SparseMma> {
        match (precision, short_k) {
            (Precision::F16 | Precision::Bf16, true) => Some(SparseMma::HalfK16),
            (Precision::F16 | Precision::Bf16, false) => Some(SparseMma::HalfK32),
            (Precision::Tf32, true) => Some(SparseMma::Tf32K8),
            (Precision::Tf32, false) => Some(SparseMma::Tf32K16),
            _ => None,
        }
    }

    /// Columns of A, before compression.
    #[must_use]
    pub const fn k(self) -> usize {
        match self {
            SparseMma::HalfK32 => 32,
            SparseMma::HalfK16 | SparseMma::Tf32K16 => 16,
            SparseMma::Tf32K8 => 8,
        }
    }

    /// Columns of a chunk, half of which are kept: 4, or 2 for tf32.
    #[must_use]
    pub const fn chunk(self) -> usize {
        match self {
            SparseMma::HalfK16 | SparseMma::HalfK32 => 4,
            SparseMma::Tf32K8 | SparseMma::Tf32K16 => 2,
        }
    }

    /// Metadata words of one instruction: 8, or 16 for the longer k.
    #[must_use]
    pub const fn words(self) -> usize {
        self.k() / self.chunk() * 2
    }

    /// Selectors: how many instructions share one register of metadata.
    #[must_use]
    pub const fn selectors(self) -> usize {
        32 / self.words()
    }

    /// The offsets inside a chunk that a nibble keeps; tf32 keeps one and has it twice. `None` for a nibble that
    /// `ordered_metadata` does not allow.
    #[must_use]
    pub const fn offsets(self, nibble: u32) -> Option<[usize; 2]> {
        let halves = [(nibble & 3) as usize, (nibble >> 2 & 3) as usize];
        match (self.chunk(), nibble) {
            (4, _) if nibble < 16 && halves[0] < halves[1] => Some(halves),
            // A tf32 element is seen as two halves: 0 and 1, or 2 and 3.
            (2, 0b0100) => Some([0, 0]),
            (2, 0b1110) => Some([1, 1]),
            _ => None,
        }
    }

    /// The lane that holds metadata word `word` when the instruction is given `selector`.
    #[must_use]
    pub const fn lane_of_word(self, word: usize, selector: usize) -> usize {
        match self.words() {
            8 => 4 * word + selector,
            _ => 4 * (word / 2) + 2 * selector + word % 2,
        }
    }

    /// The metadata word in a lane, and the selector that reads it.
    #[must_use]
    pub const fn word_of_lane(self, lane: usize) -> (usize, usize) {
        match self.words() {
            8 => (lane / 4, lane % 4),
            _ => (lane / 4 * 2 + lane % 2, lane % 4 / 2),
        }
    }

    /// The metadata word, and the first bit of the nibble in it, of one chunk.
    #[must_use]
    pub const fn nibble_of_chunk(self, row: usize, chunk: usize) -> (usize, u32) {
        let word = match self.words() {
            8 => row % 8,
            _ => 2 * (row % 8) + chunk / 4,
        };
        (word, (row / 8 * 16 + chunk % 4 * 4) as u32)
    }

    /// The row and the chunk that nibble `nibble` (0..8, from the lowest bits) of metadata word `word` is about.
    #[must_use]
    pub const fn chunk_of_nibble(self, word: usize, nibble: usize) -> (usize, usize) {
        match self.words() {
            8 => (word + nibble / 4 * 8, nibble % 4),
            _ => (word / 2 + nibble / 4 * 8, word % 2 * 4 + nibble % 4),
        }
    }

    /// The row and the column, in A as it is compressed, of element `i` that `lane` holds: the layout of a dense A of
    /// half the k. f16 and bf16 elements lie in pairs, the lower half of a register first.
    #[must_use]
    pub const fn a_of_lane(self, lane: usize, i: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        match self.chunk() {
            4 => (g + i / 2 % 2 * 8, 2 * t + i % 2 + i / 4 * 8),
            _ => (g + i % 2 * 8, t + i / 2 * 4),
        }
    }

    /// The lane, and the element in it, of a place in A as it is compressed.
    #[must_use]
    pub const fn lane_of_a(self, row: usize, col: usize) -> (usize, usize) {
        let (g, high) = (row % 8, row / 8);
        match self.chunk() {
            4 => (4 * g + col % 8 / 2, col % 2 + high * 2 + col / 8 * 4),
            _ => (4 * g + col % 4, high + col / 4 * 2),
        }
    }

    /// The row and the column of element `i` of B that `lane` holds; B is k x 8.
    #[must_use]
    pub const fn b_of_lane(self, lane: usize, i: usize) -> (usize, usize) {
        let (g, t) = (lane / 4, lane % 4);
        match self.chunk() {
            4 => (2 * t + i % 2 + i / 2 * 8, g),
            _ => (t + i * 4, g),
        }
    }

    /// The row and the column of element `i` of the accumulators that `lane` holds; C and D are 16 x 8.
    #[must_use]
    pub const fn c_of_lane(self, lane: usize, i: usize) -> (usize, usize) {
        (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)
    }
}
