//! Writing: `coordinate real general` (or `pattern`), the shortest decimals that read back as the same f64.
//!
//! Read back, the triples are the same bit for bit, in the same order, duplicates and explicit zeros included;
//! only a NaN loses its payload and sign, for which the format has no words.

use crate::format::{Coo, Csr};
use std::io::{self, BufWriter, Write};

/// Writes the triples in their order.
///
/// # Errors
/// Whatever `out` reports.
pub fn write_matrix_market(matrix: &Coo<f64>, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    start(&mut out, "real", matrix.rows, matrix.cols, matrix.nnz())?;
    for at in 0..matrix.nnz() {
        entry(&mut out, matrix.row_idx[at], matrix.col_idx[at])?;
        value(&mut out, matrix.values[at])?;
    }
    out.flush()
}

/// Writes the stored elements row by row.
///
/// # Errors
/// Whatever `out` reports.
pub fn write_matrix_market_csr(matrix: &Csr<f64>, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    start(&mut out, "real", matrix.rows, matrix.cols, matrix.nnz())?;
    for row in 0..matrix.rows {
        let (cols, values) = matrix.row(row);
        for (&col, &v) in cols.iter().zip(values) {
            entry(&mut out, row as u32, col)?;
            value(&mut out, v)?;
        }
    }
    out.flush()
}

/// Writes the positions only; values of any type are left out.
///
/// # Errors
/// Whatever `out` reports.
pub fn write_matrix_market_pattern<T>(matrix: &Csr<T>, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    start(&mut out, "pattern", matrix.rows, matrix.cols, matrix.nnz())?;
    for row in 0..matrix.rows {
        for &col in matrix.row(row).0 {
            entry(&mut out, row as u32, col)?;
            writeln!(out)?;
        }
    }
    out.flush()
}

fn start(out: &mut impl Write, field: &str, rows: usize, cols: usize, nnz: usize) -> io::Result<()> {
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    writeln!(out, "{rows} {cols} {nnz}")
}

fn entry(out: &mut impl Write, row: u32, col: u32) -> io::Result<()> {
    write!(out, "{} {}", u64::from(row) + 1, u64::from(col) + 1)
}

/// Debug formatting is the shortest round-trip decimal, with an exponent where that is shorter.
fn value(out: &mut impl Write, value: f64) -> io::Result<()> {
    if value.is_nan() { writeln!(out, " nan") } else { writeln!(out, " {value:?}") }
}
