//! Seeded bugs, family by family, on a slice of the quick plan: each found, and every finding, not only the first, called what it
//! may be called.
//!
//! Run with `--nocapture` for the table: bug, first finding, findings by name.

use sparse_conformance::backend::Backend;
use sparse_conformance::plan::{Options, Tier};
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::{Bug, Family, Ground, Seeded, Symptom, bugs};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Cases that a bug is given before it counts as missed.
const SLICE: usize = 150;

fn ground() -> &'static Ground {
    static GROUND: OnceLock<Ground> = OnceLock::new();
    GROUND.get_or_init(|| Ground::new(&Options::default()))
}

/// Judges the bugs of a family, and the controls of each.
fn sweep(family: Family) {
    let mut complaints = Vec::new();
    let due = |bug: &&Bug| bug.family == family && bug.killed_in == Tier::Quick;
    for bug in bugs().filter(due) {
        sweep_one(bug, &mut complaints);
    }
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

fn sweep_one(bug: &'static Bug, complaints: &mut Vec<String>) {
    let pair: [Box<dyn Backend>; 2] = [Box::new(Seeded::sick(bug)), Box::new(Seeded::control(bug))];
    let (mut first, mut given) = (None, 0);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (case, loaded) in ground().cases(bug.concerns).take(SLICE) {
        given += 1;
        let records = run_case(case, &loaded, &pair).records;
        let (sick, control) = (&records[0].verdict, &records[1].verdict);
        if control.is_finding() {
            complaints.push(format!("control of {}: {case}: {control}", bug.name));
        }
        let Some(symptom) = Symptom::of(sick) else {
            continue;
        };
        first.get_or_insert(given);
        if !bug.right.contains(&symptom) {
            complaints.push(format!(
                "{}: {symptom} is not what it should be called: {case}: {sick}",
                bug.name
            ));
        }
        *seen.entry(symptom.to_string()).or_insert(0) += 1;
    }
    let found: usize = seen.values().sum();
    let shown = first.map_or("never".to_owned(), |n| n.to_string());
    println!("{:45} {shown:>6} {found:>5}/{given:<3} {seen:?}", bug.name);
    if first.is_none() {
        complaints.push(format!("{}: not found in {given} cases", bug.name));
    }
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
