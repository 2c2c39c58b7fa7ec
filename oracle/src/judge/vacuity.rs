//! Is a case worth running? It must fail a kernel that returns zeros, one that leaves C alone, and one that skips any
//! row; where it would not, it is tagged degenerate by name.

use super::accepted::ElementVerdict;
use super::problem::Problem;
use super::rule::Rule;
use super::tally::Place;
use crate::arithmetic::Arithmetic;
use crate::profile::Profile;
use crate::scalar::{AnySlice, Precision, Rounding, decode, encode};
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
    let (rows, cols) = problem.shape();
    let out = arithmetic.out;
    let mut rule = Rule::of(problem, (arithmetic, &Profile::default()), (alpha, beta));
    let (mut zeros, mut stale) = (false, beta == 0.0 && rows * cols > 0);
    // Rows with entries whose disappearance nothing has noticed yet.
    let mut unnoticed = 0usize;
    let mut rows_with_entries = 0usize;
    let mut row = (usize::MAX, false, false);
    let mut visited = 0;
    let visited = problem.for_each(&mut |site| {
        let c = before.map_or(0.0, |(data, place)| value(data, place.offset(site.at, visited)));
        visited += 1;
        if site.at.0 != row.0 {
            unnoticed += usize::from(row.1 && !row.2);
            row = (site.at.0, site.has_entries(), false);
            rows_with_entries += usize::from(row.1);
        }
        if zeros && stale && (row.2 || !row.1) {
            return;
        }
        let accepted = rule.accepts(site, c);
        let wrong = |y: f64| {
            let bits = encode(y, out, Rounding::NearestEven);
            matches!(accepted.judge(bits), ElementVerdict::Wrong(..))
        };
        zeros |= wrong(0.0);
        stale |= beta != 0.0 && wrong(c);
        row.2 |= wrong(if beta == 0.0 { 0.0 } else { beta * c });
    });
    if visited.is_err() {
        return Vacuity { passes: Alternative::ALL.to_vec() };
    }
    unnoticed += usize::from(row.1 && !row.2);
    let mut passes = Vec::new();
    if !zeros {
        passes.push(Alternative::Zeros);
    }
    if !stale {
        passes.push(Alternative::StaleC);
    }
    if unnoticed > 0 || rows_with_entries == 0 {
        passes.push(Alternative::SkippedRow);
    }
    Vacuity { passes }
}

fn value(data: AnySlice<'_>, offset: usize) -> f64 {
    let precision: Precision = data.precision();
    decode(data.bits(offset), precision)
}
