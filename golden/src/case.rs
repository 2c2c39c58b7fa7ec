//! One computation, and perhaps one element of it, as a line that replays.
//!
//! ```text
//! libra.spmm.f16.m16n8k8.sm_90/zipf:rows=128,seed=1/near-one/n=16/at=3,5
//! row of the table             pattern              values   n    row and column of the result
//! ```
//!
//! n is the number of columns of the dense operand (for N:M, its rows); for SDDMM it is `k`, the inner dimension. All
//! numbers are drawn from the seed of the pattern.

use crate::error::GoldenError;
use crate::families::{COLUMNS, INNER, MATRICES, Values};
use crate::table::{Op, Row, Target};
use sparse_oracle::source::generator::SourceSpec;
use std::fmt;
use std::str::FromStr;

/// The largest n, or k.
const LARGEST: usize = 4096;

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The row of the table.
    pub row: &'static Row,
    /// Where it runs.
    pub target: Target,
    /// The pattern.
    pub source: SourceSpec,
    /// What operands hold.
    pub values: Values,
    /// Columns of the dense operand; the inner dimension of SDDMM.
    pub n: usize,
    /// One element of the result.
    pub at: Option<(usize, usize)>,
}

impl Case {
    /// The case that is pinned for a family.
    #[must_use]
    pub fn pinned(row: &'static Row, target: Target, source: SourceSpec, values: Values) -> Case {
        let n = match row.op {
            Op::Spmm => COLUMNS,
            Op::Sddmm => INNER,
        };
        Case { row, target, source, values, n, at: None }
    }

    /// The same on another target.
    #[must_use]
    pub const fn on(mut self, target: Target) -> Case {
        self.target = target;
        self
    }

    /// One element of it.
    #[must_use]
    pub const fn at(mut self, row: usize, col: usize) -> Case {
        self.at = Some((row, col));
        self
    }

    /// What follows the pattern in the line.
    #[must_use]
    pub fn tail(&self) -> String {
        let n = match self.row.op {
            Op::Spmm => 'n',
            Op::Sddmm => 'k',
        };
        let at = self.at.map(|(row, col)| format!("/at={row},{col}"));
        format!("{}/{n}={}{}", self.values.name(), self.n, at.unwrap_or_default())
    }
}

/// The patterns that are pinned.
///
/// # Errors
/// A line that is no pattern.
pub fn patterns() -> Result<Vec<SourceSpec>, GoldenError> {
    MATRICES.iter().map(|line| Ok(line.parse()?)).collect()
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.row.name(self.target), self.source, self.tail())
    }
}

impl FromStr for Case {
    type Err = GoldenError;

    fn from_str(line: &str) -> Result<Case, GoldenError> {
        let refuse = |reason: String| GoldenError::Line { line: line.chars().take(200).collect(), reason };
        let mut parts = line.trim().split('/');
        let mut next = |what: &str| parts.next().ok_or_else(|| refuse(format!("no {what}")));
        let name = next("row of the table")?;
        let (row, target) = Row::from_name(name)
            .ok_or_else(|| refuse(format!("the table has no row {name}; `golden list` shows them")))?;
        let source = next("pattern")?.parse::<SourceSpec>()?;
        let values = next("values")?;
        let values = Values::from_name(values).ok_or_else(|| {
            let known = Values::ALL.map(Values::name).join(", ");
            refuse(format!("no values {values}; there are {known}"))
        })?;
        let key = match row.op {
            Op::Spmm => "n=",
            Op::Sddmm => "k=",
        };
        let n = next(key)?;
        let n = n.strip_prefix(key).and_then(|n| n.parse().ok());
        let n = n
            .filter(|n| (1..=LARGEST).contains(n))
            .ok_or_else(|| refuse(format!("expected {key}1 to {key}{LARGEST}")))?;
        let at = match parts.next() {
            None => None,
            Some(at) => {
                let pair = at.strip_prefix("at=").and_then(|at| at.split_once(','));
                let pair = pair.and_then(|(row, col)| Some((row.parse().ok()?, col.parse().ok()?)));
                Some(pair.ok_or_else(|| refuse("expected at=ROW,COLUMN".to_owned()))?)
            }
        };
        if let Some(more) = parts.next() {
            return Err(refuse(format!("{more} follows the element")));
        }
        Ok(Case { row, target, source, values, n, at })
    }
}
