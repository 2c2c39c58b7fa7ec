//! The outcome of a self-test as data: every row with what killed it, and the score that reports publish.

use super::SUITE_VERSION;
use super::comparator::{self, Misjudged};
use super::hunt::{Ground, Hunt, hunt};
use super::schedules;
use crate::plan::{self, Options};
use crate::report::Tier;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a report says about the suite that wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillScore {
    /// Seeded bugs, schedules and comparators that were caught.
    pub killed: u64,
    /// All of them.
    pub total: u64,
    /// Tier of the hunt.
    pub tier: String,
    /// Version of the suite.
    pub suite_version: String,
}

impl KillScore {
    /// The score of the quick tier that is checked in with this version (`conformance/selftest/score.json`; a test and CI hold it to
    /// what the command finds). `None` if that file is not a scorecard.
    #[must_use]
    pub fn published() -> Option<KillScore> {
        #[derive(Deserialize)]
        struct Head {
            score: KillScore,
        }
        let head: Head = serde_json::from_str(include_str!("../../selftest/score.json")).ok()?;
        Some(head.score)
    }
}

impl fmt::Display for KillScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} killed ({}, suite {})",
            self.killed, self.total, self.tier, self.suite_version
        )
    }
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// A backend with a bug.
    Backend,
    /// A schedule with a bug.
    Schedule,
    /// A comparator with a bug.
    Comparator,
}

/// One seeded bug and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub sort: Sort,
    /// Name.
    pub name: String,
    /// What it is about.
    pub family: String,
    /// What its author did.
    pub story: String,
    /// The smallest tier that must catch it.
    pub due: String,
    /// What the finding was called; for comparators, the probe that was misjudged. `None` for a survivor.
    pub killed_by: Option<String>,
    /// Tier of the judgement, where values decided.
    pub tier: Option<Tier>,
    /// Cases (inputs, probes) judged, that of the kill included.
    pub judged: u64,
    /// The case, input or probe of the kill.
    pub at: Option<String>,
    /// True where the finding is not called what it may be called.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub misnamed: bool,
}

/// A whole self-test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    /// The score.
    pub score: KillScore,
    /// One row per bug, in the order of the catalogue.
    pub rows: Vec<Row>,
    /// Cases judged on the controls.
    pub controls: u64,
    /// Findings about a control, and probes that the suite's own judge misjudged.
    pub false_alarms: Vec<String>,
}

impl Row {
    /// True for a bug that was caught, and for what it is.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.killed_by.is_some() && !self.misnamed
    }
}

/// Name of a tier of the plan.
#[must_use]
pub(super) fn tier_name(tier: plan::Tier) -> &'static str {
    match tier {
        plan::Tier::Quick => "quick",
        plan::Tier::Full => "full",
        plan::Tier::Extensive => "extensive",
    }
}

/// Runs the self-test: rows whose name contains `only`, or all. `told` is called as each is done, from any thread.
#[must_use]
pub fn run(tier: plan::Tier, only: Option<&str>, told: &(dyn Fn(&Row) + Sync)) -> Scorecard {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let bugs: Vec<_> = super::bugs().filter(|bug| wanted(bug.name)).collect();
    let ground = Ground::new(&Options {
        tier,
        ..Options::default()
    });
    let hunts: Vec<Hunt> = bugs
        .par_iter()
        .map(|bug| {
            let hunt = hunt(bug, &ground);
            told(&backend_row(&hunt));
            hunt
        })
        .collect();
    let mut rows: Vec<Row> = hunts.iter().map(backend_row).collect();
    let mut false_alarms: Vec<String> = hunts
        .iter()
        .flat_map(|h| {
            h.alarms
                .iter()
                .map(|a| format!("control of {:?}: {a}", h.bug.name))
        })
        .collect();
    let controls = hunts.iter().map(|h| h.judged as u64).sum();
    rows.extend(schedules::ALL.iter().filter(|s| wanted(s.name)).map(schedule_row));
    let probes = comparator::probes();
    rows.extend(
        comparator::ALL
            .iter()
            .filter(|c| wanted(c.name))
            .map(|c| comparator_row(c, &probes)),
    );
    if only.is_none() {
        let wrong = probes.iter().filter_map(|probe| probe.misjudged_by_the_suite());
        false_alarms
            .extend(wrong.map(|Misjudged { probe, said }| format!("our own judge on {probe:?}: {said}")));
    }
    let killed = rows.iter().filter(|row| row.is_killed()).count() as u64;
    let score = KillScore {
        killed,
        total: rows.len() as u64,
        tier: tier_name(tier).to_owned(),
        suite_version: SUITE_VERSION.to_owned(),
    };
    Scorecard {
        score,
        rows,
        controls,
        false_alarms,
    }
}

fn backend_row(hunt: &Hunt) -> Row {
    Row {
        sort: Sort::Backend,
        name: hunt.bug.name.to_owned(),
        family: hunt.bug.family.name().to_owned(),
        story: hunt.bug.story.to_owned(),
        due: tier_name(hunt.bug.killed_in).to_owned(),
        killed_by: hunt.kill.as_ref().map(|kill| kill.symptom.to_string()),
        tier: hunt.kill.as_ref().and_then(|kill| kill.tier),
        judged: hunt.judged as u64,
        at: hunt.kill.as_ref().map(|kill| kill.case.clone()),
        misnamed: hunt.kill.is_some() && !hunt.is_killed(),
    }
}

fn schedule_row(schedule: &schedules::Schedule) -> Row {
    let (judged, found) = (schedule.hunt)();
    Row {
        sort: Sort::Schedule,
        name: schedule.name.to_owned(),
        family: "schedules".to_owned(),
        story: schedule.story.to_owned(),
        due: tier_name(plan::Tier::Quick).to_owned(),
        killed_by: found.as_ref().map(|_| "another schedule".to_owned()),
        tier: None,
        judged,
        at: found,
        misnamed: false,
    }
}

fn comparator_row(comparator: &comparator::Comparator, probes: &[comparator::Probe]) -> Row {
    let (judged, found) = comparator.hunt(probes);
    Row {
        sort: Sort::Comparator,
        name: comparator.name.to_owned(),
        family: "comparators".to_owned(),
        story: comparator.story.to_owned(),
        due: tier_name(plan::Tier::Quick).to_owned(),
        killed_by: found.as_ref().map(|m| m.said.clone()),
        tier: None,
        judged,
        at: found.map(|m| m.probe),
        misnamed: false,
    }
}

impl Scorecard {
    /// Rows that this tier had to catch and did not.
    pub fn missed(&self) -> impl Iterator<Item = &Row> {
        let rank = |name: &str| ["quick", "full", "extensive"].iter().position(|t| *t == name);
        let here = rank(&self.score.tier);
        self.rows
            .iter()
            .filter(move |row| !row.is_killed() && rank(&row.due) <= here)
    }

    /// Rows that only a larger tier has to catch, and that survived this one.
    pub fn survivors(&self) -> impl Iterator<Item = &Row> {
        let missed: Vec<&str> = self.missed().map(|row| row.name.as_str()).collect();
        self.rows
            .iter()
            .filter(move |row| !row.is_killed() && !missed.contains(&row.name.as_str()))
    }

    /// True where all that had to be caught was, and nothing honest was accused.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.missed().next().is_none() && self.false_alarms.is_empty()
    }
}
