//! Is a case worth running? It must fail a kernel that returns zeros, one that leaves C alone, and one that skips any
//! row; where it would not, it is tagged degenerate by name.

use super::noticed::{Noticed, Search, search_all};
use super::output::Place;
use super::problem::Problem;
use crate::arithmetic::Arithmetic;
use crate::scalar::AnySlice;
use std::fmt;

/// A wrong kernel that a case should notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alternative {
    /// Returns +0 everywhere.
    Zeros,
    /// Leaves C as it was.
    StaleC,
    /// Treats a row that has entries as empty.
    SkippedRow,
}

/// Which alternatives a case does not notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vacuity {
    /// Alternatives that would pass; empty for a case at full strength.
    pub passes: Vec<Alternative>,
}

impl Alternative {
    /// All of them.
    pub const ALL: [Alternative; 3] = [Alternative::Zeros, Alternative::StaleC, Alternative::SkippedRow];

    /// Machine name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Alternative::Zeros => "zeros",
            Alternative::StaleC => "stale-c",
            Alternative::SkippedRow => "skipped-row",
        }
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Runs the three alternatives against the case, under the arithmetic that would forgive the most.
///
/// `before` is what C holds (read where beta is not 0); with beta = 0, C is poison, which is always noticed.
#[must_use]
pub fn vacuity(
    problem: &Problem<'_>,
    arithmetic: &Arithmetic,
    (alpha, beta): (f64, f64),
    before: Option<(AnySlice<'_>, Place)>,
) -> Vacuity {
    let search = || Search::new(problem, arithmetic, (alpha, beta), before);
    let (rows, cols) = problem.shape();
    let poisoned = beta == 0.0 && rows * cols > 0;
    let Ok(Noticed { zeros, stale, with_entries, unnoticed }) = search_all(problem, &search) else {
        return Vacuity { passes: Alternative::ALL.to_vec() };
    };
    let passes = [!zeros, !stale && !poisoned, !unnoticed.is_empty() || with_entries == 0];
    let passes = Alternative::ALL.into_iter().zip(passes).filter(|(_, passes)| *passes);
    Vacuity { passes: passes.map(|(alternative, _)| alternative).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: a report could name wrong kernels by nothing at all.
    #[test]
    fn alternatives_are_written_as_they_are_named() {
        for alternative in Alternative::ALL {
            assert_eq!(alternative.to_string(), alternative.name());
            assert!(!alternative.name().is_empty());
        }
    }
}
