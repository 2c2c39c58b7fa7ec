//! What the papers print, followed to the letter, where a contract can see it. Slips of schedules, which no contract asks for, are
//! in [`schedules`](crate::schedules).
//!
//! ```text
//! slip 1  blocks of absolute rows; row_ptr[0] never set; tiles never written        LOOPS, Algorithm 1
//! slip 3  few new columns, or little overlap                                         RSH-SpMM, 3.3.1
//! slip 4  more than the threshold, or at least                                       Libra, Algorithm 1
//! slip 5  column u * M / N + D instead of floor(u / N) * M + D                       NM-SpMM, equation (1)
//! ```

use super::super::bug::symptom::{PATTERN, STRUCTURE, VALUE};
use super::super::bug::{
    Bug,
    Effect::{Encodes, Parts},
    Family,
};
use super::super::edit::indices;
use super::encoding::{LAYOUT, WRONG, encodes};
use sparse_oracle::each_parts;
use sparse_oracle::format::{self, FormatKind, ImpactRule, LoopsParts};
use sparse_oracle::scalar::Scalar;

const F: Family = Family::Slip;

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "slip 1: blocks of absolute rows",
        "LOOPS, Algorithm 1 divides the absolute row by br",
        |c| encodes(c, FormatKind::Loops),
        Parts(|p| {
            each_parts!(p, p => if let format::Parts::Loops(p) = p {
                absolute_rows(p);
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "slip 1: boundary at whole blocks",
        "LOOPS, the repair that moves the boundary instead",
        |c| encodes(c, FormatKind::Loops),
        Encodes(|p, rows| {
            let boundary = p.boundary.unwrap_or(rows as u32 / 2);
            p.boundary = Some(boundary - boundary % p.br);
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "slip 1: row_ptr[0] never set",
        "LOOPS, Algorithm 1 appends to row_ptr' after each row only",
        |c| encodes(c, FormatKind::Loops),
        Parts(|p| indices(p, "row_ptr", |ptr| ptr[0] = 1)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "slip 1: tiles never written",
        "LOOPS, the map of tiles is never turned into arrays",
        |c| encodes(c, FormatKind::Loops),
        Parts(|p| {
            each_parts!(p, p => if let format::Parts::Loops(p) = p {
                p.block_ptr.iter_mut().for_each(|end| *end = 0);
                p.block_col.clear();
                p.values.clear();
            });
        }),
        &[PATTERN, STRUCTURE, VALUE],
    ),
    Bug::new(
        F,
        "slip 3: impact rule as printed",
        "RSH-SpMM, Algorithm 1 sends rows with few new columns to the CUDA cores",
        |c| encodes(c, FormatKind::RsTile),
        Encodes(|p, _| p.impact = ImpactRule::AsPrinted),
        LAYOUT,
    ),
    Bug::new(
        F,
        "slip 3: windows at multiples of 8",
        "RSH-SpMM, a window may start at any row, which other tile formats do not have",
        |c| encodes(c, FormatKind::RsTile),
        Parts(|p| {
            indices(p, "window_row", |rows| rows.iter_mut().for_each(|row| *row &= !7));
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "slip 4: more than the threshold, SpMM",
        "Libra, Algorithm 1 compares with >",
        |c| encodes(c, FormatKind::LibraSpmm),
        Encodes(|p, _| p.eta = Some(p.eta.unwrap_or(48).min(112) + 16)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "slip 4: more than the threshold, SDDMM",
        "Libra, the same for blocks of 128 slots",
        |c| encodes(c, FormatKind::LibraSddmm),
        Encodes(|p, _| p.eta = Some(p.eta.unwrap_or(24).min(127) + 1)),
        LAYOUT,
    ),
    Bug::new(
        F,
        "slip 5: index of equation (1)",
        "NM-SpMM, row u of B' is taken for row u M / N + D of B",
        |c| encodes(c, FormatKind::Nm),
        Parts(|p| {
            each_parts!(p, p => if let format::Parts::Nm(p) = p {
                let groups = p.cols.div_ceil(p.l.max(1)).max(1);
                for (at, d) in p.index.iter_mut().enumerate() {
                    // The offset that makes floor(u / N) * M + D name the printed row.
                    let u = at / groups;
                    *d = (*d as usize + u * p.m / p.n.max(1) - u / p.n.max(1) * p.m) as u32;
                }
            });
        }),
        WRONG,
    ),
    Bug::new(
        F,
        "slip: block of an empty window",
        "TC-GNN's published preprocessing counts a block for a window without entries",
        |c| encodes(c, FormatKind::Tcf),
        Parts(|p| {
            indices(p, "block_partition", |blocks| {
                blocks.iter_mut().for_each(|b| *b = (*b).max(1));
            });
        }),
        LAYOUT,
    ),
    Bug::new(
        F,
        "slip: window past the last row",
        "TC-GNN counts one window more than there are where 16 divides the rows",
        |c| encodes(c, FormatKind::Tcf),
        Parts(|p| {
            each_parts!(p, p => if let format::Parts::Tcf(p) = p
                && p.rows.is_multiple_of(16)
            {
                p.block_partition.push(1);
            });
        }),
        LAYOUT,
    ),
];

/// Tiles moved to where rows divided by `br` from row 0 on would put them.
fn absolute_rows<T: Scalar>(p: &mut LoopsParts<T>) {
    let (br, shift) = (p.br, p.boundary % p.br.max(1));
    if br == 0 {
        return;
    }
    // Slot r of a block counted from the boundary is row boundary + b br + r; as printed, its slot is that row modulo br.
    for tile in p.values.chunks_mut(br) {
        tile.rotate_right(shift.min(tile.len()));
    }
}
