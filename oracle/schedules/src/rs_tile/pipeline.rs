//! What the paper's pipelined kernel may load before its loop.
//!
//! Algorithm 2 fills both buffers up front: blocks `start` and `start + 1`, unconditionally. A segment of one block has
//! no second block: the load takes the first block of the next window, or lies past the end of the arrays in the last
//! one. Its loop loads block `t + 1` under `t + 1 < end` in any case, so that the first iteration fetches the second
//! block again; the prologue needs no more than the first.

use std::ops::Range;

/// The blocks of segment `start..end` that may be loaded into the two buffers before the loop: its first two, or the
/// only one.
#[must_use]
pub fn prologue(start: u32, end: u32) -> Range<u32> {
    start..end.min(start.saturating_add(2))
}
