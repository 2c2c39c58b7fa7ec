//! The error of tensor cores: chains of truncated fused sums (T-FDPA, see [`FusedSum`]).
//!
//! One link adds its products t and the accumulator c. All are cut to multiples of 2^(E - F), E the largest exponent among the
//! terms that are not zero, at least `e_zero`; their sum is rounded to D.
//!
//! ```text
//! |D - (c + sum t)|  <  m * 2^(E - F)  +  w * |S'|  +  eta
//!    m   terms that are not zero, c included: each loses less than one unit at the end of its alignment
//!    S'  the sum of what is left, |S'| <= |c| + sum |t|, since each was cut toward zero
//!    w   2^(1 - p) toward zero, 2^-p to nearest, p significand bits of D;  eta  a subnormal of D, or half of it
//! ```
//!
//! E is not the exponent of the largest magnitude: operands are not renormalised, so that a subnormal factor v counts with
//! 2^emin of its type. With `|t|'` the product of max(|v|, 2^emin) over both factors of a product that is not zero, `2^E <=
//! max(|c|, 2^emin_D, |t|')`. An accumulator that is subnormal, and the floor `e_zero < emin_D`, are covered by `2^emin_D`. Let g' be the sum
//! of all `|t|'` and of the magnitude that the chain starts from, q the links that hold a product, n the products. A link
//! without any only sees c, which it returns unchanged but for the sign of a zero: c has no more than F + 1 bits, except an initial
//! value in a unit of F = 13, which counts as one more link.
//!
//! **Toward zero.** Cutting terms and rounding toward zero never makes a magnitude larger, so `|c_k| <= |c_0| + sum of the |t|
//! before`, which is at most g', in every link. The errors of links add up (each link is exact but for its own error), hence over
//! the chain, linearly in q and without a higher order:
//!
//! ```text
//! |D - x|  <=  [(n + q) * 2^-F + q * w] * g'  +  (n + q) * 2^(emin_D - F)  +  q * eta
//! ```
//!
//! (q - 1 instead of the first q's where the chain starts from zero: its first c is no term.) With full blocks of L that is `q *
//! ([(L + 1) * 2^-F + 2^-23] * g' + ...)`, the per-link bound of Blanchard, Higham, Lopez, Mary, Pranesh (SIAM J. Sci. Comput.
//! 42(3), C124, section 3) with the truncation of alignment put in.
//!
//! **To nearest** (f16 accumulators). A rounding grows magnitudes by at most 1 + w and eta, so `|c_k| <= A * (g + q * eta)` with
//! `A = 1 / (1 - q * w) >= (1 + w)^q` (Higham, Accuracy and Stability, 2nd ed., lemma 3.1), and each link's error by at most A:
//!
//! ```text
//! rel = A * [(n + q) * 2^-F + q * w]        |D - x| <= rel * g' + (1 + rel) * ((n + q) * 2^(emin_D - F) + q * eta)
//! ```

use crate::exact::Dyadic;
use crate::model::tensor_core::{FinalRounding, FusedSum};

/// `1 + rel` as a fraction, and the absolute part, of chains of fused sums.
#[derive(Clone, Debug)]
pub(super) struct FusedError {
    /// Numerator of 1 + rel.
    pub(super) whole: Dyadic,
    /// Denominator.
    pub(super) den: Dyadic,
    /// What does not scale with g', before the factor 1 + rel.
    pub(super) abs: Dyadic,
}

/// Links and products of the longest chain, and of all chains of one element together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// Products of the longest chain.
    pub(super) products: u64,
    /// Its links that hold a product.
    pub(super) links: u64,
    /// All products.
    pub(super) all_products: u64,
    /// All links that hold a product.
    pub(super) all_links: u64,
    /// All links, up to the last one with a product.
    pub(super) steps: u64,
    /// The first chain starts from a number, the others from zero.
    pub(super) from_c: bool,
}

fn power(exponent: i32) -> Dyadic {
    Dyadic::from_int(1).mul_pow2(exponent)
}

fn count(n: u64) -> Dyadic {
    Dyadic::from_int(i128::from(n))
}

/// The error of the sums of one element; `None` where the accumulator's roundings reach its significand.
pub(super) fn error(sum: &FusedSum, links: Links) -> Option<FusedError> {
    let p = sum.output.significand();
    let acc = sum.output.precision().spec();
    let nearest = sum.output == FinalRounding::F16NearestEven;
    // c is cut to F + 1 bits even by a link without products, where there is one. A row without any product may have one too: other
    // rows of its tile have blocks.
    let has_empty = links.all_links < links.steps.max(1);
    let cuts_c = links.from_c && has_empty && (sum.fraction as u32) + 1 < acc.significand;
    let extra = u64::from(cuts_c);
    let (q, all_q) = (links.links + extra, links.all_links + extra);
    let not_a_term = u64::from(!links.from_c && links.links > 0);
    let cut = links.products + q - not_a_term;
    let all_cut = links.all_products + all_q - not_a_term;
    // In units of 2^-(F + p): cut * 2^-F + q * w.
    let f = sum.fraction;
    let rounding_shift = if nearest { f } else { f + 1 };
    let rel = &count(cut).mul_pow2(p as i32) + &count(q).mul_pow2(rounding_shift);
    let unit = power(f + p as i32);
    // 1 / A = 1 - q * w, to nearest; 1 toward zero.
    let (rel, den) = if nearest {
        let rest = (1u64 << p).checked_sub(q).filter(|&rest| rest > 0)?;
        // rel * A = rel / unit * 2^p / rest.
        (rel.mul_pow2(p as i32), &unit * &count(rest))
    } else {
        (rel, unit)
    };
    let eta = power(acc.emin - p as i32 + i32::from(!nearest));
    let cut_floor = power(acc.emin.max(sum.zero_exponent) - f);
    let abs = &(&count(all_cut) * &cut_floor) + &(&count(all_q) * &eta);
    Some(FusedError { whole: &rel + &den, den, abs })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link without products cuts the number that the chain starts from to F + 1 bits, which costs nothing where the accumulator
    /// has no more of them. Found by mutation: a bound that counted such a link all the same went unnoticed.
    #[test]
    fn a_link_without_products_costs_only_what_it_cuts() {
        let links =
            |steps| Links { products: 2, links: 2, all_products: 2, all_links: 2, steps, from_c: true };
        // f32 has 24 significant bits.
        for (fraction, cuts) in [(13, true), (22, true), (23, false), (24, false), (25, false)] {
            let sum =
                FusedSum { fraction, products: 4, zero_exponent: -133, output: FinalRounding::F32TowardZero };
            let allowed = |steps| {
                let found = error(&sum, links(steps)).expect("few roundings");
                (found.whole, found.den, found.abs)
            };
            assert_eq!(allowed(2) != allowed(3), cuts, "F = {fraction}");
        }
    }
}
