//! Blocked-ELL: lanes are rows; every element of a row's blocks is visited, except past the matrix edge. Padding slots
//! come last, face nothing, and end the lane.

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::portable::unit::Fused;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{BlockedEll, FormatKind, PAD, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for Blocked-ELL.
#[derive(Debug)]
pub(crate) struct AsBlockedEll;

impl LaneFormat for AsBlockedEll {
    const KIND: FormatKind = FormatKind::BlockedEll;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Multiplied;
    type Spmm = Fused;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        if let Sparse::BlockedEll(ell) = matrix {
            Ok(ell)
        } else {
            Err(wrong_format("A", Self::KIND, matrix.kind()))
        }
    }
}

impl<T: Stored> Lanes<T> for &BlockedEll<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let (block_row, r) = (lane / self.block_rows, lane % self.block_rows);
        for slot in block_row * self.width..(block_row + 1) * self.width {
            let block_col = self.block_col[slot];
            if block_col == PAD {
                break;
            }
            let first = block_col as usize * self.block_cols;
            let inside = self.block_cols.min(self.cols - first);
            let elements = &self.block(slot)[r * self.block_cols..][..inside];
            for (c, &value) in elements.iter().enumerate() {
                visit(first + c, value);
            }
        }
    }
}
