//! The wrong elements of a result as a picture, with the borders of the format's blocks or windows of rows, and of 16 columns.
//!
//! ```text
//! +--+--+      a square for each cell in which an element is wrong; lines every 16 rows (or as many as a block or window of A has,
//! |##|  |      or of a sparse result) and 16 columns, as far as there are at most 16 of them
//! +--+--+
//! ```

use crate::case::Case;
use crate::report::WrongElements;
use maud::{Markup, html};
use sparse_oracle::format::FormatKind;
use std::fmt::Write;

/// Pixels of a cell.
const CELL: u32 = 5;
/// Columns between two lines, and rows where the format has no blocks.
const TILE: u64 = 16;
/// Lines at most: more would hide the cells.
const MOST_LINES: u64 = 16;

/// The picture; nothing where the report holds none, and for one row or one column, of which the words say as much.
pub(super) fn of(wrong: &WrongElements, case: &str) -> Markup {
    let is_line = wrong.rows <= 1 || wrong.columns <= 1;
    let (Some(cells), width) = (wrong.picture().filter(|_| !is_line), wrong.width()) else { return html! {} };
    let height = cells.len() as u32;
    let squares = squares(&cells, width);
    let (rows, what) = block_rows(case);
    let lines = lines(wrong, (height, width), rows);
    let said = format!("wrong elements: {wrong}");
    html! {
        figure.wrongs {
            svg role="img" aria-label=(said) width=(width * CELL) height=(height * CELL)
                viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" {
                path d=(squares) {}
                @if !lines.is_empty() { path.lines d=(lines) {} }
            }
            figcaption.quiet { (caption(wrong, (height, width))) @if !lines.is_empty() { "; lines every " (rows) " rows" (what) " and 16 columns" } }
        }
    }
}

/// A square for each wrong cell, those side by side as one.
fn squares(cells: &[u32], width: u32) -> String {
    let mut path = String::new();
    for (y, &row) in cells.iter().enumerate() {
        let mut x = 0;
        while x < width {
            let run = (row >> x).trailing_ones().min(width - x);
            if run > 0 {
                // Text takes all that is written.
                let _ = write!(path, "M{x} {y}h{run}v1h-{run}z");
            }
            x += run + 1;
        }
    }
    path
}

/// Rows of the result that a block or window makes, of the stored A or of a sparse result, and how a caption says so; 16 where there are
/// none, or those of A as stored are columns of op(A).
fn block_rows(line: &str) -> (u64, &'static str) {
    let Ok(case) = line.parse::<Case>() else { return (TILE, "") };
    let p = &case.params;
    // The result of a conversion is of another format.
    let (rows, what) = match case.contract.to.unwrap_or(case.contract.format) {
        FormatKind::Bcsr | FormatKind::BlockedEll => (p.blocks.block_rows, " (a block row)"),
        FormatKind::SrBcrs => (p.blocks.v, " (a window)"),
        FormatKind::Vnm => (p.blocks.v, " (a block row)"),
        FormatKind::LibraSpmm | FormatKind::LibraSddmm | FormatKind::BitTcf => (8, " (a window)"),
        FormatKind::Tcf | FormatKind::MeTcf => (16, " (a window)"),
        FormatKind::Coo
        | FormatKind::Csr
        | FormatKind::Csc
        | FormatKind::Ell
        | FormatKind::Loops
        | FormatKind::RsTile
        | FormatKind::RpCsc
        | FormatKind::CpCsr
        | FormatKind::Nm
        | FormatKind::TwoFour => return (TILE, ""),
    };
    // Positions of a sampled product are a list.
    let is_moved = p.transpose_a || case.contract.op.is_sampled();
    if rows == 0 || is_moved { (TILE, "") } else { (u64::from(rows), what) }
}

/// Lines between blocks of rows, and between tiles of columns.
fn lines(wrong: &WrongElements, (height, width): (u32, u32), rows: u64) -> String {
    let mut path = String::new();
    for (all, cells, across, tile, is_row) in
        [(wrong.rows, height, width, rows, true), (wrong.columns, width, height, TILE, false)]
    {
        let count = all.saturating_sub(1) / tile;
        for line in (1..=count).filter(|_| count <= MOST_LINES) {
            let at = (line * tile) as f64 * f64::from(cells) / all as f64;
            let at = (at * 100.0).round() / 100.0;
            let _ = match is_row {
                true => write!(path, "M0 {at}h{across}"),
                false => write!(path, "M{at} 0v{across}"),
            };
        }
    }
    path
}

fn caption(wrong: &WrongElements, (height, width): (u32, u32)) -> String {
    let of_one = |all: u64, cells: u32| all == u64::from(cells);
    let each = match (of_one(wrong.rows, height), of_one(wrong.columns, width)) {
        (true, true) => "a square is an element".to_owned(),
        _ => format!(
            "a square is about {} x {} elements",
            wrong.rows.div_ceil(u64::from(height.max(1))),
            wrong.columns.div_ceil(u64::from(width.max(1)))
        ),
    };
    format!("The result, wrong elements filled: {each}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_blocks_that_are_stored() {
        let rows = |contract: &str, rest: &str| {
            block_rows(&format!(
                "{contract}.f32_f32_f32_f32/diagonal:rows=40,cols=40,seed=1/values=ones,1{rest}"
            ))
            .0
        };
        assert_eq!(rows("spmm.csr", ""), 16);
        assert_eq!(rows("spmm.bcsr", "/block=3x5"), 3);
        assert_eq!(rows("spmm.bcsr", "/block=3x5/ta"), 16);
        assert_eq!(rows("spmm.sr_bcrs", "/v=4"), 4);
        assert_eq!(rows("spmm.libra_spmm", ""), 8);
        assert_eq!(rows("sddmm.libra_sddmm", ""), 16);
        let moved = |contract: &str| {
            block_rows(&format!("{contract}.f32/diagonal:rows=40,cols=40,seed=1/values=ones,1/block=3x5")).0
        };
        assert_eq!(moved("convert.csr.bcsr"), 3);
        assert_eq!(moved("convert.bcsr.csr"), 16);
        assert_eq!(block_rows("no case"), (16, ""));
    }
}
