//! The comparison as lists of lines, for the terminal and the page alike.

use super::{BACKEND, Change, Diff, Place, Setting};
use crate::report::show::{count, counted, one_line, share};
use std::collections::BTreeSet;

/// One list.
pub(super) struct List {
    /// What its lines are ("newly failing").
    pub(super) title: &'static str,
    /// The lines.
    pub(super) items: Vec<Item>,
}

/// One line of a list.
pub(super) struct Item {
    /// What happened; empty where the title says it.
    pub(super) what: String,
    /// To whom.
    pub(super) place: String,
    /// The command that shows it.
    pub(super) replay: Option<String>,
}

/// Facts of the run that differ, without backends that only one report has, as name, old and new value.
pub(super) fn settings(diff: &Diff) -> Vec<(&str, String, String)> {
    let lone = lone_names(diff);
    let both =
        |setting: &&Setting| setting.what.strip_prefix(BACKEND).is_none_or(|name| !lone.contains(name));
    let settings = diff.setting.iter().filter(both);
    settings.map(|s| (s.what.as_str(), one_line(&s.old), one_line(&s.new))).collect()
}

/// A sentence for each backend that only one of the reports has.
pub(super) fn lone(diff: &Diff) -> Vec<String> {
    let line = |(what, name, cases): &(&str, &str, u64)| {
        format!("only in the {what} report: backend {}, {}", one_line(name), counted(*cases, "case"))
    };
    lone_backends(diff).iter().map(line).collect()
}

/// The lists that are not empty.
pub(super) fn lists(diff: &Diff) -> Vec<List> {
    let lone = lone_names(diff);
    let place = |p: &Place| one_line(&format!("{} on {}", p.case, p.backend));
    let item = |what: String, place: String| Item { what, place, replay: None };
    let changes = |changes: &[Change]| {
        changes.iter().map(|c| item(format!("{} -> {}", c.old, c.new), place(&c.place))).collect()
    };
    let places = |places: &[Place]| places.iter().map(|p| item(String::new(), place(p))).collect();
    let of_both = |all: &[Place]| {
        let both: Vec<Place> = all.iter().filter(|p| !lone.contains(p.backend.as_str())).cloned().collect();
        places(&both)
    };
    let found = diff.new_findings.iter().map(|f| {
        let before = f.before.as_ref().map(|b| format!(" (was {b})")).unwrap_or_default();
        Item {
            what: format!("{} on {}{before}", f.rule, f.backend),
            place: one_line(&f.message),
            replay: f.replay.clone(),
        }
    });
    let shares = diff.shares.iter();
    let shares = shares.map(|s| item(format!("{} -> {}", share(s.old), share(s.new)), place(&s.place)));
    let coverage = diff.coverage.iter().filter(|c| !lone.contains(c.backend.as_str())).map(|c| {
        item(
            format!("{} -> {}", count(c.old), count(c.new)),
            one_line(&format!("{} on {}", c.contract, c.backend)),
        )
    });
    let lists: [(&str, Vec<Item>); 9] = [
        ("newly failing", found.collect()),
        ("newly passing", changes(&diff.fixed)),
        ("other verdict", changes(&diff.changed)),
        ("other share of the bound", shares.collect()),
        ("same verdict, other bits", places(&diff.other_bits)),
        ("same line, other operands", places(&diff.other_inputs)),
        ("only in the old report", of_both(&diff.only_old)),
        ("only in the new report", of_both(&diff.only_new)),
        ("other number of cases run", coverage.collect()),
    ];
    let lists = lists.into_iter().map(|(title, items)| List { title, items });
    lists.filter(|list| !list.items.is_empty()).collect()
}

/// "no new finding", "2 new findings"; that nothing was found says nothing where nothing was compared.
pub(super) fn headline(diff: &Diff) -> String {
    match diff.new_findings.len() as u64 {
        0 if diff.compared == 0 => APART.to_owned(),
        0 => "no new finding".to_owned(),
        found if diff.compared == 0 => format!("{}; {APART}", counted(found, "new finding")),
        found => counted(found, "new finding"),
    }
}

const APART: &str = "nothing was compared: no case is in both reports on the same backend";

/// Names of the backends that only one of the reports has.
fn lone_names(diff: &Diff) -> BTreeSet<&str> {
    lone_backends(diff).into_iter().map(|(_, name, _)| name).collect()
}

/// Backends of one report only: which report's, the name, and its cases there.
fn lone_backends(diff: &Diff) -> Vec<(&'static str, &str, u64)> {
    let cases = |places: &[Place], name: &str| places.iter().filter(|p| p.backend == name).count() as u64;
    let lone = |setting: &Setting| match (setting.old.is_empty(), setting.new.is_empty()) {
        (true, false) => Some(("new", &diff.only_new)),
        (false, true) => Some(("old", &diff.only_old)),
        _ => None,
    };
    let settings = diff.setting.iter();
    let found = settings.filter_map(|s| Some((s.what.strip_prefix(BACKEND)?, lone(s)?)));
    found.map(|(name, (report, places))| (report, name, cases(places, name))).collect()
}
