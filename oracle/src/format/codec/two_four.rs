//! Encoder and decoder of 2:4 (1:2 for tf32); the layout is that of [`TwoFourParts`](crate::format::TwoFourParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, TwoFour, TwoFourParts};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::two_four::{EMPTY, ROWS, SparseMma, Tiles};
use std::collections::{BTreeMap, BTreeSet};

impl<T: Scalar> Codec<T> for TwoFour<T> {
    /// Encodes sorted entries with the parameter `short_k`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; an element type without an instruction; more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) slots; [`RequestError::TooFull`] for the first chunk that holds more than half its
    /// columns.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
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
                return Err(Refusal::Request(RequestError::TooFull {
                    what: "a chunk of 2:4 (values)",
                    row,
                    column: at * chunk,
                    found: offsets.len() as u64,
                    limit: kept as u64,
                    remedy: "prune the matrix first",
                }));
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
        TwoFour::try_new(TwoFourParts {
            rows: entries.rows,
            cols: entries.cols,
            short_k: params.short_k,
            metadata,
            values,
        })
    }

    /// Decodes: every slot that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
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
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        FormatParams { short_k: self.short_k, ..FormatParams::DEFAULT }
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let Some(mma) = SparseMma::of(T::PRECISION, self.short_k) else {
            return Vec::new();
        };
        let across = self.cols.div_ceil(mma.k());
        let mut slots = Vec::with_capacity(self.values.len());
        for (at, &word) in self.metadata.iter().enumerate() {
            let (tile, word_at) = (at / mma.words(), at % mma.words());
            let (first_row, first_col) = (tile / across * 16, tile % across * mma.k());
            for place in 0..8 {
                let (row, chunk) = mma.chunk_of_nibble(word_at, place);
                let col = first_col + chunk * mma.chunk();
                let offsets = mma.offsets(word >> (4 * place) & 15).unwrap_or_default();
                // tf32 keeps one of two: both halves of its nibble name the same element.
                let kept = &offsets[..mma.chunk() / 2];
                slots.extend(kept.iter().map(|offset| ((first_row + row) as u32, (col + offset) as u32)));
            }
        }
        slots
    }

    fn most_slots(entries: &Entries<T>, _params: &FormatParams) -> u128 {
        (entries.rows as u128 + 16) * (entries.cols as u128 + 32) / 2
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
