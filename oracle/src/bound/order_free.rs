//! Criterion T0: where every way of summing gives the exact value.
//!
//! Let all terms be multiples of 2^q, and the sum of their magnitudes at most 2^(p + q), p significand bits of the narrowest type.
//! Then every partial sum of every order is a multiple of 2^q with at most p bits, hence exact, whatever the rounding mode.
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

/// True when every way of summing gives the exact value, so that only that is right.
///
/// Needs every product, scaled term and intermediate to be a multiple of 2^`lsb`, and the sum of all their
/// magnitudes, `total`, to be at most `2^(p + lsb)`, with p the significand bits of the narrowest declared type or alignment; and
/// the range of that type to reach from 2^lsb to the total.
#[must_use]
pub fn is_order_free(arithmetic: &Arithmetic, lsb: i64, total: f64) -> bool {
    arithmetic.parts.iter().all(|part| part_is_order_free(arithmetic, part, lsb, total))
}

fn part_is_order_free(arithmetic: &Arithmetic, part: &Part, lsb: i64, total: f64) -> bool {
    let (acc, out) = (part.acc.spec(), arithmetic.out.spec());
    let mut p = i64::from(acc.significand.min(out.significand));
    let mut floor = i64::from(acc.min_exponent().max(out.min_exponent()));
    if flushes(arithmetic, part) {
        floor = i64::from(acc.emin.max(out.emin));
    }
    for sum in fused_sums(part) {
        p = p.min(i64::from(sum.fraction) + 1).min(i64::from(sum.output.significand()));
        floor = floor.max(i64::from(acc.emin.max(sum.zero_exponent) - sum.fraction));
        floor = floor.max(i64::from(acc.emin) + 1 - i64::from(sum.output.significand()));
    }
    let limit = acc.max_finite().min(out.max_finite());
    // 2^(p + lsb), saturated: an exponent out of f64's range cannot bind.
    let room = p + lsb;
    let fits = if room > 1023 { true } else { room >= -1022 && total <= power_of_two(room as i32) };
    lsb >= floor && total <= limit && fits
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
