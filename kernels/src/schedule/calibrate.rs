//! From measurements to a plan. Whoever calls measures: a function that runs a plan on the sample and returns a
//! throughput.
//!
//! ```text
//! (1, 0) (0, 1)        throughput of each part      -> boundary of every pair
//! grid of pairs        performance                  -> model
//! best (x, 0), best (0, y), best (x, y) by the model, measured where they were not  -> the fastest run is the plan
//! ```

use super::model::{Model, all_pairs, choose};
use super::{Choice, LoopsUnit, Plan, Sample, ScheduleError, THREAD_LIMIT, row_boundary};

/// The pairs that are measured for a total number of threads: none, one, half and all of each part, and all but one.
/// They determine the model for every total from 2 on.
#[must_use]
pub fn pairs(total: u32) -> Vec<(u32, u32)> {
    let total = total.min(THREAD_LIMIT);
    let levels = [0, 1, total.div_ceil(2), total.saturating_sub(1), total];
    let on_grid = |&(x, y): &(u32, u32)| levels.contains(&x) && levels.contains(&y);
    all_pairs(total).filter(on_grid).collect()
}

/// The plan for a matrix of `rows` rows and `total` threads. `measure` gets plans for a sample of `sample_rows` rows and
/// returns their throughput, in any measure where more is better.
///
/// The model only says which pairs are worth a run: the plan is the fastest run of all, so that a model without a cross term
/// cannot talk it into a hybrid that does not pay. Equal runs settle on CSR alone, then on tiles alone. A matrix or a sample without rows is CSR alone, unmeasured.
///
/// # Errors
/// No threads or too many, tiles of no rows, a throughput that is not positive and finite, an error of `measure`.
pub fn plan(
    rows: u32,
    sample_rows: u32,
    br: u32,
    total: u32,
    mut measure: impl FnMut(&Plan) -> Result<f64, ScheduleError>,
) -> Result<Plan, ScheduleError> {
    match total {
        0 => return Err(ScheduleError::NoThreads),
        1..=THREAD_LIMIT => {}
        found => return Err(ScheduleError::TooManyThreads { found }),
    }
    if br == 0 {
        return Err(ScheduleError::NoTileRows);
    }
    if rows == 0 || sample_rows == 0 {
        // Nothing can be measured, and no tile pays.
        let choice = cut(rows, (total, 0), (1.0, 1.0))?;
        return Ok(Plan { choice, br });
    }
    let mut samples: Vec<Sample> = Vec::new();
    let mut run = |samples: &mut Vec<Sample>, choice: Choice, part| {
        let performance = measure(&Plan { choice, br })?;
        if !performance.is_finite() || performance <= 0.0 {
            return Err(ScheduleError::Throughput { part, found: performance });
        }
        samples.push(Sample {
            csr_threads: choice.csr_threads,
            tile_threads: choice.tile_threads,
            performance,
        });
        Ok(performance)
    };
    let rates = (
        run(&mut samples, cut(sample_rows, (1, 0), (1.0, 1.0))?, "CSR")?,
        run(&mut samples, cut(sample_rows, (0, 1), (1.0, 1.0))?, "tile")?,
    );
    if total == 1 {
        let choice = choose(&samples, 1, rows, rows)?;
        return Ok(Plan { choice, br });
    }
    for pair in pairs(total) {
        if pair != (1, 0) && pair != (0, 1) {
            run_pair(&mut samples, pair, sample_rows, rates, &mut run)?;
        }
    }
    let model = Model::fit(&samples)?;
    for kind in KINDS {
        let best = model.best(all_pairs(total).filter(kind));
        if let Some(pair) = best.filter(|&pair| !samples.iter().any(|s| pair_of(s) == pair)) {
            run_pair(&mut samples, pair, sample_rows, rates, &mut run)?;
        }
    }
    let pair = fastest(&samples).ok_or(ScheduleError::NoThreads)?;
    let choice = cut(rows, pair, rates)?;
    Ok(Plan { choice, br })
}

fn run_pair(
    samples: &mut Vec<Sample>,
    pair: (u32, u32),
    rows: u32,
    rates: (f64, f64),
    run: &mut impl FnMut(&mut Vec<Sample>, Choice, &'static str) -> Result<f64, ScheduleError>,
) -> Result<f64, ScheduleError> {
    let part = if pair.1 == 0 { "CSR" } else { "tile" };
    let found = run(samples, cut(rows, pair, rates)?, part)?;
    // A part that got no row has no thread, but the model is about the pair that was asked for.
    if let Some(last) = samples.last_mut() {
        (last.csr_threads, last.tile_threads) = pair;
    }
    Ok(found)
}

/// Whether a pair of thread counts is of a kind.
type Kind = fn(&(u32, u32)) -> bool;

/// CSR alone, tiles alone, both: of equals the earlier.
const KINDS: [Kind; 3] = [|&(_, y)| y == 0, |&(x, _)| x == 0, |&(x, y)| x > 0 && y > 0];

fn pair_of(sample: &Sample) -> (u32, u32) {
    (sample.csr_threads, sample.tile_threads)
}

/// The pair of the fastest run; of equal ones of a kind, fewer threads.
fn fastest(samples: &[Sample]) -> Option<(u32, u32)> {
    let mut best: Option<&Sample> = None;
    for kind in KINDS {
        let mut of_kind: Vec<&Sample> = samples.iter().filter(|s| kind(&pair_of(s))).collect();
        of_kind.sort_by_key(|s| (s.csr_threads + s.tile_threads, s.csr_threads));
        for sample in of_kind {
            if best.is_none_or(|known| sample.performance > known.performance) {
                best = Some(sample);
            }
        }
    }
    best.map(pair_of)
}

/// `rows` rows cut for a pair; a part without rows has no threads.
fn cut(rows: u32, (x, y): (u32, u32), (csr, tile): (f64, f64)) -> Result<Choice, ScheduleError> {
    let unit = |throughput, threads| LoopsUnit { throughput, threads };
    let boundary = row_boundary(rows, unit(csr, x), unit(tile, y))?;
    let (csr_threads, tile_threads) = match boundary {
        // Not even one row for the CSR part, or no rows at all.
        0 if rows > 0 => (0, y),
        all if all == rows && x > 0 => (x, 0),
        _ => (x, y),
    };
    Ok(Choice { csr_threads, tile_threads, boundary })
}
