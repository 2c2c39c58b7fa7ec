//! What the IOPS model counts: small products by hand, what stays on chip, what overflows and goes on.

use crate::iops_support::{TINY, check_ssmm, cover, csr, full};
use sparse_kernels::iops::{IopsPlan, Machine, Reuse, sdmm, ssmm_problem};
use sparse_oracle::format::{Entries, Entry};

/// The picture, by hand. One element, tiles of 2 x 2 x 2, one tile:
///
/// ```text
/// A  a .     B  x y      k 0: (a b) by (x y)   4 cycles     psums  row 0: ax ay     mapped: row 0 sorted at 2, read at 4;
///    b c        . z      k 1: c by z           1 cycle             row 1: bx by cz          row 1 sorted at 5, read at 8
/// ```
#[test]
fn counters_by_hand() {
    let matrix = |list: &[(u32, u32)]| Entries {
        rows: 2,
        cols: 2,
        list: list.iter().map(|&(row, col)| Entry { row, col, value: 2.0 }).collect(),
    };
    let (a, b) = (matrix(&[(0, 0), (1, 0), (1, 1)]), matrix(&[(0, 0), (0, 1), (1, 1)]));
    let machine =
        Machine { groups_a: 1, groups_b: 1, encode_rate: 1, dram_bytes: 1000, ..Machine::default() };
    let given = cover((2, 2, 2), [2, 2, 2], &machine, Reuse::Rabe);
    let c = check_ssmm::<f64>(&a, &b, &machine, IopsPlan::Given(given)).counters;
    // a, b meet x, y: 2 x 2; c meets z.
    assert_eq!((c.products, c.cycles.encode, c.cycles.multiply), (5, 3, 4 + 1));
    assert_eq!((c.cycles.map, c.cycles.stall, c.cycles.total), (8, 0, 3 + 5 + 8));
    assert_eq!((c.high.tile_a, c.high.tile_b, c.high.psum, c.high.row), (3, 3, 5, 3));
    // Three entries of 12 bytes and two lengths each; four of C.
    assert_eq!((c.dram.a_read, c.dram.b_read, c.dram.c_written), (40, 40, 4 * 12 + 4));
    assert_eq!((c.fetches, c.outputs, c.overflows.total()), (4 + 2, 4, 0));
}

/// A row of tiles of A stays: A is read once, B once for each row of tiles. RBF the other way round.
#[test]
fn what_stays_is_read_once() {
    let (a, b) = (full(8, 6), full(6, 9));
    let machine = Machine { groups_a: 2, groups_b: 3, ..Machine::default() };
    let (once_a, once_b) = (48 * 12 + 12, 54 * 12 + 12);
    let sizes = [2, 6, 1];
    for (reuse, read_a, read_b) in [(Reuse::Raf, 1, 2), (Reuse::Rbf, 3, 1), (Reuse::Rabe, 3, 2)] {
        let given = cover((8, 6, 9), sizes, &machine, reuse);
        assert_eq!((given.tm, given.tn), (2, 3));
        let c = check_ssmm::<f64>(&a, &b, &machine, IopsPlan::Given(given)).counters;
        // Each of two (three) strips has its own lengths.
        let lengths = (12 * read_a, 12 * 2 * read_b);
        assert_eq!(c.dram.a_read, once_a * read_a + lengths.0, "{reuse:?}");
        assert_eq!(c.dram.b_read, once_b * read_b + lengths.1, "{reuse:?}");
        let planned = given.traffic(&ssmm_problem(&csr(&a), &csr(&b)));
        assert_eq!(u128::from(c.dram.read() - lengths.0 - lengths.1), planned, "{reuse:?}");
    }
}

/// Every kind of overflow at once, and a product whose psums no element has room for.
#[test]
fn overflows_are_continued() {
    let (a, b) = (full(9, 11), full(11, 10));
    let given = cover((9, 11, 10), [3, 7, 2], &TINY, Reuse::Raf);
    let c = check_ssmm::<f64>(&a, &b, &TINY, IopsPlan::Given(given)).counters;
    assert!(c.overflows.buffer_a > 0 && c.overflows.buffer_b > 0 && c.overflows.psum > 0, "{c:?}");
    assert!(c.dram.psum_read > 0 && c.cycles.stall > 0, "{c:?}");
    let (a, b) = (full(20, 600), full(600, 20));
    let run = check_ssmm::<f64>(&a, &b, &Machine::default(), IopsPlan::Adaptive);
    assert_eq!((run.partition.mt, run.partition.nt), (1, 1));
    assert!(run.counters.overflows.psum > 0, "600 psums of an element do not fit 512");
}

/// Lanes of 600 entries where 8 bits say 255: continued twice, in both operands under the same k.
#[test]
fn long_lanes_are_continued() {
    let (a, b) = (full(600, 2), full(2, 600));
    let machine = Machine { groups_a: 1, groups_b: 1, ..Machine::default() };
    let given = cover((600, 2, 600), [600, 2, 600], &machine, Reuse::Rabe);
    let c = check_ssmm::<f64>(&a, &b, &machine, IopsPlan::Given(given)).counters;
    assert_eq!((c.overflows.col_len, c.overflows.row_len), (4, 4));
    let x = vec![1.5; 2];
    let given = cover((600, 2, 1), [600, 2, 1], &machine, Reuse::Rabe);
    let big = Machine { psum: 600, ..machine };
    let run = sdmm(&csr(&a), (&x, 1), &big, IopsPlan::Given(given)).expect("legal");
    assert_eq!(run.counters.overflows.col_len, 4);
}

/// What of a dense B crosses the pins, by hand: groups of one row and two columns, tiles of two k.
///
/// ```text
/// A  a . . . b    strip 0: k 0 1, k 4      B  5 x 3: columns 0 1, and 2      k 2 3 meet nothing and are not read
///    . . . . .             tile  tile
///    . . . . .    strip 1: k 0 1
///    . c . . .
/// ```
#[test]
fn a_dense_operand_is_read_by_the_tiles_that_are_needed() {
    let list = [(0, 0), (0, 4), (3, 1)];
    let a = csr(&Entries {
        rows: 4,
        cols: 5,
        list: list.map(|(row, col)| Entry { row, col, value: 2.0 }).to_vec(),
    });
    let b = [3.0; 5 * 3];
    let machine = Machine { groups_a: 2, groups_b: 1, ..Machine::default() };
    // Three entries with their locations, and lengths of 2 + 1 and of 2 columns.
    let once_a = 3 * 12 + (3 + 2) * 2;
    // Strip 0 needs 2 + 1 rows of B, strip 1 two; a column strip that stays is read once, in three rows.
    let (each_b, once_b) = ((3 + 2) * 3 * 8, 3 * 3 * 8);
    for (reuse, a_read, b_read) in
        [(Reuse::Raf, once_a, each_b), (Reuse::Rbf, 2 * once_a, once_b), (Reuse::Rabe, 2 * once_a, each_b)]
    {
        let given = cover((4, 5, 3), [1, 2, 2], &machine, reuse);
        assert_eq!((given.tm, given.tk, given.tn), (2, 3, 2));
        let c = sdmm(&a, (&b, 3), &machine, IopsPlan::Given(given)).expect("legal").counters;
        assert_eq!((c.dram.a_read, c.dram.b_read), (a_read, b_read), "{reuse:?}");
        assert_eq!((c.dram.c_written, c.outputs), (4 * 3 * 8, 4 * 3), "{reuse:?}");
        // Each entry by two columns, then by one.
        assert_eq!((c.products, c.multiplies, c.cycles.multiply), (9, 9, 3 * 2 + 3), "{reuse:?}");
        // The largest tile of B: two rows of two columns.
        assert_eq!((c.high.tile_a, c.high.tile_b, c.high.psum), (1, 4, 2), "{reuse:?}");
    }
}
