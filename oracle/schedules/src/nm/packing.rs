//! Offline preprocessing for high sparsity (section III-C1, figure 4): which columns of A a block needs, and D re-indexed
//! into them.
//!
//! ```text
//! n = 1, m = 4, l = 1, k_s = 8, n_s = 2        D         columns    col_info    D re-indexed
//!                                              3  3  0   3  3  0    3 6 | 0 5   0  0 | 0
//! blocks of w_s = 2 by q_s = 2                 2  2  1   6  6  5                1  1 | 1
//! ```
//!
//! `col_info` of a block (k-block by column block) is the ascending set of the columns of A that its rows of B' meet, as
//! columns of the whole matrix; those past the last column of A stand for zeros. The re-indexed D is laid out block by
//! block, each block `w_s` x `q_s` row-major (less at the edges), blocks in row-major order, so that a block is one piece of
//! memory. Nothing else changes: the value in row `u` of B' meets the same column of A.

use super::blocking::check_groups;
use sparse_oracle::format::Nm;
use sparse_oracle::format::nm::Windows;
use sparse_oracle::refusal::{EncodingError, Refusal, RequestError, check_u32};
use std::collections::BTreeSet;
use std::ops::{Deref, Range};

/// The arrays of a packing, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackingParts {
    /// Rows of B (k).
    pub rows: usize,
    /// Columns of B (n).
    pub cols: usize,
    /// Vectors kept in a window.
    pub n: usize,
    /// Rows of a window.
    pub m: usize,
    /// Columns of a group.
    pub l: usize,
    /// Rows of B in a k-block, a multiple of `m`.
    pub k_s: usize,
    /// Columns of B in a column block, a multiple of `l`.
    pub n_s: usize,
    /// One offset into `col_info` per block, blocks in row-major order, and its length.
    pub col_ptr: Vec<u32>,
    /// Columns of A that each block uses, ascending inside a block.
    pub col_info: Vec<u32>,
    /// D, block by block: where in the `col_info` of the block each column stands.
    pub index: Vec<u32>,
}

/// A valid packing. Reads as its [`PackingParts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing(PackingParts);

impl PackingParts {
    /// Rows of B' and groups of columns.
    fn extents(&self) -> (usize, usize) {
        (self.rows.div_ceil(self.m) * self.n, self.cols.div_ceil(self.l))
    }

    /// Blocks down and across.
    fn grid(&self) -> (usize, usize) {
        let windows = self.rows.div_ceil(self.m);
        (windows.div_ceil(self.k_s / self.m), self.cols.div_ceil(self.n_s))
    }

    /// The rows of B' and the groups of columns of a block.
    fn block(&self, block: usize) -> (Range<usize>, Range<usize>) {
        let (w, q) = self.extents();
        let (w_s, q_s) = (self.k_s / self.m * self.n, self.n_s / self.l);
        let (i, j) = (block / self.grid().1, block % self.grid().1);
        (i * w_s..w.min((i + 1) * w_s), j * q_s..q.min((j + 1) * q_s))
    }

    /// The block that row `u` of B' and a group of columns lie in, and the element of `index` that says what they meet.
    fn place(&self, u: usize, group: usize) -> (usize, usize) {
        let (w_s, q_s) = (self.k_s / self.m * self.n, self.n_s / self.l);
        let block = u / w_s * self.grid().1 + group / q_s;
        let (rows, groups) = self.block(block);
        let before = rows.start * self.extents().1 + rows.len() * groups.start;
        (block, before + (u - rows.start) * groups.len() + (group - groups.start))
    }

    fn check_shape(&self) -> Result<(), Refusal> {
        Windows::try_new((self.rows, self.cols), self.n, self.m, self.l)?;
        let padded = self.rows.div_ceil(self.m) as u128 * self.m as u128;
        check_u32("rows, padded", padded)?;
        if self.k_s == 0 || !self.k_s.is_multiple_of(self.m) {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "k_s",
                expected: "a multiple of m",
                found: self.k_s as u64,
            }));
        }
        check_groups(self.l, self.n_s)
    }
}

impl Packing {
    /// Checks the arrays. Offsets in refusals count elements of the array, rows count blocks.
    ///
    /// # Errors
    /// The first defect found: a parameter out of range, an array length, offsets that do not start at 0, decrease or
    /// end elsewhere than `col_info`, columns of a block that do not ascend, an index past its block's columns, a column
    /// outside the window of its row of B' or not above its predecessor there, a column that nothing meets.
    pub fn try_new(parts: PackingParts) -> Result<Self, Refusal> {
        let p = &parts;
        p.check_shape()?;
        let ((w, q), (down, across)) = (p.extents(), p.grid());
        let blocks = down as u128 * across as u128;
        check_length("col_ptr", blocks + 1, p.col_ptr.len())?;
        check_length("index", w as u128 * q as u128, p.index.len())?;
        check_offsets(p)?;
        for block in 0..blocks as usize {
            check_block(p, block)?;
        }
        Ok(Packing(parts))
    }

    /// Packs the columns that `matrix` uses, for blocks of `k_s` rows and `n_s` columns.
    ///
    /// # Errors
    /// A `k_s` that is not a multiple of m, an `n_s` that is not a multiple of l, rows past u32 once padded.
    pub fn from_nm<T>(matrix: &Nm<T>, k_s: usize, n_s: usize) -> Result<Self, Refusal> {
        let mut packed = PackingParts {
            rows: matrix.rows,
            cols: matrix.cols,
            n: matrix.n,
            m: matrix.m,
            l: matrix.l,
            k_s,
            n_s,
            col_ptr: vec![0],
            col_info: Vec::new(),
            index: Vec::with_capacity(matrix.index.len()),
        };
        packed.check_shape()?;
        let (down, across) = packed.grid();
        for block in 0..down * across {
            let (rows, groups) = packed.block(block);
            let places = || rows.clone().flat_map(|u| groups.clone().map(move |g| (u, g)));
            let used: BTreeSet<usize> = places().map(|(u, g)| matrix.row(u, g)).collect();
            let used: Vec<usize> = used.into_iter().collect();
            let at = |(u, g)| used.partition_point(|&column| column < matrix.row(u, g)) as u32;
            packed.index.extend(places().map(at));
            packed.col_info.extend(used.iter().map(|&column| column as u32));
            packed.col_ptr.push(packed.col_info.len() as u32);
        }
        Ok(Packing(packed))
    }

    /// The column of A that row `u` of B' meets in a group of columns.
    #[must_use]
    pub fn column(&self, u: usize, group: usize) -> usize {
        let (block, at) = self.0.place(u, group);
        self.0.col_info[self.0.col_ptr[block] as usize + self.0.index[at] as usize] as usize
    }

    /// The length of the longest `col_info` of a block: `c`, the columns that a packed `A_s` needs room for.
    #[must_use]
    pub fn longest(&self) -> usize {
        let lengths = self.0.col_ptr.windows(2).map(|ends| ends[1] - ends[0]);
        lengths.max().unwrap_or(0) as usize
    }

    /// The arrays back.
    #[must_use]
    pub fn into_parts(self) -> PackingParts {
        self.0
    }
}

fn check_length(field: &'static str, expected: u128, found: usize) -> Result<(), Refusal> {
    if expected == found as u128 {
        return Ok(());
    }
    Err(Refusal::Encoding(EncodingError::Length {
        field,
        expected: usize::try_from(expected).unwrap_or(usize::MAX),
        found,
    }))
}

fn check_offsets(p: &PackingParts) -> Result<(), Refusal> {
    let field = "col_ptr";
    let (found, last) = (u64::from(p.col_ptr[0]), u64::from(p.col_ptr[p.col_ptr.len() - 1]));
    if found != 0 {
        return Err(EncodingError::FirstOffset { field, found }.into());
    }
    if let Some(at) = p.col_ptr.windows(2).position(|ends| ends[1] < ends[0]) {
        return Err(Refusal::Encoding(EncodingError::Decreasing {
            field,
            at: at + 1,
            previous: u64::from(p.col_ptr[at]),
            found: u64::from(p.col_ptr[at + 1]),
        }));
    }
    if last != p.col_info.len() as u64 {
        return Err(Refusal::Encoding(EncodingError::LastOffset {
            field,
            expected: p.col_info.len() as u64,
            found: last,
        }));
    }
    Ok(())
}

fn check_block(p: &PackingParts, block: usize) -> Result<(), Refusal> {
    let start = p.col_ptr[block] as usize;
    let columns = &p.col_info[start..p.col_ptr[block + 1] as usize];
    if let Some(at) = columns.windows(2).position(|pair| pair[1] <= pair[0]) {
        return Err(Refusal::Encoding(EncodingError::Unsorted {
            field: "col_info",
            at: start + at + 1,
            row: block,
            previous: u64::from(columns[at]),
            found: u64::from(columns[at + 1]),
        }));
    }
    let (rows, groups) = p.block(block);
    let mut met = vec![false; columns.len()];
    for u in rows {
        let first = u / p.n * p.m;
        for group in groups.clone() {
            let (_, at) = p.place(u, group);
            let index = p.index[at] as usize;
            let Some(&column) = columns.get(index) else {
                return Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
                    field: "index",
                    at,
                    row: block,
                    found: index as u64,
                    limit: columns.len() as u64,
                }));
            };
            met[index] = true;
            let range = first as u64..(first + p.m) as u64;
            if !range.contains(&u64::from(column)) {
                return Err(Refusal::Encoding(EncodingError::IndexOutOfRange {
                    field: "col_info",
                    at: start + index,
                    row: block,
                    found: u64::from(column),
                    limit: range.end,
                }));
            }
            let above = (u % p.n > 0).then(|| p.index[p.place(u - 1, group).1]);
            if let Some(previous) = above.filter(|&previous| previous as usize >= index) {
                return Err(Refusal::Encoding(EncodingError::Unsorted {
                    field: "index",
                    at,
                    row: block,
                    previous: u64::from(previous),
                    found: index as u64,
                }));
            }
        }
    }
    match met.iter().position(|met| !met) {
        None => Ok(()),
        Some(unused) => {
            Err(EncodingError::DirtyPad { field: "col_info", at: start + unused, row: block }.into())
        }
    }
}

impl Deref for Packing {
    type Target = PackingParts;

    fn deref(&self) -> &PackingParts {
        &self.0
    }
}
