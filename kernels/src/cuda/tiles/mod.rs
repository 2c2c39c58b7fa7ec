//! SpMM on windows of 8 rows: `kernels/cuda/tiles_spmm.cu` with `tiles_ring.cuh` and its host side, shared by RSH-SpMM and Libra.
//!
//! ```text
//! format -> Arrays (tiles, rest) + windows -> plan -> Prepared (on the device)   once
//!        -> launch: items x slabs of columns; then the sums of long windows, if there are any
//! ```
//!
//! A slab is 64 columns of B, or 32 where B has no more; of f16, 128 where there is work enough. Rows of B and C that do not
//! start at multiples of 16 bytes take kernels that load one element at a time.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

pub(crate) mod declared;
#[cfg(test)]
mod lanes;
pub(crate) mod plan;

use super::gpu::Gpu;
use super::launch::{GpuCall, Grid};
use super::layout::layout;
use super::operand::{DeviceDense, Word};
use super::source::Source;
use crate::cuda::buffer::GpuBuffer;
use crate::portable::element::Operand;
use crate::portable::request::same;
use plan::{FormatTiles, Limits, WARPS, Window, WorkPlan};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::{F16, Tf32};
use std::sync::{Mutex, PoisonError};

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &[
    "rsh_tf32_32",
    "rsh_tf32_64",
    "rsh_tf32_any",
    "rsh_f16_32",
    "rsh_f16_64",
    "rsh_f16_128",
    "rsh_f16_any",
    "libra_tf32_32",
    "libra_tf32_64",
    "libra_tf32_any",
    "libra_f16_32",
    "libra_f16_64",
    "libra_f16_any",
    "tiles_finish",
    "scale_c",
];

/// Threads of a block, as in the launch bounds of the source.
const BLOCK: u32 = 128;

/// Tiles times slabs of 128 columns for each multiprocessor, from which on such slabs are faster. With fewer, slabs of 64 have twice
/// as many warps to wait for memory with (docs/evidence, the pages of tiles).
const TILES_OF_A_WIDE_SLAB: usize = 130;

/// Most entries of a rest there, which a lane group walks through twice, for 64 columns each: the longest one decides when the
/// launch ends.
const REST_OF_A_WIDE_SLAB: u32 = 32;

/// Most blocks along y.
const GRID_Y: usize = 65_535;

/// One method's kernels for one element type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbols {
    /// 32 columns.
    pub(crate) narrow: &'static str,
    /// 64 columns.
    pub(crate) wide: &'static str,
    /// 128 columns, where that pays: tf32 takes so many registers that it does not, and most of Libra's rows have a rest.
    pub(crate) widest: Option<&'static str>,
    /// 32 columns, any alignment.
    pub(crate) any: &'static str,
    /// Elements of B in 16 bytes.
    pub(crate) vector: usize,
    /// True if a row may have entries in tiles and in the rest, whose sums are then added; else it is in one of them.
    pub(crate) both: bool,
}

/// An element type that the kernels take.
pub(crate) trait TileElement: Word + Operand<f32> {
    /// Its kernels for RSH-SpMM.
    const RSH: Symbols;
    /// Its kernels for Libra.
    const LIBRA: Symbols;

    /// A value of a tile as the kernels read it; tf32 is rounded here.
    fn ready(self) -> Self::Bits;
}

impl TileElement for Tf32 {
    const RSH: Symbols = Symbols {
        narrow: "rsh_tf32_32",
        wide: "rsh_tf32_64",
        widest: None,
        any: "rsh_tf32_any",
        vector: 4,
        both: false,
    };
    const LIBRA: Symbols = Symbols {
        narrow: "libra_tf32_32",
        wide: "libra_tf32_64",
        any: "libra_tf32_any",
        both: true,
        ..Tf32::RSH
    };

    fn ready(self) -> u32 {
        self.load().to_bits()
    }
}

impl TileElement for F16 {
    const RSH: Symbols = Symbols {
        narrow: "rsh_f16_32",
        wide: "rsh_f16_64",
        widest: Some("rsh_f16_128"),
        any: "rsh_f16_any",
        vector: 8,
        both: false,
    };
    const LIBRA: Symbols = Symbols {
        narrow: "libra_f16_32",
        wide: "libra_f16_64",
        widest: None,
        any: "libra_f16_any",
        both: true,
        ..F16::RSH
    };

    fn ready(self) -> u16 {
        self.bits()
    }
}

/// The matrix as the kernels read it.
#[derive(Debug)]
pub(crate) struct TileArrays<'a, T> {
    /// Rows.
    pub(crate) rows: usize,
    /// Columns.
    pub(crate) cols: usize,
    /// The tiles.
    pub(crate) tiles: FormatTiles<'a>,
    /// Of tiles, in the order of the bits.
    pub(crate) values: &'a [T],
    /// Columns of the other entries.
    pub(crate) rest_col: &'a [u32],
    /// Their values.
    pub(crate) rest_values: &'a [T],
}

/// A matrix on the device, and its work.
#[derive(Debug)]
pub(crate) struct PreparedTiles<I: Word> {
    rows: usize,
    cols: usize,
    symbols: Symbols,
    /// Tiles and slabs of 128 columns, multiplied, from which on those slabs are taken; none with a longer rest.
    wide_from: Option<usize>,
    /// Entries of a chain of a rest.
    piece: u32,
    item_count: usize,
    items: GpuBuffer<u32>,
    row_slots: GpuBuffer<u32>,
    cols_of_tiles: GpuBuffer<u32>,
    bitmap: GpuBuffer<u64>,
    first: GpuBuffer<u32>,
    values: GpuBuffer<I::Bits>,
    rest_col: GpuBuffer<u32>,
    rest_values: GpuBuffer<I::Bits>,
    cut_rows: GpuBuffer<u32>,
    cut: usize,
    workspace_rows: usize,
    workspace: Mutex<Option<GpuBuffer<f32>>>,
}

/// `struct Matrix` of the source: addresses of arrays.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct MatrixArg {
    items: u64,
    row_slots: u64,
    cols: u64,
    bitmap: u64,
    first: u64,
    values: u64,
    rest_col: u64,
    rest_values: u64,
}

/// `struct Dense` of the source.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct DenseArg {
    b: u64,
    ldb: u64,
    c: u64,
    ldc: u64,
    workspace: u64,
    ldw: u64,
    n: u32,
    alpha: f32,
    beta: f32,
}

layout! { TilesSpmm
    MatrixArg as "Matrix", 64: {
        items: 0, row_slots: 8, cols: 16, bitmap: 24, first: 32, values: 40, rest_col: 48, rest_values: 56,
    }
    DenseArg as "Dense", 64: {
        b: 0, ldb: 8, c: 16, ldc: 24, workspace: 32, ldw: 40, n: 48, alpha: 52, beta: 56,
    }
}

impl<I: TileElement> PreparedTiles<I> {
    /// Uploads a matrix whose indices are those of a checked format, and cuts its work.
    pub(crate) fn new(
        gpu: &Gpu,
        symbols: Symbols,
        arrays: &TileArrays<'_, I>,
        windows: impl Iterator<Item = Window>,
        limits: Limits,
    ) -> Result<PreparedTiles<I>, Refusal> {
        let most = u128::from(plan::WORKSPACE);
        let too_large = |field, found: u128| {
            Refusal::Request(RequestError::TooLarge { field, found, limit: most as u64 })
        };
        if arrays.rows as u128 > most {
            return Err(too_large("rows of A", arrays.rows as u128));
        }
        let plan =
            WorkPlan::new(windows, limits).ok_or_else(|| too_large("rows of the workspace", most + 1))?;
        let mut values: Vec<I::Bits> = arrays.values.iter().map(|value| value.ready()).collect();
        let rest_values: Vec<I::Bits> = arrays.rest_values.iter().map(|value| value.bits()).collect();
        // The kernel copies 16 bytes at once.
        values.resize(values.len().next_multiple_of(symbols.vector), I::Bits::default());
        Ok(PreparedTiles {
            rows: arrays.rows,
            cols: arrays.cols,
            symbols,
            wide_from: (plan.longest_rest <= REST_OF_A_WIDE_SLAB)
                .then_some(TILES_OF_A_WIDE_SLAB * gpu.multiprocessors()?),
            piece: limits.piece,
            item_count: plan.items(),
            items: gpu.upload(&plan.items)?,
            row_slots: gpu.upload(&plan.slots)?,
            cols_of_tiles: gpu.upload(arrays.tiles.col)?,
            bitmap: gpu.upload(arrays.tiles.bitmap)?,
            first: gpu.upload(arrays.tiles.value_ptr)?,
            values: gpu.upload(&values)?,
            rest_col: gpu.upload(arrays.rest_col)?,
            rest_values: gpu.upload(&rest_values)?,
            cut_rows: gpu.upload(&plan.cut_rows)?,
            cut: plan.cut_rows.len() / 5,
            workspace_rows: plan.workspace_rows,
            workspace: Mutex::new(None),
        })
    }

    /// `C = alpha * A * B + beta * C`; returns when it is queued.
    pub(crate) fn launch(
        &self,
        gpu: &Gpu,
        b: &DeviceDense<I>,
        c: &mut DeviceDense<f32>,
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        same(("columns of A", self.cols), ("rows of B", b.rows))?;
        same(("rows of A", self.rows), ("rows of C", c.rows))?;
        same(("columns of B", b.cols), ("columns of C", c.cols))?;
        let n = c.cols;
        // One column a thread of the other kernels.
        if n.div_ceil(BLOCK as usize) > GRID_Y {
            return Err(Refusal::Request(RequestError::TooLarge {
                field: "columns of C",
                found: n as u128,
                limit: GRID_Y as u64 * u64::from(BLOCK),
            }));
        }
        if self.rows == 0 || n == 0 {
            return Ok(());
        }
        if alpha == 0.0 {
            return self.scale(gpu, c, beta);
        }
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        let ldw = n.next_multiple_of(4);
        let needed = self.workspace_rows.saturating_mul(ldw);
        if workspace.as_ref().is_none_or(|w| w.len() < needed) {
            // The old one goes first: there may be no room for both.
            *workspace = None;
            *workspace = Some(gpu.zeros(needed)?);
        }
        let Some(workspace) = workspace.as_mut() else {
            return Ok(());
        };
        let dense = DenseArg {
            b: b.data.address(),
            ldb: b.ld as u64,
            c: c.data.address(),
            ldc: c.ld as u64,
            workspace: workspace.address(),
            ldw: ldw as u64,
            n: n as u32,
            alpha,
            beta,
        };
        // The vector kernels multiply a column by the bytes of a row in 32 bits.
        let row_bytes = b.ld.saturating_mul(size_of::<I::Bits>());
        let aligned = b.ld.is_multiple_of(self.symbols.vector)
            && c.ld.is_multiple_of(4)
            && u32::try_from(row_bytes).is_ok();
        self.items(gpu, dense, aligned)?;
        self.finish(gpu, dense)
    }

    fn items(&self, gpu: &Gpu, dense: DenseArg, aligned: bool) -> Result<(), Refusal> {
        let n = dense.n as usize;
        let work = self.bitmap.len().saturating_mul(n.div_ceil(128));
        let (symbol, columns) = match (aligned, n, self.symbols.widest) {
            (false, ..) => (self.symbols.any, 32),
            (true, ..=32, _) => (self.symbols.narrow, 32),
            (true, 65.., Some(widest)) if self.wide_from.is_some_and(|from| work >= from) => (widest, 128),
            (true, ..) => (self.symbols.wide, 64),
        };
        let matrix = MatrixArg {
            items: self.items.address(),
            row_slots: self.row_slots.address(),
            cols: self.cols_of_tiles.address(),
            bitmap: self.bitmap.address(),
            first: self.first.address(),
            values: self.values.address(),
            rest_col: self.rest_col.address(),
            rest_values: self.rest_values.address(),
        };
        // The warps of a block take neighbouring items of one slab, because those read mostly the same rows of B.
        let (slabs, items) = (n.div_ceil(columns), self.item_count as u32);
        let blocks = self.item_count.div_ceil(WARPS) as u128 * slabs as u128;
        let call =
            GpuCall::new(Source::TilesSpmm, symbol, Grid::new("blocks of the product", blocks, BLOCK, 0)?)
                .arg(&matrix)
                .arg(&dense)
                .arg(&items)
                .arg(&self.piece);
        // SAFETY: four arguments of the types and in the order of KERNEL in tiles_spmm.cu. The arrays live in `self`, B, C
        // and the workspace with the caller until the stream has run (they are freed in its order). Indices are those of a
        // checked format: columns below `cols`, which is B's rows; tiles, values and entries within their arrays; the plan
        // has each row of C and of the workspace below its number of them. `launch` compared the shapes, so that
        // `row * ld + n - 1` lies in B and C, whose lengths their constructor checked; where 16 bytes are read at once,
        // `ld` is a multiple of them, and the last ones of a row end within `ld`; the values of tiles are padded to 16 bytes.
        // A chain has at most as many tiles as the ring names (MOST, which is `Limits::tiles` of both methods), and all items
        // of a block with a team are there to meet at its barrier.
        unsafe { call.launch(gpu) }
    }

    /// The sums of long windows.
    fn finish(&self, gpu: &Gpu, dense: DenseArg) -> Result<(), Refusal> {
        if self.cut == 0 {
            return Ok(());
        }
        let both = u32::from(self.symbols.both);
        let call = GpuCall::new(Source::TilesSpmm, "tiles_finish", columns(self.cut, dense.n))
            .arg(&self.cut_rows.address())
            .arg(&dense)
            .arg(&both);
        // SAFETY: three arguments as in the source; a block a cut row, of which there are as many, a thread a column, and
        // those past n return; its shared memory has a column for each of the BLOCK threads. The rows that it names were written
        // by the items before, in the same stream.
        unsafe { call.launch(gpu) }
    }

    /// alpha = 0.
    fn scale(&self, gpu: &Gpu, c: &mut DeviceDense<f32>, beta: f32) -> Result<(), Refusal> {
        let (ldc, n) = (c.ld as u64, c.cols as u32);
        let call = GpuCall::new(Source::TilesSpmm, "scale_c", columns(self.rows, n))
            .arg(&c.data.address())
            .arg(&ldc)
            .arg(&n)
            .arg(&beta);
        // SAFETY: four arguments as in the source; a block a row of C, a thread a column, and those past n return.
        unsafe { call.launch(gpu) }
    }
}

/// A block for each row and `BLOCK` columns.
const fn columns(rows: usize, n: u32) -> Grid {
    Grid { blocks: [rows as u32, n.div_ceil(BLOCK)], threads: BLOCK, shared: 0 }
}
