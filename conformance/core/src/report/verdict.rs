//! Verdicts as they stand in a report: those of [`sparse_oracle::verdict`], with every number already printed.
//!
//! Values that may be NaN or infinite are strings (decimal and bits in hex), because JSON has neither; a share of
//! the bound is a finite number and refuses to be written otherwise.

use super::wrong_elements::WrongElements;
use serde::{Deserialize, Serialize};
pub use sparse_oracle::verdict::{Criterion, Defect, Verdict, VerdictKind};
use std::fmt;

/// A verdict whose mismatch is printed.
pub type VerdictRecord = Verdict<Mismatch>;

/// An element of a result, 0-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Row.
    pub row: u64,
    /// Column.
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.row, self.column)
    }
}

/// The first mismatch of a wrong result by the strongest tier that fails: T0, then T1, then T2. Fields that do not apply to the defect are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// Criterion that found it.
    pub tier: Criterion,
    /// What is wrong.
    pub what: Defect,
    /// Where, if it has a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The right value as a person writes it ("0.1", "inf", "NaN"): the number that `expected_bits` are, in the output type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Its bits in the output type, "0x" and hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bits: Option<String>,
    /// The value found, in decimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// Its bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_bits: Option<String>,
    /// `|found - exact|`, in decimal; may be "inf".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The largest error allowed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// Where wrong elements are, if there are several and each was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<WrongElements>,
    /// What happened, as a lowercase sentence that stands alone.
    pub message: String,
}

impl Mismatch {
    /// A mismatch without a place or values.
    #[must_use]
    pub fn new(tier: Criterion, what: Defect, message: impl Into<String>) -> Mismatch {
        Mismatch {
            tier,
            what,
            at: None,
            expected: None,
            expected_bits: None,
            found: None,
            found_bits: None,
            error: None,
            bound: None,
            elements: None,
            message: message.into(),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            Defect::Protocol => write!(f, "answer, against the protocol: {}", self.message),
            what => write!(f, "{what} ({}): {}", self.tier, self.message),
        }
    }
}

/// Named facts of a wrong result, ready to print; empty for other verdicts.
#[must_use]
pub fn details(verdict: &VerdictRecord) -> Vec<(&'static str, String)> {
    let VerdictRecord::Wrong(m) = verdict else {
        return Vec::new();
    };
    let with_bits = |value: &Option<String>, bits: &Option<String>| match (value, bits) {
        (Some(value), Some(bits)) => Some(format!("{value} ({bits})")),
        (value, bits) => value.clone().or_else(|| bits.clone()),
    };
    let facts = [
        ("at (row, column)", m.at.map(|place| place.to_string())),
        ("expected", with_bits(&m.expected, &m.expected_bits)),
        ("found", with_bits(&m.found, &m.found_bits)),
        ("error", m.error.clone()),
        ("bound", m.bound.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
