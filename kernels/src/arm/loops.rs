//! LOOPS times dense: the CSR part by rows, the tile part by outer products, both at the same time.
//!
//! ```text
//! C rows 0..boundary      CSR part    NEON (csr.rs)                  chunks of rows    \  one thread pool, disjoint
//! C rows boundary..m      tile part   NEON (neon.rs) or SME (sme/)   chunks of blocks  /  rows of C
//! ```
//!
//! Both parts share one pool of threads, each of which takes chunks of either: the paper's two groups of threads, each with a number of
//! its own (section 3.4), and its choice of numbers and boundary (section 3.5) are not here. Which chunk runs where changes no result.
//!
//! Pads of tiles are multiplied. The transpose of a LOOPS matrix has no tiles along its rows: it is turned into rows, pads included,
//! and goes the way of the CSR part.
//!
//! Source: section 3 of the LOOPS paper; SEMANTICS section 6.

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
use rayon::iter::ParallelIterator;
use sparse_types::format::{FormatKind, Loops, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::scalar::Element;
use sparse_types::task::{Answer, Task};
use std::ops::Range;

/// Rows of the tile part that one task of the thread pool takes, about.
const CHUNK: usize = 64;

/// What multiplies tiles.
pub(crate) trait Tiles<I: Operand<A>, A: NeonVector> {
    /// What the machine must have.
    const NEEDS: &'static [Feature];

    /// B as this unit reads it.
    type Right: Clone + Sync + std::fmt::Debug;

    /// True where it reads B as the CSR part does.
    const SHARES: bool;

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
    rest: &'a Panel<'a, A>,
    tiles: Panel<'a, U::Right>,
}

impl<I: Operand<A>, A: NeonVector, U: Tiles<I, A>> RowMajorProduct<A> for Hybrid<'_, I, A, U> {
    fn run<O: Output<A>>(&self, c: ResultRows<'_, O>, scaling: Scaling<A>) -> Result<(), Refusal> {
        let m = self.m;
        let (upper, lower) = c.split_at(m.boundary);
        let rest = ByRows { lists: csr_part(m), b: self.rest };
        let per_chunk = (CHUNK / m.br).max(1);
        let tiles = || {
            lower.chunks(per_chunk * m.br).try_for_each(|(first, c)| {
                let start = first / m.br;
                let end = (start + per_chunk).min(m.blocks());
                U::blocks(m, start..end, &self.tiles, c, &scaling)
            })
        };
        let (upper, lower) = rayon::join(|| rest.run(upper, scaling), tiles);
        upper.and(lower)
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
    Feature::require(U::NEEDS, super::detected)?;
    let request = request::spmm::<I, A, O>(task, FormatKind::Loops)?;
    let Some(request) = without_product(request) else {
        return Ok(Answer::Written);
    };
    let Sparse::Loops(m) = request.a else {
        return Err(request::wrong_format("A", FormatKind::Loops, request.a.kind()));
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
    let work = Hybrid::<I, A, U> { m, rest: &rest, tiles };
    rows::write(request.c, request.scaling, &work)?;
    Ok(Answer::Written)
}
