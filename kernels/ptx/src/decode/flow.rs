//! Where control goes: blocks of steps without branches in between.
//!
//! ```text
//! block 0   steps 0..4      falls through to 1, or branches to 3
//! block 1   steps 4..9      ..
//! ```

use crate::program::{Act, Step};

/// A run of steps: entered at the first, left at the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct BasicBlock {
    pub(super) start: u32,
    /// Behind the last.
    pub(super) end: u32,
    /// Blocks that may come next.
    pub(super) next: [Option<u32>; 2],
}

/// The blocks of an entry, in the order of its steps; steps end with an exit, and branches go to steps.
pub(super) fn blocks(steps: &[Step]) -> Vec<BasicBlock> {
    let mut leads = vec![false; steps.len() + 1];
    for (i, step) in steps.iter().enumerate() {
        let ends = match step.act {
            Act::Branch { target, .. } => {
                leads[(target as usize).min(steps.len())] = true;
                true
            }
            Act::Exit => true,
            _ => false,
        };
        leads[i + 1] |= ends;
    }
    let mut blocks = Vec::new();
    // The block that each step is in.
    let mut block_of = vec![0_u32; steps.len()];
    let mut start = 0;
    for i in 0..steps.len() {
        block_of[i] = blocks.len() as u32;
        if leads[i + 1] || i + 1 == steps.len() {
            blocks.push(BasicBlock { start, end: i as u32 + 1, next: [None; 2] });
            start = i as u32 + 1;
        }
    }
    let count = blocks.len() as u32;
    for (number, block) in blocks.iter_mut().enumerate() {
        let Some(last) = steps.get(block.end as usize - 1) else { continue };
        let follows = Some(number as u32 + 1).filter(|next| *next < count);
        block.next = match last.act {
            Act::Branch { target, .. } => {
                let target = block_of.get(target as usize).copied();
                [target, follows.filter(|_| last.guard.is_some())]
            }
            Act::Exit => [None, follows.filter(|_| last.guard.is_some())],
            _ => [None, follows],
        };
    }
    blocks
}

/// For each block, those before it: a list of all, and where each block's part of it begins.
pub(super) fn before(blocks: &[BasicBlock]) -> (Vec<u32>, Vec<u32>) {
    let mut begin = vec![0_u32; blocks.len() + 1];
    let edges = || {
        blocks
            .iter()
            .enumerate()
            .flat_map(|(i, block)| block.next.iter().flatten().map(move |next| (i as u32, *next)))
    };
    edges().for_each(|(_, next)| begin[next as usize + 1] += 1);
    for i in 1..begin.len() {
        begin[i] += begin[i - 1];
    }
    let mut list = vec![0; begin.last().map_or(0, |last| *last as usize)];
    let mut at = begin.clone();
    for (from, next) in edges() {
        let slot = &mut at[next as usize];
        list[*slot as usize] = from;
        *slot += 1;
    }
    (list, begin)
}
