//! CSR to `LibraSpmm`, and back.
//!
//! ```text
//! rows of a window --merge--> vectors --distribute--> slots --fill--> blocks, and offsets into CSR --gather--> values
//! ```
//!
//! Two passes over the pattern: the first counts the blocks, values and remaining entries of each window, the second
//! writes them where the prefix sums say. The vectors of windows with a tensor part are kept from the first to the second,
//! 8 bytes each; a window without one is a part of CSR and is copied.

mod decode;
mod distribute;
mod encode;
mod fill;
mod values;
mod vectors;

use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
pub(super) use decode::Encoding;
pub(super) use distribute::{DistributionRule, SDDMM_COLS};
pub(super) use encode::index;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, LibraSpmmParts, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;
pub(super) use values::{gather, gather_both};

/// CSR to `LibraSpmm`.
#[derive(Debug)]
pub(crate) struct CsrToLibraSpmm;

/// `LibraSpmm` to CSR.
#[derive(Debug)]
pub(crate) struct LibraSpmmToCsr;

impl Move for CsrToLibraSpmm {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::LibraSpmm);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let rule = DistributionRule::spmm(params)?;
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let index = index(&m.row_ptr, &m.col_idx, rule);
        encoded(Parts::LibraSpmm(LibraSpmmParts {
            rows: m.rows,
            cols: m.cols,
            kb: rule.kb(),
            window_block_ptr: index.window_block_ptr,
            bitmap: index.bitmap,
            block_value_ptr: index.block_value_ptr,
            block_col: index.block_col,
            values: gather(&m.values, &index.position),
            row_ptr: index.row_ptr,
            col_idx: index.col_idx,
            rest_values: gather(&m.values, &index.rest_position),
        }))
    }
}

impl Move for LibraSpmmToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::LibraSpmm;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::LibraSpmm(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let encoding = Encoding {
            kb: m.kb,
            window_block_ptr: &m.window_block_ptr,
            bitmap: &m.bitmap,
            block_value_ptr: &m.block_value_ptr,
            block_col: &m.block_col,
            row_ptr: &m.row_ptr,
            col_idx: &m.col_idx,
            positions: None,
        };
        let pattern = encoding.decode();
        let values = gather_both(&m.values, &m.rest_values, &pattern.source);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), (pattern.row_ptr, pattern.col_idx, values)))
    }
}
