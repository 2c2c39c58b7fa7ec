//! CSR to `LibraSddmm`, and back; the passes are those of `LibraSpmm`.

use super::libra_spmm::{DistributionRule, Encoding, SDDMM_COLS, gather, gather_both, index};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, LibraSddmmParts, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// CSR to `LibraSddmm`.
#[derive(Debug)]
pub(crate) struct CsrToLibraSddmm;

/// `LibraSddmm` to CSR.
#[derive(Debug)]
pub(crate) struct LibraSddmmToCsr;

impl Move for CsrToLibraSddmm {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::LibraSddmm);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let rule = DistributionRule::sddmm(params)?;
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let index = index(&m.row_ptr, &m.col_idx, rule);
        encoded(Parts::LibraSddmm(LibraSddmmParts {
            rows: m.rows,
            cols: m.cols,
            window_block_ptr: index.window_block_ptr,
            bitmap: index.bitmap,
            block_value_ptr: index.block_value_ptr,
            block_col: index.block_col,
            values: gather(&m.values, &index.position),
            position: index.position,
            row_ptr: index.row_ptr,
            col_idx: index.col_idx,
            rest_values: gather(&m.values, &index.rest_position),
            rest_position: index.rest_position,
        }))
    }
}

impl Move for LibraSddmmToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::LibraSddmm;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::LibraSddmm(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let encoding = Encoding {
            kb: SDDMM_COLS,
            window_block_ptr: &m.window_block_ptr,
            bitmap: &m.bitmap,
            block_value_ptr: &m.block_value_ptr,
            block_col: &m.block_col,
            row_ptr: &m.row_ptr,
            col_idx: &m.col_idx,
            positions: Some((&m.position, &m.rest_position)),
        };
        let pattern = encoding.decode();
        let values = gather_both(&m.values, &m.rest_values, &pattern.source);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), (pattern.row_ptr, pattern.col_idx, values)))
    }
}
