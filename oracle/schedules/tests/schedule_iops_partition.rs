//! IOPS: the adaptive partition against a search of every tile size, its limits by name, and products of what it cuts.

use proptest::prelude::*;
use sparse_oracle::format::{Entries, Entry};
use sparse_oracle::{Refusal, RequestError};
use sparse_schedules::iops::{
    Machine, Mode, OperandSize, Partition, ProductShape, Reuse, Tiling, partition, ssmm,
};
use std::collections::BTreeSet;

/// Breaks one thing.
type Change<T> = fn(&mut T);

fn problem(mode: Mode, [m, k, n]: [usize; 3], nnz_a: u64, nnz_b: u64) -> ProductShape {
    ProductShape { m, k, n, a: OperandSize::sparse(nnz_a, k), b: OperandSize::sparse(nnz_b, k), mode }
}

fn machine() -> Machine {
    Machine { groups_a: 2, groups_b: 2, buffer_a: 100, buffer_b: 100, psum: 50, reserve: 20 }
}

/// Worked by hand. 2 x 2 elements; 8 x 10 with 40 entries times 10 x 12 with 60: densities 1/2. Of 100 entries of a
/// buffer, 80 are usable, 40 in each half; of 50 psums 40.
///
/// A row of tiles of A holds 2 Mt * 10 / 2 entries, so Mt <= 8 for RAF; psums: Mt Nt * 10 / 4 <= 40, so Mt Nt <= 16.
/// All of A is one row of tiles: Mt = 4, Nt <= 4, B has 12 / 8 -> 2 columns of tiles with Nt = 3. A tile of A holds
/// 8 Kt / 2 <= 40 and one of B 6 Kt / 2 <= 40: Kt = 10.
#[test]
fn a_partition_by_hand() {
    let p = problem(Mode::Ssmm, [8, 10, 12], 40, 60);
    let found = partition(&p, &machine()).expect("fits");
    let expected = Partition { mt: 4, kt: 10, nt: 3, tm: 1, tk: 1, tn: 2, reuse: Reuse::Raf };
    assert_eq!(found, expected);
    assert_eq!((p.a.bytes, p.b.bytes), (40 * 12 + 20, 60 * 12 + 20));
    assert_eq!(found.traffic(&p), 500 + 740);
    let of = |reuse| Partition { reuse, ..found }.traffic(&p);
    assert_eq!((of(Reuse::Rbf), of(Reuse::Rabe)), (2 * 500 + 740, 2 * 500 + 740));
    // Twice the buffer on the other side: B has one column of tiles, A several.
    let p = problem(Mode::Ssmm, [80, 10, 12], 400, 60);
    let found = partition(&p, &machine()).expect("fits");
    assert_eq!(found.reuse, Reuse::Rbf);
    assert_eq!((found.nt, found.tn, found.mt, found.tm), (6, 1, 2, 20));
    // In SDMM psums are elements: Mt Nt <= 50, with no reserve.
    let p = problem(Mode::Sdmm, [8, 10, 200], 40, 1000);
    let found = partition(&p, &machine()).expect("fits");
    assert_eq!((found.mt, found.nt, found.tm, found.tn), (4, 12, 1, 9));
}

#[test]
fn what_cannot_be_is_named() {
    let zero = |field| Refusal::Request(RequestError::Zero { field });
    let too_large = |field, found, limit| Refusal::Request(RequestError::TooLarge { field, found, limit });
    let small = problem(Mode::Ssmm, [4, 4, 4], 8, 8);
    let machines: [(&str, Change<Machine>, Refusal); 8] = [
        ("no groups of A", |m| m.groups_a = 0, zero("groups_a")),
        ("no groups of B", |m| m.groups_b = 0, zero("groups_b")),
        ("no buffer A", |m| m.buffer_a = 0, zero("buffer_a")),
        ("no buffer B", |m| m.buffer_b = 0, zero("buffer_b")),
        ("no psum buffer", |m| m.psum = 0, zero("psum")),
        ("65 groups", |m| m.groups_a = 65, too_large("groups_a", 65, 64)),
        ("more groups", |m| m.groups_b = usize::MAX, too_large("groups_b", u128::from(u64::MAX), 64)),
        ("all of it reserved", |m| m.reserve = 100, too_large("reserve", 100, 99)),
    ];
    for (name, change, refusal) in machines {
        let mut m = machine();
        change(&mut m);
        assert_eq!(partition(&small, &m), Err(refusal), "{name}");
    }
    let past = u32::MAX as usize + 1;
    let u32_max = u64::from(u32::MAX);
    for (p, refusal) in [
        (problem(Mode::Ssmm, [past, 4, 4], 0, 0), too_large("m", 1 << 32, u32_max)),
        (problem(Mode::Ssmm, [4, past, 4], 0, 0), too_large("k", 1 << 32, u32_max)),
        (problem(Mode::Ssmm, [4, 4, usize::MAX], 0, 0), too_large("n", usize::MAX as u128, u32_max)),
        (problem(Mode::Ssmm, [4, 4, 4], 17, 0), too_large("nnz of A", 17, 16)),
        (problem(Mode::Ssmm, [4, 4, 4], 0, 17), too_large("nnz of B", 17, 16)),
        (problem(Mode::Sdmm, [0, 4, 4], 1, 0), too_large("nnz of A", 1, 0)),
        (problem(Mode::Ssmm, [4, 1 << 20, 1 << 20], 0, 1 << 32), too_large("nnz of B", 1 << 32, u32_max)),
    ] {
        assert_eq!(partition(&p, &machine()), Err(refusal));
    }
}

/// Dense matrices, and one buffer at a time that has no room for a single row and column of each group.
#[test]
fn a_tile_that_cannot_fit_names_the_buffer() {
    let dense = problem(Mode::Ssmm, [1000, 30, 1000], 30_000, 30_000);
    let tables: [(Change<Machine>, &str, u128, u64); 3] = [
        // Two entries in each half, of which 4 * 80 % are usable.
        (|m| m.buffer_a = 4, "buffer_a (a tile of A in each half)", 4, 3),
        (|m| m.buffer_b = 4, "buffer_b (a tile of B in each half)", 4, 3),
        // K psums of one element, of which 36 * 80 % are usable.
        (|m| m.psum = 36, "psum", 30, 28),
    ];
    for (change, field, found, limit) in tables {
        let mut m = machine();
        change(&mut m);
        assert_eq!(
            partition(&dense, &m),
            Err(Refusal::Request(RequestError::TooLarge { field, found, limit }))
        );
    }
    let mut m = machine();
    (m.buffer_a, m.buffer_b, m.psum) = (5, 5, 38);
    let found = partition(&dense, &m).expect("just fits");
    assert_eq!((found.mt, found.kt, found.nt, found.reuse), (1, 1, 1, Reuse::Rabe));
}

#[test]
fn a_partition_that_is_not_legal_is_refused_by_rule() {
    let p = problem(Mode::Ssmm, [8, 10, 12], 40, 60);
    let legal = partition(&p, &machine()).expect("fits");
    assert_eq!(legal.check(&p, &machine()), Ok(()));
    let covers = |field, found| {
        Refusal::Request(RequestError::Parameter {
            field,
            expected: "at least the extent that it cuts",
            found,
        })
    };
    let too_large = |field, found, limit| Refusal::Request(RequestError::TooLarge { field, found, limit });
    let table: [(Change<Partition>, Refusal); 10] = [
        (|t| t.mt = 0, Refusal::Request(RequestError::Zero { field: "mt" })),
        (|t| t.kt = 0, Refusal::Request(RequestError::Zero { field: "kt" })),
        (|t| t.nt = 0, Refusal::Request(RequestError::Zero { field: "nt" })),
        (|t| t.mt = 3, covers("mt * groups_a * tm", 6)),
        (|t| t.kt = 9, covers("kt * tk", 9)),
        (|t| t.tn = 1, covers("nt * groups_b * tn", 6)),
        (|t| t.kt = (1 << 16) + 1, too_large("kt", (1 << 16) + 1, 1 << 16)),
        (|t| t.mt = usize::MAX, too_large("mt", usize::MAX as u128, 1 << 16)),
        (|t| t.nt = 5, too_large("buffer_b (a tile of B in each half)", 100, 80)),
        (|t| (t.nt, t.kt, t.tk) = (5, 2, 5), too_large("psum", 50, 40)),
    ];
    for (change, refusal) in table {
        let mut broken = legal;
        change(&mut broken);
        assert_eq!(broken.check(&p, &machine()), Err(refusal), "{broken:?}");
    }
    let rules = |change: Change<Machine>, reuse| {
        let mut m = machine();
        change(&mut m);
        Partition { reuse, ..legal }.check(&p, &m).err()
    };
    let found = |field, found, limit| Some(too_large(field, found, limit));
    assert_eq!(rules(|m| m.buffer_a = 99, Reuse::Raf), found("buffer_a (a tile of A in each half)", 80, 79));
    assert_eq!(rules(|m| m.buffer_b = 74, Reuse::Raf), found("buffer_b (a tile of B in each half)", 60, 59));
    // With one k tile, what stays is never more than a tile in each half.
    assert_eq!(rules(|m| m.buffer_b = 75, Reuse::Rbf), None);
    let halved = Partition { kt: 2, tk: 5, ..legal };
    let mut m = machine();
    m.buffer_a = 49;
    assert_eq!(halved.check(&p, &m).err(), found("buffer_a (a row of tiles of A)", 40, 39));
    m.reserve = 10;
    assert_eq!(halved.check(&p, &m), Ok(()));
    // Fields: a column of A of 256 expected entries, a row of B likewise.
    let dense = problem(Mode::Ssmm, [512, 1, 512], 512, 512);
    let roomy = Machine { buffer_a: 1 << 20, buffer_b: 1 << 20, psum: 1 << 20, ..machine() };
    let at = |mt, nt| Partition { mt, kt: 1, nt, tm: 2, tk: 1, tn: 2, reuse: Reuse::Rabe };
    assert_eq!(
        at(256, 128).check(&dense, &roomy).err(),
        found("col_len (a column of a group of A)", 256, 255)
    );
    assert_eq!(at(128, 256).check(&dense, &roomy).err(), found("row_len (a row of a group of B)", 256, 255));
    assert_eq!(at(128, 128).check(&dense, &roomy), Ok(()));
}

#[test]
fn extents_of_zero_are_legal() {
    for extents in [[0, 0, 0], [0, 5, 5], [5, 0, 5], [5, 5, 0]] {
        for mode in [Mode::Ssmm, Mode::Sdmm] {
            let p = problem(mode, extents, 0, 0);
            let found = partition(&p, &machine()).expect("nothing to fit");
            assert_eq!(found.check(&p, &machine()), Ok(()));
        }
    }
}

/// The largest extents with the most entries: no overflow, and no long search.
#[test]
fn the_largest_products_are_partitioned() {
    let (n, most) = (u32::MAX as usize, u64::from(u32::MAX));
    let roomy = Machine {
        groups_a: 1,
        groups_b: 64,
        buffer_a: u64::MAX,
        buffer_b: 1 << 20,
        psum: u64::MAX,
        reserve: 0,
    };
    for (extents, nnz_b) in [([n, n, n], most), ([n, 1, n], most), ([1, n, 1], most), ([n, n, 1], 0)] {
        for reserve in [0, 99] {
            let m = Machine { reserve, ..roomy };
            let p = problem(Mode::Ssmm, extents, most, nnz_b);
            let found = partition(&p, &m).expect("one row and column fit");
            assert_eq!(found.check(&p, &m), Ok(()), "{extents:?}");
        }
    }
    let p = ProductShape { b: OperandSize::dense(n, n), ..problem(Mode::Sdmm, [n, n, n], most, 0) };
    let found = partition(&p, &roomy).expect("fits");
    assert_eq!(found.check(&p, &roomy), Ok(()));
}

/// Every count of tiles and every reuse: the least traffic, then the documented order.
fn exhaustive(p: &ProductShape, m: &Machine) -> Option<Partition> {
    let sizes = |extent: usize, groups: usize| {
        (1..=extent.max(1)).map(move |count| (count, extent.max(1).div_ceil(groups * count)))
    };
    let mut legal = Vec::new();
    for (tm, mt) in sizes(p.m, m.groups_a) {
        for (tn, nt) in sizes(p.n, m.groups_b) {
            for (tk, kt) in sizes(p.k, 1) {
                for reuse in [Reuse::Raf, Reuse::Rbf, Reuse::Rabe] {
                    let candidate = Partition { mt, kt, nt, tm, tk, tn, reuse };
                    if candidate.check(p, m).is_ok() {
                        legal.push(candidate);
                    }
                }
            }
        }
    }
    legal.into_iter().min_by_key(|c| {
        let order = match c.reuse {
            Reuse::Rbf => (c.tn, c.tm, c.tk),
            _ => (c.tm, c.tn, c.tk),
        };
        (c.traffic(p), c.reuse, order)
    })
}

fn problems() -> impl Strategy<Value = (ProductShape, Machine)> {
    let extents = [1usize..=14, 1usize..=14, 1usize..=14];
    let machine = (1usize..=3, 1usize..=3, 1u64..120, 1u64..120, 1u64..60, 0u32..60);
    (extents, 0u32..=100, 0u32..=100, any::<bool>(), machine).prop_map(
        |([m, k, n], share_a, share_b, sparse, (groups_a, groups_b, buffer_a, buffer_b, psum, reserve))| {
            let nnz = |rows: usize, cols: usize, share: u32| (rows * cols) as u64 * u64::from(share) / 100;
            let mode = if sparse { Mode::Ssmm } else { Mode::Sdmm };
            let machine = Machine { groups_a, groups_b, buffer_a, buffer_b, psum, reserve };
            (problem(mode, [m, k, n], nnz(m, k, share_a), nnz(k, n, share_b)), machine)
        },
    )
}

/// `nnz` entries of a matrix, spread evenly.
fn spread(rows: usize, cols: usize, nnz: u64) -> Entries<f64> {
    let cells = (rows * cols) as u64;
    let at: BTreeSet<_> = (0..nnz).map(|i| i * cells / nnz.max(1)).collect();
    let list = at.iter().map(|&cell| Entry {
        row: (cell / cols as u64) as u32,
        col: (cell % cols as u64) as u32,
        value: 1.0 / (cell + 3) as f64,
    });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(768))]

    #[test]
    fn no_partition_moves_less((p, m) in problems()) {
        match partition(&p, &m) {
            Ok(found) => {
                prop_assert_eq!(found.check(&p, &m), Ok(()));
                prop_assert_eq!(Some(found), exhaustive(&p, &m));
            }
            Err(refusal) => {
                prop_assert_eq!(exhaustive(&p, &m), None, "{}", refusal);
            }
        }
    }

    /// Tiles of the partition, with buffers that may overflow: the bits of one tile.
    #[test]
    fn a_partition_changes_no_bit((p, m) in problems()) {
        let Ok(found) = partition(&p, &m) else {
            return Ok(());
        };
        let (a, b) = (spread(p.m, p.k, p.a.nnz), spread(p.k, p.n, p.b.nnz));
        let whole = ssmm(
            &Tiling::cut(&a, (p.m, p.k), 1).expect("small"),
            &Tiling::cut(&b, (p.k, p.n), 1).expect("small"),
            None,
        );
        let cut = ssmm(
            &Tiling::cut(&a, (found.mt * m.groups_a, found.kt), m.groups_a as u32).expect("small"),
            &Tiling::cut(&b, (found.kt, found.nt * m.groups_b), m.groups_b as u32).expect("small"),
            Some(m.psum as usize),
        );
        prop_assert_eq!(cut.expect("fit together").bits(), whole.expect("fit together").bits());
    }
}
