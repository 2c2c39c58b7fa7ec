//! Operands read in another way than they are stored.
//!
//! ```text
//! b00 b01 b02  x  x      row-major, ldb = 5: the next row begins 5 elements on, and x is NaN that nobody may read
//! b10 b11 b12  x  x
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::offset;
use super::super::edit::{gathered, plain as is_plain, rebuilt};
use super::{scaled, spmm};
use sparse_conformance_core::case::Case;
use sparse_oracle::format::{AnySparse, Layout};
use sparse_oracle::task::DenseRef;

const F: Family = Family::Operands;

fn right(case: &Case) -> bool {
    spmm(case) && scaled(case)
}

fn turned(case: &Case) -> bool {
    scaled(case) && case.params.transpose_a && is_plain(case.contract.format)
}

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "B: next column",
        "column j of C is computed from column j + 1 of B",
        right,
        Effect::Right(|b| moved(b, 0, 1)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: next row",
        "the row of B is one too far down",
        right,
        Effect::Right(|b| moved(b, 1, 0)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: leading dimension ignored",
        "rows are read n apart, whatever ldb is",
        |c| right(c) && c.params.pad_b > 0,
        Effect::Right(|b| {
            let inner = if b.layout == Layout::RowMajor { b.cols } else { b.rows };
            gathered(b, |i, j| offset(b.layout, inner, i, j))
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: padding read",
        "the last vector of a row is loaded from the padding",
        |c| right(c) && c.params.pad_b > 0,
        Effect::Right(|b| {
            let last = if b.layout == Layout::RowMajor { b.cols } else { b.rows };
            gathered(b, |i, j| {
                let inner = if b.layout == Layout::RowMajor { j } else { i };
                offset(b.layout, b.ld, i, j) + usize::from(inner + 1 == last && b.ld > last)
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: layout ignored",
        "a column-major B is read by rows",
        |c| right(c) && c.params.layout_b == Layout::ColMajor,
        Effect::Right(|b| gathered(b, |i, j| i * b.ld + j)),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: transpose ignored",
        "B^T is read as B",
        |c| right(c) && c.params.transpose_b,
        Effect::Right(|b| {
            gathered(b, |i, j| {
                // Element (j, i) of B^T read as if the array were stored n x k.
                let (rows, cols) = if b.layout == Layout::RowMajor { (b.rows, b.ld) } else { (b.ld, b.cols) };
                if j < rows && i < cols { offset(b.layout, b.ld, j, i) } else { usize::MAX }
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: one column for all",
        "the column of B is not advanced",
        |c| right(c) && c.params.n > 1,
        Effect::Right(|b| gathered(b, |i, _| offset(b.layout, b.ld, i, 0))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "B: last row never read",
        "B is loaded up to k - 1, and the rest is zero",
        right,
        Effect::Right(|b| {
            let mut bits = gathered(b, |i, j| offset(b.layout, b.ld, i, j));
            let last = b.rows.saturating_sub(1);
            (0..b.cols).filter(|_| b.rows > 0).for_each(|j| bits[offset(b.layout, b.ld, last, j)] = 0);
            bits
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "A: transpose ignored",
        "A^T is read as A",
        turned,
        Effect::Left(transpose_ignored),
        &[VALUE],
    ),
    Bug::new(
        F,
        "A: values of the wrong entry",
        "values are read one entry on, columns are not",
        |c| scaled(c) && is_plain(c.contract.format),
        Effect::Left(|a, _| {
            rebuilt(a, |list, _| {
                let first = list.first().map(|e| e.value);
                for i in 1..list.len() {
                    list[i - 1].value = list[i].value;
                }
                if let (Some(last), Some(first)) = (list.last_mut(), first) {
                    last.value = first;
                }
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "A: columns counted from 1",
        "Fortran indices are taken for C's",
        |c| scaled(c) && is_plain(c.contract.format),
        Effect::Left(|a, _| {
            rebuilt(a, |list, (_, cols)| {
                list.retain(|e| (e.col as usize) + 1 < cols);
                list.iter_mut().for_each(|e| e.col += 1);
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "A: only the lower triangle",
        "a symmetric solver's loop is reused",
        |c| scaled(c) && is_plain(c.contract.format),
        Effect::Left(|a, _| rebuilt(a, |list, _| list.retain(|e| e.col <= e.row))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "A: values taken for 1",
        "a pattern kernel ignores the values",
        |c| scaled(c) && is_plain(c.contract.format),
        Effect::Left(|a, _| {
            let one = sparse_oracle::scalar::encode(
                1.0,
                a.precision(),
                sparse_oracle::scalar::Rounding::NearestEven,
            );
            rebuilt(a, |list, _| list.iter_mut().for_each(|e| e.value = one))
        }),
        &[VALUE],
    ),
];

/// Every element from `rows` further down and `cols` further right, the last ones from where they are.
fn moved(b: &DenseRef<'_>, rows: usize, cols: usize) -> Vec<u64> {
    let last = (b.rows.saturating_sub(1), b.cols.saturating_sub(1));
    gathered(b, |i, j| offset(b.layout, b.ld, (i + rows).min(last.0), (j + cols).min(last.1)))
}

/// What a kernel sees that reads A where it should read its transpose: of the stored entries, those that lie in the
/// transposed shape.
fn transpose_ignored(a: &AnySparse, transposed: bool) -> Result<AnySparse, String> {
    rebuilt(a, |list, (rows, cols)| {
        if transposed {
            list.retain(|e| (e.row as usize) < cols && (e.col as usize) < rows);
            list.iter_mut().for_each(|e| (e.row, e.col) = (e.col, e.row));
        }
    })
}
