//! Inner and outer product on the array of the IOPS model: their counters, by hand.

use crate::iops_support::csr;
use sparse_kernels::iops::{
    Counters, Cycles, HighWater, IopsPlan, Machine, Overflows, Traffic, sdmm_dataflows, ssmm, ssmm_dataflows,
};
use sparse_oracle::format::{Csr, Entries, Entry};

/// Ones at these places.
fn ones(rows: usize, cols: usize, places: &[(u32, u32)]) -> Csr<f64> {
    let list = places.iter().map(|&(row, col)| Entry { row, col, value: 1.0 });
    csr(&Entries { rows, cols, list: list.collect() })
}

fn array(groups: usize) -> Machine {
    Machine { groups_a: groups, groups_b: groups, dram_bytes: 10, ..Machine::default() }
}

/// 4 x 4 in a 2 x 2 array: two diagonal blocks. Inner product multiplies zeros, outer product none; each by hand.
#[test]
fn the_other_dataflows_by_hand() {
    let a = ones(4, 4, &[(0, 0), (0, 1), (1, 1), (2, 2), (3, 3)]);
    let machine = array(2);
    let run = ssmm(&a, &a, &machine, IopsPlan::Adaptive).expect("legal");
    let flows = ssmm_dataflows(&a, &a, run.counters.outputs, &machine).expect("legal");
    // Each k is in one pair of rows and one pair of columns: 4 steps of 4 multiplications. Row 0 of A: 1 x 2, column 1: 2 x 1.
    let (inner, outer) = (flows.inner, flows.outer);
    assert_eq!((inner.products, inner.multiplies, inner.cycles.multiply), (6, 16, 4));
    assert_eq!((outer.products, outer.multiplies, outer.cycles.multiply), (6, 6, 2));
    assert_eq!(run.counters.products, 6);
    // Six psums fit the array: nothing but the operands and C crosses the pins.
    let operand = 5 * 12 + 4 * 2;
    assert_eq!((outer.dram.a_read, outer.dram.b_read, outer.dram.psum_written), (operand, operand, 0));
    let dense = sdmm_dataflows(&a, 3, &machine).expect("legal");
    // 3 columns are two blocks; each of four k in one block of rows.
    assert_eq!((dense.inner.cycles.multiply, dense.outer.products), (8, 15));
    assert!(dense.outer.dram.total() <= dense.inner.dram.total());
}

/// The same in full, cycle by cycle and byte by byte.
///
/// ```text
/// A = B  1 1 . .    k        0  1  2  3      C  1 2 . .    array of 2 x 2, DRAM of 10 bytes a cycle
///        . 1 . .    A, rows  0  01 2  3         . 1 . .    an operand: 5 * 12 + 4 * 2 = 68 bytes
///        . . 1 .    B, cols  01 1  2  3         . . 1 .    C: 5 * 12 + 4 * 2 = 68
///        . . . 1                                . . . 1
/// ```
#[test]
fn every_counter_of_a_sparse_product_by_hand() {
    let a = ones(4, 4, &[(0, 0), (0, 1), (1, 1), (2, 2), (3, 3)]);
    let machine = array(2);
    let run = ssmm(&a, &a, &machine, IopsPlan::Adaptive).expect("legal");
    assert_eq!(run.counters.outputs, 5);
    let flows = ssmm_dataflows(&a, &a, 5, &machine).expect("legal");
    let inner = Counters {
        elements: 4,
        products: 6,
        // Four k, each in one pair of rows and one pair of columns.
        multiplies: 4 * 4,
        adds: 4 * 4,
        fetches: 4 * (2 + 2),
        outputs: 5,
        cycles: Cycles {
            encode: 14, // 136 bytes
            multiply: 4,
            map: 7, // 68 bytes
            stall: 0,
            total: 21, // 204 bytes, beside which four cycles vanish
        },
        dram: Traffic { a_read: 68, b_read: 68, c_written: 68, ..Traffic::default() },
        // Rows and columns of an element: 2 x 2.
        high: HighWater { psum: 4, ..HighWater::default() },
        overflows: Overflows::default(),
    };
    assert_eq!(flows.inner, inner);
    let outer = Counters {
        // k = 0: 1 x 2, k = 1: 2 x 1, then 1 x 1 twice. Each of four elements takes one k.
        multiplies: 6,
        adds: 6,
        fetches: 3 + 3 + 2 + 2,
        cycles: Cycles {
            encode: 14,
            multiply: 2,
            map: 7, // 68 bytes, beside which 6 psums in 4 elements vanish
            stall: 0,
            total: 14 + 7,
        },
        // The first two elements. (All six used to be counted as if one element held them.)
        high: HighWater { psum: 2, ..HighWater::default() },
        ..inner
    };
    assert_eq!(flows.outer, outer);
}

/// Two elements with room for three psums each: seven do not fit, so all are written and read again.
///
/// ```text
/// A  1 1 .    k        0   1   2        an element that is free takes the next k:  k 0  4 cycles   k 2  1 more
///    1 . .    A, rows  01  0   2                                                   k 1  2 cycles   -> k 2 from 2 to 3
///    . . 1    B, cols  01  12  0
/// ```
#[test]
fn psums_without_room_are_written_and_read() {
    let a = ones(3, 3, &[(0, 0), (0, 1), (1, 0), (2, 2)]);
    let b = ones(3, 3, &[(0, 0), (0, 1), (1, 1), (1, 2), (2, 0)]);
    let machine = Machine { groups_a: 2, groups_b: 1, psum: 3, dram_bytes: 10, ..Machine::default() };
    // C: rows 012, 01, 0.
    let outer = ssmm_dataflows(&a, &b, 6, &machine).expect("legal").outer;
    assert_eq!((outer.products, outer.multiplies, outer.cycles.multiply), (7, 7, 4));
    assert_eq!((outer.dram.psum_written, outer.dram.psum_read, outer.overflows.psum), (7 * 12, 7 * 12, 1));
    let (read, written) = (4 * 12 + 6 + 5 * 12 + 6, 6 * 12 + 6);
    assert_eq!((outer.dram.read() - 84, outer.dram.c_written), (read, written));
    // Merging reads 84 bytes and writes 78 in 17 cycles, after 12 of reading and 9 of writing psums.
    assert_eq!((outer.cycles.encode, outer.cycles.map, outer.cycles.total), (12, 17, 12 + 9 + 17));
    let roomy = Machine { psum: 4, ..machine };
    let outer = ssmm_dataflows(&a, &b, 6, &roomy).expect("legal").outer;
    assert_eq!((outer.dram.psum_written, outer.overflows.psum, outer.high.psum), (0, 0, 4));
}

/// Three columns of a dense B in blocks of two. DRAM of 10 bytes a cycle.
#[test]
fn every_counter_of_a_dense_product_by_hand() {
    let a = ones(4, 3, &[(0, 0), (1, 0), (3, 2)]);
    let flows = sdmm_dataflows(&a, 3, &array(2)).expect("legal");
    let (a_read, b_read, c_written) = (3 * 12 + 3 * 2, 3 * 3 * 8, 4 * 3 * 8);
    let inner = flows.inner;
    // k = 0 and k = 2: a pair of rows each, two pairs of columns.
    assert_eq!((inner.products, inner.cycles.multiply, inner.multiplies), (9, 4, 16));
    assert_eq!((inner.fetches, inner.outputs), (4 * 4, 12));
    assert_eq!((inner.dram.a_read, inner.dram.b_read, inner.dram.c_written), (a_read, b_read, c_written));
    assert_eq!((inner.cycles.encode, inner.cycles.map, inner.cycles.total), (12, 10, 21));
    let outer = flows.outer;
    // k = 0: 2 x 3 in one element, k = 2: 1 x 3 in another.
    assert_eq!((outer.multiplies, outer.cycles.multiply, outer.fetches), (9, 6, 5 + 4));
    assert_eq!((outer.dram.a_read, outer.dram.b_read, outer.dram.c_written), (a_read, b_read, c_written));
    assert_eq!((outer.cycles.encode, outer.cycles.map, outer.cycles.total), (12, 10, 22));
}
