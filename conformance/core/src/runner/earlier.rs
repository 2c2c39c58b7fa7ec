//! Calls before the judged one. Each must return; its values are not judged, but whatever else is wrong with it is a finding.

use super::settle::{of_another_call, settle};
use super::{RunState, judge_operands, runs::starts};
use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::execute::{Before, execute};
use crate::operands::Operands;
use crate::report::show::counted;
use crate::response::{DenseResult, Response, poison};
use crate::sequence::{After, different, plain, prepare};
use sparse_oracle::judge::Judged;
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};
use std::borrow::Cow;

/// Makes the calls before the judged one, and returns the operands where it must find them.
pub(super) fn in_sequence<'a>(
    case: &Case,
    operands: &'a Operands,
    backend: &dyn Backend,
    seen: &mut RunState<'_, '_>,
) -> Result<Cow<'a, Operands>, Judged> {
    // A backend that excludes the case does not get the calls before it either.
    if let Support::Excluded { .. } = backend.support(&case.contract, &case.params) {
        return Ok(Cow::Borrowed(operands));
    }
    let made = if seen.once { different(case, operands) } else { usize::MAX };
    let call = |number: usize, asked: &Case, on: &Operands| {
        if number >= made {
            return Ok(());
        }
        let legal = plain(asked);
        let Some(verdict) = finding_of_call(&legal, on, backend, seen) else {
            return Ok(());
        };
        seen.in_call = Some(number);
        let after = case.params.after.map_or("", After::name);
        let words = format!("in call {number} before the judged one (after={after})");
        Err(Judged::only(of_another_call(verdict, &words)))
    };
    let stuck = |refusal| {
        let reason = format!("the operands do not fit where those before them were: {refusal}");
        Judged::only(Verdict::NotRun { reason })
    };
    prepare(case, operands, call, stuck)
}

/// What is wrong with an earlier call. Of its values only this is checked: that they were written.
fn finding_of_call(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    seen: &mut RunState<'_, '_>,
) -> Option<Verdict> {
    let Support::Supported { profile, .. } = backend.support(&case.contract, &case.params) else {
        return None;
    };
    seen.asked = true;
    let starts = starts(case, operands, &profile);
    let before = Before::of(case, starts.first().and_then(Option::as_deref));
    let unread = matches!(before, Before::Poison);
    match execute(case, operands, backend, before, &mut seen.spent) {
        Response::Dense(result) if unread => unwritten(&result, case),
        Response::Dense(_) | Response::Sparse(_) | Response::Parts(_) => None,
        // Whether it may be refused (a matrix that the format does not hold) is for the judge of that case alone.
        Response::Refused(_) => {
            let judged = judge_operands(case, operands, backend, &mut seen.spent).verdict;
            judged.is_finding().then_some(judged)
        }
        other => Some(settle(other)),
    }
}

/// A result that still holds poison somewhere.
fn unwritten(result: &DenseResult, case: &Case) -> Option<Verdict> {
    let (found, poison) = (result.found(), poison(case.contract.types.out));
    let mut left = (0..found.len()).filter(|&at| found.bits(at) == poison);
    let first = left.next()?;
    let message = format!(
        "the poison the output was filled with still stands in {}, first at offset {first} of {}",
        counted(1 + left.count() as u64, "element"),
        found.len()
    );
    Some(Verdict::Wrong(Box::new(Mismatch::plain(Defect::Unwritten, message))))
}
