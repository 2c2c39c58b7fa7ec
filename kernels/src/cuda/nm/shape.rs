//! The tiles of `nm_tile.cu` and which one a product gets: the parameter table (NM-SpMM, table I, for a GPU of 128 lanes a
//! multiprocessor).
//!
//! ```text
//!            columns of B x W    thread   threads   blocks a multiprocessor
//!   small         32 x 64         4 x 8       64       8
//!   medium        64 x 128        8 x 8      128       4
//!   large        128 x 128       16 x 8      128       2
//!   wide         128 x 256       16 x 8      256       1      a slice of B serves more columns of W: for high sparsity
//! ```

use super::cut::Knife;

/// The step-wise versions of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Blocking.
    V1,
    /// And packing.
    V2,
    /// And pipelines; packing where the sparsity is high.
    V3,
}

/// One tile of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The kernel for whole slices, and the one for listed rows.
    symbols: [&'static str; 2],
    /// Columns of B.
    pub(super) tm: usize,
    /// Columns of W.
    pub(super) tn: usize,
    /// Blocks that fit a multiprocessor.
    per_sm: usize,
    /// Slices in shared memory.
    stages: usize,
}

const fn shape(symbols: [&'static str; 2], (tm, tn): (usize, usize), per_sm: usize, stages: usize) -> Shape {
    Shape {
        symbols,
        tm,
        tn,
        per_sm,
        stages,
    }
}

const SMALL: Shape = shape(["nm_v3_small", "nm_v3p_small"], (32, 64), 8, 3);
const MEDIUM: Shape = shape(["nm_v3_medium", "nm_v3p_medium"], (64, 128), 4, 3);
const LARGE: Shape = shape(["nm_v3_large", "nm_v3p_large"], (128, 128), 2, 3);
const WIDE: Shape = shape(["nm_v3_wide", "nm_v3p_wide"], (128, 256), 1, 3);
const BLOCKING: Shape = shape(["nm_v1", "nm_v2"], (128, 128), 2, 1);

/// Every tile.
#[cfg(test)]
pub(super) const ALL: [Shape; 5] = [BLOCKING, SMALL, MEDIUM, LARGE, WIDE];

/// The kernels of the source.
pub(in super::super) const SYMBOLS: &[&str] = &[
    "nm_v1",
    "nm_v2",
    "nm_v3_small",
    "nm_v3p_small",
    "nm_v3_medium",
    "nm_v3p_medium",
    "nm_v3_large",
    "nm_v3p_large",
    "nm_v3_wide",
    "nm_v3p_wide",
];

impl Shape {
    /// Threads of a block.
    pub(super) const fn threads(&self) -> usize {
        self.tn
    }

    /// The kernel.
    pub(super) const fn symbol(&self, packed: bool) -> &'static str {
        self.symbols[packed as usize]
    }

    /// Bytes of shared memory for slices of `cap` rows of B and `ws` rows of W, of which a block touches `groups`; the result
    /// leaves by way of it, too.
    pub(super) const fn shared(&self, cap: usize, ws: usize, groups: usize) -> usize {
        let slices = self.stages * ((cap + 1) * self.tm + ws * (self.tn + groups)) * 4;
        let results = self.tm * self.tn * 4;
        if slices > results { slices } else { results }
    }

    /// What a block may take of the `limit` bytes that one alone could have: the device keeps 1 KiB of each.
    pub(super) const fn share(&self, limit: usize) -> usize {
        ((limit + 1024) / self.per_sm).saturating_sub(1024)
    }

    /// Most rows that a block can list: a lane of each warp holds one.
    pub(super) const fn most_listed(&self) -> usize {
        self.threads()
    }

    /// Blocks for a product.
    const fn blocks(&self, n: usize, cols: usize) -> usize {
        n.div_ceil(self.tm) * cols.div_ceil(self.tn)
    }

    /// Whole turns that the device needs for a product, in multiples of the work of the smallest tile.
    const fn turns(&self, n: usize, cols: usize, multiprocessors: usize) -> usize {
        let work = self.tm * self.tn * self.per_sm;
        self.blocks(n, cols).div_ceil(multiprocessors * self.per_sm) * work
    }
}

/// Rows of W, and of B, of the longest slices.
const MOST_ROWS: usize = 48;
const MOST_ROWS_OF_B: usize = 256;

/// Packing pays where more than 70 % of the rows are dropped (NM-SpMM, section III-C).
pub(super) const fn is_sparse(n: usize, m: usize) -> bool {
    10 * (m - n) > 7 * m
}

/// The tiles to try for `cols` columns of W and `n` of B, and how to cut W of `n` in `m` for each, best first.
pub(super) fn candidates(
    version: Version,
    (n, m): (usize, usize),
    (width, cols): (usize, usize),
    multiprocessors: usize,
) -> Vec<(Shape, Knife)> {
    let sparse = is_sparse(n, m);
    let mut shapes = match (version, sparse) {
        (Version::V1 | Version::V2, _) => vec![BLOCKING],
        (Version::V3, true) => vec![WIDE, LARGE, MEDIUM, SMALL],
        (Version::V3, false) => vec![LARGE, MEDIUM, SMALL],
    };
    // Fewer turns win; of equals the larger tile, which reads less.
    shapes.sort_by_key(|shape| shape.turns(width, cols, multiprocessors));
    let packed = version == Version::V2 || version == Version::V3 && sparse;
    let knives = |shape| cuts(&shape, packed, (n, m)).map(move |knife| (shape, knife));
    shapes.into_iter().flat_map(knives).collect()
}

/// Slices of whole windows, long ones first: each begins with a wait.
pub(super) fn cuts(
    shape: &Shape,
    packed: bool,
    (n, m): (usize, usize),
) -> impl Iterator<Item = Knife> + use<> {
    let (tn, row_bytes) = (shape.tn, shape.tm * 4);
    let most = (MOST_ROWS / n).min(MOST_ROWS_OF_B / m).max(1);
    (1..=most).rev().map(move |windows| Knife {
        tn,
        span: windows * n,
        ws: (windows * n).next_multiple_of(4),
        row_bytes,
        packed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_products_get_large_tiles_and_small_ones_small_tiles() {
        let first = |nm, size| candidates(Version::V3, nm, (size, size), 132)[0].0;
        assert_eq!(first((16, 32), 4096), LARGE);
        assert_eq!(first((4, 32), 4096), WIDE);
        assert_eq!(first((16, 32), 512), SMALL);
        let blocking = candidates(Version::V1, (16, 32), (64, 64), 132);
        assert!(blocking.iter().all(|(shape, _)| *shape == BLOCKING));
    }

    #[test]
    fn slices_hold_whole_windows_and_only_those_of_the_sparse_are_packed() {
        let of = |n| candidates(Version::V3, (n, 32), (4096, 4096), 132)[0].1;
        let found = [16, 12, 8, 4].map(|n| (of(n).span, of(n).packed));
        assert_eq!(found, [(48, false), (48, false), (48, true), (32, true)]);
        let odd: Vec<_> = cuts(&LARGE, true, (20, 100))
            .map(|knife| (knife.span, knife.ws))
            .collect();
        assert_eq!(odd, [(40, 40), (20, 20)]);
        let one: Vec<_> = cuts(&LARGE, false, (97, 1000))
            .map(|knife| (knife.span, knife.ws))
            .collect();
        assert_eq!(one, [(97, 100)]);
    }
}
