//! Timing: many short rounds, in each of which every contender has its turn, in an order drawn anew.
//!
//! ```text
//! round 1   C: . x x x   A: . x x   B: . x      . one call that is not timed (threads awake, its data in the caches)
//! round 2   A: . x x     B: . x     C: . x x x  x timed calls: as many as fill a turn, at least one
//! ```
//!
//! A round's time of a contender is the mean of its calls in it. Rounds go on until the contenders have had their time; those
//! of one comparison are as many for all, so that ratios can be formed round by round.

use super::contender::Contender;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::{Duration, Instant};

/// How long a turn is, at least one call.
const TURN: f64 = 0.01;
/// Calls longer than this need no call before them.
const LONG: f64 = 0.05;
/// Fewest and most rounds.
const ROUNDS: (usize, usize) = (7, 400);

/// Seconds per call, round by round, for each contender; and its calls in a round.
pub(super) struct Times {
    pub(super) rounds: Vec<f64>,
    pub(super) calls: usize,
}

/// Times contenders that are right. `budget` is the time for each of them.
///
/// # Errors
/// What a contender said, with its place in the list: it worked when it was judged, so this is a finding too.
pub(super) fn time(
    contenders: &mut [&mut Contender<'_>],
    budget: Duration,
) -> Result<Vec<Times>, (usize, String)> {
    let mut times = Vec::new();
    for (at, contender) in contenders.iter_mut().enumerate() {
        one(contender, at)?;
        let once = one(contender, at)?.min(one(contender, at)?);
        times.push(Times { rounds: Vec::new(), calls: ((TURN / once.max(1e-9)) as usize).clamp(1, 10_000) });
    }
    let total = budget.as_secs_f64() * contenders.len() as f64;
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut rng = Pcg64Mcg::seed_from_u64(0x726f_756e);
    let start = Instant::now();
    for round in 0..ROUNDS.1 {
        if round >= ROUNDS.0 && start.elapsed().as_secs_f64() >= total {
            break;
        }
        for place in (1..order.len()).rev() {
            order.swap(place, rng.random_range(0..=place));
        }
        for &at in &order {
            let seconds = turn(contenders[at], at, &times[at])?;
            times[at].rounds.push(seconds);
        }
    }
    Ok(times)
}

fn turn(contender: &mut Contender<'_>, at: usize, before: &Times) -> Result<f64, (usize, String)> {
    if before.rounds.last().is_none_or(|&seconds| seconds < LONG) {
        one(contender, at)?;
    }
    let mut spent = 0.0;
    for _ in 0..before.calls {
        spent += one(contender, at)?;
    }
    Ok(spent / before.calls as f64)
}

/// One call, in seconds.
fn one(contender: &mut Contender<'_>, at: usize) -> Result<f64, (usize, String)> {
    contender.timed().map_err(|message| (at, message))
}
