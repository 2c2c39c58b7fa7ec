//! SpGEMM by Gustavson's scheme: each lane of the result is a sum of lanes of one operand, picked by a lane of the other.
//!
//! ```text
//! CSR:  C[i, :] = sum over stored (i, k) of A of  a_ik * B[k, :]      picks by rows of A, adds rows of B
//! CSC:  C[:, j] = sum over stored (k, j) of B of  b_kj * A[:, k]      picks by columns of B, adds columns of A
//! ```
//!
//! k ascends, products and sums are rounded apart. The pattern is structural: what cancels stays as an explicit zero.
//! The accumulator has one slot per index that occurs in the added operand, never one per column of a huge matrix.

use super::element::{Operand, Output, Stored};
use super::lanes::{AsCsc, AsCsr, LaneFormat};
use super::moves::Arrays;
use super::request;
use super::unit::{Chain, Separate, Unit};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, SLOT_LIMIT, Sparse};
use sparse_types::refusal::{Limit, Refusal};
use sparse_types::task::{Answer, RawSparse, Task};

/// How SpGEMM adds a term.
pub(crate) type SpgemmSteps = Separate;

/// Compressed lanes of an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compressed<'a, T> {
    /// Where each lane starts, and the last one ends.
    pub(crate) ptr: &'a [u32],
    /// Ascending inside a lane.
    pub(crate) index: &'a [u32],
    /// One per index.
    pub(crate) values: &'a [T],
}

/// CSR and CSC.
pub(crate) trait CompressedFormat: LaneFormat {
    /// The arrays, or `None` for a matrix in another format.
    fn arrays<T>(matrix: &Sparse<T>) -> Option<Compressed<'_, T>>;
}

impl CompressedFormat for AsCsr {
    fn arrays<T>(matrix: &Sparse<T>) -> Option<Compressed<'_, T>> {
        let Sparse::Csr(m) = matrix else { return None };
        Some(Compressed { ptr: &m.row_ptr, index: &m.col_idx, values: &m.values })
    }
}

impl CompressedFormat for AsCsc {
    fn arrays<T>(matrix: &Sparse<T>) -> Option<Compressed<'_, T>> {
        let Sparse::Csc(m) = matrix else { return None };
        Some(Compressed { ptr: &m.col_ptr, index: &m.row_idx, values: &m.values })
    }
}

/// A checked SpGEMM.
#[derive(Debug)]
pub(crate) struct Factors<'a, I> {
    /// Rows and columns of the product.
    pub(crate) shape: (usize, usize),
    /// Each of its lanes makes one lane of the product.
    pub(crate) picks: Compressed<'a, I>,
    /// Its lanes are picked and added.
    pub(crate) added: Compressed<'a, I>,
    /// Extent of the lanes of `added`.
    pub(crate) extent: usize,
}

/// Checks an SpGEMM.
#[expect(clippy::needless_pass_by_value, reason = "the signature that the registry calls")]
pub(crate) fn open<F: CompressedFormat, I: Stored>(task: Task<'_>) -> Result<Factors<'_, I>, Refusal> {
    let Task::Spgemm { a, b } = task else {
        return Err(request::wrong_task(Op::Spgemm, &task));
    };
    let (a, b) = (request::sparse::<I>("A", a, F::KIND)?, request::sparse::<I>("B", b, F::KIND)?);
    let ((rows, inner), (inner_b, cols)) = (a.shape(), b.shape());
    request::same(("columns of A", inner), ("rows of B", inner_b))?;
    let arrays = |m| F::arrays(m).ok_or_else(|| request::wrong_format("A or B", F::KIND, FormatKind::Coo));
    let (a, b) = (arrays(a)?, arrays(b)?);
    let (picks, added, extent) = if F::BY_ROWS { (a, b, cols) } else { (b, a, rows) };
    Ok(Factors { shape: (rows, cols), picks, added, extent })
}

/// The product as an answer.
pub(crate) fn answer<F: CompressedFormat, O: Stored>(
    (rows, cols): (usize, usize),
    (offsets, indices, values): Arrays<O>,
) -> Answer {
    Answer::Sparse(RawSparse {
        kind: F::KIND,
        rows,
        cols,
        params: FormatParams::default(),
        width: 0,
        offsets,
        indices,
        values: O::wrap(values),
    })
}

/// The kernel for format `F` and element types `I` (both operands), `A` (accumulator), `O` (output).
pub(crate) fn run<F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    F: CompressedFormat,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let factors = open::<F, I>(task)?;
    let product = gustavson::<I, A, O>(factors.picks, factors.added)?;
    Ok(answer::<F, O>(factors.shape, product))
}

fn gustavson<I, A, O>(picks: Compressed<'_, I>, added: Compressed<'_, I>) -> Result<Arrays<O>, Refusal>
where
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let mut distinct = added.index.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let rank = |index: &u32| distinct.partition_point(|d| d < index) as u32;
    let ranks: Vec<u32> = added.index.iter().map(rank).collect();
    let mut acc = vec![A::ZERO; distinct.len()];
    // The lane (from 1) that last touched a slot.
    let mut touched_by = vec![0u32; distinct.len()];
    let mut touched: Vec<u32> = Vec::new();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (lane, ends) in picks.ptr.windows(2).enumerate() {
        touched.clear();
        for at in ends[0] as usize..ends[1] as usize {
            let (k, factor) = (picks.index[at] as usize, picks.values[at].load());
            let range = added.ptr[k] as usize..added.ptr[k + 1] as usize;
            for (&rank, value) in ranks[range.clone()].iter().zip(&added.values[range]) {
                let slot = rank as usize;
                if touched_by[slot] != lane as u32 + 1 {
                    touched_by[slot] = lane as u32 + 1;
                    acc[slot] = A::ZERO;
                    touched.push(rank);
                }
                acc[slot] = SpgemmSteps::step(acc[slot], factor, value.load());
            }
        }
        check_stored(indices.len() + touched.len())?;
        touched.sort_unstable();
        indices.extend(touched.iter().map(|&slot| distinct[slot as usize]));
        values.extend(touched.iter().map(|&slot| O::store(acc[slot as usize])));
        offsets.push(indices.len() as u32);
    }
    Ok((offsets, indices, values))
}

/// The product of two small matrices can be too large for any memory.
fn check_stored(count: usize) -> Result<(), Refusal> {
    if count as u64 <= SLOT_LIMIT {
        return Ok(());
    }
    Err(Limit { field: "nnz of A * B", found: count as u128, limit: SLOT_LIMIT }.into())
}
