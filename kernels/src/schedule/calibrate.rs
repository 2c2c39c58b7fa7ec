//! From measurements to a plan. Whoever calls measures: a function that runs a plan on the sample and returns a
//! throughput.
//!
//! ```text
//! (1, 0) (2, 0) (4, 0) ..   (0, 1) (0, 2) (0, 4) ..     throughput of each part by its threads  -> boundary of every pair (equation 1)
//! some pairs of both                                    -> model (equation 2) -> its best pair (equation 3), measured
//! steps from the fastest pair: boundary, threads, boundary
//! the fastest of CSR alone, of tiles alone, of both, measured again in turns                     -> the faster by its median is the plan
//! ```

use super::model::{Model, all_pairs, choose};
use super::{Choice, LoopsUnit, Plan, Sample, ScheduleError, THREAD_LIMIT, row_boundary};
use std::collections::BTreeSet;

/// A pair of thread counts: of the CSR part, of the tile part.
type Pair = (u32, u32);

/// Turns of the last runs.
const TURNS: usize = 5;
/// CSR alone, tiles alone, both: of equals the earlier.
const KINDS: [fn(Pair) -> bool; 3] = [|(_, y)| y == 0, |(x, _)| x == 0, |(x, y)| x > 0 && y > 0];
/// By how much equation 1's ratio of throughputs is multiplied, or divided, in a step: 2, then its square roots.
const LEANS: [f64; 4] = [2.0, 1.414, 1.189, 1.091];

/// The pairs that are measured for a total number of threads before there is a model: powers of two and all threads for a part alone,
/// one, half and all but one for both. They determine the model for every total from 2 on.
#[must_use]
pub fn pairs(total: u32) -> Vec<(u32, u32)> {
    let total = total.min(THREAD_LIMIT);
    let both = [1, total.div_ceil(2), total.saturating_sub(1)];
    let measured = |&(x, y): &Pair| match (x, y) {
        (alone, 0) | (0, alone) => alone.is_power_of_two() || alone == total,
        _ => both.contains(&x) && both.contains(&y),
    };
    all_pairs(total).filter(measured).collect()
}

/// The plan for a matrix of `rows` rows and `total` threads. `measure` gets plans for a sample of `sample_rows` rows and
/// returns their throughput, in any measure where more is better.
///
/// Equation 1 is given the throughput that a part had with as many threads as it has in the pair, so that threads which crowd a shared
/// unit get the rows that they manage together. A quadratic follows no sharp peak and knows nothing of rows that differ: the pair that it
/// names is timed like others, and steps from the fastest, of the boundary and of the threads, find the best. Of many runs on a noisy
/// machine the luckiest looks fastest, and most are of both parts: so the best of each kind are timed again before one is taken. Equal ones
/// settle on CSR alone, then on tiles alone; for one thread see [`choose`]. A matrix or a sample without rows is CSR alone, unmeasured.
///
/// # Errors
/// No threads or too many, tiles of no rows, a throughput that is not positive and finite, an error of `measure`.
pub fn plan(
    rows: u32,
    sample_rows: u32,
    br: u32,
    total: u32,
    measure: impl FnMut(&Plan) -> Result<f64, ScheduleError>,
) -> Result<Plan, ScheduleError> {
    match total {
        0 => return Err(ScheduleError::NoThreads),
        1..=THREAD_LIMIT => {}
        found => return Err(ScheduleError::TooManyThreads { found }),
    }
    if br == 0 {
        return Err(ScheduleError::NoTileRows);
    }
    let mut runs = Trials { rows: sample_rows, br, total, done: Vec::new(), measure };
    if rows == 0 || sample_rows == 0 {
        // Nothing can be measured, and no tile pays.
        let choice = runs.cut(rows, (total, 0), 1.0)?;
        return Ok(Plan { choice, br });
    }
    // Parts alone first: what they managed says where pairs of both are cut.
    let pairs = pairs(total);
    for kind in KINDS {
        for &pair in pairs.iter().filter(|&&pair| kind(pair)) {
            runs.run(pair, 1.0)?;
        }
    }
    if total == 1 {
        let choice = choose(&runs.samples(), 1, rows, rows)?;
        return Ok(Plan { choice, br });
    }
    runs.ask_the_model()?;
    runs.lean(&LEANS[..2])?;
    runs.step(total / 4)?;
    runs.lean(&LEANS)?;
    let best = runs.decide()?;
    let choice = runs.cut(rows, best.threads(), best.lean)?;
    Ok(Plan { choice, br })
}

/// One run on the sample.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The pair that was asked for.
    pair: Pair,
    /// What the throughput of the CSR part was multiplied by in equation 1.
    lean: f64,
    /// What became of it: a part that got no row had no thread.
    choice: Choice,
    performance: f64,
}

impl Trial {
    /// The threads that ran.
    const fn threads(&self) -> Pair {
        (self.choice.csr_threads, self.choice.tile_threads)
    }
}

/// What was run, and how to run more.
struct Trials<M> {
    rows: u32,
    br: u32,
    total: u32,
    done: Vec<Trial>,
    measure: M,
}

impl<M: FnMut(&Plan) -> Result<f64, ScheduleError>> Trials<M> {
    /// Measures a pair with its boundary; what was run already is not run again.
    fn run(&mut self, pair: Pair, lean: f64) -> Result<f64, ScheduleError> {
        let choice = self.cut(self.rows, pair, lean)?;
        let known = self.done.iter().find(|run| run.choice == choice).map(|run| run.performance);
        let performance = match known {
            Some(performance) => performance,
            None => self.measured(choice)?,
        };
        self.done.push(Trial { pair, lean, choice, performance });
        Ok(performance)
    }

    fn measured(&mut self, choice: Choice) -> Result<f64, ScheduleError> {
        let performance = (self.measure)(&Plan { choice, br: self.br })?;
        if !performance.is_finite() || performance <= 0.0 {
            let part = if choice.tile_threads == 0 { "CSR" } else { "tile" };
            return Err(ScheduleError::Throughput { part, found: performance });
        }
        Ok(performance)
    }

    /// The fastest runs of each kind in turns, several times: the one with the greatest median, of equals the earlier kind.
    fn decide(&mut self) -> Result<Trial, ScheduleError> {
        let best_of = |kind: fn(Pair) -> bool| self.fastest(|run| kind(run.threads()));
        let finalists: Vec<Trial> = KINDS.into_iter().filter_map(best_of).collect();
        let mut again = vec![Vec::with_capacity(TURNS); finalists.len()];
        for _ in 0..TURNS {
            for (run, found) in finalists.iter().zip(&mut again) {
                found.push(self.measured(run.choice)?);
            }
        }
        let median = |mut found: Vec<f64>| {
            found.sort_by(f64::total_cmp);
            found[TURNS / 2]
        };
        let decided = finalists.into_iter().zip(again.into_iter().map(median));
        let best = decided.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map(|(run, _)| run).ok_or(ScheduleError::NoThreads)
    }

    /// Throughput of a thread of a part that has this many and no other part beside it, between those that were measured.
    fn rate(&self, threads: u32, pair_of: fn(u32) -> Pair) -> f64 {
        let measured =
            |n: u32| self.done.iter().find(|run| run.pair == pair_of(n)).map(|run| run.performance);
        let below = (1..=threads).rev().find_map(|n| Some((n, measured(n)?)));
        let above = (threads..=self.total).find_map(|n| Some((n, measured(n)?)));
        let (Some((low, slow)), Some((high, fast))) = (below, above) else {
            return 1.0;
        };
        let share = f64::from(threads - low) / f64::from((high - low).max(1));
        (slow + share * (fast - slow)) / f64::from(threads)
    }

    /// `rows` rows cut for a pair; a part without rows has no threads.
    fn cut(&self, rows: u32, (x, y): Pair, lean: f64) -> Result<Choice, ScheduleError> {
        let csr = LoopsUnit { throughput: lean * self.rate(x, |n| (n, 0)), threads: x };
        let tile = LoopsUnit { throughput: self.rate(y, |n| (0, n)), threads: y };
        let boundary = row_boundary(rows, csr, tile)?;
        let (csr_threads, tile_threads) = match boundary {
            // Not even one row for the CSR part, or no rows at all.
            0 if rows > 0 => (0, y),
            all if all == rows && x > 0 => (x, 0),
            _ => (x, y),
        };
        Ok(Choice { csr_threads, tile_threads, boundary })
    }

    /// The fastest run of each pair that was asked for, as the model wants them.
    fn samples(&self) -> Vec<Sample> {
        let pairs: BTreeSet<Pair> = self.done.iter().map(|run| run.pair).collect();
        let sample = |(csr_threads, tile_threads)| {
            let fastest = self.fastest(|run| run.pair == (csr_threads, tile_threads))?;
            Some(Sample { csr_threads, tile_threads, performance: fastest.performance })
        };
        pairs.into_iter().filter_map(sample).collect()
    }

    /// The fastest run in which both parts had rows.
    fn fastest_of_both(&self) -> Option<Trial> {
        self.fastest(|run| KINDS[2](run.threads()))
    }

    /// Runs the pair of both parts that the model says is best.
    fn ask_the_model(&mut self) -> Result<(), ScheduleError> {
        let both = all_pairs(self.total).filter(|&(x, y)| x > 0 && y > 0);
        match Model::fit(&self.samples())?.best(both) {
            Some(pair) => self.run(pair, 1.0).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Moves the boundary of the fastest pair of both parts by each of these factors, up or else down.
    fn lean(&mut self, factors: &[f64]) -> Result<(), ScheduleError> {
        for &factor in factors {
            let Some(best) = self.fastest_of_both() else {
                return Ok(());
            };
            if self.run(best.pair, best.lean * factor)? <= best.performance {
                self.run(best.pair, best.lean / factor)?;
            }
        }
        Ok(())
    }

    /// Moves threads of the fastest pair of both parts, by smaller and smaller steps, each as long as it gains.
    fn step(&mut self, mut reach: u32) -> Result<(), ScheduleError> {
        while reach > 0 {
            let Some(best) = self.fastest_of_both() else {
                return Ok(());
            };
            for pair in self.around(best.threads(), reach) {
                self.run(pair, best.lean)?;
            }
            if self.fastest_of_both().is_some_and(|now| now.threads() == best.threads()) {
                reach /= 2;
            }
        }
        Ok(())
    }

    /// Legal pairs that have so many threads more or fewer.
    fn around(&self, (x, y): Pair, reach: u32) -> Vec<Pair> {
        let (more_x, more_y) = (x + reach, y + reach);
        let (less_x, less_y) = (x.saturating_sub(reach), y.saturating_sub(reach));
        let near = [(more_x, y), (x, more_y), (more_x, less_y), (less_x, more_y), (less_x, y), (x, less_y)];
        near.into_iter().filter(|&(x, y)| x > 0 && y > 0 && x + y <= self.total).collect()
    }
}

impl<M> Trials<M> {
    /// The fastest run of some pairs; of equal ones fewer threads, then fewer of the CSR part.
    fn fastest(&self, of: impl Fn(&Trial) -> bool) -> Option<Trial> {
        let fewer = |run: &Trial| (run.threads().0 + run.threads().1, run.threads().0);
        let runs = self.done.iter().copied().filter(|run| of(run));
        runs.reduce(|best, run| match run.performance.total_cmp(&best.performance) {
            std::cmp::Ordering::Greater => run,
            std::cmp::Ordering::Equal if fewer(&run) < fewer(&best) => run,
            _ => best,
        })
    }
}
