//! One output element of a case on one backend, in full: what `explain` shows.

use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::execute::{Before, Came, execute};
use crate::expected::Exact;
use crate::operands::{Operands, values_in_order};
use sparse_oracle::contract::Op;
use sparse_oracle::judge::{Accepted, Fared, Place, Rule};
use sparse_oracle::task::SddmmMode;
use std::time::Duration;

/// An output element from its terms to what was found.
#[derive(Clone, Debug)]
pub struct Element {
    /// Row and column.
    pub at: (usize, usize),
    /// Its products' factors, in order.
    pub terms: Vec<(f64, f64)>,
    /// What it may be.
    pub accepted: Accepted,
    /// The bits found.
    pub found: u64,
    /// Factor of the sum.
    pub alpha: f64,
    /// Factor of c.
    pub beta: f64,
    /// What C held.
    pub c: f64,
}

/// Runs the case once and returns the element asked for, or the first wrong one, or the one nearest to its bound.
/// `None` for sparse results, refusals, and positions that do not exist.
#[must_use]
pub fn look(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    at: Option<(usize, usize)>,
) -> Option<Element> {
    let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
        return None;
    };
    if !matches!(case.contract.op, Op::Spmm | Op::Spmv | Op::Sddmm) || case.params.fault.is_some() {
        return None;
    }
    let exact = Exact::new(case, operands, &arithmetic, &profile).ok()??;
    let added: Vec<f64> = match case.params.mode {
        SddmmMode::AddS if case.contract.op == Op::Sddmm => values_in_order(&operands.a),
        _ => operands.c[0].clone(),
    };
    let in_place = case.contract.op != Op::Sddmm && case.reads_c();
    let before = if in_place {
        Before::Values(&operands.c[0])
    } else {
        Before::Poison
    };
    let mut spent = Duration::ZERO;
    let Came::Dense(result) = execute(case, operands, backend, before, &mut spent) else {
        return None;
    };
    let place = if case.contract.op == Op::Sddmm {
        Place::Visited
    } else {
        result.place
    };
    let c_place = if case.contract.op == Op::Sddmm {
        Place::Visited
    } else {
        exact.compact_place()
    };

    let (alpha, beta) = (case.params.alpha, case.params.beta);
    let problem = exact.problem();
    let mut rule = Rule::new(&arithmetic, &profile, alpha, beta, problem.b_max());
    let mut best: Option<(f64, Element)> = None;
    let mut visited = 0;
    let seen = problem.for_each(&mut |site| {
        let offset = place.offset(site.at, visited);
        let c = added
            .get(c_place.offset(site.at, visited))
            .copied()
            .unwrap_or(0.0);
        visited += 1;
        if at.is_some_and(|wanted| wanted != site.at) {
            return;
        }
        let accepted = rule.accepts(site, c);
        let found = result.found().bits(offset);
        let interest = match accepted.judge(found) {
            Fared::Wrong(..) => f64::INFINITY,
            Fared::Within(share) => share,
            Fared::Exact | Fared::Unjudged => 0.0,
        };
        if best.as_ref().is_none_or(|(most, _)| interest > *most) {
            let terms = site.terms.iter().collect();
            let alpha = alpha * site.factor.unwrap_or(1.0);
            best = Some((
                interest,
                Element {
                    at: site.at,
                    terms,
                    accepted,
                    found,
                    alpha,
                    beta,
                    c,
                },
            ));
        }
    });
    seen.ok()?;
    best.map(|(_, element)| element)
}
