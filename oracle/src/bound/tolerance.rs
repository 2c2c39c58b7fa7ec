//! The allowance of one element as exact numbers, and how a result compares with it.

use super::roundings::{Sum, around, sums};
use super::term_counts::TermCounts;
use crate::arithmetic::{Arithmetic, Combine, Init, Part, Reduction};
use crate::exact::{Dyadic, Value};
use crate::scalar::{Precision, Rounding};
use std::cmp::Ordering;

/// The allowance for one element, up to its gauge: `rel * g + abs`.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// Numerator of rel.
    rel_num: Dyadic,
    /// Denominator of rel, positive.
    rel_den: Dyadic,
    /// The absolute part before its factor 1 + rel.
    inner: Dyadic,
    /// `inner * (rel_num + rel_den)`: abs over the same denominator, so that a comparison needs no division.
    abs_num: Dyadic,
    /// rel, nearest f64.
    rel: f64,
    /// abs, nearest f64.
    abs: f64,
    /// Gauges from here on may overflow an intermediate: largest finite number of accumulator and output.
    limit: f64,
}

/// Derives the allowance for `terms` terms, none of them zero, in blocks without gaps; `other_max` is the largest magnitude of
/// the operand that alpha is not folded into (used where it is folded into the other one).
///
/// `None` where `depth * u >= 1`: the declared arithmetic promises nothing for so many terms. Also for a matrix instruction that no
/// architecture has.
#[must_use]
pub fn tolerance(
    arithmetic: &Arithmetic,
    terms: u64,
    alpha: f64,
    beta: f64,
    other_max: f64,
) -> Option<Tolerance> {
    tolerance_of(arithmetic, |part| TermCounts::of(part, terms), (alpha, beta), other_max)
}

/// [`tolerance`] with the terms of each part counted where they lie. Several parts: the widest relative part over all of them,
/// since a term is in one of them, and the sum of the absolute ones; where they meet, one more rounding.
#[must_use]
pub fn tolerance_of(
    arithmetic: &Arithmetic,
    mut census: impl FnMut(&Part) -> TermCounts,
    (alpha, beta): (f64, f64),
    other_max: f64,
) -> Option<Tolerance> {
    let mut all: Option<Tolerance> = None;
    for part in arithmetic.parts.iter() {
        let census = census(part);
        let mut widest: Option<Tolerance> = None;
        for sum in sums(part, &census, part.init == Init::C && beta != 0.0)? {
            let of_core = of_sum(arithmetic, part, &sum, census.terms, (alpha, beta), other_max)?;
            widest = Some(match widest {
                Some(widest) => widest.widest(&of_core),
                None => of_core,
            });
        }
        let (part, both) = (widest?, arithmetic.combine != Combine::Disjoint);
        all = Some(match all {
            Some(all) if both => all.together(&part),
            Some(all) => all.widest(&part),
            None => part,
        });
    }
    all
}

/// Bits of a rounding unit lost by directed rounding: `u` becomes `2u`.
fn directed(part: &Part) -> u32 {
    let nearest = match part.reduction {
        Reduction::Cpu(unit) => part.nearest && unit.rounds_to_nearest(),
        _ => part.nearest,
    };
    u32::from(!nearest)
}

/// True where results below the least normal number may become zero.
pub(super) fn flushes(arithmetic: &Arithmetic, part: &Part) -> bool {
    arithmetic.flush.results || matches!(part.reduction, Reduction::Cpu(unit) if unit.always_flushes())
}

fn of_sum(
    arithmetic: &Arithmetic,
    part: &Part,
    sum: &Sum,
    terms: u64,
    (alpha, beta): (f64, f64),
    other_max: f64,
) -> Option<Tolerance> {
    let count = around(arithmetic, part, sum, terms, (alpha, beta));
    let meets = u64::from(arithmetic.parts.second().is_some() && arithmetic.combine != Combine::Disjoint);
    let acc = part.acc.spec();
    let out = arithmetic.out.spec();
    let integer = |n: u64| Dyadic::from_int(i128::from(n));
    // 1 + gamma = 2^p / (2^p - r), p one less in directed rounding; 1 + u_out = (2^q + 1) / 2^q.
    let one = 1u64 << (acc.significand - directed(part));
    let rest = one.checked_sub(count.depth.checked_add(meets)?).filter(|&rest| rest > 0)?;
    let (mut whole, mut den) = (integer(one), integer(rest));
    if count.output {
        whole = &whole * &integer((1 << out.significand) + 1);
        den = den.mul_pow2(out.significand as i32);
    }
    let mut before_alpha = Dyadic::zero();
    if let Some(fused) = &sum.fused {
        whole = &whole * &fused.whole;
        den = &den * &fused.den;
        before_alpha = fused.abs.clone();
    }

    let flushed = flushes(arithmetic, part);
    let eta = |precision: Precision, flushed: bool, directed: u32| {
        let spec = precision.spec();
        let exponent = if flushed { spec.emin } else { spec.min_exponent() - 1 + directed as i32 };
        Dyadic::from_int(1).mul_pow2(exponent)
    };
    let eta_acc = eta(part.acc, flushed, directed(part));
    let number = |v: f64| Dyadic::from_f64(v).unwrap_or_else(Dyadic::zero);
    before_alpha = &before_alpha + &(&eta_acc * &integer(count.inside));
    let mut inner = &before_alpha * &number(alpha.abs().max(1.0));
    inner = &inner + &(&eta_acc * &integer(count.epilogue + meets));
    // Where results are flushed, a multiplication by 1 may lose a subnormal operand, too.
    if arithmetic.epilogue.folds_alpha() && (alpha.abs() != 1.0 || flushed) {
        inner = &inner + &(&(&eta_acc * &integer(terms)) * &number(other_max));
    }
    if count.output {
        inner = &inner + &eta(arithmetic.out, arithmetic.flush.results, 0);
    }
    let limit = acc.max_finite().min(out.max_finite());
    Some(Tolerance::new(&whole - &den, den, inner, limit))
}

/// How one finite result compares with its allowance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// |y - x|, nearest f64.
    pub error: f64,
    /// Allowed distance, nearest f64.
    pub bound: f64,
    /// True when `error <= bound`, decided exactly.
    pub within: bool,
}

impl Distance {
    /// error / bound; 0 for an exact result.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.bound }
    }
}

impl Tolerance {
    fn new(rel_num: Dyadic, rel_den: Dyadic, inner: Dyadic, limit: f64) -> Tolerance {
        let near = |v: &Dyadic| v.to_f64(Rounding::NearestEven);
        // Fractions of up to some hundred bits: scaled so that both sides stay in the range of f64.
        let shift = rel_den.msb_exponent().map_or(0, |e| -e) as i32;
        let rel = near(&rel_num.mul_pow2(shift)) / near(&rel_den.mul_pow2(shift));
        let abs_num = &inner * &(&rel_num + &rel_den);
        Tolerance { abs: near(&inner) * (1.0 + rel), rel_num, rel_den, inner, abs_num, rel, limit }
    }

    /// rel, nearest f64: for reports and golden snapshots.
    #[must_use]
    pub fn relative(&self) -> f64 {
        self.rel
    }

    /// abs, nearest f64.
    #[must_use]
    pub fn absolute(&self) -> f64 {
        self.abs
    }

    /// Gauges from here on, with the allowance on top, may overflow an intermediate.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.limit
    }

    fn has_larger_rel(&self, other: &Tolerance) -> bool {
        &self.rel_num * &other.rel_den > &other.rel_num * &self.rel_den
    }

    fn merged(&self, other: &Tolerance, inner: Dyadic) -> Tolerance {
        let wide = if self.has_larger_rel(other) { self } else { other };
        Tolerance::new(wide.rel_num.clone(), wide.rel_den.clone(), inner, self.limit.min(other.limit))
    }

    /// What covers both.
    fn widest(&self, other: &Tolerance) -> Tolerance {
        let inner = self.inner.clone().max(other.inner.clone());
        self.merged(other, inner)
    }

    /// What covers the sum of both.
    fn together(&self, other: &Tolerance) -> Tolerance {
        self.merged(other, &self.inner + &other.inner)
    }

    /// With `more` allowed before the factor 1 + rel: what a flush of operands may take away.
    #[must_use]
    pub fn widened(&self, more: &Dyadic) -> Tolerance {
        Tolerance::new(self.rel_num.clone(), self.rel_den.clone(), &self.inner + more, self.limit)
    }

    /// True when an intermediate of a correct kernel may overflow at this gauge.
    #[must_use]
    pub fn may_overflow(&self, gauge: &Value) -> bool {
        // The gauge is nonnegative; rounding of the product is on the accepting side by one part in 10^12.
        !gauge.is_finite() || gauge.approx() * (1.0 + self.rel) * (1.0 + 1e-12) >= self.limit
    }

    /// Compares a finite `y` with the exact `x` under gauge `g`, both finite. f64 decides where it clearly can;
    /// within one part in 10^9 of the bound, and where either side is tiny, exact arithmetic does.
    #[must_use]
    pub fn distance(&self, y: f64, x: &Value, g: &Value) -> Distance {
        const CLEAR: f64 = 1e-9;
        if let (Value::Pair { hi, lo }, Value::Pair { hi: gauge, .. }) = (x, g) {
            // y - hi is exact where they are close (Sterbenz), and relatively accurate elsewhere.
            let error = ((y - hi) - lo).abs();
            let bound = self.rel * gauge + self.abs;
            if error == 0.0 && *lo == 0.0 && y == *hi {
                return Distance { error, bound, within: true };
            }
            if error > 1e-280 && bound > 1e-280 && error < f64::MAX && bound < f64::MAX {
                if error < bound * (1.0 - CLEAR) {
                    return Distance { error, bound, within: true };
                }
                if error > bound * (1.0 + CLEAR) {
                    return Distance { error, bound, within: false };
                }
            }
        }
        self.distance_exact(y, x, g)
    }

    /// [`distance`](Self::distance) by exact arithmetic only: `|y - x| * den <= num * g + abs_num`.
    #[must_use]
    pub fn distance_exact(&self, y: f64, x: &Value, g: &Value) -> Distance {
        let exact = |v: &Value| v.to_dyadic().unwrap_or_else(Dyadic::zero);
        let y = Dyadic::from_f64(y).unwrap_or_else(Dyadic::zero);
        let error = (&y - &exact(x)).abs();
        let gauge = exact(g);
        let left = &error * &self.rel_den;
        let right = &(&gauge * &self.rel_num) + &self.abs_num;
        let bound = self.rel * gauge.to_f64(Rounding::NearestEven) + self.abs;
        Distance {
            error: error.to_f64(Rounding::NearestEven),
            bound,
            within: left.cmp(&right) != Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::random::Random;

    /// Found by mutation: a distance that floats tell, told by exact arithmetic instead, only takes longer. The error says which it was: the
    /// rounding of a difference, not the nearest float.
    #[test]
    fn floats_tell_every_distance_that_is_clear() {
        let tolerance = tolerance(&Arithmetic::any(Precision::F32, Precision::F32), 3, 1.0, 0.0, 0.0);
        let tolerance = tolerance.expect("few roundings");
        let mut random = Random::new(3, "tolerance");
        let mut told_apart = [0; 2];
        for _ in 0..4000 {
            // Above 1, and an eighth of such a number, so that a difference has more bits than a float.
            let mut number = || 1.0 + (random.bits() >> 12) as f64 / 2.0_f64.powi(52);
            let (hi, lo, y) = (number() / 8.0, number() * 2.0_f64.powi(-60), number());
            let gauge = if y > 1.5 { 1e9 } else { 1.0 };
            let (x, g) = (Value::Pair { hi, lo }, Value::from_f64(gauge));
            let (said, exact) = (tolerance.distance(y, &x, &g), tolerance.distance_exact(y, &x, &g));
            assert_eq!((said.within, said.bound), (exact.within, exact.bound));
            assert_eq!(said.error, ((y - hi) - lo).abs(), "{y} {hi} {lo}");
            told_apart[usize::from(said.within)] += usize::from(said.error != exact.error);
        }
        assert!(told_apart.iter().all(|&told| told > 50), "{told_apart:?}");
        let equal = Value::from_f64(1.0);
        assert_eq!(tolerance.distance(1.0, &equal, &equal).error, 0.0);
    }

    /// Found by mutation: a limit that is no number is never asked for where nothing overflows.
    #[test]
    fn the_limit_is_the_largest_number_of_both_types() {
        let limit = |acc, out| {
            let tolerance = tolerance(&Arithmetic::any(acc, out), 3, 1.0, 0.0, 0.0);
            tolerance.expect("few roundings").limit()
        };
        assert_eq!(limit(Precision::F32, Precision::F16), 65_504.0);
        assert_eq!(limit(Precision::F32, Precision::F32), f64::from(f32::MAX));
        assert_eq!(limit(Precision::F64, Precision::F64), f64::MAX);
    }

    /// Found by mutation: of two equal ones neither has the larger relative part.
    #[test]
    fn no_tolerance_is_larger_than_itself() {
        let of = |terms| tolerance(&Arithmetic::any(Precision::F32, Precision::F32), terms, 1.0, 0.0, 0.0);
        let (few, many) = (of(3).expect("few roundings"), of(300).expect("few roundings"));
        assert!(!few.has_larger_rel(&few) && !many.has_larger_rel(&many));
        assert!(many.has_larger_rel(&few) && !few.has_larger_rel(&many));
    }
}
