//! CSC: lanes are columns, as stored.

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::portable::unit::Separate;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Csc, FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for CSC.
#[derive(Debug)]
pub(crate) struct AsCsc;

impl LaneFormat for AsCsc {
    const KIND: FormatKind = FormatKind::Csc;
    const BY_ROWS: bool = false;
    const PADS: Pads = Pads::Skipped;
    type Spmm = Separate;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        if let Sparse::Csc(csc) = matrix {
            Ok(csc)
        } else {
            Err(wrong_format("A", Self::KIND, matrix.kind()))
        }
    }
}

impl<T: Stored> Lanes<T> for &Csc<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let (rows, values) = self.col(lane);
        for (&row, &value) in rows.iter().zip(values) {
            visit(row as usize, value);
        }
    }
}
