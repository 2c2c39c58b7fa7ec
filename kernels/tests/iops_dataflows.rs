//! Inner and outer product on the array of the IOPS model: their counters, by hand.

use crate::iops_support::csr;
use sparse_kernels::iops::{Machine, Plan, sdmm_dataflows, ssmm, ssmm_dataflows};
use sparse_oracle::format::{Entries, Entry};

/// 4 x 4 in a 2 x 2 array: two diagonal blocks. Inner product multiplies zeros, outer product none; each by hand.
#[test]
fn the_other_dataflows_by_hand() {
    let list = [(0, 0), (0, 1), (1, 1), (2, 2), (3, 3)];
    let a = csr(&Entries {
        rows: 4,
        cols: 4,
        list: list.map(|(row, col)| Entry { row, col, value: 1.0 }).to_vec(),
    });
    let machine = Machine {
        groups_a: 2,
        groups_b: 2,
        dram_bytes: 1000,
        ..Machine::default()
    };
    let run = ssmm(&a, &a, &machine, Plan::Adaptive).expect("legal");
    let flows = ssmm_dataflows(&a, &a, run.counters.outputs, &machine).expect("legal");
    // Each k is in one pair of rows and one pair of columns: 4 steps of 4 multiplications. Row 0 of A: 1 x 2, column 1: 2 x 1.
    let (inner, outer) = (flows.inner, flows.outer);
    assert_eq!(
        (inner.products, inner.multiplies, inner.cycles.multiply),
        (6, 16, 4)
    );
    assert_eq!(
        (outer.products, outer.multiplies, outer.cycles.multiply),
        (6, 6, 2)
    );
    assert_eq!(run.counters.products, 6);
    // Six psums fit the array: nothing but the operands and C crosses the pins.
    let operand = 5 * 12 + 4 * 2;
    assert_eq!(
        (outer.dram.a_read, outer.dram.b_read, outer.dram.psum_written),
        (operand, operand, 0)
    );
    let dense = sdmm_dataflows(&a, 3, &machine).expect("legal");
    // 3 columns are two blocks; each of four k in one block of rows.
    assert_eq!((dense.inner.cycles.multiply, dense.outer.products), (8, 15));
    assert!(dense.outer.dram.total() <= dense.inner.dram.total());
}
