//! BCSR: lanes are rows; every slot of a row's blocks is visited, except past the matrix edge.
//!
//! ```text
//! row 1, blocks of 2 x 2:   [a b] [c d]      visits e f in the first block's columns, then g h in the second's
//!                           [e f] [g h]
//! ```

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::portable::unit::Fused;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Bcsr, FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for BCSR.
#[derive(Debug)]
pub(crate) struct AsBcsr;

impl LaneFormat for AsBcsr {
    const KIND: FormatKind = FormatKind::Bcsr;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Multiplied;
    type Spmm = Fused;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        if let Sparse::Bcsr(bcsr) = matrix {
            Ok(bcsr)
        } else {
            Err(wrong_format("A", Self::KIND, matrix.kind()))
        }
    }
}

impl<T: Stored> Lanes<T> for &Bcsr<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let (block_row, r) = (lane / self.block_rows, lane % self.block_rows);
        for block in self.block_row_ptr[block_row] as usize..self.block_row_ptr[block_row + 1] as usize {
            let first = self.block_col[block] as usize * self.block_cols;
            let inside = self.block_cols.min(self.cols - first);
            let slots = &self.block(block)[r * self.block_cols..][..inside];
            for (c, &value) in slots.iter().enumerate() {
                visit(first + c, value);
            }
        }
    }
}
