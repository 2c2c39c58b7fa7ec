//! `report.junit.xml`: one test suite per backend, one test case per case line, for CI systems.
//!
//! Findings are failures (crashes and time-outs: errors) and carry the replay line; unsupported and not-run cases
//! are skipped with their reason, never passed.

use super::model::{Backend, CaseRecord, Finding, Report};
use super::verdict::VerdictRecord;
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
    junit.to_string()
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
    suite.add_test_cases(report.cases.iter().filter(own).map(case));
    let idle = Finding::IdleBackend {
        backend: backend.name.clone(),
    };
    if report.find().contains(&idle) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message("a required backend ran no case");
        suite.add_test_case(TestCase::new("runs at least one case", status));
    }
    suite
}

fn case(record: &CaseRecord) -> TestCase {
    let mut case = TestCase::new(record.case.as_str(), status(record));
    case.set_classname(format!("{}.{}", record.backend, record.contract));
    case
}

fn status(record: &CaseRecord) -> TestCaseStatus {
    let kind = record.verdict.kind();
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
    status
        .set_message(record.verdict.to_string())
        .set_type(kind.label());
    if kind.is_finding() {
        status.set_description(description(record));
    }
    status
}

fn description(record: &CaseRecord) -> String {
    let mut text = record.verdict.to_string();
    for (name, value) in record.verdict.details() {
        text.push_str(&format!("\n{name}: {value}"));
    }
    format!("{text}\nreplay: {}", record.replay())
}

/// JUnit has no place for a time that is negative or not finite.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value).unwrap_or_default()
}
