//! SpMM and SpMV of any format: from a task to checked operands, lanes, jobs and the inner loops.

use super::dense::{self, Dense, Target};
use super::element::{Enter, Leave};
use super::formats::RowSource;
use super::isa::Core;
use super::lanes::{BlockTiles, Buffers, RowUnits};
use crate::portable::element::Stored;
use crate::portable::request::{self, Product};
use crate::portable::scaling::Scaling;
use crate::portable::unit::Unit;
use crate::workers::{self, Grouping, Job, Part, Split};
use sparse_types::format::Sparse;
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use std::ops::Range;

/// The SpMM kernel for instruction set `S`, format `F` and element types `I` (both operands), `A` (accumulator), `O` (output).
pub(super) fn run<S: Core<A>, F: RowSource, I: Enter<A>, A: Unit, O: Leave<A>>(
    task: Task<'_>,
) -> Result<Answer, Refusal> {
    let isa = S::detect()?;
    let request = request::spmm::<I, A, O>(task, F::KIND)?;
    product(isa, request, rows_of::<F, I>, None)
}

/// The SpMV kernel.
pub(super) fn run_vector<S: Core<A>, F: RowSource, I: Enter<A>, A: Unit, O: Leave<A>>(
    task: Task<'_>,
) -> Result<Answer, Refusal> {
    let isa = S::detect()?;
    let request = request::spmv::<I, A, O>(task, F::KIND)?;
    product(isa, request, rows_of::<F, I>, None)
}

/// What is multiplied.
pub(super) enum Work<'a, I> {
    /// Rows of any format.
    Rows(Box<dyn RowUnits<I> + 'a>),
    /// Rows, then tiles.
    Both(Box<dyn RowUnits<I> + 'a>, Blocks<'a, I>),
}

impl<I: Sync> Work<'_, I> {
    /// Entries, roughly; slots in tiles.
    fn stored(&self) -> usize {
        let rows = |lanes: &dyn RowUnits<I>| lanes.before(lanes.units());
        match self {
            Work::Rows(lanes) => rows(&**lanes),
            Work::Both(lanes, blocks) => rows(&**lanes) + blocks.tiles.values.len(),
        }
    }
}

/// Opens a matrix, or its transpose. A function pointer, so that the loops are compiled once and not per format.
pub(super) type Open<I> = for<'a> fn(&'a Sparse<I>, bool) -> Result<Work<'a, I>, Refusal>;

fn rows_of<F: RowSource, I: Stored + Default>(
    matrix: &Sparse<I>,
    transpose: bool,
) -> Result<Work<'_, I>, Refusal> {
    Ok(Work::Rows(F::lanes(matrix, transpose)?))
}

/// The tile part of a matrix.
#[derive(Debug)]
pub(super) struct Blocks<'a, I> {
    /// First row of the part.
    pub(super) boundary: usize,
    /// All tiles.
    pub(super) tiles: BlockTiles<'a, I>,
}

/// A checked product.
pub(super) fn product<S: Core<A>, I: Enter<A>, A: Unit, O: Leave<A>>(
    isa: S,
    request: Product<'_, I, A, O>,
    open: Open<I>,
    split: Option<Split>,
) -> Result<Answer, Refusal> {
    let Product { a, transpose_a, b, scaling, mut c } = request;
    // Nothing to write; and the extents of A are not bounded by any operand then.
    if c.rows == 0 || c.cols == 0 {
        return Ok(Answer::Written);
    }
    if !scaling.reads_product() {
        for i in 0..c.rows {
            for j in 0..c.cols {
                c.update(i, j, |old| scaling.without_product(old));
            }
        }
        return Ok(Answer::Written);
    }
    let work = open(a, transpose_a)?;
    let b = dense::pack(isa, &b, work.stored() / b.rows.max(1));
    let keep = scaling.factors().1 != A::ZERO;
    dense::by_rows(&mut c, keep, |c, ldc| {
        let loops = Loops {
            isa,
            b: b.view(),
            scaling,
            stream: O::as_unit(c).is_some_and(|c| Target::streams(c, ldc, keep)),
        };
        loops.run(&work, split, (c, ldc))
    })?;
    Ok(Answer::Written)
}

/// The operands of all jobs but A and C.
struct Loops<'b, S, A> {
    isa: S,
    b: Dense<'b, A>,
    scaling: Scaling<A>,
    /// C is written past the caches.
    stream: bool,
}

/// Buffers of one worker.
struct WorkerBuffers<I, A> {
    decoded: Buffers<I>,
    values: Vec<A>,
    c: Vec<A>,
}

/// A part as the cutter sees it.
enum CutPart<'w, 'a, I> {
    None,
    Rows(&'w (dyn RowUnits<I> + 'a)),
    Tiles(&'w Blocks<'a, I>),
}

/// Cost of a row next to that of an entry.
const ROW: usize = 4;

impl<I: Sync> Part for CutPart<'_, '_, I> {
    fn units(&self) -> usize {
        match self {
            CutPart::None => 0,
            CutPart::Rows(lanes) => lanes.units(),
            CutPart::Tiles(blocks) => blocks.tiles.ptr.len() - 1,
        }
    }

    fn first_row(&self, unit: usize) -> usize {
        match self {
            CutPart::None => 0,
            CutPart::Rows(lanes) => lanes.first_row(unit),
            CutPart::Tiles(blocks) => blocks.boundary + (unit * blocks.tiles.br).min(blocks.tiles.rows),
        }
    }

    fn before(&self, unit: usize) -> usize {
        match self {
            CutPart::None => 0,
            CutPart::Rows(lanes) => lanes.before(unit) + ROW * lanes.first_row(unit),
            CutPart::Tiles(blocks) => (blocks.tiles.ptr[unit] as usize + ROW * unit) * blocks.tiles.br,
        }
    }
}

impl<S: Core<A>, A: Unit> Loops<'_, S, A> {
    fn run<I: Enter<A>, O: Leave<A>>(
        &self,
        work: &Work<'_, I>,
        split: Option<Split>,
        (c, ldc): (&mut [O], usize),
    ) -> Result<(), Refusal> {
        let parts = match work {
            Work::Rows(lanes) => [CutPart::Rows(&**lanes), CutPart::None],
            Work::Both(lanes, blocks) => [CutPart::Rows(&**lanes), CutPart::Tiles(blocks)],
        };
        let kept = || WorkerBuffers { decoded: Buffers::default(), values: Vec::new(), c: Vec::new() };
        workers::run([&parts[0], &parts[1]], (split, Grouping::Mixed), (c, ldc), kept, |kept, job| {
            self.job(&parts[job.part], kept, job, ldc);
            Ok(())
        })
    }

    /// One job, through a buffer where C is of another type than the accumulator.
    fn job<I: Enter<A>, O: Leave<A>>(
        &self,
        part: &CutPart<'_, '_, I>,
        kept: &mut WorkerBuffers<I, A>,
        job: Job<'_, O>,
        ldc: usize,
    ) {
        let Job { units, c, .. } = job;
        let WorkerBuffers { decoded, values, c: own } = kept;
        if let Some(c) = O::as_unit(c) {
            let stream = self.stream;
            let c = Target { data: c, ld: ldc, stream };
            self.multiply(part, units, (decoded, values), c);
            return;
        }
        let n = self.b.cols;
        let rows = c.len() / ldc;
        own.clear();
        own.resize(rows * n, A::ZERO);
        if self.scaling.factors().1 != A::ZERO {
            for (row, own) in c.chunks_exact(ldc).zip(own.chunks_exact_mut(n)) {
                O::read(self.isa, &row[..n], own);
            }
        }
        let buffer = Target { data: &mut own[..], ld: n, stream: false };
        self.multiply(part, units, (decoded, values), buffer);
        for (row, own) in c.chunks_exact_mut(ldc).zip(own.chunks_exact(n)) {
            O::narrow(self.isa, own, &mut row[..n]);
        }
    }

    fn multiply<I: Enter<A>>(
        &self,
        part: &CutPart<'_, '_, I>,
        units: Range<usize>,
        (decoded, values): (&mut Buffers<I>, &mut Vec<A>),
        c: Target<'_, A>,
    ) {
        match part {
            CutPart::None => {}
            CutPart::Rows(lanes) => {
                let rows = lanes.read(units, decoded);
                let rows = rows.with(self.widened(rows.values, values));
                if self.b.cols == 1 {
                    self.isa.vector(rows, self.b, self.scaling, c);
                } else {
                    self.isa.rows(rows, self.b, self.scaling, c);
                }
            }
            CutPart::Tiles(blocks) => {
                let all = &blocks.tiles;
                let ptr = &all.ptr[units.start..=units.end];
                let stored = ptr[0] as usize..ptr[ptr.len() - 1] as usize;
                let slots = &all.values[stored.start * all.br..stored.end * all.br];
                let tiles = BlockTiles {
                    rows: (units.end * all.br).min(all.rows) - units.start * all.br,
                    br: all.br,
                    ptr,
                    cols: &all.cols[stored],
                    values: self.widened(slots, values),
                };
                self.isa.tiles(tiles, self.b, self.scaling, c);
            }
        }
    }

    /// Values in the accumulator's type: as stored, or in the buffer.
    fn widened<'v, I: Enter<A>>(&self, stored: &'v [I], buffer: &'v mut Vec<A>) -> &'v [A] {
        if let Some(values) = I::as_unit(stored) {
            return values;
        }
        buffer.clear();
        buffer.resize(stored.len(), A::ZERO);
        I::widen(self.isa, stored, buffer);
        buffer
    }
}
