//! Why a run is not clean: findings, found in the cases rather than believed, and their words.

use super::expectation::{Became, Waivers};
use super::model::{Backend, CaseRecord, Report};
use super::show::{count, counted, percent};
use super::summary::Counts;
use super::verdict::{VerdictKind, details};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::xxh3_128;

/// One in so many cases of a backend may be waived.
const WAIVED_AT_MOST: u64 = 5;

/// Why a run is not clean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Finding {
    /// A case whose verdict is a finding.
    Case {
        /// Index into [`Report::cases`].
        index: usize,
    },
    /// A required backend ran no case.
    IdleBackend {
        /// Its name.
        backend: String,
    },
    /// Expectations waive more than a fifth of what a backend ran.
    MostlyWaived {
        /// Its name.
        backend: String,
        /// Cases that are waived.
        waived: u64,
        /// Cases that it ran, these among them.
        ran: u64,
    },
    /// Cases pass that an expectation says fail.
    UnexpectedPass {
        /// Index into [`Report::expectations`].
        expectation: usize,
        /// Index of the first such case.
        index: usize,
        /// How many there are.
        cases: u64,
    },
    /// The last day of an expectation has passed.
    ExpiredExpectation {
        /// Index into [`Report::expectations`].
        expectation: usize,
    },
    /// An expectation matches no case that was run.
    StaleExpectation {
        /// Index into [`Report::expectations`].
        expectation: usize,
    },
}

/// A finding in words, for every writer alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Described<'a> {
    /// Machine name of the rule that was broken ("wrong-value", "idle-backend").
    pub rule: String,
    /// The backend.
    pub backend: &'a str,
    /// The case line or the expectation that it is about, of which this rule and backend have one finding. Empty: the whole run.
    pub subject: String,
    /// What happened.
    pub message: String,
    /// The case, or the first of them, if there is one.
    pub record: Option<&'a CaseRecord>,
    /// The command that runs the case again.
    pub replay: Option<String>,
    /// Facts beside the message, such as both values.
    pub details: Vec<(&'static str, String)>,
}

impl Described<'_> {
    /// 32 hex digits: the same finding of two runs has the same ones, whatever the values were.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let key = format!("{}\n{}\n{}", self.rule, self.backend, self.subject);
        format!("{:032x}", xxh3_128(key.as_bytes()))
    }
}

impl CaseRecord {
    /// Machine name of its verdict, with the defect ("wrong-value", "timed-out").
    #[must_use]
    pub fn rule(&self) -> String {
        match self.verdict.mismatch() {
            Some(m) => format!("wrong-{}", m.what),
            None => self.verdict.kind().label().replace(' ', "-"),
        }
    }
}

impl Report {
    /// What makes this run fail: findings of cases by index, idle backends, then findings of expectations. A shard may
    /// leave a backend without a case, which is none.
    #[must_use]
    pub fn find(&self) -> Vec<Finding> {
        let cases = self.cases.iter().enumerate().filter(|(_, c)| c.is_finding());
        let ran = |name: &str| self.cases.iter().any(|c| c.backend == name && c.verdict.kind().ran());
        let due = self.plan.shard.is_none();
        let idle = self.backends.iter().filter(|b| due && b.required && !ran(&b.name));
        let idle = idle.map(|b| Finding::IdleBackend { backend: b.name.clone() });
        cases
            .map(|(index, _)| Finding::Case { index })
            .chain(idle)
            .chain(self.mostly_waived())
            .chain(self.broken_expectations())
            .collect()
    }

    /// Backends whose findings are waived on more than a fifth of what they ran: a kernel of zeros must not be clean. A shard is too
    /// small to say so.
    fn mostly_waived(&self) -> Vec<Finding> {
        let mut counts: HashMap<&str, Counts> = HashMap::new();
        self.cases.iter().for_each(|case| counts.entry(&case.backend).or_default().add(case.kind()));
        let of = |b: &Backend| {
            let counts = counts.get(b.name.as_str())?;
            let (waived, ran) = (counts.get(VerdictKind::Waived), counts.ran());
            let finding = Finding::MostlyWaived { backend: b.name.clone(), waived, ran };
            (waived * WAIVED_AT_MOST > ran && self.plan.shard.is_none()).then_some(finding)
        };
        self.backends.iter().filter_map(of).collect()
    }

    fn broken_expectations(&self) -> Vec<Finding> {
        let tallies = self.tallies();
        let finding = |(expectation, outcome)| match outcome {
            Became::Met | Became::Undecided(_) => None,
            Became::Expired => Some(Finding::ExpiredExpectation { expectation }),
            Became::Stale => Some(Finding::StaleExpectation { expectation }),
            Became::UnexpectedPass(index) => {
                Some(Finding::UnexpectedPass { expectation, index, cases: tallies[expectation].passed })
            }
        };
        self.outcomes().into_iter().enumerate().filter_map(finding).collect()
    }

    /// Marks the records that an expectation waives.
    pub(super) fn waive(&mut self) {
        let waivers = Waivers::new(&self.expectations);
        for record in &mut self.cases {
            record.waived = waivers.waiver(record);
        }
    }

    /// The records behind the findings, in order.
    pub fn failures(&self) -> impl Iterator<Item = &CaseRecord> {
        self.cases.iter().filter(|c| c.is_finding())
    }

    /// The records that an expectation waives, in order.
    pub fn waived(&self) -> impl Iterator<Item = &CaseRecord> {
        self.cases.iter().filter(|c| c.waived.is_some())
    }

    /// Why a backend ran no case, as its records say it.
    fn why_idle(&self, backend: &str) -> String {
        let mut said: BTreeMap<String, u64> = BTreeMap::new();
        for record in self.cases.iter().filter(|record| record.backend == backend) {
            *said.entry(record.verdict.to_string()).or_default() += 1;
        }
        let all: u64 = said.values().sum();
        match said.into_iter().max_by_key(|(_, times)| *times) {
            None => ": no case of a contract that it supports was planned".to_owned(),
            Some((words, times)) if times == all => format!(", of {}: {words}", counted(all, "case")),
            Some((words, _)) => format!(", of {}; for example {words}", counted(all, "case")),
        }
    }

    /// A finding of this report in words.
    ///
    /// # Panics
    /// If the finding is one of another report.
    #[must_use]
    pub fn describe<'a>(&'a self, finding: &'a Finding) -> Described<'a> {
        let replay = |record: &CaseRecord| self.replay(record);
        let of_expectation = |rule: &str, number: usize, what: String, record: Option<&'a CaseRecord>| {
            let expectation = &self.expectations[number];
            let summary = expectation.summary();
            Described {
                rule: rule.to_owned(),
                backend: &expectation.backend,
                message: format!("{what} ({summary})"),
                subject: summary,
                record,
                replay: record.map(replay),
                details: vec![("reason", expectation.reason.clone())],
            }
        };
        match finding {
            Finding::Case { index } => {
                let record = &self.cases[*index];
                Described {
                    rule: record.rule(),
                    backend: &record.backend,
                    subject: record.case.clone(),
                    message: record.verdict.to_string(),
                    record: Some(record),
                    replay: Some(replay(record)),
                    details: details(&record.verdict),
                }
            }
            Finding::IdleBackend { backend } => Described {
                rule: "idle-backend".to_owned(),
                backend,
                subject: String::new(),
                message: format!("required backend {backend} ran no case{}", self.why_idle(backend)),
                record: None,
                replay: None,
                details: Vec::new(),
            },
            Finding::MostlyWaived { backend, waived, ran } => Described {
                rule: "mostly-waived".to_owned(),
                backend,
                subject: String::new(),
                message: format!(
                    "{} of {} that {backend} ran are waived, {}; above 20 % a run is not clean",
                    count(*waived),
                    counted(*ran, "case"),
                    percent(*waived, *ran)
                ),
                record: None,
                replay: None,
                details: Vec::new(),
            },
            Finding::UnexpectedPass { expectation, index, cases } => {
                let passes = if *cases == 1 { "passes" } else { "pass" };
                let what = format!(
                    "{} {passes} that fail by this entry: take it out if that was mended, else narrow `case` or say `occurs = \"sometimes\"`",
                    counted(*cases, "case")
                );
                of_expectation("unexpected-pass", *expectation, what, Some(&self.cases[*index]))
            }
            Finding::ExpiredExpectation { expectation } => {
                let what = format!("expired on {}", self.expectations[*expectation].expires);
                of_expectation("expired-expectation", *expectation, what, None)
            }
            Finding::StaleExpectation { expectation } => of_expectation(
                "stale-expectation",
                *expectation,
                "the entry matches no case that was run".to_owned(),
                None,
            ),
        }
    }
}
