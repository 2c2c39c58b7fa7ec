//! One bug against the cases of a plan: judged until the first finding, beside its control.
//!
//! ```text
//! plan -> (hash of the case line) order -> those the bug concerns -> bug: finding?   control: silent?
//! ```
//!
//! The order depends on the lines alone, so a hunt repeats exactly, on any number of threads.

use super::bug::{Bug, Symptom};
use super::seeded::Seeded;
use crate::backend::{Backend, Portable};
use crate::case::Case;
use crate::origin::Loaded;
use crate::plan::{Group, Options, plan};
use crate::report::{CaseRecord, Defect, Tier, VerdictRecord};
use crate::runner::run_case;
use sparse_oracle::contract::Contract;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

/// A plan in hunting order, its matrices made when first needed.
#[derive(Debug)]
pub struct Ground {
    groups: Vec<Group>,
    loaded: Vec<OnceLock<Option<Arc<Loaded>>>>,
    /// Group and number of each case.
    order: Vec<(usize, usize)>,
}

impl Ground {
    /// The plan of these options for a backend that takes everything.
    #[must_use]
    pub fn new(options: &Options) -> Ground {
        let groups = plan(options, &[&Portable]).groups;
        Ground::of(groups)
    }

    /// These cases.
    #[must_use]
    pub fn of(groups: Vec<Group>) -> Ground {
        let mut order: Vec<(u64, String, usize, usize)> = Vec::new();
        for (g, group) in groups.iter().enumerate() {
            for (k, case) in group.cases.iter().enumerate() {
                let line = case.to_string();
                order.push((xxh3_64(line.as_bytes()), line, g, k));
            }
        }
        order.sort();
        Ground {
            loaded: groups.iter().map(|_| OnceLock::new()).collect(),
            order: order.into_iter().map(|(_, _, g, k)| (g, k)).collect(),
            groups,
        }
    }

    /// The cases for which `concerns` holds, with their matrices. A matrix that cannot be made is left out: the run itself
    /// reports it.
    pub fn cases(&self, concerns: fn(&Case) -> bool) -> impl Iterator<Item = (&Case, Arc<Loaded>)> {
        let chosen = self.order.iter().map(|&(g, k)| (g, &self.groups[g].cases[k]));
        chosen
            .filter(move |(_, case)| concerns(case))
            .filter_map(|(g, case)| {
                let load = || self.groups[g].origin.load().ok().map(Arc::new);
                Some((case, self.loaded[g].get_or_init(load).clone()?))
            })
    }

    /// The chosen cases of a contract with their matrices, small ones first. A matrix that cannot be made is left out.
    pub fn in_order_of_cost(
        &self,
        chosen: impl Fn(&Case) -> bool,
        contract: Contract,
    ) -> Vec<(&Case, Arc<Loaded>)> {
        let of_contract = self.order.iter().map(|&(g, k)| (g, &self.groups[g].cases[k]));
        let mine = of_contract.filter(|(_, case)| case.contract == contract && chosen(case));
        let mut cases: Vec<(&Case, Arc<Loaded>)> = mine
            .filter_map(|(g, case)| {
                let load = || self.groups[g].origin.load().ok().map(Arc::new);
                Some((case, self.loaded[g].get_or_init(load).clone()?))
            })
            .collect();
        // Stable: cases that cost the same stay in hunting order.
        cases.sort_by_key(|(case, loaded)| (loaded.coo.rows + loaded.coo.nnz()) * (1 + case.params.n));
        cases
    }

    /// Number of cases.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// What ended a hunt.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    /// What the finding is called.
    pub symptom: Symptom,
    /// The tier that decided, where values were judged.
    pub tier: Option<Tier>,
    /// The declared bits (T2) were compared there, too: a stronger statement may have spoken first.
    pub by_bits: bool,
    /// The case.
    pub case: String,
}

/// The outcome for one bug.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The bug.
    pub bug: &'static Bug,
    /// The first finding; `None` for a survivor.
    pub kill: Option<Kill>,
    /// Cases judged, that of the kill included.
    pub judged: usize,
    /// Cases judged on the control.
    pub controlled: usize,
    /// Findings about the control: each a false alarm.
    pub alarms: Vec<String>,
}

impl Hunt {
    /// True where it was found, and the finding is called what it may be called.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.kill
            .as_ref()
            .is_some_and(|kill| self.bug.right.contains(&kill.symptom))
    }
}

/// Cases on which a control is judged at least, as far as the plan has them.
const CONTROLLED: usize = 12;

/// Hunts one bug; `loosely`, as a backend that declares no order of additions.
#[must_use]
pub fn hunt(bug: &'static Bug, ground: &Ground, loosely: bool) -> Hunt {
    let (sick, control) = (Seeded::sick(bug), Seeded::control(bug));
    let pair: [Box<dyn Backend>; 2] = if loosely {
        [Box::new(sick.loosely()), Box::new(control.loosely())]
    } else {
        [Box::new(sick), Box::new(control)]
    };
    let mut hunt = Hunt {
        bug,
        kill: None,
        judged: 0,
        controlled: 0,
        alarms: Vec::new(),
    };
    for (case, loaded) in ground.cases(bug.concerns) {
        let killed = hunt.kill.is_some();
        // After the kill only the control goes on.
        let asked = if killed { &pair[1..] } else { &pair[..] };
        let mut records = run_case(case, &loaded, asked).records;
        let control = records.pop().map(|record| record.verdict);
        if let Some(verdict) = control.filter(|verdict| verdict.kind().ran()) {
            hunt.controlled += 1;
            if verdict.is_finding() {
                hunt.alarms.push(format!("{case}: {verdict}"));
            }
        }
        if let Some(record) = records.pop() {
            hunt.look(case, &record);
        }
        if hunt.kill.is_some() && hunt.controlled >= CONTROLLED {
            break;
        }
    }
    hunt
}

impl Hunt {
    fn look(&mut self, case: &Case, record: &CaseRecord) {
        let verdict = &record.verdict;
        if !verdict.kind().ran() {
            return;
        }
        self.judged += 1;
        self.kill = Symptom::of(verdict).map(|symptom| Kill {
            symptom,
            tier: deciding_tier(verdict),
            by_bits: deciding_tier(verdict).is_some() && record.tiers.contains(&Tier::T2),
            case: case.to_string(),
        });
    }
}

/// True where one of these cases shows the bug as what it is; `loosely`, in a backend that declares no order of additions.
#[must_use]
pub fn shown_by(bug: &'static Bug, cases: &[(&Case, Arc<Loaded>)], loosely: bool) -> bool {
    let sick = Seeded::sick(bug);
    let subject: [Box<dyn Backend>; 1] = [Box::new(if loosely { sick.loosely() } else { sick })];
    let concerned = cases.iter().filter(|(case, _)| (bug.concerns)(case));
    for (case, loaded) in concerned {
        let records = run_case(case, loaded, &subject).records.into_iter();
        let mut found = records.filter_map(|record| Symptom::of(&record.verdict));
        if found.any(|symptom| bug.right.contains(&symptom)) {
            return true;
        }
    }
    false
}

/// The tier of a mismatch of values; other defects are not about rounding, and moved bits about no tier.
fn deciding_tier(verdict: &VerdictRecord) -> Option<Tier> {
    match verdict {
        VerdictRecord::Wrong(m) if m.what == Defect::Value && m.message.starts_with("element") => {
            Some(m.tier)
        }
        _ => None,
    }
}
