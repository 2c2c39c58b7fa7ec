//! What came back from one call of a backend, before anybody judges it.

use crate::placed::Placed;
use sparse_oracle::format::AnyParts;
use sparse_oracle::judge::Place;
use sparse_oracle::scalar::AnySlice;
use sparse_oracle::task::RawSparse;
use sparse_oracle::verdict::Mismatch;

/// What came back from one call.
#[derive(Debug)]
pub enum Response {
    /// A dense result (or the values of an SDDMM).
    Dense(DenseResult),
    /// Unchecked sparse arrays of a general format.
    Sparse(RawSparse),
    /// Unchecked sparse arrays of any format.
    Parts(AnyParts),
    /// The backend refused.
    Refused(String),
    /// It panicked.
    Panicked(String),
    /// No answer in time.
    TimedOut {
        /// The limit, in seconds.
        seconds: f64,
        /// What it had written to standard error.
        tail: String,
    },
    /// It broke a rule that needs no arithmetic to see.
    Broke(Mismatch),
}

/// A dense output after the call.
#[derive(Debug)]
pub struct DenseResult {
    pub(crate) buffer: Placed,
    /// Where element (i, j) is in [`found`](Self::found).
    pub place: Place,
}

impl DenseResult {
    /// The elements, padding included.
    #[must_use]
    pub fn found(&self) -> AnySlice<'_> {
        self.buffer.as_slice()
    }
}
