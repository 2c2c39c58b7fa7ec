//! The two dataflows that the paper argues against, on the same array and buffers: counts, no results.
//!
//! ```text
//! inner   element (i, j): C[i, j] over all k      operands shared along rows and columns; a k that one of the array's
//!                                                 rows of A and one of its columns of B store is multiplied by all
//! outer   element e: column k of A x row k of B   no zero is multiplied; nothing is shared; psums meet in DRAM
//! ```
//!
//! Inner (SPOTS, section 6.2): what can be skipped are lanes that are zero in the whole array. Buffers hold the zeros, so
//! tiles are those of dense operands, while DRAM still delivers stored entries. Outer (OuterSPACE): each operand is read once;
//! psums are written and read again for merging unless the array's psum buffers hold them all; a free element takes the next
//! k, merging takes a cycle per psum and waits for the last product. Neither is cycle-accurate; both are lower bounds.

use super::counters::{Counters, Cycles, HighWater, Traffic};
use super::lanes::MatrixLanes;
use super::machine::{LENGTH, LOCATION, Machine};
use super::partition::{Mode, OperandSize, Partition, Problem, partition};
use super::value::Value;
use sparse_types::refusal::Refusal;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The second operand.
pub(super) enum Second<'a, T: Clone> {
    /// By rows.
    Sparse(&'a MatrixLanes<'a, T>),
    /// So many columns.
    Dense(usize),
}

impl<T: Value> Second<'_, T> {
    fn extent(&self) -> usize {
        match self {
            Second::Sparse(lanes) => lanes.extent,
            Second::Dense(n) => *n,
        }
    }

    /// Entries of row k, and blocks of `size` columns that hold one.
    fn row(&self, k: usize, size: usize) -> (u64, u64) {
        match self {
            Second::Sparse(lanes) => {
                let index = lanes.lane(k).0;
                (index.len() as u64, blocks(index, size))
            }
            Second::Dense(n) => (*n as u64, n.div_ceil(size) as u64),
        }
    }

    fn bytes(&self, k: usize) -> u64 {
        match self {
            Second::Sparse(lanes) => OperandSize::sparse(lanes.nnz(), k, T::BYTES).bytes,
            Second::Dense(n) => OperandSize::dense(k, *n, T::BYTES).bytes,
        }
    }
}

/// Blocks of `size` that hold one of these ascending indices.
fn blocks(index: &[u32], size: usize) -> u64 {
    index.chunk_by(|&a, &b| a as usize / size == b as usize / size).count() as u64
}

/// Bytes of C in DRAM.
fn written<T: Value>(outputs: u64, m: usize, dense: bool) -> u64 {
    if dense { outputs * T::BYTES } else { outputs * (T::BYTES + LOCATION) + m as u64 * LENGTH }
}

/// Inner product, with the partition of operands whose zeros take room.
pub(super) fn inner<T: Value>(
    a: &MatrixLanes<'_, T>,
    b: &Second<'_, T>,
    outputs: u64,
    machine: &Machine,
) -> Result<(Partition, Counters), Refusal> {
    let (m, k, n) = (a.extent, a.count(), b.extent());
    let full = |rows: usize, cols: usize, bytes| OperandSize { nnz: rows as u64 * cols as u64, bytes };
    let problem = Problem {
        m,
        k,
        n,
        a: full(m, k, OperandSize::sparse(a.nnz(), k, T::BYTES).bytes),
        b: full(k, n, b.bytes(k)),
        mode: Mode::Sdmm,
    };
    let dense = matches!(b, Second::Dense(_));
    let found = partition(&problem, machine)?;
    let mut counters = Counters { elements: machine.elements(), outputs, ..Counters::default() };
    for lane in 0..k {
        let index = a.lane(lane).0;
        let (length_b, blocks_b) = b.row(lane, machine.groups_b);
        let steps = blocks(index, machine.groups_a) * blocks_b;
        counters.products += index.len() as u64 * length_b;
        counters.cycles.multiply += steps;
        counters.fetches += steps * (machine.groups_a + machine.groups_b) as u64;
    }
    counters.multiplies = counters.cycles.multiply * machine.elements();
    counters.adds = counters.multiplies;
    let read = u64::try_from(found.traffic(&problem)).unwrap_or(u64::MAX);
    let b_read = read_of_b(&problem, &found);
    counters.dram = Traffic {
        a_read: read - b_read,
        b_read,
        c_written: written::<T>(outputs, m, dense),
        ..Traffic::default()
    };
    counters.high = HighWater { psum: (found.mt.min(m) * found.nt.min(n)) as u64, ..HighWater::default() };
    let load = machine.transfer(counters.dram.read());
    counters.cycles.encode = load;
    counters.cycles.map = machine.transfer(counters.dram.c_written);
    let transfer = machine.transfer(counters.dram.total());
    counters.cycles.total = counters.cycles.multiply.max(transfer);
    Ok((found, counters))
}

/// B's share of a partition's traffic.
fn read_of_b(problem: &Problem, partition: &Partition) -> u64 {
    let without = Problem { b: OperandSize { bytes: 0, ..problem.b }, ..*problem };
    u64::try_from(partition.traffic(problem) - partition.traffic(&without)).unwrap_or(u64::MAX)
}

/// Outer product.
pub(super) fn outer<T: Value>(
    a: &MatrixLanes<'_, T>,
    b: &Second<'_, T>,
    outputs: u64,
    machine: &Machine,
) -> Counters {
    let (k, elements) = (a.count(), machine.elements());
    let mut counters = Counters { elements, outputs, ..Counters::default() };
    // When each element is free.
    let mut free: BinaryHeap<Reverse<u64>> = (0..elements).map(|_| Reverse(0)).collect();
    let mut last = 0;
    for lane in 0..k {
        let length_a = a.lane(lane).0.len() as u64;
        let length_b = b.row(lane, 1).0;
        if length_a == 0 || length_b == 0 {
            continue;
        }
        let products = length_a * length_b;
        counters.products += products;
        counters.fetches += length_a + length_b;
        let Reverse(start) = free.pop().unwrap_or(Reverse(0));
        last = last.max(start + products);
        free.push(Reverse(start + products));
    }
    let psums = counters.products;
    counters.multiplies = psums;
    counters.adds = psums;
    let spilled = if psums > elements * machine.psum { psums * (T::BYTES + LOCATION) } else { 0 };
    counters.overflows.psum = u64::from(spilled > 0);
    // An element makes a psum in each cycle that it works.
    counters.high.psum = last.min(machine.psum);
    let dense = matches!(b, Second::Dense(_));
    counters.dram = Traffic {
        a_read: OperandSize::sparse(a.nnz(), k, T::BYTES).bytes,
        b_read: b.bytes(k),
        psum_read: spilled,
        psum_written: spilled,
        c_written: written::<T>(outputs, a.extent, dense),
    };
    let dram = counters.dram;
    let encode = machine.transfer(dram.a_read + dram.b_read);
    let merge = psums.div_ceil(elements).max(machine.transfer(dram.psum_read + dram.c_written));
    counters.cycles = Cycles {
        encode,
        multiply: last,
        map: merge,
        stall: 0,
        total: last.max(encode + machine.transfer(spilled)) + merge,
    };
    counters
}
