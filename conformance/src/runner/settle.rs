//! Verdicts that need no product: on what is no result, on broken requests, and on conversions and transposes.

use crate::case::{Case, Fault};
use crate::execute::Came;
use crate::expected::summed_positions;
use crate::operands::Operands;
use crate::sheets::Sheets;
use sparse_oracle::judge::{judge_encoded, judge_moved};
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};

/// The verdict where no comparable result came back.
pub(super) fn settle(came: Came) -> Verdict {
    match came {
        Came::Refused(refusal) => Verdict::LoneRefusal { refusal },
        Came::Panicked(message) => Verdict::Crashed { message },
        Came::TimedOut { seconds, tail } => Verdict::TimedOut { seconds, tail },
        Came::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        // `execute` lets only the asked kind through; kept as a verdict, so that no slip there can pass.
        Came::Dense(_) | Came::Sparse(_) | Came::Parts(_) => {
            let message = "answered with another kind of result than asked for".to_owned();
            Verdict::Wrong(Box::new(Mismatch::plain(Defect::Kind, message)))
        }
    }
}

pub(super) fn judge_refusal(fault: Fault, came: Came) -> Verdict {
    match came {
        Came::Refused(refusal) => Verdict::AgreedRefusal { refusal },
        Came::Panicked(message) => Verdict::Crashed { message },
        Came::TimedOut { seconds, tail } => Verdict::TimedOut { seconds, tail },
        Came::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        Came::Dense(_) | Came::Sparse(_) | Came::Parts(_) => Verdict::LoneAcceptance {
            expected: fault.name().to_owned(),
        },
    }
}

/// A conversion that the oracle itself refuses is judged only where the refusal is a rule, not a limit of the suite.
pub(super) fn judge_move(
    case: &Case,
    operands: &Operands,
    (profile, sheets): (&Profile, &Sheets),
    came: Came,
) -> Verdict {
    match (&sheets.moved(case, operands, profile).result, came) {
        // A limit of the suite is no rule of the contract: the case is legal, and nobody can be judged on it.
        (Err(limit), Came::Refused(_) | Came::Sparse(_) | Came::Parts(_))
            if limit.is_limit_of_the_suite() =>
        {
            Verdict::NotRun {
                reason: format!("the result is too large for the oracle: {limit}"),
            }
        }
        // A parameter that the format is not defined for, or a matrix that does not have its pattern, must be refused.
        (
            Err(
                rule @ (Refusal::TooFull { .. }
                | Refusal::TooLarge { .. }
                | Refusal::Parameter { .. }
                | Refusal::Zero { .. }),
            ),
            Came::Sparse(_) | Came::Parts(_),
        ) => Verdict::LoneAcceptance {
            expected: rule.to_string(),
        },
        (Err(_), Came::Refused(refusal)) => Verdict::AgreedRefusal { refusal },
        (Err(refusal), Came::Sparse(_) | Came::Parts(_)) => Verdict::NotRun {
            reason: format!("the oracle has no result to compare with: {refusal}"),
        },
        (Ok(expected), Came::Sparse(raw)) => {
            judge_moved(expected, raw, profile, &summed_positions(case, operands, profile))
        }
        (Ok(expected), Came::Parts(parts)) => judge_encoded(expected, parts),
        (_, other) => settle(other),
    }
}
