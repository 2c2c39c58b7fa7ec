//! Is the product right, on the very operands that are timed? The oracle's judgement, in panels of rows side by side.
//!
//! ```text
//! rows of A   |--panel--|--panel--|--panel--|     each with about the same number of terms
//!             judge()   (skipped) judge()         all of them, or every k-th where there are more terms than the limit
//! ```
//!
//! What is judged is decided before anything runs and printed as a share. Where panels were skipped, every element was still
//! looked at for poison (not written).

use super::contender::{Contender, Entrant};
use rayon::prelude::*;
use sparse_conformance_core::response::Response;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::each_precision;
use sparse_oracle::format::{Csr, CsrParts};
use sparse_oracle::judge::{ExactOperands, Judged, Output, Place, Problem, judge_problem, judge_spgemm};
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{AnySlice, Element};
use sparse_oracle::verdict::{Criterion, Verdict};
use std::ops::Range;

/// The judgement of one contender.
#[derive(Clone, Debug)]
pub(super) struct Judgement {
    /// The verdict.
    pub(super) verdict: Verdict,
    /// Tiers that decided elements.
    pub(super) tiers: Vec<Criterion>,
    /// Share of the elements that were judged.
    pub(super) share: f64,
}

impl Judgement {
    fn refused(message: String) -> Judgement {
        Judgement::unjudged(Verdict::Crashed { message })
    }

    fn unjudged(verdict: Verdict) -> Judgement {
        Judgement { verdict, tiers: Vec::new(), share: 0.0 }
    }

    /// True where it may be timed.
    pub(super) fn is_right(&self) -> bool {
        matches!(self.verdict, Verdict::Exact | Verdict::Within { .. })
    }
}

/// Panels: enough for the threads to share evenly, few enough that each pays for its look at B.
const PANELS: u64 = 32;

/// Panels that are judged where most are skipped.
const SAMPLED: u64 = 8;

/// Lets the contender compute once and judges what it wrote, on at most `terms` products of elements.
pub(super) fn judge(contender: &mut Contender<'_>, terms: u64) -> Judgement {
    let (arithmetic, profile) = (contender.arithmetic, contender.profile.clone());
    let (entrant, poisoned) = (contender.entrant, contender.is_poisoned());
    let response = contender.response();
    let exact = match exact(entrant, &arithmetic, &profile) {
        Ok(exact) => exact,
        Err(reason) => return Judgement::refused(reason),
    };
    match response {
        Response::Sparse(raw) => {
            let judged = judge_spgemm(&exact.problem(), &arithmetic, &profile, raw.kind, raw);
            Judgement { verdict: judged.verdict, tiers: judged.tiers, share: 1.0 }
        }
        Response::Dense(result) => {
            let laid_out = exact.as_laid_out(entrant.case.contract.format, &arithmetic);
            let (found, place, poison) = result.output();
            let poison = poison.filter(|_| poisoned);
            dense(&exact.problem(), (&laid_out, &profile), (found, place, poison), terms)
        }
        Response::Broke(mismatch) => Judgement::unjudged(Verdict::Wrong(Box::new(mismatch))),
        Response::TimedOut { seconds, idle, tail } => {
            Judgement::unjudged(Verdict::TimedOut { seconds, idle, call: None, tail: Some(tail) })
        }
        Response::NotAsked(reason) => Judgement::unjudged(Verdict::NotRun { reason }),
        Response::Refused(message) => Judgement::refused(message),
        Response::Panicked(message) => Judgement::refused(format!("panicked: {message}")),
        Response::Parts(_) => {
            Judgement::refused("answered with another kind of result than asked for".to_owned())
        }
    }
}

/// What the contender's operands are as its declaration reads them.
fn exact<'e>(
    Entrant { case, operands, .. }: &'e Entrant<'_>,
    arithmetic: &Arithmetic,
    profile: &Profile,
) -> Result<ExactOperands<'e>, String> {
    let exact = ExactOperands::new(&operands.inputs(case), arithmetic, profile);
    let exact = exact.map_err(|refusal| refusal.to_string())?;
    exact.ok_or_else(|| "the operation has no arithmetic to judge".to_owned())
}

fn dense(
    problem: &Problem<'_>,
    (arithmetic, profile): (&Arithmetic, &Profile),
    (found, place, poison): (AnySlice<'_>, Place, Option<u64>),
    limit: u64,
) -> Judgement {
    let (rows, cols) = problem.shape();
    let panels = panels(problem, limit);
    let terms: u64 = panels.iter().map(|(_, terms)| terms).sum();
    let step = (terms.div_ceil(limit.max(1)) as usize).clamp(1, panels.len().max(1));
    let judged: Vec<Judged> = panels
        .into_par_iter()
        .step_by(step)
        .map(|(range, _)| {
            let output = Output {
                found: from(found, place.offset((range.start, 0), range.start)),
                place,
                poison,
                before: None,
                before_place: place,
            };
            judge_panel(problem, &range, (arithmetic, profile), &output)
        })
        .collect();
    let mut all = merged(judged, rows * cols);
    if step > 1
        && all.is_right()
        && let Some(at) = poison.and_then(|poison| (0..found.len()).find(|&i| found.bits(i) == poison))
    {
        all.verdict = Verdict::Crashed { message: format!("offset {at} of the output was not written") };
    }
    all
}

/// Ranges of rows with about the same number of terms, and that number. Where there are more terms than
/// the limit, the panels are that much smaller: one of 32 of a product of 4096 x 4096 matrices holds half a billion.
fn panels(problem: &Problem<'_>, limit: u64) -> Vec<(Range<usize>, u64)> {
    let (rows, cols) = problem.shape();
    let weight = |row: usize| -> u64 {
        match problem {
            Problem::Spmm { a, .. } => (u64::from(a.row_ptr[row + 1] - a.row_ptr[row]) + 8) * cols as u64,
            Problem::Sddmm { x, .. } => x.cols() as u64 + 8,
            // No other product has a dense result.
            _ => 1,
        }
    };
    let total: u64 = (0..rows).map(weight).sum();
    let share = total.div_ceil(PANELS).min(limit.div_ceil(SAMPLED)).max(1);
    let (mut panels, mut start, mut held) = (Vec::new(), 0, 0);
    for row in 0..rows {
        held += weight(row);
        if held >= share || row + 1 == rows {
            panels.push((start..row + 1, held));
            (start, held) = (row + 1, 0);
        }
    }
    panels
}

fn judge_panel(
    problem: &Problem<'_>,
    range: &Range<usize>,
    (arithmetic, profile): (&Arithmetic, &Profile),
    output: &Output<'_>,
) -> Judged {
    let factors = (1.0, 0.0);
    match problem {
        Problem::Spmm { a, pads, b, slots } => {
            let (a, pads, slots) =
                (rows_of(a, range), pads.map(|p| rows_of(p, range)), slots.map(|s| rows_of(s, range)));
            let panel = Problem::Spmm { a: &a, pads: pads.as_ref(), b, slots: slots.as_ref() };
            judge_problem(&panel, arithmetic, profile, factors, output)
        }
        Problem::Sddmm { positions, x, y, factors: scale } => {
            let scale = if scale.is_empty() { scale } else { &scale[range.clone()] };
            let panel = Problem::Sddmm { positions: &positions[range.clone()], x, y, factors: scale };
            judge_problem(&panel, arithmetic, profile, factors, output)
        }
        // A sparse result is judged whole.
        _ => judge_problem(problem, arithmetic, profile, factors, output),
    }
}

/// Some rows of a matrix, as a matrix.
fn rows_of<T: Clone>(matrix: &Csr<T>, range: &Range<usize>) -> Csr<T> {
    let offsets = &matrix.row_ptr[range.start..=range.end];
    let (first, last) = (offsets[0] as usize, offsets[offsets.len() - 1] as usize);
    let parts = CsrParts {
        rows: range.len(),
        cols: matrix.cols,
        row_ptr: offsets.iter().map(|o| o - offsets[0]).collect(),
        col_idx: matrix.col_idx[first..last].to_vec(),
        values: matrix.values[first..last].to_vec(),
    };
    // Rows of a valid matrix are one; without them nothing could be judged, and an empty matrix is wrong everywhere.
    Csr::try_new(parts).unwrap_or_default()
}

fn from(found: AnySlice<'_>, start: usize) -> AnySlice<'_> {
    each_precision!(AnySlice, found, v => Element::wrap_slice(v.get(start..).unwrap_or_default()))
}

fn merged(judged: Vec<Judged>, elements: usize) -> Judgement {
    let seen: usize = judged.iter().map(|j| j.elements).sum();
    let tiers = [Criterion::T0, Criterion::T1, Criterion::T2];
    let tiers = tiers.into_iter().filter(|t| judged.iter().any(|j| j.tiers.contains(t))).collect();
    let worst = judged.into_iter().map(|j| j.verdict).fold(Verdict::Exact, worse);
    let share = if elements == 0 { 1.0 } else { seen as f64 / elements as f64 };
    Judgement { verdict: worst, tiers, share }
}

/// The verdict on two parts of a result: the first that is wrong, or the larger share of a bound.
fn worse(first: Verdict, second: Verdict) -> Verdict {
    match first {
        Verdict::Exact => second,
        Verdict::Within { share } => match second {
            Verdict::Exact => first,
            Verdict::Within { share: other } => Verdict::Within { share: share.max(other) },
            Verdict::Wrong(_)
            | Verdict::AgreedRefusal { .. }
            | Verdict::LoneRefusal { .. }
            | Verdict::LoneAcceptance { .. }
            | Verdict::Crashed { .. }
            | Verdict::TimedOut { .. }
            | Verdict::Unsupported { .. }
            | Verdict::NotRun { .. } => second,
        },
        Verdict::Wrong(_)
        | Verdict::AgreedRefusal { .. }
        | Verdict::LoneRefusal { .. }
        | Verdict::LoneAcceptance { .. }
        | Verdict::Crashed { .. }
        | Verdict::TimedOut { .. }
        | Verdict::Unsupported { .. }
        | Verdict::NotRun { .. } => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::format::Dense;

    /// One of 32 panels of a 4096-row product held 32 times the limit, and one thread judged it while the others waited.
    #[test]
    fn a_panel_is_never_far_above_the_limit() {
        let (rows, cols, limit) = (4096, 64, 100_000);
        let a = Csr::try_new(CsrParts {
            rows,
            cols: 1,
            row_ptr: (0..=rows as u32).collect(),
            col_idx: vec![0; rows],
            values: vec![1.0; rows],
        });
        let a = a.expect("one entry a row");
        let b = Dense::from_fn(1, cols, |_, _| 1.0);
        let problem = Problem::Spmm { a: &a, pads: None, b: &b.into(), slots: None };
        let panels = panels(&problem, limit);
        let most = panels.iter().map(|(_, terms)| *terms).max();
        assert!(most <= Some(limit / SAMPLED + 9 * cols as u64), "{most:?}");
        assert_eq!(panels.first().map(|(range, _)| range.start), Some(0));
        assert_eq!(panels.last().map(|(range, _)| range.end), Some(rows));
    }
}
