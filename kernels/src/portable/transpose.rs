//! Transposes within one format: COO swaps its index arrays, CSR and CSC turn their lanes.

use super::element::Stored;
use super::moves::{Move, compressed, turn};
use super::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// COO: triples keep their order, duplicates stay duplicates.
#[derive(Debug)]
pub(crate) struct TransposeCoo;

/// CSR.
#[derive(Debug)]
pub(crate) struct TransposeCsr;

/// CSC.
#[derive(Debug)]
pub(crate) struct TransposeCsc;

impl Move for TransposeCoo {
    const OP: Op = Op::Transpose;
    const FROM: FormatKind = FormatKind::Coo;
    const TO: Option<FormatKind> = None;

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Coo(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let arrays = (m.col_idx.clone(), m.row_idx.clone(), m.values.clone());
        Ok(compressed(Self::FROM, (m.cols, m.rows), arrays))
    }
}

impl Move for TransposeCsr {
    const OP: Op = Op::Transpose;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = None;

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let arrays = turn("row_ptr", m.cols, &m.row_ptr, &m.col_idx, &m.values)?;
        Ok(compressed(Self::FROM, (m.cols, m.rows), arrays))
    }
}

impl Move for TransposeCsc {
    const OP: Op = Op::Transpose;
    const FROM: FormatKind = FormatKind::Csc;
    const TO: Option<FormatKind> = None;

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csc(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let arrays = turn("col_ptr", m.rows, &m.col_ptr, &m.row_idx, &m.values)?;
        Ok(compressed(Self::FROM, (m.cols, m.rows), arrays))
    }
}
