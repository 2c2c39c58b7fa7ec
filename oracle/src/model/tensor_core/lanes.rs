//! T-FDPA for many columns of B at once: the inner loops of [`super::ModelSpmm`].
//!
//! ```text
//! B, decoded once   significand (signed), exponent  of every element, two planes of i16
//! step, W columns   top = max(e_zero, e_c, e_a + e_b);  sum of |a b| << left >> (top - e_a - e_b), signed;  round
//! ```
//!
//! The same integers as in [`super::fused`], in fixed widths: a product has at most 22 bits and its aligned form at most
//! F + 2 = 27, so that 16 of them fit an i32 (16 * (2^11 - 1)^2 * 2^5 < 2^31); sums of those fit an f64, which scales and
//! rounds them exactly. Only finite operands come here. Plain loops over arrays, which the compiler vectorises: no closures, see
//! `exact::bins`.

#![expect(
    clippy::needless_range_loop,
    reason = "one index runs over several arrays, and an iterator's closure would leave the vector unit"
)]

use super::fused::FusedSum;
use super::term::{FinalRounding, Meaning};
use crate::scalar::{Precision, Rounding, encode};
use pulp::{Simd, WithSimd};

/// Columns of one turn of the inner loops.
pub(super) const WIDTH: usize = 32;

/// Exponent of a zero: below every alignment, also after two are added.
const NONE: i16 = -4000;

/// Products that an i32 holds.
const PART: usize = 16;

/// A decoded finite operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) significand: i16,
    pub(super) exponent: i16,
}

impl Factor {
    /// A zero.
    pub(super) const ZERO: Factor = Factor { significand: 0, exponent: NONE };

    /// `None` for NaN and infinities.
    pub(super) fn decode(bits: u64, precision: Precision) -> Option<Factor> {
        let Meaning::Finite(term) = Meaning::decode(bits, precision) else {
            return None;
        };
        let magnitude = term.significand as i16;
        Some(Factor {
            significand: if term.negative { -magnitude } else { magnitude },
            exponent: if magnitude == 0 { NONE } else { term.exponent as i16 },
        })
    }
}

/// B as two planes; rows of `stride` elements, a multiple of [`WIDTH`], filled up with zeros.
#[derive(Clone, Debug)]
pub(super) struct Planes {
    pub(super) significands: Vec<i16>,
    pub(super) exponents: Vec<i16>,
    pub(super) stride: usize,
}

impl Planes {
    /// All zeros.
    pub(super) fn zeros(rows: usize, cols: usize) -> Planes {
        let stride = cols.next_multiple_of(WIDTH);
        Planes { significands: vec![0; rows * stride], exponents: vec![NONE; rows * stride], stride }
    }
}

/// One step of one row of C: a factor for each row of B that takes part.
pub(super) struct LaneStep<'a> {
    pub(super) sum: FusedSum,
    /// Fraction bits of a product.
    pub(super) product_fraction: i32,
    pub(super) planes: &'a Planes,
    pub(super) terms: &'a [(usize, Factor)],
    /// One accumulator a column, `planes.stride` of them.
    pub(super) acc: &'a mut [u32],
}

impl WithSimd for LaneStep<'_> {
    /// True if an accumulator became infinite.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let mut infinite = false;
        let (turns, _) = self.acc.as_chunks_mut::<WIDTH>();
        let mut at = 0;
        for acc in turns {
            infinite |= turn(self.sum, self.product_fraction, self.planes, self.terms, at, acc);
            at += WIDTH;
        }
        infinite
    }
}

/// The accumulators of some columns: magnitudes, exponents, signs.
struct Decoded {
    significand: [i32; WIDTH],
    exponent: [i32; WIDTH],
}

/// `WIDTH` columns from `at` on.
#[inline(always)]
fn turn(
    sum: FusedSum,
    product_fraction: i32,
    planes: &Planes,
    terms: &[(usize, Factor)],
    at: usize,
    acc: &mut [u32; WIDTH],
) -> bool {
    let c = decode(sum.output, acc);
    let mut top = [sum.zero_exponent; WIDTH];
    for j in 0..WIDTH {
        top[j] = top[j].max(c.exponent[j]);
    }
    for &(row, a) in terms {
        // A product of zero aligns nothing and adds nothing; most slots of a tile are such.
        if a.significand == 0 {
            continue;
        }
        let exponents = window(&planes.exponents, row * planes.stride + at);
        for j in 0..WIDTH {
            top[j] = top[j].max(i32::from(a.exponent) + i32::from(exponents[j]));
        }
    }
    let mut total = aligned(sum, &c, &top);
    let left = sum.fraction - product_fraction;
    for part in terms.chunks(PART) {
        let mut sums = [0i32; WIDTH];
        for &(row, a) in part {
            if a.significand == 0 {
                continue;
            }
            let exponents = window(&planes.exponents, row * planes.stride + at);
            let significands = window(&planes.significands, row * planes.stride + at);
            for j in 0..WIDTH {
                let product = i32::from(a.significand) * i32::from(significands[j]);
                let down = (top[j] - i32::from(a.exponent) - i32::from(exponents[j])).min(31);
                let sign = product >> 31;
                let magnitude = (product.abs() << left) >> down;
                sums[j] += (magnitude ^ sign) - sign;
            }
        }
        for j in 0..WIDTH {
            total[j] += f64::from(sums[j]);
        }
    }
    for j in 0..WIDTH {
        // 2^(top - F), a normal f64.
        let unit = ((top[j] - sum.fraction + 1023) as u64) << 52;
        total[j] *= f64::from_bits(unit);
    }
    round(sum.output, &total, acc)
}

/// Elements `at .. at + WIDTH`.
#[inline(always)]
fn window(plane: &[i16], at: usize) -> &[i16; WIDTH] {
    const EMPTY: &[i16; WIDTH] = &[0; WIDTH];
    plane[at..].first_chunk().unwrap_or(EMPTY)
}

/// Reads finite accumulators.
#[inline(always)]
fn decode(output: FinalRounding, acc: &[u32; WIDTH]) -> Decoded {
    let spec = output.precision().spec();
    let (fraction, sign) = (spec.significand - 1, spec.storage_bits - 1);
    let mut c = Decoded { significand: [0; WIDTH], exponent: [0; WIDTH] };
    for j in 0..WIDTH {
        let magnitude = acc[j] & ((1 << sign) - 1);
        let field = (magnitude >> fraction) as i32;
        let hidden = i32::from(field > 0) << fraction;
        let significand = hidden | (magnitude & ((1 << fraction) - 1)) as i32;
        let negative = -((acc[j] >> sign) as i32);
        c.significand[j] = (significand ^ negative) - negative;
        let exponent = spec.emin + field.max(1) - 1;
        c.exponent[j] = if significand == 0 { i32::from(NONE) } else { exponent };
    }
    c
}

/// The accumulators in units of the last kept place.
#[inline(always)]
fn aligned(sum: FusedSum, c: &Decoded, top: &[i32; WIDTH]) -> [f64; WIDTH] {
    let shift = sum.fraction - (sum.output.precision().spec().significand as i32 - 1);
    let (left, right) = (shift.max(0), (-shift).max(0));
    let mut total = [0.0; WIDTH];
    for j in 0..WIDTH {
        let down = (top[j] - c.exponent[j] + right).min(31);
        let sign = c.significand[j] >> 31;
        let magnitude = (c.significand[j].abs() << left) >> down;
        total[j] = f64::from((magnitude ^ sign) - sign);
    }
    total
}

/// Rounds exact sums; true if one is infinite.
#[inline(always)]
fn round(output: FinalRounding, total: &[f64; WIDTH], acc: &mut [u32; WIDTH]) -> bool {
    let infinity = output.infinity(false) as u32;
    let mut infinite = false;
    if output == FinalRounding::F16NearestEven {
        for j in 0..WIDTH {
            let bits = encode(total[j], Precision::F16, Rounding::NearestEven) as u32;
            acc[j] = if bits == 0x8000 { 0 } else { bits };
            infinite |= bits & 0x7fff == infinity;
        }
        return infinite;
    }
    let kept = u32::MAX << (24 - output.significand());
    let beyond = f64::from_bits((128 + 1023) << 52);
    let mut largest = 0;
    for j in 0..WIDTH {
        // The nearest f32 is at most one pattern too large.
        let exact = total[j].abs();
        let near = exact as f32;
        let too_large = (f64::from(near) > exact) & (exact < beyond);
        let magnitude = (near.to_bits() - u32::from(too_large)) & kept;
        let sign = (total[j].to_bits() >> 32) as u32 & 0x8000_0000;
        acc[j] = if magnitude == 0 { 0 } else { sign | magnitude };
        largest = magnitude.max(largest);
    }
    largest >= infinity
}
