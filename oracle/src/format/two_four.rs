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

use super::check::{check_length, check_shape, check_slots};
use super::fields::fields;
use super::{Entries, Entry, FormatParams};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use instruction::ROWS;
pub use instruction::SparseMma;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The nibble of a chunk that holds nothing.
const EMPTY: u32 = 0b0100;

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
struct Tiles {
    mma: SparseMma,
    /// Instructions for 16 rows.
    across: usize,
    /// Metadata words.
    words: u128,
    /// Values.
    slots: u128,
}

impl Tiles {
    fn try_new<T: Scalar>(rows: usize, cols: usize, short_k: bool) -> Result<Self, Refusal> {
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
pub(crate) fn instruction_of<T: Scalar>(short_k: bool) -> Result<SparseMma, Refusal> {
    SparseMma::of(T::PRECISION, short_k).ok_or_else(|| Refusal::Kind {
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

    /// Encodes sorted entries with the parameter `short_k`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; an element type without an instruction; more than
    /// [`SLOT_LIMIT`](super::SLOT_LIMIT) slots; [`Refusal::TooFull`] for the first chunk that holds more than half its
    /// columns.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let tiles = Tiles::try_new::<T>(entries.rows, entries.cols, params.short_k)?;
        let slots = check_slots("slots", tiles.slots)?;
        let mma = tiles.mma;
        let (chunk, kept) = (mma.chunk(), mma.chunk() / 2);
        let stride = tiles.across * mma.k() / 2;
        let mut metadata = vec![EMPTY * 0x1111_1111; tiles.words as usize];
        let mut values = vec![T::from_bits64(0); slots];
        let mut chunks: BTreeMap<(usize, usize), Vec<Entry<T>>> = BTreeMap::new();
        for &e in &entries.list {
            let at = (e.row as usize, e.col as usize / chunk);
            chunks.entry(at).or_default().push(e);
        }
        for ((row, at), list) in chunks {
            let mut offsets: BTreeSet<usize> = list.iter().map(|e| e.col as usize % chunk).collect();
            if offsets.len() > kept {
                return Err(Refusal::TooFull {
                    what: "a chunk of 2:4 (values)",
                    row,
                    column: at * chunk,
                    found: offsets.len() as u64,
                    limit: kept as u64,
                    remedy: "prune the matrix first",
                });
            }
            for offset in 0..chunk {
                if offsets.len() < kept {
                    offsets.insert(offset);
                }
            }
            for e in &list {
                let before = offsets.range(..e.col as usize % chunk).count();
                values[row * stride + at * kept + before] = e.value;
            }
            let (tile, at) = (at * chunk / mma.k(), at % (mma.k() / chunk));
            let (word, shift) = mma.nibble_of_chunk(row % ROWS, at);
            let word = &mut metadata[(row / ROWS * tiles.across + tile) * mma.words() + word];
            *word = *word & !(15 << shift) | nibble(&offsets, chunk) << shift;
        }
        Ok(TwoFour(TwoFourParts {
            rows: entries.rows,
            cols: entries.cols,
            short_k: params.short_k,
            metadata,
            values,
        }))
    }

    /// Decodes: every slot that is not bitwise +0.0.
    pub fn entries(&self) -> Entries<T> {
        let p = &self.0;
        let mut list = Vec::with_capacity(self.nnz());
        if let Some(mma) = SparseMma::of(T::PRECISION, p.short_k) {
            let across = p.cols.div_ceil(mma.k());
            for (at, &word) in p.metadata.iter().enumerate() {
                let (tile, word_at) = (at / mma.words(), at % mma.words());
                let (first_row, first_col) = (tile / across * ROWS, tile % across * mma.k());
                for place in 0..8 {
                    let (row, chunk) = mma.chunk_of_nibble(word_at, place);
                    let (row, col) = (first_row + row, first_col + chunk * mma.chunk());
                    let slot = (row * across * mma.k() + col) / 2;
                    let offsets = mma.offsets(word >> (4 * place) & 15).unwrap_or_default();
                    let slots = &p.values[slot..slot + mma.chunk() / 2];
                    for (&value, offset) in slots.iter().zip(offsets) {
                        if !value.is_positive_zero() {
                            list.push(Entry { row: row as u32, col: (col + offset) as u32, value });
                        }
                    }
                }
            }
        }
        Entries::sorted(p.rows, p.cols, list)
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }

    /// The parameters that the matrix was encoded with.
    pub fn params(&self) -> FormatParams {
        FormatParams { short_k: self.0.short_k, ..FormatParams::DEFAULT }
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

/// The nibble that names these offsets of a chunk.
fn nibble(offsets: &BTreeSet<usize>, chunk: usize) -> u32 {
    let mut halves = Vec::new();
    for &offset in offsets {
        match chunk {
            4 => halves.push(offset),
            _ => halves.extend([2 * offset, 2 * offset + 1]),
        }
    }
    (halves[0] | halves[1] << 2) as u32
}

/// Checks one chunk: nibble number `place` of word `at`.
fn check_chunk<T: Scalar>(
    p: &TwoFourParts<T>,
    tiles: Tiles,
    at: usize,
    nibble: u32,
    place: usize,
) -> Result<(), Refusal> {
    let Tiles { mma, across, .. } = tiles;
    let per_row = mma.words() / 8;
    let tile = at / mma.words();
    let row = tile / across * ROWS + at % mma.words() / per_row + place / 4 * 8;
    let first_col = tile % across * mma.k() + (at % per_row * 4 + place % 4) * mma.chunk();
    let (low, high) = ((nibble & 3) as usize, (nibble >> 2) as usize);
    if low >= high {
        return Err(Refusal::Unsorted {
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
        return Err(Refusal::Unequal {
            field: "metadata",
            at,
            expected: u64::from(word ^ (nibble ^ whole) << (4 * place)),
            found: u64::from(word),
        });
    }
    let dirty = |field, at| Err(Refusal::DirtyPad { field, at, row });
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
