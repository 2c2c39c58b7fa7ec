//! What a launch did, counted. These are facts about the program, not times.

use super::space::Part;
use crate::program::Act;
use crate::registers::Mask;

/// Counts of a launch. Instructions are counted a warp: one for all lanes that run it together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Warp instructions of all kinds.
    pub instructions: u64,
    /// Of arithmetic and moves.
    pub lanes: u64,
    /// `ld`.
    pub loads: u64,
    /// `st`.
    pub stores: u64,
    /// `cp.async` and its commits and waits.
    pub copies: u64,
    /// `atom`, `red`, `fence` and `membar`.
    pub atomics: u64,
    /// `ldmatrix`.
    pub matrix_loads: u64,
    /// `mma`; `wgmma` with its fences, commits and waits.
    pub mma: u64,
    /// `shfl`, `vote`, `redux`.
    pub collectives: u64,
    /// `bar.sync` and `bar.warp.sync`.
    pub barriers: u64,
    /// `bra`.
    pub branches: u64,
    /// `ret`, `exit`.
    pub exits: u64,
    /// Lanes of a fragment that stood still because their guard was false.
    pub guarded_off: u64,
    /// Branches that only some lanes took.
    pub divergences: u64,
    /// Times that a part of a warp had to wait at a `bar.sync`.
    pub barrier_waits: u64,
    /// Requests of a warp to global memory.
    pub global_requests: u64,
    /// Sectors of 32 bytes that these touched.
    pub global_sectors: u64,
    /// Requests of a warp to shared memory.
    pub shared_requests: u64,
    /// Passes beyond those that a request without bank conflicts takes.
    pub bank_conflicts: u64,
    /// Blocks that ran.
    pub blocks: u64,
}

impl Counters {
    #[inline]
    pub(super) fn act(&mut self, act: &Act) {
        self.instructions += 1;
        let class = match act {
            Act::Lanes { .. } => &mut self.lanes,
            Act::Load(_) => &mut self.loads,
            Act::Store(_) => &mut self.stores,
            Act::Atomic(_) | Act::Fence(_) | Act::ProxyFence { .. } => &mut self.atomics,
            Act::Copy(_) | Act::Commit | Act::Wait(_) => &mut self.copies,
            Act::LoadMatrix { .. } => &mut self.matrix_loads,
            Act::Mma(_) | Act::Group(_) => &mut self.mma,
            Act::Shuffle { .. } | Act::Vote { .. } | Act::Reduce { .. } => &mut self.collectives,
            Act::WarpBarrier { .. } | Act::Barrier { .. } => &mut self.barriers,
            Act::Branch { .. } => &mut self.branches,
            Act::Exit => &mut self.exits,
        };
        *class += 1;
    }

    /// A request to global memory.
    pub(super) fn global(&mut self, part: &Part, bytes: u32) {
        self.global_requests += 1;
        self.global_sectors += if part.contiguous {
            u64::from(part.at[31].saturating_add(bytes - 1) / 32 - part.at[0] / 32 + 1)
        } else {
            sectors(&part.at, part.mask, bytes)
        };
    }

    /// A request to shared memory.
    pub(super) fn shared(&mut self, part: &Part, bytes: u32) {
        self.shared_requests += 1;
        if part.contiguous && part.at[0].is_multiple_of(4) {
            return;
        }
        let Part { at, mask, .. } = part;
        // 8 bytes a lane go by half warps, 16 bytes by quarters.
        let lanes = (128 / bytes.max(4)).max(1);
        let mut first = 0;
        while first < 32 {
            let phase = *mask & ((1u64 << lanes) - 1).unbounded_shl(first) as u32;
            self.bank_conflicts += conflicts(at, phase, bytes);
            first += lanes;
        }
    }
}

/// Sectors of 32 bytes of what the lanes touch.
fn sectors(at: &[u32; 32], mask: Mask, bytes: u32) -> u64 {
    let mut ids = [u32::MAX; 64];
    let (mut count, mut sorted, mut previous) = (0, true, 0);
    for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
        let (first, last) = (at[lane] / 32, at[lane].saturating_add(bytes - 1) / 32);
        for id in [first, last] {
            if count > 0 && id == previous {
                continue;
            }
            sorted &= count == 0 || id > previous;
            ids[count] = id;
            count += 1;
            previous = id;
        }
    }
    if sorted {
        return count as u64;
    }
    let ids = &mut ids[..count];
    ids.sort_unstable();
    1 + ids.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64
}

/// Passes beyond the first: a bank gives one word of 4 bytes a pass.
fn conflicts(at: &[u32; 32], mask: Mask, bytes: u32) -> u64 {
    let mut held = [u32::MAX; 32];
    let mut extra: Vec<u32> = Vec::new();
    for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
        for word in at[lane] / 4..=at[lane].saturating_add(bytes - 1) / 4 {
            let bank = &mut held[word as usize % 32];
            if *bank == u32::MAX {
                *bank = word;
            } else if *bank != word && !extra.contains(&word) {
                extra.push(word);
            }
        }
    }
    (0..32).map(|bank| extra.iter().filter(|&&word| word % 32 == bank).count() as u64).max().unwrap_or(0)
}
