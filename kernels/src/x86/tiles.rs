//! The inner loops over `br` x 1 tiles: each row of B is loaded once for all rows of a tile.
//!
//! ```text
//! tile (k, v0 v1 .. v7)       acc[0][panel] = fma(v0, B[k, panel], acc[0][panel])
//!                             acc[1][panel] = fma(v1, B[k, panel], acc[1][panel])      ..
//! ```
//!
//! Every slot is multiplied, pads too. Each element of C is one chain in ascending column, from +0. Blocks of more rows than
//! registers allow are worked on in groups of 8, 4, 2 and 1 rows.

#![expect(unsafe_code, reason = "loads and stores of vectors, bounds asserted before the loops")]

use super::dense::{Dense, Target};
use super::lanes::BlockTiles;
use super::rows::{ColumnPanel, fence};
use super::simd::Vector;
use crate::portable::scaling::Scaling;
use std::ops::Range;

/// What the loops need. Made by [`BlockLoops::new`] only, which asserts the bounds.
struct BlockLoops<'a, V: Vector> {
    a: BlockTiles<'a, V::Element>,
    b: *const V::Element,
    ldb: usize,
    c: *mut V::Element,
    ldc: usize,
    stream: bool,
    scaling: Scaling<V::Element>,
}

/// All blocks.
///
/// # Safety
/// The features of `V` are enabled in the caller.
#[inline(always)]
pub(super) unsafe fn spmm<V: Vector>(
    a: BlockTiles<'_, V::Element>,
    b: Dense<'_, V::Element>,
    scaling: Scaling<V::Element>,
    mut c: Target<'_, V::Element>,
) {
    let blocks = BlockLoops::<V>::new(a, b, scaling, &mut c);
    for block in 0..a.ptr.len() - 1 {
        let mut first = 0;
        while first < b.cols {
            let left = b.cols - first;
            // SAFETY: each panel ends at or before the last column; the caller promises the features of V.
            unsafe {
                if left < V::LANES {
                    let mask = Some(V::first(left));
                    blocks.panel::<1>(ColumnPanel { first, mask, stream: false }, block);
                    first += left;
                } else if left < 2 * V::LANES || V::REGISTERS < 32 {
                    blocks.panel::<1>(ColumnPanel { first, mask: None, stream: blocks.stream }, block);
                    first += V::LANES;
                } else {
                    blocks.panel::<2>(ColumnPanel { first, mask: None, stream: blocks.stream }, block);
                    first += 2 * V::LANES;
                }
            }
        }
    }
    fence(blocks.stream);
}

impl<'a, V: Vector> BlockLoops<'a, V> {
    /// Asserts that every column of A is a row of B, that each tile has its values, and that B and C hold what the loops touch.
    #[inline(always)]
    fn new(
        a: BlockTiles<'a, V::Element>,
        b: Dense<'_, V::Element>,
        scaling: Scaling<V::Element>,
        c: &mut Target<'_, V::Element>,
    ) -> Self {
        b.assert_within(a.cols, a.rows, c.data.len(), c.ld);
        assert_eq!(a.cols.len() * a.br, a.values.len(), "br values a tile");
        BlockLoops {
            a,
            b: b.data.as_ptr(),
            ldb: b.ld,
            c: c.data.as_mut_ptr(),
            ldc: c.ld,
            stream: c.stream,
            scaling,
        }
    }

    /// One panel of one block.
    ///
    /// # Safety
    /// The features of `V`; the panel lies within the columns.
    #[inline(always)]
    unsafe fn panel<const W: usize>(&self, panel: ColumnPanel<V, W>, block: usize) {
        let base = self.a.ptr[0];
        let tiles = (self.a.ptr[block] - base) as usize..(self.a.ptr[block + 1] - base) as usize;
        assert!(tiles.start <= tiles.end && tiles.end <= self.a.cols.len(), "offsets ascend");
        // Rows of the block that the matrix has.
        let height = self.a.br.min(self.a.rows.saturating_sub(block * self.a.br));
        let mut top = 0;
        while top < height {
            // SAFETY: `top` and the rows of the group are below `height`; tiles are within the tiles (asserted above); the caller
            // promises the features of V and a panel within the columns.
            unsafe {
                top += match height - top {
                    8.. => self.group::<W, 8>(panel, block, tiles.clone(), top),
                    4..8 => self.group::<W, 4>(panel, block, tiles.clone(), top),
                    2 | 3 => self.group::<W, 2>(panel, block, tiles.clone(), top),
                    _ => self.group::<W, 1>(panel, block, tiles.clone(), top),
                };
            }
        }
    }

    /// Rows `top..top + R` of a block; gives R.
    ///
    /// # Safety
    /// The features of `V`; the panel lies within the columns, the tiles within the tiles, the rows within the block and the
    /// matrix.
    #[inline(always)]
    unsafe fn group<const W: usize, const R: usize>(
        &self,
        panel: ColumnPanel<V, W>,
        block: usize,
        tiles: Range<usize>,
        top: usize,
    ) -> usize {
        // SAFETY: a tile's column is a row of B and its `br` values are stored (both asserted in `new`); rows and panel are
        // within C (asserted in `new`), as the caller says.
        unsafe {
            let mut acc = [[V::zero(); W]; R];
            for tile in tiles {
                let col = *self.a.cols.get_unchecked(tile) as usize;
                let values = self.a.values.as_ptr().add(tile * self.a.br + top);
                let from = self.b.add(col * self.ldb + panel.first);
                let mut b = [V::zero(); W];
                for (w, b) in b.iter_mut().enumerate() {
                    *b = panel.load(from.add(w * V::LANES));
                }
                for (r, acc) in acc.iter_mut().enumerate() {
                    let value = V::splat(*values.add(r));
                    for (acc, &b) in acc.iter_mut().zip(&b) {
                        *acc = acc.fused(value, b);
                    }
                }
            }
            for (r, acc) in acc.iter().enumerate() {
                let row = block * self.a.br + top + r;
                let c = self.c.add(row * self.ldc + panel.first);
                for (w, &acc) in acc.iter().enumerate() {
                    panel.store(c.add(w * V::LANES), acc, self.scaling);
                }
            }
        }
        R
    }
}
