//! What the tests of the IOPS model share: machines, tiles, the reference's product, and the laws that hold for every run.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use crate::support::{Rng, entries};
use proptest::prelude::*;
use sparse_kernels::iops::{
    Counters, IopsPlan, Machine, Partition, Reuse, Simulation, Value, ssmm, ssmm_encoded,
};
use sparse_oracle::Scalar;
use sparse_oracle::format::{CpCsr, Csr, CsrParts, Entries, Entry, FormatKind, FormatParams, RpCsc, Sparse};
use sparse_oracle::prelude::*;
use sparse_schedules::iops as reference;

/// f64 and f32.
pub trait Number: Value + Scalar {
    /// All NaNs are one.
    fn bits(self) -> u64;
}

impl Number for f64 {
    fn bits(self) -> u64 {
        if self.is_nan() { u64::MAX } else { self.to_bits() }
    }
}

impl Number for f32 {
    fn bits(self) -> u64 {
        if self.is_nan() { u64::MAX } else { u64::from(self.to_bits()) }
    }
}

/// A machine so small that everything overflows.
pub const TINY: Machine = Machine {
    groups_a: 2,
    groups_b: 3,
    buffer_a: 6,
    buffer_b: 4,
    psum: 2,
    reserve: 25,
    clock_mhz: 800,
    encode_rate: 1,
    dram_bytes: 4,
};

/// Numbers, and now and then what is special.
pub fn value(rng: &mut Rng) -> f64 {
    match rng.below(30) {
        0 => -0.0,
        1 => f64::INFINITY,
        2 => 0.0,
        _ => rng.real(),
    }
}

/// The entries in an element type.
pub fn typed<T: Number>(e: &Entries<f64>) -> Entries<T> {
    e.map(|&v| T::from_f64(v))
}

pub fn csr<T: Number>(e: &Entries<T>) -> Csr<T> {
    Csr::from_entries(e).expect("small")
}

pub fn bits<T: Number>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.bits()).collect()
}

/// The reference's product: one chain for each element.
fn expected<T: Number>(a: &Entries<T>, b: &Entries<T>) -> CsrParts<T>
where
    RpCsc<T>: reference::Grouped<T>,
    CpCsr<T>: reference::Grouped<T>,
{
    let a = reference::Tiling::<RpCsc<T>>::fit(a, 1).expect("small");
    let b = reference::Tiling::<CpCsr<T>>::fit(b, 1).expect("small");
    csr(&reference::ssmm(&a, &b, None).expect("fits")).into_parts()
}

fn assert_same<T: Number>(found: &CsrParts<T>, expected: &CsrParts<T>) {
    assert_eq!(
        (&found.row_ptr, &found.col_idx, bits(&found.values)),
        (&expected.row_ptr, &expected.col_idx, bits(&expected.values))
    );
}

/// Products, and how many entries of A and of B have a k that the other stores too.
fn compulsory<T>(a: &Entries<T>, b: &Entries<T>) -> (u64, u64, u64) {
    let lane = |list: &[Entry<T>], k: usize, of: fn(&Entry<T>) -> u32| {
        list.iter().filter(|e| of(e) as usize == k).count() as u64
    };
    let mut sums = (0, 0, 0);
    for k in 0..a.cols {
        let (in_a, in_b) = (lane(&a.list, k, |e| e.col), lane(&b.list, k, |e| e.row));
        sums.0 += in_a * in_b;
        sums.1 += if in_b > 0 { in_a } else { 0 };
        sums.2 += if in_a > 0 { in_b } else { 0 };
    }
    sums
}

/// What holds for every run of either mode.
pub fn conserved(c: &Counters, machine: &Machine, products: u64) {
    assert_eq!((c.products, c.multiplies, c.adds), (products, products, products));
    assert!(c.cycles.multiply >= products.div_ceil(machine.elements()), "{c:?}");
    assert!(c.cycles.total >= c.cycles.multiply + c.cycles.stall, "{c:?}");
    assert!(c.cycles.total >= c.cycles.encode.max(c.cycles.map), "{c:?}");
    let stages = c.cycles.encode + c.cycles.multiply + c.cycles.stall + c.cycles.map;
    let transfer = c.dram.total().div_ceil(u64::from(machine.dram_bytes));
    assert!(c.cycles.total >= transfer, "{c:?}");
    assert!(c.cycles.total <= stages.max(transfer), "{c:?}");
    assert!(c.high.tile_a <= machine.buffer_a / 2, "{c:?}");
    let (a, b) = (c.high.buffer_a, c.high.buffer_b);
    assert!(a <= machine.buffer_a && b <= machine.buffer_b, "all at once: {c:?}");
    assert!(c.high.psum <= machine.psum && c.high.row <= machine.psum, "{c:?}");
    assert!(c.utilisation().is_none_or(|share| share <= 1.0), "{c:?}");
    assert!((c.dram.psum_written > 0) == (c.overflows.psum > 0), "{c:?}");
    assert_eq!(c.dram.psum_read, c.dram.psum_written, "a sum that is written comes back once");
}

/// Both operands encoded, A in three groups and B in five; lanes that are too long for that are left out.
pub fn encoded<T: Number>(a: &Entries<T>, b: &Entries<T>) -> Option<(RpCsc<T>, CpCsr<T>)> {
    let of = |kind, groups, e: &Entries<T>| {
        let params = FormatParams { groups, ..FormatParams::default() };
        Sparse::from_entries(kind, params, e).ok()
    };
    match (of(FormatKind::RpCsc, 3, a)?, of(FormatKind::CpCsr, 5, b)?) {
        (Sparse::RpCsc(a), Sparse::CpCsr(b)) => Some((a, b)),
        other => panic!("{other:?}"),
    }
}

fn assert_eq_runs<T: Number>(found: &Simulation<CsrParts<T>>, expected: &Simulation<CsrParts<T>>) {
    assert_same(&found.result, &expected.result);
    assert_eq!((found.partition, found.counters), (expected.partition, expected.counters));
}

/// Runs a product, and checks its bits and every law.
pub fn check_ssmm<T: Number>(
    a: &Entries<f64>,
    b: &Entries<f64>,
    machine: &Machine,
    plan: IopsPlan,
) -> Simulation<CsrParts<T>> {
    let (a, b) = (typed::<T>(a), typed::<T>(b));
    let run = ssmm(&csr(&a), &csr(&b), machine, plan).expect("legal");
    assert_same(&run.result, &expected(&a, &b));
    Csr::try_new(run.result.clone()).expect("canonical");
    // From the arrays of the formats, in groups of their own: the same bits and counts.
    if let Some((a, b)) = encoded(&a, &b) {
        assert_eq_runs(&ssmm_encoded(&a, &b, machine, plan).expect("legal"), &run);
    }
    // A value and its location.
    let entry = T::BYTES + 4;
    let (products, entries_a, entries_b) = compulsory(&a, &b);
    let c = &run.counters;
    conserved(c, machine, products);
    assert!(c.dram.a_read >= entries_a * entry && c.dram.b_read >= entries_b * entry, "{c:?}");
    assert_eq!(c.outputs, run.result.values.len() as u64);
    assert_eq!(c.dram.c_written, c.outputs * entry + 2 * a.rows as u64);
    assert!(c.high.tile_b <= machine.buffer_b / 2, "{c:?}");
    run
}

pub fn any_machine() -> impl Strategy<Value = Machine> {
    (1usize..5, 1usize..5, 2u64..40, 2u64..40, 1u64..20, 1u32..9, 1u32..99).prop_map(
        |(groups_a, groups_b, buffer_a, buffer_b, psum, encode_rate, dram_bytes)| Machine {
            groups_a,
            groups_b,
            buffer_a,
            buffer_b,
            psum,
            encode_rate,
            dram_bytes,
            ..Machine::default()
        },
    )
}

pub fn any_reuse() -> impl Strategy<Value = Reuse> {
    prop_oneof![Just(Reuse::Raf), Just(Reuse::Rbf), Just(Reuse::Rabe)]
}

/// Tiles of these sizes, as many as it takes.
pub fn cover(
    (m, k, n): (usize, usize, usize),
    [mt, kt, nt]: [usize; 3],
    machine: &Machine,
    reuse: Reuse,
) -> Partition {
    Partition {
        mt,
        kt,
        nt,
        tm: m.div_ceil(mt * machine.groups_a),
        tk: k.div_ceil(kt),
        tn: n.div_ceil(nt * machine.groups_b),
        reuse,
    }
}

/// All positions stored.
pub fn full(rows: usize, cols: usize) -> Entries<f64> {
    entries(&mut Rng(7), rows, cols, 100, Rng::real)
}
