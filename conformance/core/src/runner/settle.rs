//! Verdicts that need no product: on what is no result, on broken requests, and on conversions and transposes.

use crate::case::Case;
use crate::operands::Operands;
use crate::refusing::refusing;
use crate::response::Response;
use sparse_oracle::each_sparse;
use sparse_oracle::format::{CooCodec, Duplicates, Sparse};
use sparse_oracle::judge::Sheets;
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};

/// The verdict where no comparable result came back.
pub(super) fn settle(response: Response) -> Verdict {
    match response {
        Response::Refused(refusal) => Verdict::LoneRefusal { refusal },
        Response::Panicked(message) => Verdict::Crashed { message },
        Response::TimedOut { seconds, idle, tail } => timed_out(seconds, idle, tail),
        Response::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        Response::NotAsked(reason) => Verdict::NotRun { reason },
        // `execute` lets only the asked kind through; kept as a verdict, so that no slip there can pass.
        Response::Dense(_) | Response::Sparse(_) | Response::Parts(_) => {
            let message = "answered with another kind of result than asked for".to_owned();
            Verdict::Wrong(Box::new(Mismatch::plain(Defect::Shape, message)))
        }
    }
}

fn timed_out(seconds: f64, idle: bool, tail: String) -> Verdict {
    Verdict::TimedOut { seconds, idle, call: None, tail: (!tail.is_empty()).then_some(tail) }
}

/// What a legal request must be refused for because the profile says so; `None` where it must be answered.
pub(super) fn declared_refusal(case: &Case, operands: &Operands, profile: &Profile) -> Option<String> {
    let (alpha, beta) = (case.params.alpha, case.params.beta);
    if let Some(choice) =
        refusing(&case.contract, &case.params, profile).filter(|choice| *choice != Choice::DuplicatesRejected)
    {
        return Some(format!("alpha={alpha}, beta={beta}, of a backend that declares {}", choice.name()));
    }
    let rejects =
        profile.has(Choice::DuplicatesRejected) && Choice::DuplicatesRejected.concerns(&case.contract);
    each_sparse!(&operands.a, a => match a {
        Sparse::Coo(a) if rejects => a.entries_with(Duplicates::Reject).err().map(|refusal| refusal.to_string()),
        _ => None,
    })
}

/// The verdict on an answer to a request that must be refused, for what `expected` says.
pub(super) fn judge_refusal(expected: &str, response: Response) -> Verdict {
    match response {
        Response::Refused(refusal) => Verdict::AgreedRefusal { refusal },
        Response::Panicked(message) => Verdict::Crashed { message },
        Response::TimedOut { seconds, idle, tail } => timed_out(seconds, idle, tail),
        Response::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        Response::NotAsked(reason) => Verdict::NotRun { reason },
        Response::Dense(_) | Response::Sparse(_) | Response::Parts(_) => {
            Verdict::LoneAcceptance { expected: expected.to_owned() }
        }
    }
}

/// Judges a conversion or transpose. Where the oracle has no result, a refusal is right, or the case is too large for the suite.
pub(super) fn judge_move((profile, sheets): (&Profile, &Sheets<'_>), response: Response) -> Verdict {
    let Some(moved) = sheets.moved(profile) else {
        return settle(response);
    };
    match (moved.result(), response) {
        (_, Response::Sparse(raw)) => moved.judge(raw),
        (_, Response::Parts(parts)) => moved.judge_parts(parts),
        // A limit of the suite is no rule of the contract: the case is legal, and nobody can be judged on it.
        (Err(Refusal::Limit(limit)), Response::Refused(_)) => {
            Verdict::NotRun { reason: format!("the result is too large for the oracle: {limit}") }
        }
        (Err(_), Response::Refused(refusal)) => Verdict::AgreedRefusal { refusal },
        (_, other) => settle(other),
    }
}

/// The verdict of a call that is not the first one of a case: these words say which, before its message.
pub(super) fn of_another_call(verdict: Verdict, words: &str) -> Verdict {
    let with = |text: String| format!("{words}: {text}");
    match verdict {
        Verdict::Wrong(mut mismatch) => {
            mismatch.message = with(mismatch.message);
            Verdict::Wrong(mismatch)
        }
        Verdict::Crashed { message } => Verdict::Crashed { message: with(message) },
        Verdict::LoneRefusal { refusal } => Verdict::LoneRefusal { refusal: with(refusal) },
        Verdict::LoneAcceptance { expected } => Verdict::LoneAcceptance { expected: with(expected) },
        Verdict::TimedOut { seconds, idle, tail, .. } => {
            Verdict::TimedOut { seconds, idle, call: Some(words.to_owned()), tail }
        }
        other @ (Verdict::Exact
        | Verdict::Within { .. }
        | Verdict::AgreedRefusal { .. }
        | Verdict::Unsupported { .. }
        | Verdict::NotRun { .. }) => other,
    }
}
