//! f32 on the general cores: slices of the matrix on the device, and the launch of `nm_tile.cu`.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::cut::{Cut, Knife, height};
use super::shape::{Shape, Version, candidates, knife};
use super::{is_tiled, lists, open};
use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{self, Grid, address, address_mut};
use crate::cuda::listed::{Listed, aligned};
use crate::cuda::operand::{DeviceDense, product};
use crate::cuda::source::Source;
use crate::portable::request;
use cudarc::driver::{CudaSlice, DeviceRepr};
use sparse_oracle::format::{FormatKind, Nm, NmParts};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};

pub(super) fn run_v1(task: Task<'_>) -> Result<Answer, Refusal> {
    run(task, Version::V1)
}

pub(super) fn run_v2(task: Task<'_>) -> Result<Answer, Refusal> {
    run(task, Version::V2)
}

pub(super) fn run_v3(task: Task<'_>) -> Result<Answer, Refusal> {
    run(task, Version::V3)
}

fn run(task: Task<'_>, version: Version) -> Result<Answer, Refusal> {
    let request = request::spmm::<f32, f32, f32>(task, FormatKind::Nm)?;
    let n = request.c.cols;
    product(
        request,
        |gpu, a, transpose| Prepared::new(gpu, open(a)?, transpose, (version, n)),
        |gpu, prepared, (b, c), factors| prepared.launch(gpu, b, c, factors),
    )
}

/// An N:M matrix on the device.
#[derive(Debug)]
enum Prepared {
    Tiles(Box<Tiles>),
    Listed(Listed<f32>),
}

#[derive(Debug)]
struct Tiles {
    shape: Shape,
    packed: bool,
    k: usize,
    cols: usize,
    len: usize,
    ws: usize,
    cut: Cut,
    w: CudaSlice<f32>,
    d: CudaSlice<u32>,
    rows: CudaSlice<i32>,
    counts: CudaSlice<i32>,
}

/// `struct Tile` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Arguments {
    b: u64,
    w: u64,
    d: u64,
    rows: u64,
    counts: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    ldw: i32,
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

// SAFETY: plain numbers in the layout of C, without padding (64 + 48 bytes).
unsafe impl DeviceRepr for Arguments {}

impl Prepared {
    /// For products with `n` columns of B: chooses a tile, cuts, uploads.
    fn new(
        gpu: &Gpu,
        nm: &Nm<f32>,
        transpose: bool,
        (version, n): (Version, usize),
    ) -> Result<Prepared, Refusal> {
        if is_tiled(nm, transpose, n) {
            for shape in candidates(
                version,
                (nm.n, nm.m),
                (n, nm.cols),
                gpu.found().multiprocessors()?,
            ) {
                let knife = knife(version, &shape, (nm.n, nm.m));
                if let Some(tiles) = Tiles::new(gpu, nm, shape, knife)? {
                    return Ok(Prepared::Tiles(Box::new(tiles)));
                }
            }
        }
        let lists = lists::lists(nm, transpose)?;
        Ok(Prepared::Listed(Listed::new(gpu, &lists)?))
    }

    /// `C = alpha * op(A) * B + beta * C`; returns when it is queued.
    fn launch(
        &self,
        gpu: &Gpu,
        b: &DeviceDense<f32>,
        c: &mut DeviceDense<f32>,
        factors: (f32, f32),
    ) -> Result<(), Refusal> {
        match self {
            _ if factors.0 == 0.0 => Listed::empty(gpu, c.rows)?.launch(gpu, "listed_fma", (b, c), factors),
            Prepared::Listed(listed) => listed.launch(gpu, "listed_fma", (b, c), factors),
            Prepared::Tiles(tiles) => match aligned(gpu, b)? {
                Some(copy) => tiles.launch(gpu, &copy, c, factors),
                None => tiles.launch(gpu, b, c, factors),
            },
        }
    }
}

impl Tiles {
    /// None where the device has not enough shared memory for a slice.
    fn new(gpu: &Gpu, nm: &Nm<f32>, shape: Shape, knife: Knife) -> Result<Option<Tiles>, Refusal> {
        let limit = launch::shared_limit(gpu)?;
        // A window that no shared memory holds whole is not cut at all.
        if !knife.packed && shape.shared(knife.span / nm.n * nm.m, knife.ws, 1) > limit {
            return Ok(None);
        }
        let cut = knife.cut(nm);
        let listed = !knife.packed || cut.cap <= shape.most_listed();
        if !listed || shape.shared(cut.cap, knife.ws, cut.groups) > limit {
            return Ok(None);
        }
        Ok(Some(Tiles {
            shape,
            packed: knife.packed,
            k: nm.rows,
            cols: nm.cols,
            len: nm.l,
            ws: knife.ws,
            w: gpu.upload(&values(nm, knife, &cut))?,
            d: gpu.upload(&cut.d)?,
            rows: gpu.upload(&cut.rows)?,
            counts: gpu.upload(&cut.counts)?,
            cut: Cut {
                d: Vec::new(),
                rows: Vec::new(),
                counts: Vec::new(),
                ..cut
            },
        }))
    }

    fn launch(
        &self,
        gpu: &Gpu,
        b: &DeviceDense<f32>,
        c: &mut DeviceDense<f32>,
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        let (cut, shape) = (&self.cut, &self.shape);
        let blocks = c.cols.div_ceil(shape.tm) as u128 * cut.blocks as u128;
        let shared = shape.shared(cut.cap, self.ws, cut.groups);
        let grid = Grid::new("tiles of C", blocks, shape.threads() as u32, shared as u32)?;
        let (n, ldb, ldc) = (c.cols as i32, b.ld as u64, c.ld as u64);
        let arguments = Arguments {
            b: address(gpu, &b.data),
            w: address(gpu, &self.w),
            d: address(gpu, &self.d),
            rows: address(gpu, &self.rows),
            counts: address(gpu, &self.counts),
            c: address_mut(gpu, &mut c.data),
            ldb,
            ldc,
            ldw: (cut.blocks * shape.tn) as i32,
            k: self.k as i32,
            n,
            cols: self.cols as i32,
            ks: cut.ks as i32,
            cap: cut.cap as i32,
            ws: self.ws as i32,
            slices: cut.slices as i32,
            len: self.len as i32,
            groups: cut.groups as i32,
            alpha,
            beta,
        };
        // SAFETY: `Arguments` is the one parameter of every kernel of nm_tile.cu. `Knife::cut` made d, rows and counts for this
        // tile: d names rows 0..=cap of a slice, rows are below k, or -1. W has slices * ws rows of ldw (`values`). The request
        // compared B and C with k, cols and n; rows of B start at multiples of 16 bytes (`aligned`) and are read up to n, C is
        // written for j < cols and i < n. `is_tiled` keeps all numbers below 2^30, and shared memory is what `Shape::shared` says.
        unsafe { launch::by_value(gpu, Source::NmTile, shape.symbol(self.packed), grid, &arguments) }
    }
}

/// W in slices of `ws` rows, each padded to whole blocks of columns.
fn values(m: &NmParts<f32>, knife: Knife, cut: &Cut) -> Vec<f32> {
    let (stride, ldw) = (m.cols.div_ceil(m.l) * m.l, cut.blocks * knife.tn);
    let width = stride.min(ldw);
    let mut w = vec![0.0; cut.slices * knife.ws * ldw];
    for u in 0..height(m) {
        let row = u / knife.span * knife.ws + u % knife.span;
        w[row * ldw..][..width].copy_from_slice(&m.values[u * stride..][..width]);
    }
    w
}

#[cfg(test)]
mod tests {
    use super::super::shape::ALL;
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
            if row < rows && col < cols {
                draw(state)
            } else {
                0.0
            }
        };
        let values = (0..w * stride).map(|at| value(at, state)).collect();
        Nm::try_new(NmParts {
            rows,
            cols,
            n,
            m,
            l,
            index,
            values,
        })
        .expect("legal")
    }

    fn dense(gpu: &Gpu, rows: usize, cols: usize, ld: usize, state: &mut u64) -> DeviceDense<f32> {
        let elements: Vec<f32> = (0..rows * ld).map(|_| draw(state)).collect();
        DeviceDense {
            data: gpu.upload(&elements).expect("memory"),
            rows,
            cols,
            ld,
        }
    }

    /// Every tile gives the bits of the lists, pads of C included.
    #[test]
    fn every_tile_agrees_with_the_lists_bit_for_bit() {
        let Ok(gpu) = Gpu::get() else {
            eprintln!(
                "SKIPPED: {} tiles, whole and packed, for want of a GPU",
                ALL.len()
            );
            return;
        };
        let (mut state, mut compared) = (5u64, 0);
        for (k, cols, n) in [(64, 256, 128), (333, 517, 301), (96, 40, 9), (1000, 264, 132)] {
            for params in [
                (16, 32, 32),
                (12, 32, 16),
                (8, 32, 128),
                (4, 32, 32),
                (3, 7, 8),
                (1, 64, 40),
                (2, 2, 24),
            ] {
                let nm = matrix((k, cols), params, &mut state);
                let b = dense(gpu, k, n, n.next_multiple_of(4) + 4, &mut state);
                let before = dense(gpu, cols, n, n + cols % 4, &mut state);
                let listed = Listed::new(gpu, &lists::lists(&nm, true).expect("small")).expect("memory");
                let result = |run: &dyn Fn(&mut DeviceDense<f32>)| {
                    let data = gpu.stream().clone_dtod(&before.data).expect("memory");
                    let mut c = DeviceDense { data, ..before };
                    run(&mut c);
                    let mut bits = vec![0f32; cols * c.ld];
                    gpu.download(&c.data, &mut bits).expect("no fault");
                    bits.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
                };
                let factors = (0.75, -1.5);
                let wanted = result(&|c| listed.launch(gpu, "listed_fma", (&b, c), factors).expect("runs"));
                for (shape, packed) in ALL.iter().flat_map(|shape| [(shape, false), (shape, true)]) {
                    let knife = Knife {
                        packed,
                        ..knife(Version::V3, shape, (nm.n, nm.m))
                    };
                    let Some(tiles) = Tiles::new(gpu, &nm, *shape, knife).expect("memory") else {
                        continue;
                    };
                    let found = result(&|c| tiles.launch(gpu, &b, c, factors).expect("runs"));
                    let first = found.iter().zip(&wanted).position(|(x, y)| x != y);
                    assert_eq!(
                        first,
                        None,
                        "{} {k} x {cols} x {n} {params:?}",
                        shape.symbol(packed)
                    );
                    compared += 1;
                }
            }
        }
        eprintln!("{compared} products by tiles");
        assert!(compared > 150, "{compared}");
    }
}
