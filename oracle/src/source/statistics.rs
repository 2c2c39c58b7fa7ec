//! The shape of a sparsity pattern in a few numbers.

use crate::format::Csr;

/// Row lengths, emptiness, spread. Counts are of stored elements, explicit zeros included.
#[derive(Clone, Debug, PartialEq)]
pub struct RowStatistics {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Stored elements.
    pub nnz: usize,
    /// Elements of the shortest row; 0 without rows.
    pub min: usize,
    /// Elements of the longest row; 0 without rows.
    pub max: usize,
    /// Mean elements per row; 0 without rows.
    pub mean: f64,
    /// Population standard deviation of the elements per row; 0 without rows.
    pub std: f64,
    /// Elements of the fullest column; 0 without columns.
    pub col_max: usize,
    /// Rows without elements.
    pub empty_rows: usize,
    /// Columns without elements.
    pub empty_cols: usize,
    /// Largest `|row - column|` of an element; 0 without elements.
    pub bandwidth: usize,
    /// `nnz / (rows * cols)`; 0 for a matrix without positions.
    pub density: f64,
}

impl RowStatistics {
    /// Counts. Memory and time depend on rows and nnz, never on the number of columns.
    pub fn of<T>(matrix: &Csr<T>) -> Self {
        let lengths = || matrix.row_ptr.windows(2).map(|w| (w[1] - w[0]) as usize);
        let (rows, cols, nnz) = (matrix.rows, matrix.cols, matrix.nnz());
        let squares: u128 = lengths().map(|l| (l as u128).pow(2)).sum();
        let (used_cols, col_max) = columns(&matrix.col_idx);
        RowStatistics {
            rows,
            cols,
            nnz,
            min: lengths().min().unwrap_or(0),
            max: lengths().max().unwrap_or(0),
            mean: ratio(nnz as f64, rows as f64),
            std: deviation(rows as u128, nnz as u128, squares),
            col_max,
            empty_rows: lengths().filter(|&l| l == 0).count(),
            empty_cols: cols - used_cols,
            bandwidth: bandwidth(matrix),
            density: ratio(nnz as f64, rows as f64 * cols as f64),
        }
    }
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// sqrt(n * sum of squares - (sum)^2) / n: whole numbers until the root, so nothing cancels.
fn deviation(n: u128, sum: u128, squares: u128) -> f64 {
    ratio(((n * squares - sum * sum) as f64).sqrt(), n as f64)
}

/// Distinct columns, and the most elements in one of them.
fn columns(col_idx: &[u32]) -> (usize, usize) {
    let mut sorted = col_idx.to_vec();
    sorted.sort_unstable();
    let runs = || sorted.chunk_by(|a, b| a == b);
    (runs().count(), runs().map(<[u32]>::len).max().unwrap_or(0))
}

fn bandwidth<T>(matrix: &Csr<T>) -> usize {
    let of_row = |row: usize| matrix.row(row).0.iter().map(move |&col| row.abs_diff(col as usize));
    (0..matrix.rows).flat_map(of_row).max().unwrap_or(0)
}
