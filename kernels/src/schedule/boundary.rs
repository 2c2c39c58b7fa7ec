//! Rows of the CSR part, exactly: `round_half_even(rows * c / (c + t))`, c and t being throughput times threads.
//!
//! ```text
//! throughput = significand * 2^exponent       both parts over the smaller exponent: c and t are integers below 2^124
//! rows = 1011b    remainder <- 2 * remainder + bit * c,  quotient <- 2 * quotient + remainder div (c + t)     bit by bit
//! ```

use super::{LoopsUnit, ScheduleError, THREAD_LIMIT};
use std::cmp::Ordering;

/// With exponents further apart, the slower part's share of 2^32 rows is less than half a row: its rate is below 2^63
/// units, the other's at least 2^(52 + 61).
const FAR: i32 = 60;

/// Rows of the CSR part, in proportion to throughput times threads, halves to even. A part without threads gets no rows.
///
/// # Errors
/// No threads at all, or more than [`THREAD_LIMIT`] of a part; a throughput that is not positive and finite, also of a
/// part without threads.
pub fn row_boundary(rows: u32, csr: LoopsUnit, tile: LoopsUnit) -> Result<u32, ScheduleError> {
    let (c, t) = (Rate::new("CSR", csr)?, Rate::new("tile", tile)?);
    match (c.count, t.count) {
        (0, 0) => return Err(ScheduleError::NoThreads),
        (0, _) => return Ok(0),
        (_, 0) => return Ok(rows),
        _ => {}
    }
    let apart = c.exponent - t.exponent;
    if apart.abs() > FAR {
        return Ok(if apart > 0 { rows } else { 0 });
    }
    let (c, t) = (c.count << apart.max(0), t.count << (-apart).max(0));
    Ok(quotient(rows, c, c + t))
}

/// `count * 2^exponent`.
struct Rate {
    /// 0, or from 2^52 up to 2^63.
    count: u128,
    exponent: i32,
}

impl Rate {
    fn new(part: &'static str, unit: LoopsUnit) -> Result<Rate, ScheduleError> {
        let found = unit.throughput;
        if !found.is_finite() || found <= 0.0 {
            return Err(ScheduleError::Throughput { part, found });
        }
        if unit.threads > THREAD_LIMIT {
            return Err(ScheduleError::TooManyThreads { found: unit.threads });
        }
        let (field, fraction) = ((found.to_bits() >> 52) as i32, found.to_bits() & ((1 << 52) - 1));
        // A subnormal is brought to 53 bits like any other.
        let (significand, exponent) = match field {
            0 => {
                let up = fraction.leading_zeros() as i32 - 11;
                (fraction << up, 1 - up)
            }
            _ => (fraction | 1 << 52, field),
        };
        Ok(Rate { count: u128::from(significand) * u128::from(unit.threads), exponent })
    }
}

/// `rows * c / d`, rounded, for c at most d and d below 2^125.
fn quotient(rows: u32, c: u128, d: u128) -> u32 {
    let (mut quotient, mut remainder) = (0, 0);
    for bit in (0..u32::BITS).rev() {
        remainder = 2 * remainder + u128::from(rows >> bit & 1) * c;
        quotient = 2 * quotient + (remainder / d) as u32;
        remainder %= d;
    }
    match (2 * remainder).cmp(&d) {
        Ordering::Less => quotient,
        Ordering::Equal => quotient + quotient % 2,
        Ordering::Greater => quotient + 1,
    }
}
