//! Which subnormal numbers an arithmetic may take for zero, as it declares (clause 13.7 of SEMANTICS.md).
//!
//! ```text
//!   inputs    a, b, c, alpha, beta as they are handed over      software that flushes as it loads; FIZ of Arm
//!   results   what a step rounds to, up to the element of C     FTZ of x86
//!   both      an operation neither reads nor returns one        FTZ and DAZ, FZ of Arm, `-ftz=true` of CUDA
//! ```
//!
//! Each is a liberty: any of these numbers may be flushed, or kept. Intermediates that are kept by one step and read as zero by the
//! next (DAZ alone) are the same as results that are flushed, so that DAZ alone is covered by both, and by no single one.

use crate::scalar::Precision;

/// The liberty to flush, none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flush {
    /// Operands that are subnormal in this type (the one they are stored in) or in the accumulator's, elements of C that are subnormal
    /// in theirs, and factors that are subnormal in the accumulator's.
    pub inputs: Option<Precision>,
    /// Results of steps that are subnormal in the accumulator's type, and elements of the result that are subnormal in theirs.
    pub results: bool,
}

impl Flush {
    /// Nothing is flushed.
    pub const NONE: Flush = Flush { inputs: None, results: false };

    /// What is read, `stored` being the type of the operands, and nothing that is computed.
    #[must_use]
    pub const fn inputs(stored: Precision) -> Flush {
        Flush { inputs: Some(stored), results: false }
    }

    /// What is computed, and nothing that is read.
    #[must_use]
    pub const fn results() -> Flush {
        Flush { inputs: None, results: true }
    }

    /// What is read and what is computed.
    #[must_use]
    pub const fn both(stored: Precision) -> Flush {
        Flush { inputs: Some(stored), results: true }
    }

    /// True when something may be flushed.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.inputs.is_some() || self.results
    }
}
