//! The greedy search: a candidate that still fails for the same reason replaces the best one.
//!
//! ```text
//! best --pass--> candidates --judge--> same reason? --yes--> best      (never a larger case: every pass only removes)
//! ```
//!
//! Deterministic for a deterministic backend: passes go in one order, and only the number of candidates and the clock
//! end a search. A candidate that was judged before is not judged again.

use super::ShrinkTold;
use crate::backend::Backend;
use crate::case::{Case, Filling};
use crate::determinism::Again;
use crate::operands::build;
use crate::origin::Loaded;
use crate::report::Reason;
use crate::runner::judge_repeated;
use sparse_oracle::format::{Coo, CooParts};
use sparse_oracle::verdict::Verdict;
use std::collections::HashSet;
use std::hash::Hasher;
use std::ops::Range;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3Default;

/// How long a search may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkBudget {
    /// Candidates judged.
    pub candidates: usize,
    /// Time; none where only the count limits.
    pub time: Option<Duration>,
}

impl Default for ShrinkBudget {
    fn default() -> ShrinkBudget {
        ShrinkBudget { candidates: 4000, time: Some(Duration::from_secs(10)) }
    }
}

/// A case and its matrix, which may be on no disk yet.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Everything but the matrix.
    pub case: Case,
    /// The matrix.
    pub loaded: Loaded,
}

impl Candidate {
    /// The same case on other triples; `None` where they are no matrix.
    pub(super) fn on(&self, parts: CooParts<f64>) -> Option<Candidate> {
        Some(Candidate {
            case: self.case.clone(),
            loaded: Loaded::new(Coo::try_new(parts).ok()?, self.loaded.has_values),
        })
    }

    /// True when the values of the sparse operand are the matrix's own.
    pub(super) fn owns_values(&self) -> bool {
        matches!(self.case.filling, Filling::Own(_))
    }

    fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3Default::new();
        hash.write(self.case.to_string().as_bytes());
        let coo = &self.loaded.coo;
        hash.write_usize(coo.rows);
        hash.write_usize(coo.cols);
        coo.row_idx.iter().chain(&coo.col_idx).for_each(|&i| hash.write_u32(i));
        coo.values.iter().for_each(|v| hash.write_u64(v.to_bits()));
        hash.finish()
    }
}

/// Runs of a candidate that may differ from run to run.
const REPEATS: u32 = 4;

/// Runs a candidate on a backend: once, or as often as the reason needs to show.
#[must_use]
pub fn verdict_of(candidate: &Candidate, backend: &dyn Backend, reason: &Reason) -> Verdict {
    let again = reason.needs_repeats().then_some(Again {
        times: REPEATS,
        within: Duration::ZERO,
        threads: true,
        together: true,
    });
    match build(&candidate.case, &candidate.loaded) {
        Ok(operands) => {
            let mut spent = Duration::ZERO;
            let (judged, _) = judge_repeated(&candidate.case, &operands, backend, again, &mut spent);
            judged.verdict
        }
        // A candidate that the format does not hold is no candidate.
        Err(error) => Verdict::NotRun { reason: error.to_string() },
    }
}

/// A search under way.
pub(super) struct Search<'a> {
    backend: &'a dyn Backend,
    reason: &'a Reason,
    candidates: usize,
    until: Option<Instant>,
    told: ShrinkTold<'a>,
    seen: HashSet<u64>,
    /// Candidates judged.
    pub(super) tried: usize,
    /// The simplest case so far that fails for the reason.
    pub(super) best: Candidate,
    /// Its verdict.
    pub(super) verdict: Verdict,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        backend: &'a dyn Backend,
        (reason, verdict): (&'a Reason, Verdict),
        first: Candidate,
        (candidates, until): (usize, Option<Instant>),
        told: ShrinkTold<'a>,
    ) -> Search<'a> {
        Search {
            backend,
            reason,
            candidates,
            until,
            told,
            seen: HashSet::from([first.fingerprint()]),
            tried: 0,
            best: first,
            verdict,
        }
    }

    /// True when no further candidate may be judged.
    pub(super) fn is_over(&self) -> bool {
        self.tried >= self.candidates || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Judges a candidate, which becomes the best one if it fails for the same reason.
    pub(super) fn attempt(&mut self, candidate: Option<Candidate>) -> bool {
        let Some(candidate) = candidate else {
            return false;
        };
        if self.is_over() || !self.seen.insert(candidate.fingerprint()) {
            return false;
        }
        self.tried += 1;
        let verdict = verdict_of(&candidate, self.backend, self.reason);
        let same = Reason::of(&verdict).as_ref() == Some(self.reason);
        if same {
            (self.best, self.verdict) = (candidate, verdict);
        }
        (self.told)(&self.best, self.tried);
        same
    }

    /// The best one with something changed.
    pub(super) fn attempt_with(&mut self, change: impl FnOnce(&mut Candidate)) -> bool {
        let mut candidate = self.best.clone();
        change(&mut candidate);
        self.attempt(Some(candidate))
    }

    /// Removes what can be removed of a list of `count` things, keeping `least`: chunks of all of it, a half, a quarter, ... one
    /// (delta debugging: Zeller and Hildebrandt, TSE 2002, without the complements, which the next chunk is).
    pub(super) fn remove(
        &mut self,
        least: usize,
        count: impl Fn(&Candidate) -> usize,
        without: impl Fn(&Candidate, Range<usize>) -> Option<Candidate>,
    ) {
        let mut size = count(&self.best).saturating_sub(least);
        while size > 0 {
            let mut start = 0;
            while start < count(&self.best) && !self.is_over() {
                let total = count(&self.best);
                let end = (start + size).min(total);
                let legal = total - (end - start) >= least;
                if !(legal && self.attempt(without(&self.best, start..end))) {
                    start = end;
                }
            }
            size /= 2;
        }
    }

    /// Lowers a number as far as single steps go: `least` at once, then by halves, quarters, ... one.
    pub(super) fn lower(
        &mut self,
        least: usize,
        get: impl Fn(&Candidate) -> usize,
        set: impl Fn(&mut Candidate, usize),
    ) {
        let mut step = get(&self.best).saturating_sub(least);
        while step > 0 && !self.is_over() {
            let value = get(&self.best);
            let smaller = value.checked_sub(step).filter(|&v| v >= least);
            if !smaller.is_some_and(|v| self.attempt_with(|c| set(c, v))) {
                step /= 2;
            }
        }
    }
}
