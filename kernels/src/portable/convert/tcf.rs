//! CSR to TCF, and back.
//!
//! TCF is CSR with what follows from it spelled out, so that only the ranks of columns take work; going back drops them.

pub(super) mod fold;
mod squeeze;

use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Parts, Sparse, TcfParts};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;
pub(super) use squeeze::{Windows, crowded};

/// CSR to TCF.
#[derive(Debug)]
pub(crate) struct CsrToTcf;

/// TCF to CSR.
#[derive(Debug)]
pub(crate) struct TcfToCsr;

impl Move for CsrToTcf {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Tcf);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("node_pointer", m.row_ptr.len() as u128)?;
        let windows = Windows { row_ptr: &m.row_ptr, col_idx: &m.col_idx, height: 16 };
        let (edge_to_column, mut block_partition) = windows.ranks();
        for width in &mut block_partition {
            *width = width.div_ceil(8);
        }
        encoded(Parts::Tcf(TcfParts {
            rows: m.rows,
            cols: m.cols,
            node_pointer: m.row_ptr.clone(),
            edge_list: m.col_idx.clone(),
            edge_to_column,
            edge_to_row: rows(&m.row_ptr),
            block_partition,
            values: m.values.clone(),
        }))
    }
}

/// Row of each entry.
fn rows(row_ptr: &[u32]) -> Vec<u32> {
    let mut rows = Vec::with_capacity(row_ptr[row_ptr.len() - 1] as usize);
    for (row, &end) in row_ptr[1..].iter().enumerate() {
        rows.resize(end as usize, row as u32);
    }
    rows
}

impl Move for TcfToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Tcf;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Tcf(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.node_pointer.len() as u128)?;
        let arrays = (m.node_pointer.clone(), m.edge_list.clone(), m.values.clone());
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}
