//! What findings are counted by; each count is a button that leaves only those findings in the list.

use super::badge;
use crate::report::finding::Finding;
use crate::report::model::Report;
use crate::report::show::count;
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Buttons that are not folded.
const OPEN: usize = 8;

/// One thing that findings are counted by.
pub(super) struct Facet {
    title: &'static str,
    /// Its values with the number of findings, the most frequent first.
    pub(super) values: Vec<(String, u64)>,
    /// The value of each finding, by place; none for findings that have no such thing.
    pub(super) of: Vec<Option<usize>>,
}

/// All but the likely cause, those with one value only left out.
pub(super) fn all(report: &Report, findings: &[Finding]) -> Vec<Facet> {
    let facet = |title, value: &dyn Fn(&Finding) -> Option<String>| {
        Facet::new(title, &findings.iter().map(value).collect::<Vec<_>>())
    };
    let of_case = |finding: &Finding| match finding {
        Finding::Case { index } => Some(&report.cases[*index]),
        Finding::MostlyWaived { .. }
        | Finding::IdleBackend { .. }
        | Finding::UnexpectedPass { .. }
        | Finding::ExpiredExpectation { .. }
        | Finding::StaleExpectation { .. } => None,
    };
    let verdict = |finding: &Finding| match of_case(finding) {
        Some(record) => badge(&record.verdict),
        None => report.describe(finding).rule.replace('-', " "),
    };
    let facets = [
        facet("verdict", &|f| Some(verdict(f))),
        facet("backend", &|f| Some(report.describe(f).backend.to_owned())),
        facet("contracts", &|f| Some(family(&of_case(f)?.contract).to_owned())),
        facet("element types", &|f| Some(of_case(f)?.contract.rsplit_once('.')?.1.to_owned())),
        facet("matrices", &|f| Some(of_case(f)?.family.clone())),
    ];
    facets.into_iter().filter(|facet| facet.values.len() > 1).collect()
}

/// A contract without its element types: operation and format.
pub(in crate::report::html) fn family(contract: &str) -> &str {
    contract.rsplit_once('.').map_or(contract, |(family, _)| family)
}

impl Facet {
    pub(super) fn new(title: &'static str, names: &[Option<String>]) -> Facet {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        names.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
        let mut values: Vec<(String, u64)> =
            counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        values.sort_by(|a, b| (Reverse(a.1), &a.0).cmp(&(Reverse(b.1), &b.0)));
        let places: HashMap<&str, usize> =
            values.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
        let of = names.iter().map(|name| places.get(name.as_deref()?).copied()).collect();
        Facet { title, values, of }
    }

    /// Its values as buttons; `place` is its place in the data of the page.
    pub(super) fn buttons(&self, place: usize) -> Markup {
        let (open, folded) = self.values.split_at(self.values.len().min(OPEN));
        let button = |(value, (name, number)): (usize, &(String, u64))| {
            html! {
                button.facet type="button" aria-pressed="false" data-facet=(place) data-value=(value) {
                    (name) " " b { (count(*number)) }
                }
            }
        };
        html! {
            div.facets role="group" aria-label=(self.title) {
                span.quiet { (self.title) }
                @for entry in open.iter().enumerate() { (button(entry)) }
                @if !folded.is_empty() {
                    details {
                        summary { (count(folded.len() as u64)) " more" }
                        @for (turn, entry) in folded.iter().enumerate() { (button((turn + OPEN, entry))) }
                    }
                }
            }
        }
    }
}
