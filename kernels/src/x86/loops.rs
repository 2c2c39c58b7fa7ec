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
//! other. The kernel of the registry shares workers out in proportion to the work; the numbers of a plan need [`spmm_split`].
//!
//! Source: section 3.3 of the LOOPS paper; SEMANTICS section 6.

use super::element::{Enter, Leave};
use super::formats::{CompressedRows, transposed};
use super::isa::{Avx2, Avx512, Core};
use super::lanes::{BlockTiles, Buffers, RowUnits, Rows};
use super::spmm::{Blocks, Work, product};
use super::workers::Split;
use crate::engine::Engine;
use crate::portable::element::Stored;
use crate::portable::request::{self, wrong_format};
use crate::portable::unit::Unit;
use sparse_types::format::{AnySparse, FormatKind, Loops, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::{Answer, Task};
use sparse_types::{F16, Precision};
use std::ops::Range;

/// The kernel for instruction set `S` and element types `I`, `A`, `O`, workers split in proportion to the work.
pub(super) fn run<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(task: Task<'_>) -> Result<Answer, Refusal> {
    run_split::<S, I, A, O>(task, None)
}

fn run_split<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(
    task: Task<'_>,
    split: Option<Split>,
) -> Result<Answer, Refusal> {
    let isa = S::detect()?;
    let request = request::spmm::<I, A, O>(task, FormatKind::Loops)?;
    product(isa, request, open::<I>, split)
}

/// LOOPS SpMM on AVX-512 or AVX2 with a given number of workers for each part, in f64, f32, and f16 with results in f32.
///
/// A part with rows needs a worker, one without rows gets none of its own; workers beyond the threads of the pool wait their turn. The
/// result does not depend on the split.
///
/// # Errors
/// As the registered kernels refuse; an engine other than these two, an element type other than these three, and a split that
/// leaves a part with rows without a worker.
pub fn spmm_split(task: Task<'_>, engine: Engine, split: Split) -> Result<Answer, Refusal> {
    match engine {
        Engine::Avx512 => typed::<Avx512>(task, split),
        Engine::Avx2 => typed::<Avx2>(task, split),
        other => Err(Refusal::Request(RequestError::Kind {
            field: "engine",
            expected: "avx512 or avx2".to_owned(),
            found: other.name().to_owned(),
        })),
    }
}

fn typed<S: Core<f32> + Core<f64>>(task: Task<'_>, split: Split) -> Result<Answer, Refusal> {
    S::detect()?;
    let Task::Spmm { a, .. } = &task else {
        return Err(request::wrong_task(sparse_types::contract::Op::Spmm, &task));
    };
    match a {
        AnySparse::F64(m) => check_split(m, split)?,
        AnySparse::F32(m) => check_split(m, split)?,
        AnySparse::F16(m) => check_split(m, split)?,
        _ => {}
    }
    match a.precision() {
        Precision::F64 => run_split::<S, f64, f64, f64>(task, Some(split)),
        Precision::F32 => run_split::<S, f32, f32, f32>(task, Some(split)),
        Precision::F16 => run_split::<S, F16, f32, f32>(task, Some(split)),
        other => Err(Refusal::Request(RequestError::Kind {
            field: "A",
            expected: "f64, f32 or f16".to_owned(),
            found: other.to_string(),
        })),
    }
}

/// Each part with rows has a worker.
fn check_split<T>(matrix: &Sparse<T>, split: Split) -> Result<(), Refusal> {
    let Sparse::Loops(m) = matrix else {
        return Ok(());
    };
    let parts = [
        ("workers of the CSR part", m.boundary, split.csr),
        ("workers of the tile part", m.rows - m.boundary, split.tiles),
    ];
    match parts.into_iter().find(|&(_, rows, workers)| rows > 0 && workers == 0) {
        Some((field, ..)) => Err(RequestError::Zero { field }.into()),
        None => Ok(()),
    }
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
