//! Small, varied specs by number, for plans that want many cases of every family in little time.

use super::family::{FAMILIES, Family, ParamKind};
use super::spec::SourceSpec;
use crate::source::random::{ONE, Random};
use crate::source::synth;

/// One small spec of each family, in the order of the table, for `index` 0, 1, 2, ...
///
/// Dimensions are mostly in 0..=70, sometimes up to 200; up to 257 in `borders`, and columns up to 1100 where rows are long or
/// collide. The seed is `index`, so that specs of one family differ
/// for every two indices; patterns that use no randomness (dense, stencil, ...) repeat when their sizes do.
#[must_use]
pub fn quick_specs(index: u64) -> Vec<SourceSpec> {
    FAMILIES.iter().map(|info| quick_spec(info.family, index)).collect()
}

/// The small spec number `index` of one family.
#[must_use]
pub fn quick_spec(family: Family, index: u64) -> SourceSpec {
    let info = family.info();
    let mut random = Random::new(index, &format!("quick {}", info.name));
    let mut spec = SourceSpec::new(info.family, index);
    for param in info.params {
        let value = match (info.family, param.key) {
            (Family::Synth, "rows") => 1 + random.below(120) as i64,
            (_, "matrix") => (index % synth::COUNT as u64) as i64,
            (Family::Borders, "rows" | "cols") => border(&mut random, 256),
            (Family::Borders, "entries") => border(&mut random, 1024),
            (Family::LongRows, "cols") => *random.pick(&[0, 300, 520, 600, 1030, 1100]),
            (Family::LongRows, "count") => random.between(1, 3),
            (Family::LongRows, "length") => *random.pick(&[257, 300, 511, 512, 513, 1023, 1024, 1025]),
            (Family::Collide, "cols") => *random.pick(&[0, 65, 128, 257, 512, 1000, 1024]),
            (Family::Collide, "slots") => 1 << random.between(1, 8),
            (Family::Collide, "length") => random.between(1, 16),
            (Family::Zero, "rows" | "cols") => *random.pick(&[0, 0, 1, 2, 7, 8, 9, 33]),
            (_, "rows" | "cols") => dimension(&mut random),
            (_, "nx" | "ny") => random.between(0, 9),
            (_, "nz") => *random.pick(&[0, 1, 1, 1, 2, 3]),
            (_, "dofs") => *random.pick(&[1, 1, 2, 3]),
            (_, "points") => *random.pick(&[5, 7, 9, 27]),
            (_, "scale") => random.between(0, 7),
            (_, "edges") => random.between(0, 8),
            (_, "tile") => *random.pick(&[1, 2, 4, 8, 16, 32, 64]),
            (_, "tiles") => 1,
            (_, "drow" | "dcol") => random.between(-1, 1),
            (_, "block") => *random.pick(&[1, 2, 3, 4, 5, 8, 16]),
            (_, "m") => *random.pick(&[1, 2, 4, 4, 5, 8, 16, 32]),
            (_, "n") => 0, // set below, once m is known
            (_, "longest") => random.between(0, 200),
            (_, "shortest" | "width") => random.between(0, 3),
            (_, "power") => random.between(1, 3),
            (_, "shift") => random.between(-4, 4),
            (_, "lower" | "upper" | "offdiag" | "column" | "pairs") => random.between(0, 7),
            (_, "dense" | "densecols") => random.between(0, 2),
            (_, "a" | "b" | "c") => param.default,
            _ if param.kind == ParamKind::Share => share(&mut random),
            _ => param.default,
        };
        spec = spec.with(param.key, value).unwrap_or(spec);
    }
    if info.family == Family::Nm {
        let n = random.below(spec.size("m") + 1) as i64;
        spec = spec.with("n", n).unwrap_or(spec);
    }
    if info.family == Family::Stencil && spec.shape().is_ok_and(|shape| shape.rows > 200) {
        spec = spec.with("dofs", 1).and_then(|flat| flat.with("nz", 1)).unwrap_or(spec);
    }
    spec
}

/// Mostly up to 70, next to powers of two, rarely 0 or up to 200.
fn dimension(random: &mut Random) -> i64 {
    match random.below(32) {
        0 => 0,
        1 | 2 => 1,
        3 | 4 => random.between(71, 200),
        5..=12 => *random.pick(&[2, 4, 8, 16, 32, 64]) + random.between(-1, 1),
        _ => random.between(1, 70),
    }
}

/// At, one under or one over a border of blocks and grids up to `most`; rarely 0.
fn border(random: &mut Random, most: i64) -> i64 {
    let borders: &[i64] = &[32, 64, 128, 256, 1024];
    let up_to = borders.iter().take_while(|&&border| border <= most).count();
    match random.below(16) {
        0 => 0,
        _ => *random.pick(&borders[..up_to]) + random.between(-1, 1),
    }
}

/// A density: mostly low, sometimes anything, rarely the ends.
fn share(random: &mut Random) -> i64 {
    match random.below(16) {
        0 => 0,
        1 => ONE as i64,
        2..=5 => random.between(0, ONE as i64) / 1000 * 1000,
        _ => random.between(0, ONE as i64 / 4) / 1000 * 1000,
    }
}
