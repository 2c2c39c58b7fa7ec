//! The catalogue as data: enough rows, each with a name, a story, cases and symptoms of its own.

use sparse_conformance::backend::Portable;
use sparse_conformance::case::Case;
use sparse_conformance::plan::{Options, Tier, plan};
use sparse_conformance::report::Defect;
use sparse_conformance::selftest::{Family, Symptom, bugs, comparator, schedules};
use sparse_oracle::contract::{Op, Returned};
use std::collections::{BTreeMap, BTreeSet};

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

/// Bugs of every dense result say nothing about what one operation alone gets wrong. SpMM and SpMV share theirs, and so do the moves.
#[test]
fn every_operation_has_bugs_of_its_own() {
    let kind = |op: Op| match op.signature().returned {
        Returned::Moved => "moves",
        _ if op.updates() => "products that add to C",
        _ => op.name(),
    };
    let groups = plan(&Options::default(), &[&Portable]).groups;
    let cases: Vec<Case> = groups.into_iter().flat_map(|group| group.cases).collect();
    let mut own: BTreeMap<&str, usize> = BTreeMap::new();
    for bug in bugs() {
        let concerned: BTreeSet<&str> =
            cases.iter().filter(|case| (bug.concerns)(case)).map(|case| kind(case.contract.op)).collect();
        if let (Some(only), 1) = (concerned.first(), concerned.len()) {
            *own.entry(only).or_default() += 1;
        }
    }
    println!("{own:?}");
    for op in Op::ALL {
        let count = own.get(kind(op)).copied().unwrap_or(0);
        assert!(
            count >= 4,
            "the catalogue has {count} bugs that concern {} alone, at least 4 are asked for",
            op.name()
        );
    }
}

/// A run measured what its cases would have caught, resumed, and measured another figure: the allocator had given freed memory
/// again once and not the other time.
#[test]
fn bugs_of_addresses_are_not_hunted_where_the_allocator_decides() {
    let line = "spmm.csr.f64_f64_f64_f64/uniform:rows=9,cols=9,density=0.4,seed=5/values=wide,3";
    let concerned = |after: &str| {
        let case = format!("{line}/after={after}").parse().expect("a case line");
        let of_addresses =
            bugs().filter(|bug| bug.name.starts_with("state:") && bug.name.contains("address"));
        of_addresses.filter(|bug| (bug.concerns)(&case)).count()
    };
    assert_eq!(concerned("contents"), 4);
    assert_eq!(concerned("freed"), 0);
}
