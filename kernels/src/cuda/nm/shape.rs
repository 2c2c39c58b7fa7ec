//! The tiles of `nm_tile.cu` and which one a product gets. The sizes are ours, for a GPU of 128 lanes a multiprocessor: none is a row of
//! the paper's table I, whose blocks are 32 x 32, 32 x 64 and 64 x 128.
//!
//! ```text
//!            columns of B x W    thread   threads   blocks a multiprocessor
//!   small         32 x 64         4 x 8       64       8
//!   medium        64 x 128        8 x 8      128       4
//!   broad         64 x 256        8 x 8      256       2      the most columns of W for a row of B: for high sparsity
//!   large        128 x 128       16 x 8      128       2
//!   wide         128 x 256       16 x 8      256       1
//! ```

use super::cut::Blocking;

/// The step-wise versions of the paper, with two differences: V2 packs at any sparsity, where the paper packs above a threshold only; and
/// V3 chooses among all tiles, where V1 and V2 have one, so that V3 over V2 is not the pipeline's gain alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// Blocking.
    V1,
    /// And packing, always.
    V2,
    /// And a pipeline, in the tile that suits the product; packing where a block needs few rows of B.
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
    Shape { symbols, tm, tn, per_sm, stages }
}

const SMALL: Shape = shape(["nm_v3_small", "nm_v3p_small"], (32, 64), 8, 2);
const MEDIUM: Shape = shape(["nm_v3_medium", "nm_v3p_medium"], (64, 128), 4, 2);
const BROAD: Shape = shape(["nm_v3_broad", "nm_v3p_broad"], (64, 256), 2, 2);
const LARGE: Shape = shape(["nm_v3_large", "nm_v3p_large"], (128, 128), 2, 2);
const WIDE: Shape = shape(["nm_v3_wide", "nm_v3p_wide"], (128, 256), 1, 2);
const BLOCKING: Shape = shape(["nm_v1", "nm_v2"], (128, 128), 2, 1);

/// Every tile.
#[cfg(test)]
pub(super) const ALL: [Shape; 6] = [BLOCKING, SMALL, MEDIUM, BROAD, LARGE, WIDE];

/// The kernels of the source.
pub(in super::super) const SYMBOLS: &[&str] = &[
    "nm_v1",
    "nm_v2",
    "nm_v3_small",
    "nm_v3p_small",
    "nm_v3_medium",
    "nm_v3p_medium",
    "nm_v3_broad",
    "nm_v3p_broad",
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

/// The most rows of W, and of B, that a slice may have.
const MOST_ROWS: usize = 48;
const MOST_ROWS_OF_B: usize = 256;

/// What the choice of a tile depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// N, M and L.
    pub(super) pattern: (usize, usize, usize),
    /// Columns of W.
    pub(super) cols: usize,
    /// Columns of B.
    pub(super) n: usize,
    /// Of the device.
    pub(super) multiprocessors: usize,
}

impl Request {
    /// Whether to pack: true if a block of a random matrix needs less than 40 % of the rows of B. NM-SpMM (section III-C) packs
    /// wherever 70 % of W is dropped; on an H200 whole slices in wide tiles are faster there, unless vectors are long.
    fn packs(&self, shape: &Shape) -> bool {
        let (n, m, l) = self.pattern;
        let missed = 1.0 - n as f64 / m as f64;
        1.0 - missed.powi(shape.tn.div_ceil(l) as i32) < 0.4
    }

    /// Four fifths or more of W are dropped: each row of B should then meet many columns of W.
    fn is_sparse(&self) -> bool {
        let (n, m, _) = self.pattern;
        5 * n < m
    }
}

/// The tiles to try, and how to cut W for each, best first.
pub(super) fn candidates(version: Version, request: &Request) -> Vec<(Shape, Blocking)> {
    let (n, m, _) = request.pattern;
    let mut shapes = match version {
        Version::V1 | Version::V2 => vec![BLOCKING],
        Version::V3 if request.packs(&LARGE) => vec![LARGE, WIDE, BROAD, MEDIUM, SMALL],
        Version::V3 if request.is_sparse() => vec![BROAD, WIDE, LARGE, MEDIUM, SMALL],
        Version::V3 => vec![WIDE, LARGE, BROAD, MEDIUM, SMALL],
    };
    // The fewest turns first; the sort is stable, so that among equals the order above stays.
    shapes.sort_by_key(|shape| shape.turns(request.n, request.cols, request.multiprocessors));
    let packed = |shape: &Shape| match version {
        Version::V1 => false,
        Version::V2 => true,
        Version::V3 => request.packs(shape),
    };
    let blockings =
        |shape: Shape| cuts(&shape, packed(&shape), (n, m)).map(move |blocking| (shape, blocking));
    shapes.into_iter().flat_map(blockings).collect()
}

/// Ways to cut W into slices of whole windows, the longest first: a kernel waits for data at the start of each slice, so fewer
/// slices are faster.
pub(super) fn cuts(
    shape: &Shape,
    packed: bool,
    (n, m): (usize, usize),
) -> impl Iterator<Item = Blocking> + use<> {
    let (tn, row_bytes) = (shape.tn, shape.tm * 4);
    let most = (MOST_ROWS / n).min(MOST_ROWS_OF_B / m).max(1);
    (1..=most).rev().map(move |windows| Blocking {
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

    fn request(pattern: (usize, usize, usize), size: usize) -> Request {
        Request { pattern, cols: size, n: size, multiprocessors: 132 }
    }

    #[test]
    fn large_products_get_large_tiles_and_small_ones_small_tiles() {
        let first = |pattern, size| candidates(Version::V3, &request(pattern, size))[0].0;
        assert_eq!(first((16, 32, 32), 4096), WIDE);
        assert_eq!(first((4, 32, 32), 4096), BROAD);
        assert_eq!(first((4, 32, 128), 4096), LARGE);
        assert_eq!(first((16, 32, 32), 512), SMALL);
        let blocking = candidates(Version::V1, &request((16, 32, 32), 64));
        assert!(blocking.iter().all(|(shape, _)| *shape == BLOCKING));
    }

    #[test]
    fn only_what_names_few_rows_is_packed_and_the_versions_differ() {
        let packed = |version, pattern| candidates(version, &request(pattern, 4096))[0].1.packed;
        let of = |version| [(16, 32, 32), (4, 32, 32), (4, 32, 128)].map(|pattern| packed(version, pattern));
        assert_eq!(of(Version::V1), [false; 3]);
        assert_eq!(of(Version::V2), [true; 3]);
        assert_eq!(of(Version::V3), [false, false, true]);
    }

    #[test]
    fn slices_hold_whole_windows() {
        let of = |pattern| {
            cuts(&LARGE, true, pattern).map(|blocking| (blocking.span, blocking.ws)).collect::<Vec<_>>()
        };
        assert_eq!(of((16, 32)), [(48, 48), (32, 32), (16, 16)]);
        assert_eq!(of((20, 100)), [(40, 40), (20, 20)]);
        assert_eq!(of((97, 1000)), [(97, 100)]);
        assert_eq!(of((3, 7)).len(), 16);
    }

    #[test]
    fn blocks_share_the_memory_of_a_multiprocessor() {
        // An H200: 228 KiB, of which a block may have 227.
        assert_eq!(WIDE.share(227 << 10), 227 << 10);
        assert_eq!(LARGE.share(227 << 10), 113 << 10);
        assert!(LARGE.shared(64, 32, 4) <= LARGE.share(227 << 10));
    }
}
