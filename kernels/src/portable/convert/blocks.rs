//! CSR to BCSR and Blocked-ELL, and back.
//!
//! Encoding merges the rows of a block row by block column: every row has a cursor, the smallest block column under
//! any cursor is the next block, and every row moves its entries in that block.
//!
//! ```text
//! blocks of 2 x 2     row 0:  1 | 2 7        blocks 0, 1, 3: each takes what its two rows hold in columns
//!                     row 1:  0   .   6      0 1, then 2 3, then 6 7
//! ```
//!
//! An explicit +0.0 still creates its block. Decoding drops the slots that are bitwise +0.0, whether pad or entry.

use crate::portable::element::Stored;
use crate::portable::lanes::{AsBcsr, AsBlockedEll, LaneFormat, Lanes};
use crate::portable::moves::{Move, check_block, check_slots, compressed, raw};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, PAD, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// CSR to BCSR.
#[derive(Debug)]
pub(crate) struct CsrToBcsr;

/// CSR to Blocked-ELL; the width is that of the longest block row.
#[derive(Debug)]
pub(crate) struct CsrToBlockedEll;

/// BCSR to CSR.
#[derive(Debug)]
pub(crate) struct BcsrToCsr;

/// Blocked-ELL to CSR.
#[derive(Debug)]
pub(crate) struct BlockedEllToCsr;

impl Move for CsrToBcsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Bcsr);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let mut merge = Merge::new(m, params)?;
        let mut block_row_ptr = Vec::with_capacity(merge.block_rows + 1);
        let (mut block_col, mut values) = (Vec::new(), Vec::new());
        block_row_ptr.push(0);
        for block_row in 0..merge.block_rows {
            merge.start(block_row);
            while let Some(col) = merge.next_block() {
                block_col.push(col);
                let end = check_slots("slots", block_col.len() as u128 * merge.area as u128)?;
                values.resize(end, T::from_bits64(0));
                merge.fill(col, &mut values[end - merge.area..]);
            }
            block_row_ptr.push(block_col.len() as u32);
        }
        let mut bcsr = raw(FormatKind::Bcsr, (m.rows, m.cols), (block_row_ptr, block_col, values));
        bcsr.params = params;
        Ok(Answer::Sparse(bcsr))
    }
}

impl Move for CsrToBlockedEll {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::BlockedEll);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let mut merge = Merge::new(m, params)?;
        let mut block = vec![T::from_bits64(0); merge.area];
        let mut width = 0;
        for block_row in 0..merge.block_rows {
            merge.start(block_row);
            let mut count = 0;
            while let Some(col) = merge.next_block() {
                merge.fill(col, &mut block);
                count += 1;
            }
            width = count.max(width);
        }
        let blocks = merge.block_rows as u128 * width as u128;
        let slots = check_slots("slots", blocks * merge.area as u128)?;
        let mut block_col = vec![PAD; blocks as usize];
        let mut values = vec![T::from_bits64(0); slots];
        for block_row in 0..merge.block_rows {
            merge.start(block_row);
            let mut slot = block_row * width;
            while let Some(col) = merge.next_block() {
                block_col[slot] = col;
                merge.fill(col, &mut values[slot * merge.area..(slot + 1) * merge.area]);
                slot += 1;
            }
        }
        let arrays = (Vec::new(), block_col, values);
        let mut ell = raw(FormatKind::BlockedEll, (m.rows, m.cols), arrays);
        ell.params = params;
        ell.width = width;
        Ok(Answer::Sparse(ell))
    }
}

/// The rows of one block row, each with a cursor into its entries.
struct Merge<'a, T> {
    csr: &'a Csr<T>,
    height: usize,
    breadth: usize,
    /// Elements of a block.
    area: usize,
    /// Number of block rows.
    block_rows: usize,
    /// Offset of the next entry of each row of the current block row.
    cursors: Vec<u32>,
    /// Offset past the last entry of each.
    ends: Vec<u32>,
}

impl<'a, T: Stored> Merge<'a, T> {
    fn new(csr: &'a Csr<T>, params: FormatParams) -> Result<Merge<'a, T>, Refusal> {
        let (height, breadth) = check_block(params)?;
        let block_rows = csr.rows.div_ceil(height);
        check_slots("block_row_ptr", block_rows as u128 + 1)?;
        Ok(Merge {
            csr,
            height,
            breadth,
            area: height * breadth,
            block_rows,
            cursors: Vec::new(),
            ends: Vec::new(),
        })
    }

    fn start(&mut self, block_row: usize) {
        let first = block_row * self.height;
        let last = (first + self.height).min(self.csr.rows);
        self.cursors.clear();
        self.ends.clear();
        self.cursors.extend_from_slice(&self.csr.row_ptr[first..last]);
        self.ends.extend_from_slice(&self.csr.row_ptr[first + 1..=last]);
    }

    /// The smallest block column that any row still has to store.
    fn next_block(&self) -> Option<u32> {
        let pending = self.cursors.iter().zip(&self.ends).filter(|(at, end)| at < end);
        let column = pending.map(|(&at, _)| self.csr.col_idx[at as usize]).min()?;
        Some((column as usize / self.breadth) as u32)
    }

    /// Moves the entries of block column `col` into `block`, row-major.
    fn fill(&mut self, col: u32, block: &mut [T]) {
        let first = col as usize * self.breadth;
        for (r, (at, &end)) in self.cursors.iter_mut().zip(&self.ends).enumerate() {
            while *at < end {
                let c = self.csr.col_idx[*at as usize] as usize - first;
                if c >= self.breadth {
                    break;
                }
                block[r * self.breadth + c] = self.csr.values[*at as usize];
                *at += 1;
            }
        }
    }
}

impl Move for BcsrToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Bcsr;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        drop_pads::<AsBcsr, T>(matrix)
    }
}

impl Move for BlockedEllToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::BlockedEll;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        drop_pads::<AsBlockedEll, T>(matrix)
    }
}

/// Rows without the slots that are bitwise +0.0.
fn drop_pads<F: LaneFormat, T: Stored>(matrix: &Sparse<T>) -> Result<Answer, Refusal> {
    let lanes = F::lanes(matrix)?;
    let (rows, cols) = matrix.shape();
    let mut row_ptr = Vec::with_capacity(check_slots("row_ptr", rows as u128 + 1)?);
    let (mut col_idx, mut values) = (Vec::new(), Vec::new());
    row_ptr.push(0);
    for row in 0..rows {
        lanes.walk(row, |col, value| {
            if !value.is_positive_zero() {
                col_idx.push(col as u32);
                values.push(value);
            }
        });
        row_ptr.push(col_idx.len() as u32);
    }
    Ok(compressed(FormatKind::Csr, (rows, cols), (row_ptr, col_idx, values)))
}
