//! All blocks of a launch, one after another.

use super::block::Block;
use super::count::Counters;
use super::launch::{Launch, LaunchError, check};
use super::prepare::{Prepared, prepare};
use super::schedule::{Permutation, Random};
use super::trail::Ends;
use crate::check::{Finding, Kind, Log, Severity, Site};
use crate::exec::matrix::{PreparedGroup, PreparedMma};
use crate::memory::{Conflict, Device, Epoch, STAMPS, Span};
use crate::program::Program;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most steps that one launch may be given: stamps of accesses must not run out.
const MOST_STEPS: u64 = 1 << 33;

/// Blocks whose accesses are remembered with the name of the block.
const MOST_STARTS: usize = 1 << 20;

/// What came of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What is wrong, by line and kind.
    pub findings: Vec<Finding>,
    /// What was done.
    pub counters: Counters,
    /// All threads came to their end. Otherwise a finding says why not.
    pub complete: bool,
}

impl Outcome {
    /// True where everything ran and nothing but notes was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.complete && self.findings.iter().all(|finding| finding.kind.severity() == Severity::Note)
    }
}

/// What all blocks share.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) launch: &'a Launch,
    pub(super) device: &'a mut Device,
    pub(super) log: Log<'a>,
    pub(super) counters: Counters,
    pub(super) steps_left: u64,
    pub(super) params: Span,
    pub(super) random: Random,
    /// Accesses before this are of earlier launches.
    pub(super) live: Epoch,
    /// The stamp at which each block began, and its number; of the first [`MOST_STARTS`] blocks.
    starts: Vec<(u64, u64)>,
    /// The stamp at which the block that runs began.
    start: u64,
    /// Steps that can be the last before an exit.
    pub(super) ends: Ends,
    /// Instructions for matrices that were executed, by their steps.
    pub(super) matrices: BTreeMap<u32, PreparedMma>,
    /// The same of groups of warps.
    pub(super) groups: BTreeMap<u32, Rc<PreparedGroup>>,
    /// Registers of D and of A of all `wgmma`, ascending.
    pub(super) group_slots: &'a [u16],
    /// Hazards of the instruction that runs.
    pub(super) conflicts: Vec<Conflict>,
    /// The program has atomics, fences, or strong accesses.
    pub(super) synchronises: bool,
    /// All readers are listed.
    pub(super) keeps: bool,
    /// Whether there is a race can only be said where all readers are.
    pub(super) undecided: bool,
    /// Nothing runs any more.
    pub(super) stopped: bool,
}

/// Runs a program.
///
/// One with atomics or fences may be played twice: see the shadow. Memory is then as it was before.
///
/// # Errors
/// [`LaunchError`] for what cannot be launched. What goes wrong while it runs is a finding.
pub fn run(program: &Program, launch: &Launch, device: &mut Device) -> Result<Outcome, LaunchError> {
    check(program, launch, device)?;
    let prepared = prepare(program, launch)?;
    // Partial barriers want lists anyway.
    let keeps = prepared.synchronises && prepared.fine;
    let before = (prepared.synchronises && launch.checks.races && !keeps).then(|| device.contents());
    let outcome = play((program, launch, &prepared), device, keeps);
    Ok(outcome.unwrap_or_else(|| {
        before.iter().for_each(|contents| device.put_back(contents));
        play((program, launch, &prepared), device, true).unwrap_or_else(|| Outcome {
            findings: Vec::new(),
            counters: Counters::default(),
            complete: false,
        })
    }))
}

/// Runs it once; nothing where that leaves a question that only lists of all readers (`keeps`) answer.
fn play(
    (program, launch, prepared): (&Program, &Launch, &Prepared),
    device: &mut Device,
    keeps: bool,
) -> Option<Outcome> {
    let steps_left = launch.step_limit.min(MOST_STEPS);
    device.reserve_stamps(2 * steps_left + 2, STAMPS);
    let live = Epoch::floor(device.tick());
    let mut machine = Machine {
        program,
        launch,
        device,
        log: Log::new(program, launch.checks),
        counters: Counters::default(),
        steps_left,
        params: Span::of(launch.params.clone()),
        random: Random::new(launch.schedule.seed),
        live,
        starts: Vec::new(),
        start: 0,
        ends: if launch.checks.convergence { Ends::of(program) } else { Ends::default() },
        matrices: BTreeMap::new(),
        groups: BTreeMap::new(),
        group_slots: &prepared.group_slots,
        conflicts: Vec::new(),
        synchronises: prepared.synchronises,
        keeps,
        undecided: false,
        stopped: false,
    };
    machine.blocks(prepared);
    let Machine { log, counters, stopped, undecided, .. } = machine;
    (!undecided).then(|| Outcome { findings: log.finish(), counters, complete: !stopped })
}

impl Machine<'_> {
    fn blocks(&mut self, prepared: &Prepared) {
        let order = Permutation::new(self.launch.schedule.blocks, self.launch.blocks(), &mut self.random);
        let mut block = Block::new(self, prepared);
        for turn in 0..self.launch.blocks() {
            let number = order.at(turn);
            let stamp = self.device.tick();
            self.start = stamp;
            if self.starts.len() < MOST_STARTS {
                self.starts.push((stamp, number));
            }
            self.counters.blocks += 1;
            block.start(self, prepared, self.block_index(number), stamp);
            block.run(self);
            if self.stopped {
                return;
            }
        }
    }

    fn block_index(&self, number: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [number % x, number / x % y, number / x / y].map(|n| n as u32)
    }

    /// `%tid` of a thread of a block.
    pub(super) fn thread_index(&self, thread: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block;
        [thread % x, thread / x % y, thread / x / y]
    }

    /// Whether an access that is live is of the block that runs now.
    pub(super) fn is_of_this_block(&self, before: Epoch) -> bool {
        before.stamp() >= self.start
    }

    /// The block of an access that is live, where it is remembered.
    pub(super) fn block_of(&self, before: Epoch) -> Option<[u32; 3]> {
        let after = self.starts.partition_point(|&(stamp, _)| stamp <= before.stamp());
        let (_, number) = self.starts.get(after.checked_sub(1)?)?;
        (after < MOST_STARTS).then(|| self.block_index(*number))
    }

    /// One more step, or the end of all.
    pub(super) fn out_of_steps(&mut self, site: Site) {
        self.stopped = true;
        let limit = self.launch.step_limit;
        let waits = if self.synchronises {
            ", or a wait for a block that comes later: blocks run one after another here, as nothing promises that they run together"
        } else {
            ""
        };
        self.log.report(Kind::StepLimit, site, || {
            let words = format!(
                "the limit of {limit} warp instructions is reached; this line ran last: an endless loop, or too low a limit{waits}"
            );
            (None, words)
        });
    }
}
