//! One case for each thing that a backend declares to refuse: whoever says so must refuse it, and must not compute something else.
//!
//! Nothing else that it refuses is drawn for it: a refusal shows nothing of a kernel.

use super::make::takes;
use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::refusing::{REFUSING, refusing};
use sparse_oracle::profile::Choice;
use sparse_oracle::task::SddmmMode;

/// Such cases, made from the first drawn ones that the backend answers.
pub(super) fn refused(backend: &dyn Backend, drawn: &[Case]) -> Vec<Case> {
    let refuses = |case: &Case, choice| match backend.support(&case.contract, &case.params) {
        Support::Supported { profile, .. } => {
            refusing(&case.contract, &case.params, &profile) == Some(choice)
        }
        Support::Excluded { .. } => false,
    };
    let made = |choice| {
        let answered = drawn.iter().filter(|case| case.params.fault.is_none() && takes(backend, case));
        answered.filter_map(|case| asking(case, choice)).find(|case| refuses(case, choice))
    };
    REFUSING.into_iter().filter_map(made).collect()
}

/// The case, so that it asks for what the choice refuses; `None` where it has no such thing.
fn asking(case: &Case, choice: Choice) -> Option<Case> {
    let mut case = case.clone();
    let (p, signature) = (&mut case.params, case.contract.op.signature());
    match choice {
        // S multiplies with alpha = 1 only, and only an added S has a factor.
        Choice::OnlyAlphaOne if !signature.has_mode || p.mode != SddmmMode::Scale => p.alpha = 2.0,
        Choice::OnlyBetaZeroOne if !signature.has_mode || p.mode == SddmmMode::AddS => p.beta = 0.5,
        Choice::DuplicatesRejected => p.duplicates = true,
        _ => return None,
    }
    Some(case)
}
