//! Findings by likely cause: one bug mostly shows as one defect of one backend in one family of contracts, on cases that have something
//! in common.

use super::badge;
use super::facets::{Facet, family};
use crate::report::finding::Finding;
use crate::report::model::{CaseRecord, Report};
use crate::report::reason::Reason;
use crate::report::show::{count, counted};
use maud::{Markup, html};
use std::collections::{BTreeSet, HashMap};

/// Causes that are not folded.
const OPEN: usize = 12;
/// Things in common that are named.
const NAMED: usize = 3;
/// Members of a group of which that is said: two cases always have something in common.
const LEAST: usize = 3;

/// The likely cause of each finding.
pub(super) fn facet(report: &Report, findings: &[Finding]) -> Facet {
    let cause = |finding: &Finding| {
        let Finding::Case { index } = finding else {
            let described = report.describe(finding);
            return Some(format!("{} on {}", described.rule.replace('-', " "), described.backend));
        };
        let record = &report.cases[*index];
        let reason = Reason::of_record(record).map_or_else(|| badge(&record.verdict), |r| r.to_string());
        Some(format!("{reason} on {} in {}", record.backend, family(&record.contract)))
    };
    Facet::new("likely cause", &findings.iter().map(cause).collect::<Vec<_>>())
}

/// The causes, each a button, with what its cases have in common.
pub(super) fn list(report: &Report, findings: &[Finding], causes: &Facet) -> Markup {
    let (passing, none) = (passing(report), Passing::default());
    let mut members: Vec<Vec<&CaseRecord>> = vec![Vec::new(); causes.values.len()];
    for (finding, cause) in findings.iter().zip(&causes.of) {
        if let (Finding::Case { index }, Some(cause)) = (finding, cause) {
            members[*cause].push(&report.cases[*index]);
        }
    }
    let item = |cause: usize| {
        let (name, number) = &causes.values[cause];
        html! {
            li {
                button.cause type="button" disabled aria-pressed="false" data-facet="0" data-value=(cause) { b { (count(*number)) } " × " (name) }
                @if let [first, ..] = members[cause].as_slice() && members[cause].len() >= LEAST {
                    @let passing = passing.get(&(first.backend.as_str(), family(&first.contract)));
                    (in_common(&members[cause], passing.unwrap_or(&none)))
                }
            }
        }
    };
    let open = causes.values.len().min(OPEN);
    html! {
        ul.causes { @for cause in 0..open { (item(cause)) } }
        @if causes.values.len() > open {
            details.more {
                summary { (counted((causes.values.len() - open) as u64, "further group")) }
                ul.causes { @for cause in open..causes.values.len() { (item(cause)) } }
            }
        }
    }
}

/// Cases that pass, of one backend and family of contracts.
#[derive(Default)]
struct Passing<'a> {
    all: usize,
    /// How many of them have each part.
    with: HashMap<&'a str, usize>,
}

/// Cases that pass, by backend and family of contracts.
fn passing(report: &Report) -> HashMap<(&str, &str), Passing<'_>> {
    let mut passing: HashMap<(&str, &str), Passing<'_>> = HashMap::new();
    let passes = |c: &&CaseRecord| c.verdict.kind().ran() && !c.verdict.is_finding();
    for record in report.cases.iter().filter(passes) {
        let passing = passing.entry((&record.backend, family(&record.contract))).or_default();
        passing.all += 1;
        parts(record).into_iter().for_each(|part| *passing.with.entry(part).or_default() += 1);
    }
    passing
}

/// What all members have and few of the passing cases do.
fn in_common(members: &[&CaseRecord], passing: &Passing<'_>) -> Markup {
    let mut common: Option<BTreeSet<&str>> = None;
    for member in members {
        let own = parts(member);
        match &mut common {
            None => common = Some(own),
            Some(common) => common.retain(|part| own.contains(part)),
        }
    }
    let mut found: Vec<(usize, &str)> = common
        .unwrap_or_default()
        .into_iter()
        .map(|part| (passing.with.get(part).copied().unwrap_or(0), part))
        .filter(|(with, _)| with * 2 < passing.all)
        .collect();
    found.sort();
    // `alpha=0` says more than `alpha=`.
    let told: Vec<&str> = found.iter().map(|(_, part)| *part).collect();
    found.retain(|(_, part)| {
        !part.ends_with('=') || !told.iter().any(|other| other != part && other.starts_with(part))
    });
    found.truncate(NAMED);
    let all = count(passing.all as u64);
    html! {
        span.quiet {
            @if passing.all == 0 { " no case of these contracts passes" }
            @else if found.is_empty() { " " (all) " cases of these contracts pass" }
            @else {
                " all have "
                @for (turn, (with, part)) in found.iter().enumerate() {
                    @if turn > 0 { ", " }
                    code { (part) } @if part.ends_with('=') { "…" } " (as have " (count(*with as u64)) " of " (all) " that pass)"
                }
            }
        }
    }
}

/// What a case line says: element types, the generator, each parameter of the case, with its value and without (`alpha=`). An alpha
/// of -0 is one of 0, too.
fn parts(record: &CaseRecord) -> BTreeSet<&str> {
    let mut parts: BTreeSet<&str> = record.case.split('/').skip(2).collect();
    let keys: Vec<&str> = parts.iter().filter_map(|part| part.find('=').map(|at| &part[..=at])).collect();
    parts.extend(keys);
    for (negative, zero) in [("alpha=-0", "alpha=0"), ("beta=-0", "beta=0")] {
        if parts.contains(negative) {
            parts.insert(zero);
        }
    }
    parts.extend([record.family.as_str(), record.contract.rsplit('.').next().unwrap_or_default()]);
    parts
}
