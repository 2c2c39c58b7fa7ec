//! Where T0 applies in a row, told in floats: by largest gauges, by products that are too fine, by the finest product of each column.
//!
//! Tasks for the vector unit, one pass over the columns each; [`Screen`](super::screen::Screen) says when which is asked.

use super::lanes::{CLEAR, TINY};
use super::rows::SpmmRow;
use crate::exact::Lane;
use crate::op::DenseRows;
use pulp::NullaryFnOnce;

/// The largest gauge and the largest |c| of a row, infinite where one is not finite.
pub(super) struct Largest {
    pub(super) gauge: f64,
    pub(super) held: f64,
}

/// Finds them, as a task for the vector unit.
pub(super) struct FindLargest<'r> {
    pub(super) gauge: &'r [f64],
    pub(super) held: &'r [f64],
}

impl NullaryFnOnce for FindLargest<'_> {
    type Output = Largest;

    #[inline(always)]
    fn call(self) -> Largest {
        Largest { gauge: largest(self.gauge), held: largest(self.held) }
    }
}

#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let (mut most, mut special) = (0.0f64, 0.0f64);
    for &v in values {
        most = if v.abs() > most { v.abs() } else { most };
        special += v * 0.0;
    }
    if special == 0.0 { most } else { f64::INFINITY }
}

/// Exponents and totals as floats: multiples of a power of two, up to a total.
#[derive(Clone, Copy)]
pub(super) struct FloatLimits {
    pub(super) floor: f64,
    /// 2^p.
    pub(super) bits: f64,
    pub(super) largest: f64,
}

/// Finds the columns where T0 applies, and more where it does not, as a task for the vector unit.
pub(super) struct FindFree<'r, 'a, L: Lane> {
    pub(super) row: &'r SpmmRow<'r, 'a>,
    pub(super) b: &'r DenseRows<'r, L>,
    pub(super) held: &'r [f64],
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) limits: FloatLimits,
    /// The lowest set bit of all products of a column, then whether T0 applies.
    pub(super) free: &'r mut [f64],
    pub(super) fine: &'r mut [f64],
}

impl<L: Lane> NullaryFnOnce for FindFree<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let FindFree { row, b, held, alpha, beta, limits: FloatLimits { floor, bits, largest }, free, fine } =
            self;
        let n = free.len();
        for (&k, &a) in row.cols.iter().zip(row.values) {
            let (b, of_a) = (&b.row(k as usize)[..n], lowest_bit(a));
            for j in 0..n {
                let bit = of_a * lowest_bit(b[j].widen());
                free[j] = if bit < free[j] { bit } else { free[j] };
            }
        }
        let (gauge, gauge_lo) = (&row.panel.gauge_hi()[..n], &row.panel.gauge_lo()[..n]);
        let (of_alpha, of_beta) = (lowest_bit(alpha), lowest_bit(beta));
        let (held, fine) = (&held[..n], &mut fine[..n]);
        // Zeros have no lowest bit.
        let no_products = row.lsb() > 10_000;
        for j in 0..n {
            let (g, bit) = (gauge[j], free[j]);
            let addend = of_beta * lowest_bit(held[j]);
            let scaled_bit = if addend < bit * of_alpha { addend } else { bit * of_alpha };
            let scaled = alpha.abs() * g + (beta * held[j]).abs();
            let room = if bit * bits < largest { bit * bits } else { largest };
            let scaled_room = if scaled_bit * bits < largest { scaled_bit * bits } else { largest };
            // Powers of two are exact where they did not underflow.
            let exact = (bit > 1e-290) & (scaled_bit > 1e-290);
            let no_sum = (g == 0.0) & (gauge_lo[j] == 0.0);
            let plain = no_products & no_sum | (bit >= floor) & (g * (1.0 + CLEAR) <= room) & (g > 0.0);
            let whole = (scaled_bit >= floor) & (scaled * (1.0 + CLEAR) <= scaled_room);
            let too_wide = g * (1.0 - CLEAR) > room;
            // A column of zeros beside others is left to the rule, which takes the finest product of the row there.
            let nothing = no_sum & ((beta == 0.0) | (held[j] == 0.0));
            let large = (scaled > TINY) & (no_sum | (g > TINY));
            free[j] = if nothing | exact & large & plain & whole { 1.0 } else { 0.0 };
            fine[j] = if exact & too_wide & (g > TINY) & (g < 1e290) { 1.0 } else { fine[j] };
        }
    }
}

/// The lowest set bit, as a number; infinite of 0, which binds nothing. Of NaN and infinities it is NaN or 0.
#[inline(always)]
fn lowest_bit(x: f64) -> f64 {
    let bits = x.to_bits();
    let without = f64::from_bits(bits & bits.wrapping_sub(1));
    let bit = if bits & ((1 << 52) - 1) == 0 { x.abs() } else { (x - without).abs() };
    if x == 0.0 { f64::INFINITY } else { bit }
}

/// Looks for products `a * b` with a set bit below the last one that T0 allows at their gauge, as a task for the vector unit.
///
/// With 2^top the power of two at or below the gauge, T0 needs all products to be multiples of 2^(top - p). The nearest multiple is found by
/// adding and subtracting 1.5 * 2^(52 + top - p), which is exact for products below 2^(51 + top - p); p is at most 24 there.
pub(super) struct Fine<'r, L> {
    pub(super) a: f64,
    pub(super) b: &'r [L],
    pub(super) gauge: &'r [f64],
    pub(super) significand: i32,
    pub(super) fine: &'r mut [f64],
}

impl<L: Lane> NullaryFnOnce for Fine<'_, L> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Fine { a, b, gauge, significand, fine } = self;
        let n = fine.len();
        let (b, gauge) = (&b[..n], &gauge[..n]);
        // 2^-p, and 1.5 * 2^(52 - p): of no use where the sum would lose bits of its own.
        let unit = f64::from_bits(((1023 - significand) as u64) << 52);
        let shift = if significand <= 24 {
            1.5 * f64::from_bits(((1023 + 52 - significand) as u64) << 52)
        } else {
            0.0
        };
        let mut missing = 0u64;
        for j in 0..n {
            // The gauge may be half an ulp more: one bit less, where that reaches the next power of two, is on the safe side.
            let top = f64::from_bits(gauge[j].to_bits() & 0x7ff0_0000_0000_0000);
            let b = b[j].widen();
            let product = a * b;
            let rest = a.mul_add(b, -product);
            let sigma = top * shift;
            let off = product - ((product + sigma) - sigma);
            let below = if rest.abs() < top * unit { rest.abs() } else { 0.0 };
            let usable = (product.abs() > 1e-200) & (gauge[j] < 1e250);
            let found = (if shift > 0.0 { off.abs() } else { 0.0 }) + below;
            let found = if usable { found } else { 0.0 };
            fine[j] += found;
            missing |= u64::from(fine[j] == 0.0);
        }
        missing == 0
    }
}

#[cfg(test)]
mod tests;
