//! CSR to SR-BCRS, and back: all rows are cut into windows (see [`super::vectors`]), groups of `stride` vectors.

use super::vectors::RowCut;
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{BLOCK_AREA_LIMIT, FormatKind, FormatParams, Parts, Sparse, SrBcrsParts};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;

/// CSR to SR-BCRS.
#[derive(Debug)]
pub(crate) struct CsrToSrBcrs;

/// SR-BCRS to CSR.
#[derive(Debug)]
pub(crate) struct SrBcrsToCsr;

impl Move for CsrToSrBcrs {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::SrBcrs);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = cut(m.rows, params)?;
        let vectors = cut.find(&m.row_ptr, &m.col_idx)?;
        encoded(Parts::SrBcrs(SrBcrsParts {
            rows: m.rows,
            cols: m.cols,
            v: cut.height,
            stride: cut.stride,
            values: cut.fill(&vectors, &m.row_ptr, &m.values),
            window_ptr: vectors.window_ptr,
            vector_col: vectors.vector_col,
        }))
    }
}

/// Where `rows` rows are cut.
fn cut(rows: usize, FormatParams { v, stride, .. }: FormatParams) -> Result<RowCut, Refusal> {
    if v == 0 {
        return Err(RequestError::Zero { field: "v" }.into());
    }
    if stride == 0 {
        return Err(RequestError::Zero { field: "stride" }.into());
    }
    let group = u64::from(v) * u64::from(stride);
    if group > BLOCK_AREA_LIMIT {
        return Err(Refusal::Request(RequestError::TooLarge {
            field: "v * stride",
            found: u128::from(group),
            limit: BLOCK_AREA_LIMIT,
        }));
    }
    let cut = RowCut { first_row: 0, rows, height: v as usize, stride: stride as usize };
    check_slots("window_ptr", cut.windows() as u128 + 1)?;
    Ok(cut)
}

impl Move for SrBcrsToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::SrBcrs;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::SrBcrs(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let cut = RowCut { first_row: 0, rows: m.rows, height: m.v, stride: m.stride };
        let mut arrays = (vec![0], Vec::new(), Vec::new());
        cut.append_rows(&m.window_ptr, &m.vector_col, &m.values, &mut arrays);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}
