//! How many threads compute which part of LOOPS: a quadratic model of performance, fitted exactly, and its best legal pair.
//!
//! ```text
//! samples --powers--> rows (1, x, y, x^2, y^2) --normal equations, Cramer--> numerators / denominator --> first of the best
//! ```

use super::ScheduleError;
use sparse_oracle::exact::Dyadic;
use sparse_oracle::scalar::Rounding;

/// The most threads that [`choose`] distributes: it looks at every pair.
pub const THREAD_LIMIT: u32 = 1 << 10;

/// One calibration run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationRun {
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

/// The fitted model: `performance(x, y) = (n0 + n1 x + n2 y + n3 x^2 + n4 y^2) / d`, with exact n and d.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadModel {
    /// The coefficients times the denominator: of 1, x, y, x^2, y^2.
    pub numerators: [Dyadic; 5],
    /// Positive.
    pub denominator: Dyadic,
}

impl ThreadModel {
    /// Least squares by the normal equations, solved by Cramer's rule: their matrix is singular, exactly, iff the samples
    /// do not determine the coefficients.
    ///
    /// # Errors
    /// Fewer than five samples, a performance that is not finite, samples that do not determine the coefficients.
    pub fn fit(samples: &[CalibrationRun]) -> Result<ThreadModel, ScheduleError> {
        let performance = measured(samples)?;
        if samples.len() < 5 {
            return Err(ScheduleError::TooFewSamples { found: samples.len(), needed: 5 });
        }
        let rows: Vec<[Dyadic; 5]> = samples.iter().map(|s| powers(s.csr_threads, s.tile_threads)).collect();
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
        Ok(ThreadModel { numerators, denominator })
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
        scaled.mul_pow2((top - bottom) as i32).to_f64(Rounding::NearestEven)
    }
}

/// The performances as exact numbers.
fn measured(samples: &[CalibrationRun]) -> Result<Vec<Dyadic>, ScheduleError> {
    let exact = |(at, s): (usize, &CalibrationRun)| {
        Dyadic::from_f64(s.performance).ok_or(ScheduleError::Performance { at, found: s.performance })
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
/// No thread or more than [`THREAD_LIMIT`], a boundary past the last row, what [`ThreadModel::fit`] refuses; for `total` = 1
/// neither sample.
pub fn choose(
    samples: &[CalibrationRun],
    total: u32,
    rows: usize,
    boundary: usize,
) -> Result<Choice, ScheduleError> {
    if boundary > rows {
        return Err(ScheduleError::Boundary { found: boundary, rows });
    }
    match total {
        0 => Err(ScheduleError::NoThreads),
        1 => faster_part(samples, rows),
        2..=THREAD_LIMIT => {
            let model = ThreadModel::fit(samples)?;
            let (csr_threads, tile_threads) = greatest(&model, total, boundary > 0, boundary < rows);
            Ok(Choice { csr_threads, tile_threads, boundary })
        }
        found => Err(ScheduleError::TooManyThreads { found }),
    }
}

/// The part that one thread computes faster.
fn faster_part(samples: &[CalibrationRun], rows: usize) -> Result<Choice, ScheduleError> {
    measured(samples)?;
    let best = |x, y| {
        let of_part = samples.iter().filter(|s| (s.csr_threads, s.tile_threads) == (x, y));
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
fn greatest(model: &ThreadModel, total: u32, needs_csr: bool, needs_tile: bool) -> (u32, u32) {
    // The model has no cross term: x and y contribute separately.
    let with_csr: Vec<Dyadic> = (0..=total).map(|x| model.scaled(x, 0)).collect();
    let with_tile: Vec<Dyadic> = (0..=total).map(|y| &model.scaled(0, y) - &model.numerators[0]).collect();
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
