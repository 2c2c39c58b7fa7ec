//! Tails: uniform patterns whose shape sits on, just under or just over a multiple of a tile.
//!
//! ```text
//! rows = tile * tiles + drow    drow = -1: the last tile lacks a row, +1: one row spills into a new tile
//! cols = tile * tiles + dcol    (negative results are cut to 0)
//! ```

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use super::uniform;
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let whole = spec.signed("tile") * spec.signed("tiles");
    // At most 2^32 + 64: cut to the index type.
    let side = |key| (whole + spec.signed(key)).clamp(0, i64::from(u32::MAX)) as u64;
    Ok(uniform::shape_of(side("drow"), side("dcol"), spec.size("density")))
}

pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    uniform::fill_with(spec.size("density"), random, pattern);
}
