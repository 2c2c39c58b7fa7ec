//! ELL: lanes are rows; the pads come last and end the lane.

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::portable::unit::Separate;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Ell, FormatKind, PAD, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for ELL.
#[derive(Debug)]
pub(crate) struct AsEll;

impl LaneFormat for AsEll {
    const KIND: FormatKind = FormatKind::Ell;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Skipped;
    type Spmm = Separate;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        if let Sparse::Ell(ell) = matrix {
            Ok(ell)
        } else {
            Err(wrong_format("A", Self::KIND, matrix.kind()))
        }
    }
}

impl<T: Stored> Lanes<T> for &Ell<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let (cols, values) = self.row(lane);
        for (&col, &value) in cols.iter().zip(values).take_while(|slot| *slot.0 != PAD) {
            visit(col as usize, value);
        }
    }
}
