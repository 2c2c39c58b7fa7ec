//! CSR to BitTCF, and back: ME-TCF's local ids, of 8-row windows, as bits.

use super::tcf::fold::{TcfBlocks, block_windows, fold, gather, scatter};
use super::tcf::{Windows, crowded};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, compressed, encoded};
use crate::portable::request::wrong_format;
use rayon::prelude::*;
use sparse_types::contract::Op;
use sparse_types::format::{BitTcfParts, FormatKind, FormatParams, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// Rows of a window.
const HEIGHT: usize = 8;

/// CSR to BitTCF.
#[derive(Debug)]
pub(crate) struct CsrToBitTcf;

/// BitTCF to CSR.
#[derive(Debug)]
pub(crate) struct BitTcfToCsr;

impl Move for CsrToBitTcf {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::BitTcf);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let windows = Windows { row_ptr: &m.row_ptr, col_idx: &m.col_idx, height: HEIGHT };
        let folded = fold(windows)?;
        let block_window =
            if params.balanced { block_windows(&folded.row_window_offset) } else { Vec::new() };
        encoded(Parts::BitTcf(BitTcfParts {
            rows: m.rows,
            cols: m.cols,
            balanced: params.balanced,
            values: scatter(windows, &folded.slot, &m.values),
            row_window_offset: folded.row_window_offset,
            tc_local_bit: bits(&folded.tc_offset, &folded.local_id),
            tc_offset: folded.tc_offset,
            sparse_a_to_b: folded.sparse_a_to_b,
            block_window,
        }))
    }
}

/// One word per block.
fn bits(tc_offset: &[u32], local_id: &[u8]) -> Vec<u64> {
    let word = |ends: &[u32]| {
        let ids = &local_id[ends[0] as usize..ends[1] as usize];
        ids.iter().fold(0u64, |word, id| word | 1 << id)
    };
    if crowded(local_id.len()) {
        tc_offset.par_windows(2).with_min_len(1 << 12).map(word).collect()
    } else {
        tc_offset.windows(2).map(word).collect()
    }
}

/// The set bits of all blocks, in order.
fn local_ids(bitmaps: &[u64], entries: usize) -> Vec<u8> {
    let mut ids = Vec::with_capacity(entries);
    for &bitmap in bitmaps {
        let mut word = bitmap;
        while word != 0 {
            ids.push(word.trailing_zeros() as u8);
            word &= word - 1;
        }
    }
    ids
}

impl Move for BitTcfToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::BitTcf;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::BitTcf(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let blocks = TcfBlocks {
            rows: m.rows,
            height: HEIGHT,
            row_window_offset: &m.row_window_offset,
            tc_offset: &m.tc_offset,
            sparse_a_to_b: &m.sparse_a_to_b,
        };
        let csr = blocks.unfold(&local_ids(&m.tc_local_bit, m.values.len()))?;
        let values = gather(&csr.slot, &m.values);
        let arrays = (csr.row_ptr, csr.col_idx, values);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}
