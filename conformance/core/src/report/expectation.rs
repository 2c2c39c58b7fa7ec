//! Deviations that are known beforehand: which findings of which backend are waived, and when a waiver itself is a
//! finding.
//!
//! ```text
//!                         the case shows it     another finding     passes                     did not run
//! in force                waived                finding             unexpected pass (finding)  nothing
//! expired (finding)       finding               finding             nothing                    nothing
//! no case matched         stale (finding), unless less than the tier's plan was run
//! ```
//! An entry that `occurs = "sometimes"` may pass on some of its cases, but not on all of them.

use super::model::{CaseRecord, Plan, Report};
use super::verdict::{Defect, VerdictKind, VerdictRecord};
use serde::{Deserialize, Serialize};
use std::fmt;
use wildmatch::WildMatch;

/// One known deviation of one backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// File name and place of the entry in it ("sprs.toml entry 2").
    pub from: String,
    /// Name of the backend.
    pub backend: String,
    /// Pattern of case lines; `*` stands for any text, `?` for any letter. Absent: every case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Pattern of contract names. Absent: every contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The finding that is expected.
    pub verdict: Expected,
    /// What is wrong, for a wrong result. Absent: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defect: Option<Defect>,
    /// Whether every case shows it.
    #[serde(default)]
    pub occurs: Occurs,
    /// The smallest tier that has such cases.
    #[serde(default)]
    pub tier: Since,
    /// Why it is no news.
    pub reason: String,
    /// Where it is discussed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Last day on which it holds ("2027-01-31").
    pub expires: String,
    /// True if that day had passed when the run started.
    #[serde(default)]
    pub expired: bool,
}

/// Verdicts that can be expected: the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "documented at `VerdictRecord`")]
pub enum Expected {
    Wrong,
    LoneRefusal,
    LoneAcceptance,
    Crashed,
    TimedOut,
}

/// How often an expected finding occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Occurs {
    /// On every case that matches: one that passes is a finding.
    #[default]
    Always,
    /// On at least one of the cases that match.
    Sometimes,
}

/// The smallest tier in which cases match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "named as the tiers of a plan")]
pub enum Since {
    #[default]
    Quick,
    Full,
    Extensive,
}

impl Expected {
    /// The verdict.
    #[must_use]
    pub const fn kind(self) -> VerdictKind {
        match self {
            Expected::Wrong => VerdictKind::Wrong,
            Expected::LoneRefusal => VerdictKind::LoneRefusal,
            Expected::LoneAcceptance => VerdictKind::LoneAcceptance,
            Expected::Crashed => VerdictKind::Crashed,
            Expected::TimedOut => VerdictKind::TimedOut,
        }
    }
}

impl Since {
    /// True if a plan of this tier has the cases. A tier that is not known has them all.
    fn is_in(self, tier: &str) -> bool {
        match tier {
            "quick" => self <= Since::Quick,
            "full" => self <= Since::Full,
            _ => true,
        }
    }
}

impl Expectation {
    /// The entry in a line, for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let defect = self.defect.map(|d| format!(" {d}")).unwrap_or_default();
        let pattern: Vec<String> = [("contract", &self.contract), ("case", &self.case)]
            .into_iter()
            .filter_map(|(name, pattern)| Some(format!(" {name} {}", pattern.as_ref()?)))
            .collect();
        format!(
            "{}: {}{defect} on {}{}",
            self.from,
            self.verdict.kind().label(),
            self.backend,
            pattern.concat()
        )
    }

    fn allows(&self, verdict: &VerdictRecord) -> bool {
        let found = verdict.mismatch().map(|mismatch| mismatch.what);
        let defect = self.defect.is_none_or(|defect| found == Some(defect));
        verdict.kind() == self.verdict.kind() && defect
    }
}

/// Expectations with their patterns ready to be matched.
#[derive(Debug)]
pub struct Waivers<'a> {
    entries: Vec<Entry<'a>>,
}

#[derive(Debug)]
struct Entry<'a> {
    expectation: &'a Expectation,
    case: Option<WildMatch>,
    contract: Option<WildMatch>,
}

impl<'a> Waivers<'a> {
    /// Makes the patterns ready.
    #[must_use]
    pub fn new(expectations: &'a [Expectation]) -> Waivers<'a> {
        let pattern = |text: &Option<String>| text.as_deref().map(WildMatch::new);
        let entry = |expectation: &'a Expectation| Entry {
            expectation,
            case: pattern(&expectation.case),
            contract: pattern(&expectation.contract),
        };
        Waivers { entries: expectations.iter().map(entry).collect() }
    }

    /// The entries in force or not that speak of this case and backend, by number.
    fn about(&self, record: &CaseRecord) -> impl Iterator<Item = (usize, &'a Expectation)> {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| {
                let fits = |pattern: &Option<WildMatch>, text: &str| {
                    pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
                };
                entry.expectation.backend == record.backend
                    && fits(&entry.contract, &record.contract)
                    && fits(&entry.case, &record.case)
            })
            .map(|(number, entry)| (number, entry.expectation))
    }

    /// The first entry in force that allows the record's verdict.
    #[must_use]
    pub fn waiver(&self, record: &CaseRecord) -> Option<usize> {
        if self.entries.is_empty() || !record.verdict.is_finding() {
            return None;
        }
        self.about(record).find(|(_, e)| !e.expired && e.allows(&record.verdict)).map(|(number, _)| number)
    }
}

/// What a run showed of one expectation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that match and were run.
    pub ran: u64,
    /// Those that showed it.
    pub occurred: u64,
    /// Those that passed.
    pub passed: u64,
    /// Index of the first case that passed.
    pub first_passed: Option<usize>,
}

/// What became of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It occurred as said, or nothing speaks against it.
    Met,
    /// Its last day has passed.
    Expired,
    /// Cases pass that should not; the index of the first.
    UnexpectedPass(usize),
    /// It matches no case that was run.
    Stale,
    /// It says nothing about this run, for this reason.
    Undecided(&'static str),
}

impl fmt::Display for Became {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Became::Met => "as expected",
            Became::Expired => "expired",
            Became::UnexpectedPass(_) => "unexpected pass",
            Became::Stale => "matches no case that was run",
            Became::Undecided(why) => why,
        })
    }
}

impl Report {
    /// What this run showed of each expectation, in their order.
    #[must_use]
    pub fn tallies(&self) -> Vec<Tally> {
        let mut tallies = vec![Tally::default(); self.expectations.len()];
        if tallies.is_empty() {
            return tallies;
        }
        let waivers = Waivers::new(&self.expectations);
        for (index, record) in self.cases.iter().enumerate().filter(|(_, c)| c.verdict.kind().ran()) {
            for (number, expectation) in waivers.about(record) {
                let tally = &mut tallies[number];
                tally.ran += 1;
                tally.occurred += u64::from(expectation.allows(&record.verdict));
                if !record.verdict.is_finding() {
                    tally.passed += 1;
                    tally.first_passed.get_or_insert(index);
                }
            }
        }
        tallies
    }

    /// What became of each expectation, in their order.
    #[must_use]
    pub fn outcomes(&self) -> Vec<Became> {
        let tallies = self.tallies();
        self.expectations
            .iter()
            .zip(tallies)
            .map(|(expectation, tally)| self.became(expectation, &tally))
            .collect()
    }

    fn became(&self, expectation: &Expectation, tally: &Tally) -> Became {
        let judged = self.backends.iter().any(|b| b.name == expectation.backend);
        let partial = less_than_the_plan(&self.plan, expectation);
        match (tally.first_passed, expectation.occurs) {
            _ if !judged => Became::Undecided("its backend is not in this run"),
            _ if expectation.expired => Became::Expired,
            (Some(first), Occurs::Always) => Became::UnexpectedPass(first),
            _ if tally.occurred > 0 => Became::Met,
            // It showed another finding throughout: that one is reported.
            (None, _) if tally.ran > 0 => Became::Met,
            _ if partial.is_some() => Became::Undecided(partial.unwrap_or_default()),
            (Some(first), Occurs::Sometimes) => Became::UnexpectedPass(first),
            (None, _) => Became::Stale,
        }
    }
}

/// Why a run need not have met an expectation.
fn less_than_the_plan(plan: &Plan, expectation: &Expectation) -> Option<&'static str> {
    if plan.shard.is_some() {
        Some("a shard has a part of the cases only")
    } else if plan.filtered {
        Some("the run was filtered")
    } else if !expectation.tier.is_in(&plan.tier) {
        Some("its cases are in a larger tier")
    } else {
        None
    }
}
