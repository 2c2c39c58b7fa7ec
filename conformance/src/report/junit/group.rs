//! What becomes one suite: numbers of cases, and elements as long as the file has room for them.

use crate::report::show::counted;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};
use std::collections::BTreeMap;

/// Bytes of the tags and attributes of an element, without the texts in it.
const TAGS: usize = 200;

/// Bytes that may still be written.
pub(super) struct Room(pub(super) usize);

impl Room {
    /// Takes so many bytes, if they are left.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// A suite in the making.
pub(super) struct Group<'a> {
    name: String,
    /// Facts about it.
    properties: Vec<(String, String)>,
    /// Cases that passed.
    pub(super) passed: u64,
    /// Cases that were skipped, by kind and reason.
    skipped: BTreeMap<(&'static str, &'a str), u64>,
    /// Elements of findings.
    findings: Vec<TestCase>,
    /// Findings for which there is no room.
    left_out: LeftOut,
}

/// Numbers of elements that were not written.
#[derive(Default)]
struct LeftOut {
    skipped: usize,
    failures: usize,
    errors: usize,
}

impl<'a> Group<'a> {
    pub(super) fn new(name: String) -> Group<'a> {
        Group {
            name,
            properties: Vec::new(),
            passed: 0,
            skipped: BTreeMap::new(),
            findings: Vec::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Bytes of the suite with the elements for which there is always room: what passed, what is left out, and so many for what is
    /// further: reasons of each kind of skip that it may have, facts.
    pub(super) fn bytes(&self, further: usize) -> usize {
        (3 + further) * (TAGS + escaped(&self.name)) + (1 + further) * ELSEWHERE.len()
    }

    /// Adds a fact. Those for which there is no room are one fact.
    pub(super) fn add_property(&mut self, name: String, value: String, room: &mut Room) {
        if room.take(TAGS + escaped(&name) + escaped(&value)) {
            self.properties.push((name, value));
        } else if !self.properties.iter().any(|(_, value)| value == ELSEWHERE) {
            self.properties.push(("further properties".to_owned(), ELSEWHERE.to_owned()));
        }
    }

    /// Counts a case that was skipped. Reasons for which there is no room are one reason.
    pub(super) fn skip(&mut self, kind: &'static str, reason: &'a str, room: &mut Room) {
        let known = self.skipped.contains_key(&(kind, reason));
        let fits = known || room.take(TAGS + escaped(&self.name) + escaped(reason));
        *self.skipped.entry((kind, if fits { reason } else { FURTHER })).or_default() += 1;
    }

    /// Adds the element of a finding, or counts it where it does not fit.
    pub(super) fn add_finding(&mut self, element: TestCase, room: &mut Room) {
        if room.take(bytes(&element)) {
            self.findings.push(element);
            return;
        }
        match element.status {
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => self.left_out.errors += 1,
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => self.left_out.failures += 1,
            TestCaseStatus::Skipped { .. } | TestCaseStatus::Success { .. } => self.left_out.skipped += 1,
        }
    }

    /// The suite, whose attributes count cases and not elements. No name of an element has a number, so that it is the same in the next run.
    pub(super) fn suite(self) -> TestSuite {
        let mut suite = TestSuite::new(self.name.as_str());
        for (name, value) in &self.properties {
            suite.add_property((name.as_str(), value.as_str()));
        }
        if self.passed > 0 {
            let mut element = self.element("passed".to_owned(), TestCaseStatus::success());
            element.set_system_out(counted(self.passed, "case"));
            suite.add_test_case(element);
            suite.tests += self.passed as usize - 1;
        }
        for (&(kind, reason), &cases) in &self.skipped {
            let mut status = TestCaseStatus::skipped();
            status.set_message(counted(cases, "case")).set_type(kind);
            suite.add_test_case(self.element(format!("{kind}: {reason}"), status));
            suite.tests += cases as usize - 1;
            suite.skipped += cases as usize - 1;
        }
        if let Some(element) = self.further() {
            suite.add_test_case(element);
            let LeftOut { skipped, failures, errors } = self.left_out;
            // Its own element counts as one of them.
            suite.tests += skipped + failures + errors - 1;
            suite.skipped += skipped - usize::from(errors + failures == 0);
            suite.failures += failures - usize::from(errors == 0 && failures > 0);
            suite.errors += errors - usize::from(errors > 0);
        }
        suite.add_test_cases(self.findings);
        suite
    }

    /// The element that says how much is left out, and where it is.
    fn further(&self) -> Option<TestCase> {
        let LeftOut { skipped, failures, errors } = self.left_out;
        let mut status = match (errors, failures, skipped) {
            (0, 0, 0) => return None,
            (0, 0, _) => TestCaseStatus::skipped(),
            (0, ..) => TestCaseStatus::non_success(NonSuccessKind::Failure),
            _ => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        let number = counted((skipped + failures + errors) as u64, "further finding");
        status.set_message(format!("{number}: {ELSEWHERE}")).set_type("left out");
        Some(self.element("left out".to_owned(), status))
    }

    fn element(&self, name: String, status: TestCaseStatus) -> TestCase {
        let mut case = TestCase::new(name, status);
        case.set_classname(self.name.as_str());
        case
    }
}

/// In place of reasons for which there is no room.
const FURTHER: &str = "for further reasons, which are in report.json";
/// Where findings are that have no element.
const ELSEWHERE: &str = "this file would be too large with them; all are in report.json and report.html";

/// Bytes of an element at most.
fn bytes(case: &TestCase) -> usize {
    let of = |text: &Option<XmlString>| text.as_ref().map_or(0, |text| escaped(text.as_str()));
    let status = match &case.status {
        TestCaseStatus::Success { .. } => 0,
        TestCaseStatus::NonSuccess { message, ty, description, .. }
        | TestCaseStatus::Skipped { message, ty, description, .. } => of(message) + of(ty) + of(description),
    };
    TAGS + escaped(case.name.as_str()) + of(&case.classname) + status
}

/// Bytes of a text in XML at most: a letter that must be escaped takes six.
fn escaped(text: &str) -> usize {
    let special = |letter: char| matches!(letter, '&' | '<' | '>' | '"' | '\'' | '\n' | '\r' | '\t');
    text.chars().map(|letter| if special(letter) { 6 } else { letter.len_utf8() }).sum()
}
