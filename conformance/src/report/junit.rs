//! `report.junit.xml`: one test suite per backend, one test case per case line, for CI systems.
//!
//! Findings are failures (crashes and time-outs: errors) and carry the replay line; unsupported and not-run cases
//! are skipped with their reason, never passed. Waived findings are skipped too, with the reason of their expectation. What was
//! judged on too little, or that nothing was judged at all, fails in a suite of its own.

use crate::report::finding::Finding;
use crate::report::model::{Backend, CaseRecord, Report};
use crate::report::outcome::Outcome;
use crate::report::verdict::{VerdictRecord, details};
use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// The report as JUnit XML.
///
/// # Errors
/// Those of the XML writer.
pub fn to_junit(report: &Report) -> Result<String, SerializeError> {
    let mut junit = quick_junit::Report::new("sparse-conformance");
    junit.set_time(seconds(report.timings.total_seconds));
    for backend in &report.backends {
        junit.add_test_suite(suite(report, backend));
    }
    junit.add_test_suites(thin(report).into_iter().chain(nothing_judged(report)));
    junit.to_string()
}

/// What was judged on too little: failures, unless that is allowed.
fn thin(report: &Report) -> Option<TestSuite> {
    if report.thin.is_empty() {
        return None;
    }
    let mut suite = TestSuite::new(Outcome::Thin.word());
    for thin in &report.thin {
        let mut status = if report.plan.allow_thin {
            TestCaseStatus::skipped()
        } else {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        };
        status.set_message(thin.reason.as_str()).set_type(Outcome::Thin.word());
        let mut case = TestCase::new(thin.contract.as_str(), status);
        case.set_classname(thin.backend.as_str());
        suite.add_test_case(case);
    }
    Some(suite)
}

/// A run without a judged case must not be all skips, which CI systems show green.
fn nothing_judged(report: &Report) -> Option<TestSuite> {
    let outcome = report.outcome();
    if outcome != Outcome::NothingJudged {
        return None;
    }
    let mut suite = TestSuite::new(outcome.word());
    let mut status = if report.must_judge() {
        TestCaseStatus::non_success(NonSuccessKind::Error)
    } else {
        TestCaseStatus::skipped()
    };
    status.set_message(outcome.explanation()).set_type(outcome.word());
    suite.add_test_case(TestCase::new("at least one case is judged", status));
    Some(suite)
}

fn suite(report: &Report, backend: &Backend) -> TestSuite {
    let mut suite = TestSuite::new(backend.name.as_str());
    suite.add_property(("version", backend.version.as_str()));
    suite.add_property(("seed", report.plan.seed.to_string().as_str()));
    suite.add_property(("tier", report.plan.tier.as_str()));
    for deviation in &backend.deviations {
        let value = format!("{} ({})", deviation.choice, deviation.reason);
        suite.add_property((format!("deviation: {}", deviation.point).as_str(), value.as_str()));
    }
    if let Some(&time) = report.timings.backend_seconds.get(&backend.name) {
        suite.set_time(seconds(time));
    }
    let own = |record: &&CaseRecord| record.backend == backend.name;
    suite.add_test_cases(report.cases.iter().filter(own).map(|record| case(report, record)));
    for finding in report.find() {
        let described = report.describe(&finding);
        if matches!(finding, Finding::Case { .. }) || described.backend != backend.name {
            continue;
        }
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(described.message.as_str()).set_type(described.rule.as_str());
        suite.add_test_case(TestCase::new(name(report, &finding), status));
    }
    suite
}

/// What a finding that is about no single case says did not hold.
fn name(report: &Report, finding: &Finding) -> String {
    match finding {
        Finding::Case { index } => report.cases[*index].case.clone(),
        Finding::MostlyWaived { .. } => "most of what it runs is not waived".to_owned(),
        Finding::IdleBackend { .. } => "runs at least one case".to_owned(),
        Finding::UnexpectedPass { expectation, .. }
        | Finding::ExpiredExpectation { expectation }
        | Finding::StaleExpectation { expectation } => {
            format!("expectation {} holds", report.expectations[*expectation].from)
        }
    }
}

fn case(report: &Report, record: &CaseRecord) -> TestCase {
    let mut case = TestCase::new(record.case.as_str(), status(report, record));
    case.set_classname(format!("{}.{}", record.backend, record.contract));
    case
}

fn status(report: &Report, record: &CaseRecord) -> TestCaseStatus {
    let kind = record.kind();
    if let Some(number) = record.waived {
        let reason = &report.expectations[number].reason;
        let mut status = TestCaseStatus::skipped();
        status.set_message(format!("waived ({reason}): {}", record.verdict)).set_type(kind.label());
        return status;
    }
    let mut status = match record.verdict {
        VerdictRecord::Exact | VerdictRecord::Within { .. } | VerdictRecord::AgreedRefusal { .. } => {
            return TestCaseStatus::success();
        }
        VerdictRecord::Unsupported { .. } | VerdictRecord::NotRun { .. } => TestCaseStatus::skipped(),
        VerdictRecord::Crashed { .. } | VerdictRecord::TimedOut { .. } => {
            TestCaseStatus::non_success(NonSuccessKind::Error)
        }
        VerdictRecord::Wrong(_)
        | VerdictRecord::LoneRefusal { .. }
        | VerdictRecord::LoneAcceptance { .. } => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    status.set_message(record.verdict.to_string()).set_type(kind.label());
    if kind.is_finding() {
        status.set_description(description(report, record));
    }
    status
}

fn description(report: &Report, record: &CaseRecord) -> String {
    let mut text = record.verdict.to_string();
    for (name, value) in details(&record.verdict) {
        text.push_str(&format!("\n{name}: {value}"));
    }
    format!("{text}\nreplay: {}", report.replay(record))
}

/// JUnit has no place for a time that is negative or not finite.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or_default()
}
