//! Balance: windows that would keep one thread block busy long after the others are cut.
//!
//! ```text
//! window   blocks              segments
//! 0        3                   0..3
//! 1        70, the mean is 9   3..35 35..67 67..73     three thread blocks add into the same 8 rows of C
//! 2        40, the mean is 12  73..113                 long, but not against the others
//! ```
//!
//! Section 3.3.3: "super-long" rows are "selectively split based on matrix size, sparsity, and tile expansion", without
//! numbers. Chosen: a window is cut when it has more than 32 blocks and more than four times the mean, into segments of
//! 32 blocks. Every segment of a cut window adds into C, nothing else does. The format does not change.
//!
//! No kernel of `sparse-kernels` follows this: its CUDA kernel cuts all windows after 16 blocks.

/// Blocks of a full segment.
pub const SEGMENT_BLOCKS: u32 = 32;

/// Work of one thread block: consecutive blocks of one window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the window.
    pub window: u32,
    /// First block.
    pub start: u32,
    /// Past the last block.
    pub end: u32,
    /// Other segments write the same rows of C, so that this one must add, not store.
    pub atomic: bool,
}

/// The segments of all windows, in order. `window_block_ptr` is that of a valid RS-Tile matrix: `windows + 1` offsets.
#[must_use]
pub fn segments(window_block_ptr: &[u32]) -> Vec<Segment> {
    let windows = window_block_ptr.len().saturating_sub(1) as u128;
    let total = window_block_ptr.last().copied().unwrap_or(0);
    let mut found = Vec::new();
    for (window, ends) in window_block_ptr.windows(2).enumerate() {
        let blocks = ends[1] - ends[0];
        let above_mean = u128::from(blocks) * windows > 4 * u128::from(total);
        let atomic = blocks > SEGMENT_BLOCKS && above_mean;
        let step = if atomic { SEGMENT_BLOCKS } else { blocks.max(1) };
        for start in (ends[0]..ends[1]).step_by(step as usize) {
            found.push(Segment {
                window: window as u32,
                start,
                end: ends[1].min(start.saturating_add(step)),
                atomic,
            });
        }
    }
    found
}
