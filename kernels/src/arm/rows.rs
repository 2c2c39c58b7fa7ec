//! C by rows, so that threads own disjoint rows of it, and the epilogue of a row.
//!
//! ```text
//! row-major C      cut into chunks of rows; each row gets alpha * acc + beta * c as soon as its sums are there
//! any other C      the same into a row-major copy of sums, then element by element into C
//! ```

use crate::portable::dense::Strided;
use crate::portable::element::{Output, Stored};
use crate::portable::scaling::Scaling;
use crate::portable::unit::Unit;
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;
use sparse_types::refusal::Refusal;

/// Some rows of a row-major result.
#[derive(Debug)]
pub(crate) struct ResultRows<'a, O> {
    /// `ld` elements per row.
    pub(crate) data: &'a mut [O],
    /// Elements from one row to the next, not 0.
    pub(crate) ld: usize,
    /// Columns, at most `ld`.
    pub(crate) cols: usize,
}

impl<'a, O: Send> ResultRows<'a, O> {
    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        self.data.len() / self.ld
    }

    /// Chunks of `rows` rows, each with the number of its first.
    pub(crate) fn chunks(
        self,
        rows: usize,
    ) -> impl IndexedParallelIterator<Item = (usize, ResultRows<'a, O>)> {
        let ResultRows { data, ld, cols } = self;
        let chunks = data.par_chunks_mut(rows * ld).enumerate();
        chunks.map(move |(index, data)| (index * rows, ResultRows { data, ld, cols }))
    }

    /// Turns the sums of row `i` into its results.
    pub(crate) fn finish<A: Unit>(&mut self, i: usize, sums: &[A], scaling: &Scaling<A>)
    where
        O: Output<A>,
    {
        let row = &mut self.data[i * self.ld..][..self.cols];
        for (to, &sum) in row.iter_mut().zip(sums) {
            let before = *to;
            *to = O::store(scaling.finish(sum, || before.widen()));
        }
    }
}

/// A product that can write row-major results of any type.
pub(crate) trait RowMajorProduct<A: Unit> {
    /// Writes every row.
    fn run<O: Output<A>>(&self, c: ResultRows<'_, O>, scaling: Scaling<A>) -> Result<(), Refusal>;
}

/// Runs the work on a C of any layout. Neither extent is 0.
pub(crate) fn write<A, O>(
    mut c: Strided<&mut [O]>,
    scaling: Scaling<A>,
    work: &impl RowMajorProduct<A>,
) -> Result<(), Refusal>
where
    A: Unit + Stored,
    O: Output<A>,
{
    let (rows, cols) = (c.rows, c.cols);
    c = match c.into_rows() {
        Ok((data, ld)) => return work.run(ResultRows { data, ld, cols }, scaling),
        Err(c) => c,
    };
    let mut sums = vec![A::ZERO; rows * cols];
    let copy = ResultRows { data: &mut sums[..], ld: cols, cols };
    work.run(copy, Scaling::none())?;
    for (i, row) in sums.chunks_exact(cols).enumerate() {
        for (j, &sum) in row.iter().enumerate() {
            c.update(i, j, |old| scaling.finish(sum, old));
        }
    }
    Ok(())
}
