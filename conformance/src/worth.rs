//! What a run is worth, measured: coverage from the case lines that were judged, and a hunt for seeded bugs over these very cases.
//!
//! ```text
//! records -> cases that ran, by backend and contract -> combinations met (plan)        -\
//!                                                    -> each seeded bug that concerns    -> report::Worth
//!                                                       them, until one case shows it  -/
//! ```
//!
//! A backend that claims many contracts has the hunt on one contract of each operation and format, drawn by the seed: kernels of one format
//! differ in the element type only, and the others would cost more than the run. The report says which.

use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::groups::Progress;
use crate::plan::{Demand, Demanded, Group, Tier, measured};
use crate::report::{Report, Seeded, Thin, VerdictKind, Worth};
use crate::selftest::{HuntPlan, bugs};
use rayon::prelude::*;
use sparse_oracle::contract::Contract;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// What is owed to one contract of one backend.
#[derive(Clone, Debug)]
pub(crate) struct Owed {
    backend: String,
    contract: Contract,
    floor: u64,
    tuples: Demanded,
    /// True where no order of additions is declared.
    loose: bool,
    /// True where seeded bugs are hunted on it.
    measured: bool,
}

impl Owed {
    /// What the whole plan of a run owes.
    pub(crate) fn all(
        demands: Vec<Demand>,
        groups: &[Group],
        backends: &[Box<dyn Backend>],
        seed: u64,
    ) -> Vec<Owed> {
        let of_backend = |b: &dyn Backend| measured(b, seed).into_iter().collect();
        let chosen: Vec<HashSet<Contract>> = backends.iter().map(AsRef::as_ref).map(of_backend).collect();
        let mut of_contract: HashMap<Contract, Vec<&Case>> = HashMap::new();
        for case in groups.iter().flat_map(|group| &group.cases) {
            of_contract.entry(case.contract).or_default().push(case);
        }
        let owed = |demand: Demand| {
            let backend = backends[demand.backend].as_ref();
            let cases = of_contract.get(&demand.contract);
            Owed {
                backend: backend.name().to_owned(),
                contract: demand.contract,
                floor: demand.floor,
                tuples: demand.tuples,
                loose: !cases.is_some_and(|cases| fixes_bits(backend, cases)),
                measured: chosen[demand.backend].contains(&demand.contract),
            }
        };
        demands.into_iter().map(owed).collect()
    }

    /// What the shards of a plan were owed, as one of them says; none where its text makes no sense.
    pub(crate) fn of_shard(rows: &[Worth]) -> Option<Vec<Owed>> {
        let owed = |row: &Worth| {
            let contract = Contract::from_name(&row.contract)?;
            let mut tuples = Demanded::of_bits(&contract, row.wanted.as_deref()?)?;
            (tuples.excluded_levels, tuples.excluded_pairs) = (row.excluded.clone(), row.excluded_pairs);
            Some(Owed {
                backend: row.backend.clone(),
                contract,
                floor: row.floor,
                tuples,
                loose: row.loose,
                measured: row.measured,
            })
        };
        rows.iter().map(owed).collect()
    }

    /// Backend and contract.
    pub(crate) fn of(&self) -> (&str, Contract) {
        (&self.backend, self.contract)
    }
}

/// The cases that ran on one contract of one backend.
type Judged<'a> = Vec<&'a Case>;

/// Fills in [`Report::worth`]. The report of a shard gets the coverage only: hunts are for whole plans.
pub(crate) fn measure(report: &mut Report, owed: &[Owed], groups: &[Group], progress: &dyn Progress) {
    let judged = judged(report, groups);
    let none = Vec::new();
    let of = |owed: &Owed| judged.get(&(owed.backend.clone(), owed.contract)).unwrap_or(&none);
    let whole = report.plan.shard.is_none();
    let mut rows: Vec<Worth> = owed.par_iter().map(|owed| coverage(owed, of(owed), whole)).collect();
    if whole {
        // A tier that is not known is a larger one.
        let tier = Tier::from_name(&report.plan.tier).unwrap_or(Tier::Extensive);
        let ended = Ended { over: AtomicUsize::new(0), of: AtomicUsize::new(0), progress };
        hunt(&mut rows, owed, &of, (&HuntPlan::of(groups.to_vec()), tier), &ended);
    }
    drop(judged);
    report.thin = if whole { rows.iter().filter_map(thin).collect() } else { Vec::new() };
    report.worth = rows;
}

/// The planned cases that ran, by backend and contract.
fn judged<'a>(report: &Report, groups: &'a [Group]) -> HashMap<(String, Contract), Judged<'a>> {
    let planned = groups.iter().flat_map(|group| &group.cases);
    let by_line: HashMap<String, &Case> = planned.map(|case| (case.to_string(), case)).collect();
    let mut judged: HashMap<(String, Contract), Judged<'a>> = HashMap::new();
    for record in report.cases.iter().filter(|record| record.verdict.kind().ran()) {
        if let Some(case) = by_line.get(&record.case)
            && !is_declared_refusal(case, record.verdict.kind())
        {
            judged.entry((record.backend.clone(), case.contract)).or_default().push(case);
        }
    }
    judged
}

/// True of a legal request that a backend refused because its profile says so: nothing was computed, and no bug would have shown.
fn is_declared_refusal(case: &Case, verdict: VerdictKind) -> bool {
    let is_legal = case.params.fault.is_none();
    // A conversion may also be refused for parameters that no matrix fits.
    let is_declared = !case.contract.op.is_exact() || case.params.duplicates;
    verdict == VerdictKind::AgreedRefusal && is_legal && is_declared
}

fn thin(row: &Worth) -> Option<Thin> {
    Some(Thin { backend: row.backend.clone(), contract: row.contract.clone(), reason: row.thin()? })
}

fn coverage(owed: &Owed, judged: &[&Case], whole: bool) -> Worth {
    Worth {
        loose: owed.loose,
        measured: owed.measured,
        wanted: (!whole).then(|| owed.tuples.bits()),
        ..owed.tuples.worth((&owed.backend, &owed.contract), owed.floor, judged)
    }
}

/// What is hunted over: the same cases, declared as strictly, have the same outcome for every backend.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hunted {
    contract: String,
    cases: u64,
    loosely: bool,
}

fn hunt<'a>(
    rows: &mut [Worth],
    owed: &[Owed],
    of: &impl Fn(&Owed) -> &'a Judged<'a>,
    (ground, tier): (&HuntPlan, Tier),
    ended: &Ended<'_>,
) {
    let mut work: BTreeMap<Hunted, (Vec<usize>, &Judged<'a>)> = BTreeMap::new();
    for (place, owed) in owed.iter().enumerate() {
        let judged = of(owed);
        if judged.is_empty() || !owed.measured {
            continue;
        }
        let sum = |sum: u64, case: &&Case| sum.wrapping_add(xxh3_64(case.to_string().as_bytes()));
        let key = Hunted {
            contract: owed.contract.to_string(),
            cases: judged.iter().fold(0, sum),
            loosely: owed.loose,
        };
        work.entry(key).or_insert_with(|| (Vec::new(), judged)).0.push(place);
    }
    let results: Vec<(&Vec<usize>, Seeded)> = work
        .par_iter()
        .map(|(key, (places, judged))| (places, seeded(ground, judged, (tier, key.loosely), ended)))
        .collect();
    for (places, seeded) in results {
        places.iter().for_each(|&place| rows[place].seeded = Some(seeded.clone()));
    }
}

/// The hunts of all contracts together.
struct Ended<'a> {
    over: AtomicUsize,
    of: AtomicUsize,
    progress: &'a dyn Progress,
}

impl Ended<'_> {
    /// One contract had so many before, and has so many now.
    fn add(&self, before: (usize, usize), now: (usize, usize)) {
        let add = |to: &AtomicUsize, more: usize| to.fetch_add(more, Ordering::Relaxed) + more;
        self.progress.hunted(add(&self.over, now.0 - before.0), add(&self.of, now.1 - before.1));
    }
}

/// True where the backend declares the very bits of its sums, so that the third tier judges it.
fn fixes_bits(backend: &dyn Backend, cases: &[&Case]) -> bool {
    let declared = cases.iter().find_map(|case| match backend.support(&case.contract, &case.params) {
        Support::Supported { arithmetic, .. } => Some(arithmetic.is_deterministic()),
        Support::Excluded { .. } => None,
    });
    declared.unwrap_or(false)
}

/// Hunts every seeded bug that concerns a case over these cases, the cheap ones first.
fn seeded(ground: &HuntPlan, judged: &[&Case], (tier, loosely): (Tier, bool), ended: &Ended<'_>) -> Seeded {
    let lines: HashSet<String> = judged.iter().map(ToString::to_string).collect();
    let cases = ground.in_order_of_cost(|case| lines.contains(&case.to_string()), judged[0].contract);
    let concerned = bugs()
        .filter(|bug| !(loosely && bug.bits_only))
        .filter(|bug| cases.iter().any(|(case, _)| (bug.concerns)(case)));
    let before = Cell::new((0, 0));
    let told = |over, of| ended.add(before.replace((over, of)), (over, of));
    let fates = crate::selftest::hunt(concerned, cases.iter().cloned(), tier, loosely, 0, &told);
    let escaped = fates.iter().filter(|fate| fate.kill.is_none());
    let missed: Vec<String> = escaped.map(|fate| fate.bug.name.to_owned()).collect();
    Seeded { concern: fates.len() as u64, caught: (fates.len() - missed.len()) as u64, missed }
}
