//! The formats of the papers: lanes are the rows that our own decoder gives.
//!
//! ```text
//! bitmaps, tiles, groups ---[convert::..ToCsr]---> rows: (col, value) ascending       pads are not visited
//! ```
//!
//! Slow (it decodes per call) and plain: what a kernel that works on the tiles themselves is compared with.

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::moves::Move;
use crate::portable::request::wrong_format;
use crate::portable::unit::Separate;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, FormatParams, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;
use std::marker::PhantomData;

/// Marks kernels for a format that the move `M` decodes to CSR.
#[derive(Debug)]
pub(crate) struct Decoded<M>(PhantomData<M>);

impl<M: Move> LaneFormat for Decoded<M> {
    const KIND: FormatKind = M::FROM;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Skipped;
    type Spmm = Separate;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        let Answer::Sparse(csr) = M::perform(matrix, FormatParams::DEFAULT)? else {
            return Err(wrong_format("A", FormatKind::Csr, M::FROM));
        };
        let values = T::unwrap_slice(csr.values.as_slice()).map(<[T]>::to_vec);
        Ok(CsrArrays {
            row_ptr: csr.offsets,
            col_idx: csr.indices,
            values: values.ok_or_else(|| wrong_format("A", FormatKind::Csr, M::FROM))?,
        })
    }
}

/// CSR arrays as the decoder returns them.
struct CsrArrays<T> {
    row_ptr: Vec<u32>,
    col_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Stored> Lanes<T> for CsrArrays<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let row = self.row_ptr[lane] as usize..self.row_ptr[lane + 1] as usize;
        for (&col, &value) in self.col_idx[row.clone()].iter().zip(&self.values[row]) {
            visit(col as usize, value);
        }
    }
}
