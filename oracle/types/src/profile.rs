//! How a backend settles the choice points that SEMANTICS section 1 lists, as data.
//!
//! The default profile is empty. Each [`Choice`] away from the default carries the reason that the report prints; a
//! backend is judged against exactly what it declared, and a contract's operation limits which choices mean
//! anything for it ([`Choice::concerns`]).

use crate::contract::{Contract, Returned};
use crate::format::FormatKind;

/// A settled choice point, away from the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Duplicates in COO are added in stored order, each addition rounded to the value type.
    DuplicatesSumRounded,
    /// Each duplicate in COO is a term of its own (products alone): multiplied and added apart from the others.
    DuplicatesAreTerms,
    /// Duplicates in COO are added in an order that is not fixed, each addition rounded to the value type.
    DuplicatesSumAnyOrder,
    /// The last of several duplicates counts.
    DuplicatesLastWins,
    /// COO with duplicates is refused.
    DuplicatesRejected,
    /// Explicit zeros are dropped from a sparse result or conversion.
    ExplicitZerosDropped,
    /// A stored zero of a sparse operand counts as absent in a product: 0 times NaN or Inf is not there.
    StoredZerosAbsent,
    /// Only alpha = 1 is taken; other values are refused.
    OnlyAlphaOne,
    /// Only beta = 0 or 1 is taken; other values are refused.
    OnlyBetaZeroOne,
    /// alpha = 0 still multiplies A and B, so that NaN and Inf in them reach C.
    Alpha0ReadsAb,
    /// beta = 0 still multiplies C, so that NaN and Inf in it stay.
    Beta0ReadsC,
    /// SpGEMM: columns of a row come in any order.
    Unsorted,
    /// SpGEMM: an entry that is exactly zero may be missing.
    NumericPattern,
}

/// The table of choices: its machine name (manifests), the choice point, and what it means (reports, documentation).
pub const CHOICES: [(Choice, &str, &str, &str); 13] = [
    (
        Choice::DuplicatesSumRounded,
        "duplicates-sum-rounded",
        "duplicates",
        "sum-rounded: added in stored order, rounding each time",
    ),
    (
        Choice::DuplicatesAreTerms,
        "duplicates-are-terms",
        "duplicates",
        "terms: each stored duplicate is multiplied and added on its own",
    ),
    (Choice::DuplicatesSumAnyOrder, "duplicates-sum-any-order", "duplicates", "sum-rounded(any order)"),
    (Choice::DuplicatesLastWins, "duplicates-last-wins", "duplicates", "last-wins"),
    (Choice::DuplicatesRejected, "duplicates-rejected", "duplicates", "reject"),
    (Choice::ExplicitZerosDropped, "explicit-zeros-dropped", "explicit zeros", "dropped"),
    (
        Choice::StoredZerosAbsent,
        "stored-zeros-absent",
        "explicit zeros",
        "absent in products: a stored zero times NaN or Inf is not there",
    ),
    (Choice::OnlyAlphaOne, "only-alpha-one", "alpha, beta", "only alpha = 1"),
    (Choice::OnlyBetaZeroOne, "only-beta-zero-one", "alpha, beta", "only beta = 0 or 1"),
    (Choice::Alpha0ReadsAb, "alpha0-reads-ab", "alpha, beta", "alpha0-reads-AB: 0 x NaN reaches C"),
    (Choice::Beta0ReadsC, "beta0-reads-c", "alpha, beta", "beta0-reads-C: NaN in C stays"),
    (Choice::Unsorted, "unsorted", "SpGEMM order", "unsorted"),
    (
        Choice::NumericPattern,
        "numeric-pattern",
        "SpGEMM pattern",
        "numeric-pattern: exact zeros may be missing",
    ),
];

/// The choices of one backend for one contract, each with its reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    choices: Vec<(Choice, String)>,
}

impl Choice {
    /// Its machine name.
    #[must_use]
    pub fn name(self) -> &'static str {
        CHOICES.iter().find(|row| row.0 == self).map_or("?", |row| row.1)
    }

    /// The choice with this machine name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Choice> {
        CHOICES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The choice point's name in the report.
    #[must_use]
    pub fn point(self) -> &'static str {
        CHOICES.iter().find(|row| row.0 == self).map_or("?", |row| row.2)
    }

    /// True when the choice can change what is right for the contract.
    #[must_use]
    pub fn concerns(self, contract: &Contract) -> bool {
        let dense = contract.op.is_dense();
        let multiplies = contract.op.updates();
        let product = contract.op.signature().returned == Returned::Product;
        let coo = contract.format == FormatKind::Coo;
        match self {
            // Transposes keep duplicates, and each position of an SDDMM stands for itself.
            Choice::DuplicatesSumRounded | Choice::DuplicatesLastWins | Choice::DuplicatesRejected => {
                coo && (multiplies || contract.to.is_some())
            }
            Choice::DuplicatesAreTerms => coo && multiplies,
            Choice::DuplicatesSumAnyOrder => coo && contract.to.is_some(),
            // Encodings of the formats of the papers are compared array by array.
            Choice::ExplicitZerosDropped => {
                contract.op.is_exact() && contract.to.is_none_or(|to| !FormatKind::PAPERS.contains(&to))
            }
            Choice::StoredZerosAbsent => multiplies || product,
            Choice::OnlyAlphaOne | Choice::Alpha0ReadsAb => dense,
            Choice::OnlyBetaZeroOne | Choice::Beta0ReadsC => contract.op.signature().has_beta(),
            Choice::Unsorted | Choice::NumericPattern => product,
        }
    }

    /// What the choice says.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        CHOICES.iter().find(|row| row.0 == self).map_or("?", |row| row.3)
    }
}

impl Profile {
    /// Adds a choice and the reason for it.
    #[must_use]
    pub fn with(mut self, choice: Choice, reason: &str) -> Profile {
        self.choices.push((choice, reason.to_owned()));
        self
    }

    /// True when the choice was made.
    #[must_use]
    pub fn has(&self, choice: Choice) -> bool {
        self.choices.iter().any(|(c, _)| *c == choice)
    }

    /// All choices with their reasons.
    #[must_use]
    pub fn choices(&self) -> &[(Choice, String)] {
        &self.choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_in_the_table_once() {
        for (choice, name, _, _) in CHOICES {
            assert_eq!(Choice::from_name(name), Some(choice));
            assert_eq!(choice.name(), name);
            assert_eq!(CHOICES.iter().filter(|row| row.0 == choice).count(), 1);
            assert_ne!(choice.point(), "?");
        }
        // The match below stops compiling when a variant is added, as a reminder to extend the table.
        let count = |c: Choice| match c {
            Choice::DuplicatesSumRounded
            | Choice::DuplicatesAreTerms
            | Choice::DuplicatesSumAnyOrder
            | Choice::DuplicatesLastWins
            | Choice::DuplicatesRejected
            | Choice::ExplicitZerosDropped
            | Choice::StoredZerosAbsent
            | Choice::OnlyAlphaOne
            | Choice::OnlyBetaZeroOne
            | Choice::Alpha0ReadsAb
            | Choice::Beta0ReadsC
            | Choice::Unsorted
            | Choice::NumericPattern => 13,
        };
        assert_eq!(CHOICES.len(), count(Choice::Unsorted));
    }
}
