//! The outcome of a self-test as data: every row with what killed it, and the score that reports publish.

use super::SUITE_VERSION;
use super::bug::Bug;
use super::comparator::{self, Misjudged};
use super::hunt::{CONTROLLED, Hunt, HuntPlan, HuntTold, hunt};
use super::schedules;
use serde::{Deserialize, Serialize};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::plan::{self, Options};
use sparse_conformance_core::report::Criterion;
use std::fmt;

/// What a report says about the suite that wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KillScore {
    /// Seeded bugs, schedules and comparators that were caught.
    pub killed: u64,
    /// All of them.
    pub total: u64,
    /// Criterion of the hunt.
    pub tier: String,
    /// Seed of its plan.
    #[serde(default)]
    pub seed: u64,
    /// Contracts whose cases were hunted over, where not all were; there are no schedules and comparators then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<String>,
    /// Version of the suite.
    pub suite_version: String,
}

impl fmt::Display for KillScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} killed ({}, seed {}, suite {})",
            self.killed, self.total, self.tier, self.seed, self.suite_version
        )?;
        if !self.contracts.is_empty() {
            write!(f, " over {} alone", self.contracts.join(", "))?;
        }
        Ok(())
    }
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// A backend with a bug.
    Backend,
    /// A schedule with a bug.
    Schedule,
    /// A comparator with a bug.
    Comparator,
}

/// How a hunt ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fate {
    /// What the finding was called; for comparators, what was misjudged. `None` for a survivor.
    pub killed_by: Option<String>,
    /// Criterion of the judgement, where values decided.
    pub tier: Option<Criterion>,
    /// Cases (inputs, probes) judged, that of the kill included.
    pub judged: u64,
    /// The case, input or probe of the kill.
    pub at: Option<String>,
    /// True where the finding is not called what it may be called.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub misnamed: bool,
}

/// One seeded bug and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub sort: RowKind,
    /// Name.
    pub name: String,
    /// What it is about.
    pub family: String,
    /// What its author did.
    pub story: String,
    /// The smallest tier that must catch it.
    pub due: String,
    /// What became of it as it declares itself: with the bits of a chain.
    pub fate: Fate,
    /// What became of it declaring sums in any order, where T2 decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loosely: Option<Fate>,
    /// True where only declared bits can show it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bits_only: bool,
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

impl Fate {
    /// True for what was caught, and for what it is.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.killed_by.is_some() && !self.misnamed
    }
}

impl Row {
    /// True for a bug that was caught, whatever it declares; one that only bits show need not be where it declares none.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.fate.is_killed() && self.loosely.as_ref().is_none_or(Fate::is_killed)
    }
}

/// Runs the self-test over the plan of these options: rows whose name contains `only`, or all. Where the options select contracts, it is
/// about the bugs of backends that concern their cases.
#[must_use]
pub fn run(options: &Options, only: Option<&str>, told: HuntTold<'_>) -> Scorecard {
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let ground = HuntPlan::new(options);
    let whole = !options.are_filtered();
    let concerned = |bug: &Bug| whole || ground.concerns(bug);
    let bugs = super::bugs().filter(|bug| wanted(bug.name) && concerned(bug));
    let hunted = both_ways(bugs.collect(), &ground, options.tier, told);
    let controls = hunted.iter().map(|h| h.controlled).sum();
    let mut false_alarms: Vec<String> = hunted.iter().flat_map(|h| h.alarms.clone()).collect();
    let mut rows: Vec<Row> = hunted.into_iter().map(|h| h.row).collect();
    if whole {
        rows.extend(schedules::ALL.iter().filter(|s| wanted(s.name)).map(schedule_row));
        let probes = comparator::probes();
        let comparators = comparator::ALL.iter().filter(|c| wanted(c.name));
        rows.extend(comparators.map(|c| comparator_row(c, &probes)));
        if only.is_none() {
            let wrong = probes.iter().filter_map(super::comparator::Probe::misjudged_by_the_suite);
            false_alarms
                .extend(wrong.map(|Misjudged { probe, said }| format!("our own judge on {probe:?}: {said}")));
        }
    }
    let killed = rows.iter().filter(|row| row.is_killed()).count() as u64;
    let score = KillScore {
        killed,
        total: rows.len() as u64,
        tier: options.tier.name().to_owned(),
        seed: options.seed,
        contracts: options.contracts.clone(),
        suite_version: SUITE_VERSION.to_owned(),
    };
    Scorecard { score, rows, controls, false_alarms }
}

struct Hunted {
    row: Row,
    controlled: u64,
    alarms: Vec<String>,
}

/// Bugs as they declare themselves, and where T2 had its say, once more without an order of additions.
fn both_ways(
    bugs: Vec<&'static Bug>,
    ground: &HuntPlan,
    tier: plan::Tier,
    told: HuntTold<'_>,
) -> Vec<Hunted> {
    let over = |bugs: Vec<&'static Bug>, loosely: bool| {
        let concerned = |case: &Case| bugs.iter().any(|bug| (bug.concerns)(case));
        let cases = ground.cases(concerned);
        hunt(bugs.iter().copied(), cases, tier, loosely, CONTROLLED, told)
    };
    let strict = over(bugs, false);
    let by_bits = |hunt: &&Hunt| hunt.kill.as_ref().is_some_and(|kill| kill.by_bits) && !hunt.bug.bits_only;
    let again: Vec<&'static Bug> = strict.iter().filter(by_bits).map(|hunt| hunt.bug).collect();
    let mut loosely = over(again, true).into_iter().peekable();
    let both = |strict: Hunt| {
        let loose = loosely.next_if(|loose| loose.bug.name == strict.bug.name);
        hunted(&strict, loose.as_ref())
    };
    strict.into_iter().map(both).collect()
}

fn hunted(strict: &Hunt, loosely: Option<&Hunt>) -> Hunted {
    let bug = strict.bug;
    let row = Row {
        sort: RowKind::Backend,
        name: bug.name.to_owned(),
        family: bug.family.name().to_owned(),
        story: bug.story.to_owned(),
        due: bug.killed_in.name().to_owned(),
        fate: fate_of(strict),
        loosely: loosely.map(fate_of),
        bits_only: bug.bits_only,
    };
    let hunts = || std::iter::once(strict).chain(loosely);
    let alarm = |text: &String| format!("control of {:?}: {text}", bug.name);
    Hunted {
        row,
        controlled: hunts().map(|h| h.controlled as u64).sum(),
        alarms: hunts().flat_map(|h| h.alarms.iter().map(alarm)).collect(),
    }
}

fn fate_of(hunt: &Hunt) -> Fate {
    Fate {
        killed_by: hunt.kill.as_ref().map(|kill| kill.symptom.to_string()),
        tier: hunt.kill.as_ref().and_then(|kill| kill.tier),
        judged: hunt.judged as u64,
        at: hunt.kill.as_ref().map(|kill| kill.case.clone()),
        misnamed: hunt.kill.is_some() && !hunt.is_killed(),
    }
}

fn schedule_row(schedule: &schedules::Schedule) -> Row {
    let (judged, found) = (schedule.hunt)();
    let killed_by = found.as_ref().map(|_| "another schedule".to_owned());
    plain_row(
        RowKind::Schedule,
        "schedules",
        (schedule.name, schedule.story),
        Fate { killed_by, judged, at: found, ..Fate::default() },
    )
}

fn comparator_row(comparator: &comparator::Comparator, probes: &[comparator::Probe]) -> Row {
    let (judged, found) = comparator.hunt(probes);
    let killed_by = found.as_ref().map(|m| m.said.clone());
    plain_row(
        RowKind::Comparator,
        "comparators",
        (comparator.name, comparator.story),
        Fate { killed_by, judged, at: found.map(|m| m.probe), ..Fate::default() },
    )
}

/// A row that is due in every tier and declares nothing.
fn plain_row(sort: RowKind, family: &str, (name, story): (&str, &str), fate: Fate) -> Row {
    Row {
        sort,
        name: name.to_owned(),
        family: family.to_owned(),
        story: story.to_owned(),
        due: plan::Tier::Quick.name().to_owned(),
        fate,
        loosely: None,
        bits_only: false,
    }
}

impl Scorecard {
    /// Rows that this tier had to catch and did not.
    pub fn missed(&self) -> impl Iterator<Item = &Row> {
        let here = plan::Tier::from_name(&self.score.tier);
        self.rows.iter().filter(move |row| !row.is_killed() && plan::Tier::from_name(&row.due) <= here)
    }

    /// Rows that only a larger tier has to catch, and that are hunted there.
    pub fn left_for_later(&self) -> impl Iterator<Item = &Row> {
        let missed: Vec<&str> = self.missed().map(|row| row.name.as_str()).collect();
        self.rows.iter().filter(move |row| !row.is_killed() && !missed.contains(&row.name.as_str()))
    }

    /// True where all that had to be caught was, and nothing honest was accused.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.missed().next().is_none() && self.false_alarms.is_empty()
    }
}
