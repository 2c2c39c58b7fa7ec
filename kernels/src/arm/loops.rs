//! LOOPS times dense: the CSR part by rows, the tile part by outer products, each by its own group of threads at the same time.
//!
//! ```text
//! C rows 0..boundary      CSR part    NEON (csr.rs)                  jobs of rows      group of `Split::csr` workers
//! C rows boundary..m      tile part   NEON (neon.rs) or SME (sme/)   jobs of blocks    group of `Split::tiles` workers
//! ```
//!
//! Cores share an SME unit, so no worker of the CSR part helps with its tiles: never more threads are in it at a time than the split says,
//! down to one. Where NEON computes the tiles, both parts use the same unit, and a worker with nothing left to do in its part helps with
//! the other. Without a split, workers are shared out in proportion to the work. Which worker computes what changes no result.
//!
//! Pads of tiles are multiplied. The transpose of a LOOPS matrix has no tiles along its rows: it is turned into rows, pads included,
//! and goes the way of the CSR part.
//!
//! Source: sections 3.3 and 3.4 of the LOOPS paper; SEMANTICS section 6.

use super::csr::{ByRows, Lists, Turned, without_product};
use super::neon::{self, Block, NeonVector};
use super::panel::Panel;
use super::rows::{self, ResultRows, RowMajorProduct};
use super::sme;
use crate::feature::Feature;
use crate::portable::dense::Strided;
use crate::portable::element::{Operand, Output};
use crate::portable::request;
use crate::portable::scaling::Scaling;
use crate::workers::{self, Grouping, Job, Part, Split};
use sparse_types::format::{FormatKind, Loops, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::scalar::Element;
use sparse_types::task::{Answer, Task};
use std::ops::Range;

/// What multiplies tiles.
pub(crate) trait Tiles<I: Operand<A>, A: NeonVector> {
    /// What the machine must have.
    const NEEDS: &'static [Feature];

    /// B as this unit reads it.
    type Right: Clone + Sync + std::fmt::Debug;

    /// True where it reads B as the CSR part does.
    const SHARES: bool;

    /// Whether workers of the CSR part may multiply tiles.
    const GROUPS: Grouping;

    /// Reads B, which the CSR part reads as `rest`.
    fn panel<'b>(b: &Strided<&'b [I]>, rest: &'b Panel<'_, A>) -> Panel<'b, Self::Right>;

    /// Results of the rows of these blocks, which are the rows of `c`.
    fn blocks<O: Output<A>>(
        m: &Loops<I>,
        blocks: Range<usize>,
        b: &Panel<'_, Self::Right>,
        c: ResultRows<'_, O>,
        scaling: &Scaling<A>,
    ) -> Result<(), Refusal>;
}

/// Tiles by Advanced SIMD.
#[derive(Debug)]
pub(crate) struct Neon;

/// Tiles by SME.
#[derive(Debug)]
pub(crate) struct Sme;

impl<I: Operand<A>, A: NeonVector> Tiles<I, A> for Neon {
    const NEEDS: &'static [Feature] = &[Feature::Neon];
    type Right = A;

    const SHARES: bool = true;
    const GROUPS: Grouping = Grouping::Mixed;

    fn panel<'b>(_: &Strided<&'b [I]>, rest: &'b Panel<'_, A>) -> Panel<'b, A> {
        rest.shared()
    }

    fn blocks<O: Output<A>>(
        m: &Loops<I>,
        blocks: Range<usize>,
        b: &Panel<'_, A>,
        mut c: ResultRows<'_, O>,
        scaling: &Scaling<A>,
    ) -> Result<(), Refusal> {
        let mut sums = vec![A::ZERO; m.br.min(c.count()) * b.padded];
        for (index, block) in blocks.enumerate() {
            let tiles = m.block_ptr[block] as usize..m.block_ptr[block + 1] as usize;
            let first = index * m.br;
            let rows = m.br.min(c.count() - first);
            let sums = &mut sums[..rows * b.padded];
            let block = Block {
                cols: &m.block_col[tiles.clone()],
                values: &m.values[tiles.start * m.br..tiles.end * m.br],
                br: m.br,
            };
            neon::tiles(block, b, sums);
            for (r, sums) in sums.chunks_exact(b.padded).enumerate() {
                c.finish(first + r, sums, scaling);
            }
        }
        Ok(())
    }
}

impl<I, A> Tiles<I, A> for Sme
where
    I: Operand<A> + sme::Outer<Acc = A>,
    A: NeonVector,
{
    const NEEDS: &'static [Feature] = <I as sme::Outer>::NEEDS;
    type Right = I;

    const SHARES: bool = false;
    const GROUPS: Grouping = Grouping::Apart;

    fn panel<'b>(b: &Strided<&'b [I]>, _: &'b Panel<'_, A>) -> Panel<'b, I> {
        Panel::raw(b)
    }

    fn blocks<O: Output<A>>(
        m: &Loops<I>,
        blocks: Range<usize>,
        b: &Panel<'_, I>,
        mut c: ResultRows<'_, O>,
        scaling: &Scaling<A>,
    ) -> Result<(), Refusal> {
        if scaling.is_none()
            && let Some(out) = <A as Element>::unwrap_slice_mut(O::wrap_slice_mut(c.data))
        {
            return sme::multiply(m, blocks, b, out, c.ld);
        }
        let mut sums = vec![A::ZERO; c.count() * c.cols];
        sme::multiply(m, blocks, b, &mut sums, c.cols)?;
        for (i, sums) in sums.chunks_exact(c.cols).enumerate() {
            c.finish(i, sums, scaling);
        }
        Ok(())
    }
}

/// Both parts, for a C in rows.
struct Hybrid<'a, I: Operand<A>, A: NeonVector, U: Tiles<I, A>> {
    m: &'a Loops<I>,
    rest: ByRows<'a, I, A>,
    tiles: Panel<'a, U::Right>,
    split: Option<Split>,
}

impl<I: Operand<A>, A: NeonVector, U: Tiles<I, A>> RowMajorProduct<A> for Hybrid<'_, I, A, U> {
    fn run<O: Output<A>>(&self, c: ResultRows<'_, O>, scaling: Scaling<A>) -> Result<(), Refusal> {
        let m = self.m;
        let ResultRows { data, ld, cols } = c;
        let sums = || vec![A::ZERO; self.rest.b.padded];
        let parts = [LoopsPart::Rows(m, cols), LoopsPart::Tiles(m, cols)];
        let how = (self.split, U::GROUPS);
        workers::run([&parts[0], &parts[1]], how, (data, ld), sums, |sums, Job { part, units, c }| {
            let c = ResultRows { data: c, ld, cols };
            if part == 0 {
                self.rest.rows(units.start, c, sums, &scaling);
                return Ok(());
            }
            U::blocks(m, units, &self.tiles, c, &scaling)
        })
    }
}

/// A part as the cutter sees it, with the columns of C. Its work is the rows of B that it reads, one for an entry and one for a tile, and those
/// of C that it writes; so that a job's sums stay in a cache however many columns there are.
enum LoopsPart<'a, I> {
    Rows(&'a Loops<I>, usize),
    Tiles(&'a Loops<I>, usize),
}

/// Cost of a row of C next to that of a row of B read.
const ROW: usize = 4;

/// Columns that the cutter's unit of work has.
const COLUMNS: usize = 32;

impl<I: Sync> Part for LoopsPart<'_, I> {
    fn units(&self) -> usize {
        match self {
            LoopsPart::Rows(m, _) => m.boundary,
            LoopsPart::Tiles(m, _) => m.blocks(),
        }
    }

    fn first_row(&self, unit: usize) -> usize {
        match self {
            LoopsPart::Rows(..) => unit,
            LoopsPart::Tiles(m, _) => (m.boundary + unit * m.br).min(m.rows),
        }
    }

    fn before(&self, unit: usize) -> usize {
        let (rows, columns) = match self {
            LoopsPart::Rows(m, n) => (m.row_ptr[unit] as usize + ROW * unit, n),
            LoopsPart::Tiles(m, n) => (m.block_ptr[unit] as usize + ROW * m.br * unit, n),
        };
        rows * columns.div_ceil(COLUMNS)
    }
}

fn csr_part<I>(m: &Loops<I>) -> Lists<'_, I> {
    Lists { ptr: &m.row_ptr, cols: &m.col_idx, values: &m.csr_values }
}

/// All slots of the tiles that lie inside the matrix, row by row.
fn slots<I: Copy>(m: &Loops<I>) -> impl Iterator<Item = (u32, u32, I)> + Clone {
    (m.boundary..m.rows).flat_map(move |row| {
        let (block, r) = ((row - m.boundary) / m.br, (row - m.boundary) % m.br);
        let tiles = m.block_ptr[block] as usize..m.block_ptr[block + 1] as usize;
        tiles.map(move |t| (row as u32, m.block_col[t], m.values[t * m.br + r]))
    })
}

/// SpMM of a LOOPS matrix, its tiles by `U`.
pub(crate) fn run<U, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    U: Tiles<I, A>,
    I: Operand<A>,
    A: NeonVector,
    O: Output<A>,
{
    run_with::<U, I, A, O>(task, None)
}

/// The same with a number of workers for each part.
pub(crate) fn run_split<U, I, A, O>(task: Task<'_>, split: Split) -> Result<Answer, Refusal>
where
    U: Tiles<I, A>,
    I: Operand<A>,
    A: NeonVector,
    O: Output<A>,
{
    run_with::<U, I, A, O>(task, Some(split))
}

fn run_with<U, I, A, O>(task: Task<'_>, split: Option<Split>) -> Result<Answer, Refusal>
where
    U: Tiles<I, A>,
    I: Operand<A>,
    A: NeonVector,
    O: Output<A>,
{
    Feature::require(U::NEEDS, super::detected)?;
    let request = request::spmm::<I, A, O>(task, FormatKind::Loops)?;
    let Sparse::Loops(m) = request.a else {
        return Err(request::wrong_format("A", FormatKind::Loops, request.a.kind()));
    };
    if let Some(split) = split {
        split.check(m)?;
    }
    let Some(request) = without_product(request) else {
        return Ok(Answer::Written);
    };
    let rest = if m.boundary > 0 || U::SHARES || request.transpose_a {
        Panel::<A>::padded(&request.b)
    } else {
        Panel::empty()
    };
    if request.transpose_a {
        let turned = Turned::new(m.cols, csr_part(m).triplets().chain(slots(m)));
        let lists = turned.lists();
        rows::write(request.c, request.scaling, &ByRows { lists, b: &rest })?;
        return Ok(Answer::Written);
    }
    let tiles = U::panel(&request.b, &rest);
    let work = Hybrid::<I, A, U> { m, rest: ByRows { lists: csr_part(m), b: &rest }, tiles, split };
    rows::write(request.c, request.scaling, &work)?;
    Ok(Answer::Written)
}
