//! What came back from one call of a backend, before anybody judges it.

use crate::placed::Placed;
use sparse_oracle::format::AnyParts;
use sparse_oracle::judge::Place;
use sparse_oracle::scalar::{AnySlice, Precision};
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
        /// It computed next to nothing meanwhile.
        idle: bool,
        /// What it had written to standard error.
        tail: String,
    },
    /// It broke a rule that needs no arithmetic to see.
    Broke(Mismatch),
    /// It was not asked: the machine of the judge could not start it.
    NotAsked(String),
}

/// A dense output after the call.
#[derive(Debug)]
pub struct DenseResult {
    pub(crate) buffer: Placed,
    /// Where element (i, j) is in [`found`](Self::found).
    pub place: Place,
}

impl DenseResult {
    /// The elements, where they are, and the bits of those that were not written.
    #[must_use]
    pub fn output(&self) -> (AnySlice<'_>, Place, Option<u64>) {
        let found = self.found();
        (found, self.place, Some(poison(found.precision())))
    }

    /// The elements, padding included.
    #[must_use]
    pub fn found(&self) -> AnySlice<'_> {
        self.buffer.as_slice()
    }
}

/// NaN payload that outputs are filled with and that no input carries.
#[must_use]
pub fn poison(precision: Precision) -> u64 {
    match precision {
        Precision::F64 => 0x7ff8_0bad_5eed_dead,
        Precision::F32 | Precision::Tf32 => 0x7fcb_adde,
        Precision::F16 => 0x7e77,
        Precision::Bf16 => 0x7fd5,
        // One NaN only: the 8-bit types are never outputs.
        Precision::E4m3 | Precision::E5m2 => 0x7f,
    }
}
