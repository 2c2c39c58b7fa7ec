//! TCF of TC-GNN, what its sparse graph translation (SGT) makes: CSR, and of each entry its column inside the squeezed
//! 16-row window.
//!
//! ```text
//! . a . b . . .      node_pointer     0 2 4 (14 more 4) 5     (17 rows: the second window has one row)
//! . . . c . . d      edge_list        1 3   3 6   0           columns
//! (14 empty rows)    edge_to_column   0 1   1 2   0           rank among the columns 1 3 6 of the window; 0 of window 1
//! e . . . . . .      edge_to_row      0 0   1 1   16
//!                    block_partition  1 1                     16 x 8 blocks of each window: ceil(3 / 8), ceil(1 / 8)
//! ```
//!
//! Windows start at multiples of 16. Rank k of a window belongs to its block k / 8, column k % 8. A window without
//! entries has no block; the published code gives one to an empty window, from whatever follows it in memory, and writes an
//! extra one past the end when 16 divides the rows. Entries are in CSR order and explicit zeros are kept. TC-GNN's graphs
//! have no values; they are added here. Everything but the CSR arrays follows from them, and is checked.

use super::check::{SQUEEZED_COLS, check_ascending, check_length, check_offsets, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// Rows of a window and of a block.
pub const HEIGHT: usize = 16;

/// The arrays of a TCF matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows + 1` offsets (row pointer).
    pub node_pointer: Vec<u32>,
    /// Column of each entry, strictly ascending inside a row.
    pub edge_list: Vec<u32>,
    /// Rank of its column among the distinct columns of its window.
    pub edge_to_column: Vec<u32>,
    /// Row of each entry.
    pub edge_to_row: Vec<u32>,
    /// Number of 16 x 8 blocks of each window, `ceil(rows / 16)` of them.
    pub block_partition: Vec<u32>,
    /// One per entry.
    pub values: Vec<T>,
}

fields!(TcfParts {
    rows: Extent,
    cols: Extent,
    node_pointer: U32,
    edge_list: U32,
    edge_to_column: U32,
    edge_to_row: U32,
    block_partition: U32,
    values: Values
});

/// A valid TCF matrix. Reads as its [`TcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tcf<T>(TcfParts<T>);

impl<T: Scalar> Tcf<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found: a dimension or the number of entries past u32, an array length, an offset array that
    /// does not start at 0, decreases or ends elsewhere, columns of a row out of range or not strictly ascending, a row,
    /// a rank or a number of blocks that is not what the columns imply.
    pub fn try_new(parts: TcfParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        check_shape(p.rows, p.cols)?;
        let nnz = p.values.len();
        check_u32("nnz", nnz as u128)?;
        check_offsets("node_pointer", &p.node_pointer, p.rows, nnz)?;
        let of_entries = [
            ("edge_list", &p.edge_list),
            ("edge_to_column", &p.edge_to_column),
            ("edge_to_row", &p.edge_to_row),
        ];
        for (field, array) in of_entries {
            check_length(field, nnz as u128, array.len())?;
        }
        let windows = p.rows.div_ceil(HEIGHT);
        check_length("block_partition", windows as u128, p.block_partition.len())?;
        for row in 0..p.rows {
            let (start, end) = (p.node_pointer[row] as usize, p.node_pointer[row + 1] as usize);
            check_ascending("edge_list", row, start, &p.edge_list[start..end], p.cols)?;
            for at in start..end {
                check_equal("edge_to_row", at, row, p.edge_to_row[at])?;
            }
        }
        for window in 0..windows {
            check_window(p, window)?;
        }
        Ok(Tcf(parts))
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.0.values.len()
    }
}

/// Checks the ranks and the number of blocks of a window against its columns.
fn check_window<T>(p: &TcfParts<T>, window: usize) -> Result<(), EncodingError> {
    let end_row = p.rows.min((window + 1) * HEIGHT);
    let (start, end) = (p.node_pointer[window * HEIGHT], p.node_pointer[end_row]);
    let (start, end) = (start as usize, end as usize);
    let mut columns = p.edge_list[start..end].to_vec();
    columns.sort_unstable();
    columns.dedup();
    for at in start..end {
        let rank = columns.partition_point(|&c| c < p.edge_list[at]);
        check_equal("edge_to_column", at, rank, p.edge_to_column[at])?;
    }
    let blocks = columns.len().div_ceil(SQUEEZED_COLS);
    check_equal("block_partition", window, blocks, p.block_partition[window])
}

fn check_equal(field: &'static str, at: usize, expected: usize, found: u32) -> Result<(), EncodingError> {
    if found as usize == expected {
        return Ok(());
    }
    Err(EncodingError::Unequal { field, at, expected: expected as u64, found: u64::from(found) })
}

impl<T> Tcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> TcfParts<T> {
        self.0
    }

    /// Number of blocks, those of all windows together.
    pub fn blocks(&self) -> u64 {
        self.0.block_partition.iter().map(|&n| u64::from(n)).sum()
    }
}

impl<T> Deref for Tcf<T> {
    type Target = TcfParts<T>;

    fn deref(&self) -> &TcfParts<T> {
        &self.0
    }
}
