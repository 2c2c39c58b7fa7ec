//! 2:4 (1:2 for tf32) hardware sparsity: half the columns, and the metadata words of `mma.sp`.
//!
//! ```text
//! f16, chunks of 4 columns      row 0:  . a . b | c . . .      values   a b | c 0       (two per chunk)
//!                                                              nibbles  1101  0100      (index 1 << 2 | index 0)
//!
//! tf32, pairs of columns        row 0:  . a | b .              values   a | b           (one per pair)
//!                                                              nibbles  1110  0100
//! ```
//!
//! Rows are padded to 16 and columns to the k of the instruction ([`SparseMma`]; `short_k` takes the shorter one). A slot
//! is used if it holds an entry, an explicit zero included; a chunk that uses more than two (one) is refused: pruning
//! decides what to drop. What is not used names the lowest free column of its chunk, so that indices ascend, as
//! `ordered_metadata` demands, and a matrix has one encoding; an empty chunk is 0100. The padding is nothing else.
//!
//! A slot without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 2). Other element
//! types than f16, bf16 and tf32 are refused.

mod instruction;
use super::check::{check_length, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
pub use instruction::{ROWS, SparseMma};
use std::ops::Deref;

/// The nibble of a chunk that holds nothing.
pub const EMPTY: u32 = 0b0100;

/// The arrays of a 2:4 matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwoFourParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Cut for the instruction with the shorter k.
    pub short_k: bool,
    /// Metadata words of the instructions, those of 16 rows from left to right before the next 16 rows; inside an
    /// instruction by ascending lane. See [`TwoFour::lane_of_word`].
    pub metadata: Vec<u32>,
    /// A compressed: padded rows x half the padded columns, row-major. See [`SparseMma::a_of_lane`].
    pub values: Vec<T>,
}

fields!(TwoFourParts { rows: Extent, cols: Extent, short_k: Flag, metadata: U32, values: Values });

/// A valid 2:4 matrix. Reads as its [`TwoFourParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct TwoFour<T>(TwoFourParts<T>);

/// How a matrix is cut into instructions.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// The instruction.
    pub mma: SparseMma,
    /// Instructions for 16 rows.
    pub across: usize,
    /// Metadata words.
    pub words: u128,
    /// Values.
    pub slots: u128,
}

impl Tiles {
    /// Checks the shape of the matrix and its element type.
    pub fn try_new<T: Scalar>(rows: usize, cols: usize, short_k: bool) -> Result<Self, Refusal> {
        let mma = instruction_of::<T>(short_k)?;
        check_shape(rows, cols)?;
        let across = cols.div_ceil(mma.k());
        let tiles = rows.div_ceil(ROWS) as u128 * across as u128;
        Ok(Tiles {
            mma,
            across,
            words: tiles * mma.words() as u128,
            slots: tiles * (ROWS * mma.k() / 2) as u128,
        })
    }
}

/// The instruction for elements of type `T`.
pub fn instruction_of<T: Scalar>(short_k: bool) -> Result<SparseMma, RequestError> {
    SparseMma::of(T::PRECISION, short_k).ok_or_else(|| RequestError::Kind {
        field: "values",
        expected: "tf32, f16 or bf16".to_owned(),
        found: T::PRECISION.name().to_owned(),
    })
}

impl<T: Scalar> TwoFour<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found: an element type without an instruction, a dimension or the number of slots past u32, an
    /// array length, a nibble that is not legal (two ascending indices; 0100 or 1110 for tf32), a chunk outside the matrix that is not 0100, a slot outside the
    /// matrix that is not +0.0.
    pub fn try_new(parts: TwoFourParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let tiles = Tiles::try_new::<T>(p.rows, p.cols, p.short_k)?;
        check_u32("slots", tiles.slots)?;
        check_length("metadata", tiles.words, p.metadata.len())?;
        check_length("values", tiles.slots, p.values.len())?;
        for (at, &word) in p.metadata.iter().enumerate() {
            for place in 0..8 {
                check_chunk(p, tiles, at, word >> (4 * place) & 15, place)?;
            }
        }
        Ok(TwoFour(parts))
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }

    /// The lane that reads element `at` of `metadata`, and the selector of the instruction that does, if neighbouring
    /// instructions share registers: instruction number `j` of its 16 rows has selector `j` modulo
    /// [`selectors`](SparseMma::selectors). `None` past the end.
    pub fn lane_of_word(&self, at: usize) -> Option<(usize, usize)> {
        let mma = SparseMma::of(T::PRECISION, self.0.short_k).filter(|_| at < self.0.metadata.len())?;
        let across = self.0.cols.div_ceil(mma.k());
        let selector = at / mma.words() % across % mma.selectors();
        Some((mma.lane_of_word(at % mma.words(), selector), selector))
    }

    /// The element of `metadata` in a lane of register number `register` of the 16 rows from `16 * row_block` on, the
    /// inverse of [`lane_of_word`](Self::lane_of_word). `None` where no instruction reads that lane.
    pub fn word_of_lane(&self, row_block: usize, register: usize, lane: usize) -> Option<usize> {
        let mma = SparseMma::of(T::PRECISION, self.0.short_k)?;
        let across = self.0.cols.div_ceil(mma.k());
        let (word, selector) = mma.word_of_lane(lane);
        let tile = register.checked_mul(mma.selectors())?.checked_add(selector)?;
        let exists = row_block < self.0.rows.div_ceil(ROWS) && tile < across && lane < 32;
        exists.then(|| (row_block * across + tile) * mma.words() + word)
    }
}

/// Checks one chunk: nibble number `place` of word `at`.
fn check_chunk<T: Scalar>(
    p: &TwoFourParts<T>,
    tiles: Tiles,
    at: usize,
    nibble: u32,
    place: usize,
) -> Result<(), EncodingError> {
    let Tiles { mma, across, .. } = tiles;
    let per_row = mma.words() / 8;
    let tile = at / mma.words();
    let row = tile / across * ROWS + at % mma.words() / per_row + place / 4 * 8;
    let first_col = tile % across * mma.k() + (at % per_row * 4 + place % 4) * mma.chunk();
    let (low, high) = ((nibble & 3) as usize, (nibble >> 2) as usize);
    if low >= high {
        return Err(EncodingError::Unsorted {
            field: "metadata",
            at,
            row,
            previous: low as u64,
            found: high as u64,
        });
    }
    // Two halves of one tf32 element: the second index decides which.
    let whole = if nibble < 8 { EMPTY } else { 0b1110 };
    if mma.chunk() == 2 && nibble != whole {
        let word = p.metadata[at];
        return Err(EncodingError::Unequal {
            field: "metadata",
            at,
            expected: u64::from(word ^ (nibble ^ whole) << (4 * place)),
            found: u64::from(word),
        });
    }
    let dirty = |field, at| Err(EncodingError::DirtyPad { field, at, row });
    if (row >= p.rows || first_col >= p.cols) && nibble != EMPTY {
        return dirty("metadata", at);
    }
    let slot = row * across * mma.k() / 2 + first_col / 2;
    let columns: &[usize] = if mma.chunk() == 4 { &[low, high] } else { &[low / 2] };
    for (j, offset) in columns.iter().enumerate() {
        let outside = row >= p.rows || first_col + offset >= p.cols;
        if outside && !p.values[slot + j].is_positive_zero() {
            return dirty("values", slot + j);
        }
    }
    Ok(())
}

impl<T> TwoFour<T> {
    /// The arrays back.
    pub fn into_parts(self) -> TwoFourParts<T> {
        self.0
    }
}

impl<T> Deref for TwoFour<T> {
    type Target = TwoFourParts<T>;

    fn deref(&self) -> &TwoFourParts<T> {
        &self.0
    }
}
