//! One output element of a case in full: what `explain` shows.

use crate::backend::Backend;
use crate::case::Case;
use crate::execute::{Before, execute};
use crate::operands::Operands;
use crate::response::{DenseResult, Response};
use crate::runner::starts;
use sparse_oracle::arithmetic::{Arithmetic, Slot};
use sparse_oracle::judge::{Accepted, ElementInput, ElementVerdict, ExactOperands, Place, Terms};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::verdict::Criterion;
use std::time::Duration;

/// An output element from its terms to what was found.
#[derive(Clone, Debug)]
pub struct Element {
    /// Row and column.
    pub at: (usize, usize),
    /// SDDMM: row and column of the stored position.
    pub position: Option<(u32, u32)>,
    /// Its products' factors, in order, rounded as declared.
    pub terms: Vec<(f64, f64)>,
    /// The inner index of each term; empty where it is not known.
    pub inner: Vec<u32>,
    /// The place of each term along k, where the layout gives places.
    pub slots: Option<Vec<Slot>>,
    /// What it may be.
    pub accepted: Accepted,
    /// The bits found; without a backend, those that the declared order gives (or the nearest ones).
    pub found: u64,
    /// Factor of the sum.
    pub alpha: f64,
    /// The stored value in that factor, of an SDDMM that scales by it.
    pub factor: Option<f64>,
    /// Factor of c.
    pub beta: f64,
    /// What C held.
    pub c: f64,
    /// True where it is of the second call, from another C: among those that were asked for, the first one had none that was wrong or as near to its bound.
    pub is_second: bool,
    /// alpha = 0 multiplies all the same.
    pub computes_zero: bool,
    /// Largest magnitude of the operand that alpha is not folded into: |b|, or |a|.
    pub other_max: f64,
}

/// Who computes the element, and how it is judged.
#[derive(Clone, Copy)]
pub struct ElementView<'a> {
    /// The declared arithmetic.
    pub arithmetic: &'a Arithmetic,
    /// The declared choices.
    pub profile: &'a Profile,
    /// Who runs; nobody for a look at what an arithmetic would give.
    pub backend: Option<&'a dyn Backend>,
}

/// How much a reader wants to see an element: the strength of the statement that it is wrong, then the share of its bound.
type Interest = (u8, f64);

/// Runs the case and returns the element asked for, or the first wrong one by the strongest tier that fails, or the one nearest to its bound:
/// of the first call that is wrong, where C is read from two, else of the one that comes nearest to a bound. `None` for conversions, refusals, positions that do not exist, and sparse results of a backend.
#[must_use]
pub fn look(
    case: &Case,
    operands: &Operands,
    view: ElementView<'_>,
    at: Option<(usize, usize)>,
) -> Option<Element> {
    let is_dense = case.contract.op.is_dense();
    let legal = case.params.fault.is_none();
    if !legal || case.contract.op.is_exact() || view.backend.is_some() && !is_dense {
        return None;
    }
    let exact = ExactOperands::new(&operands.inputs(case), view.arithmetic, view.profile).ok()??;
    let starts = starts(case, operands, view.profile);
    // Where nothing runs, no call differs from another.
    let calls = if view.backend.is_some() { starts.len() } else { 1 };
    let mut best: Option<(Interest, Element)> = None;
    for call in starts.iter().take(calls).map(Option::as_deref).enumerate() {
        let Some((interest, element)) = look_at_call(case, operands, (view, &exact), at, call) else {
            break;
        };
        if interest.0 > 0 {
            return Some(element);
        }
        // The verdict on the case is that of the worst element of all calls.
        if best.as_ref().is_none_or(|(most, _)| interest > *most) {
            best = Some((interest, element));
        }
    }
    best.map(|(_, element)| element)
}

/// The same of one call: its number, and the C that it starts from.
fn look_at_call(
    case: &Case,
    operands: &Operands,
    (view, exact): (ElementView<'_>, &ExactOperands<'_>),
    at: Option<(usize, usize)>,
    (call, c): (usize, Option<&[f64]>),
) -> Option<(Interest, Element)> {
    let result = match view.backend {
        Some(backend) => Some(ran(case, operands, backend, c)?),
        None => None,
    };
    let is_sampled = case.contract.op.is_sampled();
    let (alpha, beta) = (case.params.alpha, case.params.beta);
    let arithmetic = exact.as_laid_out(case.contract.format, view.arithmetic);
    let other_max = exact.problem().other_max(arithmetic.epilogue);
    let alpha0_reads = alpha == 0.0 && view.profile.has(Choice::Alpha0ReadsAb);
    let mut best: Option<(Interest, Element)> = None;
    let declared = (&arithmetic, view.profile);
    let found = result.as_ref().map(|result| {
        let place = if is_sampled { Place::Visited } else { result.place };
        (result.found(), place)
    });
    let around = (c, found);
    let seen = exact.for_each_accepted(declared, (alpha, beta), around, &mut |site, seen, accepted| {
        if at.is_some_and(|wanted| wanted != site.at) {
            return;
        }
        let found = seen.found.unwrap_or_else(|| accepted.expected_bits());
        let interest = match accepted.judge(found) {
            ElementVerdict::Wrong(Criterion::T0, _) => (3, 0.0),
            ElementVerdict::Wrong(Criterion::T1, _) => (2, 0.0),
            ElementVerdict::Wrong(Criterion::T2, _) => (1, 0.0),
            ElementVerdict::Within(share) => (0, share),
            ElementVerdict::Exact | ElementVerdict::Unjudged => (0, 0.0),
        };
        if best.as_ref().is_none_or(|(most, _)| interest > *most) {
            let element = Element {
                at: site.at,
                position: position(exact, site.at.0),
                terms: site.terms.iter().collect(),
                inner: inner(exact, site),
                slots: site.slots.map(<[Slot]>::to_vec),
                accepted,
                found,
                alpha: alpha * site.factor.unwrap_or(1.0),
                factor: site.factor,
                beta,
                c: seen.held,
                is_second: call > 0,
                computes_zero: alpha0_reads || site.factor.is_some(),
                other_max,
            };
            best = Some((interest, element));
        }
    });
    seen.ok()?;
    best
}

fn ran(case: &Case, operands: &Operands, backend: &dyn Backend, c: Option<&[f64]>) -> Option<DenseResult> {
    let mut spent = Duration::ZERO;
    match execute(case, operands, backend, Before::of(case, c), &mut spent) {
        Response::Dense(result) => Some(result),
        _ => None,
    }
}

fn position(exact: &ExactOperands<'_>, number: usize) -> Option<(u32, u32)> {
    match exact {
        ExactOperands::Sddmm { positions, .. } => positions.get(number).copied(),
        _ => None,
    }
}

fn inner(exact: &ExactOperands<'_>, site: &ElementInput<'_>) -> Vec<u32> {
    match site.terms {
        Terms::Row { cols, .. } => cols.iter().map(|&col| exact.column(col)).collect(),
        Terms::Rows { x, .. } => (0..x.len() as u32).collect(),
        Terms::List(_) => Vec::new(),
    }
}
