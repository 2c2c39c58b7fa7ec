//! `report.junit.xml` for CI systems: a test suite per backend, and one per contract that it ran; findings whole, all else counted.
//!
//! Findings are failures (crashes and time-outs: errors) and carry the replay line. What passed is one element with its number, for CI
//! systems read no quarter of a million. Unsupported and not-run cases are skipped, counted under their reason, never passed. Waived
//! findings are skipped too, with the reason of their expectation. What was judged on too little, or that nothing was judged at all,
//! fails in a suite of its own.
//!
//! The attributes of a suite (`tests`, `failures`, `errors`, `skipped`) count cases, also those that have no element of their own.

mod group;

use crate::report::finding::Finding;
use crate::report::model::{Backend, CaseRecord, Report};
use crate::report::outcome::Outcome;
use crate::report::show::shrunk_first;
use crate::report::verdict::{VerdictRecord, details};
use group::{Group, Room};
use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::Duration;

/// Bytes of the file at most: CI systems refuse, or are slow with, larger ones.
pub const MOST_BYTES: usize = 5_000_000;
/// Bytes of them for what is no finding.
const FOR_COUNTS: usize = MOST_BYTES / 2;
/// Bytes of them for the frame.
const FOR_FRAME: usize = 50_000;

/// The report as JUnit XML.
///
/// # Errors
/// Those of the XML writer.
pub fn to_junit(report: &Report) -> Result<String, SerializeError> {
    let mut junit = quick_junit::Report::new("sparse-conformance");
    junit.set_time(seconds(report.timings.total_seconds));
    let mut room = Room(FOR_COUNTS);
    let mut groups = counted(report, &mut room);
    let thin = thin(report, &mut room);
    room.0 += MOST_BYTES - FOR_COUNTS - FOR_FRAME;
    add_findings(report, &mut groups, &mut room);
    for ((backend, contract), group) in groups {
        let mut suite = group.suite();
        let time = report.timings.backend_seconds.get(&report.backends[backend].name);
        if let (OWN, Some(&time)) = (contract, time) {
            suite.set_time(seconds(time));
        }
        junit.add_test_suite(suite);
    }
    junit.add_test_suites(thin.into_iter().chain(nothing_judged(report)));
    junit.to_string()
}

/// Place of a backend, and [`OWN`] or one more than the place of a contract.
type SuiteKey = (usize, usize);
/// The suite of a backend that is about no contract.
const OWN: usize = 0;

/// What is no finding, as a group for each backend and each contract that it ran. Contracts for which there is no room are counted with
/// their backend.
fn counted<'a>(report: &'a Report, room: &mut Room) -> BTreeMap<SuiteKey, Group<'a>> {
    let places = Places::of(report);
    let mut groups = BTreeMap::new();
    for (place, backend) in report.backends.iter().enumerate() {
        let mut group = Group::new(backend.name.clone());
        // Three kinds of skip, and facts.
        room.take(group.bytes(4));
        describe(report, backend, &mut group, room);
        groups.insert((place, OWN), group);
    }
    for record in &report.cases {
        let Some(backend) = places.backend(&record.backend) else { continue };
        let mut key = (backend, OWN);
        if record.verdict.kind().ran() {
            key.1 = places.contract(&record.contract);
            if let Entry::Vacant(vacant) = groups.entry(key) {
                let group = Group::new(format!("{}.{}", record.backend, record.contract));
                // Of what ran, only waived cases are skipped.
                if room.take(group.bytes(1)) {
                    vacant.insert(group);
                } else {
                    key.1 = OWN;
                }
            }
        }
        let Some(group) = groups.get_mut(&key) else { continue };
        if let Some(number) = record.waived {
            group.skip("waived", &report.expectations[number].reason, room);
            continue;
        }
        match &record.verdict {
            VerdictRecord::Unsupported { reason } => group.skip("unsupported", reason, room),
            VerdictRecord::NotRun { reason } => group.skip("not run", reason, room),
            VerdictRecord::Exact | VerdictRecord::Within { .. } | VerdictRecord::AgreedRefusal { .. } => {
                group.passed += 1;
            }
            VerdictRecord::Wrong(_)
            | VerdictRecord::LoneRefusal { .. }
            | VerdictRecord::LoneAcceptance { .. }
            | VerdictRecord::Crashed { .. }
            | VerdictRecord::TimedOut { .. } => {}
        }
    }
    groups
}

/// Findings, the first of each reason before the second of any, as long as there is room; the others are counted.
fn add_findings(report: &Report, groups: &mut BTreeMap<SuiteKey, Group<'_>>, room: &mut Room) {
    let places = Places::of(report);
    for finding in shrunk_first(report) {
        let described = report.describe(&finding);
        let Some(backend) = places.backend(described.backend) else { continue };
        let (contract, element) = match &finding {
            Finding::Case { index } => {
                let record = &report.cases[*index];
                (places.contract(&record.contract), case(report, record))
            }
            Finding::MostlyWaived { .. }
            | Finding::IdleBackend { .. }
            | Finding::UnexpectedPass { .. }
            | Finding::ExpiredExpectation { .. }
            | Finding::StaleExpectation { .. } => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(described.message.as_str()).set_type(described.rule.as_str());
                (OWN, TestCase::new(name(report, &finding), status))
            }
        };
        let key =
            if groups.contains_key(&(backend, contract)) { (backend, contract) } else { (backend, OWN) };
        if let Some(group) = groups.get_mut(&key) {
            group.add_finding(element, room);
        }
    }
}

/// Where backends and contracts stand in the report.
struct Places<'a> {
    backends: HashMap<&'a str, usize>,
    contracts: HashMap<&'a str, usize>,
}

impl<'a> Places<'a> {
    fn of(report: &'a Report) -> Places<'a> {
        let backends = report.backends.iter().enumerate().map(|(place, b)| (b.name.as_str(), place));
        let contracts = report.contracts.iter().enumerate().map(|(place, c)| (c.name.as_str(), place));
        Places { backends: backends.collect(), contracts: contracts.collect() }
    }

    fn backend(&self, name: &str) -> Option<usize> {
        self.backends.get(name).copied()
    }

    fn contract(&self, name: &str) -> usize {
        self.contracts.get(name).map_or(OWN, |place| place + 1)
    }
}

/// What was judged on too little: failures, unless that is allowed.
fn thin(report: &Report, room: &mut Room) -> Option<TestSuite> {
    if report.thin.is_empty() {
        return None;
    }
    let mut group = Group::new(Outcome::Thin.word().to_owned());
    room.take(group.bytes(0));
    for thin in &report.thin {
        let mut status = if report.plan.allow_thin {
            TestCaseStatus::skipped()
        } else {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        };
        status.set_message(thin.reason.as_str()).set_type(Outcome::Thin.word());
        let mut case = TestCase::new(thin.contract.as_str(), status);
        case.set_classname(thin.backend.as_str());
        group.add_finding(case, room);
    }
    Some(group.suite())
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

/// Facts of a backend, at its own suite.
fn describe(report: &Report, backend: &Backend, suite: &mut Group<'_>, room: &mut Room) {
    let plan = &report.plan;
    let facts = [
        ("version", backend.version.clone()),
        ("seed", plan.seed.to_string()),
        ("tier", plan.tier.to_string()),
    ];
    for (name, value) in facts {
        suite.add_property(name.to_owned(), value, room);
    }
    for deviation in &backend.deviations {
        let value = format!("{} ({})", deviation.choice, deviation.reason);
        suite.add_property(format!("deviation: {}", deviation.point), value, room);
    }
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

/// A finding: an error where nothing came back.
fn case(report: &Report, record: &CaseRecord) -> TestCase {
    let kind = match record.verdict {
        VerdictRecord::Crashed { .. } | VerdictRecord::TimedOut { .. } => NonSuccessKind::Error,
        VerdictRecord::Wrong(_)
        | VerdictRecord::LoneRefusal { .. }
        | VerdictRecord::LoneAcceptance { .. }
        | VerdictRecord::Exact
        | VerdictRecord::Within { .. }
        | VerdictRecord::AgreedRefusal { .. }
        | VerdictRecord::Unsupported { .. }
        | VerdictRecord::NotRun { .. } => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(record.verdict.to_string()).set_type(record.kind().label());
    status.set_description(description(report, record));
    let mut case = TestCase::new(record.case.as_str(), status);
    case.set_classname(format!("{}.{}", record.backend, record.contract));
    case
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
