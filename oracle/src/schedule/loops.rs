//! LOOPS (seeds/000, sections 3.1 and 3.5): row boundary and the quadratic performance model.
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

use crate::exact::Dyadic;
use crate::scalar::{Precision, Rounding};
use std::cmp::Ordering;

/// The most threads that [`choose`] distributes: it looks at every pair.
pub const THREAD_LIMIT: u32 = 1 << 10;

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
pub struct Unit {
    /// Throughput of one thread, in any measure that both units share; positive and finite.
    pub throughput: f64,
    /// Threads.
    pub threads: u32,
}

/// One calibration run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Threads of the CSR part, x.
    pub csr_threads: u32,
    /// Threads of the tile part, y.
    pub tile_threads: u32,
    /// What was measured, more is better; finite.
    pub performance: f64,
}

/// Who computes what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Threads of the CSR part.
    pub csr_threads: u32,
    /// Threads of the tile part.
    pub tile_threads: u32,
    /// Rows of the CSR part.
    pub boundary: usize,
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
pub fn row_boundary(rows: usize, csr: Unit, tile: Unit) -> Result<usize, ScheduleError> {
    let (csr, tile) = capacities(csr, tile)?;
    Ok(share(rows, &csr, &tile))
}

/// What equation (1) says as printed: `rows * t / (c + t)`. Wrong: the faster unit gets fewer rows.
///
/// # Errors
/// See [`row_boundary`].
pub fn row_boundary_as_printed(rows: usize, csr: Unit, tile: Unit) -> Result<usize, ScheduleError> {
    let (csr, tile) = capacities(csr, tile)?;
    Ok(share(rows, &tile, &csr))
}

/// Throughput times threads of both parts, not both zero.
fn capacities(csr: Unit, tile: Unit) -> Result<(Dyadic, Dyadic), ScheduleError> {
    let capacity = |part, unit: Unit| match Dyadic::from_f64(unit.throughput) {
        Some(throughput) if unit.throughput > 0.0 => Ok(&throughput * &Dyadic::from(i64::from(unit.threads))),
        _ => Err(ScheduleError::Throughput {
            part,
            found: unit.throughput,
        }),
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

/// The fitted model: `performance(x, y) = (n0 + n1 x + n2 y + n3 x^2 + n4 y^2) / d`, with exact n and d.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The coefficients times the denominator: of 1, x, y, x^2, y^2.
    pub numerators: [Dyadic; 5],
    /// Positive.
    pub denominator: Dyadic,
}

impl Model {
    /// Least squares by the normal equations, solved by Cramer's rule: their matrix is singular, exactly, iff the samples
    /// do not determine the coefficients.
    ///
    /// # Errors
    /// Fewer than five samples, a performance that is not finite, samples that do not determine the coefficients.
    pub fn fit(samples: &[Sample]) -> Result<Model, ScheduleError> {
        let performance = measured(samples)?;
        if samples.len() < 5 {
            return Err(ScheduleError::TooFewSamples {
                found: samples.len(),
                needed: 5,
            });
        }
        let rows: Vec<[Dyadic; 5]> = samples
            .iter()
            .map(|s| powers(s.csr_threads, s.tile_threads))
            .collect();
        let gram: [[Dyadic; 5]; 5] =
            std::array::from_fn(|i| std::array::from_fn(|j| rows.iter().map(|r| &r[i] * &r[j]).sum()));
        let right: [Dyadic; 5] =
            std::array::from_fn(|i| rows.iter().zip(&performance).map(|(r, p)| &r[i] * p).sum());
        let denominator = determinant(&gram);
        if denominator.is_zero() {
            return Err(ScheduleError::RankDeficient);
        }
        let numerators = std::array::from_fn(|i| {
            let mut replaced = gram.clone();
            for (row, value) in replaced.iter_mut().zip(&right) {
                row[i] = value.clone();
            }
            determinant(&replaced)
        });
        Ok(Model {
            numerators,
            denominator,
        })
    }

    /// The predicted performance times the denominator.
    #[must_use]
    pub fn scaled(&self, csr_threads: u32, tile_threads: u32) -> Dyadic {
        let terms = powers(csr_threads, tile_threads);
        self.numerators.iter().zip(&terms).map(|(n, t)| n * t).sum()
    }

    /// The predicted performance, to within 2 units in the last place where it is a normal number.
    #[must_use]
    pub fn predict(&self, csr_threads: u32, tile_threads: u32) -> f64 {
        let (n, d) = (self.scaled(csr_threads, tile_threads), &self.denominator);
        let (Some(top), Some(bottom)) = (n.msb_exponent(), d.msb_exponent()) else {
            return 0.0;
        };
        // Both as numbers in [1, 2], so that neither overflows.
        let unit = |x: &Dyadic, exponent: i64| x.mul_pow2(-exponent as i32).to_f64(Rounding::NearestEven);
        let quotient = unit(&n, top) / unit(d, bottom);
        let scaled = Dyadic::from_f64(quotient).unwrap_or_default();
        scaled
            .mul_pow2((top - bottom) as i32)
            .to_f64(Rounding::NearestEven)
    }
}

/// The performances as exact numbers.
fn measured(samples: &[Sample]) -> Result<Vec<Dyadic>, ScheduleError> {
    let exact = |(at, s): (usize, &Sample)| {
        Dyadic::from_f64(s.performance).ok_or(ScheduleError::Performance {
            at,
            found: s.performance,
        })
    };
    samples.iter().enumerate().map(exact).collect()
}

/// 1, x, y, x^2, y^2.
fn powers(x: u32, y: u32) -> [Dyadic; 5] {
    let (x, y) = (i128::from(x), i128::from(y));
    [1, x, y, x * x, y * y].map(Dyadic::from_int)
}

/// By the first column: signed minors.
fn determinant<const N: usize>(matrix: &[[Dyadic; N]; N]) -> Dyadic {
    let rows: Vec<&[Dyadic]> = matrix.iter().map(<[Dyadic; N]>::as_slice).collect();
    minor(&rows)
}

fn minor(rows: &[&[Dyadic]]) -> Dyadic {
    if rows.is_empty() {
        return Dyadic::from(1);
    }
    let terms = rows.iter().enumerate().map(|(i, row)| {
        let others = rows.iter().enumerate().filter(|(j, _)| *j != i);
        let rest: Vec<&[Dyadic]> = others.map(|(_, other)| &other[1..]).collect();
        let term = &row[0] * &minor(&rest);
        if i % 2 == 0 { term } else { -term }
    });
    terms.sum()
}

/// Threads of both parts for a matrix of `rows` rows that is cut at `boundary`: of all pairs (x, y) with
/// `1 <= x + y <= total`, where x = 0 only if the CSR part is empty and y = 0 only if the tile part is, the one with the
/// greatest prediction; of equals the smaller x + y, then the smaller x.
///
/// A single thread computes one part only, so for `total` = 1 the faster of the samples (1, 0) and (0, 1) decides
/// without a fit (the best of each, if repeated; the only one, if the other is missing; (0, 1), if they are equal), and
/// the boundary moves to the end of its part.
///
/// # Errors
/// No thread or more than [`THREAD_LIMIT`], a boundary past the last row, what [`Model::fit`] refuses; for `total` = 1
/// neither sample.
pub fn choose(samples: &[Sample], total: u32, rows: usize, boundary: usize) -> Result<Choice, ScheduleError> {
    if boundary > rows {
        return Err(ScheduleError::Boundary {
            found: boundary,
            rows,
        });
    }
    match total {
        0 => Err(ScheduleError::NoThreads),
        1 => faster_part(samples, rows),
        2..=THREAD_LIMIT => {
            let model = Model::fit(samples)?;
            let (csr_threads, tile_threads) = greatest(&model, total, boundary > 0, boundary < rows);
            Ok(Choice {
                csr_threads,
                tile_threads,
                boundary,
            })
        }
        found => Err(ScheduleError::TooManyThreads { found }),
    }
}

/// The part that one thread computes faster.
fn faster_part(samples: &[Sample], rows: usize) -> Result<Choice, ScheduleError> {
    measured(samples)?;
    let best = |x, y| {
        let of_part = samples
            .iter()
            .filter(|s| (s.csr_threads, s.tile_threads) == (x, y));
        of_part.map(|s| s.performance).reduce(f64::max)
    };
    let csr_first = match (best(1, 0), best(0, 1)) {
        (None, None) => return Err(ScheduleError::TooFewSamples { found: 0, needed: 1 }),
        (csr, tile) => csr.is_some_and(|c| tile.is_none_or(|t| c > t)),
    };
    Ok(Choice {
        csr_threads: u32::from(csr_first),
        tile_threads: u32::from(!csr_first),
        boundary: if csr_first { rows } else { 0 },
    })
}

/// The best pair; pairs are visited in the order that settles ties.
fn greatest(model: &Model, total: u32, needs_csr: bool, needs_tile: bool) -> (u32, u32) {
    // The model has no cross term: x and y contribute separately.
    let with_csr: Vec<Dyadic> = (0..=total).map(|x| model.scaled(x, 0)).collect();
    let with_tile: Vec<Dyadic> = (0..=total)
        .map(|y| &model.scaled(0, y) - &model.numerators[0])
        .collect();
    let pairs = (1..=total).flat_map(|sum| (0..=sum).map(move |x| (x, sum - x)));
    let legal = pairs.filter(|&(x, y)| (x > 0 || !needs_csr) && (y > 0 || !needs_tile));
    let mut best: Option<((u32, u32), Dyadic)> = None;
    for (x, y) in legal {
        let performance = &with_csr[x as usize] + &with_tile[y as usize];
        if best.as_ref().is_none_or(|(_, known)| performance > *known) {
            best = Some(((x, y), performance));
        }
    }
    // Two threads or more: (1, 1) is always legal.
    best.map_or((1, 1), |(pair, _)| pair)
}
