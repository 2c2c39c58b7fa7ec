//! Seeded bugs, family by family, on a slice of the quick plan: every finding, not only the first, is called what it may be called, and no
//! control is accused. That each is found is what `selftest_score` looks at, over the whole plan.
//!
//! Run with `--nocapture` for the table: bug, first finding, findings by name.

use sparse_conformance::operands::build;
use sparse_conformance::plan::{Options, Tier};
use sparse_conformance::runner::Ready;
use sparse_conformance::selftest::{Bug, Family, HuntPlan, Seeded, Symptom, bugs};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Cases that each bug is given.
const SLICE: usize = 100;

fn ground() -> &'static HuntPlan {
    static GROUND: OnceLock<HuntPlan> = OnceLock::new();
    GROUND.get_or_init(|| HuntPlan::new(&Options::default()))
}

/// One bug on its slice.
struct Sweep {
    bug: &'static Bug,
    pair: [Seeded; 2],
    given: usize,
    first: Option<usize>,
    seen: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl Sweep {
    fn new(bug: &'static Bug) -> Sweep {
        Sweep {
            bug,
            pair: [Seeded::sick(bug), Seeded::control(bug)],
            given: 0,
            first: None,
            seen: BTreeMap::new(),
            complaints: Vec::new(),
        }
    }

    fn is_open(&self) -> bool {
        self.given < SLICE
    }

    fn over(&mut self, ready: &Ready<'_>) {
        self.given += 1;
        let op = ready.case().contract.op;
        let [sick, control] = self.pair.each_ref().map(|seeded| {
            seeded.about(op);
            ready.ask(seeded)
        });
        // A call before the judged one has factors and a mode of its own, and fails in its own way.
        let in_between = sick.in_call.is_some();
        let (sick, control) = (sick.record.verdict, control.record.verdict);
        let (bug, case) = (self.bug, ready.case());
        if control.is_finding() {
            let text = format!("control of {}: {case}: {control}", bug.name);
            self.complaints.push(text);
        }
        let Some(symptom) = Symptom::of(&sick) else {
            return;
        };
        self.first.get_or_insert(self.given);
        if !in_between && !bug.right.contains(&symptom) {
            let text = format!("{}: {symptom} is not what it should be called: {case}: {sick}", bug.name);
            self.complaints.push(text);
        }
        *self.seen.entry(symptom.to_string()).or_insert(0) += 1;
    }

    fn say(&self) {
        let found: usize = self.seen.values().sum();
        let shown = self.first.map_or("not yet".to_owned(), |n| n.to_string());
        let (name, given, seen) = (self.bug.name, self.given, &self.seen);
        println!("{name:45} {shown:>7} {found:>5}/{given:<3} {seen:?}");
    }
}

/// Judges the bugs of a family, and the controls of each.
fn sweep(family: Family) {
    let due = |bug: &&Bug| bug.family == family && bug.killed_in == Tier::Quick;
    let mut sweeps: Vec<Sweep> = bugs().filter(due).map(Sweep::new).collect();
    for (case, loaded) in ground().cases(|case| sweeps_of(family).any(|bug| (bug.concerns)(case))) {
        let mut open = sweeps.iter_mut().filter(|s| s.is_open()).peekable();
        if open.peek().is_none() {
            break;
        }
        let mut concerned = open.filter(|s| (s.bug.concerns)(case)).peekable();
        if concerned.peek().is_some()
            && let Ok(operands) = build(case, &loaded)
        {
            let ready = Ready::new(case, &operands);
            concerned.for_each(|sweep| sweep.over(&ready));
        }
    }
    sweeps.iter().for_each(Sweep::say);
    let complaints: Vec<&String> = sweeps.iter().flat_map(|s| &s.complaints).collect();
    assert!(complaints.is_empty(), "{} complaints:\n{complaints:#?}", complaints.len());
}

fn sweeps_of(family: Family) -> impl Iterator<Item = &'static Bug> {
    bugs().filter(move |bug| bug.family == family)
}

#[test]
fn loops_that_begin_or_end_in_the_wrong_place_are_found() {
    sweep(Family::Bounds);
}

#[test]
fn what_happens_to_the_memory_of_c_is_found() {
    sweep(Family::Output);
}

#[test]
fn wrong_factors_are_found() {
    sweep(Family::Scaling);
}

#[test]
fn operands_read_in_another_way_are_found() {
    sweep(Family::Operands);
}

#[test]
fn other_types_than_declared_are_found() {
    sweep(Family::Precision);
}

#[test]
fn lost_and_invented_special_values_are_found() {
    sweep(Family::Special);
}

#[test]
fn other_orders_lost_updates_and_reused_answers_are_found() {
    sweep(Family::Order);
}

#[test]
fn narrow_indices_are_found() {
    sweep(Family::Width);
}

#[test]
fn sddmm_bugs_are_found() {
    sweep(Family::Sddmm);
}

#[test]
fn wrong_sparse_results_are_found() {
    sweep(Family::Sparse);
}

#[test]
fn misbehaviour_is_found() {
    sweep(Family::Conduct);
}

#[test]
fn wrong_encodings_are_found() {
    sweep(Family::Encoding);
}

#[test]
fn wrong_walks_over_tiles_are_found() {
    sweep(Family::Tiles);
}

#[test]
fn slips_of_the_papers_are_found() {
    sweep(Family::Slip);
}

#[test]
fn extents_and_lengths_past_a_border_are_found() {
    sweep(Family::Sizes);
}

#[test]
fn elements_in_one_anothers_place_are_found() {
    sweep(Family::Swaps);
}

#[test]
fn kernels_for_aligned_arrays_are_found() {
    sweep(Family::Alignment);
}

#[test]
fn what_is_kept_from_call_to_call_is_found() {
    sweep(Family::State);
}

#[test]
fn lost_updates_are_found() {
    sweep(Family::Races);
}

#[test]
fn hash_tables_that_run_over_are_found() {
    sweep(Family::Hash);
}

#[test]
fn encodings_taken_for_canonical_are_found() {
    sweep(Family::Loose);
}
