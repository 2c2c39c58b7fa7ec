//! What a child may take for one request: time and memory.
//!
//! Time is that of its processors, so that a busy machine accuses nobody; one that computes nothing (it sleeps, waits for a device, or
//! gets no processor) is waited for twice as long.

use super::family::{self, Usage};
use super::trouble::Trouble;
use rustix::process::Pid;
use std::time::{Duration, Instant};

/// How often the child is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// So many times its limit passes on the clock before it is late, however little it computed.
const PATIENCE: u32 = 2;
/// What passes on the clock between two calls counts up to this: the judge is called fifty times a second, and who slept longer (it was
/// stopped, its machine was suspended, its clock jumped) says nothing about the child.
const STEP: Duration = Duration::from_secs(1);

/// One that computed less than this part of its limit, and is late by the clock, was idle.
const IDLE: u32 = 10;

/// One request's time and memory.
#[derive(Debug)]
pub(super) struct Meter {
    time: Duration,
    memory: u64,
    passed: Duration,
    called: Instant,
    looked: Instant,
    /// What it had computed at the first look.
    before: Option<Duration>,
    /// What it has computed since the start; unknown before the first look.
    computed: Option<Duration>,
}

impl Meter {
    /// Starts the clock.
    pub(super) fn new(time: Duration, memory: u64) -> Meter {
        let start = Instant::now();
        Meter {
            time,
            memory,
            passed: Duration::ZERO,
            called: start,
            looked: start,
            before: None,
            computed: None,
        }
    }

    /// Looks at the child and its descendants, if it is time to.
    ///
    /// # Errors
    /// One that uses too much, or is late.
    pub(super) fn look(&mut self, child: Pid) -> Result<(), Trouble> {
        let now = Instant::now();
        let passed = self.passes(now.saturating_duration_since(self.called));
        self.called = now;
        let due = passed >= self.time;
        if self.looked.elapsed() >= LOOK || due && self.computed.is_none() {
            self.looked = Instant::now();
            if let Some(used) = family::usage(child) {
                self.note(used, passed)?;
            }
        }
        if due
            && (self.computed.is_none_or(|computed| computed >= self.time) || passed >= self.time * PATIENCE)
        {
            let idle = self.computed.is_some_and(|computed| computed * IDLE < self.time);
            return Err(Trouble::Late { limit: self.time, idle });
        }
        Ok(())
    }

    /// Adds what the clock says has passed since the last call, as far as it counts.
    fn passes(&mut self, since: Duration) -> Duration {
        self.passed += since.min(STEP);
        self.passed
    }

    fn note(&mut self, used: Usage, passed: Duration) -> Result<(), Trouble> {
        let limit = self.memory;
        if used.resident > limit {
            return Err(Trouble::Memory { used: used.resident, limit });
        }
        let before = *self.before.get_or_insert_with(|| used.computed.saturating_sub(passed));
        // Members that end take along what nobody waited for: it never becomes less.
        let computed = used.computed.saturating_sub(before);
        self.computed = self.computed.max(Some(computed));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(seconds: f64) -> Usage {
        Usage { resident: 1, computed: Duration::from_secs_f64(seconds) }
    }

    #[test]
    fn what_was_computed_before_the_request_does_not_count() {
        let mut meter = Meter::new(Duration::from_secs(10), 2);
        meter.note(used(500.0), Duration::from_millis(100)).expect("little memory");
        assert_eq!(meter.computed, Some(Duration::from_millis(100)), "all of the time before the first look");
        meter.note(used(503.0), Duration::from_secs(4)).expect("little memory");
        assert_eq!(meter.computed, Some(Duration::from_millis(3100)));
        meter.note(used(502.0), Duration::from_secs(5)).expect("little memory");
        assert_eq!(
            meter.computed,
            Some(Duration::from_millis(3100)),
            "a helper ended and was not waited for"
        );
    }

    /// Story: an hour during which the judge was stopped had the program called late.
    #[test]
    fn a_clock_that_jumps_accuses_nobody() {
        let mut meter = Meter::new(Duration::from_secs(10), 2);
        assert_eq!(meter.passes(Duration::from_millis(20)), Duration::from_millis(20));
        assert_eq!(meter.passes(Duration::from_secs(3600)), Duration::from_millis(1020));
    }

    #[test]
    fn too_much_memory_is_told() {
        let mut meter = Meter::new(Duration::from_secs(10), 0);
        assert!(matches!(meter.note(used(0.0), Duration::ZERO), Err(Trouble::Memory { used: 1, limit: 0 })));
    }
}
