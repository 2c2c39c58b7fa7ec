//! From the parts of an exact sum to its leading floats, without branches.
//!
//! ```text
//! parts   [====] [====] [====] [====]      overlapping, any signs, heavy cancellation allowed
//! hi      [====]                           nearest f64 to the whole sum
//! lo             [====]                    nearest f64 to what is left
//! tail                  [====]             the rest, if one f64 holds it
//! ```
//!
//! Everything is Knuth's two-sum, which is exact, so that the parts always add up to the same number. Whether the
//! leading float is the nearest one cannot be promised after a fixed number of steps: it is checked, and a column
//! that fails the check is handed to [`super::Dyadic`].

use super::bins::abs;
use pulp::Simd;

/// `hi + lo + tail` in each lane. Where `doubt` is zero, `hi` is certainly the nearest f64, `lo` the nearest to the
/// rest, and nothing else is left.
#[derive(Clone, Copy)]
pub(super) struct Triple<V> {
    pub(super) hi: V,
    pub(super) lo: V,
    pub(super) tail: V,
    pub(super) doubt: V,
}

/// Sum and rounding error.
#[inline(always)]
fn two_sum<S: Simd>(simd: S, x: S::f64s, y: S::f64s) -> (S::f64s, S::f64s) {
    let sum = simd.add_f64s(x, y);
    let y_part = simd.sub_f64s(sum, x);
    let x_part = simd.sub_f64s(sum, y_part);
    (sum, simd.add_f64s(simd.sub_f64s(x, x_part), simd.sub_f64s(y, y_part)))
}

/// Distils the first `parts` numbers of `x`; the others are zero. All magnitudes are below 2^1022.
#[inline(always)]
pub(super) fn distil<S: Simd>(simd: S, parts: usize, x: [S::f64s; 4]) -> Triple<S::f64s> {
    let zero = simd.splat_f64s(0.0);
    let (tail, doubt) = (zero, zero);
    match parts {
        1 => Triple { hi: x[0], lo: zero, tail, doubt },
        2 => {
            let (hi, lo) = two_sum(simd, x[0], x[1]);
            Triple { hi, lo, tail, doubt }
        }
        3 => {
            let (s, c) = two_sum(simd, x[1], x[2]);
            let (a, b) = two_sum(simd, x[0], s);
            triple(simd, [a, b, c, zero])
        }
        _ => {
            let (s, d) = two_sum(simd, x[2], x[3]);
            let (s, c) = two_sum(simd, x[1], s);
            let (a, b) = two_sum(simd, x[0], s);
            let (s, d) = two_sum(simd, c, d);
            let (b, c) = two_sum(simd, b, s);
            triple(simd, [a, b, c, d])
        }
    }
}

/// `a + b + c + d`, roughly ordered already.
#[inline(always)]
fn triple<S: Simd>(simd: S, [a, b, c, d]: [S::f64s; 4]) -> Triple<S::f64s> {
    let (c, excess) = two_sum(simd, c, d);
    let (b, c) = two_sum(simd, b, c);
    let (hi, b) = two_sum(simd, a, b);
    let (lo, tail) = two_sum(simd, b, c);
    // |lo + tail| < |lo| (1 + 2^-51): if even that much does not move hi, hi is the nearest. With no tail, hi + lo
    // itself decides, ties included.
    let zero = simd.splat_f64s(0.0);
    let nudge = simd.mul_f64s(lo, simd.splat_f64s(1.0 / (1u64 << 50) as f64));
    let nudge = simd.select_f64s(simd.equal_f64s(tail, zero), zero, nudge);
    let moved = simd.sub_f64s(simd.add_f64s(hi, simd.add_f64s(lo, nudge)), hi);
    let doubt = simd.add_f64s(abs(simd, moved), abs(simd, excess));
    Triple { hi, lo, tail, doubt }
}
