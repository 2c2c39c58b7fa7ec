//! What a backend declares to refuse although the contract asks for it.

use crate::case::Params;
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::{Choice, Profile};

/// The choices that say so.
pub(crate) const REFUSING: [Choice; 3] =
    [Choice::OnlyAlphaOne, Choice::OnlyBetaZeroOne, Choice::DuplicatesRejected];

/// The choice by which a backend with this profile refuses a request; `None` where it must answer. Of duplicates this looks at the case
/// line only: whether a matrix really stores some shows in its operands.
pub(crate) fn refusing(contract: &Contract, p: &Params, profile: &Profile) -> Option<Choice> {
    let asks = |choice: &Choice| match choice {
        Choice::OnlyAlphaOne => p.alpha != 1.0,
        Choice::OnlyBetaZeroOne => p.beta != 0.0 && p.beta != 1.0,
        Choice::DuplicatesRejected => p.duplicates,
        _ => false,
    };
    let declares = |choice: &Choice| profile.has(*choice) && choice.concerns(contract);
    REFUSING.into_iter().find(|choice| declares(choice) && asks(choice))
}
