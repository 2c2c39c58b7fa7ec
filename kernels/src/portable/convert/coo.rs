//! COO to CSR and CSC: grouped by row or column, duplicates summed exactly and rounded once.

use crate::portable::element::Stored;
use crate::portable::lanes::group;
use crate::portable::moves::{Move, check_slots, compressed};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// COO to CSR.
#[derive(Debug)]
pub(crate) struct CooToCsr;

/// COO to CSC.
#[derive(Debug)]
pub(crate) struct CooToCsc;

impl Move for CooToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Coo;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Coo(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let rows = group(m.rows, &m.row_idx, &m.col_idx, &m.values);
        let arrays = (rows.ptr, rows.index, rows.values);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

impl Move for CooToCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Coo;
    const TO: Option<FormatKind> = Some(FormatKind::Csc);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Coo(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("col_ptr", m.cols as u128 + 1)?;
        let columns = group(m.cols, &m.col_idx, &m.row_idx, &m.values);
        let arrays = (columns.ptr, columns.index, columns.values);
        Ok(compressed(FormatKind::Csc, (m.rows, m.cols), arrays))
    }
}
