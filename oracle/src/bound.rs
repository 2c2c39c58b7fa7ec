//! Tier T1: how far a result may lie from the exact one, derived from its declared arithmetic. The only numeric
//! tolerances of the suite are in [`roundings`], one exhaustive match.
//!
//! Notation: `S = sum a*b` over `n` stored terms, `x = alpha*S + beta*c` exact, gauge
//! `g = |alpha| * sum|a||b| + |beta*c|`; u = 2^-p for a type of p significand bits (round to nearest).
//!
//! A term that passes `r` roundings is multiplied by a product of r factors (1 + d), |d| <= u, so the result is off
//! by at most `gamma_r * g` with `gamma_r = r*u / (1 - r*u)` (Higham, Accuracy and Stability, 2nd ed., lemma 3.1). A
//! result type narrower than the accumulator rounds once more: `rel = (1 + gamma_r) * (1 + u_out) - 1`. That is kept
//! as an exact fraction.
//!
//! Where a rounding underflows, its error is absolute instead: at most `eta`, half the smallest subnormal of the type
//! (its smallest normal where subnormals are flushed). Errors made before alpha are scaled by it, and a later
//! rounding may amplify them by no more than `1 + rel`:
//!
//! ```text
//! |y - x| <= rel*g + (1 + rel) * ( max(1,|alpha|)*N*eta_acc + M*eta_acc + [out narrower] eta_out )
//!            N roundings inside the sum (for alpha folded into A: n*max|b|*eta_acc more), M in the epilogue
//! ```
//!
//! Where `g * (1 + rel)` reaches the largest finite number of the accumulator or the output, some intermediate may
//! have overflowed in a correct kernel, so Inf and NaN are accepted too.

use crate::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use crate::exact::{Dyadic, Value};
use crate::scalar::{Precision, Rounding};
use std::cmp::Ordering;

/// Roundings that a declared arithmetic performs for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roundings {
    /// Most roundings in the accumulator type on the way of any one term (or of C) to the result.
    pub depth: u64,
    /// Roundings inside the sum, all of them; each may underflow.
    pub inside: u64,
    /// Roundings after the sum in the accumulator type.
    pub epilogue: u64,
    /// One more rounding, to the output type.
    pub output: bool,
}

/// Counts the roundings of an element of `terms` stored terms. Multiplying by 1, 0 or -1 does not round.
#[must_use]
pub fn roundings(arithmetic: &Arithmetic, terms: u64, alpha: f64, beta: f64) -> Roundings {
    let scales = |factor: f64| u64::from(factor != 0.0 && factor.abs() != 1.0);
    let (mul_alpha, mul_beta, adds_c) = (scales(alpha), scales(beta), u64::from(beta != 0.0));
    // n roundings above every term: an fma each, or its product and then n - 1 additions (0 + first is exact).
    let sum_depth = terms;
    let sum_total = match arithmetic.part().reduction {
        Reduction::FmaChain => terms,
        Reduction::MulAddChain | Reduction::Any => 2 * terms,
    };
    let from_c = match arithmetic.part().init {
        Init::Zero => 0,
        Init::C => adds_c,
    };
    let (depth, inside, epilogue) = match arithmetic.epilogue {
        Epilogue::None => (sum_depth + from_c + mul_beta, sum_total + from_c + mul_beta, 0),
        Epilogue::AlphaIntoA => (
            sum_depth + from_c + mul_alpha + mul_beta,
            sum_total + from_c + mul_beta + terms * mul_alpha,
            0,
        ),
        Epilogue::MulThenFma => (
            (sum_depth + mul_alpha + adds_c).max(adds_c),
            sum_total,
            mul_alpha + adds_c,
        ),
        Epilogue::MulThenAdd => (
            (sum_depth + mul_alpha + adds_c).max(mul_beta + adds_c),
            sum_total,
            mul_alpha + mul_beta + adds_c,
        ),
    };
    Roundings {
        depth,
        inside,
        epilogue,
        output: narrower(arithmetic.out, arithmetic.part().acc),
    }
}

/// True when a value of `acc` may need rounding to become one of `out`.
fn narrower(out: Precision, acc: Precision) -> bool {
    let (o, a) = (out.spec(), acc.spec());
    o.significand < a.significand || o.min_exponent() > a.min_exponent() || o.emax < a.emax
}

/// The allowance for one element, up to its gauge: `rel * g + abs`.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// Numerator of rel.
    rel_num: u128,
    /// Denominator of rel, not 0.
    rel_den: u128,
    /// `(1 + rel) * (...)` above, exact.
    abs_num: Dyadic,
    /// rel, nearest f64.
    rel: f64,
    /// abs, nearest f64.
    abs: f64,
    /// Gauges from here on may overflow an intermediate: largest finite number of accumulator and output.
    limit: f64,
}

/// Derives the allowance; `b_max` is the largest |b| (used where alpha is folded into A).
///
/// `None` where `depth * u >= 1`: the declared arithmetic promises nothing for so many terms.
#[must_use]
pub fn tolerance(
    arithmetic: &Arithmetic,
    terms: u64,
    alpha: f64,
    beta: f64,
    b_max: f64,
) -> Option<Tolerance> {
    let count = roundings(arithmetic, terms, alpha, beta);
    let acc = arithmetic.part().acc.spec();
    let out = arithmetic.out.spec();
    let one = 1u128 << acc.significand;
    let rest = one
        .checked_sub(u128::from(count.depth))
        .filter(|&rest| rest > 0)?;
    // 1 + gamma = 2^p / (2^p - r); 1 + u_out = (2^q + 1) / 2^q.
    let (mut whole_num, mut rel_den) = (one, rest);
    if count.output {
        whole_num *= (1 << out.significand) + 1;
        rel_den <<= out.significand;
    }
    let rel_num = whole_num - rel_den;

    let eta = |precision: Precision| {
        let spec = precision.spec();
        let exponent = if arithmetic.flush {
            spec.emin
        } else {
            spec.min_exponent() - 1
        };
        Dyadic::from_int(1).mul_pow2(exponent)
    };
    let eta_acc = eta(arithmetic.part().acc);
    let number = |v: f64| Dyadic::from_f64(v).unwrap_or_else(Dyadic::zero);
    let mut abs = &(&eta_acc * &Dyadic::from_int(i128::from(count.inside))) * &number(alpha.abs().max(1.0));
    abs = &abs + &(&eta_acc * &Dyadic::from_int(i128::from(count.epilogue)));
    if arithmetic.epilogue == Epilogue::AlphaIntoA && alpha.abs() != 1.0 {
        abs = &abs + &(&(&eta_acc * &Dyadic::from_int(i128::from(terms))) * &number(b_max));
    }
    if count.output {
        abs = &abs + &eta(arithmetic.out);
    }
    // Numerator over rel_den, so that the comparison below needs no division.
    let abs_num = &abs * &Dyadic::from_int(whole_num as i128);
    let rel = rel_num as f64 / rel_den as f64;
    let limit = acc.max_finite().min(out.max_finite());
    Some(Tolerance {
        rel_num,
        rel_den,
        rel,
        abs: abs.to_f64(Rounding::NearestEven) * (1.0 + rel),
        abs_num,
        limit,
    })
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
        if self.error == 0.0 {
            0.0
        } else {
            self.error / self.bound
        }
    }
}

impl Tolerance {
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
                return Distance {
                    error,
                    bound,
                    within: true,
                };
            }
            if error > 1e-280 && bound > 1e-280 && error < f64::MAX && bound < f64::MAX {
                if error < bound * (1.0 - CLEAR) {
                    return Distance {
                        error,
                        bound,
                        within: true,
                    };
                }
                if error > bound * (1.0 + CLEAR) {
                    return Distance {
                        error,
                        bound,
                        within: false,
                    };
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
        let left = &error * &Dyadic::from_int(self.rel_den as i128);
        let right = &(&gauge * &Dyadic::from_int(self.rel_num as i128)) + &self.abs_num;
        let bound = self.rel * gauge.to_f64(Rounding::NearestEven) + self.abs;
        Distance {
            error: error.to_f64(Rounding::NearestEven),
            bound,
            within: left.cmp(&right) != Ordering::Greater,
        }
    }
}

/// Tier T0: true when every way of summing gives the exact value, so that only that is right.
///
/// Needs every product, scaled term and intermediate to be a multiple of 2^`lsb`, and the sum of all their
/// magnitudes, `total`, to be at most `2^(p + lsb)`, with p the significand bits of the narrowest declared type; and
/// the range of that type to reach from 2^lsb to the total.
#[must_use]
pub fn is_order_free(arithmetic: &Arithmetic, lsb: i64, total: f64) -> bool {
    let (acc, out) = (arithmetic.part().acc.spec(), arithmetic.out.spec());
    let p = i64::from(acc.significand.min(out.significand));
    let floor = i64::from(acc.min_exponent().max(out.min_exponent()));
    let limit = acc.max_finite().min(out.max_finite());
    // 2^(p + lsb), saturated: an exponent out of f64's range cannot bind.
    let room = p + lsb;
    let fits = if room > 1023 {
        true
    } else {
        room >= -1022 && total <= 2.0f64.powi(room as i32)
    };
    lsb >= floor && total <= limit && fits
}
