//! The quadratic model of performance, by orthogonalisation, and the best legal pair of thread counts.
//!
//! ```text
//! rows (1, x, y, x^2, y^2), scaled   =  Q R                 Gram-Schmidt, twice over
//! prediction at f = (1, x, y, ..)    =  z . Q^T p           with R^T z = f;  uncertainty TIE * |z| |p|
//! ```

use super::rank::is_full;
use super::{Choice, Sample, ScheduleError, THREAD_LIMIT};

/// Share of the measurements that enter a prediction below which a difference is none. Rounding in f64 stays far below
/// it unless the samples hardly determine the model, and noise of a clock far above.
pub const TIE: f64 = 1.0 / (1u64 << 30) as f64;

type FitRow = [f64; 5];

/// The fitted model. Performances are held divided by a power of two, thread counts by another.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Column j holds R from row 0 to j.
    r: [FitRow; 5],
    /// Q^T p.
    projected: FitRow,
    /// Length of p.
    length: f64,
    /// What p was divided by.
    unit: f64,
    /// What thread counts are multiplied by.
    shrink: f64,
}

/// A predicted performance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The value.
    pub performance: f64,
    /// Others that are closer than the sum of both uncertainties are equal.
    pub uncertainty: f64,
}

impl Prediction {
    fn beats(self, other: Prediction) -> bool {
        self.performance - other.performance > self.uncertainty + other.uncertainty
    }
}

impl Model {
    /// Least squares.
    ///
    /// # Errors
    /// A performance that is not finite, fewer than five samples, a thread count past [`THREAD_LIMIT`], samples that do
    /// not determine the coefficients.
    pub fn fit(samples: &[Sample]) -> Result<Model, ScheduleError> {
        check_finite(samples)?;
        if samples.len() < 5 {
            return Err(ScheduleError::TooFewSamples { found: samples.len(), needed: 5 });
        }
        let counts = samples.iter().flat_map(|s| [s.csr_threads, s.tile_threads]);
        let most = counts.max().unwrap_or(0);
        if most > THREAD_LIMIT {
            return Err(ScheduleError::TooManyThreads { found: most });
        }
        if !is_full(samples) {
            return Err(ScheduleError::RankDeficient);
        }
        let largest = samples.iter().fold(0f64, |m, s| m.max(s.performance.abs()));
        let unit = power_of_two_near(largest);
        let shrink = 1.0 / f64::from(most.next_power_of_two());
        let mut columns: [Vec<f64>; 5] = Default::default();
        for s in samples {
            let row = powers(s.csr_threads, s.tile_threads, shrink);
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let r = orthonormalise(&mut columns);
        let p: Vec<f64> = samples.iter().map(|s| s.performance / unit).collect();
        Ok(Model {
            r,
            projected: std::array::from_fn(|j| dot(&columns[j], &p)),
            length: dot(&p, &p).sqrt(),
            unit,
            shrink,
        })
    }

    /// The performance of x threads of the CSR part and y of the tile part.
    #[must_use]
    pub fn predict(&self, csr_threads: u32, tile_threads: u32) -> Prediction {
        let scaled = self.scaled(csr_threads, tile_threads);
        Prediction {
            performance: scaled.performance * self.unit,
            uncertainty: scaled.uncertainty * self.unit,
        }
    }

    /// The same, not multiplied back: that might overflow.
    fn scaled(&self, x: u32, y: u32) -> Prediction {
        let mut z = powers(x, y, self.shrink);
        for j in 0..5 {
            let known: f64 = (0..j).map(|i| self.r[j][i] * z[i]).sum();
            z[j] = (z[j] - known) / self.r[j][j];
        }
        Prediction {
            performance: dot(&z, &self.projected),
            uncertainty: TIE * dot(&z, &z).sqrt() * self.length,
        }
    }

    /// The best pair of those given, the earliest of equals.
    pub(super) fn best(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Option<(u32, u32)> {
        let mut best: Option<((u32, u32), Prediction)> = None;
        for (x, y) in pairs {
            let prediction = self.scaled(x, y);
            if best.is_none_or(|(_, known)| prediction.beats(known)) {
                best = Some(((x, y), prediction));
            }
        }
        best.map(|(pair, _)| pair)
    }
}

/// All pairs of at most `total` threads and at least one: by their sum, then by x.
pub(super) fn all_pairs(total: u32) -> impl Iterator<Item = (u32, u32)> {
    (1..=total).flat_map(|sum| (0..=sum).map(move |x| (x, sum - x)))
}

fn powers(x: u32, y: u32, shrink: f64) -> FitRow {
    let (x, y) = (f64::from(x) * shrink, f64::from(y) * shrink);
    [1.0, x, y, x * x, y * y]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A power of two with `x / 2 < it <= x`, so that division is exact; 1 for 0.
fn power_of_two_near(x: f64) -> f64 {
    match x.to_bits() & (0x7ff << 52) {
        0 if x == 0.0 => 1.0,
        0 => f64::MIN_POSITIVE,
        exponent => f64::from_bits(exponent),
    }
}

/// Modified Gram-Schmidt; a second pass takes away what rounding left of the first.
fn orthonormalise(columns: &mut [Vec<f64>; 5]) -> [FitRow; 5] {
    let mut r = [[0.0; 5]; 5];
    for (j, r) in r.iter_mut().enumerate() {
        let (done, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        for _ in 0..2 {
            for (i, earlier) in done.iter().enumerate() {
                let share = dot(earlier, column);
                r[i] += share;
                column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= share * e);
            }
        }
        r[j] = dot(column, column).sqrt();
        column.iter_mut().for_each(|c| *c /= r[j]);
    }
    r
}

fn check_finite(samples: &[Sample]) -> Result<(), ScheduleError> {
    match samples.iter().position(|s| !s.performance.is_finite()) {
        Some(at) => Err(ScheduleError::Performance { at, found: samples[at].performance }),
        None => Ok(()),
    }
}

/// Threads of both parts for a matrix of `rows` rows that is cut at `boundary`: of all pairs (x, y) with
/// `1 <= x + y <= total`, where x = 0 only if the CSR part is empty and y = 0 only if the tile part is, the one with the
/// greatest prediction; of equals (see [`TIE`]) the smaller x + y, then the smaller x.
///
/// One thread computes one part only, so for `total` = 1 the faster of the samples (1, 0) and (0, 1) decides without a fit
/// (the best of each; (0, 1) if they are equal), and the boundary moves to the end of its part.
///
/// # Errors
/// No thread or too many, a boundary past the last row, what [`Model::fit`] refuses; for `total` = 1 neither sample.
pub fn choose(samples: &[Sample], total: u32, rows: u32, boundary: u32) -> Result<Choice, ScheduleError> {
    if boundary > rows {
        return Err(ScheduleError::Boundary { found: boundary, rows });
    }
    match total {
        0 => Err(ScheduleError::NoThreads),
        1 => faster_part(samples, rows),
        2..=THREAD_LIMIT => {
            let legal = |&(x, y): &(u32, u32)| (x > 0 || boundary == 0) && (y > 0 || boundary == rows);
            let best = Model::fit(samples)?.best(all_pairs(total).filter(legal));
            // Two threads or more: (1, 1) is always legal.
            let (csr_threads, tile_threads) = best.unwrap_or((1, 1));
            Ok(Choice { csr_threads, tile_threads, boundary })
        }
        found => Err(ScheduleError::TooManyThreads { found }),
    }
}

/// The part that one thread computes faster.
fn faster_part(samples: &[Sample], rows: u32) -> Result<Choice, ScheduleError> {
    check_finite(samples)?;
    let best = |pair| {
        let of_part = samples.iter().filter(|s| (s.csr_threads, s.tile_threads) == pair);
        of_part.map(|s| s.performance).reduce(f64::max)
    };
    let csr = match (best((1, 0)), best((0, 1))) {
        (None, None) => return Err(ScheduleError::TooFewSamples { found: 0, needed: 1 }),
        (Some(csr), Some(tile)) => csr > tile,
        (csr, _) => csr.is_some(),
    };
    Ok(Choice {
        csr_threads: u32::from(csr),
        tile_threads: u32::from(!csr),
        boundary: if csr { rows } else { 0 },
    })
}
