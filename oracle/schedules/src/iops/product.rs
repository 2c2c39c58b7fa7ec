//! What an IOPS machine computes, bit for bit: sparse times sparse from tiles of both, sparse times dense from tiles of A.
//!
//! ```text
//! c(i, j) = +0;  for each term of (i, j), k ascending:  c = c + round(a * b)          two roundings, never fused
//! ```
//!
//! A later k tile, or a buffer filled again after it was mapped, goes on with the sums that are there. So whatever the
//! tiles, groups and buffers are, an element is one ascending chain from +0, and has the same bits.

use super::psums::terms;
use super::tiles::Tiling;
use sparse_oracle::format::{CpCsr, Dense, Entries, Entry, Layout, RpCsc, SLOT_LIMIT};
use sparse_oracle::model::chain::Unit;
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{Limit, Refusal, RequestError};
use sparse_oracle::scalar::{Precision, Scalar};
use std::collections::BTreeMap;

/// The unit of the processing elements.
fn unit<T: Scalar>() -> Result<Unit, Refusal> {
    let precision = T::PRECISION;
    if matches!(precision, Precision::F64 | Precision::F32) {
        return Ok(Unit { precision });
    }
    Err(Refusal::Request(RequestError::Kind {
        field: "element type",
        expected: "f64 or f32".to_owned(),
        found: precision.to_string(),
    }))
}

fn check_inner(
    (left_name, left): (&'static str, usize),
    (right_name, right): (&'static str, usize),
) -> Result<(), Refusal> {
    if left == right {
        return Ok(());
    }
    Err(RequestError::Shape { left_name, left, right_name, right }.into())
}

/// A * B, both sparse. An element that is a sum of anything is stored, also where it cancels to zero. `psum` is the
/// capacity of one processing element's buffer; none means as many as there are.
///
/// # Errors
/// Element types other than f64 and f32; columns and rows, or k tiles, that do not fit together; a buffer of no psums.
pub fn ssmm<T: Scalar>(
    a: &Tiling<RpCsc<T>>,
    b: &Tiling<CpCsr<T>>,
    psum: Option<usize>,
) -> Result<Entries<T>, Refusal> {
    let unit = unit::<T>()?;
    check_inner(("columns of A", a.cols), ("rows of B", b.rows))?;
    check_inner(("columns of a tile of A", a.tile_cols), ("rows of a tile of B", b.tile_rows))?;
    let mut sums = BTreeMap::<(u32, u32), f64>::new();
    // Tiles of A come by row, then k; so every output tile sees its k tiles in ascending order.
    for left in &a.tiles {
        for right in b.tiles.iter().filter(|right| right.row == left.col) {
            for (row, terms) in terms(&left.matrix, &right.matrix, psum)? {
                for term in terms {
                    let at = (left.row as u32 + row, right.col as u32 + term.column);
                    let sum = sums.entry(at).or_insert(0.0);
                    *sum = unit.add(*sum, unit.mul(term.a.to_f64(), term.b.to_f64()));
                }
            }
        }
    }
    let list = sums.into_iter().map(|((row, col), sum)| Entry { row, col, value: T::from_f64(sum) });
    Ok(Entries { rows: a.rows, cols: b.cols, list: list.collect() })
}

/// A * B with a dense B: only A is encoded, psums are dense and stay where they are. Row-major, `ld = cols`.
///
/// # Errors
/// Element types other than f64 and f32; columns of A that are not the rows of B; a result of more than
/// [`SLOT_LIMIT`] elements.
pub fn sdmm<T: Scalar>(a: &Tiling<RpCsc<T>>, b: &Dense<T>) -> Result<Dense<T>, Refusal> {
    let unit = unit::<T>()?;
    check_inner(("columns of A", a.cols), ("rows of B", b.rows()))?;
    let cols = b.cols();
    let elements = a.rows as u128 * cols as u128;
    if elements > u128::from(SLOT_LIMIT) {
        return Err(Limit { field: "elements of C", found: elements, limit: SLOT_LIMIT }.into());
    }
    let mut sums = vec![0.0; elements as usize];
    for tile in &a.tiles {
        // Decoded entries of one row come by ascending column, and so do the tiles of a row.
        for e in tile.matrix.entries().list {
            let (row, k) = (tile.row + e.row as usize, tile.col + e.col as usize);
            for col in 0..cols {
                let sum: &mut f64 = &mut sums[row * cols + col];
                *sum = unit.add(*sum, unit.mul(e.value.to_f64(), b.at(k, col).to_f64()));
            }
        }
    }
    let data = sums.into_iter().map(T::from_f64);
    Dense::try_new(a.rows, cols, cols, Layout::RowMajor, data.collect())
}
