//! Lines written by hand on which seeded bugs die: one or more for each row of the classes that a plan has to reach.
//!
//! ```text
//! name, lines, rounds     the lines in turn, so often, on one kernel (what it remembers stays); the control beside it is silent
//! ```
//!
//! The table is `selftest_lines.txt`. A row that no line of today's language can show is there as well, with what it waits for.

use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::{Bug, Family, Seeded, Symptom, bugs};
use std::collections::BTreeSet;

/// One row of the table.
struct Row {
    name: &'static str,
    /// Lines in full; none for a row that waits.
    lines: Vec<String>,
    rounds: usize,
}

/// The table: `name | rounds | lines`, or `name | waits for | what`.
fn table() -> Vec<Row> {
    let text = include_str!("selftest_lines.txt").lines().filter(|line| !line.starts_with('#'));
    text.map(|line| {
        let mut cells = line.split(" | ");
        let mut cell = || cells.next().expect("three cells");
        let (name, rounds, lines) = (cell(), cell(), cell());
        let rounds: usize = rounds.parse().unwrap_or(0);
        Row { name, lines: lines.split(' ').filter(|_| rounds > 0).map(spelled).collect(), rounds }
    })
    .collect()
}

/// A line in full.
fn spelled(line: &str) -> String {
    let short = [("S/", "spmm"), ("V/", "spmv"), ("D/", "sddmm"), ("G/", "spgemm")];
    let mut found = short.iter().filter_map(|(letter, op)| Some((op, line.strip_prefix(letter)?)));
    found.next().map_or_else(|| line.to_owned(), |(op, rest)| format!("{op}.csr.f32_f32_f32_f32/{rest}"))
}

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
    let strict = [Seeded::sick(bug), Seeded::control(bug)];
    let loose = (!bug.bits_only).then(|| [Seeded::sick(bug).loosely(), Seeded::control(bug).loosely()]);
    std::iter::once(strict)
        .chain(loose)
        .find_map(|[sick, control]| survives(bug, &[Box::new(sick), Box::new(control)], lines, rounds))
}

/// As declared, or declaring no order of additions.
fn survives(bug: &Bug, pair: &[Box<dyn Backend>; 2], lines: &[String], rounds: usize) -> Option<String> {
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
        let records = run_case(&case, &loaded, pair).records;
        let (sick, control) = (&records[0].verdict, &records[1].verdict);
        if control.is_finding() || !control.kind().ran() {
            return Some(format!("{line}: the control: {control}"));
        }
        if let Some(symptom) = Symptom::of(sick) {
            if !bug.right.contains(&symptom) {
                return Some(format!("{line}: {symptom} is not what it may be called: {sick}"));
            }
            return None;
        }
    }
    Some(format!("{}: not found", lines.join(", ")))
}

#[test]
fn bugs_die_on_lines_written_for_them() {
    let table = table();
    let dying = table.iter().filter(|row| row.rounds > 0);
    let complaints: Vec<String> = dying
        .filter_map(|row| {
            complaint(row.name, &row.lines, row.rounds).map(|why| format!("{}: {why}", row.name))
        })
        .collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_row_of_these_families_has_a_line_or_waits_for_one() {
    let table = table();
    let names: BTreeSet<&str> = table.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), table.len(), "a row twice");
    let absent: Vec<&str> = names.iter().copied().filter(|name| named(name).is_none()).collect();
    assert!(absent.is_empty(), "no such bugs: {absent:?}");
    let listed = bugs().filter(|bug| LISTED.contains(&bug.family));
    let missing: Vec<&str> = listed.map(|bug| bug.name).filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "without a line: {missing:?}");
}
