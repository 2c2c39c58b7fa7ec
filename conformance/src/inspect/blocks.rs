//! The blocks of bitmap formats, one after the other, and the entries beside them.

use sparse_oracle::format::{PAD, Sparse};

/// One block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block<'a> {
    /// Number of its window.
    pub window: usize,
    /// Its place among the blocks of the window.
    pub place: usize,
    /// First row of the window.
    pub first_row: usize,
    /// Its columns, `PAD` for those that are free.
    pub columns: &'a [u32],
    /// Bit `columns.len() * r + c` says that (r, c) is stored.
    pub bits: u128,
}

impl Block<'_> {
    /// Entries.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.bits.count_ones()
    }

    /// Entries over positions, for a block of `height` rows.
    #[must_use]
    pub fn density(&self, height: usize) -> f64 {
        f64::from(self.entries()) / (height * self.columns.len()) as f64
    }

    /// Row and column of each entry.
    pub fn positions(&self) -> impl Iterator<Item = (usize, usize)> {
        let width = self.columns.len();
        let (first_row, columns, bits) = (self.first_row, self.columns, self.bits);
        let set = (0..128).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| (first_row + bit / width, columns[bit % width] as usize))
    }
}

/// The blocks of a matrix and its entries outside of them.
#[derive(Debug)]
pub struct Blocks<'a> {
    /// Rows of a window.
    pub height: usize,
    /// Number of windows, also of those without blocks.
    pub windows: usize,
    first_rows: Option<&'a [u32]>,
    offsets: &'a [u32],
    columns: &'a [u32],
    width: usize,
    bitmap: &'a [u64],
    rest: Vec<(u32, u32)>,
}

impl<'a> Blocks<'a> {
    /// The blocks; `None` for formats without bitmaps.
    pub fn of<T>(matrix: &'a Sparse<T>) -> Option<Blocks<'a>> {
        let aligned = |offsets, columns, width, bitmap, rest| Blocks {
            height: 8,
            windows: <[u32]>::len(offsets) - 1,
            first_rows: None,
            offsets,
            columns,
            width,
            bitmap,
            rest,
        };
        Some(match matrix {
            Sparse::BitTcf(m) => {
                aligned(&m.row_window_offset, &m.sparse_a_to_b, 8, &m.tc_local_bit, Vec::new())
            }
            Sparse::LibraSpmm(m) => {
                let rest = csr(&m.row_ptr, &m.col_idx);
                aligned(&m.window_block_ptr, &m.block_col, m.kb, &m.bitmap, rest)
            }
            Sparse::LibraSddmm(m) => {
                let rest = csr(&m.row_ptr, &m.col_idx);
                aligned(&m.window_block_ptr, &m.block_col, 16, &m.bitmap, rest)
            }
            Sparse::RsTile(m) => {
                let lanes = m.residual_col.chunks(m.residual_width.max(1));
                let lane = |(&row, lane): (&u32, &'a [u32])| lane.iter().map(move |&col| (row, col));
                let slots = m.residual_row.iter().zip(lanes).flat_map(lane);
                Blocks {
                    first_rows: Some(&m.window_row),
                    ..aligned(
                        &m.window_block_ptr,
                        &m.block_col,
                        8,
                        &m.bitmap,
                        slots.filter(|&(_, col)| col != PAD).collect(),
                    )
                }
            }
            _ => return None,
        })
    }

    /// Row and column of the entries outside of all blocks.
    #[must_use]
    pub fn rest(&self) -> &[(u32, u32)] {
        &self.rest
    }

    /// Every block, window by window.
    pub fn iter(&self) -> impl Iterator<Item = Block<'a>> {
        let (height, width, columns, offsets) = (self.height, self.width, self.columns, self.offsets);
        let (first_rows, bitmap) = (self.first_rows, self.bitmap);
        (0..self.windows).flat_map(move |window| {
            let first = offsets[window] as usize;
            (first..offsets[window + 1] as usize).map(move |block| Block {
                window,
                place: block - first,
                first_row: first_rows.map_or(window * height, |rows| rows[window] as usize),
                columns: &columns[block * width..(block + 1) * width],
                bits: word(bitmap, block, height * width),
            })
        })
    }

    /// First row of a window.
    #[must_use]
    pub fn first_row(&self, window: usize) -> usize {
        self.first_rows.map_or(window * self.height, |rows| rows[window] as usize)
    }
}

/// The bits of one block, whose words are two if it has 128 positions.
fn word(bitmap: &[u64], block: usize, positions: usize) -> u128 {
    if positions > 64 {
        u128::from(bitmap[2 * block]) | u128::from(bitmap[2 * block + 1]) << 64
    } else {
        u128::from(bitmap[block])
    }
}

/// Positions of a CSR pattern.
fn csr(row_ptr: &[u32], col_idx: &[u32]) -> Vec<(u32, u32)> {
    let mut list = Vec::with_capacity(col_idx.len());
    for (row, ends) in row_ptr.windows(2).enumerate() {
        let columns = &col_idx[ends[0] as usize..ends[1] as usize];
        list.extend(columns.iter().map(|&col| (row as u32, col)));
    }
    list
}
