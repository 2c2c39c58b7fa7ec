//! Pictures of the blocks of a format, as small grids: where blocks are dense, and what goes beside them.
//!
//! ```text
//! plane     cells of the matrix: the mean density of the blocks that its entries went to, or "beside" for most
//! squeezed  one line per window (several, when there are many): its blocks from left to right, by density
//! ```
//!
//! Densities are classes, each twice as dense as the one before, so that a picture is a few paths.

use super::blocks::Blocks;
use super::variant::Variant;
use sparse_oracle::format::{FormatKind, Sparse};

/// Fewest cells across of a squeezed picture, so that one block looks like one.
const BLOCKS: usize = 8;

/// Most cells on a side.
pub const SIDE: usize = 128;

/// Density classes 1 to 5, by their lower bounds: 1 has none, then 1/16, 1/8, 1/4, 1/2.
pub const CLASSES: [(u8, &str); 5] =
    [(1, "below 1/16"), (2, "from 1/16"), (3, "from 1/8"), (4, "from 1/4"), (5, "from 1/2")];

/// The class of cells whose entries are mostly beside the blocks.
pub const BESIDE: u8 = 6;

/// The blocks of one format.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The format.
    pub kind: FormatKind,
    /// Shape of a block: rows, columns.
    pub block: (usize, usize),
    /// Shape of the matrix: rows, columns.
    pub shape: (usize, usize),
    /// Over the matrix.
    pub plane: Grid,
    /// Windows down, blocks of a window across.
    pub squeezed: Grid,
    /// Most blocks of a window.
    pub longest: usize,
    /// Of each line of `squeezed`, the share of its entries that are beside the blocks.
    pub beside: Vec<f64>,
}

/// Classes by cell, row-major; 0 is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Cells across.
    pub width: usize,
    /// Cells down.
    pub height: usize,
    /// `width * height` classes.
    pub cells: Vec<u8>,
}

/// Sum and number of the densities that fall into one cell, and entries beside.
#[derive(Clone, Copy, Default)]
struct Cell {
    sum: f64,
    count: u32,
    beside: u32,
}

impl Cell {
    fn class(self) -> u8 {
        if self.beside > self.count {
            return BESIDE;
        }
        if self.count == 0 {
            return 0;
        }
        let density = self.sum / f64::from(self.count);
        let reached = [1.0 / 16.0, 0.125, 0.25, 0.5].iter().filter(|bound| density >= **bound);
        1 + reached.count() as u8
    }
}

/// Draws the blocks of a matrix; `None` for formats without bitmaps and matrices without entries.
pub fn draw<T>(matrix: &Sparse<T>, variant: Variant) -> Option<Map> {
    let blocks = Blocks::of(matrix)?;
    let shape = matrix.shape();
    let longest = blocks.iter().map(|block| block.place + 1).max().unwrap_or(0);
    if longest == 0 && blocks.rest().is_empty() {
        return None;
    }
    let width = blocks.iter().next().map_or(0, |block| block.columns.len());
    let mut plane = Canvas::new(shape.1, shape.0, 1);
    let mut squeezed = Canvas::new(longest.max(BLOCKS), shape.0, blocks.height);
    let mut beside = vec![(0u64, 0u64); squeezed.height];
    for block in blocks.iter() {
        let density = block.density(blocks.height);
        squeezed.add(block.place, block.first_row, density);
        beside[squeezed.line(block.first_row)].1 += u64::from(block.entries());
        for (row, col) in block.positions() {
            plane.add(col, row, density);
        }
    }
    for &(row, col) in blocks.rest() {
        let (row, col) = (row as usize, col as usize);
        let at = plane.at(col, row);
        plane.cells[at].beside += 1;
        let line = &mut beside[squeezed.line(row)];
        *line = (line.0 + 1, line.1 + 1);
    }
    Some(Map {
        kind: variant.kind,
        block: (blocks.height, width),
        shape,
        plane: plane.grid(),
        squeezed: squeezed.grid(),
        longest,
        beside: beside.iter().map(|&(part, whole)| part as f64 / whole.max(1) as f64).collect(),
    })
}

/// A grid laid over `across` x `down` places, at most [`SIDE`] cells on a side.
struct Canvas {
    across: usize,
    down: usize,
    width: usize,
    height: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    /// One cell per place across and per `step` places down, fewer when there are many.
    fn new(across: usize, down: usize, step: usize) -> Canvas {
        let (width, height) = (across.clamp(1, SIDE), down.div_ceil(step).clamp(1, SIDE));
        Canvas {
            across,
            down: down.div_ceil(step) * step,
            width,
            height,
            cells: vec![Cell::default(); width * height],
        }
    }

    fn line(&self, row: usize) -> usize {
        row * self.height / self.down
    }

    fn at(&self, x: usize, y: usize) -> usize {
        self.line(y) * self.width + x * self.width / self.across
    }

    fn add(&mut self, x: usize, y: usize, density: f64) {
        let at = self.at(x, y);
        self.cells[at].sum += density;
        self.cells[at].count += 1;
    }

    fn grid(&self) -> Grid {
        Grid {
            width: self.width,
            height: self.height,
            cells: self.cells.iter().map(|cell| cell.class()).collect(),
        }
    }
}

impl Grid {
    /// One path per class, horizontal neighbours merged: class and path data, one unit per cell.
    #[must_use]
    pub fn paths(&self) -> Vec<(u8, String)> {
        let mut paths: Vec<(u8, String)> = (1..=BESIDE).map(|class| (class, String::new())).collect();
        for (y, line) in self.cells.chunks(self.width).enumerate() {
            let mut x = 0;
            for run in line.chunk_by(|a, b| a == b) {
                if let Some(index) = usize::from(run[0]).checked_sub(1) {
                    paths[index].1 += &format!("M{x} {y}h{0}v1h-{0}z", run.len());
                }
                x += run.len();
            }
        }
        paths.retain(|(_, path)| !path.is_empty());
        paths
    }
}
