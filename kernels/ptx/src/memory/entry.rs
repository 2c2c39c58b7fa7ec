//! One access as it is remembered, and what a warp knows of others.
//!
//! ```text
//! stamp 35 | special 1 | sharing 2 | thread 10 | step 16
//! ```

use super::{Fine, Heard};

/// Stamps that fit.
pub(crate) const STAMPS: u64 = 1 << 35;
const STAMP_SHIFT: u32 = 29;
pub(super) const SPECIAL: u64 = 1 << 28;
pub(super) const SHARING: u64 = 3 << 26;
pub(super) const WARP_SHARED: u64 = 1 << 26;
pub(super) const BLOCK_SHARED: u64 = 2 << 26;
/// Thread and step.
pub(super) const WHO: u64 = (1 << 26) - 1;

/// One access: when, by which thread of its block, by which step. Zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Epoch(pub(super) u64);

impl Epoch {
    /// `special`: of a write, an asynchronous copy that is not waited for; of a read, `ld.global.nc`, and in shared memory one by a warp as
    /// a whole, for a product of matrices.
    #[inline]
    pub(crate) fn new(stamp: u64, thread: u32, step: u32, special: bool) -> Epoch {
        let step = u64::from(step.min(0xffff));
        Epoch(stamp << STAMP_SHIFT | u64::from(special) << 28 | u64::from(thread & 1023) << 16 | step)
    }

    /// The smallest entry with this stamp.
    #[inline]
    pub(crate) fn floor(stamp: u64) -> Epoch {
        Epoch(stamp << STAMP_SHIFT)
    }

    #[inline]
    pub(crate) fn thread(self) -> u32 {
        (self.0 >> 16 & 1023) as u32
    }

    pub(crate) fn stamp(self) -> u64 {
        self.0 >> STAMP_SHIFT
    }

    /// `None` where the step has too large a number to be recorded.
    pub(crate) fn step(self) -> Option<usize> {
        Some((self.0 & 0xffff) as usize).filter(|&step| step != 0xffff)
    }

    /// Thread and step, in the bits that they have here.
    #[inline]
    pub(super) fn who(self) -> u32 {
        (self.0 & WHO) as u32
    }

    /// The same, of this thread and step.
    #[inline]
    pub(super) fn by(self, who: u32) -> Epoch {
        Epoch(self.0 & !WHO | u64::from(who))
    }

    #[inline]
    pub(crate) fn special(self) -> bool {
        self.0 & SPECIAL != 0
    }

    #[inline]
    pub(super) fn same_thread(self, other: Epoch) -> bool {
        (self.0 ^ other.0) & (1023 << 16) == 0
    }

    #[inline]
    pub(super) fn same_warp(self, other: Epoch) -> bool {
        (self.0 ^ other.0) & (31 << 21) == 0
    }

    #[inline]
    pub(super) fn shared(self) -> bool {
        self.0 & SHARING != 0
    }
}

/// What the accessing warp knows: see the picture above. In shared memory `live` is `block`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock<'a> {
    pub(crate) live: Epoch,
    pub(crate) block: Epoch,
    pub(crate) era: Epoch,
    pub(crate) warp: Epoch,
    /// What its threads have heard by release and acquire, of a program that has such.
    pub(crate) heard: Option<&'a Heard>,
}

/// What is wrong about an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Hazard {
    ReadAfterWrite,
    WriteAfterWrite,
    WriteAfterRead,
    /// Of what an asynchronous copy writes that is not waited for.
    OpenCopy,
    /// `ld.global.nc` of what the launch wrote before.
    ReadOnlyWritten,
    /// Written what was read by `ld.global.nc` before.
    WrittenReadOnly,
    /// Two strong accesses, of which one does not mean the other's block.
    Scope,
    /// Two strong accesses that overlap and are not at the same place.
    Overlap,
    /// Only a list of all readers can tell.
    Undecided,
}

/// A hazard between the access of a lane and an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub(crate) lane: u32,
    pub(crate) at: u32,
    pub(crate) before: Epoch,
    pub(crate) hazard: Hazard,
}

impl Clock<'_> {
    /// Whether this is about shared memory.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.live == self.block
    }

    /// Whether a read was by the whole warp of who writes now: each of its lanes has waited for it.
    #[inline]
    pub(super) fn is_of_own_product(&self, read: Epoch, now: Epoch) -> bool {
        read.special() && self.is_shared() && read.same_warp(now)
    }

    /// Whether an access that is live (not of an earlier launch) is ordered before `now`.
    #[inline]
    pub(super) fn ordered(&self, before: Epoch, now: Epoch, fine: Option<&Fine>) -> bool {
        self.by_barriers(before, now, fine) || self.by_hearsay(before, now)
    }

    /// By barriers of the block.
    #[inline]
    fn by_barriers(&self, before: Epoch, now: Epoch, fine: Option<&Fine>) -> bool {
        before >= self.block
            && (before < self.era
                || before.same_thread(now)
                || before.same_warp(now) && before < self.warp
                || fine.is_some_and(|fine| fine.orders(before, now)))
    }

    /// By release and acquire.
    #[inline]
    fn by_hearsay(&self, before: Epoch, now: Epoch) -> bool {
        self.heard.is_some_and(|heard| heard.covers(now.thread(), before))
    }
}
