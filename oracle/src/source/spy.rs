//! Spy plots: where the stored elements lie, as text for a terminal or as a self-contained SVG for a report.
//!
//! ```text
//! rows x cols matrix  ->  height x width cells; cell (row * height / rows, column * width / cols) counts an element
//! ```

use crate::format::Csr;
use crate::refusal::{Refusal, RequestError};
use std::fmt::Write as _;

/// Most cells on a side.
pub const SIDE_LIMIT: usize = 4096;

/// Characters for a text plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpyStyle {
    /// One cell per dot, 2 x 4 dots per character: presence only.
    Braille,
    /// One cell per character in five shades.
    Blocks,
    /// One cell per character in five shades, ASCII only.
    Ascii,
}

impl SpyStyle {
    /// Cells per character: (across, down).
    const fn cells(self) -> (usize, usize) {
        match self {
            SpyStyle::Braille => (2, 4),
            SpyStyle::Blocks | SpyStyle::Ascii => (1, 1),
        }
    }
}

/// Elements per cell of a coarse grid laid over a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpyGrid {
    width: usize,
    height: usize,
    counts: Vec<u32>,
}

/// The shades above "empty".
const LEVELS: u32 = 4;

impl SpyGrid {
    /// Counts the elements of `matrix` on a grid of `width` x `height` cells; a matrix with fewer columns (rows) than
    /// that gets one cell per column (row).
    ///
    /// # Errors
    /// A side of 0 or above [`SIDE_LIMIT`].
    pub fn new<T>(matrix: &Csr<T>, width: usize, height: usize) -> Result<Self, Refusal> {
        for (field, side) in [("spy width", width), ("spy height", height)] {
            if side == 0 {
                return Err(RequestError::Zero { field }.into());
            }
            if side > SIDE_LIMIT {
                let (found, limit) = (side as u128, SIDE_LIMIT as u64);
                return Err(RequestError::TooLarge { field, found, limit }.into());
            }
        }
        let (width, height) = (width.min(matrix.cols.max(1)), height.min(matrix.rows.max(1)));
        let mut counts = vec![0; width * height];
        for row in 0..matrix.rows {
            let y = scale(row, height, matrix.rows);
            for &col in matrix.row(row).0 {
                counts[y * width + scale(col as usize, width, matrix.cols)] += 1;
            }
        }
        Ok(SpyGrid { width, height, counts })
    }

    /// Cells across.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Cells down.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Elements in cell (x, y), (0, 0) being the top left one; 0 outside the grid.
    #[must_use]
    pub fn count(&self, x: usize, y: usize) -> u32 {
        if x < self.width && y < self.height { self.counts[y * self.width + x] } else { 0 }
    }

    /// Shade of a cell: 0 is empty, then 1 to [`LEVELS`], in equal steps of the logarithm of `count + 1`; found with
    /// whole numbers, so that a plot is the same on every machine.
    fn level(count: u32, most: u32) -> usize {
        let (count, most) = (u128::from(count) + 1, u128::from(most) + 1);
        let reached = |level: &u32| count.saturating_pow(LEVELS) <= most.saturating_pow(*level);
        (0..LEVELS).find(reached).unwrap_or(LEVELS) as usize
    }

    /// The plot as lines of text, each ended by a line feed, without a frame.
    #[must_use]
    pub fn to_text(&self, style: SpyStyle) -> String {
        let (across, down) = style.cells();
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let mut text = String::new();
        for y in (0..self.height).step_by(down) {
            for x in (0..self.width).step_by(across) {
                let level = || Self::level(self.count(x, y), most);
                text.push(match style {
                    SpyStyle::Braille => self.braille(x, y),
                    SpyStyle::Blocks => [' ', '░', '▒', '▓', '█'][level()],
                    SpyStyle::Ascii => [' ', '.', 'o', 'O', '#'][level()],
                });
            }
            text.push('\n');
        }
        text
    }

    /// Eight cells as one character: the left column is dots 1, 2, 3, 7, the right one 4, 5, 6, 8.
    fn braille(&self, x: usize, y: usize) -> char {
        const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let mut dots = 0;
        for (dx, column) in BITS.iter().enumerate() {
            for (dy, bit) in column.iter().enumerate() {
                if self.count(x + dx, y + dy) > 0 {
                    dots |= bit;
                }
            }
        }
        char::from_u32(0x2800 + dots).unwrap_or(' ')
    }

    /// The plot as an `<svg>` element: one `<path>` per shade, horizontal neighbours of one shade merged. Drawn in
    /// `currentColor`, one user unit per cell; the page sets the size.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let most = self.counts.iter().copied().max().unwrap_or(0);
        let mut paths: [String; LEVELS as usize] = Default::default();
        for (y, row) in self.counts.chunks(self.width).enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|&a, &b| Self::level(a, most) == Self::level(b, most)) {
                let level = Self::level(run[0], most);
                if level > 0 {
                    // Writing to a String cannot fail.
                    let _ = write!(paths[level - 1], "M{x} {y}h{0}v1h-{0}z", run.len());
                }
                x += run.len();
            }
        }
        let (w, h) = (self.width, self.height);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" shape-rendering=\"crispEdges\" \
             fill=\"currentColor\">"
        );
        for (i, path) in paths.iter().enumerate().filter(|(_, p)| !p.is_empty()) {
            let opacity = (i + 1) as f64 / f64::from(LEVELS);
            let _ = write!(svg, "<path fill-opacity=\"{opacity}\" d=\"{path}\"/>");
        }
        svg.push_str("</svg>");
        svg
    }
}

/// A text plot of at most `columns` x `lines` characters.
///
/// # Errors
/// A side of 0, or more cells than [`SIDE_LIMIT`] on a side.
pub fn spy_text<T>(
    matrix: &Csr<T>,
    columns: usize,
    lines: usize,
    style: SpyStyle,
) -> Result<String, Refusal> {
    let (across, down) = style.cells();
    let grid = SpyGrid::new(matrix, columns.saturating_mul(across), lines.saturating_mul(down))?;
    Ok(grid.to_text(style))
}

/// The cell that holds index `i` of `extent`, on a side of `cells`.
fn scale(i: usize, cells: usize, extent: usize) -> usize {
    (i as u64 * cells as u64 / extent as u64) as usize
}
