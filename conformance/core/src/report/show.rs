//! Numbers and text as readers want them: counts with separators, shares of a bound as percentages, messages in
//! one line.

use super::Reason;
use super::finding::Finding;
use super::model::{CaseRecord, Report};
use sparse_oracle::verdict::{self, Criterion, Defect, VerdictKind};
use std::collections::{BTreeMap, HashMap};

/// 12345 as "12,345".
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: "1 finding", "2 findings".
#[must_use]
pub fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// A share of a bound: "0 %", "<0.1 %", "31.2 %", and beyond the bound "2.50×", "more than 1,000×".
#[must_use]
pub fn share(value: f64) -> String {
    if value <= 1.0 {
        verdict::share_text(value)
    } else if value < 1e3 {
        format!("{value:.2}×")
    } else {
        "more than 1,000×".to_owned()
    }
}

/// The worst share of a backend in words that no passing one can be mistaken by: "at most 100.0 % of the allowed error used", or
/// beyond it "up to 2.50× the allowed error".
#[must_use]
pub fn used(value: f64) -> String {
    let share = share(value);
    match value {
        ..=1.0 => format!("at most {share} of the allowed error used"),
        ..1e3 => format!("up to {share} the allowed error"),
        _ => format!("{share} the allowed error"),
    }
}

/// `value` of `whole` as a percentage, rounded down so that 100 % means all of it.
#[must_use]
pub fn percent(value: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{} %", value * 100 / whole)
}

/// Text in one line without control characters: a backend's message must steer neither terminal nor file.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// The criteria of judgement in one line, for who meets their names for the first time.
pub const CRITERIA: &str = "T0: only the exact result is right; T1: the error must be within its bound; T2: the bits must be those of the declared arithmetic";

/// How hard a finding is to follow by hand: what was never written needs no arithmetic, what can only be one number (T0) no bound; one call
/// is easier than several, and a short number or line than a long one.
fn difficulty(record: &CaseRecord) -> (u8, bool, usize) {
    let (calls, line) = (record.case.contains("/after="), record.case.len());
    let Some(mismatch) = record.verdict.mismatch() else { return (1, calls, line) };
    let kind = match (mismatch.what, mismatch.tier) {
        (Defect::Unwritten, _) => 0,
        (_, Criterion::T0) => 1,
        (_, Criterion::T1) => 2,
        (_, Criterion::T2) => 3,
    };
    let letters = |number: &Option<String>| number.as_ref().map_or(0, String::len);
    (kind, calls, letters(&mismatch.expected) + letters(&mismatch.found) + line)
}

/// The findings: of each backend the first of each reason before the second of any, those that were shrunk before the others, and of
/// either those first that are the easiest to follow.
#[must_use]
pub fn shrunk_first(report: &Report) -> Vec<Finding> {
    let record = |finding: &Finding| match finding {
        Finding::Case { index } => Some(&report.cases[*index]),
        _ => None,
    };
    let mut findings = report.find();
    let was_shrunk = |finding: &Finding| record(finding).is_some_and(|r| r.reproducer.is_some());
    let ease =
        |finding: &Finding| (!was_shrunk(finding), record(finding).map_or((u8::MAX, false, 0), difficulty));
    findings.sort_by_cached_key(ease);
    let mut turns: HashMap<(&str, Option<Reason>), usize> = HashMap::new();
    let mut ordered: Vec<(usize, Finding)> = Vec::new();
    for finding in findings {
        let turn = record(&finding).map_or(0, |record| {
            let turn = turns.entry((&record.backend, Reason::of_record(record))).or_default();
            *turn += 1;
            *turn - 1
        });
        ordered.push((turn, finding));
    }
    // Those of one turn stay in order.
    ordered.sort_by_key(|(turn, _)| *turn);
    ordered.into_iter().map(|(_, finding)| finding).collect()
}

/// Findings by rule, as "3 wrong-value, 1 crashed", with their backends where there are several.
#[must_use]
pub fn by_rule(report: &Report, findings: &[Finding]) -> String {
    let mut counts: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for described in findings.iter().map(|finding| report.describe(finding)) {
        let backend = if report.backends.len() > 1 { described.backend } else { "" };
        // Names of backends are the report's own, whatever the finding is.
        let backend = report.backends.iter().find(|b| b.name == backend).map_or("", |b| &b.name);
        *counts.entry((described.rule, backend)).or_default() += 1;
    }
    let line = |((rule, backend), number): (&(String, &str), &u64)| match *backend {
        "" => format!("{} {rule}", count(*number)),
        backend => format!("{} {rule} on {backend}", count(*number)),
    };
    counts.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// What a reader must know of a backend that answered some cases only when it was asked again.
#[must_use]
pub fn answered_late(report: &Report, backend: &str) -> Option<String> {
    let late =
        |r: &&CaseRecord| r.asked_again && r.backend == backend && r.verdict.kind() != VerdictKind::TimedOut;
    let cases = report.cases.iter().filter(late).count() as u64;
    (cases > 0).then(|| {
        format!(
            "{} had no answer in time, and one when asked again after all others: the time limit is short for this machine, or the \
             kernel hangs now and then",
            counted(cases, "case")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three() {
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), text);
        }
        assert_eq!((counted(1, "case"), counted(0, "case")), ("1 case".to_owned(), "0 cases".to_owned()));
    }

    #[test]
    fn shares_never_hide_that_a_bound_was_used_or_broken() {
        let texts = [0.0, 1e-300, 0.312, 1.0, 1.004, 37100.0, f64::INFINITY].map(share);
        assert_eq!(
            texts,
            ["0 %", "<0.1 %", "31.2 %", "100.0 %", "1.00×", "more than 1,000×", "more than 1,000×"]
        );
        assert_eq!(used(1.0), "at most 100.0 % of the allowed error used");
        assert_eq!(used(2.5), "up to 2.50× the allowed error");
        assert_eq!(used(8.2e14), "more than 1,000× the allowed error");
        assert_eq!(percent(999, 1000), "99 %");
    }
}
