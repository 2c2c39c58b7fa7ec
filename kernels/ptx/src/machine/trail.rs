//! What lanes did last before they exited, and whether lanes that wait at a barrier have done that too.
//!
//! ```text
//! setp p;  @p bra end;  bar.sync;  end: ret         the last of the others was a condition that these have met
//! setp p;  @p bar.sync;  ret                        the same, with a guard
//! setp p;  @p st;  @p ret;  bar.sync                the others stored, and these did not
//! setp p;  @!p bra go;  st;  ret;  go: bar.sync     the same, with a branch
//! ```
//!
//! A step counts by how often a lane has come to it, so that rounds of a loop are told apart, and the order in which parts of a warp run
//! is not. What is guarded is both: a condition that all lanes meet, and something that some of them do. Of conditions on one predicate
//! with nothing done in between the first decides: `@p bar.sync; @!p ret` is one condition, as it is with a branch. Only steps that can be the
//! last before an exit are followed.

use super::access::lanes;
use crate::program::{Act, Program, Step};
use crate::registers::{LANES, Mask};

/// The steps that can be the last that a lane does before it exits, or the last condition that it meets.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// For each step, its number here plus one; 0 for all others. Empty where nobody asks.
    numbers: Vec<u32>,
    steps: Vec<u32>,
}

impl Ends {
    pub(super) fn of(program: &Program) -> Ends {
        let asks = |step: &Step| matches!(step.act, Act::Barrier { aligned: true, .. });
        let (mut numbers, mut steps) = (Vec::new(), Vec::new());
        if program.steps.iter().any(asks) {
            let near = near_exit(program);
            let near = |at: usize| near.get(at).copied().unwrap_or(false);
            numbers.resize(program.steps.len(), 0);
            for (at, step) in program.steps.iter().enumerate() {
                let last = match step.act {
                    Act::Exit => step.guard.is_some(),
                    Act::Branch { target, .. } => {
                        step.guard.is_some() && (near(target as usize) || near(at + 1))
                    }
                    _ => near(at + 1),
                };
                if last {
                    steps.push(at as u32);
                    numbers[at] = steps.len() as u32;
                }
            }
        }
        Ends { numbers, steps }
    }

    /// The number of a step that is followed.
    #[inline]
    pub(super) fn number(&self, step: u32) -> Option<u32> {
        self.numbers.get(step as usize).filter(|&&number| number != 0).map(|number| number - 1)
    }
}

/// The steps from which an exit can be reached with nothing done on the way: past branches, and past what a guard may leave out.
fn near_exit(program: &Program) -> Vec<bool> {
    let steps = &program.steps;
    let mut branches: Vec<(u32, u32)> = Vec::new();
    for (at, step) in (0..).zip(steps) {
        if let Act::Branch { target, .. } = step.act {
            branches.push((target, at));
        }
    }
    branches.sort_unstable();
    let mut near = vec![false; steps.len()];
    let mut found: Vec<usize> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if matches!(step.act, Act::Exit) {
            near[at] = true;
            found.push(at);
        }
    }
    while let Some(at) = found.pop() {
        let first = branches.partition_point(|&(target, _)| (target as usize) < at);
        let to_here = branches[first..].iter().take_while(|&&(target, _)| target as usize == at);
        let falls = at.checked_sub(1).filter(|&before| steps[before].guard.is_some());
        for before in to_here.map(|&(_, from)| from as usize).chain(falls) {
            if !std::mem::replace(&mut near[before], true) {
                found.push(before);
            }
        }
    }
    near
}

/// Something that a lane came to: which [`Ends`] it was, and whether as a condition or as something done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    number: u32,
    condition: bool,
}

/// What the lanes of a warp came to.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// How often each lane met the condition of a step, and did it.
    counts: Vec<[[u32; LANES]; 2]>,
    /// What each lane did last.
    done: [Option<u32>; LANES],
    /// The condition that each lane met last.
    met: [Option<u32>; LANES],
    /// The predicate of that condition, while nothing was done since.
    decided: [Option<u16>; LANES],
    /// Lanes that come once more to the step at which they waited.
    again: Mask,
}

/// Lanes that exited on a way that those at a barrier did not go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strayed {
    pub(super) lanes: Mask,
    /// Where they did last what the others have not done.
    pub(super) step: u32,
    /// That was no more than meeting a condition.
    pub(super) condition: bool,
}

impl Trail {
    /// As before the first step.
    pub(super) fn clear(&mut self, ends: &Ends) {
        self.counts.clear();
        self.counts.resize(ends.steps.len(), [[0; LANES]; 2]);
        (self.done, self.met, self.decided) = ([None; LANES], [None; LANES], [None; LANES]);
        self.again = 0;
    }

    /// The lanes of the mask come to a step that is followed; its guard lets the active ones do it.
    pub(super) fn comes(&mut self, number: u32, step: &Step, mask: Mask, active: Mask) {
        let fresh = !self.again;
        self.again &= !mask;
        let Some([met, done]) = self.counts.get_mut(number as usize) else { return };
        if let Some(guard) = step.guard {
            for lane in lanes(mask & fresh) {
                met[lane] += 1;
                if self.decided[lane].replace(guard.predicate.index) != Some(guard.predicate.index) {
                    self.met[lane] = Some(number);
                }
            }
        }
        if !matches!(step.act, Act::Branch { .. } | Act::Exit) {
            for lane in lanes(active & fresh) {
                done[lane] += 1;
                (self.done[lane], self.decided[lane]) = (Some(number), None);
            }
        }
    }

    /// These lanes waited at a step that is followed, and come to it once more.
    pub(super) fn comes_again(&mut self, lanes: Mask) {
        self.again |= lanes;
    }

    /// The first of these exited lanes that have done, or met as a condition, what not all that wait have come to as often; with those
    /// of whom the same is true.
    pub(super) fn strayed(&self, ends: &Ends, exited: Mask, waiting: Mask) -> Option<Strayed> {
        let mut first = None;
        let mut all = 0;
        for lane in lanes(exited) {
            let event = |number: Option<u32>, condition| number.map(|number| Event { number, condition });
            let mut last = [event(self.done[lane], false), event(self.met[lane], true)].into_iter().flatten();
            let Some(alone) = last.find(|event| !self.have_come(*event, lane, waiting)) else { continue };
            if *first.get_or_insert(alone) == alone {
                all |= 1 << lane;
            }
        }
        let Event { number, condition } = first?;
        let step = ends.steps.get(number as usize).copied()?;
        Some(Strayed { lanes: all, step, condition })
    }

    /// Whether all that wait have come to it as often as a lane.
    fn have_come(&self, event: Event, lane: usize, waiting: Mask) -> bool {
        let count = |lane: usize| self.counts[event.number as usize][usize::from(!event.condition)][lane];
        lanes(waiting).all(|other| count(other) >= count(lane))
    }
}
