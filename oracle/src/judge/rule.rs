//! What one output element may be: every tier that applies, each of which must pass.

use super::accepted::Accepted;
use super::load::{Counting, Load};
use super::problem::{Site, lsb};
use crate::arithmetic::{Arithmetic, Epilogue, Part};
use crate::bound::{Census, Thresholds, Tolerance, is_order_free, tolerance_of};
use crate::exact::{Dyadic, Element, Value};
use crate::model::chain::Unit;
use crate::model::reduction::Model;
use crate::op::{scale, times};
use crate::profile::{Choice, Profile};
use crate::scalar::Rounding;
use std::sync::Arc;

/// How a kernel computes an element, as far as judging needs it.
#[derive(Debug)]
pub struct Rule<'a> {
    arithmetic: &'a Arithmetic,
    alpha: f64,
    beta: f64,
    b_max: f64,
    /// An exact zero may be missing from the pattern and then reads as +0 (profile).
    numeric_pattern: bool,
    /// 0 * A * B and 0 * C are computed rather than skipped (profile).
    alpha0_reads: bool,
    beta0_reads: bool,
    counting: Counting,
    model: Option<Model>,
    /// The allowance of the last (counts, bits of alpha and beta) asked for; neighbours in a row share it.
    cached: Option<Cached>,
}

/// What an allowance depends on besides the declaration: the counts of each part, bits of alpha and of beta.
type Key = ([Census; 2], u64, u64);

/// A key and the allowance it gives.
type Cached = (Key, Option<Arc<Tolerance>>);

impl<'a> Rule<'a> {
    /// Prepares to judge elements computed as declared.
    #[must_use]
    pub fn new(arithmetic: &'a Arithmetic, profile: &Profile, alpha: f64, beta: f64, b_max: f64) -> Rule<'a> {
        Rule {
            arithmetic,
            alpha,
            beta,
            b_max,
            numeric_pattern: profile.has(Choice::NumericPattern),
            alpha0_reads: alpha == 0.0 && profile.has(Choice::Alpha0ReadsAb),
            beta0_reads: beta == 0.0 && profile.has(Choice::Beta0ReadsC),
            counting: Counting::new(arithmetic),
            model: Model::new(arithmetic),
            cached: None,
        }
    }

    /// Works out what element `site` may be, given what C held there.
    #[must_use]
    pub fn accepts(&mut self, site: &Site<'_>, c: f64) -> Accepted {
        let alpha = site.factor.map_or(self.alpha, |factor| self.alpha * factor);
        let mut exact = match site.factor {
            Some(factor) => scale(&times(site.sum, factor), self.alpha, self.beta, c),
            None => scale(site.sum, self.alpha, self.beta, c),
        };
        // SpGEMM, SpMM and SpMV have no factor; alpha = 0 drops the sum, a stored 0 multiplies it.
        let reads_nan =
            self.alpha0_reads && !site.sum.value.is_finite() || self.beta0_reads && !c.is_finite();
        if reads_nan {
            exact.value = Value::Nan;
        }
        let load = self.counting.load(self.arithmetic, site);
        let raised = !load.operands.raised.is_zero() && alpha != 0.0 && alpha.is_finite();
        if raised && exact.gauge.is_finite() {
            let more = Value::from_dyadic(load.operands.raised.clone()).scale(alpha.abs());
            exact.gauge = &exact.gauge + &more;
        }
        // Multiplied by 0, no term brings its roundings along.
        let counts = if alpha == 0.0 {
            Default::default()
        } else {
            load.census
        };
        let mut tolerance = self.tolerance(counts, (alpha, self.beta));
        let flushed = self.flushed(&load, &exact, (alpha, c));
        if let Some(flushed) = &flushed {
            tolerance = tolerance.map(|t| Arc::new(t.widened(flushed)));
        }
        let order_free =
            exact.value.is_finite() && flushed.is_none() && self.is_order_free(site, &load, &exact, alpha, c);
        // A sum near zero times an infinity: rounding decides between NaN and either infinity.
        let torn = site.factor.is_some_and(f64::is_infinite) && self.is_near_zero(site, &load);
        if torn {
            exact.value = Value::Inf { negative: false };
        }
        let overflow = torn
            || tolerance
                .as_ref()
                .is_some_and(|t| self.may_overflow(t, site, &exact, (alpha, c)));
        // 0 * x has the sign of x: where it is computed and added, only the sign of a zero result can change. At alpha = 0
        // the sum counts as +0, and a kernel may add it or not.
        let sign_free = self.alpha0_reads || self.beta0_reads || self.numeric_pattern || self.alpha == 0.0;
        let computes_zero = self.alpha0_reads || site.factor.is_some();
        let beta = self.beta;
        let modelled =
            self.model.as_mut().filter(|_| !reads_nan).and_then(|model| {
                model.element(site.terms.iter(), site.slots, (alpha, beta), c, computes_zero)
            });
        let torn_by_flush = load.torn && alpha != 0.0 || flushed.is_some() && !exact.value.is_finite();
        Accepted {
            exact,
            order_free,
            modelled,
            sign_free,
            nan_too: site.poisoned && alpha != 0.0 || self.alpha_vanishes(site) || torn_by_flush,
            overflow,
            saturates: overflow && self.arithmetic.parts.iter().any(|part| !part.nearest),
            tolerance,
            out: self.arithmetic.out,
        }
    }

    fn tolerance(&mut self, counts: [Census; 2], (alpha, beta): (f64, f64)) -> Option<Arc<Tolerance>> {
        let key = (counts, alpha.to_bits(), beta.to_bits());
        if self.cached.as_ref().is_none_or(|(cached, _)| *cached != key) {
            // Parts are asked for in order.
            let mut counts = counts.into_iter();
            let census = |_: &Part| counts.next().unwrap_or_default();
            let fresh = tolerance_of(self.arithmetic, census, (alpha, beta), self.b_max);
            self.cached = Some((key, fresh.map(Arc::new)));
        }
        self.cached.as_ref().and_then(|(_, t)| t.clone())
    }

    /// What a flush of subnormal operands may take from the result, where there are any.
    fn flushed(&self, load: &Load, exact: &Element, (alpha, c): (f64, f64)) -> Option<Dyadic> {
        let number = |v: f64| Dyadic::from_f64(v.abs()).unwrap_or_else(Dyadic::zero);
        let mut parts = self.arithmetic.parts.iter();
        let thresholds = parts.next().map(|part| Thresholds::new(self.arithmetic, part))?;
        let mut all = &load.operands.flushed * &number(alpha);
        if self.beta != 0.0
            && [c, self.beta, self.beta * c]
                .iter()
                .any(|&v| thresholds.may_flush(v))
        {
            all = &all + &(&number(self.beta) * &number(c));
        }
        if thresholds.may_flush(alpha) {
            all = &all + &exact.gauge.to_dyadic().unwrap_or_else(Dyadic::zero);
        }
        (!all.is_zero()).then_some(all)
    }

    /// True when alpha, folded into A, underflows some a to 0 that then meets an infinite b: 0 x Inf is NaN.
    fn alpha_vanishes(&self, site: &Site<'_>) -> bool {
        if self.arithmetic.epilogue != Epilogue::AlphaIntoA || self.alpha == 0.0 || self.alpha.abs() >= 1.0 {
            return false;
        }
        let unit = Unit {
            precision: self.arithmetic.part().acc,
        };
        let vanishes = |(a, b): (f64, f64)| b.is_infinite() && a != 0.0 && unit.mul(self.alpha, a) == 0.0;
        !site.sum.value.is_finite() && site.terms.iter().any(vanishes)
    }

    /// True when rounding may bring the unscaled sum to zero, or away from it.
    fn is_near_zero(&mut self, site: &Site<'_>, load: &Load) -> bool {
        let sum = site.sum;
        let allowed = self.tolerance(load.census, (1.0, 0.0));
        let allowed = allowed.map(|t| t.widened(&load.operands.flushed));
        let gauge = &sum.gauge + &Value::from_dyadic(load.operands.raised.clone());
        sum.terms > 0
            && sum.value.is_finite()
            && !(sum.value.is_zero() && sum.gauge.is_zero())
            && allowed.is_none_or(|t| t.distance(0.0, &sum.value, &gauge).within)
    }

    /// T0: all intermediates, scaled or not, are small multiples of one power of two.
    fn is_order_free(&self, site: &Site<'_>, load: &Load, exact: &Element, alpha: f64, c: f64) -> bool {
        if self.arithmetic.epilogue == Epilogue::AlphaIntoA && alpha.abs() != 1.0 {
            return false;
        }
        let c = if self.beta == 0.0 { 0.0 } else { c };
        let scaled = site.lsb.saturating_add(lsb(alpha));
        let lowest = site
            .lsb
            .min(scaled)
            .min(lsb(c))
            .min(lsb(c).saturating_add(lsb(self.beta)));
        let mut total = exact.gauge.approx() + site.sum.gauge.approx() + c.abs();
        let raised = &load.operands.raised;
        if !raised.is_zero() {
            // Aligned by more than their magnitude: one bit less.
            total = 2.0 * (total + raised.to_f64(Rounding::NearestEven));
        }
        // Nothing but zeros: any order gives zero. (A sum that is too small for f64 is no zero.)
        let nothing = exact.gauge.is_zero() && site.sum.gauge.is_zero() && c == 0.0;
        nothing || is_order_free(self.arithmetic, lowest, total)
    }

    fn may_overflow(
        &self,
        tolerance: &Tolerance,
        site: &Site<'_>,
        exact: &Element,
        (alpha, c): (f64, f64),
    ) -> bool {
        // alpha * a is an intermediate of its own, however small b is.
        if self.arithmetic.epilogue == Epilogue::AlphaIntoA && alpha.abs() != 1.0 && alpha != 0.0 {
            let largest = site
                .terms
                .iter()
                .map(|t| t.0.abs())
                .filter(|a| a.is_finite())
                .fold(0.0, f64::max);
            if tolerance.may_overflow(&Value::from_f64(largest * alpha.abs())) {
                return true;
            }
        }
        match exact.value {
            Value::Nan => false,
            // Beside the infinite terms, finite ones may overflow to the other side and give NaN.
            Value::Inf { .. } => {
                let addend = if self.beta != 0.0 && c.is_finite() {
                    (self.beta * c).abs()
                } else {
                    0.0
                };
                // An infinite factor turns no finite sum into NaN: only overflow before it may.
                let alpha = if site.factor.is_some_and(f64::is_infinite) {
                    self.alpha
                } else {
                    alpha
                };
                let products = if alpha == 0.0 && !self.alpha0_reads {
                    0.0
                } else {
                    site.terms.finite_gauge() * alpha.abs().max(1.0)
                };
                tolerance.may_overflow(&Value::from_f64(products + addend))
            }
            _ => {
                let multiplied = alpha != 0.0 || self.alpha0_reads || site.factor.is_some();
                let unscaled = multiplied && tolerance.may_overflow(&site.sum.gauge);
                unscaled || tolerance.may_overflow(&exact.gauge)
            }
        }
    }
}
