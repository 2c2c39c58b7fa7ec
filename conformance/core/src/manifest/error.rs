//! What can be wrong with a manifest: where, what, and what there is instead.

use crate::case::Fault;
use crate::declaration::DeclarationError;
use sparse_oracle::format::PARAMETERS;
use sparse_oracle::profile::CHOICES;
use std::fmt;

/// A list of the manifest and a number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as the lists")]
pub enum ManifestPlace {
    Supports(usize),
    Excludes(usize),
}

impl fmt::Display for ManifestPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestPlace::Supports(i) => write!(f, "supports[{i}]"),
            ManifestPlace::Excludes(i) => write!(f, "excludes[{i}]"),
        }
    }
}

/// Why a manifest says nothing that can be used.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum ManifestError {
    #[error("the manifest is not what version {} reads: {source}", super::PROTOCOL)]
    Json {
        #[from]
        source: serde_json::Error,
    },
    #[error("the manifest has {found} bytes, at most {} are read", super::MAX_MANIFEST)]
    TooLong { found: usize },
    #[error("protocol is {found}, this program speaks {}", super::PROTOCOL)]
    Protocol { found: u32 },
    #[error("name is {name:?}; 1 to {} letters, digits, '_', '-', '.' and '+' make a name", super::MAX_NAME)]
    Name { name: String },
    #[error(
        "supports is empty: a backend that takes nothing can't be judged; name a contract pattern, such as \"spmm.csr.*\""
    )]
    Nothing,
    #[error("{place} names no contracts; add a pattern, such as \"spmm.csr.*\"")]
    NoContracts { place: ManifestPlace },
    #[error("{place}: pattern {pattern:?}: {reason}")]
    Pattern { place: ManifestPlace, pattern: String, reason: &'static str },
    #[error(
        "{place}: pattern {pattern:?} fits no contract; `conformance list contracts` prints them all, such as \
         spmm.csr.f32_f32_f32_f32, convert.csr.ell.f16"
    )]
    Unknown { place: ManifestPlace, pattern: String },
    #[error("{place}: unknown choice {name:?}; there are {}", choices())]
    Choice { place: ManifestPlace, name: String },
    #[error(
        "{place}: choice {name:?} changes nothing for {contract}, nor for any other contract of the rule; leave it out"
    )]
    IdleChoice { place: ManifestPlace, name: String, contract: String },
    #[error("{place}: {} and {} can't both be so for {contract}; leave one out, or make two rules", names[0], names[1])]
    TwoChoices { place: ManifestPlace, names: [&'static str; 2], contract: String },
    #[error("{place}: a reason is empty; say why, it stands in every report")]
    NoReason { place: ManifestPlace },
    #[error("{place}: arithmetic {text:?} for {contract}: {source}")]
    Arithmetic { place: ManifestPlace, text: String, contract: String, source: Box<DeclarationError> },
    #[error(
        "{place}: arithmetic {text:?} is weaker than {contract} admits: it {reason}; \"any\" is the weakest there is"
    )]
    Weak { place: ManifestPlace, text: String, contract: String, reason: String },
    #[error(
        "{place}: arithmetic {text:?} {reason}, but alpha = {alpha}, beta = {beta} is taken; restrict them under \"only\""
    )]
    Contradiction { place: ManifestPlace, text: String, reason: &'static str, alpha: f64, beta: f64 },
    #[error("{place}: unknown fault {name:?}; there are {}", faults())]
    Fault { place: ManifestPlace, name: String },
    #[error("{place}: unknown format parameter {name:?}; there are {}", parameters())]
    Parameter { place: ManifestPlace, name: String },
    #[error(
        "{place}: {field} under \"only\" is an empty list, so that the rule takes nothing; leave it out for all"
    )]
    EmptyList { place: ManifestPlace, field: &'static str },
}

fn choices() -> String {
    CHOICES.map(|row| row.1).join(", ")
}

fn faults() -> String {
    Fault::ALL.map(|row| row.1).join(", ")
}

fn parameters() -> String {
    PARAMETERS.each_ref().map(|p| p.name).join(", ")
}
