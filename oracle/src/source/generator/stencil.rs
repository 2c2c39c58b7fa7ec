//! Stencil: a grid of nodes, each joined to itself and its neighbours; `dofs` unknowns a node.
//!
//! ```text
//!   5: . x .   9: x x x   7 and 27: the same in three dimensions
//!      x x x      x x x   5 and 9 on nz > 1 layers join nodes inside a layer only
//!      . x .      x x x   node = x + nx * (y + ny * z); row = node * dofs + unknown
//! ```
//!
//! Structurally symmetric with a full diagonal; an inner node has exactly `points * dofs` entries a row.

use super::error::SourceError;
use super::pattern::Pattern;
use super::spec::{Shape, SourceSpec};
use crate::source::random::Random;

pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let conflict = |problem| SourceError::Conflict { family: "stencil", problem };
    let points = spec.size("points");
    if ![5, 7, 9, 27].contains(&points) {
        return Err(conflict(format!("points is {points}, must be 5, 7, 9 or 27")));
    }
    let dofs = u128::from(spec.size("dofs"));
    let sides = ["nx", "ny", "nz"].map(|key| u128::from(spec.size(key)));
    let rows = sides[0] * sides[1] * sides[2] * dofs;
    let rows = u64::try_from(rows)
        .ok()
        .filter(|&rows| rows <= u64::from(u32::MAX))
        .ok_or_else(|| conflict(format!("the grid has {rows} unknowns, must be below 2^32")))?;
    let nnz_at_most = u128::from(rows) * u128::from(points) * dofs;
    Ok(Shape { rows, cols: rows, nnz_at_most, scratch: 0 })
}

pub(super) fn fill(spec: &SourceSpec, _: &mut Random, pattern: &mut Pattern) {
    let (nx, ny, nz) = (spec.signed("nx"), spec.signed("ny"), spec.signed("nz"));
    let dofs = spec.size("dofs");
    let offsets = offsets(spec.size("points"));
    // Not nx * ny * nz: with one side 0 the other two may overflow.
    for node in 0..(pattern.rows() / dofs) as i64 {
        let (x, y, z) = (node % nx, node / nx % ny, node / nx / ny);
        for _ in 0..dofs {
            for (dx, dy, dz) in &offsets {
                let (x, y, z) = (x + dx, y + dy, z + dz);
                if (0..nx).contains(&x) && (0..ny).contains(&y) && (0..nz).contains(&z) {
                    let first = (x + nx * (y + ny * z)) as u64 * dofs;
                    pattern.extend(first..first + dofs);
                }
            }
            pattern.end_row();
        }
    }
}

/// Neighbours in ascending order of node number.
fn offsets(points: u64) -> Vec<(i64, i64, i64)> {
    let (flat, cross) = (matches!(points, 5 | 9), matches!(points, 5 | 7));
    let mut all = Vec::with_capacity(points as usize);
    for dz in -1..=1i64 {
        for dy in -1..=1i64 {
            for dx in -1..=1i64 {
                let steps = dx.abs() + dy.abs() + dz.abs();
                if !(flat && dz != 0 || cross && steps > 1) {
                    all.push((dx, dy, dz));
                }
            }
        }
    }
    all
}
