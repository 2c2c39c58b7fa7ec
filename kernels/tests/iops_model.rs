//! The IOPS model: whatever the partition, the buffers and the array, the bits are those of one ascending chain; what is
//! counted obeys conservation laws; what overflows is continued; what cannot be is refused by name.

use crate::support;

use proptest::prelude::*;
use sparse_kernels::iops::{
    Counters, Machine, Mode, Operand, Partition, Plan, Problem, Reuse, Simulation, partition, sdmm,
    sdmm_dataflows, ssmm, ssmm_dataflows, ssmm_problem,
};
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{
    AnyParts, AnySparse, CpCsr, Csr, CsrParts, Dense, Entries, Entry, FormatKind, FormatParams, Layout,
    Parts, RpCsc, Sparse,
};
use sparse_oracle::judge::first_difference;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::schedule::iops as reference;
use sparse_oracle::task::{Answer, Task};
use support::{Rng, entries};

/// A machine so small that everything overflows.
const TINY: Machine = Machine {
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
fn value(rng: &mut Rng) -> f64 {
    match rng.below(30) {
        0 => -0.0,
        1 => f64::INFINITY,
        2 => 0.0,
        _ => rng.real(),
    }
}

fn csr(e: &Entries<f64>) -> Csr<f64> {
    Csr::from_entries(e).expect("small")
}

fn bits(values: &[f64]) -> Vec<u64> {
    let bits = |v: &f64| if v.is_nan() { u64::MAX } else { v.to_bits() };
    values.iter().map(bits).collect()
}

/// The reference's product: one chain for each element.
fn expected(a: &Entries<f64>, b: &Entries<f64>) -> CsrParts<f64> {
    let a = reference::Tiling::<RpCsc<f64>>::fit(a, 1).expect("small");
    let b = reference::Tiling::<CpCsr<f64>>::fit(b, 1).expect("small");
    csr(&reference::ssmm(&a, &b, None).expect("fits")).into_parts()
}

fn assert_same(found: &CsrParts<f64>, expected: &CsrParts<f64>) {
    assert_eq!(
        (&found.row_ptr, &found.col_idx, bits(&found.values)),
        (&expected.row_ptr, &expected.col_idx, bits(&expected.values))
    );
}

/// Products, and the least bytes of both operands: entries of a k that the other stores too.
fn compulsory(a: &Entries<f64>, b: &Entries<f64>) -> (u64, u64, u64) {
    let lane = |list: &[Entry<f64>], k: usize, of: fn(&Entry<f64>) -> u32| {
        list.iter().filter(|e| of(e) as usize == k).count() as u64
    };
    let mut sums = (0, 0, 0);
    for k in 0..a.cols {
        let (in_a, in_b) = (lane(&a.list, k, |e| e.col), lane(&b.list, k, |e| e.row));
        sums.0 += in_a * in_b;
        sums.1 += if in_b > 0 { in_a * 12 } else { 0 };
        sums.2 += if in_a > 0 { in_b * 12 } else { 0 };
    }
    sums
}

/// What holds for every run of either mode.
fn conserved(c: &Counters, machine: &Machine, products: u64) {
    assert_eq!((c.products, c.multiplies, c.adds), (products, products, products));
    assert!(
        c.cycles.multiply >= products.div_ceil(machine.elements()),
        "{c:?}"
    );
    assert!(c.cycles.total >= c.cycles.multiply + c.cycles.stall, "{c:?}");
    assert!(c.cycles.total >= c.cycles.encode.max(c.cycles.map), "{c:?}");
    let stages = c.cycles.encode + c.cycles.multiply + c.cycles.stall + c.cycles.map;
    let transfer = c.dram.total().div_ceil(u64::from(machine.dram_bytes));
    assert!(c.cycles.total >= transfer, "{c:?}");
    assert!(c.cycles.total <= stages.max(transfer), "{c:?}");
    assert!(
        c.high.tile_a <= machine.buffer_a / 2 && c.high.resident <= machine.buffer_a.max(machine.buffer_b)
    );
    assert!(c.high.psum <= machine.psum && c.high.row <= machine.psum, "{c:?}");
    assert!(c.utilisation().is_none_or(|share| share <= 1.0), "{c:?}");
    assert!((c.dram.psum_written > 0) == (c.overflows.psum > 0), "{c:?}");
}

fn check_ssmm(
    a: &Entries<f64>,
    b: &Entries<f64>,
    machine: &Machine,
    plan: Plan,
) -> Simulation<CsrParts<f64>> {
    let run = ssmm(&csr(a), &csr(b), machine, plan).expect("legal");
    assert_same(&run.result, &expected(a, b));
    Csr::try_new(run.result.clone()).expect("canonical");
    let (products, bytes_a, bytes_b) = compulsory(a, b);
    let c = &run.counters;
    conserved(c, machine, products);
    assert!(c.dram.a_read >= bytes_a && c.dram.b_read >= bytes_b, "{c:?}");
    assert_eq!(c.outputs, run.result.values.len() as u64);
    assert_eq!(c.dram.c_written, c.outputs * 12 + 2 * a.rows as u64);
    assert!(c.high.tile_b <= machine.buffer_b / 2, "{c:?}");
    run
}

fn any_machine() -> impl Strategy<Value = Machine> {
    (
        1usize..5,
        1usize..5,
        2u64..40,
        2u64..40,
        1u64..20,
        1u32..9,
        1u32..99,
    )
        .prop_map(
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

fn any_reuse() -> impl Strategy<Value = Reuse> {
    prop_oneof![Just(Reuse::Raf), Just(Reuse::Rbf), Just(Reuse::Rabe)]
}

/// Tiles of these sizes, as many as it takes.
fn cover(
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
        let given = cover((m, k, n), sizes, &machine, reuse);
        check_ssmm(&a, &b, &machine, Plan::Given(given));
        check_ssmm(&a, &b, &Machine::default(), Plan::Adaptive);
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
        let tiling = reference::Tiling::<RpCsc<f64>>::fit(&a, 1).expect("small");
        let dense = Dense::try_new(k, n, n, Layout::RowMajor, b.clone()).expect("dense");
        let expected = reference::sdmm(&tiling, &dense).expect("fits");
        let expected: Vec<f64> = (0..m * n).map(|at| expected.at(at / n, at % n)).collect();
        let given = cover((m, k, n), sizes, &machine, reuse);
        for (machine, plan) in [(machine, Plan::Given(given)), (Machine::default(), Plan::Adaptive)] {
            let run = sdmm(&csr(&a), (&b, n), &machine, plan).expect("legal");
            prop_assert_eq!(bits(&run.result), bits(&expected));
            let c = &run.counters;
            conserved(c, &machine, a.list.len() as u64 * n as u64);
            let compulsory = if n > 0 { a.list.len() as u64 * 12 } else { 0 };
            prop_assert!(c.dram.a_read >= compulsory);
            prop_assert_eq!((c.outputs, c.dram.c_written), ((m * n) as u64, (m * n * 8) as u64));
        }
    }

    /// Two searches, one answer, refusals included.
    #[test]
    fn the_partition_is_the_reference_s(
        (m, k, n) in (0usize..60_000, 0usize..60_000, 0usize..60_000),
        (share_a, share_b) in (0u64..1 << 20, 0u64..1 << 20),
        ssmm in any::<bool>(), machine in any_machine(), scale in 1u64..4000, reserve in 0u32..99,
    ) {
        let of = |rows: usize, cols: usize, share: u64| {
            // Sparse most of the time, full now and then.
            let full = rows as u64 * cols as u64;
            if share.is_multiple_of(7) { full } else { full * share / (1 << 30) }
        };
        let (a, b) = (of(m, k, share_a), of(k, n, share_b));
        let machine = Machine {
            buffer_a: machine.buffer_a * scale,
            buffer_b: machine.buffer_b * scale,
            psum: machine.psum * (1 + scale / 40),
            reserve,
            ..machine
        };
        let mode = if ssmm { Mode::Ssmm } else { Mode::Sdmm };
        let problem = Problem {
            m, k, n,
            a: Operand::sparse(a, k, 8),
            b: if ssmm { Operand::sparse(b, k, 8) } else { Operand::dense(k, n, 8) },
            mode,
        };
        let operand = |o: Operand| reference::Operand { nnz: o.nnz, bytes: o.bytes };
        let theirs = reference::Problem {
            m, k, n,
            a: operand(problem.a),
            b: operand(problem.b),
            mode: if ssmm { reference::Mode::Ssmm } else { reference::Mode::Sdmm },
        };
        let device = reference::Machine {
            groups_a: machine.groups_a,
            groups_b: machine.groups_b,
            buffer_a: machine.buffer_a,
            buffer_b: machine.buffer_b,
            psum: machine.psum,
            reserve: machine.reserve,
        };
        let found = partition(&problem, &machine);
        let expected = reference::partition(&theirs, &device);
        prop_assert_eq!(found.clone().map(|p| turned(&p)), expected);
        if let Ok(p) = found {
            prop_assert_eq!(p.check(&problem, &machine), Ok(()));
            prop_assert_eq!(p.traffic(&problem), turned(&p).traffic(&theirs));
        }
    }
}

fn turned(p: &Partition) -> reference::Partition {
    let &Partition {
        mt,
        kt,
        nt,
        tm,
        tk,
        tn,
        reuse,
    } = p;
    let reuse = match reuse {
        Reuse::Raf => reference::Reuse::Raf,
        Reuse::Rbf => reference::Reuse::Rbf,
        Reuse::Rabe => reference::Reuse::Rabe,
    };
    reference::Partition {
        mt,
        kt,
        nt,
        tm,
        tk,
        tn,
        reuse,
    }
}

fn full(rows: usize, cols: usize) -> Entries<f64> {
    entries(&mut Rng(7), rows, cols, 100, Rng::real)
}

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
        list: list
            .iter()
            .map(|&(row, col)| Entry { row, col, value: 2.0 })
            .collect(),
    };
    let (a, b) = (
        matrix(&[(0, 0), (1, 0), (1, 1)]),
        matrix(&[(0, 0), (0, 1), (1, 1)]),
    );
    let machine = Machine {
        groups_a: 1,
        groups_b: 1,
        encode_rate: 1,
        dram_bytes: 1000,
        ..Machine::default()
    };
    let given = cover((2, 2, 2), [2, 2, 2], &machine, Reuse::Rabe);
    let c = check_ssmm(&a, &b, &machine, Plan::Given(given)).counters;
    // a, b meet x, y: 2 x 2; c meets z.
    assert_eq!((c.products, c.cycles.encode, c.cycles.multiply), (5, 3, 4 + 1));
    assert_eq!((c.cycles.map, c.cycles.stall, c.cycles.total), (8, 0, 3 + 5 + 8));
    assert_eq!(
        (c.high.tile_a, c.high.tile_b, c.high.psum, c.high.row),
        (3, 3, 5, 3)
    );
    // Three entries of 12 bytes and two lengths each; four of C.
    assert_eq!(
        (c.dram.a_read, c.dram.b_read, c.dram.c_written),
        (40, 40, 4 * 12 + 4)
    );
    assert_eq!((c.fetches, c.outputs, c.overflows.total()), (4 + 2, 4, 0));
}

/// A row of tiles of A stays: A is read once, B once for each row of tiles. RBF the other way round.
#[test]
fn what_stays_is_read_once() {
    let (a, b) = (full(8, 6), full(6, 9));
    let machine = Machine {
        groups_a: 2,
        groups_b: 3,
        ..Machine::default()
    };
    let (once_a, once_b) = (48 * 12 + 12, 54 * 12 + 12);
    let sizes = [2, 6, 1];
    for (reuse, read_a, read_b) in [(Reuse::Raf, 1, 2), (Reuse::Rbf, 3, 1), (Reuse::Rabe, 3, 2)] {
        let given = cover((8, 6, 9), sizes, &machine, reuse);
        assert_eq!((given.tm, given.tn), (2, 3));
        let c = check_ssmm(&a, &b, &machine, Plan::Given(given)).counters;
        // Each of two (three) strips has its own lengths.
        let lengths = (12 * read_a, 12 * 2 * read_b);
        assert_eq!(c.dram.a_read, once_a * read_a + lengths.0, "{reuse:?}");
        assert_eq!(c.dram.b_read, once_b * read_b + lengths.1, "{reuse:?}");
        let planned = given.traffic(&ssmm_problem(&csr(&a), &csr(&b)));
        assert_eq!(
            u128::from(c.dram.read() - lengths.0 - lengths.1),
            planned,
            "{reuse:?}"
        );
    }
}

/// Every kind of overflow at once, and a product whose psums no element has room for.
#[test]
fn overflows_are_continued() {
    let (a, b) = (full(9, 11), full(11, 10));
    let given = cover((9, 11, 10), [3, 7, 2], &TINY, Reuse::Raf);
    let c = check_ssmm(&a, &b, &TINY, Plan::Given(given)).counters;
    assert!(
        c.overflows.buffer_a > 0 && c.overflows.buffer_b > 0 && c.overflows.psum > 0,
        "{c:?}"
    );
    assert!(c.dram.psum_read > 0 && c.cycles.stall > 0, "{c:?}");
    let (a, b) = (full(20, 600), full(600, 20));
    let run = check_ssmm(&a, &b, &Machine::default(), Plan::Adaptive);
    assert_eq!((run.partition.mt, run.partition.nt), (1, 1));
    assert!(
        run.counters.overflows.psum > 0,
        "600 psums of an element do not fit 512"
    );
}

/// Lanes of 600 entries where 8 bits say 255: continued twice, in both operands under the same k.
#[test]
fn long_lanes_are_continued() {
    let (a, b) = (full(600, 2), full(2, 600));
    let machine = Machine {
        groups_a: 1,
        groups_b: 1,
        ..Machine::default()
    };
    let given = cover((600, 2, 600), [600, 2, 600], &machine, Reuse::Rabe);
    let c = check_ssmm(&a, &b, &machine, Plan::Given(given)).counters;
    assert_eq!((c.overflows.col_len, c.overflows.row_len), (4, 4));
    let x = vec![1.5; 2];
    let given = cover((600, 2, 1), [600, 2, 1], &machine, Reuse::Rabe);
    let big = Machine { psum: 600, ..machine };
    let run = sdmm(&csr(&a), (&x, 1), &big, Plan::Given(given)).expect("legal");
    assert_eq!(run.counters.overflows.col_len, 4);
}

#[test]
fn threads_change_neither_bits_nor_counts() {
    let mut rng = Rng(9);
    let a = csr(&entries(&mut rng, 300, 200, 6, Rng::real));
    let b = csr(&entries(&mut rng, 200, 250, 5, Rng::real));
    let runs = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let small = Machine {
            psum: 16,
            buffer_a: 500,
            ..Machine::default()
        };
        pool.expect("threads")
            .install(|| ssmm(&a, &b, &small, Plan::Adaptive).expect("legal"))
    });
    assert!(
        runs[0].counters.overflows.total() > 0,
        "overflows must not depend on threads either"
    );
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[0], runs[2]);
}

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

#[test]
fn what_cannot_be_is_named() {
    let (a, b) = (full(9, 9), full(9, 9));
    let refused = |machine: Machine, plan| ssmm(&csr(&a), &csr(&b), &machine, plan).expect_err("illegal");
    let zero = |change: fn(&mut Machine)| {
        let mut machine = Machine::default();
        change(&mut machine);
        match refused(machine, Plan::Adaptive) {
            Refusal::Zero { field } => field,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(zero(|m| m.buffer_a = 0), "buffer_a");
    assert_eq!(zero(|m| m.buffer_b = 0), "buffer_b");
    assert_eq!(zero(|m| m.psum = 0), "psum");
    assert_eq!(zero(|m| m.groups_a = 0), "groups_a");
    assert_eq!(zero(|m| m.groups_b = 0), "groups_b");
    assert_eq!(zero(|m| m.encode_rate = 0), "encode_rate");
    assert_eq!(zero(|m| m.dram_bytes = 0), "dram_bytes");
    assert_eq!(zero(|m| m.clock_mhz = 0), "clock_mhz");
    let large = |machine: Machine, plan| match refused(machine, plan) {
        Refusal::TooLarge { field, .. } => field,
        other => panic!("{other:?}"),
    };
    let with = |change: fn(&mut Machine)| {
        let mut machine = Machine::default();
        change(&mut machine);
        machine
    };
    assert_eq!(large(with(|m| m.groups_a = 65), Plan::Adaptive), "groups_a");
    assert_eq!(large(with(|m| m.reserve = 100), Plan::Adaptive), "reserve");
    // A column of A has an entry for each of eight groups, in each half.
    let buffer = large(with(|m| m.buffer_a = 10), Plan::Adaptive);
    assert_eq!(buffer, "buffer_a (a tile of A in each half)");
    let one = Refusal::Parameter {
        field: "buffer_b",
        expected: "at least 2 entries, one in each half",
        found: 1,
    };
    assert_eq!(refused(with(|m| m.buffer_b = 1), Plan::Adaptive), one);
    let fits = cover((9, 9, 9), [2, 9, 2], &Machine::default(), Reuse::Raf);
    let given = |change: fn(&mut Partition)| {
        let mut partition = fits;
        change(&mut partition);
        Plan::Given(partition)
    };
    for (plan, field) in [
        (given(|p| p.mt = (1 << 16) + 1), "mt"),
        (given(|p| p.kt = (1 << 16) + 1), "kt"),
        (given(|p| p.nt = (1 << 16) + 1), "nt"),
    ] {
        assert_eq!(large(Machine::default(), plan), field);
    }
    for (plan, field) in [
        (given(|p| p.mt = 1), "mt * groups_a * tm"),
        (given(|p| p.kt = 8), "kt * tk"),
        (given(|p| p.nt = 1), "nt * groups_b * tn"),
    ] {
        let found = refused(Machine::default(), plan);
        assert!(
            matches!(found, Refusal::Parameter { field: f, .. } if f == field),
            "{found:?}"
        );
    }
    assert_eq!(
        refused(Machine::default(), given(|p| p.kt = 0)),
        Refusal::Zero { field: "kt" }
    );
    let dense = vec![1.0; 9 * 9];
    let refused = |machine: Machine| {
        let given = cover((9, 9, 9), [3, 9, 3], &machine, Reuse::Raf);
        sdmm(&csr(&a), (&dense, 9), &machine, Plan::Given(given)).expect_err("dense tiles are known exactly")
    };
    let small = with(|m| m.psum = 8);
    assert!(matches!(
        refused(small),
        Refusal::TooLarge {
            field: "psum",
            found: 9,
            limit: 8
        }
    ));
    let small = with(|m| m.buffer_b = 160);
    assert!(matches!(
        refused(small),
        Refusal::TooLarge {
            found: 162,
            limit: 160,
            ..
        }
    ));
    let shape = ssmm(&csr(&full(3, 4)), &csr(&a), &Machine::default(), Plan::Adaptive);
    assert!(matches!(shape, Err(Refusal::Shape { .. })));
}

fn rows(op: Op) -> impl Iterator<Item = &'static Kernel> {
    all_kernels()
        .iter()
        .filter(move |k| k.engine == "iops" && k.contract.op == op)
}

/// The encoders of the machine make the arrays of the reference, or refuse as it does; the DMA reads them back.
#[test]
fn encoders_agree_with_the_reference() {
    let mut rng = Rng(11);
    let mut compared = 0;
    for (rows_, cols, density) in [
        (0, 0, 0),
        (0, 3, 0),
        (5, 5, 30),
        (40, 33, 12),
        (300, 2, 100),
        (2, 300, 100),
        (7, 65, 3),
    ] {
        let e = entries(&mut rng, rows_, cols, density, value);
        let matrix = AnySparse::from(Sparse::Csr(csr(&e)));
        for groups in [0, 1, 2, 7, 64, 65] {
            let params = FormatParams {
                groups,
                ..FormatParams::default()
            };
            for kernel in rows(Op::Convert).filter(|k| k.name.ends_with("_f64__iops")) {
                let Some(to) = kernel.contract.to.filter(|to| *to != FormatKind::Csr) else {
                    continue;
                };
                let found = (kernel.run)(Task::Convert {
                    a: &matrix,
                    to,
                    params,
                });
                match (Sparse::from_entries(to, params, &e), found) {
                    (Ok(expected), Ok(Answer::Parts(AnyParts::F64(found)))) => {
                        let parts = Parts::from(expected.clone());
                        assert_eq!(first_difference(&parts, &found), None, "{} {groups}", kernel.name);
                        let back = decoded(&expected.into());
                        assert!(
                            back == matrix,
                            "{} {groups}: another matrix came back",
                            kernel.name
                        );
                    }
                    (expected, found) => assert_eq!(found.err(), expected.err(), "{} {groups}", kernel.name),
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 7 * 6 * 2);
}

fn decoded(a: &AnySparse) -> AnySparse {
    let mut kernels = rows(Op::Convert);
    let kernel = kernels.find(|k| k.contract.format == a.kind() && k.name.ends_with("_f64__iops"));
    let params = FormatParams::default();
    match (kernel.expect("registered").run)(Task::Convert {
        a,
        to: FormatKind::Csr,
        params,
    }) {
        Ok(Answer::Sparse(raw)) => raw.check().expect("valid"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_rows_of_the_registry() {
    let count = |op| rows(op).count();
    assert_eq!(
        (count(Op::Spgemm), count(Op::Spmm), count(Op::Convert)),
        (4, 8, 8)
    );
    assert!(rows(Op::Spmm).all(|k| k.needs.is_empty() && k.name.ends_with("__iops")));
}
