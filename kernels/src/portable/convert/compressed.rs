//! CSR to CSC and back by turning the lanes; CSR to COO by spelling out the rows.

use crate::portable::element::Stored;
use crate::portable::moves::{Move, compressed, turn};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// CSR to CSC.
#[derive(Debug)]
pub(crate) struct CsrToCsc;

/// CSC to CSR.
#[derive(Debug)]
pub(crate) struct CscToCsr;

/// CSR to COO, in row order.
#[derive(Debug)]
pub(crate) struct CsrToCoo;

impl Move for CsrToCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Csc);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let arrays = turn("col_ptr", m.cols, &m.row_ptr, &m.col_idx, &m.values)?;
        Ok(compressed(FormatKind::Csc, (m.rows, m.cols), arrays))
    }
}

impl Move for CscToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csc;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csc(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let arrays = turn("row_ptr", m.rows, &m.col_ptr, &m.row_idx, &m.values)?;
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

impl Move for CsrToCoo {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Coo);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let mut row_idx = Vec::with_capacity(m.nnz());
        for (row, ends) in m.row_ptr.windows(2).enumerate() {
            row_idx.resize(ends[1] as usize, row as u32);
        }
        let arrays = (row_idx, m.col_idx.clone(), m.values.clone());
        Ok(compressed(FormatKind::Coo, (m.rows, m.cols), arrays))
    }
}
