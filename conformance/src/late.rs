//! Cases that had no answer in time, asked once more when everything else is done: whatever runs beside a program slows it down.
//!
//! ```text
//! in a process of its own:  the case, with time to compile  ->  a finding?  that is the record
//!                           the case again, within the limit of any task  ->  the record
//! ```
//!
//! What comes of it stands in the record, which says that it was asked again. Where two cases of a contract have no answer alone
//! either, the contract's others are not asked again, since each costs the whole limit, and count as not run: in a process that was
//! started for it a case has no time to compile once another one hung, so that it was late says nothing about it.

use crate::backend::Backend;
use crate::case::Case;
use crate::determinism::Repeats;
use crate::journal::Journal;
use crate::origin::Loaded;
use crate::plan::Group;
use crate::record::unmade;
use crate::report::{CaseRecord, VerdictKind};
use crate::runner::run_case_on;
use std::collections::HashMap;

/// So many cases of a contract without an answer alone, and the others are not asked again.
const ENOUGH: usize = 2;

/// Asks again for the records of a group's cases that timed out on a backend that can be started afresh.
pub(crate) fn ask_again(
    group: &Group,
    records: &mut [CaseRecord],
    backends: &[Box<dyn Backend>],
    (repeats, journal): (Repeats, Option<&Journal>),
    silent: &mut HashMap<(String, String), usize>,
) {
    let places: Vec<usize> = (0..records.len()).filter(|&at| late(&records[at])).collect();
    if places.is_empty() {
        return;
    }
    let Ok(loaded) = group.origin.load() else { return };
    for case in &group.cases {
        let line = case.to_string();
        for &at in &places {
            let record = &records[at];
            if record.case != line {
                continue;
            }
            let Some(backend) = backends.iter().find(|b| b.name() == record.backend) else { continue };
            let silent = silent.entry((record.backend.clone(), record.contract.clone())).or_default();
            // An interrupted run may have asked already.
            if !record.asked_again {
                if *silent >= ENOUGH {
                    records[at] = not_asked(case, backend.as_ref());
                    continue;
                }
                if !backend.renew() {
                    continue;
                }
                let again = alone((case, &loaded), backend.as_ref(), repeats);
                // Not started again: what was seen stands.
                let Some(again) = again.filter(|again| again.verdict.kind() != VerdictKind::NotRun) else {
                    continue;
                };
                records[at] = CaseRecord { asked_again: true, ..again };
                let whole: Vec<CaseRecord> = records.iter().filter(|r| r.case == line).cloned().collect();
                journal.iter().for_each(|journal| journal.judged(&whole));
            }
            *silent += usize::from(late(&records[at]));
        }
    }
}

/// The record of a case that was late beside others, of a contract of which enough others were late alone.
fn not_asked(case: &Case, backend: &dyn Backend) -> CaseRecord {
    let reason = format!(
        "no answer in time beside other cases, and not asked again alone, since {ENOUGH} other cases of the contract had no answer alone \
         either"
    );
    unmade(case, backend, reason)
}

fn late(record: &CaseRecord) -> bool {
    record.verdict.kind() == VerdictKind::TimedOut
}

/// Asks a backend that was just started. Its first answer may take as long as compiling does, its second no longer than any other.
fn alone((case, loaded): (&Case, &Loaded), backend: &dyn Backend, repeats: Repeats) -> Option<CaseRecord> {
    let ask = || run_case_on(case, loaded, &[backend], repeats).records.into_iter().next();
    let first = ask()?;
    if first.verdict.is_finding() { Some(first) } else { ask() }
}
