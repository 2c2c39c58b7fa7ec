//! f32 on the general cores: slices of the matrix on the device, and the launch of `nm_tile.cu`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::cut::{Blocking, Slices, height};
use super::shape::{Request, Shape, Version, candidates};
use super::{extent, is_tiled, lists, open};
use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{GpuCall, Grid};
use crate::cuda::layout::layout;
use crate::cuda::listed::{FMA, Prepared, Tiled};
use crate::cuda::operand::{DeviceDense, fits, product};
use crate::cuda::source::Source;
use crate::portable::request;
use sparse_types::format::{FormatKind, Nm, NmParts};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

pub(super) fn run_v1(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    run(gpu, task, Version::V1)
}

pub(super) fn run_v2(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    run(gpu, task, Version::V2)
}

pub(super) fn run_v3(gpu: Option<&Gpu>, task: Task<'_>) -> Result<Answer, Refusal> {
    run(gpu, task, Version::V3)
}

fn run(gpu: Option<&Gpu>, task: Task<'_>, version: Version) -> Result<Answer, Refusal> {
    let request = request::spmm::<f32, f32, f32>(task, FormatKind::Nm)?;
    let n = request.c.cols;
    product(
        gpu,
        request,
        |gpu, a, transpose| prepare(gpu, open(a)?, transpose, (version, n)),
        |gpu, prepared, bc, factors| prepared.launch(gpu, FMA, bc, factors),
    )
}

/// An N:M matrix cut for a tile, on the device.
#[derive(Debug)]
struct FmaTiles {
    shape: Shape,
    packed: bool,
    k: usize,
    cols: usize,
    len: usize,
    ws: usize,
    slices: Slices,
}

/// `struct Tile` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct NmTileArg {
    b: u64,
    w: u64,
    rows: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    k: i32,
    n: i32,
    cols: i32,
    ks: i32,
    cap: i32,
    ws: i32,
    slices: i32,
    len: i32,
    groups: i32,
    alpha: f32,
    beta: f32,
}

layout! { NmTile
    NmTileArg as "Tile", 96: {
        b: 0, w: 8, rows: 16, c: 24, ldb: 32, ldc: 40, k: 48, n: 52, cols: 56, ks: 60, cap: 64, ws: 68,
        slices: 72, len: 76, groups: 80, alpha: 84, beta: 88,
    }
}

/// For products with `n` columns of B: chooses a tile, cuts, uploads.
fn prepare(
    gpu: &Gpu,
    nm: &Nm<f32>,
    transpose: bool,
    (version, n): (Version, usize),
) -> Result<Prepared<f32, FmaTiles>, Refusal> {
    if is_tiled(nm, transpose, n) {
        let request = Request {
            pattern: (nm.n, nm.m, nm.l),
            cols: nm.cols,
            n,
            multiprocessors: gpu.multiprocessors()?,
        };
        let tiles = candidates(version, &request);
        let most = gpu.shared_limit()?;
        // Wide windows may leave room for fewer blocks than a tile is made for.
        for sharing in [true, false] {
            for &(shape, blocking) in &tiles {
                let limit = if sharing { shape.share(most) } else { most };
                if let Some(tiles) = FmaTiles::new(gpu, nm, (shape, blocking), limit)? {
                    return Ok(Prepared::Tiles(Box::new(tiles)));
                }
            }
        }
    }
    Prepared::listed(gpu, &lists::lists(nm, transpose)?)
}

impl FmaTiles {
    /// None where slices take more than `limit` bytes of shared memory.
    fn new(
        gpu: &Gpu,
        nm: &Nm<f32>,
        (shape, blocking): (Shape, Blocking),
        limit: usize,
    ) -> Result<Option<FmaTiles>, Refusal> {
        // What cannot fit is not cut at all.
        let least = match blocking.packed {
            true => blocking.span.min(nm.rows),
            false => blocking.span / nm.n * nm.m,
        };
        if shape.shared(least, blocking.ws, 1) > limit {
            return Ok(None);
        }
        let cut = blocking.cut(nm);
        let listed = !blocking.packed || cut.sizes.cap <= shape.most_listed();
        if !listed || shape.shared(cut.sizes.cap, blocking.ws, cut.sizes.groups) > limit {
            return Ok(None);
        }
        Ok(Some(FmaTiles {
            shape,
            packed: blocking.packed,
            k: nm.rows,
            cols: nm.cols,
            len: nm.l,
            ws: blocking.ws,
            slices: cut.upload(gpu, |place, to| values(nm, blocking, place, to))?,
        }))
    }
}

impl Tiled<f32, f32> for FmaTiles {
    fn launch(
        &self,
        gpu: &Gpu,
        (b, c): (&DeviceDense<f32>, &mut DeviceDense<f32>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        fits((self.cols, self.k), b, c)?;
        let (sizes, shape) = (&self.slices.sizes, &self.shape);
        let n = extent("columns of C", c.cols)?;
        let blocks = c.cols.div_ceil(shape.tm) as u128 * sizes.blocks as u128;
        let shared = shape.shared(sizes.cap, self.ws, sizes.groups);
        let grid = Grid::new("tiles of C", blocks, shape.threads() as u32, shared as u32)?;
        let (ldb, ldc) = (b.ld as u64, c.ld as u64);
        let arguments = NmTileArg {
            b: b.data.address(),
            w: self.slices.w.address(),
            rows: self.slices.rows.address(),
            c: c.data.address(),
            ldb,
            ldc,
            k: self.k as i32,
            n,
            cols: self.cols as i32,
            ks: sizes.ks as i32,
            cap: sizes.cap as i32,
            ws: self.ws as i32,
            slices: sizes.slices as i32,
            len: self.len as i32,
            groups: sizes.groups as i32,
            alpha,
            beta,
        };
        // SAFETY: `NmTileArg` is the one parameter of every kernel of nm_tile.cu. `Blocking::cut` made w and rows for this tile:
        // blocks * slices times ws * (tn + groups) words, of which d names rows 0..=cap of a slice; rows are below k, or -1.
        // `fits` compared B and C with k, cols and n, and both have their elements (`DeviceDense::new`); rows of B start at
        // multiples of 16 bytes (`Prepared::launch`) and are read up to n, C is written for j < cols and i < n. `is_tiled` and
        // `extent` keep all numbers below 2^30, and shared memory is what `Shape::shared` says.
        unsafe { GpuCall::new(Source::NmTile, shape.symbol(self.packed), grid).arg(&arguments).launch(gpu) }
    }
}

/// Appends the words of a slice of W: `ws` rows of a block's columns.
fn values(m: &NmParts<f32>, blocking: Blocking, (block, slice): (usize, usize), to: &mut Vec<u32>) {
    let stride = m.cols.div_ceil(m.l) * m.l;
    let columns = (block * blocking.tn).min(stride)..((block + 1) * blocking.tn).min(stride);
    for r in 0..blocking.ws {
        let (u, end) = (slice * blocking.span + r, to.len() + blocking.tn);
        if r < blocking.span && u < height(m) {
            let row = &m.values[u * stride..][columns.clone()];
            to.extend(row.iter().map(|value| value.to_bits()));
        }
        to.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::{ALL, cuts};
    use super::*;

    /// Numbers with full significands.
    fn draw(state: &mut u64) -> f32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((*state >> 33) as f32 / 2f32.powi(30) - 1.0) * 2f32.powi((*state >> 20) as i32 % 5)
    }

    fn matrix((rows, cols): (usize, usize), (n, m, l): (usize, usize, usize), state: &mut u64) -> Nm<f32> {
        let (groups, w) = (cols.div_ceil(l), rows.div_ceil(m) * n);
        let mut index = vec![0; w * groups];
        for at in 0..w * groups {
            // Ascending inside a window: the s-th of n is at least s and leaves room for those behind it.
            let u = at / groups;
            let (s, least) = (u % n, if u % n == 0 { 0 } else { index[at - groups] + 1 });
            let room = (m - n + s) as u32 - least;
            draw(state);
            index[at] = least + (*state >> 40) as u32 % (room.min(2) + 1);
        }
        let stride = groups * l;
        let value = |at: usize, state: &mut u64| {
            let (u, col) = (at / stride, at % stride);
            let row = u / n * m + index[u * groups + col / l] as usize;
            if row < rows && col < cols { draw(state) } else { 0.0 }
        };
        let values = (0..w * stride).map(|at| value(at, state)).collect();
        Nm::try_new(NmParts { rows, cols, n, m, l, index, values }).expect("legal")
    }

    fn dense(gpu: &Gpu, rows: usize, cols: usize, ld: usize, state: &mut u64) -> DeviceDense<f32> {
        let elements: Vec<f32> = (0..rows * ld).map(|_| draw(state)).collect();
        let data = gpu.upload(&elements).expect("memory");
        DeviceDense::new(data, (rows, cols), ld).expect("all of it")
    }

    /// Every tile gives the bits of the lists, pads of C included.
    #[test]
    fn every_tile_agrees_with_the_lists_bit_for_bit() {
        let Ok(gpu) = Gpu::get() else {
            eprintln!("SKIPPED: {} tiles, whole and packed, for want of a GPU", ALL.len());
            return;
        };
        let limit = gpu.shared_limit().expect("a device");
        let (mut state, mut compared) = (5u64, 0);
        for (k, cols, n) in [(64, 256, 128), (333, 517, 301), (96, 40, 9), (1000, 264, 132)] {
            for params in
                [(16, 32, 32), (12, 32, 16), (8, 32, 128), (4, 32, 32), (3, 7, 8), (1, 64, 40), (2, 2, 24)]
            {
                let nm = matrix((k, cols), params, &mut state);
                let b = dense(gpu, k, n, n.next_multiple_of(4) + 4, &mut state);
                let before = dense(gpu, cols, n, n + cols % 4, &mut state);
                let lists = lists::lists(&nm, true).expect("small");
                let listed: Prepared<f32, FmaTiles> = Prepared::listed(gpu, &lists).expect("memory");
                let mut held = vec![0f32; before.data.len()];
                gpu.download(&before.data, &mut held).expect("no fault");
                let result = |run: &dyn Fn(&mut DeviceDense<f32>)| {
                    let data = gpu.upload(&held).expect("memory");
                    let mut c = DeviceDense::new(data, (cols, n), before.ld).expect("as before");
                    run(&mut c);
                    let mut bits = vec![0f32; cols * c.ld];
                    gpu.download(&c.data, &mut bits).expect("no fault");
                    bits.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
                };
                let factors = (0.75, -1.5);
                let wanted = result(&|c| listed.launch(gpu, FMA, (&b, c), factors).expect("runs"));
                let both = |shape| [false, true].map(|packed| (shape, packed));
                let blockings = |(shape, packed)| {
                    cuts(shape, packed, (nm.n, nm.m)).step_by(3).map(move |blocking| (*shape, blocking))
                };
                for (shape, blocking) in ALL.iter().flat_map(both).flat_map(blockings) {
                    let Some(tiles) = FmaTiles::new(gpu, &nm, (shape, blocking), limit).expect("memory")
                    else {
                        continue;
                    };
                    let found = result(&|c| tiles.launch(gpu, (&b, c), factors).expect("runs"));
                    let first = found.iter().zip(&wanted).position(|(x, y)| x != y);
                    let symbol = shape.symbol(blocking.packed);
                    assert_eq!(first, None, "{symbol} {blocking:?} {k} x {cols} x {n} {params:?}");
                    compared += 1;
                }
            }
        }
        eprintln!("{compared} products by tiles");
        assert!(compared > 150, "{compared}");
    }
}
