//! Judging the mutants that were compiled, by the tests that reach them.

use crate::parts::PARTS;
use crate::plan::{Chosen, Plan, State};
use crate::tests::{self, End, Test, side_by_side};
use anyhow::Result;
use std::time::{Duration, Instant};

/// The tests that a mutant is given take at most so long together, by their times alone.
const MOST: Duration = Duration::from_secs(120);
/// How long each of those that take too long is run.
const BEGINNING: Duration = Duration::from_secs(20);
/// What is first given, because most mutants die at once.
const FIRST: Duration = Duration::from_secs(1);

/// Judges those that are made, until the deadline. Gives the tests that judged none, and why.
pub fn judge(plan: &mut Plan, deadline: Instant) -> Result<Vec<String>> {
    let (mut tests, left_out) = tests::measure(&plan.binaries)?;
    println!("ci: {} tests pass with no mutant chosen; left out: {}", tests.len(), left_out.len());
    tests.sort_by_key(|test| test.time);
    let plan_now = &*plan;
    let at: Vec<usize> =
        (0..plan.mutants.len()).filter(|&at| plan.mutants[at].state == State::Made).collect();
    let start = Instant::now();
    let ended = side_by_side(at.len(), |turn| {
        if Instant::now() > deadline {
            return None;
        }
        let chosen = &plan_now.mutants[at[turn]];
        let state = one(plan_now, chosen, &tests);
        if turn % 20 == 0 || !matches!(state, Ok(State::Killed)) {
            let seconds = start.elapsed().as_secs();
            println!("ci: {} of {} after {seconds} s: {state:?} {}", turn + 1, at.len(), chosen.mutant.name);
        }
        Some((at[turn], state))
    });
    for (at, state) in ended {
        plan.mutants[at].state = state?;
    }
    Ok(left_out)
}

fn one(plan: &Plan, chosen: &Chosen, tests: &[Test]) -> Result<State> {
    let Some(part) = PARTS.iter().find(|p| p.name == chosen.part) else { return Ok(State::NotMade) };
    let reaches = |test: &&Test| {
        let binary = &plan.binaries[test.binary];
        let named = part.binaries.contains(&(binary.package.as_str(), binary.name.as_str()));
        named && test.reached.contains(&chosen.number)
    };
    let (long, short): (Vec<&Test>, Vec<&Test>) = tests.iter().filter(reaches).partition(|test| test.is_long);
    let mut sum = Duration::ZERO;
    let fits = |test: &&Test| {
        let fits = sum + test.time <= MOST;
        sum += if fits { test.time } else { Duration::ZERO };
        fits
    };
    let fitting: Vec<&Test> = short.into_iter().filter(fits).collect();
    if fitting.is_empty() && long.is_empty() {
        return Ok(State::Unreached);
    }
    let mut sum = Duration::ZERO;
    let mut is_quick = |test: &&&Test| {
        sum += test.time;
        sum <= FIRST
    };
    let quick = fitting.iter().take_while(|test| is_quick(test)).count().max(1).min(fitting.len());
    for batch in [&fitting[..quick], &fitting[quick..]] {
        for (at, binary) in plan.binaries.iter().enumerate() {
            let here: Vec<&Test> = batch.iter().filter(|t| t.binary == at).copied().collect();
            if here.is_empty() {
                continue;
            }
            let limit = here.iter().map(|t| t.time).sum::<Duration>() * 5 + Duration::from_secs(5);
            match tests::run(binary, &here, chosen.number, limit)? {
                End::Passed => {}
                End::Failed => return Ok(State::Killed),
                End::TimedOut => return Ok(State::TimedOut),
            }
        }
    }
    for test in long {
        if tests::run(&plan.binaries[test.binary], &[test], chosen.number, BEGINNING)? == End::Failed {
            return Ok(State::Killed);
        }
    }
    Ok(State::Survived)
}
