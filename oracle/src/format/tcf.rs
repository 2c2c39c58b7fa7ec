//! TCF of TC-GNN: CSR, and for each entry its column inside the squeezed 16-row window.

use super::fields::fields;
use super::{Entries, FormatParams};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of a Tcf matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcfParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// `rows + 1` offsets (row pointer).
    pub node_pointer: Vec<u32>,
    /// Column of each entry.
    pub edge_list: Vec<u32>,
    /// Rank of its column among the distinct columns of its window.
    pub edge_to_column: Vec<u32>,
    /// Row of each entry.
    pub edge_to_row: Vec<u32>,
    /// Number of 16 x 8 blocks of each window.
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

/// A valid Tcf matrix. Reads as its [`TcfParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tcf<T>(TcfParts<T>);

impl<T: Scalar> Tcf<T> {
    /// Checks the arrays.
    ///
    /// # Errors
    /// The first defect found.
    pub fn try_new(parts: TcfParts<T>) -> Result<Self, Refusal> {
        let _ = &parts;
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; parameters out of range.
    pub fn from_entries(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        let _ = (entries, params);
        Err(Refusal::Zero { field: "skeleton" })
    }

    /// Decodes.
    pub fn entries(&self) -> Entries<T> {
        Entries {
            rows: self.0.rows,
            cols: self.0.cols,
            list: Vec::new(),
        }
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        0
    }

    /// The parameters that the matrix was encoded with.
    pub fn params(&self) -> FormatParams {
        FormatParams::default()
    }
}

impl<T> Tcf<T> {
    /// The arrays back.
    pub fn into_parts(self) -> TcfParts<T> {
        self.0
    }
}

impl<T> Deref for Tcf<T> {
    type Target = TcfParts<T>;

    fn deref(&self) -> &TcfParts<T> {
        &self.0
    }
}
