//! Sparse times sparse: every tile of C by outer products in the elements, over all tiles along k.
//!
//! ```text
//! strips of A  x  strips of B  = tiles of C        side by side in the simulation, one after the other in the machine:
//!   pieces of A, of B with the same k              units: encode | multiply
//!     matching k: groups x groups outer products   one multiplier an element: the fullest pair of lanes sets the pace
//!   address mapping -> sums                        map
//! ```
//!
//! Seeds/003, tables II and III. The array works in lockstep, since elements of a row (column) share what is broadcast: a k
//! that both operands store takes the longest lane of A times the longest of B, a k that one stores takes a comparison. A
//! pair of pieces is visited by A, then B; so terms of an element of C ascend in k, whatever the pieces.

use super::clock::{Clock, Want};
use super::counters::{Counters, Join};
use super::element::Element;
use super::encoder::Piece;
use super::lanes::Lanes;
use super::machine::{LENGTH, LOCATION, Machine};
use super::partition::{Mode, Operand, Partition, Problem, Reuse};
use super::tiles::{Cut, Strip, Tile, cut, overflows_a, overflows_b};
use super::value::Value;
use crate::portable::moves::Arrays;
use rayon::prelude::*;
use sparse_oracle::format::SLOT_LIMIT;
use sparse_oracle::refusal::Refusal;
use std::sync::atomic::{AtomicU64, Ordering};

/// The product as the partition sees it.
pub(super) fn problem<T: Value>(a: &Lanes<'_, T>, b: &Lanes<'_, T>) -> Problem {
    let operand = |lanes: &Lanes<'_, T>| Operand::sparse(lanes.nnz(), lanes.count(), T::BYTES);
    Problem {
        m: a.extent,
        k: a.count(),
        n: b.extent,
        a: operand(a),
        b: operand(b),
        mode: Mode::Ssmm,
    }
}

/// An entry of C.
pub(super) type Entry<T> = (u32, u32, T);

/// One pair of pieces in the array.
#[derive(Clone, Copy, Debug)]
struct Unit {
    /// Tile of the strip of A, and piece of the tile.
    a: (usize, usize),
    b: (usize, usize),
    multiply: u64,
    stall: u64,
}

/// What became of one tile of C.
struct Output<T> {
    /// Strips of A and B.
    strips: (usize, usize),
    units: Vec<Unit>,
    /// By group of A, group of B, row, column.
    entries: Vec<Entry<T>>,
    /// Cycles of address mapping.
    map: u64,
    counters: Counters,
}

/// The array.
struct Array<T> {
    elements: Vec<Element<T>>,
    groups_b: usize,
}

/// Entries, lane by lane.
type Rows<T> = Vec<Vec<Entry<T>>>;

/// The entries of C, rows ascending for each column and columns for each row, and what it took.
pub(super) fn run<T: Value>(
    a: &Lanes<'_, T>,
    b: &Lanes<'_, T>,
    machine: &Machine,
    partition: &Partition,
) -> Result<(Rows<T>, Counters), Refusal> {
    let half = |groups, size, buffer: u64| Cut {
        groups,
        size,
        kt: partition.kt,
        room: buffer / 2,
    };
    let strips_a = cut(a, half(machine.groups_a, partition.mt, machine.buffer_a));
    let strips_b = cut(b, half(machine.groups_b, partition.nt, machine.buffer_b));
    let pairs = (0..strips_a.len()).flat_map(|i| (0..strips_b.len()).map(move |j| (i, j)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let stored = AtomicU64::new(0);
    let array = || Array::new(machine);
    let mut outputs = pairs
        .into_par_iter()
        .with_max_len(16)
        .map_init(array, |array, (i, j)| {
            let output = array.output(&strips_a[i], &strips_b[j], (i, j), partition);
            let entries = output.entries.len() as u64;
            if stored.fetch_add(entries, Ordering::Relaxed) + entries > SLOT_LIMIT {
                return Err(too_large());
            }
            Ok(output)
        })
        .collect::<Result<Vec<_>, Refusal>>()?;
    let clock = clocked(&outputs, &strips_a, &strips_b, machine, partition.reuse);
    // One length for each row of C, wherever its entries were made.
    let mut counters = clock.finish(a.extent as u64 * LENGTH);
    counters.overflows.join(&overflows_a(&strips_a));
    counters.overflows.join(&overflows_b(&strips_b));
    let entries = outputs
        .iter_mut()
        .map(|output| std::mem::take(&mut output.entries));
    Ok((entries.collect(), counters))
}

/// Counting stops at the first entry too many, so the same is said whatever the threads.
fn too_large() -> Refusal {
    Refusal::TooLarge {
        field: "nnz of A * B",
        found: u128::from(SLOT_LIMIT) + 1,
        limit: SLOT_LIMIT,
    }
}

impl<T: Value> Array<T> {
    fn new(machine: &Machine) -> Array<T> {
        let element = || Element::new(machine.psum as usize);
        Array {
            elements: std::iter::repeat_with(element)
                .take(machine.groups_a * machine.groups_b)
                .collect(),
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
    ) -> Output<T> {
        let mut counters = Counters::default();
        let mut units = Vec::new();
        for (ta, tb) in common(&a.tiles, &b.tiles) {
            let (tile_a, tile_b) = (&a.tiles[ta], &b.tiles[tb]);
            let single = tile_a.pieces.len() == 1 && tile_b.pieces.len() == 1;
            for (pa, piece_a) in tile_a.pieces.iter().enumerate() {
                for (pb, piece_b) in tile_b.pieces.iter().enumerate() {
                    if single || piece_a.overlaps(piece_b) {
                        let (multiply, stall) = self.multiply(piece_a, piece_b, &mut counters);
                        units.push(Unit {
                            a: (ta, pa),
                            b: (tb, pb),
                            multiply,
                            stall,
                        });
                    }
                }
            }
        }
        let (mut entries, mut map) = (Vec::new(), 0);
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
                counters.overflows.psum += counts.overflows;
                counters.dram.psum_written += counts.written * (T::BYTES + LOCATION);
                counters.dram.psum_read += counts.read * (T::BYTES + LOCATION);
            }
        }
        counters.outputs = entries.len() as u64;
        counters.dram.c_written = counters.outputs * (T::BYTES + LOCATION);
        Output {
            strips,
            units,
            entries,
            map,
            counters,
        }
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
                        waited = element
                            .outer(a.entries_of(lane_a), b.entries_of(lane_b))
                            .max(waited);
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

/// Tiles of C to rows: tiles come by strip of A, so a stable counting sort leaves columns ascending.
pub(super) fn by_rows<T: Value>(tiles: &[Vec<Entry<T>>], rows: usize) -> Arrays<T> {
    sorted(tiles, rows, |&(row, column, value)| (row, column, value))
}

/// Tiles of C to columns; rows ascend.
pub(super) fn by_columns<T: Value>(tiles: &[Vec<Entry<T>>], columns: usize) -> Arrays<T> {
    sorted(tiles, columns, |&(row, column, value)| (column, row, value))
}

/// A stable counting sort by the first of a triple.
fn sorted<T: Value>(
    tiles: &[Vec<Entry<T>>],
    lanes: usize,
    triple: impl Fn(&Entry<T>) -> (u32, u32, T),
) -> Arrays<T> {
    let entries = || tiles.iter().flatten().map(&triple);
    let mut ptr = vec![0u32; lanes + 1];
    for (lane, ..) in entries() {
        ptr[lane as usize + 1] += 1;
    }
    for lane in 0..lanes {
        ptr[lane + 1] += ptr[lane];
    }
    let count = ptr[lanes] as usize;
    let (mut index, mut values) = (vec![0; count], vec![T::default(); count]);
    let mut next = ptr.clone();
    for (lane, at, value) in entries() {
        let slot = &mut next[lane as usize];
        index[*slot as usize] = at;
        values[*slot as usize] = value;
        *slot += 1;
    }
    (ptr, index, values)
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

/// What is read, and when each stage is done, in the machine's order of tiles.
fn clocked<'a, T: Value>(
    outputs: &[Output<T>],
    strips_a: &[Strip<T>],
    strips_b: &[Strip<T>],
    machine: &'a Machine,
    reuse: Reuse,
) -> Clock<'a> {
    let mut order: Vec<&Output<T>> = outputs.iter().filter(|o| !o.units.is_empty()).collect();
    if reuse == Reuse::Rbf {
        order.sort_by_key(|o| (o.strips.1, o.strips.0));
    }
    let mut clock = Clock::new(machine, reuse, true);
    for output in order {
        clock.begin(output.strips, &output.counters);
        let (strip_a, strip_b) = (&strips_a[output.strips.0], &strips_b[output.strips.1]);
        let dram = &output.counters.dram;
        // Spilled sums cross the pins while the array waits; charged to the first unit of their tile.
        let mut spills = machine.transfer(dram.psum_read + dram.psum_written);
        for unit in &output.units {
            let stall = unit.stall + std::mem::take(&mut spills);
            let (a, b) = (want(strip_a, unit.a), want(strip_b, unit.b));
            clock.unit(a, b, unit.multiply, stall);
        }
        clock.output(output.map, dram.c_written);
    }
    clock
}

/// A piece of a strip, as a buffer asks for it.
pub(super) fn want<T: Value>(strip: &Strip<T>, (tile, piece): (usize, usize)) -> Want {
    let of = &strip.tiles[tile];
    Want {
        tile,
        piece,
        pieces: of.pieces.len(),
        entries: of.pieces[piece].entries,
        bytes: of.bytes(piece),
    }
}
