//! What is known about one element before looking at the result, and how a result fares against it.

use crate::bound::Tolerance;
use crate::exact::{Element, Value};
use crate::scalar::{Precision, Rounding, decode};
use crate::verdict::Criterion;
use std::sync::Arc;

/// What is known about one element before looking at the result.
#[derive(Clone, Debug)]
pub struct Accepted {
    /// Exact `alpha * S + beta * c` and its gauge, with subnormal operands counted as a tensor core aligns them.
    pub exact: Element,
    /// Only the exact value is right, rounded once where the result is narrower than the accumulator.
    pub order_free: bool,
    /// The modelled bits, where the declaration fixes them.
    pub modelled: Option<u64>,
    /// A zero of either sign matches the model.
    pub(super) sign_free: bool,
    /// NaN is legal besides the value (multiplied pads, an alpha that underflows beside an infinity).
    pub(super) nan_too: bool,
    /// Inf and NaN are legal: an intermediate may overflow.
    pub(super) overflow: bool,
    /// The unit saturates: an intermediate overflow may have become the largest finite number, so that any finite result is possible.
    pub(super) saturates: bool,
    pub(super) tolerance: Option<Arc<Tolerance>>,
    pub(super) out: Precision,
    /// What is right besides: the element for an alpha or beta that may be read as zero.
    pub(super) or_as: Vec<Accepted>,
}

/// The verdict on one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementVerdict {
    /// Equal to the exact value.
    Exact,
    /// Within the bound, at this share of it.
    Within(f64),
    /// No tier has anything to say: the declared arithmetic promises nothing for so many terms.
    Unjudged,
    /// Wrong by this tier, with error and bound where they exist.
    Wrong(Criterion, Option<(f64, f64)>),
}

impl Accepted {
    /// Judges the bits of one element (never the poison: the caller has looked). The strongest statement speaks first: T0, then
    /// T1, then T2.
    #[must_use]
    pub fn judge(&self, bits: u64) -> ElementVerdict {
        let right = |verdict: &ElementVerdict| !matches!(verdict, ElementVerdict::Wrong(..));
        let by_itself = self.judge_as_read(bits);
        let others = || self.or_as.iter().map(|other| other.judge(bits)).find(right);
        if right(&by_itself) { by_itself } else { others().unwrap_or(by_itself) }
    }

    fn judge_as_read(&self, bits: u64) -> ElementVerdict {
        let y = decode(bits, self.out);
        match self.judge_value(y) {
            wrong @ ElementVerdict::Wrong(..) => wrong,
            _ if self.misses_the_model(bits, y) => {
                let finite = self.exact.value.is_finite() && y.is_finite();
                let distance = self.tolerance.as_ref().filter(|_| finite);
                let figures = distance.map(|t| t.distance(y, &self.exact.value, &self.exact.gauge));
                ElementVerdict::Wrong(Criterion::T2, figures.map(|d| (d.error, d.bound)))
            }
            right => right,
        }
    }

    /// T2: other bits than the declared reduction gives, where it fixes them.
    fn misses_the_model(&self, bits: u64, y: f64) -> bool {
        self.modelled.is_some_and(|modelled| {
            let model = decode(modelled, self.out);
            let zeros = self.sign_free && model == 0.0 && y == 0.0;
            !(bits == modelled || model.is_nan() && y.is_nan() || zeros)
        })
    }

    /// T0 and T1.
    fn judge_value(&self, y: f64) -> ElementVerdict {
        match &self.exact.value {
            Value::Nan => if_right(y.is_nan()),
            Value::Inf { negative } => {
                let right = y.is_infinite() && (y < 0.0) == *negative;
                if_right(right || self.nan_too && y.is_nan() || self.overflow && !y.is_finite())
            }
            _ => self.judge_finite(y),
        }
    }

    fn judge_finite(&self, y: f64) -> ElementVerdict {
        if self.nan_too && y.is_nan() {
            return ElementVerdict::Exact;
        }
        let Some(tolerance) = &self.tolerance else {
            // Nothing was promised for so many terms; T0 and T2 may still speak.
            return match (self.order_free, self.modelled) {
                (true, _) => self.if_nearest(y),
                (false, Some(_)) => ElementVerdict::Within(0.0),
                (false, None) => ElementVerdict::Unjudged,
            };
        };
        if !y.is_finite() {
            // Legal, but no error that a share could measure.
            return if self.overflow {
                ElementVerdict::Within(0.0)
            } else {
                ElementVerdict::Wrong(Criterion::T1, None)
            };
        }
        let distance = tolerance.distance(y, &self.exact.value, &self.exact.gauge);
        let figures = Some((distance.error, distance.bound));
        if self.order_free && !self.is_nearest(y) {
            ElementVerdict::Wrong(Criterion::T0, figures)
        } else if !distance.within && self.saturates {
            ElementVerdict::Within(0.0)
        } else if !distance.within {
            ElementVerdict::Wrong(Criterion::T1, figures)
        } else if distance.error == 0.0 {
            ElementVerdict::Exact
        } else {
            ElementVerdict::Within(distance.share())
        }
    }

    /// True where y is the exact value, rounded once. (A zero has either sign.)
    fn is_nearest(&self, y: f64) -> bool {
        y == decode(self.nearest_bits(), self.out)
    }

    /// Without a bound: no share of one can be said.
    fn if_nearest(&self, y: f64) -> ElementVerdict {
        match self.is_nearest(y) {
            true if Value::from_f64(y).to_dyadic() == self.exact.value.to_dyadic() => ElementVerdict::Exact,
            true => ElementVerdict::Within(0.0),
            false => ElementVerdict::Wrong(Criterion::T0, None),
        }
    }

    /// The largest distance from the exact value that T1 allows, nearest f64; `None` where nothing is promised or the
    /// exact value is not finite.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        let tolerance = self.tolerance.as_ref().filter(|_| self.exact.value.is_finite());
        tolerance.map(|t| t.relative() * self.exact.gauge.approx() + t.absolute())
    }

    /// The allowance that T1 uses, up to the gauge.
    #[must_use]
    pub fn tolerance(&self) -> Option<&Tolerance> {
        self.tolerance.as_deref()
    }

    /// True where T1 applies: the declared arithmetic promises something for so many terms.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.tolerance.is_some()
    }

    /// True where Inf and NaN are right too, because an intermediate may overflow.
    #[must_use]
    pub fn may_overflow(&self) -> bool {
        self.overflow
    }

    /// The bits that a reader should see as expected: the model's, else the correctly rounded ones.
    #[must_use]
    pub fn expected_bits(&self) -> u64 {
        self.modelled.unwrap_or_else(|| self.nearest_bits())
    }

    /// The bits of the exact value, correctly rounded.
    #[must_use]
    pub fn nearest_bits(&self) -> u64 {
        self.exact.value.round(self.out, Rounding::NearestEven)
    }

    /// The bits that stand beside a miss of this tier: those of the model where it decided, else the correctly rounded ones.
    #[must_use]
    pub fn bits_for(&self, tier: Criterion) -> u64 {
        match tier {
            Criterion::T2 => self.expected_bits(),
            Criterion::T0 | Criterion::T1 => self.nearest_bits(),
        }
    }
}

fn if_right(right: bool) -> ElementVerdict {
    if right { ElementVerdict::Exact } else { ElementVerdict::Wrong(Criterion::T1, None) }
}

#[cfg(test)]
mod tests {
    use super::super::one_row::{one_row, wide};
    use super::super::rows::Scratch;
    use super::super::rule::Rule;
    use super::*;
    use crate::arithmetic::Arithmetic;
    use crate::profile::Profile;
    use crate::scalar::Precision::{F16, F32};
    use crate::scalar::encode;

    /// Found by mutation: what an element says of itself, a bound and whether it may overflow, was only read by who writes reports.
    #[test]
    fn an_element_says_what_it_may_be() {
        let arithmetic = Arithmetic::any(F32, F16);
        let bound = crate::bound::tolerance(&arithmetic, 2, 1.0, 0.0, 0.0).expect("few roundings");
        let accepted = |b: f64| {
            let mut said = None;
            one_row(&[250.0, 1.0], &wide(&[&[b], &[b]]), &mut |row| {
                let mut rule = Rule::new(&arithmetic, &Profile::default(), 1.0, 0.0, 0.0);
                row.element(0, &mut Scratch::default(), &mut |site| said = Some(rule.accepts(site, 0.0)));
            });
            said.expect("an element")
        };
        let small = accepted(4.0);
        assert_eq!(small.bound(), Some(bound.relative() * 1004.0 + bound.absolute()));
        assert!(small.order_free && !small.may_overflow() && accepted(261.0).may_overflow());
        let judged = [1004.0, 1004.5, f64::NAN].map(|y| small.judge(encode(y, F16, Rounding::NearestEven)));
        assert!(matches!(judged[0], ElementVerdict::Exact), "{judged:?}");
        assert!(matches!(judged[1], ElementVerdict::Wrong(Criterion::T0, _)), "{judged:?}");
        assert!(matches!(judged[2], ElementVerdict::Wrong(..)), "{judged:?}");
    }

    /// Found by mutation: nobody asked of a sum that is NaN whether it may overflow, which makes nothing else of it.
    #[test]
    fn what_is_no_number_does_not_overflow() {
        let arithmetic = Arithmetic::any(F32, F16);
        for (b, overflows) in [([f64::NAN, 1.0], false), ([f64::INFINITY, 1.0], false), ([6e4, 6e4], true)] {
            one_row(&[1.0, 1.0], &wide(&[&b[..1], &b[1..]]), &mut |row| {
                let mut rule = Rule::new(&arithmetic, &Profile::default(), 1.0, 0.0, 0.0);
                row.element(0, &mut Scratch::default(), &mut |site| {
                    assert_eq!(rule.accepts(site, 0.0).may_overflow(), overflows, "{b:?}");
                });
            });
        }
    }
}
