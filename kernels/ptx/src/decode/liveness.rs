//! From where to where each virtual register holds a value that is still needed.
//!
//! ```text
//! step            0       1       2       3
//! time          0   1   2   3   4   5   6   7       even: a step reads; odd: it writes
//! add %r1, ..       [===========]                   written by step 0, read last by step 2
//! ```
//!
//! Dataflow over blocks, backward, with a bit for each register that is needed across the border of a block; most are not, because
//! compilers write PTX in nearly static single assignment. A write under a guard keeps the old value in some lanes, so it counts
//! as a read too. The span of a register is one interval from the first time to the last.
//!
//! # Why liveness of a single thread is enough for a warp
//!
//! A slot holds 32 lanes, and lanes of a warp may be at different places of the program at once. Two virtual registers share a
//! slot only if their spans do not meet. Look at one lane. Its own path through the program is a path of the flow graph, whatever
//! the other lanes do, and a step writes only lanes that are at that step. So what a lane finds in the slot was put there by a
//! step on its own path: the last one that wrote a register of this slot. Where the lane reads a register, that register is live
//! on its path from the write before up to the read, no other register of the slot is live there, and a step on this stretch that
//! wrote another register of the slot would have its time, which is odd and belongs to the other's span, within the first one's span.
//! Spans being disjoint, there is none. Other lanes' writes do not touch the lane.
//!
//! A lane's register is read for another lane only by `shfl`, `mma` and their kind: for lanes that are at this step together. The
//! register is a source of the step, so it is live there for each of them, and the same holds.
//!
//! # Undefined registers
//!
//! The machine knows by slot which lanes hold something defined. A register that may be read before it is written (live where the
//! entry begins) gets a span over everything, so that nobody shares its slot and nothing defines it by accident. Every other
//! register is written, in each lane, before it is read, so what its slot said before does not matter.

use super::flow::{BasicBlock, before, blocks};
use super::visit::{Role, visit};
use crate::program::Step;
use crate::registers::Slot;

/// Words of all bit sets together: 512 MiB.
const WORDS: usize = 1 << 26;

/// First and last time of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LiveSpan {
    pub(super) first: u32,
    pub(super) last: u32,
}

/// A register that no step names.
pub(super) const NOWHERE: LiveSpan = LiveSpan { first: u32::MAX, last: 0 };

/// A register for the whole entry.
pub(super) const EVERYWHERE: LiveSpan = LiveSpan { first: 0, last: u32::MAX };

/// The spans of all virtual registers, or nothing where the entry is too large for it. `number` gives each register its index
/// below `registers`; constants have none.
pub(super) fn spans(
    steps: &mut [Step],
    registers: usize,
    number: impl Fn(Slot) -> Option<usize>,
) -> Option<Vec<LiveSpan>> {
    let blocks = blocks(steps);
    let mut spans = vec![NOWHERE; registers];
    let crossing = local(steps, &blocks, &mut spans, &number);
    let sets = Sets::of(steps, &blocks, &crossing, &number)?;
    sets.extend(&blocks, &crossing.list, &mut spans);
    Some(spans)
}

/// Registers that are read in a block before they are written there.
struct Crossing {
    /// Each of them.
    list: Vec<u32>,
    /// The place in the list of each register.
    place: Vec<u32>,
}

const LOCAL: u32 = u32::MAX;

/// Times of reads and writes, and which registers cross the border of a block.
fn local(
    steps: &mut [Step],
    blocks: &[BasicBlock],
    spans: &mut [LiveSpan],
    number: &impl Fn(Slot) -> Option<usize>,
) -> Crossing {
    let mut crossing = Crossing { list: Vec::new(), place: vec![LOCAL; spans.len()] };
    // The last block that wrote each register, from 1.
    let mut written = vec![0_u32; spans.len()];
    for (block, range) in (1..).zip(blocks) {
        for i in range.start..range.end {
            visit(&mut steps[i as usize], &mut |role, slot| {
                let Some(register) = number(*slot) else { return };
                let span = &mut spans[register];
                if role != Role::Write {
                    span.first = span.first.min(2 * i);
                    span.last = span.last.max(2 * i);
                    if written[register] != block && crossing.place[register] == LOCAL {
                        crossing.place[register] = crossing.list.len() as u32;
                        crossing.list.push(register as u32);
                    }
                }
                if role != Role::Read {
                    span.first = span.first.min(2 * i + 1);
                    span.last = span.last.max(2 * i + 1);
                    written[register] = block;
                }
            });
        }
    }
    crossing
}

/// A bit a crossing register, a row a block.
struct Sets {
    words: usize,
    /// Live where the block begins.
    live: Vec<u64>,
}

impl Sets {
    /// Solves `live(block) = read(block) | (live(next blocks) & !written(block))`.
    fn of(
        steps: &mut [Step],
        blocks: &[BasicBlock],
        crossing: &Crossing,
        number: &impl Fn(Slot) -> Option<usize>,
    ) -> Option<Sets> {
        let words = crossing.list.len().div_ceil(64);
        let size = words.checked_mul(blocks.len()).filter(|size| *size <= WORDS)?;
        let (mut live, mut written) = (vec![0_u64; size], vec![0_u64; size]);
        for (range, at) in blocks.iter().zip((0..).step_by(words.max(1))) {
            for i in range.start..range.end {
                visit(&mut steps[i as usize], &mut |role, slot| {
                    let place = number(*slot).map_or(LOCAL, |register| crossing.place[register]);
                    if place == LOCAL {
                        return;
                    }
                    let (word, bit) = (at + place as usize / 64, 1 << (place % 64));
                    if role != Role::Write && written[word] & bit == 0 {
                        live[word] |= bit;
                    }
                    if role != Role::Read {
                        written[word] |= bit;
                    }
                });
            }
        }
        let mut sets = Sets { words, live };
        sets.solve(blocks, &written);
        Some(sets)
    }

    fn solve(&mut self, blocks: &[BasicBlock], written: &[u64]) {
        let (list, begin) = before(blocks);
        // The last block comes first: most of what is live flows up.
        let mut waiting: Vec<u32> = (0..blocks.len() as u32).collect();
        let mut waits = vec![true; blocks.len()];
        while let Some(block) = waiting.pop() {
            let number = block as usize;
            waits[number] = false;
            let mut changed = false;
            for next in blocks[number].next.into_iter().flatten() {
                let (at, from) = (number * self.words, next as usize * self.words);
                for word in 0..self.words {
                    let more = self.live[from + word] & !written[at + word] & !self.live[at + word];
                    self.live[at + word] |= more;
                    changed |= more != 0;
                }
            }
            if changed {
                for before in &list[begin[number] as usize..begin[number + 1] as usize] {
                    if !std::mem::replace(&mut waits[*before as usize], true) {
                        waiting.push(*before);
                    }
                }
            }
        }
    }

    /// Makes spans longer: over the borders of blocks across which a register is live.
    fn extend(&self, blocks: &[BasicBlock], crossing: &[u32], spans: &mut [LiveSpan]) {
        // What is live on the way into a block is live at its first step, and on the way out of the blocks before it.
        let mut seen = vec![0_u64; self.words];
        for (block, at) in blocks.iter().zip((0..).step_by(self.words.max(1))) {
            self.each(&mut seen, at, |bit| {
                let span = &mut spans[crossing[bit] as usize];
                span.first = span.first.min(2 * block.start);
            });
        }
        seen.fill(0);
        for block in blocks.iter().rev() {
            for next in block.next.into_iter().flatten() {
                self.each(&mut seen, next as usize * self.words, |bit| {
                    let span = &mut spans[crossing[bit] as usize];
                    span.last = span.last.max(2 * block.end - 1);
                });
            }
        }
        seen.fill(0);
        self.each(&mut seen, 0, |bit| spans[crossing[bit] as usize] = EVERYWHERE);
    }

    /// Calls `see` with each register of the set at this word that was not seen before.
    fn each(&self, seen: &mut [u64], at: usize, mut see: impl FnMut(usize)) {
        for (word, seen) in seen.iter_mut().enumerate() {
            let mut new = self.live[at + word] & !*seen;
            *seen |= new;
            while new != 0 {
                see(word * 64 + new.trailing_zeros() as usize);
                new &= new - 1;
            }
        }
    }
}
