//! LOOPS: the rows above the boundary as CSR, those below as `br` x 1 tiles, by two groups of workers on disjoint rows of C.
//!
//! ```text
//! rows 0..boundary     entries     rows::spmm    group of `Split::csr` workers
//! rows boundary..m     tiles       tiles::spmm   group of `Split::tiles` workers
//! ```
//!
//! A tile multiplies all its slots, pads too. Either way an element of C is one chain of fused steps in ascending column: the
//! bits are the same for every split. A transpose has no tiles; its rows are entries and slots, turned.
//!
//! There is no unit for outer products here: both parts use vectors. A worker that has nothing left to do in its part helps with the
//! other. Without a split, workers are shared out in proportion to the work.
//!
//! Source: section 3.3 of the LOOPS paper; SEMANTICS section 6.

use super::element::{Enter, Leave};
use super::formats::{CompressedRows, transposed};
use super::isa::Core;
use super::lanes::{BlockTiles, Buffers, RowUnits, Rows};
use super::spmm::{Blocks, Work, product};
use crate::portable::element::Stored;
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use crate::workers::Split;
use sparse_types::format::{FormatKind, Loops, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use std::ops::Range;

/// The kernel for instruction set `S` and element types `I`, `A`, `O`, workers split in proportion to the work.
pub(super) fn run<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(task: Task<'_>) -> Result<Answer, Refusal> {
    run_with::<S, I, A, O>(task, None)
}

/// The same with a number of workers for each part.
pub(super) fn run_split<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(
    task: Task<'_>,
    split: Split,
) -> Result<Answer, Refusal> {
    run_with::<S, I, A, O>(task, Some(split))
}

fn run_with<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(
    task: Task<'_>,
    split: Option<Split>,
) -> Result<Answer, Refusal> {
    let isa = S::detect()?;
    let request = request::spmm::<I, A, O>(task, FormatKind::Loops)?;
    if let (Some(split), Sparse::Loops(m)) = (split, request.a) {
        split.check(m)?;
    }
    product(isa, request, open::<I>, split)
}

fn open<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Result<Work<'_, T>, Refusal> {
    let Sparse::Loops(m) = matrix else {
        return Err(wrong_format("A", FormatKind::Loops, matrix.kind()));
    };
    if transpose {
        return Ok(Work::Rows(Box::new(transposed(&Slots(m), m.cols)?)));
    }
    let rows = CompressedRows::borrowed(&m.row_ptr, &m.col_idx, &m.csr_values);
    let blocks = Blocks {
        boundary: m.boundary,
        tiles: BlockTiles {
            rows: m.rows - m.boundary,
            br: m.br,
            ptr: &m.block_ptr,
            cols: &m.block_col,
            values: &m.values,
        },
    };
    Ok(Work::Both(Box::new(rows), blocks))
}

/// All rows, every slot of a tile an entry: what a transpose is turned from.
#[derive(Debug)]
struct Slots<'a, T>(&'a Loops<T>);

impl<T: Stored> RowUnits<T> for Slots<'_, T> {
    fn units(&self) -> usize {
        self.0.rows
    }

    fn first_row(&self, unit: usize) -> usize {
        unit
    }

    fn before(&self, unit: usize) -> usize {
        unit
    }

    fn read<'s>(&'s self, units: Range<usize>, buffers: &'s mut Buffers<T>) -> Rows<'s, T> {
        let m = self.0;
        buffers.clear();
        for row in units {
            if row < m.boundary {
                let entries = m.row_ptr[row] as usize..m.row_ptr[row + 1] as usize;
                buffers.cols.extend_from_slice(&m.col_idx[entries.clone()]);
                buffers.values.extend_from_slice(&m.csr_values[entries]);
            } else {
                let (block, r) = ((row - m.boundary) / m.br, (row - m.boundary) % m.br);
                let tiles = m.block_ptr[block] as usize..m.block_ptr[block + 1] as usize;
                buffers.cols.extend_from_slice(&m.block_col[tiles.clone()]);
                buffers.values.extend(tiles.map(|tile| m.values[tile * m.br + r]));
            }
            buffers.end_row();
        }
        buffers.rows()
    }
}
