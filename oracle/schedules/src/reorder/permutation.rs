//! Orders of the rows of a matrix, applied and undone.
//!
//! ```text
//! order 2 0 1      row 0 of the result is row 2 of the matrix, row 1 is row 0, row 2 is row 1
//! inverse 1 2 0    undoes it
//! ```

use sparse_oracle::format::{Csr, CsrParts, Dense, Entries, Entry};
use sparse_oracle::refusal::{EncodingError, Refusal, RequestError, check_u32};

/// Every row of a matrix once: element `i` is the row that comes to place `i`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permutation(Vec<u32>);

impl Permutation {
    /// Checks that each row below the length occurs once.
    ///
    /// # Errors
    /// More rows than u32 counts, a row out of range, a row that occurs again.
    pub fn try_new(order: Vec<u32>) -> Result<Permutation, Refusal> {
        check_u32("rows", order.len() as u128)?;
        let mut seen = vec![false; order.len()];
        for (at, &row) in order.iter().enumerate() {
            let Some(seen) = seen.get_mut(row as usize) else {
                return Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
                    field: "order",
                    at,
                    row: at,
                    found: u64::from(row),
                    limit: order.len() as u64,
                }));
            };
            if std::mem::replace(seen, true) {
                return Err(Refusal::Request(RequestError::Parameter {
                    field: "a row of order",
                    expected: "one that has not occurred before",
                    found: u64::from(row),
                }));
            }
        }
        Ok(Permutation(order))
    }

    /// An order that is one by construction.
    pub(super) fn trusted(order: Vec<u32>) -> Permutation {
        Permutation(order)
    }

    /// The order that changes nothing.
    #[must_use]
    pub fn identity(rows: u32) -> Permutation {
        Permutation((0..rows).collect())
    }

    /// The rows in their new order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.0
    }

    /// The order that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Permutation {
        let mut places = vec![0; self.0.len()];
        for (place, &row) in self.0.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        Permutation(places)
    }

    /// The rows of `entries` in this order.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn entries<T: Copy>(&self, entries: &Entries<T>) -> Result<Entries<T>, Refusal> {
        self.check_rows(entries.rows)?;
        let places = self.inverse();
        let moved = entries.list.iter().map(|e| Entry { row: places.0[e.row as usize], ..*e });
        Ok(Entries::sorted(entries.rows, entries.cols, &moved.collect::<Vec<_>>()))
    }

    /// The rows of `matrix` in this order.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn csr<T: Clone>(&self, matrix: &Csr<T>) -> Result<Csr<T>, Refusal> {
        self.check_rows(matrix.rows)?;
        let mut parts = CsrParts {
            rows: matrix.rows,
            cols: matrix.cols,
            row_ptr: vec![0],
            col_idx: Vec::with_capacity(matrix.nnz()),
            values: Vec::with_capacity(matrix.nnz()),
        };
        for &row in &self.0 {
            let (cols, values) = matrix.row(row as usize);
            parts.col_idx.extend_from_slice(cols);
            parts.values.extend_from_slice(values);
            parts.row_ptr.push(parts.col_idx.len() as u32);
        }
        Csr::try_new(parts)
    }

    /// The rows of a dense matrix in this order, compact and row-major.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn dense<T: Copy>(&self, matrix: &Dense<T>) -> Result<Dense<T>, Refusal> {
        self.check_rows(matrix.rows())?;
        let at = |i: usize, j: usize| matrix.at(self.0[i] as usize, j);
        Ok(Dense::from_fn(matrix.rows(), matrix.cols(), at))
    }

    fn check_rows(&self, rows: usize) -> Result<(), Refusal> {
        if rows == self.0.len() {
            return Ok(());
        }
        Err(Refusal::Request(RequestError::Shape {
            left_name: "rows of the matrix",
            left: rows,
            right_name: "rows of the order",
            right: self.0.len(),
        }))
    }
}
