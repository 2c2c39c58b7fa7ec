//! A judgement as the report keeps it: the oracle's verdicts and mismatches in the report's words.

use crate::backend::Backend;
use crate::case::Case;
use crate::report::{self, CaseRecord, Repeated, VerdictRecord};
use crate::runner::verdict_only;
use sparse_oracle::judge::Judged;
use sparse_oracle::verdict::{Defect, Mismatch, Tier, Verdict};

/// The record of a case that nobody could be asked, for this reason.
pub(crate) fn unasked(case: &Case, backend: &dyn Backend, reason: String) -> CaseRecord {
    let judged = verdict_only(Verdict::NotRun { reason });
    record(case, backend, (judged, None), &[])
}

/// The record of a verdict.
pub(crate) fn record(
    case: &Case,
    backend: &dyn Backend,
    (judged, repeated): (Judged, Option<Repeated>),
    degenerate: &[String],
) -> CaseRecord {
    let share = match judged.verdict {
        Verdict::Exact => None,
        Verdict::Within { share } => Some(share),
        Verdict::Wrong(ref m) => m.error.zip(m.bound).map(|(e, b)| e / b).filter(|s| s.is_finite()),
        _ => None,
    };
    let verdict = verdict_record(judged.verdict);
    // Few records are findings: only those need to be replayed.
    let selection = verdict.is_finding().then(|| backend.selection());
    let selection = selection.filter(|options| *options != format!("--backend {}", backend.name()));
    CaseRecord {
        case: case.to_string(),
        contract: case.contract.to_string(),
        family: case.origin.family(),
        backend: backend.name().to_owned(),
        tiers: judged.tiers.iter().map(|t| tier(*t)).collect(),
        selection,
        verdict,
        share,
        degenerate: degenerate.to_vec(),
        repeated,
        reproducer: None,
        inputs: None,
        output: None,
        waived: None,
    }
}

fn tier(tier: Tier) -> report::Tier {
    match tier {
        Tier::T0 => report::Tier::T0,
        Tier::T1 => report::Tier::T1,
        Tier::T2 => report::Tier::T2,
    }
}

/// The verdict as a report has it.
pub(crate) fn verdict_record(verdict: Verdict) -> VerdictRecord {
    match verdict {
        Verdict::Exact => VerdictRecord::Exact,
        Verdict::Within { share } => VerdictRecord::Within { share },
        Verdict::Wrong(mismatch) => VerdictRecord::Wrong(mismatch_record(*mismatch)),
        Verdict::AgreedRefusal { refusal } => VerdictRecord::AgreedRefusal { refusal },
        Verdict::LoneRefusal { refusal } => VerdictRecord::LoneRefusal { refusal },
        Verdict::LoneAcceptance { expected } => VerdictRecord::LoneAcceptance { expected },
        Verdict::Crashed { message } => VerdictRecord::Crashed { message },
        Verdict::TimedOut { seconds, tail } => VerdictRecord::TimedOut {
            seconds,
            tail: (!tail.is_empty()).then_some(tail),
        },
        Verdict::Unsupported { reason } => VerdictRecord::Unsupported { reason },
        Verdict::NotRun { reason } => VerdictRecord::NotRun { reason },
    }
}

fn mismatch_record(m: Mismatch) -> report::Mismatch {
    let text = |s: String| (!s.is_empty()).then_some(s);
    let bits = |b: Option<u64>| b.map(|b| format!("0x{b:x}"));
    let number = |v: Option<f64>| v.map(|v| format!("{v:e}"));
    let more = if m.count > 1 {
        format!(" (and {} more)", m.count - 1)
    } else {
        String::new()
    };
    report::Mismatch {
        tier: m.tier.map_or(report::Tier::T0, tier),
        what: defect(m.defect),
        at: m.at.map(|(row, column)| report::Place {
            row: row as u64,
            column: column as u64,
        }),
        expected: text(m.expected),
        expected_bits: bits(m.expected_bits),
        found: text(m.found),
        found_bits: bits(m.found_bits),
        error: number(m.error),
        bound: number(m.bound),
        message: format!("{}{more}", m.message),
    }
}

fn defect(defect: Defect) -> report::Defect {
    match defect {
        Defect::Value => report::Defect::Value,
        Defect::Unwritten => report::Defect::Unwritten,
        Defect::Stale => report::Defect::Stale,
        Defect::OutOfBounds => report::Defect::Canary,
        Defect::InputModified => report::Defect::InputModified,
        Defect::Structure => report::Defect::Structure,
        Defect::Pattern => report::Defect::Pattern,
        Defect::Kind => report::Defect::Shape,
        Defect::Protocol => report::Defect::Protocol,
        Defect::Nondeterministic => report::Defect::Nondeterministic,
    }
}
