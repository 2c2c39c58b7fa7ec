//! What is wrong with a text, and where.

use super::ast::Place;

/// A text that is not PTX as this crate reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {fault}")]
pub struct TextError {
    /// Where it went wrong.
    pub at: Place,
    /// What is wrong there.
    pub fault: TextFault,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// Something else belongs here.
    #[error("found {found}, where {expected} belongs")]
    Unexpected {
        /// What stands there, cut short and quoted.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// It is PTX, but not what this machine runs.
    #[error("'{what}' is not supported: {help}")]
    NotSupported {
        /// The directive or instruction.
        what: String,
        /// Why, and what to do.
        help: &'static str,
    },
    /// A number that says something impossible.
    #[error("{found} is no good number here: {expected}")]
    Number {
        /// As it is written.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// More than this crate reads.
    #[error("too much: {what} (at most {limit})")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much is read.
        limit: u64,
    },
}
