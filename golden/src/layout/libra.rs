//! Libra: bitmap blocks of 8 rows on tensor cores, the rest as CSR on CUDA cores.
//!
//! ```text
//! SpMM    blocks of kb columns, one mma each, ascending in a window; the rest of a row a chain; both sums added once
//! SDDMM   blocks of 16 columns: each element a chain of mma over slices of the inner dimension; the rest a chain of single steps
//! ```
//!
//! Sections 4.3 and 4.4.2. Not modelled: windows that balance would cut in segments of 16 blocks and rows in tiles of 32 entries,
//! whose sums are added atomically, in no order.

use super::{Lane, Term, slots, stored};
use crate::error::GoldenError;
use sparse_oracle::format::{Entries, FormatParams, LibraSddmm, LibraSpmm, PAD};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

const WINDOW: usize = 8;
const SDDMM_COLUMNS: usize = 16;

/// One lane a row.
pub(super) fn spmm<T: Scalar>(entries: &Entries<T>, params: &FormatParams) -> Result<Vec<Lane>, GoldenError> {
    let m = LibraSpmm::from_entries_with(entries, params)?;
    let lane = |index: usize| {
        let (window, r) = (index / WINDOW, index % WINDOW);
        let blocks = m.window_block_ptr[window] as usize..m.window_block_ptr[window + 1] as usize;
        let tiles = blocks.flat_map(|block| {
            let bits = Bits::of(&m.bitmap, block, m.kb);
            let columns = &m.block_col[block * m.kb..][..m.kb];
            let values = &m.values[m.block_value_ptr[block] as usize..];
            slots(columns, values, |c| bits.rank(r, c))
        });
        let rest = m.row_ptr[index] as usize..m.row_ptr[index + 1] as usize;
        Lane {
            index,
            tiles: tiles.collect(),
            rest: stored(&m.col_idx[rest.clone()], &m.rest_values[rest]),
            columns: None,
        }
    };
    Ok((0..m.rows).map(lane).collect())
}

/// Two lanes a row: elements on tensor cores, and the rest. Row i of `x` is the left operand of all of them.
pub(super) fn sddmm<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    x: &[T],
) -> Result<Vec<Lane>, GoldenError> {
    let m = LibraSddmm::from_entries_with(entries, params)?;
    let inner = x.len().checked_div(m.rows).unwrap_or(0);
    let mut lanes = Vec::new();
    for index in 0..m.rows {
        let (window, r) = (index / WINDOW, index % WINDOW);
        let left = &x[index * inner..][..inner];
        let terms: Vec<Term> = (0..).zip(left.iter().map(|v| v.bits64())).collect();
        let blocks = m.window_block_ptr[window] as usize..m.window_block_ptr[window + 1] as usize;
        let on_tensor_cores = blocks.flat_map(|block| {
            let bits = Bits::of(&m.bitmap, block, SDDMM_COLUMNS);
            let columns = &m.block_col[block * SDDMM_COLUMNS..][..SDDMM_COLUMNS];
            let set = move |(c, &col): (usize, &u32)| bits.rank(r, c).filter(|_| col != PAD).map(|_| col);
            columns.iter().enumerate().filter_map(set)
        });
        lanes.push(Lane {
            index,
            columns: Some(on_tensor_cores.collect()),
            tiles: terms.clone(),
            ..Lane::default()
        });
        let rest = m.row_ptr[index] as usize..m.row_ptr[index + 1] as usize;
        lanes.push(Lane { index, columns: Some(m.col_idx[rest].to_vec()), rest: terms, ..Lane::default() });
    }
    lanes.retain(|lane| lane.columns.as_ref().is_some_and(|columns| !columns.is_empty()));
    Ok(lanes)
}

/// The bitmap of one block: bit `columns * r + c`, in one word or two.
#[derive(Clone, Copy)]
struct Bits {
    bitmap: u128,
    columns: usize,
}

impl Bits {
    fn of(words: &[u64], block: usize, columns: usize) -> Bits {
        let per_block = (WINDOW * columns).div_ceil(64);
        let words = &words[block * per_block..][..per_block];
        let join = |high: u128, &word: &u64| high << 64 | u128::from(word);
        Bits { bitmap: words.iter().rev().fold(0, join), columns }
    }

    /// The number of bits below (r, c), if that is set.
    fn rank(self, r: usize, c: usize) -> Option<usize> {
        let bit = self.columns * r + c;
        let below = (self.bitmap & ((1 << bit) - 1)).count_ones() as usize;
        (self.bitmap >> bit & 1 == 1).then_some(below)
    }
}
