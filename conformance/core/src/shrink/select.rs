//! Which findings of a run are shrunk: one for each backend, contract and reason, so that ten thousand failures of one bug do not
//! take hours.

use crate::report::Reason;
use crate::report::{CaseRecord, Report};
use std::collections::{BTreeMap, HashMap};

/// A finding to shrink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Index into [`Report::cases`].
    pub index: usize,
    /// How many findings of the same reason come before it.
    pub turn: usize,
    /// Why it failed.
    pub reason: Reason,
}

/// The findings to shrink of each backend, in the order in which they should be: the first of every reason before the second
/// of any, and of either those that hang last: each of their candidates costs the time limit. A known deviation is none. Of the findings of one backend, contract and reason the one with the smallest matrix.
#[must_use]
pub fn select(report: &Report) -> BTreeMap<String, Vec<Chosen>> {
    let size: HashMap<&str, u64> =
        report.sources.iter().map(|s| (s.spec.as_str(), s.rows + s.cols + s.nnz)).collect();
    let mut smallest: BTreeMap<(&str, &str, Reason), (u64, usize)> = BTreeMap::new();
    for (index, record) in report.cases.iter().enumerate() {
        // What is waived is known.
        let Some(reason) = Reason::of_record(record).filter(|_| record.waived.is_none()) else {
            continue;
        };
        let extent = source_of(record).and_then(|spec| size.get(spec)).copied();
        let mine = (extent.unwrap_or(u64::MAX), index);
        let best = smallest.entry((&record.backend, &record.contract, reason)).or_insert(mine);
        *best = mine.min(*best);
    }
    let mut turns: HashMap<(&str, Reason), usize> = HashMap::new();
    let mut chosen: BTreeMap<String, Vec<Chosen>> = BTreeMap::new();
    let mut in_order: Vec<_> = smallest.into_iter().collect();
    in_order.sort_by_key(|(_, (_, index))| *index);
    for ((backend, _, reason), (_, index)) in in_order {
        let turn = turns.entry((backend, reason.clone())).or_default();
        let list = chosen.entry(backend.to_owned()).or_default();
        list.push(Chosen { index, turn: *turn, reason });
        *turn += 1;
    }
    for list in chosen.values_mut() {
        list.sort_by_key(|chosen| (chosen.turn, chosen.reason.is_slow(), chosen.index));
    }
    chosen
}

/// The source in a case line: what stands between contract and values.
fn source_of(record: &CaseRecord) -> Option<&str> {
    let (_, rest) = record.case.split_once('/')?;
    rest.split_once("/values=").map(|(source, _)| source)
}
