//! Compressed lanes, and what is fetched of them ahead of its use.
//!
//! ```text
//! picks   .. k9 k2 k7 | k1 k5 k4 ..          lanes that are picked lie anywhere: each is a miss or two, and how long it
//!              ^ now    ^ 32 picks ahead     is decides a branch, which holds up the misses after it unless they are on
//!                                            their way already
//! ```

/// Picks from here to the one whose lane is fetched; its pointer is fetched as far ahead again.
const AHEAD: usize = 32;

/// Compressed lanes with values in the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitLanes<'a, A> {
    ptr: &'a [u32],
    index: &'a [u32],
    values: &'a [A],
}

impl<'a, A: Copy> UnitLanes<'a, A> {
    pub(super) fn new(ptr: &'a [u32], index: &'a [u32], values: &'a [A]) -> UnitLanes<'a, A> {
        UnitLanes { ptr, index, values }
    }

    pub(super) fn count(&self) -> usize {
        self.ptr.len() - 1
    }

    /// Entries of lane `k`.
    pub(super) fn len(&self, k: u32) -> usize {
        (self.ptr[k as usize + 1] - self.ptr[k as usize]) as usize
    }

    /// Indices of a lane.
    pub(super) fn index(&self, lane: usize) -> &'a [u32] {
        &self.index[self.ptr[lane] as usize..self.ptr[lane + 1] as usize]
    }

    /// Indices and values of a lane.
    pub(super) fn lane(&self, lane: usize) -> (&'a [u32], &'a [A]) {
        let range = self.ptr[lane] as usize..self.ptr[lane + 1] as usize;
        (&self.index[range.clone()], &self.values[range])
    }

    /// Calls `add` with (column, factor, value) of every product of a lane of these with those picked, ascending k.
    #[inline(always)]
    pub(super) fn products(&self, lane: usize, picked: UnitLanes<'_, A>, mut add: impl FnMut(u32, A, A)) {
        let (ks, factors) = self.lane(lane);
        for (&k, &factor) in ks.iter().zip(factors) {
            let (columns, values) = picked.lane(k as usize);
            for (&column, &value) in columns.iter().zip(values) {
                add(column, factor, value);
            }
        }
    }

    /// Entries before this lane.
    pub(super) fn start(&self, lane: usize) -> usize {
        self.ptr[lane] as usize
    }

    /// Fetches what the picks up to the end of `lane`, and some after, will read of `picked`; `done` says where the last call ended.
    #[inline(always)]
    pub(super) fn fetch_ahead(&self, lane: usize, picked: UnitLanes<'_, A>, done: &mut usize) {
        let until = (self.ptr[lane + 1] as usize + AHEAD).min(self.index.len());
        for at in *done..until {
            if let Some(&k) = self.index.get(at + AHEAD) {
                fetch(picked.ptr, k as usize);
            }
            let start = picked.ptr[self.index[at] as usize] as usize;
            fetch(picked.index, start);
            fetch(picked.values, start);
        }
        *done = until.max(*done);
    }
}

/// Asks for the cache line of an element; nothing where there is no such instruction on stable compilers.
#[inline(always)]
fn fetch<T>(list: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a hint that takes a pointer")]
        // SAFETY: PREFETCHT0 is part of x86-64; it reads nothing that a program can see, and faults at no address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (list, at);
}
