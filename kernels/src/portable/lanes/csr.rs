//! CSR: lanes are rows, as stored.

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::request::wrong_format;
use crate::portable::unit::Separate;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{Csr, FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for CSR.
#[derive(Debug)]
pub(crate) struct AsCsr;

impl LaneFormat for AsCsr {
    const KIND: FormatKind = FormatKind::Csr;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Skipped;
    type Spmm = Separate;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        if let Sparse::Csr(csr) = matrix {
            Ok(csr)
        } else {
            Err(wrong_format("A", Self::KIND, matrix.kind()))
        }
    }
}

impl<T: Stored> Lanes<T> for &Csr<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let (cols, values) = self.row(lane);
        for (&col, &value) in cols.iter().zip(values) {
            visit(col as usize, value);
        }
    }
}
