//! Why a source line is not one, or is too big.

use crate::refusal::Refusal;

/// A source line that cannot be read, or a pattern that cannot be made. Messages are lowercase fragments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The word before the colon names no family.
    #[error("unknown family \"{found}\"; known: {known}")]
    UnknownFamily {
        /// The word found.
        found: String,
        /// All families, separated by commas.
        known: String,
    },
    /// The family has no such parameter.
    #[error("{family} has no parameter \"{key}\"; it has: {known}")]
    UnknownKey {
        /// Name of the family.
        family: &'static str,
        /// The key found.
        key: String,
        /// All its parameters, separated by commas.
        known: String,
    },
    /// A parameter is given twice.
    #[error("{key} is given twice; keep one")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// An item between commas is not `key=value`.
    #[error("\"{item}\" is not key=value")]
    NotAPair {
        /// The item found.
        item: String,
    },
    /// A value is not a number of the kind that the parameter takes.
    #[error("{key}={text} is not {expected}")]
    NotANumber {
        /// The key.
        key: String,
        /// The text after the equals sign.
        text: String,
        /// What it should be ("an integer", "a decimal of at most 6 places").
        expected: &'static str,
    },
    /// A value is outside the bounds of the parameter.
    #[error("{key} is {found}, must be in {low}..={high}")]
    OutOfBounds {
        /// The key.
        key: &'static str,
        /// Value found, printed as the parameter prints.
        found: String,
        /// Smallest legal value.
        low: String,
        /// Largest legal value.
        high: String,
    },
    /// Values that are legal one by one do not fit together.
    #[error("{family}: {problem}")]
    Conflict {
        /// Name of the family.
        family: &'static str,
        /// What does not fit, and the fix.
        problem: String,
    },
    /// `synth:` is not followed by a matrix of the table.
    #[error("no published matrix is called \"{found}\"; known: {known}")]
    UnknownMatrix {
        /// The word found.
        found: String,
        /// All matrices, separated by commas.
        known: String,
    },
    /// The pattern would take more memory than the caller allows.
    #[error("{spec} needs up to {needed} elements, the limit is {limit}; ask for a smaller one")]
    TooLarge {
        /// The line.
        spec: String,
        /// Elements of arrays and scratch it may need, at most.
        needed: u128,
        /// Elements allowed.
        limit: u64,
    },
    /// The generator produced an invalid matrix: a defect of this crate.
    #[error("{spec} generated an invalid matrix ({refusal}); report this line")]
    Defect {
        /// The line.
        spec: String,
        /// What is wrong with the result.
        refusal: Refusal,
    },
}
