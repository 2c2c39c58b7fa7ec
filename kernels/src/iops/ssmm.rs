//! Sparse times sparse: every tile of C by outer products in the elements, over all tiles along k.
//!
//! ```text
//! strips of A  x  strips of B  = tiles of C        side by side in the simulation, one after the other in the machine:
//!   pieces of A, of B with the same k              units: encode | multiply
//!     matching k: groups x groups outer products   one multiplier an element: the fullest pair of lanes sets the pace
//!   address mapping -> sums                        map
//! ```
//!
//! IOPS, tables II and III. The array works in lockstep, since elements of a row (column) share what is broadcast: a k
//! that both operands store takes the longest lane of A times the longest of B, a k that one stores takes a comparison. A
//! pair of pieces is visited by A, then B; so terms of an element of C ascend in k, whatever the pieces.

use super::clock::{Clock, Want};
use super::counters::{Counters, Join};
use super::element::Element;
use super::encoder::Piece;
use super::entries::{EntryTiles, ResultEntry, check_entries};
use super::lanes::MatrixLanes;
use super::machine::{LENGTH, LOCATION, Machine};
use super::partition::{Partition, Problem, Reuse};
use super::tiles::{Strip, Tile, TileCut, cut, overflows_a, overflows_b};
use super::value::Value;
use rayon::prelude::*;
use sparse_types::format::SLOT_LIMIT;
use sparse_types::refusal::Refusal;

/// The product as the partition sees it.
pub(super) fn problem<T: Value>(a: &MatrixLanes<'_, T>, b: &MatrixLanes<'_, T>) -> Problem {
    Problem::ssmm((a.extent, a.count(), b.extent), (a.nnz(), b.nnz()), T::BYTES)
}

/// One pair of pieces in the array.
#[derive(Clone, Copy, Debug)]
struct PiecePair {
    /// Tile of the strip of A, and piece of the tile.
    a: (usize, usize),
    b: (usize, usize),
    multiply: u64,
    stall: u64,
}

/// What became of one tile of C.
struct TileOutput<T> {
    /// Strips of A and B.
    strips: (usize, usize),
    units: Vec<PiecePair>,
    /// By group of A, group of B, row, column.
    entries: Vec<ResultEntry<T>>,
    /// Cycles of address mapping.
    map: u64,
    /// Bytes of spilled sums that are read meanwhile.
    map_read: u64,
    counters: Counters,
}

/// The array.
struct Array<T> {
    elements: Vec<Element<T>>,
    groups_b: usize,
}

/// Tiles of C that are made side by side before the clock hears of them: what else they leave is dropped with it.
const BATCH: usize = 1024;

/// The entries of C, tile by tile, and what it took.
pub(super) fn run<T: Value>(
    a: &MatrixLanes<'_, T>,
    b: &MatrixLanes<'_, T>,
    machine: &Machine,
    partition: &Partition,
) -> Result<(EntryTiles<T>, Counters), Refusal> {
    check_entries(a, b, SLOT_LIMIT)?;
    let half = |groups, size, buffer: u64| TileCut { groups, size, kt: partition.kt, room: buffer / 2 };
    let strips_a = cut(a, half(machine.groups_a, partition.mt, machine.buffer_a));
    let strips_b = cut(b, half(machine.groups_b, partition.nt, machine.buffer_b));
    let pair = |at| match partition.reuse {
        Reuse::Rbf => (at % strips_a.len(), at / strips_a.len()),
        Reuse::Raf | Reuse::Rabe => (at / strips_b.len(), at % strips_b.len()),
    };
    let count = strips_a.len() * strips_b.len();
    let mut clock = Clock::new(machine, partition.reuse, true);
    let mut tiles = Vec::new();
    for first in (0..count).step_by(BATCH) {
        let outputs: Vec<TileOutput<T>> = (first..count.min(first + BATCH))
            .into_par_iter()
            .with_max_len(16)
            .map_init(
                || Array::new(machine),
                |array, at| {
                    let (i, j) = pair(at);
                    array.output(&strips_a[i], &strips_b[j], (i, j), partition)
                },
            )
            .collect();
        for output in outputs.into_iter().filter(|output| !output.units.is_empty()) {
            let (i, j) = output.strips;
            tick(&mut clock, &output, &strips_a[i], &strips_b[j]);
            if !output.entries.is_empty() {
                tiles.push(output.entries);
            }
        }
    }
    // One length for each row of C, wherever its entries were made.
    let mut counters = clock.finish(a.extent as u64 * LENGTH);
    counters.overflows.join(&overflows_a(&strips_a));
    counters.overflows.join(&overflows_b(&strips_b));
    Ok((tiles, counters))
}

impl<T: Value> Array<T> {
    fn new(machine: &Machine) -> Array<T> {
        let element = || Element::new(machine.psum as usize);
        Array {
            elements: std::iter::repeat_with(element).take(machine.groups_a * machine.groups_b).collect(),
            groups_b: machine.groups_b,
        }
    }

    /// Computes one tile of C.
    fn output(
        &mut self,
        a: &Strip<T>,
        b: &Strip<T>,
        strips: (usize, usize),
        partition: &Partition,
    ) -> TileOutput<T> {
        let mut counters = Counters::default();
        let mut units = Vec::new();
        for (ta, tb) in common(&a.tiles, &b.tiles) {
            let (tile_a, tile_b) = (&a.tiles[ta], &b.tiles[tb]);
            let single = tile_a.pieces.len() == 1 && tile_b.pieces.len() == 1;
            for (pa, piece_a) in tile_a.pieces.iter().enumerate() {
                for (pb, piece_b) in tile_b.pieces.iter().enumerate() {
                    if single || piece_a.overlaps(piece_b) {
                        let (multiply, stall) = self.multiply(piece_a, piece_b, &mut counters);
                        units.push(PiecePair { a: (ta, pa), b: (tb, pb), multiply, stall });
                    }
                }
            }
        }
        let (mut entries, mut map, mut map_read) = (Vec::new(), 0, 0);
        if counters.products > 0 {
            for (at, element) in self.elements.iter_mut().enumerate() {
                let row = (a.first + at / self.groups_b * partition.mt) as u32;
                let column = (b.first + at % self.groups_b * partition.nt) as u32;
                let cycles =
                    element.finish(|(at, sum)| entries.push((row + (at >> 16), column + (at & 0xffff), sum)));
                map = cycles.max(map);
                let counts = std::mem::take(&mut element.counts);
                counters.high.psum = counters.high.psum.max(counts.psums);
                counters.high.row = counters.high.row.max(counts.row);
                counters.multiplies += counts.multiplies;
                counters.adds += counts.adds;
                counters.overflows.psum += counts.overflows;
                counters.dram.psum_written += counts.written * (T::BYTES + LOCATION);
                counters.dram.psum_read += counts.read * (T::BYTES + LOCATION);
                map_read += counts.read_last * (T::BYTES + LOCATION);
            }
        }
        counters.outputs = entries.len() as u64;
        counters.dram.c_written = counters.outputs * (T::BYTES + LOCATION);
        TileOutput { strips, units, entries, map, map_read, counters }
    }

    /// Table II: merges the stored k of both. Returns the cycles of the array, and those that it waited.
    fn multiply(&mut self, a: &Piece<T>, b: &Piece<T>, counters: &mut Counters) -> (u64, u64) {
        let (mut i, mut j, mut cycles, mut stall) = (0, 0, 0, 0);
        while i < a.idx.len() && j < b.idx.len() {
            let (k_a, k_b) = (a.idx[i], b.idx[j]);
            let (mut longest_a, mut longest_b, mut length_a, mut length_b) = (1, 1, 0, 0);
            // Elements that are full in the same step are mapped side by side.
            let mut waited = 0;
            if k_a == k_b {
                for &lane in b.lanes(j) {
                    longest_b = longest_b.max(u64::from(lane.len));
                    length_b += u64::from(lane.len);
                }
                for &lane_a in a.lanes(i) {
                    longest_a = longest_a.max(u64::from(lane_a.len));
                    length_a += u64::from(lane_a.len);
                    let row = usize::from(lane_a.group) * self.groups_b;
                    for &lane_b in b.lanes(j) {
                        let element = &mut self.elements[row + usize::from(lane_b.group)];
                        waited = element.outer(a.entries_of(lane_a), b.entries_of(lane_b)).max(waited);
                    }
                }
                counters.products += length_a * length_b;
                counters.fetches += length_a + length_b;
            }
            cycles += longest_a * longest_b;
            stall += waited;
            i += usize::from(k_a <= k_b);
            j += usize::from(k_b <= k_a);
        }
        (cycles, stall)
    }
}

/// Tiles along k that both have.
fn common<T, U>(a: &[Tile<T>], b: &[Tile<U>]) -> Vec<(usize, usize)> {
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i].at == b[j].at {
            found.push((i, j));
        }
        let (at_a, at_b) = (a[i].at, b[j].at);
        i += usize::from(at_a <= at_b);
        j += usize::from(at_b <= at_a);
    }
    found
}

/// What a tile of C reads, and when each stage is done with it.
fn tick<T: Value>(clock: &mut Clock<'_>, output: &TileOutput<T>, strip_a: &Strip<T>, strip_b: &Strip<T>) {
    let supplies = (strip_a.supply(output.strips.0), strip_b.supply(output.strips.1));
    clock.begin(supplies, &output.counters);
    let dram = &output.counters.dram;
    // Spilled sums cross the pins while the array waits; charged to the first unit of their tile.
    let mut spills = clock.transfer(dram.psum_read - output.map_read + dram.psum_written);
    for unit in &output.units {
        let stall = unit.stall + std::mem::take(&mut spills);
        let (a, b) = (want(strip_a, unit.a), want(strip_b, unit.b));
        clock.unit(a, b, unit.multiply, stall);
    }
    clock.output(output.map, output.map_read + dram.c_written);
}

/// A piece of a strip, as a buffer asks for it.
pub(super) fn want<T: Value>(strip: &Strip<T>, (tile, piece): (usize, usize)) -> Want {
    let of = &strip.tiles[tile];
    Want { tile, piece, pieces: of.pieces.len(), entries: of.pieces[piece].entries, bytes: of.bytes(piece) }
}
