//! LOOPS (sections 3.1 and 3.5): row boundary and the quadratic performance model.
//!
//! ```text
//! throughputs, threads --row_boundary--> r_b: rows [0, r_b) for the CSR part, [r_b, m) for the tile part
//! samples (x, y, performance) --Model::fit--> a0 + a1 x + a2 y + a3 x^2 + a4 y^2 --choose--> threads of both parts
//! ```
//!
//! Everything is exact: floats enter as the numbers they are, quotients are compared and never rounded, except to the
//! row boundary. Equal input gives equal output on every machine.
//!
//! Equation (1) of the paper multiplies each part's rows by its unit's throughput, which gives the faster unit
//! fewer rows; here the rows are proportional to throughput (SEMANTICS section 6). What is printed is
//! [`row_boundary_as_printed`], for the tests that tell the two apart.
//!
//! [`choose`] is equation (3): the best pair by the model. For the scheduler of `sparse-kernels` it is one of
//! the pairs that are timed, and the model alone decides nothing.

mod threads;

use sparse_oracle::exact::Dyadic;
use sparse_oracle::scalar::Precision;
use std::cmp::Ordering;

pub use threads::{CalibrationRun, Choice, THREAD_LIMIT, ThreadModel, choose};

/// Bits of an AVX-512 register.
pub const AVX512_BITS: u32 = 512;

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// No part has a thread.
    #[error("neither part has a thread")]
    NoThreads,
    /// More threads than can be looked at.
    #[error("{found} threads, the limit is {THREAD_LIMIT}")]
    TooManyThreads {
        /// Threads asked for.
        found: u32,
    },
    /// A throughput is not a positive finite number.
    #[error("the throughput of the {part} part is {found}, must be positive and finite")]
    Throughput {
        /// "CSR" or "tile".
        part: &'static str,
        /// Its value.
        found: f64,
    },
    /// A boundary past the last row.
    #[error("the boundary is {found}, the matrix has {rows} rows")]
    Boundary {
        /// Its value.
        found: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// A measured performance is infinite or NaN.
    #[error("the performance of sample {at} is {found}, must be finite")]
    Performance {
        /// Which sample.
        at: usize,
        /// Its value.
        found: f64,
    },
    /// Too few measurements.
    #[error("{found} usable samples, at least {needed} are needed")]
    TooFewSamples {
        /// Samples that count.
        found: usize,
        /// Samples needed.
        needed: usize,
    },
    /// The samples do not determine the five coefficients (all of them have one of two thread counts, say).
    #[error("the samples do not determine the model: measure three thread counts of each part, crossed")]
    RankDeficient,
    /// Not a vector length.
    #[error("a vector of {found} bits, must be a power of two from 128 to 2048")]
    VectorBits {
        /// Its value.
        found: u32,
    },
}

/// The unit that computes one part: vector instructions (CSR part) or outer products (tile part).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopsUnit {
    /// Throughput of one thread, in any measure that both units share; positive and finite.
    pub throughput: f64,
    /// Threads.
    pub threads: u32,
}

/// `br` for an element type: lanes of a vector of `vector_bits` (the streaming vector length of SME; [`AVX512_BITS`]).
///
/// # Errors
/// [`ScheduleError::VectorBits`].
pub fn tile_rows(precision: Precision, vector_bits: u32) -> Result<u32, ScheduleError> {
    if !vector_bits.is_power_of_two() || !(128..=2048).contains(&vector_bits) {
        return Err(ScheduleError::VectorBits { found: vector_bits });
    }
    Ok(vector_bits / precision.spec().storage_bits)
}

/// Rows of the CSR part: `round_half_even(rows * c / (c + t))`, where c and t are throughput times threads of the CSR
/// and of the tile part. A part without threads gets no rows.
///
/// # Errors
/// No threads at all; a throughput that is not positive and finite, also of a part without threads.
pub fn row_boundary(rows: usize, csr: LoopsUnit, tile: LoopsUnit) -> Result<usize, ScheduleError> {
    let (csr, tile) = capacities(csr, tile)?;
    Ok(share(rows, &csr, &tile))
}

/// What equation (1) says as printed: `rows * t / (c + t)`. Wrong: the faster unit gets fewer rows.
///
/// # Errors
/// See [`row_boundary`].
pub fn row_boundary_as_printed(rows: usize, csr: LoopsUnit, tile: LoopsUnit) -> Result<usize, ScheduleError> {
    let (csr, tile) = capacities(csr, tile)?;
    Ok(share(rows, &tile, &csr))
}

/// Throughput times threads of both parts, not both zero.
fn capacities(csr: LoopsUnit, tile: LoopsUnit) -> Result<(Dyadic, Dyadic), ScheduleError> {
    let capacity = |part, unit: LoopsUnit| match Dyadic::from_f64(unit.throughput) {
        Some(throughput) if unit.throughput > 0.0 => Ok(&throughput * &Dyadic::from(i64::from(unit.threads))),
        _ => Err(ScheduleError::Throughput { part, found: unit.throughput }),
    };
    let (csr, tile) = (capacity("CSR", csr)?, capacity("tile", tile)?);
    if csr.is_zero() && tile.is_zero() {
        return Err(ScheduleError::NoThreads);
    }
    Ok((csr, tile))
}

/// `rows * mine / (mine + other)`, rounded.
fn share(rows: usize, mine: &Dyadic, other: &Dyadic) -> usize {
    round_quotient(&(&whole(rows) * mine), &(mine + other), rows)
}

fn whole(count: usize) -> Dyadic {
    Dyadic::from_int(count as i128)
}

/// `n / d`, which lies in 0..=most, rounded to the nearest integer, ties to even.
fn round_quotient(n: &Dyadic, d: &Dyadic, most: usize) -> usize {
    // The floor by bisection: low * d <= n < high * d.
    let (mut low, mut high) = (0, most as u128 + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if &whole(middle as usize) * d <= *n {
            low = middle;
        } else {
            high = middle;
        }
    }
    let floor = low as usize;
    let twice_rest = (n - &(&whole(floor) * d)).mul_pow2(1);
    match twice_rest.cmp(d) {
        Ordering::Less => floor,
        Ordering::Greater => floor + 1,
        Ordering::Equal => floor.next_multiple_of(2),
    }
}
