//! What the IOPS model cannot be or do, by name.

use crate::iops_support::{cover, csr, full};
use sparse_kernels::iops::{IopsPlan, Machine, Partition, Reuse, sdmm, ssmm};
use sparse_oracle::format::{Entries, Entry};
use sparse_oracle::refusal::{Limit, Refusal, RequestError};

#[test]
fn what_cannot_be_is_named() {
    let (a, b) = (full(9, 9), full(9, 9));
    let refused = |machine: Machine, plan| ssmm(&csr(&a), &csr(&b), &machine, plan).expect_err("illegal");
    let zero = |change: fn(&mut Machine)| {
        let mut machine = Machine::default();
        change(&mut machine);
        match refused(machine, IopsPlan::Adaptive) {
            Refusal::Request(RequestError::Zero { field }) => field,
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
        Refusal::Request(RequestError::TooLarge { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    let with = |change: fn(&mut Machine)| {
        let mut machine = Machine::default();
        change(&mut machine);
        machine
    };
    assert_eq!(large(with(|m| m.groups_a = 65), IopsPlan::Adaptive), "groups_a");
    assert_eq!(large(with(|m| m.reserve = 100), IopsPlan::Adaptive), "reserve");
    // A column of A has an entry for each of eight groups, in each half.
    let buffer = large(with(|m| m.buffer_a = 10), IopsPlan::Adaptive);
    assert_eq!(buffer, "buffer_a (a tile of A in each half)");
    let one = Refusal::Request(RequestError::Parameter {
        field: "buffer_b",
        expected: "at least 2 entries, one in each half",
        found: 1,
    });
    assert_eq!(refused(with(|m| m.buffer_b = 1), IopsPlan::Adaptive), one);
    let fits = cover((9, 9, 9), [2, 9, 2], &Machine::default(), Reuse::Raf);
    let given = |change: fn(&mut Partition)| {
        let mut partition = fits;
        change(&mut partition);
        IopsPlan::Given(partition)
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
            matches!(found, Refusal::Request(RequestError::Parameter { field: f, .. }) if f == field),
            "{found:?}"
        );
    }
    assert_eq!(
        refused(Machine::default(), given(|p| p.kt = 0)),
        Refusal::Request(RequestError::Zero { field: "kt" })
    );
    let dense = vec![1.0; 9 * 9];
    let refused = |machine: Machine| {
        let given = cover((9, 9, 9), [3, 9, 3], &machine, Reuse::Raf);
        sdmm(&csr(&a), (&dense, 9), &machine, IopsPlan::Given(given))
            .expect_err("dense tiles are known exactly")
    };
    let small = with(|m| m.psum = 8);
    assert!(matches!(
        refused(small),
        Refusal::Request(RequestError::TooLarge { field: "psum", found: 9, limit: 8 })
    ));
    let small = with(|m| m.buffer_b = 160);
    assert!(matches!(
        refused(small),
        Refusal::Request(RequestError::TooLarge { found: 162, limit: 160, .. })
    ));
    let shape = ssmm(&csr(&full(3, 4)), &csr(&a), &Machine::default(), IopsPlan::Adaptive);
    assert!(matches!(shape, Err(Refusal::Request(RequestError::Shape { .. }))));
}

/// A column by a row of 20,000 entries each: 4 * 10^8 entries of C, which would take 11 GB, are counted and refused.
#[test]
fn a_product_without_room_is_refused_before_it_is_made() {
    let n = 20_000;
    let of = |rows, cols, place: fn(u32) -> (u32, u32)| {
        let list = (0..n).map(place);
        let list = list.map(|(row, col)| Entry { row, col, value: 1.0 }).collect();
        csr(&Entries { rows, cols, list })
    };
    let (a, b) = (of(n as usize, 1, |i| (i, 0)), of(1, n as usize, |i| (0, i)));
    let refused = ssmm(&a, &b, &Machine::default(), IopsPlan::Adaptive).expect_err("too large");
    let expected = Refusal::Limit(Limit { field: "nnz of A * B", found: 400_000_000, limit: 1 << 28 });
    assert_eq!(refused, expected);
}
