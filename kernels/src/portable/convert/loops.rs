//! CSR to LOOPS, and back: the first rows are copied, the others are cut into windows (see [`super::vectors`]), groups
//! of one vector each.

use super::vectors::{RowCut, both};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{BLOCK_AREA_LIMIT, FormatKind, FormatParams, LoopsParts, Parts, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;

/// CSR to LOOPS.
#[derive(Debug)]
pub(crate) struct CsrToLoops;

/// LOOPS to CSR.
#[derive(Debug)]
pub(crate) struct LoopsToCsr;

impl Move for CsrToLoops {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Loops);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = cut(m.rows, params)?;
        let boundary = cut.first_row;
        let split = m.row_ptr[boundary] as usize;
        let tile_part = || {
            let tiles = cut.find(&m.row_ptr, &m.col_idx)?;
            let values = cut.fill(&tiles, &m.row_ptr, &m.values);
            Ok::<_, Refusal>((tiles, values))
        };
        let csr_part = || (m.col_idx[..split].to_vec(), m.values[..split].to_vec());
        let (tile_part, (col_idx, csr_values)) = both(m.values.len(), tile_part, csr_part);
        let (tiles, values) = tile_part?;
        encoded(Parts::Loops(LoopsParts {
            rows: m.rows,
            cols: m.cols,
            boundary,
            br: cut.height,
            row_ptr: m.row_ptr[..=boundary].to_vec(),
            col_idx,
            csr_values,
            block_ptr: tiles.window_ptr,
            block_col: tiles.vector_col,
            values,
        }))
    }
}

/// Where `rows` rows are cut.
fn cut(rows: usize, params: FormatParams) -> Result<RowCut, Refusal> {
    let too_large = |field, found: u32, limit| {
        Refusal::Request(RequestError::TooLarge { field, found: u128::from(found), limit })
    };
    if params.br == 0 {
        return Err(RequestError::Zero { field: "br" }.into());
    }
    if u64::from(params.br) > BLOCK_AREA_LIMIT {
        return Err(too_large("br", params.br, BLOCK_AREA_LIMIT));
    }
    let first_row = match params.boundary {
        None => rows / 2,
        Some(given) if given as usize <= rows => given as usize,
        Some(given) => return Err(too_large("boundary", given, rows as u64)),
    };
    let cut = RowCut { first_row, rows, height: params.br as usize, stride: 1 };
    check_slots("row_ptr", first_row as u128 + 1)?;
    check_slots("block_ptr", cut.windows() as u128 + 1)?;
    Ok(cut)
}

impl Move for LoopsToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Loops;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Loops(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let cut = RowCut { first_row: m.boundary, rows: m.rows, height: m.br, stride: 1 };
        let mut arrays = (m.row_ptr.clone(), m.col_idx.clone(), m.csr_values.clone());
        cut.append_rows(&m.block_ptr, &m.block_col, &m.values, &mut arrays);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}
