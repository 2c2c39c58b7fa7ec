//! From a failing case to a minimal one that fails for the same reason.
//!
//! ```text
//! finding -> does it fail again? --no--> flaky: how often it was seen, and no search
//!                   | yes
//!                   v
//!            leap -> [ few entries -> parameters, n -> rows, columns, entries -> values ] until nothing changes
//!                   |
//!                   v
//!            case line + matrix.mtx, read back and judged once more
//! ```
//!
//! A candidate is a case and a matrix, run by `Backend::run` like any other case, so that what crashes or hangs in a
//! process of its own shrinks too (at the price of the time limit for each candidate that hangs). The result is
//! 1-minimal as far as the budget went: no single row, column or entry can go.
//!
//! Sources: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002 (delta debugging);
//! Regehr et al., "Test-Case Reduction for C Compiler Bugs", PLDI 2012 (passes to a fixed point).

mod kept;
mod matrix;
mod params;
mod search;
mod select;
mod values;

use crate::backend::Backend;
use crate::case::Case;
use crate::origin::Loaded;
use sparse_oracle::verdict::Verdict;
use std::time::Instant;

pub use self::search::{Candidate, ShrinkBudget};
pub use self::select::{Chosen, select};
pub use crate::report::Reason;

pub use self::search::verdict_of;

use self::search::Search;

/// Runs that a failure gets to show itself again when the first did not show it.
const RERUNS: usize = 5;

/// What became of a failing case.
#[derive(Debug)]
pub enum ShrinkOutcome {
    /// A case that fails for the same reason and no simpler one was found.
    Shrunk(Box<Shrunk>),
    /// It did not fail again at once.
    Flaky {
        /// Runs that failed for the reason, the first one not counted.
        seen: usize,
        /// Runs.
        runs: usize,
    },
}

/// The end of a search.
#[derive(Debug)]
pub struct Shrunk {
    /// The minimal case with its matrix. Its origin is that of the first case: whoever writes the matrix names the file.
    pub minimal: Candidate,
    /// Why both fail.
    pub reason: Reason,
    /// The verdict on the minimal case.
    pub verdict: Verdict,
    /// Candidates judged.
    pub tried: usize,
    /// True when the budget ended the search.
    pub unfinished: bool,
}

/// What is told of a search after each candidate: the simplest case so far, and how many were judged.
pub type ShrinkTold<'a> = &'a dyn Fn(&Candidate, usize);

/// Shrinks a case that failed for `reason` on `backend`.
#[must_use]
pub fn shrink(
    case: &Case,
    loaded: &Loaded,
    backend: &dyn Backend,
    reason: &Reason,
    budget: ShrinkBudget,
    told: ShrinkTold<'_>,
) -> ShrinkOutcome {
    let first = Candidate { case: case.clone(), loaded: loaded.clone() };
    // The first run counts: one that hangs takes the time limit.
    let until = budget.time.and_then(|time| Instant::now().checked_add(time));
    let again = |verdict: &Verdict| Reason::of(verdict).as_ref() == Some(reason);
    let verdict = verdict_of(&first, backend, reason);
    if !again(&verdict) {
        let seen = (1..RERUNS).filter(|_| again(&verdict_of(&first, backend, reason))).count();
        return ShrinkOutcome::Flaky { seen, runs: RERUNS };
    }
    let mut search = Search::new(backend, (reason, verdict), first, (budget.candidates, until), told);
    let complete = run(&mut search);
    ShrinkOutcome::Shrunk(Box::new(Shrunk {
        minimal: search.best,
        reason: reason.clone(),
        verdict: search.verdict,
        tried: search.tried,
        unfinished: !complete,
    }))
}

/// All passes until a round changes nothing. False when the budget ended first.
fn run(search: &mut Search<'_>) -> bool {
    values::leap(search);
    loop {
        let before = state(&search.best);
        values::few_entries(search);
        params::smaller(search);
        kept::calls(search);
        matrix::smaller(search);
        values::simpler(search);
        if search.is_over() {
            return false;
        }
        if state(&search.best) == before {
            return true;
        }
    }
}

/// Line, rows, columns, value bits and shape.
type RoundState = (String, Vec<u32>, Vec<u32>, Vec<u64>, (usize, usize));

/// The line and the matrix's bits: what a round may change.
fn state(candidate: &Candidate) -> RoundState {
    let coo = &candidate.loaded.coo;
    (
        candidate.case.to_string(),
        coo.row_idx.clone(),
        coo.col_idx.clone(),
        coo.values.iter().map(|v| v.to_bits()).collect(),
        (coo.rows, coo.cols),
    )
}
