//! Criterion T0: where every way of summing gives the exact value.
//!
//! Let all terms be multiples of 2^q, and the sum of their magnitudes at most 2^(p + q), p significand bits of the accumulator.
//! Then every partial sum of every order is a multiple of 2^q with at most p bits, hence exact, whatever the rounding mode. A narrower
//! output rounds once, to nearest: of what is exact there is one right result. Where the declared rounding is directed, or any, p is of the
//! narrower of both.
//!
//! A tensor core does not sum in a type; it cuts each term at 2^(E - F). The largest term has `2^E <= |t| <= 2^(p + q)`, so for
//! `p = F + 1`: either `E <= F + q`, and every term is a multiple of the unit 2^(E - F) <= 2^q that survives; or `E = F + 1 + q`, and
//! then that term, being the whole of the sum of magnitudes, is 2^E itself and alone. A floor `E >= e_zero`, or a subnormal accumulator, cuts
//! at 2^(emin - F) at most, which must not be above 2^q. (A subnormal factor makes 2^E larger than |t|: the judge then takes g' for
//! the total and one bit less.) Sums of 14 bits (E8M13) have F = 13, the same limit.
//!
//! Units that flush need every number that is not zero to be normal: multiples of 2^q with q >= emin are.

use super::tolerance::flushes;
use crate::arithmetic::{Architecture, Arithmetic, Part, Reduction};
use crate::model::tensor_core::{FusedSum, TensorCore};
use crate::scalar::power_of_two;

/// Within which limits every way of summing is exact, for one declaration.
#[derive(Clone, Copy, Debug)]
pub struct OrderFree {
    /// Significand bits of the narrowest accumulator or alignment.
    bits: i64,
    /// Lowest exponent that every number must be a multiple of.
    floor: i64,
    /// Largest magnitude that every type holds.
    largest: f64,
}

impl OrderFree {
    /// The limits of all parts of a declaration together.
    #[must_use]
    pub fn new(arithmetic: &Arithmetic) -> OrderFree {
        let parts = arithmetic.parts.iter().map(|part| OrderFree::of_part(arithmetic, part));
        let none = OrderFree { bits: i64::MAX / 4, floor: i64::MIN / 4, largest: f64::INFINITY };
        parts.fold(none, |all, part| OrderFree {
            bits: all.bits.min(part.bits),
            floor: all.floor.max(part.floor),
            largest: all.largest.min(part.largest),
        })
    }

    /// True when every way of summing gives the exact value.
    ///
    /// Needs every product, scaled term and intermediate to be a multiple of 2^`lsb`, and the sum of all their
    /// magnitudes, `total`, to be at most `2^(p + lsb)`, with p the significand bits of the narrowest accumulator or alignment; and
    /// the range of accumulator and output to reach from 2^lsb to the total.
    #[must_use]
    pub fn holds(&self, lsb: i64, total: f64) -> bool {
        lsb >= self.floor && total <= self.largest_total(lsb)
    }

    /// The largest total for multiples of 2^`lsb`, whatever the floor says; 0 where there is none.
    #[must_use]
    pub fn largest_total(&self, lsb: i64) -> f64 {
        // 2^(p + lsb), saturated: an exponent out of f64's range cannot bind.
        match self.bits.saturating_add(lsb) {
            room if room > 1023 => self.largest,
            room if room >= -1022 => self.largest.min(power_of_two(room as i32)),
            _ => 0.0,
        }
    }

    /// The lowest power of two that numbers may be multiples of (at least 2^-1022), 2^p, and the largest magnitude, each as a float.
    #[must_use]
    pub fn as_floats(&self) -> (f64, f64, f64) {
        // Nothing below the normal numbers is asked of a float.
        let power = |e: i64| power_of_two(e.clamp(-1022, 1023) as i32);
        (power(self.floor), power(self.bits), self.largest)
    }

    fn of_part(arithmetic: &Arithmetic, part: &Part) -> OrderFree {
        let (acc, out) = (part.acc.spec(), arithmetic.out.spec());
        let mut bits = i64::from(sum_significand(arithmetic, part));
        let mut floor = i64::from(acc.min_exponent().max(out.min_exponent()));
        if flushes(arithmetic, part) {
            floor = i64::from(acc.emin.max(out.emin));
        }
        for sum in fused_sums(part) {
            bits = bits.min(i64::from(sum.fraction) + 1).min(i64::from(sum.output.significand()));
            floor = floor.max(i64::from(acc.emin.max(sum.zero_exponent) - sum.fraction));
            floor = floor.max(i64::from(acc.emin) + 1 - i64::from(sum.output.significand()));
        }
        OrderFree { bits, floor, largest: acc.max_finite().min(out.max_finite()) }
    }
}

/// Significand bits of the type in which a part's sums must be exact: the accumulator's, where its result is rounded to nearest.
pub(crate) fn sum_significand(arithmetic: &Arithmetic, part: &Part) -> u32 {
    let (acc, out) = (part.acc.spec().significand, arithmetic.out.spec().significand);
    if part.nearest { acc } else { acc.min(out) }
}

/// The fused sums that a part may run on.
fn fused_sums(part: &Part) -> impl Iterator<Item = FusedSum> + use<> {
    let unit = match part.reduction {
        Reduction::Mma { architecture, instruction } => Some((architecture, instruction)),
        _ => None,
    };
    unit.into_iter().flat_map(|(known, instruction)| {
        Architecture::ALL
            .into_iter()
            .filter(move |&a| known.is_none_or(|known| known == a))
            .filter_map(move |a| TensorCore::new(a, instruction).ok())
            .filter_map(|core| core.fused_sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Instruction;
    use crate::scalar::Precision::{F16, F32};

    /// Found by mutation: a floor that is too high only leaves tiny numbers of an instruction to the bound.
    #[test]
    fn an_instruction_reaches_as_low_as_its_accumulator() {
        for architecture in [Architecture::Sm80, Architecture::Sm90] {
            let core = Arithmetic::mma(Some(architecture), Instruction::mma((16, 8, 8), F32, F16), F32);
            let holds = |lsb| OrderFree::new(&core).holds(lsb, power_of_two(lsb.max(-1000) as i32));
            assert_eq!([-149, -140, -120].map(holds), [true; 3], "{architecture:?}");
            assert!(!holds(-150), "{architecture:?}");
        }
    }
}
