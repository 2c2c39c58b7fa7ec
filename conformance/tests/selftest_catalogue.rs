//! The catalogue as data: enough rows, each with a name, a story, cases and symptoms of its own.

use sparse_conformance::backend::Portable;
use sparse_conformance::case::Case;
use sparse_conformance::plan::{Options, Tier, plan};
use sparse_conformance::report::Defect;
use sparse_conformance::selftest::{Family, Symptom, bugs, comparator, schedules};
use std::collections::BTreeSet;

#[test]
fn there_are_many_bugs_and_names_are_unique() {
    let names: Vec<&str> = bugs()
        .map(|b| b.name)
        .chain(schedules::ALL.iter().map(|s| s.name))
        .chain(comparator::ALL.iter().map(|c| c.name))
        .collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(names.len(), distinct.len(), "a name occurs twice");
    println!("{} backends, {} in all", bugs().count(), names.len());
    assert!(bugs().count() >= 80, "{}", bugs().count());
    for family in Family::ALL {
        assert!(bugs().any(|bug| bug.family == family), "{family} has no bug");
    }
}

#[test]
fn every_row_says_what_it_is() {
    for bug in bugs() {
        assert!(bug.story.len() > 5 && !bug.right.is_empty(), "{}", bug.name);
        let named: BTreeSet<String> = bug.right.iter().map(ToString::to_string).collect();
        assert_eq!(named.len(), bug.right.len(), "{}: a symptom twice", bug.name);
    }
    let value = Symptom::Wrong(Defect::Value);
    assert_eq!(value.to_string(), "value");
}

/// A bug that no case of its tier concerns cannot be caught there.
#[test]
fn every_bug_concerns_cases_of_its_tier() {
    let cases = |tier: Tier| -> Vec<Case> {
        let options = Options { tier, ..Options::default() };
        let groups = plan(&options, &[&Portable]).groups;
        groups.into_iter().flat_map(|group| group.cases).collect()
    };
    let (quick, full) = (cases(Tier::Quick), cases(Tier::Full));
    for bug in bugs() {
        let plan = if bug.killed_in == Tier::Quick { &quick } else { &full };
        let count = plan.iter().filter(|case| (bug.concerns)(case)).count();
        assert!(count > 0, "{}: no case", bug.name);
    }
}
