//! CSR to ME-TCF, and back.

use super::tcf::Windows;
use super::tcf::fold::{TcfBlocks, block_windows, fold, gather, scatter};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, MeTcfParts, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// Rows of a window.
const HEIGHT: usize = 16;

/// CSR to ME-TCF.
#[derive(Debug)]
pub(crate) struct CsrToMeTcf;

/// ME-TCF to CSR.
#[derive(Debug)]
pub(crate) struct MeTcfToCsr;

impl Move for CsrToMeTcf {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::MeTcf);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let windows = Windows { row_ptr: &m.row_ptr, col_idx: &m.col_idx, height: HEIGHT };
        let folded = fold(windows)?;
        let block_window =
            if params.balanced { block_windows(&folded.row_window_offset) } else { Vec::new() };
        encoded(Parts::MeTcf(MeTcfParts {
            rows: m.rows,
            cols: m.cols,
            balanced: params.balanced,
            values: scatter(windows, &folded.slot, &m.values),
            row_window_offset: folded.row_window_offset,
            tc_offset: folded.tc_offset,
            tc_local_id: folded.local_id,
            sparse_a_to_b: folded.sparse_a_to_b,
            block_window,
        }))
    }
}

impl Move for MeTcfToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::MeTcf;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::MeTcf(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let blocks = TcfBlocks {
            rows: m.rows,
            height: HEIGHT,
            row_window_offset: &m.row_window_offset,
            tc_offset: &m.tc_offset,
            sparse_a_to_b: &m.sparse_a_to_b,
        };
        let csr = blocks.unfold(&m.tc_local_id)?;
        let values = gather(&csr.slot, &m.values);
        let arrays = (csr.row_ptr, csr.col_idx, values);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}
