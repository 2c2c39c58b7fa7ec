//! The groups of a run judged: a matrix made once, its cases side by side, within the memory that the judge has.
//!
//! ```text
//! group -> room for the matrix? -> matrix -> for each case: room? -> judged
//!                 no: put off                         no: put off        what was put off: one after the other, at the end
//! ```

use crate::backend::Backend;
use crate::case::Case;
use crate::content;
use crate::described::source_record;
use crate::determinism::Repeats;
use crate::journal::{Done, Journal};
use crate::memory::{Held, MemoryBudget};
use crate::operands;
use crate::origin::{Loaded, Origin, OriginError};
use crate::plan::Group;
use crate::record::{unasked, unmade};
use crate::report::{self, Expectation, Waivers};
use crate::runner::{Ran, run_case_repeated};
use rayon::prelude::*;
use sparse_oracle::contract::Contract;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Told about progress; called from any thread.
pub trait Progress: Sync {
    /// The plan is made.
    fn planned(&self, cases: usize, matrices: usize);
    /// One case is judged on every backend; the findings that no waiver covers.
    fn judged(&self, case: &str, findings: &[&report::CaseRecord]);
    /// All are judged; so many hunts of seeded bugs are over, which say what the cases would have caught, of those begun.
    fn hunted(&self, over: usize, of: usize);
}

/// Nobody listens.
impl Progress for () {
    fn planned(&self, _: usize, _: usize) {}

    fn judged(&self, _: &str, _: &[&report::CaseRecord]) {}

    fn hunted(&self, _: usize, _: usize) {}
}

/// What a run is given beside its options.
#[derive(Debug, Default)]
pub struct Extras {
    /// Where judged cases are noted.
    pub journal: Option<Journal>,
    /// What an interrupted run had done: it is not done again.
    pub done: Done,
    /// Known deviations.
    pub expectations: Vec<Expectation>,
}

/// Time inside a backend, and the case of the group that took most of it, by its place.
#[derive(Clone, Copy, Default)]
pub(crate) struct Inside {
    pub(crate) total: Duration,
    pub(crate) slowest: Option<(Duration, usize)>,
}

/// What judging a group gave.
pub(crate) struct GroupDone {
    /// The matrix; none where it could not be read.
    pub(crate) source: Option<report::Source>,
    pub(crate) records: Vec<report::CaseRecord>,
    pub(crate) inside: Vec<Inside>,
    pub(crate) judging: Duration,
    pub(crate) loading: Duration,
    /// Places of cases that had no room beside others.
    put_off: Vec<usize>,
}

/// What all groups of a run share.
pub(crate) struct Shared<'a> {
    pub(crate) backends: &'a [Box<dyn Backend>],
    pub(crate) progress: &'a dyn Progress,
    pub(crate) repeats: Repeats,
    pub(crate) extras: &'a Extras,
    pub(crate) claimed: HashSet<(&'a str, Contract)>,
    pub(crate) waivers: Waivers<'a>,
    pub(crate) budget: &'static MemoryBudget,
}

/// What became of a case.
enum Outcome {
    Ran(usize, Ran),
    PutOff(usize),
}

impl Shared<'_> {
    /// Judges a group, but for what an interrupted run had done and what has no room beside others.
    pub(crate) fn group(&self, group: &Group) -> GroupDone {
        let mut done = GroupDone {
            source: self.extras.done.sources.get(&group.origin.to_string()).cloned(),
            records: Vec::new(),
            inside: vec![Inside::default(); self.backends.len()],
            judging: Duration::ZERO,
            loading: Duration::ZERO,
            put_off: Vec::new(),
        };
        let mut left = Vec::new();
        for (place, case) in group.cases.iter().enumerate() {
            let line = case.to_string();
            match self.extras.done.records.get(&line) {
                Some(records) => {
                    self.tell(&line, records);
                    done.records.extend(records.iter().cloned());
                }
                None => left.push(place),
            }
        }
        if !left.is_empty() || done.source.is_none() {
            self.cases(group, left, &mut done, false);
        }
        done
    }

    /// Judges what had no room beside others, when nothing else is at work.
    pub(crate) fn put_off(&self, group: &Group, done: &mut GroupDone) {
        let left = std::mem::take(&mut done.put_off);
        if !left.is_empty() {
            self.cases(group, left, done, true);
        }
    }

    fn tell(&self, case: &str, records: &[report::CaseRecord]) {
        let news = |r: &&report::CaseRecord| r.verdict.is_finding() && self.waivers.waiver(r).is_none();
        self.progress.judged(case, &records.iter().filter(news).collect::<Vec<_>>());
    }

    /// Judges these cases of a group, side by side unless they are `alone`.
    fn cases(&self, group: &Group, left: Vec<usize>, done: &mut GroupDone, alone: bool) {
        let start = Instant::now();
        let need = group.origin.need().unwrap_or(0).min(self.budget.limit().into()) as u64;
        let Some(_held) = self.hold(need, alone) else {
            done.put_off = left;
            return;
        };
        let loaded = match group.origin.load() {
            Ok(loaded) => loaded,
            Err(OriginError::Memory { source, .. }) if source.may_pass() && !alone => {
                done.put_off = left;
                return;
            }
            Err(error) => {
                // Not noted in the journal: who resumes may have mended the file.
                let unread = left.iter().flat_map(|&at| self.refused(&group.cases[at], &error, unasked));
                done.records.extend(unread);
                return;
            }
        };
        if done.source.is_none() {
            done.source = Some(self.source(&group.origin, &loaded));
        }
        done.loading += start.elapsed();
        let judged = |&place: &usize| self.case(&group.cases[place], place, (&loaded, need), alone);
        let ran: Vec<Outcome> =
            if alone { left.iter().map(judged).collect() } else { left.par_iter().map(judged).collect() };
        for ran in ran {
            match ran {
                Outcome::PutOff(place) => done.put_off.push(place),
                Outcome::Ran(place, mut ran) => {
                    done.records.append(&mut ran.records);
                    done.judging += ran.judging;
                    for (inside, spent) in done.inside.iter_mut().zip(ran.inside) {
                        inside.total += spent;
                        inside.slowest = inside.slowest.max(Some((spent, place)));
                    }
                }
            }
        }
    }

    fn hold(&self, bytes: u64, alone: bool) -> Option<Held<'static>> {
        if alone { Some(self.budget.take_alone(bytes)) } else { self.budget.take(bytes) }
    }

    fn case(&self, case: &Case, place: usize, (loaded, matrix): (&Loaded, u64), alone: bool) -> Outcome {
        let line = case.to_string();
        let need = operands::need(case, loaded);
        let mut ran = match self.budget.check_beside(need, matrix) {
            Ok(room) => {
                let Some(_held) = self.hold(room, alone) else { return Outcome::PutOff(place) };
                run_case_repeated(case, loaded, self.backends, self.repeats)
            }
            Err(no) => Ran {
                records: self.refused(case, &no, unmade),
                inside: Vec::new(),
                judging: Duration::ZERO,
                no_room: Some(no),
            },
        };
        if ran.no_room.is_some_and(|no| no.may_pass()) && !alone {
            return Outcome::PutOff(place);
        }
        // A backend that claims nothing of the contract is not asked: its manifest says so once.
        ran.records.retain(|record| self.claimed.contains(&(record.backend.as_str(), case.contract)));
        // Who resumes may have more memory.
        if ran.no_room.is_none() {
            self.extras.journal.iter().for_each(|journal| journal.judged(&ran.records));
        }
        self.tell(&line, &ran.records);
        Outcome::Ran(place, ran)
    }

    /// The records of a case that nobody who claims its contract can be asked for, each made so.
    fn refused(
        &self,
        case: &Case,
        reason: &dyn std::error::Error,
        made: fn(&Case, &dyn Backend, String) -> report::CaseRecord,
    ) -> Vec<report::CaseRecord> {
        let claims = |b: &&dyn Backend| self.claimed.contains(&(b.name(), case.contract));
        let backends = self.backends.iter().map(AsRef::as_ref).filter(claims);
        backends.map(|backend| made(case, backend, reason.to_string())).collect()
    }

    fn source(&self, origin: &Origin, loaded: &Loaded) -> report::Source {
        let source = source_record(origin, loaded);
        if let Some(journal) = &self.extras.journal {
            let content = match origin {
                Origin::File(path) => Some(content::of_file(path)),
                Origin::Spec(_) | Origin::Embedded(_) => None,
            };
            journal.source(&source, content.as_deref());
        }
        source
    }
}
