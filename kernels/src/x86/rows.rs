//! The inner loops over rows of A: each element of C is one chain of fused steps in ascending column, from +0.
//!
//! ```text
//! panel of W vectors of columns         row r of A:  (k0, a0) (k1, a1) ..
//! C[r, panel] = alpha * acc + beta * C[r, panel]     acc = fma(a1, B[k1, panel], fma(a0, B[k0, panel], +0)) ..
//! ```
//!
//! The accumulators of a panel stay in registers. A panel of one or two vectors has too few chains to hide the latency of
//! an FMA: there, rows go in groups of `JAM`, side by side as long as the shortest lasts. No chain is ever split, so the
//! result does not depend on any of this.

#![expect(unsafe_code, reason = "loads and stores of vectors, bounds asserted before the loops")]

use super::dense::{Dense, Target};
use super::lanes::Rows;
use super::simd::Vector;
use crate::portable::scaling::Scaling;
use crate::portable::unit::Unit;
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch, _mm_sfence};

/// Entries from the one in use to the one whose row of B is fetched.
const AHEAD: usize = 16;

/// Bytes of B above which its rows are fetched ahead: what surely fits in a cache of the second level.
const NEAR: usize = 256 << 10;

/// What one panel's loops need. Made by [`Panels::new`] only, which asserts the bounds.
struct Panels<'a, V: Vector> {
    a: Rows<'a, V::Element>,
    base: usize,
    b: *const V::Element,
    ldb: usize,
    c: *mut V::Element,
    ldc: usize,
    stream: bool,
    n: usize,
    scaling: Scaling<V::Element>,
}

/// All panels of columns.
///
/// # Safety
/// The features of `V` are enabled in the caller.
#[inline(always)]
pub(super) unsafe fn spmm<V: Vector>(
    a: Rows<'_, V::Element>,
    b: Dense<'_, V::Element>,
    scaling: Scaling<V::Element>,
    mut c: Target<'_, V::Element>,
) {
    let far = size_of_val(b.data) > NEAR;
    let panels = Panels::<V>::new(a, b, scaling, &mut c);
    let mut first = 0;
    while first < b.cols {
        let left = b.cols - first;
        // SAFETY: each panel ends at or before the last column; the caller promises the features of V.
        unsafe {
            first += match left / V::LANES {
                0 => panels.tail(first, left),
                1 => panels.full::<1, 4>(first, far),
                2 | 3 => panels.full::<2, 2>(first, far),
                4..8 => panels.full::<4, 1>(first, far),
                _ => panels.full::<8, 1>(first, far),
            };
        }
    }
    fence(panels.stream);
}

/// Orders what was stored past the caches before whatever follows.
#[inline(always)]
pub(super) fn fence(streamed: bool) {
    if streamed {
        // SAFETY: part of SSE, which every x86-64 has.
        unsafe { _mm_sfence() };
    }
}

/// One column, one element at a time: a gather would cost more than the loads that it replaces.
///
/// # Safety
/// The features of `V` are enabled in the caller; `V` has one lane.
#[inline(always)]
pub(super) unsafe fn spmv<V: Vector>(
    a: Rows<'_, V::Element>,
    b: Dense<'_, V::Element>,
    scaling: Scaling<V::Element>,
    mut c: Target<'_, V::Element>,
) {
    assert!(b.cols == 1 && V::LANES == 1, "one column, one lane");
    let panels = Panels::<V>::new(a, b, scaling, &mut c);
    // SAFETY: the panel is the one column; the caller promises the features of V.
    unsafe { panels.full::<1, 4>(0, false) };
}

impl<'a, V: Vector> Panels<'a, V> {
    /// Asserts that every column of A is a row of B, and that B and C hold what the loops touch.
    #[inline(always)]
    fn new(
        a: Rows<'a, V::Element>,
        b: Dense<'_, V::Element>,
        scaling: Scaling<V::Element>,
        c: &mut Target<'_, V::Element>,
    ) -> Self {
        b.assert_within(a.cols, a.count(), c.data.len(), c.ld);
        assert_eq!(a.cols.len(), a.values.len(), "one value a column");
        Panels {
            a,
            base: a.ptr.first().map_or(0, |&first| first as usize),
            b: b.data.as_ptr(),
            ldb: b.ld,
            c: c.data.as_mut_ptr(),
            ldc: c.ld,
            stream: c.stream,
            n: b.cols,
            scaling,
        }
    }

    /// Columns `first..first + W * LANES`; gives their number.
    ///
    /// # Safety
    /// The features of `V`; the panel ends at or before column `n`.
    #[inline(always)]
    unsafe fn full<const W: usize, const JAM: usize>(&self, first: usize, far: bool) -> usize {
        let panel = ColumnPanel::<V, W> { first, mask: None, stream: self.stream };
        // SAFETY: the caller promises the features of V, and that the panel ends at or before column n.
        unsafe {
            if far {
                self.panel::<W, JAM, true>(panel);
            } else {
                self.panel::<W, JAM, false>(panel);
            }
        }
        W * V::LANES
    }

    /// The last `left` columns, fewer than a vector; gives `left`.
    ///
    /// # Safety
    /// The features of `V`; `first + left` is `n`.
    #[inline(always)]
    unsafe fn tail(&self, first: usize, left: usize) -> usize {
        // SAFETY: the caller promises the features of V, and that `first + left` is n: the lanes of the mask end at column n.
        unsafe {
            let mask = Some(V::first(left));
            let stream = false;
            self.panel::<1, 4, false>(ColumnPanel { first, mask, stream });
        }
        left
    }

    /// # Safety
    /// The features of `V`; the panel lies within the columns.
    #[inline(always)]
    unsafe fn panel<const W: usize, const JAM: usize, const FAR: bool>(&self, panel: ColumnPanel<V, W>) {
        let rows = self.a.count();
        let mut row = 0;
        // SAFETY: the caller promises the features of V and a panel within the columns; every row of a group is below `rows`.
        unsafe {
            while row + JAM <= rows {
                self.group::<W, JAM, FAR>(panel, row);
                row += JAM;
            }
            while row < rows {
                self.group::<W, 1, FAR>(panel, row);
                row += 1;
            }
        }
    }

    /// `JAM` rows (at most 4) side by side, then each alone.
    ///
    /// # Safety
    /// The features of `V`; the panel lies within the columns, the rows within the rows.
    #[inline(always)]
    unsafe fn group<const W: usize, const JAM: usize, const FAR: bool>(
        &self,
        panel: ColumnPanel<V, W>,
        row: usize,
    ) {
        const { assert!(JAM >= 1 && JAM <= 4) };
        let mut at = [0; JAM];
        let mut end = [0; JAM];
        let mut common = usize::MAX;
        for r in 0..JAM {
            at[r] = self.a.ptr[row + r] as usize - self.base;
            end[r] = self.a.ptr[row + r + 1] as usize - self.base;
            assert!(at[r] <= end[r] && end[r] <= self.a.cols.len(), "offsets ascend");
            common = common.min(end[r] - at[r]);
        }
        // SAFETY: entries are below the end of their rows, just asserted; the caller promises the features of V, a panel within the
        // columns and rows within the rows.
        unsafe {
            let mut acc = [[V::zero(); W]; JAM];
            for step in 0..common {
                for r in 0..JAM {
                    acc[r] = self.term::<W, FAR>(acc[r], panel, at[r] + step);
                }
            }
            // Indices that the compiler knows keep the accumulators in registers.
            self.finish::<W, FAR>(acc[0], panel, row, at[0] + common..end[0]);
            if JAM > 1 {
                self.finish::<W, FAR>(acc[1 % JAM], panel, row + 1, at[1 % JAM] + common..end[1 % JAM]);
            }
            if JAM > 2 {
                self.finish::<W, FAR>(acc[2 % JAM], panel, row + 2, at[2 % JAM] + common..end[2 % JAM]);
            }
            if JAM > 3 {
                self.finish::<W, FAR>(acc[3 % JAM], panel, row + 3, at[3 % JAM] + common..end[3 % JAM]);
            }
        }
    }

    /// One entry: `acc + value * B[column, panel]`.
    ///
    /// # Safety
    /// The features of `V`; the panel lies within the columns, `entry` within the entries.
    #[inline(always)]
    unsafe fn term<const W: usize, const FAR: bool>(
        &self,
        mut acc: [V; W],
        panel: ColumnPanel<V, W>,
        entry: usize,
    ) -> [V; W] {
        // SAFETY: the entry is within both arrays, its column is a row of B (asserted in `new`), the panel is within that
        // row. A prefetch may name any address; the entry that it looks at is clamped to the last.
        unsafe {
            let col = *self.a.cols.get_unchecked(entry) as usize;
            let value = V::splat(*self.a.values.get_unchecked(entry));
            if FAR {
                let next = (entry + AHEAD).min(self.a.cols.len() - 1);
                let next = *self.a.cols.get_unchecked(next) as usize;
                let line = self.b.wrapping_add(next * self.ldb + panel.first);
                for w in 0..(W * V::LANES * size_of::<V::Element>()).div_ceil(64) {
                    _mm_prefetch::<_MM_HINT_T0>(line.cast::<i8>().wrapping_add(64 * w));
                }
            }
            let b = self.b.add(col * self.ldb + panel.first);
            for (w, acc) in acc.iter_mut().enumerate() {
                *acc = acc.fused(value, panel.load(b.add(w * V::LANES)));
            }
        }
        acc
    }

    /// The rest of a row, the epilogue, and the store.
    ///
    /// # Safety
    /// The features of `V`; the panel lies within the columns, the entries within the entries, the row within C.
    #[inline(always)]
    unsafe fn finish<const W: usize, const FAR: bool>(
        &self,
        mut acc: [V; W],
        panel: ColumnPanel<V, W>,
        row: usize,
        entries: std::ops::Range<usize>,
    ) {
        // SAFETY: the caller promises the features of V, entries within the entries, and a row and a panel of C, which `new` asserted
        // to be in memory.
        unsafe {
            for entry in entries {
                acc = self.term::<W, FAR>(acc, panel, entry);
            }
            let c = self.c.add(row * self.ldc + panel.first);
            for (w, &acc) in acc.iter().enumerate() {
                debug_assert!(panel.first + w * V::LANES < self.n);
                panel.store(c.add(w * V::LANES), acc, self.scaling);
            }
        }
    }
}

/// Columns from `first` on: `W` whole vectors, or the lanes of the mask.
#[derive(Clone, Copy)]
pub(super) struct ColumnPanel<V: Vector, const W: usize> {
    pub(super) first: usize,
    pub(super) mask: Option<V::Mask>,
    /// Whole vectors are stored past the caches; see [`Target::streams`].
    pub(super) stream: bool,
}

impl<V: Vector, const W: usize> ColumnPanel<V, W> {
    /// # Safety
    /// The features of `V`; the lanes of the panel are readable.
    #[inline(always)]
    pub(super) unsafe fn load(self, from: *const V::Element) -> V {
        // SAFETY: the caller promises the features of V, and that the lanes of the panel are readable at `from`.
        unsafe {
            match self.mask {
                Some(mask) => V::load_first(mask, from),
                None => V::load(from),
            }
        }
    }

    /// `alpha * acc + beta * C`: each step rounded, factors of 1 skipped, C not read where beta is 0.
    ///
    /// # Safety
    /// The features of `V`; the lanes of the panel are readable and writable, and start at a multiple of 16 bytes where the panel
    /// streams.
    #[inline(always)]
    pub(super) unsafe fn store(self, c: *mut V::Element, acc: V, scaling: Scaling<V::Element>) {
        let (alpha, beta) = scaling.factors();
        let (zero, one) = (V::Element::ZERO, V::Element::ONE);
        // SAFETY: the caller promises the features of V, and that the lanes of the panel are readable and writable at `c`, which is a
        // multiple of 16 bytes where the panel streams.
        unsafe {
            let mut y = acc;
            if alpha != one {
                y = V::splat(alpha).times(y);
            }
            if beta != zero {
                let mut old = self.load(c);
                if beta != one {
                    old = V::splat(beta).times(old);
                }
                y = y.plus(old);
            }
            match self.mask {
                Some(mask) => y.store_first(mask, c),
                None if self.stream => y.stream(c),
                None => y.store(c),
            }
        }
    }
}
