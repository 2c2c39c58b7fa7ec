//! LOOPS: rows above the boundary as CSR, below it tiles of `br` x 1 in pairs.
//!
//! ```text
//! block of br rows:   tile 0   tile 1   tile 2     row r meets slot r of each: (0, 1) (2, pad), two products an instruction
//! ```
//!
//! Section 3.3 and algorithm 3: a last tile without a partner is paired with zeros. Slots that hold no entry are multiplied.

use super::{Lane, Term, stored};
use crate::error::GoldenError;
use sparse_oracle::format::{Entries, FormatParams, Loops, PAD};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

/// One lane a row.
pub(super) fn lanes<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
) -> Result<Vec<Lane>, GoldenError> {
    let m = Loops::from_entries_with(entries, params)?;
    let csr = (0..m.boundary).map(|index| {
        let range = m.row_ptr[index] as usize..m.row_ptr[index + 1] as usize;
        Lane { index, rest: stored(&m.col_idx[range.clone()], &m.csr_values[range]), ..Lane::default() }
    });
    let tiled = (m.boundary..m.rows).map(|index| {
        let (block, slot) = ((index - m.boundary) / m.br, (index - m.boundary) % m.br);
        let tiles = m.block_ptr[block] as usize..m.block_ptr[block + 1] as usize;
        let term = |tile: usize| (m.block_col[tile], m.tile(tile)[slot].bits64());
        let mut tiles: Vec<Term> = tiles.map(term).collect();
        if tiles.len() % 2 == 1 {
            tiles.push((PAD, 0));
        }
        Lane { index, tiles, ..Lane::default() }
    });
    Ok(csr.chain(tiled).collect())
}
