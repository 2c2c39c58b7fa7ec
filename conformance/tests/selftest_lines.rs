//! Lines written by hand on which seeded bugs die: one or more for each row of the classes that a plan has to reach.
//!
//! ```text
//! name, lines, rounds     the lines in turn, so often, on one kernel (what it remembers stays); the control beside it is silent
//! ```
//!
//! A row that no line of today's language can show is in [`WAITING`], with what it waits for.

use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::{Bug, Family, Seeded, Symptom, bugs};
use std::collections::BTreeSet;

mod table;

use table::{DIES, WAITING};

/// Families whose every row is in one of the two tables.
const LISTED: [Family; 7] = [
    Family::Sizes,
    Family::Swaps,
    Family::Alignment,
    Family::State,
    Family::Races,
    Family::Hash,
    Family::Loose,
];

fn named(name: &str) -> Option<&'static Bug> {
    bugs().find(|bug| bug.name == name)
}

/// Why the lines do not do what the table says of them.
fn complaint(name: &str, lines: &[String], rounds: usize) -> Option<String> {
    let Some(bug) = named(name) else {
        return Some("no such bug".to_owned());
    };
    let pair: [Box<dyn Backend>; 2] = [Box::new(Seeded::sick(bug)), Box::new(Seeded::control(bug))];
    let mut killed = false;
    for line in std::iter::repeat_n(lines, rounds).flatten() {
        let case: Case = match line.parse() {
            Ok(case) => case,
            Err(error) => return Some(format!("{line}: {error}")),
        };
        let loaded = match case.origin.load() {
            Ok(loaded) => loaded,
            Err(error) => return Some(format!("{line}: {error}")),
        };
        if !(bug.concerns)(&case) {
            return Some(format!("{line}: does not concern it"));
        }
        let records = run_case(&case, &loaded, &pair).records;
        let (sick, control) = (&records[0].verdict, &records[1].verdict);
        if control.is_finding() || !control.kind().ran() {
            return Some(format!("{line}: the control: {control}"));
        }
        if let Some(symptom) = Symptom::of(sick) {
            if !bug.right.contains(&symptom) {
                return Some(format!("{line}: {symptom} is not what it may be called: {sick}"));
            }
            killed = true;
        }
        if killed {
            return None;
        }
    }
    Some(format!("{}: not found", lines.join(", ")))
}

#[test]
fn bugs_die_on_lines_written_for_them() {
    let complaints: Vec<String> = DIES
        .iter()
        .filter_map(|(name, lines, rounds)| {
            let lines = table::spelled(lines);
            complaint(name, &lines, *rounds).map(|why| format!("{name}: {why}"))
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn every_row_of_these_families_has_a_line_or_waits_for_one() {
    let shown: BTreeSet<&str> = DIES.iter().map(|row| row.0).collect();
    let waiting: BTreeSet<&str> = WAITING.iter().map(|row| row.0).collect();
    assert_eq!(shown.intersection(&waiting).count(), 0);
    let absent: Vec<&str> = shown
        .union(&waiting)
        .copied()
        .filter(|name| named(name).is_none())
        .collect();
    assert!(absent.is_empty(), "no such bugs: {absent:?}");
    let listed = bugs().filter(|bug| LISTED.contains(&bug.family));
    let missing: Vec<&str> = listed
        .map(|bug| bug.name)
        .filter(|name| !shown.contains(name) && !waiting.contains(name))
        .collect();
    assert!(missing.is_empty(), "without a line: {missing:?}");
}
