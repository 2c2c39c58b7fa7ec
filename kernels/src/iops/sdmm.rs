//! Sparse times dense: A encoded, B as it lies, psums dense in two value buffers, no address mapping.
//!
//! ```text
//! for each stored k of a tile of A:   each entry of its longest lane takes Nt cycles, one for each column of the group
//!   element (i, j):  C[rows of group i, columns of group j] += a * B[k, columns of group j]
//! ```
//!
//! IOPS, table IV. k ascends over the tiles, so each element of C is one ascending chain from +0.

use super::clock::{Clock, Supply, Want};
use super::counters::{Counters, HighWater, Join};
use super::lanes::MatrixLanes;
use super::machine::Machine;
use super::partition::{Partition, Problem, Reuse};
use super::ssmm::want;
use super::tiles::{Strip, TileCut, cut, overflows_a};
use super::value::Value;
use rayon::prelude::*;
use sparse_types::refusal::{Refusal, RequestError};

/// The product as the partition sees it.
pub(super) fn problem<T: Value>(a: &MatrixLanes<'_, T>, n: usize) -> Problem {
    Problem::sdmm((a.extent, a.count(), n), a.nnz(), T::BYTES)
}

/// Dense counts are known exactly, so what does not fit is refused rather than left to overflow.
pub(super) fn check_dense(
    problem: &Problem,
    machine: &Machine,
    partition: &Partition,
) -> Result<(), Refusal> {
    let (m, k, n) = (problem.m as u128, problem.k as u128, problem.n as u128);
    let cols = (machine.groups_b as u128 * partition.nt as u128).min(n);
    let psums = (partition.mt as u128).min(m) * (partition.nt as u128).min(n);
    for (field, found, limit) in [
        ("buffer_b (a tile of B in each half)", 2 * cols * (partition.kt as u128).min(k), machine.buffer_b),
        ("psum", psums, machine.psum),
    ] {
        if found > u128::from(limit) {
            return Err(RequestError::TooLarge { field, found, limit }.into());
        }
    }
    Ok(())
}

/// C, row-major, of `b` with `n` columns, row-major; and what it took.
pub(super) fn run<T: Value>(
    a: &MatrixLanes<'_, T>,
    (b, n): (&[T], usize),
    machine: &Machine,
    partition: &Partition,
) -> (Vec<T>, Counters) {
    let strips = cut(
        a,
        TileCut {
            groups: machine.groups_a,
            size: partition.mt,
            kt: partition.kt,
            room: machine.buffer_a / 2,
        },
    );
    let mut c = vec![T::default(); a.extent * n];
    let rows = machine.groups_a * partition.mt;
    let chunks = c.par_chunks_mut((rows * n).max(1)).enumerate();
    let made = chunks.map(|(at, c)| {
        let strip = strips.binary_search_by_key(&(at * rows), |strip| strip.first);
        strip.map_or(0, |found| accumulate(&strips[found], partition, b, n, c))
    });
    let made: u64 = made.sum();
    let mut counters = clocked(&strips, (a.extent, a.count(), n), machine, partition);
    (counters.multiplies, counters.adds) = (made, made);
    counters.overflows.join(&overflows_a(&strips));
    (c, counters)
}

/// The rows of C that a strip makes; returns the products that were made and added.
fn accumulate<T: Value>(strip: &Strip<T>, partition: &Partition, b: &[T], n: usize, c: &mut [T]) -> u64 {
    let mut made = 0;
    for tile in &strip.tiles {
        let first_k = tile.at * partition.kt;
        for piece in &tile.pieces {
            for (at, &k) in piece.idx.iter().enumerate() {
                let k = first_k + usize::from(k);
                let b = &b[k * n..(k + 1) * n];
                for &lane in piece.lanes(at) {
                    let first = usize::from(lane.group) * partition.mt;
                    let (rows, values) = piece.entries_of(lane);
                    for (&row, &a) in rows.iter().zip(values) {
                        let row = first + usize::from(row);
                        for (c, &b) in c[row * n..(row + 1) * n].iter_mut().zip(b) {
                            *c = c.plus(a.times(b));
                            made += 1;
                        }
                    }
                }
            }
        }
    }
    made
}

/// What a piece costs for one column of a group of B, and what of it is fetched.
struct PieceCost {
    want: Want,
    /// Longest lane of each stored k, summed.
    steps: u64,
    stored: u64,
}

fn work<T: Value>(strip: &Strip<T>) -> Vec<PieceCost> {
    let pieces = strip.tiles.iter().enumerate().flat_map(|(tile, of)| {
        let pieces = of.pieces.iter().enumerate();
        pieces.map(move |(at, piece)| (tile, at, piece))
    });
    let cost = |(tile, at, piece): (usize, usize, &super::encoder::Piece<T>)| {
        let longest = |slot| piece.lanes(slot).iter().map(|lane| u64::from(lane.len)).max();
        PieceCost {
            want: want(strip, (tile, at)),
            steps: (0..piece.idx.len()).filter_map(longest).sum(),
            stored: piece.idx.len() as u64,
        }
    };
    pieces.map(cost).collect()
}

fn clocked<T: Value>(
    strips: &[Strip<T>],
    (m, k, n): (usize, usize, usize),
    machine: &Machine,
    partition: &Partition,
) -> Counters {
    let across = machine.groups_b * partition.nt;
    let work: Vec<Vec<PieceCost>> = strips.iter().map(work).collect();
    let columns = n.div_ceil(across);
    let pairs = strips.len() * columns;
    let mut clock = Clock::new(machine, partition.reuse, false);
    let mut made = 0;
    for at in 0..pairs {
        let (i, j) = match partition.reuse {
            Reuse::Rbf => (at % strips.len(), at / strips.len()),
            _ => (at / columns, at % columns),
        };
        let rows = (machine.groups_a * partition.mt).min(m - strips[i].first) as u64;
        let cols = across.min(n - j * across) as u64;
        let width = cols.min(partition.nt as u64);
        let bytes = rows * cols * T::BYTES;
        let own = Counters {
            products: work[i].iter().map(|work| work.want.entries * cols).sum(),
            fetches: work[i].iter().map(|work| work.want.entries + work.stored * cols).sum(),
            outputs: rows * cols,
            high: HighWater { psum: rows.min(partition.mt as u64) * width, ..HighWater::default() },
            ..Counters::default()
        };
        let b = Supply {
            strip: j,
            entries: k as u64 * cols,
            largest: partition.kt.min(k) as u64 * cols,
            whole: true,
        };
        clock.begin((strips[i].supply(i), b), &own);
        for work in &work[i] {
            let tile = strips[i].tiles[work.want.tile].at;
            let entries = partition.kt.min(k - tile * partition.kt) as u64 * cols;
            let b = Want { tile, piece: 0, pieces: 1, entries, bytes: entries * T::BYTES };
            clock.unit(work.want, b, work.steps * width, 0);
        }
        clock.output(0, bytes);
        made += rows * cols;
    }
    // All of a dense C is written: `outputs` counts it, rows without an entry included.
    let all = m as u64 * n as u64;
    let mut counters = clock.finish(all * T::BYTES);
    counters.outputs += all - made;
    counters
}
