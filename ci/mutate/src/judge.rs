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
/// What each mutant is first given, because most die at once, and what it is given before others get more.
const FIRST: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// Judges those that are made, until the deadline: first all of them by quick tests, then those that live by the others. Gives the
/// tests that judged none, and why.
pub fn judge(plan: &mut Plan, deadline: Instant) -> Result<Vec<String>> {
    let (mut tests, left_out) = tests::measure(&plan.binaries)?;
    println!("ci: {} tests pass with no mutant chosen; left out: {}", tests.len(), left_out.len());
    tests.sort_by_key(|test| test.time);
    let start = Instant::now();
    for is_last in [false, true] {
        let made = |at: &usize| plan.mutants[*at].state == State::Made;
        let at: Vec<usize> = (0..plan.mutants.len()).filter(made).collect();
        let plan_now = &*plan;
        let ended = side_by_side(at.len(), |turn| {
            let chosen = &plan_now.mutants[at[turn]];
            let state = one(plan_now, chosen, &tests, is_last, deadline).transpose()?;
            if turn % 20 == 0 || !matches!(state, Ok(State::Killed)) {
                let seconds = start.elapsed().as_secs();
                println!(
                    "ci: {} of {} after {seconds} s: {state:?} {}",
                    turn + 1,
                    at.len(),
                    chosen.mutant.name
                );
            }
            Some((at[turn], state))
        });
        for (at, state) in ended {
            plan.mutants[at].state = state?;
        }
    }
    Ok(left_out)
}

/// What became of a mutant by the quick tests or, in the last round, by the others; `None` where it lives and there are others, and
/// where the time is over.
fn one(
    plan: &Plan,
    chosen: &Chosen,
    tests: &[Test],
    is_last: bool,
    deadline: Instant,
) -> Result<Option<State>> {
    let Some(part) = PARTS.iter().find(|p| p.name == chosen.part) else { return Ok(Some(State::NotMade)) };
    let reaches = |test: &&Test| {
        let binary = &plan.binaries[test.binary];
        let named = part.binaries.contains(&(binary.package.as_str(), binary.name.as_str()));
        named && test.reached.contains(&chosen.number)
    };
    let (long, short): (Vec<&Test>, Vec<&Test>) = tests.iter().filter(reaches).partition(|test| test.is_long);
    if short.is_empty() && long.is_empty() {
        return Ok(Some(State::Unreached));
    }
    // From where in the list the time of all before it passes a limit. Tests come in the order of their times.
    let within = |most: Duration| {
        let sums = short.iter().scan(Duration::ZERO, |sum, test| {
            *sum += test.time;
            Some(*sum)
        });
        sums.take_while(|sum| *sum <= most).count()
    };
    let first = within(FIRST[0]).max(1).min(short.len());
    let second = within(FIRST[1]).max(first);
    let batches = if is_last {
        vec![&short[second..within(MOST).max(second)]]
    } else {
        vec![&short[..first], &short[first..second]]
    };
    let given = |binary: usize, here: &[&Test], limit: Duration| -> Result<Option<End>> {
        let left = deadline.saturating_duration_since(Instant::now());
        let end = tests::run(&plan.binaries[binary], here, chosen.number, limit.min(left))?;
        Ok((end != End::TimedOut || limit <= left).then_some(end))
    };
    for batch in batches {
        for at in 0..plan.binaries.len() {
            let here: Vec<&Test> = batch.iter().filter(|t| t.binary == at).copied().collect();
            if here.is_empty() {
                continue;
            }
            let limit = here.iter().map(|t| t.time).sum::<Duration>() * 5 + Duration::from_secs(5);
            match given(at, &here, limit)? {
                Some(End::Passed) => {}
                Some(End::Failed) => return Ok(Some(State::Killed)),
                Some(End::TimedOut) => return Ok(Some(State::TimedOut)),
                None => return Ok(None),
            }
        }
    }
    if !is_last {
        let is_over = second == within(MOST).max(second) && long.is_empty();
        return Ok(is_over.then_some(State::Survived));
    }
    for test in long {
        match given(test.binary, &[test], BEGINNING)? {
            Some(End::Failed) => return Ok(Some(State::Killed)),
            Some(End::Passed | End::TimedOut) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(State::Survived))
}
