//! What can go wrong, and what to do about it.

use sparse_oracle::model::ModelError;
use sparse_oracle::model::recording::RecordingError;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::source::generator::SourceError;
use std::path::PathBuf;

/// Why an error cannot be computed, or a line not be read.
#[derive(Debug, thiserror::Error)]
pub enum GoldenError {
    /// A line that names no case.
    #[error(
        "'{line}' is no case: {reason}; write it as libra.spmm.f16.m16n8k8.sm_90/uniform:rows=32,seed=1/near-one/n=16/at=3,5"
    )]
    Line {
        /// What was given.
        line: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The element is not there, or no term reaches it.
    #[error("row {row}, column {col} of '{case}' has no terms, so nothing is computed there")]
    NoElement {
        /// The case.
        case: String,
        /// Row of the result.
        row: usize,
        /// Column of the result.
        col: usize,
    },
    /// A result, or its gauge, leaves the finite numbers: these errors are about rounding.
    #[error(
        "row {row}, column {col} of '{case}' overflows or may: gauge {gauge:e}; choose smaller values or a shorter sum"
    )]
    NotFinite {
        /// The case.
        case: String,
        /// Row of the result.
        row: usize,
        /// Column of the result.
        col: usize,
        /// Sum of the magnitudes of the terms.
        gauge: f64,
    },
    /// The declared arithmetic has no bound for sums of this length.
    #[error("no bound is known for a sum of {terms} terms in '{case}'")]
    Unbounded {
        /// The case.
        case: String,
        /// Number of terms.
        terms: u64,
    },
    /// The pattern is not made.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The pattern is not encoded.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// The model refuses.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A recording that is none.
    #[error("{file}: {error}")]
    Recording {
        /// The file.
        file: String,
        /// Why.
        error: RecordingError,
    },
    /// A folder without recordings.
    #[error(
        "no recording (*.bin, named like h200_f16_k16.bin) in {0} can be compared; see oracle/data/silicon/README.md"
    )]
    NoRecordings(PathBuf),
    /// A folder that cannot be read.
    #[error("{path} cannot be read: {error}")]
    Read {
        /// The folder.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}
