//! The IOPS model: whatever the partition, the buffers, the array and the threads, the bits are those of one ascending chain,
//! and what is counted obeys the laws.

use crate::iops_support::{
    Number, any_machine, any_reuse, bits, check_ssmm, conserved, cover, csr, encoded, typed, value,
};
use crate::support::{Rng, entries};
use proptest::prelude::*;
use sparse_kernels::iops::{IopsPlan, Machine, sdmm, sdmm_encoded, ssmm};
use sparse_oracle::format::{Dense, Entries, Layout, RpCsc};
use sparse_oracle::prelude::*;
use sparse_schedules::iops as reference;
use std::collections::BTreeSet;

/// The reference's product with a dense B of n columns.
fn expected<T: Number>(a: &Entries<T>, b: &[T], n: usize) -> Vec<T>
where
    RpCsc<T>: reference::Grouped<T>,
{
    let tiling = reference::Tiling::<RpCsc<T>>::fit(a, 1).expect("small");
    let dense = Dense::try_new(a.cols, n, n, Layout::RowMajor, b.to_vec()).expect("dense");
    let found = reference::sdmm(&tiling, &dense).expect("fits");
    (0..a.rows * n).map(|at| found.at(at / n, at % n)).collect()
}

fn check_sdmm<T: Number>(a: &Entries<f64>, (b, n): (&[f64], usize), machine: &Machine, plan: IopsPlan)
where
    RpCsc<T>: reference::Grouped<T>,
{
    let a = typed::<T>(a);
    let b: Vec<T> = b.iter().map(|&v| T::from_f64(v)).collect();
    let run = sdmm(&csr(&a), (&b, n), machine, plan).expect("legal");
    assert_eq!(bits(&run.result), bits(&expected(&a, &b, n)));
    let none = Entries { rows: a.cols, cols: 0, list: Vec::new() };
    let (rp_csc, _) = encoded(&a, &none).expect("small");
    let again = sdmm_encoded(&rp_csc, (&b, n), machine, plan).expect("legal");
    assert_eq!((bits(&again.result), again.counters), (bits(&run.result), run.counters));
    let c = &run.counters;
    let (m, nnz) = (a.rows as u64, a.list.len() as u64);
    let stored: BTreeSet<u32> = a.list.iter().map(|e| e.col).collect();
    let n = n as u64;
    conserved(c, machine, nnz * n);
    let read = if n > 0 { nnz * (T::BYTES + 4) } else { 0 };
    assert!(c.dram.a_read >= read, "{c:?}");
    // Every row of B that meets an entry.
    assert!(c.dram.b_read >= stored.len() as u64 * n * T::BYTES, "{c:?}");
    assert!(c.high.tile_b <= machine.buffer_b / 2, "{c:?}");
    assert_eq!((c.outputs, c.dram.c_written), (m * n, m * n * T::BYTES));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any cover of the matrices, any machine: the bits of one chain, and the conservation laws.
    #[test]
    fn ssmm_does_not_depend_on_the_tiling(
        (m, k, n) in (0usize..14, 0usize..14, 0usize..14),
        sizes in prop::array::uniform3(1usize..9),
        machine in any_machine(), reuse in any_reuse(), density in 5u64..100, seed: u64,
    ) {
        let mut rng = Rng(seed);
        let a = entries(&mut rng, m, k, density, value);
        let b = entries(&mut rng, k, n, 105 - density, value);
        let given = IopsPlan::Given(cover((m, k, n), sizes, &machine, reuse));
        check_ssmm::<f64>(&a, &b, &machine, given);
        check_ssmm::<f32>(&a, &b, &machine, given);
        check_ssmm::<f64>(&a, &b, &Machine::default(), IopsPlan::Adaptive);
    }

    /// The same of a dense B; rows of C without an entry are made too.
    #[test]
    fn sdmm_does_not_depend_on_the_tiling(
        (m, k, n) in (0usize..14, 0usize..14, 0usize..14),
        sizes in prop::array::uniform3(1usize..4),
        mut machine in any_machine(), reuse in any_reuse(), density in 5u64..100, seed: u64,
    ) {
        machine.psum += 9;
        machine.buffer_b += 100;
        let mut rng = Rng(seed);
        let a = entries(&mut rng, m, k, density, value);
        let b: Vec<f64> = (0..k * n).map(|_| value(&mut rng)).collect();
        let given = IopsPlan::Given(cover((m, k, n), sizes, &machine, reuse));
        check_sdmm::<f64>(&a, (&b, n), &machine, given);
        check_sdmm::<f32>(&a, (&b, n), &machine, given);
        check_sdmm::<f64>(&a, (&b, n), &Machine::default(), IopsPlan::Adaptive);
    }
}

#[test]
fn threads_change_neither_bits_nor_counts() {
    let mut rng = Rng(9);
    let a = csr(&entries(&mut rng, 300, 200, 6, Rng::real));
    let b = csr(&entries(&mut rng, 200, 250, 5, Rng::real));
    let runs = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let small = Machine { psum: 16, buffer_a: 500, ..Machine::default() };
        pool.expect("threads").install(|| ssmm(&a, &b, &small, IopsPlan::Adaptive).expect("legal"))
    });
    assert!(runs[0].counters.overflows.total() > 0, "overflows must not depend on threads either");
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}
