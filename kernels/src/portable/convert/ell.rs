//! CSR to ELL and back. The width is that of the longest row; pads hold column `u32::MAX` and +0.0, and come after
//! the real slots.

use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, raw};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, PAD, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::Answer;

/// CSR to ELL.
#[derive(Debug)]
pub(crate) struct CsrToEll;

/// ELL to CSR.
#[derive(Debug)]
pub(crate) struct EllToCsr;

impl Move for CsrToEll {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Ell);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let width = m.row_ptr.windows(2).map(|ends| ends[1] - ends[0]).max().unwrap_or(0) as usize;
        let slots = check_slots("slots", m.rows as u128 * width as u128)?;
        let mut indices = Vec::with_capacity(slots);
        let mut values = Vec::with_capacity(slots);
        for row in 0..m.rows {
            let lane = m.row(row);
            indices.extend_from_slice(lane.0);
            values.extend_from_slice(lane.1);
            indices.resize((row + 1) * width, PAD);
            values.resize((row + 1) * width, T::from_bits64(0));
        }
        let mut ell = raw(FormatKind::Ell, (m.rows, m.cols), (Vec::new(), indices, values));
        ell.width = width;
        Ok(Answer::Sparse(ell))
    }
}

impl Move for EllToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Ell;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Ell(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let mut row_ptr = Vec::with_capacity(check_slots("row_ptr", m.rows as u128 + 1)?);
        let (mut col_idx, mut values) = (Vec::new(), Vec::new());
        row_ptr.push(0);
        for row in 0..m.rows {
            let (cols, slots) = m.row(row);
            let real = cols.partition_point(|&col| col != PAD);
            col_idx.extend_from_slice(&cols[..real]);
            values.extend_from_slice(&slots[..real]);
            row_ptr.push(col_idx.len() as u32);
        }
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), (row_ptr, col_idx, values)))
    }
}
