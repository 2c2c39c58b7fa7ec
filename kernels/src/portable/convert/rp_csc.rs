//! CSR to RpCsc, and back.

use crate::portable::element::Stored;
use crate::portable::moves::Move;
use crate::portable::request::wrong_format;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FormatKind, FormatParams, Sparse};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::Answer;

/// CSR to RpCsc.
#[derive(Debug)]
pub(crate) struct CsrToRpCsc;

/// RpCsc to CSR.
#[derive(Debug)]
pub(crate) struct RpCscToCsr;

impl Move for CsrToRpCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::RpCsc);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let _ = params;
        Err(wrong_format("A", Self::FROM, matrix.kind()))
    }
}

impl Move for RpCscToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::RpCsc;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        Err(wrong_format("A", Self::FROM, matrix.kind()))
    }
}
