//! Targets that read text: as it comes, or drafted from the bytes so that much of it is legal.

use super::FuzzOutcome;
use super::input::Input;
use super::text_input::{case_text, mtx_text};
use sparse_conformance_core::case::Case;
use sparse_oracle::format::Csr;
use sparse_oracle::source::matrix_market::{
    Limits, read_matrix_market, read_matrix_market_within, write_matrix_market,
};
use sparse_oracle::source::smtx::{read_smtx_within, write_smtx};

/// Bytes below this start no text and no gzip: what follows is a draft.
pub(super) const DRAFT: u8 = 8;

/// Largest matrix that is read back: a few bytes of a file may name many entries (symmetry, gzip).
const LIMITS: Limits = Limits { line_bytes: 4 << 10, filler_bytes: 1 << 16, entries: 1 << 16 };

/// What follows a first byte that no text starts with.
fn drafts(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split_first().filter(|(first, _)| **first < DRAFT).map(|(_, rest)| rest)
}

/// Any bytes are a Matrix Market file (plain or gzip), an `.smtx`, or typed errors; what is read survives being
/// written and read again.
///
/// # Panics
/// When it does not.
pub fn mtx_parse(bytes: &[u8]) -> FuzzOutcome {
    let drafted;
    let bytes = if let Some(rest) = drafts(bytes) {
        drafted = mtx_text(&mut Input::new(rest));
        drafted.as_bytes()
    } else {
        bytes
    };
    let mask = read_smtx_within(bytes, LIMITS).map(|mask| again_smtx(&mask));
    match read_matrix_market_within(bytes, LIMITS) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            mask.unwrap_or(FuzzOutcome::Refused)
        }
        Ok((_, matrix)) => {
            let mut written = Vec::new();
            write_matrix_market(&matrix, &mut written).expect("a Vec takes every write");
            let (_, again) = read_matrix_market(written.as_slice()).expect("what was written can be read");
            let shape = |m: &sparse_oracle::format::Coo<f64>| (m.rows, m.cols);
            assert_eq!(shape(&matrix), shape(&again));
            assert_eq!((&matrix.row_idx, &matrix.col_idx), (&again.row_idx, &again.col_idx));
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&matrix.values), bits(&again.values));
            FuzzOutcome::Accepted
        }
    }
}

fn again_smtx(mask: &Csr<()>) -> FuzzOutcome {
    let mut written = Vec::new();
    write_smtx(mask, &mut written).expect("a Vec takes every write");
    let again = read_smtx_within(written.as_slice(), LIMITS).expect("what was written can be read");
    assert_eq!(mask, &again);
    FuzzOutcome::Accepted
}

/// Any text is a case line or a typed error; a case prints as a line that parses to the same case.
///
/// # Panics
/// When it does not.
pub fn case_line(bytes: &[u8]) -> FuzzOutcome {
    let drafted;
    let line = if let Some(rest) = drafts(bytes) {
        drafted = case_text(&mut Input::new(rest));
        drafted.as_str()
    } else if let Ok(line) = std::str::from_utf8(bytes) {
        line
    } else {
        return FuzzOutcome::Refused;
    };
    let case = match line.parse::<Case>() {
        Ok(case) => case,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return FuzzOutcome::Refused;
        }
    };
    let printed = case.to_string();
    let again: Case = printed.parse().expect("a printed case parses");
    assert_eq!(again, case, "{printed}");
    assert_eq!(again.to_string(), printed);
    FuzzOutcome::Accepted
}
