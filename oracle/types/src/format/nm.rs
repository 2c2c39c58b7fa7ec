//! N:M of vectors: of every `m` row vectors of length `l`, `n` are kept (NM-SpMM, section II-A).
//!
//! ```text
//! 6 x 4, n = 2, m = 4, l = 2       index (D)    values (B')     slots of w = 4 rows
//!  a . | . .     window (0, 0)      0  1         a . | . b
//!  . . | . b     keeps rows 0, 3    3  2         c d | e .
//!  . . | e .                       ------       -----------
//!  c d | . .                        0  0         . . | f g
//!  ----+----     window (1, 0)      1  1         h . | . .
//!  . . | f g     keeps rows 0, 1
//!  h . | . .     (rows 6 and 7 do not exist)
//! ```
//!
//! Rows are cut into windows of `m`, columns into groups of `l`, both padded up. A vector is stored if it holds an
//! entry, an explicit zero included. A window that stores more than `n` is refused: pruning decides what to drop,
//! encoding does not. One that stores fewer is filled up with its lowest unused rows, so that `index` ascends in every
//! window and a matrix has one encoding. Rows past the end are named only where the window has fewer than `n` real ones.
//!
//! A slot without an entry is +0.0, so an explicit +0.0 cannot be told from a pad (SEMANTICS section 2).

use super::check::{check_length, check_shape};
use super::fields::fields;
use crate::refusal::{EncodingError, Refusal, RequestError, check_u32};
use crate::scalar::Scalar;
use std::ops::Deref;

/// The arrays of an N:M matrix, unchecked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NmParts<T> {
    /// Number of rows (k of the paper).
    pub rows: usize,
    /// Number of columns (n of the paper).
    pub cols: usize,
    /// Vectors kept in a window, at most `m`.
    pub n: usize,
    /// Rows of a window.
    pub m: usize,
    /// Columns of a group: the length of a vector.
    pub l: usize,
    /// D: `w * ceil(cols / l)` row offsets inside the window, row-major, `w = ceil(rows / m) * n`.
    pub index: Vec<u32>,
    /// B': `w * ceil(cols / l) * l` values, row-major.
    pub values: Vec<T>,
}

fields!(NmParts { rows: Extent, cols: Extent, n: Extent, m: Extent, l: Extent, index: U32, values: Values });

/// A valid N:M matrix. Reads as its [`NmParts`].
#[derive(Clone, Debug, PartialEq)]
pub struct Nm<T>(NmParts<T>);

/// How a matrix is cut into windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Number of groups of columns.
    pub groups: u128,
    /// Elements of `index`.
    pub vectors: u128,
    /// Elements of `values`.
    pub slots: u128,
}

impl Windows {
    /// Checks the shape of the matrix and of its windows.
    pub fn try_new((rows, cols): (usize, usize), n: usize, m: usize, l: usize) -> Result<Self, Refusal> {
        check_shape(rows, cols)?;
        for (field, extent) in [("n", n), ("m", m), ("l", l)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
            check_u32(field, extent as u128)?;
        }
        if n > m {
            return Err(RequestError::TooLarge { field: "n", found: n as u128, limit: m as u64 }.into());
        }
        let (down, groups) = (rows.div_ceil(m) as u128, cols.div_ceil(l) as u128);
        let vectors = down * n as u128 * groups;
        Ok(Windows { groups, vectors, slots: vectors * l as u128 })
    }
}

impl<T: Scalar> Nm<T> {
    /// Checks the arrays. Offsets in refusals count elements of the array, rows count rows of the matrix.
    ///
    /// # Errors
    /// The first defect found: a dimension, a parameter or the number of slots past u32, a parameter of 0, `n` above
    /// `m`, an array length, a row offset that is not below `m` or not above its predecessor in the window, a slot
    /// outside the matrix that is not +0.0.
    pub fn try_new(parts: NmParts<T>) -> Result<Self, Refusal> {
        let p = &parts;
        let windows = Windows::try_new((p.rows, p.cols), p.n, p.m, p.l)?;
        check_u32("slots", windows.slots)?;
        check_length("index", windows.vectors, p.index.len())?;
        check_length("values", windows.slots, p.values.len())?;
        for at in 0..p.index.len() {
            check_vector(p, windows.groups as usize, at)?;
        }
        Ok(Nm(parts))
    }

    /// Number of entries: slots that are not bitwise +0.0.
    pub fn nnz(&self) -> usize {
        self.0.values.iter().filter(|v| !v.is_positive_zero()).count()
    }
}

/// Checks the vector whose row offset is element `at` of `index`.
fn check_vector<T: Scalar>(p: &NmParts<T>, groups: usize, at: usize) -> Result<(), EncodingError> {
    let (u, group) = (at / groups, at % groups);
    let first_row = u / p.n * p.m;
    let offset = p.index[at] as usize;
    let (row, found) = (first_row + offset, offset as u64);
    if offset >= p.m {
        return Err(EncodingError::IndexOutOfRange {
            field: "index",
            at,
            row: first_row,
            found,
            limit: p.m as u64,
        });
    }
    if u % p.n > 0 && p.index[at - groups] as usize >= offset {
        let previous = p.index[at - groups];
        return Err(if previous as usize == offset {
            EncodingError::Duplicate { field: "index", at, row, column: group * p.l }
        } else {
            EncodingError::Unsorted {
                field: "index",
                at,
                row: first_row,
                previous: u64::from(previous),
                found,
            }
        });
    }
    for c in 0..p.l {
        let outside = row >= p.rows || group * p.l + c >= p.cols;
        if outside && !p.values[at * p.l + c].is_positive_zero() {
            return Err(EncodingError::DirtyPad { field: "values", at: at * p.l + c, row });
        }
    }
    Ok(())
}

impl<T> Nm<T> {
    /// The arrays back.
    pub fn into_parts(self) -> NmParts<T> {
        self.0
    }

    /// The row of the matrix that row `u` of B' is in column group `group`: `floor(u / n) * m + D[u][group]`. It may be
    /// past the end; B' is +0.0 there.
    ///
    /// Equation (1) prints `u * m / n` for the first summand, which is another row wherever `n` does not divide `u`
    /// (SEMANTICS section 10).
    pub fn row(&self, u: usize, group: usize) -> usize {
        let groups = self.0.cols.div_ceil(self.0.l);
        u / self.0.n * self.0.m + self.0.index[u * groups + group] as usize
    }
}

impl<T> Deref for Nm<T> {
    type Target = NmParts<T>;

    fn deref(&self) -> &NmParts<T> {
        &self.0
    }
}
