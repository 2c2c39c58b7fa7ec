//! The wrong elements of a result as a picture, with the borders of tiles of 16 rows and columns.
//!
//! ```text
//! +--+--+      a square for each cell in which an element is wrong; lines every 16 rows and columns, as far as there are
//! |##|  |      at most 16 of them
//! +--+--+
//! ```

use crate::report::WrongElements;
use maud::{Markup, html};
use std::fmt::Write;

/// Pixels of a cell.
const CELL: u32 = 5;
/// Rows, and columns, between two lines.
const TILE: u64 = 16;
/// Lines at most: more would hide the cells.
const MOST_LINES: u64 = 16;

/// The picture; nothing where the report holds none, and for one row or one column, of which the words say as much.
pub(super) fn of(wrong: &WrongElements) -> Markup {
    let is_line = wrong.rows <= 1 || wrong.columns <= 1;
    let (Some(cells), width) = (wrong.picture().filter(|_| !is_line), wrong.width()) else { return html! {} };
    let height = cells.len() as u32;
    let squares = squares(&cells, width);
    let lines = lines(wrong, (height, width));
    let said = format!("wrong elements: {wrong}");
    html! {
        figure.wrongs {
            svg role="img" aria-label=(said) width=(width * CELL) height=(height * CELL)
                viewBox={ "0 0 " (width) " " (height) } preserveAspectRatio="none" {
                path d=(squares) {}
                @if !lines.is_empty() { path.lines d=(lines) {} }
            }
            figcaption.quiet { (caption(wrong, (height, width), !lines.is_empty())) }
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

/// Lines between tiles.
fn lines(wrong: &WrongElements, (height, width): (u32, u32)) -> String {
    let mut path = String::new();
    for (all, cells, across, is_row) in
        [(wrong.rows, height, width, true), (wrong.columns, width, height, false)]
    {
        let count = all.saturating_sub(1) / TILE;
        for line in (1..=count).filter(|_| count <= MOST_LINES) {
            let at = (line * TILE) as f64 * f64::from(cells) / all as f64;
            let at = (at * 100.0).round() / 100.0;
            let _ = match is_row {
                true => write!(path, "M0 {at}h{across}"),
                false => write!(path, "M{at} 0v{across}"),
            };
        }
    }
    path
}

fn caption(wrong: &WrongElements, (height, width): (u32, u32), has_lines: bool) -> String {
    let of_one = |all: u64, cells: u32| all == u64::from(cells);
    let each = match (of_one(wrong.rows, height), of_one(wrong.columns, width)) {
        (true, true) => "a square is an element".to_owned(),
        _ => format!(
            "a square is about {} x {} elements",
            wrong.rows.div_ceil(u64::from(height.max(1))),
            wrong.columns.div_ceil(u64::from(width.max(1)))
        ),
    };
    format!(
        "C, wrong elements filled: {each}{}",
        if has_lines { "; lines every 16 rows and columns" } else { "" }
    )
}
