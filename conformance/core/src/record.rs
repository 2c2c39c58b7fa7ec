//! A judgement as the report keeps it: the oracle's verdicts and mismatches in the report's words.

use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::report::show::count;
use crate::report::{self, CaseRecord, Repeated, VerdictRecord};
use sparse_oracle::judge::Judged;
use sparse_oracle::scalar::{Precision, decimal};
use sparse_oracle::verdict::{Criterion, Defect, Mismatch, Verdict};

/// The record of a case that nobody could be asked, for this reason.
pub fn unasked(case: &Case, backend: &dyn Backend, reason: String) -> CaseRecord {
    let judged = Judged::only(Verdict::NotRun { reason });
    record(case, backend, (judged, None), &[])
}

/// The record of a case that can't be made: a backend whose manifest excludes it would not have been asked anyway.
#[must_use]
pub fn unmade(case: &Case, backend: &dyn Backend, reason: String) -> CaseRecord {
    let Support::Excluded { reason } = backend.support(&case.contract, &case.params) else {
        return unasked(case, backend, reason);
    };
    let judged = Judged::only(Verdict::Unsupported { reason: reason.into_owned() });
    record(case, backend, (judged, None), &[])
}

/// The record of a verdict.
pub(crate) fn record(
    case: &Case,
    backend: &dyn Backend,
    (judged, repeated): (Judged, Option<Repeated>),
    degenerate: &[String],
) -> CaseRecord {
    let past_bound = if let Verdict::Wrong(m) = &judged.verdict {
        m.error.zip(m.bound).map(|(e, b)| e / b).filter(|s| s.is_finite())
    } else {
        None
    };
    let verdict = verdict_record(judged.verdict);
    let share = if let VerdictRecord::Within { share } = verdict { Some(share) } else { past_bound };
    // Few records are findings: only those need to be replayed.
    let selection = verdict.is_finding().then(|| outside(backend)).flatten();
    CaseRecord {
        case: case.to_string(),
        contract: case.contract.to_string(),
        family: case.origin.family(),
        backend: backend.name().to_owned(),
        tiers: judged.tiers,
        selection,
        verdict,
        share,
        degenerate: degenerate.to_vec(),
        repeated,
        asked_again: false,
        reproducer: None,
        inputs: None,
        output: None,
        waived: None,
    }
}

/// A share of a bound with the digits that somebody reads: the others were 280 kB of a report's 10.1 MB. Zero stays the only zero.
fn five_digits(share: f64) -> f64 {
    format!("{share:.4e}").parse().unwrap_or(share)
}

/// How a backend from outside the program is selected; `None` for one that its name selects.
pub fn outside(backend: &dyn Backend) -> Option<String> {
    Some(backend.selection()).filter(|options| *options != format!("--backend {}", backend.name()))
}

/// The verdict as a report has it.
pub fn verdict_record(mut verdict: Verdict) -> VerdictRecord {
    if let Verdict::Within { share } = &mut verdict {
        *share = five_digits(*share);
    }
    verdict.map_wrong(|mismatch| mismatch_record(*mismatch))
}

fn mismatch_record(m: Mismatch) -> report::Mismatch {
    let text = |s: String| (!s.is_empty()).then_some(s);
    let bits = |b: Option<u64>| b.map(|b| format!("0x{b:x}"));
    let number = |v: Option<f64>| v.map(|v| decimal(v, Precision::F64));
    let elements = m.elements.as_deref().filter(|wrong| wrong.count > 1).map(report::WrongElements::from);
    let within = elements.as_ref().map(|wrong| format!("; all in {}", wrong.within)).unwrap_or_default();
    let more = if m.count > 1 {
        format!(" (and {} more{within})", count(m.count as u64 - 1))
    } else {
        String::new()
    };
    let message = past_the_largest(&m).unwrap_or(m.message);
    report::Mismatch {
        tier: m.tier.unwrap_or(Criterion::T0),
        what: m.defect,
        at: m.at.map(|(row, column)| report::Place { row: row as u64, column: column as u64 }),
        expected: text(m.expected),
        expected_bits: bits(m.expected_bits),
        found: text(m.found),
        found_bits: bits(m.found_bits),
        error: number(m.error),
        bound: number(m.bound),
        elements,
        message: format!("{message}{more}"),
    }
}

/// Where the exact result is past the largest number of the type, an error and a bound of 1e308 or inf say nothing: what may
/// stand there does.
fn past_the_largest(m: &Mismatch) -> Option<String> {
    let overflows = matches!(m.expected.as_str(), "inf" | "-inf");
    let by_bound = m.tier == Some(Criterion::T1) && m.defect == Defect::Value && m.bound.is_some();
    // What is said before the element stays.
    let before = m.message.split_once("element (").map_or("", |(before, _)| before);
    let text = || {
        format!(
            "{before}expected an overflow to {}: the exact result is past the largest number, so an infinity or NaN may stand there, or \
             a finite number as near to it as the bound allows; found {} (0x{:x})",
            m.expected,
            m.found,
            m.found_bits.unwrap_or_default()
        )
    };
    (overflows && by_bound).then(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::reason::SECOND_CALL;
    use sparse_oracle::verdict::WrongElements;

    /// Found by mutation: one wrong element was "and 0 more".
    #[test]
    fn how_many_more_is_said_where_there_are_more() {
        let message = |count| {
            let plain = Mismatch::plain(Defect::Value, "wrong".to_owned());
            mismatch_record(Mismatch { count, ..plain }).message
        };
        assert_eq!([0, 1, 2, 7].map(message), ["wrong", "wrong", "wrong (and 1 more)", "wrong (and 6 more)"]);
    }

    #[test]
    fn where_the_others_are_is_said() {
        let mut wrong = WrongElements::one((64, 3), (17, 0));
        let said = |elements: &WrongElements| {
            let plain = Mismatch::plain(Defect::Value, "wrong".to_owned());
            let (count, elements) = (elements.count, Some(Box::new(elements.clone())));
            mismatch_record(Mismatch { count, elements, ..plain })
        };
        assert_eq!((said(&wrong).message.as_str(), said(&wrong).elements), ("wrong", None));
        wrong.add((17, 2));
        let expected = "wrong (and 1 more; all in row 17 of 64 and columns 0 to 2 of 3)";
        assert_eq!((said(&wrong).message.as_str(), said(&wrong).elements.is_some()), (expected, true));
    }

    /// A report's shares took 485 kB of its 10.1 MB, which shall be at most 10 (ci/quick.sh weighs it).
    #[test]
    fn shares_have_five_digits_and_only_zero_is_zero() {
        let kept = [0.25886866624142896, 0.99999987, 1.0, 0.0, 5e-324];
        let kept = kept.map(|share| verdict_record(Verdict::Within { share }));
        assert_eq!(kept, [0.25887, 1.0, 1.0, 0.0, 5e-324].map(|share| VerdictRecord::Within { share }));
    }

    /// It read "expected inf, found -3.96e307: error inf exceeds the bound inf".
    #[test]
    fn an_overflow_that_did_not_come_says_what_may_stand_there() {
        let mut mismatch = Mismatch {
            tier: Some(Criterion::T1),
            expected: "inf".to_owned(),
            expected_bits: Some(0x7ff0_0000_0000_0000),
            found: "-3.96e307".to_owned(),
            found_bits: Some(0xffcc),
            error: Some(f64::INFINITY),
            bound: Some(f64::INFINITY),
            ..Mismatch::plain(Defect::Value, "error inf exceeds the bound inf".to_owned())
        };
        mismatch.count = 2;
        let message = mismatch_record(mismatch.clone()).message;
        assert!(
            message.starts_with("expected an overflow to inf") && message.ends_with("(and 1 more)"),
            "{message}"
        );
        assert!(
            message.contains("an infinity or NaN may stand there") && !message.contains("exceeds"),
            "{message}"
        );
        // Found by a reader: which call it was got lost.
        mismatch.message = format!("{SECOND_CALL}: element (0, 0): error inf exceeds the bound inf");
        let message = mismatch_record(mismatch.clone()).message;
        assert!(message.starts_with(&format!("{SECOND_CALL}: expected an overflow to inf")), "{message}");
        mismatch.expected = "2.5".to_owned();
        assert!(mismatch_record(mismatch).message.contains("exceeds"));
    }
}
