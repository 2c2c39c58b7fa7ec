//! CSR times dense, row by row: what the paper calls the CSR part of LOOPS, and SpMM of a whole CSR matrix.
//!
//! ```text
//! row i:  acc = +0;  for each entry (k, a), ascending:  acc += a * B[k, ..]  (FMLA);  then the epilogue
//! ```
//!
//! A transposed matrix is turned into the rows of its transpose first, by counting, so that terms stay in ascending order.
//!
//! Source: section 3.3 of the LOOPS paper, "CSR-part": AXPY, row-wise, vectorised along N.

use super::neon::{self, NeonVector};
use super::panel::Panel;
use super::rows::{self, ResultRows, RowMajorProduct};
use crate::feature::Feature;
use crate::portable::element::{Operand, Output, Stored};
use crate::portable::request::{self, Product};
use crate::portable::scaling::Scaling;
use rayon::iter::ParallelIterator;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

/// Rows that one task of the thread pool takes.
const CHUNK: usize = 32;

/// Entries row by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lists<'a, I> {
    /// `rows + 1` offsets.
    pub(crate) ptr: &'a [u32],
    /// Column of each entry, ascending within a row.
    pub(crate) cols: &'a [u32],
    /// Value of each entry.
    pub(crate) values: &'a [I],
}

impl<'a, I> Lists<'a, I> {
    fn row(&self, i: usize) -> (&'a [u32], &'a [I]) {
        let entries = self.ptr[i] as usize..self.ptr[i + 1] as usize;
        (&self.cols[entries.clone()], &self.values[entries])
    }

    /// Entries in stored order, as (row, column, value).
    pub(crate) fn triplets(self) -> impl Iterator<Item = (u32, u32, I)> + Clone + 'a
    where
        I: Copy,
    {
        (0..self.ptr.len().saturating_sub(1)).flat_map(move |i| {
            let (cols, values) = self.row(i);
            cols.iter().zip(values).map(move |(&k, &v)| (i as u32, k, v))
        })
    }
}

/// Rows of a transposed matrix.
#[derive(Debug)]
pub(crate) struct Turned<I> {
    ptr: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<I>,
}

impl<I: Stored> Turned<I> {
    /// The transpose of entries that come in ascending rows; `rows` is the number of its rows. The entries are fewer than 2^32.
    pub(crate) fn new(rows: usize, entries: impl Iterator<Item = (u32, u32, I)> + Clone) -> Turned<I> {
        let mut ptr = vec![0u32; rows + 1];
        for (_, col, _) in entries.clone() {
            ptr[col as usize + 1] += 1;
        }
        for i in 0..rows {
            ptr[i + 1] += ptr[i];
        }
        let count = ptr[rows] as usize;
        let mut next = ptr.clone();
        let (mut cols, mut values) = (vec![0u32; count], vec![I::from_bits64(0); count]);
        for (row, col, value) in entries {
            let at = &mut next[col as usize];
            (cols[*at as usize], values[*at as usize]) = (row, value);
            *at += 1;
        }
        Turned { ptr, cols, values }
    }

    pub(crate) fn lists(&self) -> Lists<'_, I> {
        Lists { ptr: &self.ptr, cols: &self.cols, values: &self.values }
    }
}

/// Rows times a padded B.
#[derive(Debug)]
pub(crate) struct ByRows<'a, I, A: Clone> {
    /// The rows.
    pub(crate) lists: Lists<'a, I>,
    /// B.
    pub(crate) b: &'a Panel<'a, A>,
}

impl<I: Operand<A>, A: NeonVector> RowMajorProduct<A> for ByRows<'_, I, A> {
    fn run<O: Output<A>>(&self, c: ResultRows<'_, O>, scaling: Scaling<A>) -> Result<(), Refusal> {
        c.chunks(CHUNK).for_each(|(first, c)| {
            self.rows(first, c, &mut vec![A::ZERO; self.b.padded], &scaling);
        });
        Ok(())
    }
}

impl<I: Operand<A>, A: NeonVector> ByRows<'_, I, A> {
    /// The rows from `first` on that `c` holds; `sums` is as long as a padded row of B.
    pub(crate) fn rows<O: Output<A>>(
        &self,
        first: usize,
        mut c: ResultRows<'_, O>,
        sums: &mut [A],
        scaling: &Scaling<A>,
    ) {
        for i in 0..c.count() {
            let (cols, values) = self.lists.row(first + i);
            neon::row(cols, values, self.b, sums);
            c.finish(i, sums, scaling);
        }
    }
}

/// What to do with a C that takes no product; `None` where there is one to compute.
pub(crate) fn without_product<I, A, O>(request: Product<'_, I, A, O>) -> Option<Product<'_, I, A, O>>
where
    A: NeonVector,
    O: Output<A>,
{
    let mut request = request;
    let c = &mut request.c;
    if c.rows == 0 || c.cols == 0 {
        return None;
    }
    if request.scaling.reads_product() {
        return Some(request);
    }
    for i in 0..c.rows {
        for j in 0..c.cols {
            c.update(i, j, |old| request.scaling.without_product(old));
        }
    }
    None
}

/// SpMM of a CSR matrix.
pub(crate) fn run<I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    I: Operand<A>,
    A: NeonVector,
    O: Output<A>,
{
    Feature::require(&[Feature::Neon], super::detected)?;
    let request = request::spmm::<I, A, O>(task, FormatKind::Csr)?;
    let Some(request) = without_product(request) else {
        return Ok(Answer::Written);
    };
    let Sparse::Csr(a) = request.a else {
        return Err(request::wrong_format("A", FormatKind::Csr, request.a.kind()));
    };
    let b = Panel::<A>::padded(&request.b);
    let stored = Lists { ptr: &a.row_ptr, cols: &a.col_idx, values: &a.values };
    let turned;
    let lists = if request.transpose_a {
        turned = Turned::new(a.cols, stored.triplets());
        turned.lists()
    } else {
        stored
    };
    rows::write(request.c, request.scaling, &ByRows { lists, b: &b })?;
    Ok(Answer::Written)
}
