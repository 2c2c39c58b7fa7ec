//! IOPS: which columns and rows meet, where partial sums lie and in which order they are added, worked out by hand; and
//! products of any tiles, groups and buffers against the oracle's chain, bit for bit.

use proptest::prelude::*;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::format::{CpCsr, Dense, Entries, Entry, FormatParams, RpCsc};
use sparse_oracle::model::chain;
use sparse_oracle::prelude::*;
use sparse_oracle::{F16, Refusal, RequestError, Scalar};
use sparse_schedules::iops::{Match, Tiling, matches, outer_products, sdmm, ssmm, terms};
use std::collections::{BTreeMap, BTreeSet};

fn entries<T: Scalar>(rows: usize, cols: usize, list: &[(u32, u32, f64)]) -> Entries<T> {
    let list = list.iter().map(|&(row, col, value)| Entry { row, col, value: T::from_f64(value) });
    Entries::try_new(rows, cols, list.collect()).expect("sorted")
}

fn groups(groups: u32) -> FormatParams {
    FormatParams { groups, ..FormatParams::default() }
}

/// ```text
/// A  k:  0 1 2 3       B  k:  columns 0 1 | 2 3
///    0   1 2 . .          0           . 5 | . .
///    1   . 3 . .          1           6 . | 7 .
///    ---------            2           . . | 8 .
///    2   . . 4 .          3           9 . | . 9
///    3   . 2 . .
/// ```
fn example() -> (RpCsc<f64>, CpCsr<f64>) {
    let a = [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 3.0), (2, 2, 4.0), (3, 1, 2.0)];
    let b = [(0, 1, 5.0), (1, 0, 6.0), (1, 2, 7.0), (2, 2, 8.0), (3, 0, 9.0), (3, 3, 9.0)];
    (
        RpCsc::from_entries_with(&entries(4, 4, &a), &groups(2)).expect("fits"),
        CpCsr::from_entries_with(&entries(4, 4, &b), &groups(2)).expect("fits"),
    )
}

#[test]
fn columns_of_a_and_rows_of_b_are_merged() {
    let (a, b) = example();
    let m =
        |k, groups_a, groups_b| Match { k, at_a: usize::from(k), at_b: usize::from(k), groups_a, groups_b };
    // Row 3 of B meets no column of A.
    assert_eq!(matches(&a, &b), Ok(vec![m(0, 0b01, 0b01), m(1, 0b11, 0b11), m(2, 0b10, 0b10)]));
    // Positions count what is stored: k = 5 is the second column of A and the first row of B.
    let a = RpCsc::from_entries_with(&entries::<f64>(1, 9, &[(0, 2, 1.0), (0, 5, 1.0)]), &groups(1));
    let b = CpCsr::from_entries_with(&entries::<f64>(9, 1, &[(5, 0, 1.0), (7, 0, 1.0)]), &groups(1));
    let found = matches(&a.expect("fits"), &b.expect("fits")).expect("nine inner indices");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].k, found[0].at_a, found[0].at_b), (5, 1, 0));
}

#[test]
fn psums_lie_where_they_were_appended() {
    let (a, b) = example();
    let buffers = outer_products(&a, &b, None).expect("fit together");
    // (k, column in group, a, b) by address, for each pair of groups with products.
    let found: Vec<_> = buffers
        .iter()
        .map(|buffer| {
            let psums = buffer.psums.iter().map(|p| (p.k, p.column, p.a, p.b));
            ((buffer.group_a, buffer.group_b), psums.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        found,
        [
            ((0, 0), vec![(0, 1, 1.0, 5.0), (1, 0, 2.0, 6.0), (1, 0, 3.0, 6.0)]),
            ((0, 1), vec![(1, 0, 2.0, 7.0), (1, 0, 3.0, 7.0)]),
            ((1, 0), vec![(1, 0, 2.0, 6.0)]),
            ((1, 1), vec![(1, 0, 2.0, 7.0), (2, 0, 4.0, 8.0)]),
        ]
    );
    let rows = |buffer: usize| buffers[buffer].addresses.clone().into_iter().collect::<Vec<_>>();
    assert_eq!(rows(0), [(0, vec![0, 1]), (1, vec![2])]);
    assert_eq!(rows(3), [(0, vec![1]), (1, vec![0])]);
    // Row 0 of the first element: column 1 came before column 0.
    assert_eq!(buffers[0].mapped(0), [1, 0]);
    assert_eq!(buffers[0].mapped(9), Vec::<u32>::new());
}

#[test]
fn output_rows_list_column_address_and_operands() {
    let (a, b) = example();
    let rows = terms(&a, &b, None).expect("fit together");
    let found: Vec<_> = rows
        .iter()
        .map(|(&row, terms)| {
            let terms = terms.iter().map(|t| (t.column, t.address, t.k, t.a, t.b));
            (row, terms.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, vec![(0, 1, 1, 2.0, 6.0), (1, 0, 0, 1.0, 5.0), (2, 0, 1, 2.0, 7.0)]),
            (1, vec![(0, 2, 1, 3.0, 6.0), (2, 1, 1, 3.0, 7.0)]),
            (2, vec![(2, 1, 2, 4.0, 8.0)]),
            (3, vec![(0, 0, 1, 2.0, 6.0), (2, 0, 1, 2.0, 7.0)]),
        ]
    );
}

/// Within a row, psums come by k and then by column, so columns repeat out of order: 3 1 | 3 0 1 | 1.
#[test]
fn address_mapping_sorts_by_column_and_keeps_equal_columns_in_order() {
    let a = entries::<f64>(1, 3, &[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0)]);
    let b = [(0, 1, 1.0), (0, 3, 2.0), (1, 0, 3.0), (1, 1, 4.0), (1, 3, 5.0), (2, 1, 6.0)];
    let a = RpCsc::from_entries_with(&a, &groups(1)).expect("fits");
    let b = CpCsr::from_entries_with(&entries(3, 4, &b), &groups(1)).expect("fits");
    let buffers = outer_products(&a, &b, None).expect("fit together");
    assert_eq!(buffers[0].addresses[&0], [0, 1, 2, 3, 4, 5]);
    assert_eq!(buffers[0].mapped(0), [2, 0, 3, 5, 1, 4]);
    // A buffer of four psums is mapped when it is full; then addresses start again.
    let buffers = outer_products(&a, &b, Some(4)).expect("fit together");
    let mapped: Vec<_> = buffers.iter().map(|buffer| buffer.mapped(0)).collect();
    assert_eq!(mapped, [vec![2, 0, 3, 1], vec![1, 0]]);
}

/// Three terms whose sum depends on their order, on fusing, and on where partial sums start.
#[test]
fn sums_are_rounded_ascending_and_go_on_in_the_next_tile() {
    let tiny = 2f64.powi(-53);
    // In order: 1 + tiny + tiny = 1; the other way round it is more.
    let a = entries::<f64>(1, 4, &[(0, 0, 1.0), (0, 2, 1.0), (0, 3, 1.0)]);
    let b = entries::<f64>(4, 1, &[(0, 0, 1.0), (2, 0, tiny), (3, 0, tiny)]);
    let product = |depth| {
        let a = Tiling::cut(&a, (1, depth), 1).expect("fits");
        let b = Tiling::cut(&b, (depth, 1), 1).expect("fits");
        ssmm(&a, &b, None).expect("fit together").list[0].value
    };
    // Tiles of two would give 1 + (tiny + tiny) if each started anew.
    assert_eq!((product(4), product(2), product(1)), (1.0, 1.0, 1.0));
    // Fused, the sum would be (1 + 2^-30)^2 - 1 = 2^-29 + 2^-60; rounded first, the square loses its last bit.
    let x = 1.0 + 2f64.powi(-30);
    let a = Tiling::cut(&entries::<f64>(1, 2, &[(0, 0, -1.0), (0, 1, x)]), (1, 2), 1).expect("fits");
    let b = Tiling::cut(&entries::<f64>(2, 1, &[(0, 0, 1.0), (1, 0, x)]), (2, 1), 1).expect("fits");
    let found = ssmm(&a, &b, None).expect("fit together").list[0].value;
    assert_eq!(found, 2f64.powi(-29));
    assert_ne!(found, x.mul_add(x, -1.0));
}

#[test]
fn sums_start_from_plus_zero_and_cancelled_elements_stay() {
    let a = entries::<f64>(2, 2, &[(0, 0, -0.0), (1, 0, 1.0), (1, 1, -1.0)]);
    let b = entries::<f64>(2, 1, &[(0, 0, 1.0), (1, 0, 1.0)]);
    let (a, b) = (Tiling::fit(&a, 2).expect("fits"), Tiling::fit(&b, 1).expect("fits"));
    let c = ssmm(&a, &b, None).expect("fit together").bits();
    assert_eq!(c, entries::<f64>(2, 1, &[(0, 0, 0.0), (1, 0, 0.0)]).bits());
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let shape = |left_name, left, right_name, right| {
        Refusal::Request(RequestError::Shape { left_name, left, right_name, right })
    };
    let empty = |rows, cols| entries::<f64>(rows, cols, &[]);
    let a = |depth| Tiling::cut(&empty(3, 4), (3, depth), 1).expect("fits");
    let b = |rows, depth| Tiling::cut(&empty(rows, 2), (depth, 2), 1).expect("fits");
    assert_eq!(ssmm(&a(4), &b(5, 4), None), Err(shape("columns of A", 4, "rows of B", 5)));
    assert_eq!(
        ssmm(&a(4), &b(4, 2), None),
        Err(shape("columns of a tile of A", 4, "rows of a tile of B", 2))
    );
    assert_eq!(sdmm(&a(4), &Dense::from_fn(3, 2, |_, _| 0.0)), Err(shape("columns of A", 4, "rows of B", 3)));
    let (left, right) = example();
    assert_eq!(
        outer_products(&left, &right, Some(0)),
        Err(Refusal::Request(RequestError::Zero { field: "psum" }))
    );
    let refused = Refusal::Request(RequestError::TooLarge {
        field: "psum",
        found: 1 << 32,
        limit: u64::from(u32::MAX),
    });
    assert_eq!(terms(&left, &right, Some(1 << 32)), Err(refused));
    let half = Tiling::<RpCsc<F16>>::fit(&entries(1, 1, &[]), 1).expect("fits");
    let other = Tiling::<CpCsr<F16>>::fit(&entries(1, 1, &[]), 1).expect("fits");
    let kind = Refusal::Request(RequestError::Kind {
        field: "element type",
        expected: "f64 or f32".to_owned(),
        found: "f16".to_owned(),
    });
    assert_eq!(ssmm(&half, &other, None), Err(kind.clone()));
    assert_eq!(sdmm(&half, &Dense::from_fn(1, 1, |_, _| F16(0))), Err(kind));
}

/// The chain that the oracle models: separate products and sums, ascending, from +0.
fn chain_of<T: Scalar>(terms: &[(T, T)]) -> T {
    let arithmetic = Arithmetic::chain(Reduction::MulAddChain, T::PRECISION, T::PRECISION);
    let numbers = terms.iter().map(|&(a, b)| (a.to_f64(), b.to_f64()));
    let bits = chain::element(&arithmetic, numbers, (1.0, 0.0), 0.0, false);
    T::from_bits64(bits.expect("deterministic"))
}

/// The product by its definition, every element with a term.
fn definition<T: Scalar>(a: &Entries<T>, b: &Entries<T>) -> BTreeMap<(u32, u32), T> {
    let mut terms = BTreeMap::<(u32, u32), Vec<(T, T)>>::new();
    for left in &a.list {
        for right in b.list.iter().filter(|right| right.row == left.col) {
            let at = (left.row, right.col);
            terms.entry(at).or_default().push((left.value, right.value));
        }
    }
    terms.into_iter().map(|(at, terms)| (at, chain_of(&terms))).collect()
}

/// Equal bits; any NaN is any other.
fn same<T: Scalar>(left: T, right: T) -> bool {
    left.bits64() == right.bits64() || left.to_f64().is_nan() && right.to_f64().is_nan()
}

/// Numbers that round differently in every order: many exponents, both signs; zeros, infinities, subnormals.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => (-8i32..8, any::<u16>(), any::<bool>()).prop_map(|(exponent, fraction, negative)| {
            let value = (1.0 + f64::from(fraction) / 65536.0) * 2f64.powi(exponent * 4);
            if negative { -value } else { value }
        }),
        1 => prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::MIN_POSITIVE / 8.0, 1e30, -1e-30]),
    ]
}

/// A and B.
type Operands = (Entries<f64>, Entries<f64>);

/// m x k and k x n, up to 24 each, with sizes of tiles, numbers of groups and a capacity.
fn products() -> impl Strategy<Value = (Operands, [usize; 3], [u32; 2], Option<usize>)> {
    (0usize..24, 0usize..24, 0usize..24).prop_flat_map(|(m, k, n)| {
        let matrix = |rows: usize, cols: usize| {
            let cell = (any::<u32>(), any::<u32>(), number());
            prop::collection::vec(cell, 0..120).prop_map(move |cells| {
                let cells = cells.into_iter().filter(|_| rows * cols > 0);
                let at: BTreeMap<_, _> =
                    cells.map(|(row, col, value)| ((row % rows as u32, col % cols as u32), value)).collect();
                let list: Vec<_> = at.into_iter().map(|((row, col), value)| (row, col, value)).collect();
                entries(rows, cols, &list)
            })
        };
        let sizes = [1usize..=24, 1usize..=24, 1usize..=24];
        let capacity = prop::option::of(1usize..20);
        ((matrix(m, k), matrix(k, n)), sizes, [1u32..=9, 1u32..=9], capacity)
    })
}

fn any_tiles_are_one_chain<T: Scalar>(
    (a, b): (&Entries<f64>, &Entries<f64>),
    [mt, kt, nt]: [usize; 3],
    [groups_a, groups_b]: [u32; 2],
    psum: Option<usize>,
) -> Result<(), TestCaseError> {
    let (a, b) = (a.map(|&v| T::from_f64(v)), b.map(|&v| T::from_f64(v)));
    let expected = definition(&a, &b);
    let tiles = Tiling::cut(&a, (mt, kt), groups_a).expect("fits");
    let c = ssmm(&tiles, &Tiling::cut(&b, (kt, nt), groups_b).expect("fits"), psum).expect("fit together");
    prop_assert_eq!((c.rows, c.cols, c.check()), (a.rows, b.cols, Ok(())));
    prop_assert_eq!(c.nnz(), expected.len());
    for e in &c.list {
        let value = expected[&(e.row, e.col)];
        prop_assert!(same(e.value, value), "({}, {}): {:?}, chain {:?}", e.row, e.col, e.value, value);
    }
    // Dense B: absent elements of B take part as what they are in memory, +0.
    let dense = b.to_dense().expect("small");
    let c = sdmm(&tiles, &dense).expect("fit together");
    for (row, col) in (0..a.rows).flat_map(|row| (0..b.cols).map(move |col| (row, col))) {
        let of_row = a.list.iter().filter(|e| e.row as usize == row);
        let terms: Vec<_> = of_row.map(|e| (e.value, dense.at(e.col as usize, col))).collect();
        prop_assert!(same(c.at(row, col), chain_of(&terms)), "dense ({row}, {col})");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_partition_gives_the_bits_of_one_chain(((a, b), sizes, groups, psum) in products()) {
        any_tiles_are_one_chain::<f64>((&a, &b), sizes, groups, psum)?;
        any_tiles_are_one_chain::<f32>((&a, &b), sizes, groups, psum)?;
    }

    /// Addresses of an element: each is used once, rows hold their own, and mapping permutes them.
    #[test]
    fn addresses_are_a_permutation(((a, b), _, groups, psum) in products()) {
        let a = RpCsc::from_entries_with(&a, &FormatParams { groups: groups[0], ..FormatParams::default() }).expect("fits");
        let b = CpCsr::from_entries_with(&b, &FormatParams { groups: groups[1], ..FormatParams::default() }).expect("fits");
        for buffer in outer_products(&a, &b, psum).expect("fit together") {
            let mut seen = BTreeSet::new();
            for (&row, appended) in &buffer.addresses {
                prop_assert!(appended.is_sorted(), "addresses of a row ascend");
                let mapped = buffer.mapped(row);
                prop_assert_eq!(
                    mapped.iter().collect::<BTreeSet<_>>(),
                    appended.iter().collect::<BTreeSet<_>>()
                );
                let column = |address: u32| buffer.psums[address as usize].column;
                prop_assert!(
                    mapped.windows(2).all(|w| (column(w[0]), w[0]) < (column(w[1]), w[1])),
                    "by column, then address"
                );
                seen.extend(mapped);
            }
            prop_assert!(seen.into_iter().eq(0..buffer.psums.len() as u32));
            prop_assert!(psum.is_none_or(|capacity| buffer.psums.len() <= capacity));
        }
    }
}
