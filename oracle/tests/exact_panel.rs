//! `Panel`, `ReferenceSpmm` and `dot` against big integers, on values made to take, and to be refused by, each path.

use crate::exact_support;
use sparse_oracle::prelude::*;

use exact_support::{MODES, check_element, round, value_units};
use proptest::prelude::*;
use sparse_oracle::exact::{Panel, Path, dot, dot_reference, dot_traced, sum};
use sparse_oracle::format::{Csr, CsrParts, Dense, Layout};
use sparse_oracle::op::ReferenceSpmm;
use sparse_oracle::scalar::{decode, encode};
use sparse_oracle::{Precision, Rounding, Scalar};
use std::collections::BTreeMap;

/// A small generator, so that a case is a family, a seed and a size.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn sign(&mut self) -> f64 {
        if self.below(2) == 0 { 1.0 } else { -1.0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    SmallIntegers,
    NearOne,
    Normal,
    Wide(i32),
    Cancelling,
    Subnormal,
    Zeros,
    Special,
    AnyPattern,
}

const FAMILIES: [Family; 14] = [
    Family::SmallIntegers,
    Family::NearOne,
    Family::Normal,
    Family::Wide(8),
    Family::Wide(30),
    Family::Wide(45),
    Family::Wide(60),
    Family::Wide(120),
    Family::Wide(900),
    Family::Cancelling,
    Family::Subnormal,
    Family::Zeros,
    Family::Special,
    Family::AnyPattern,
];

/// One value of a family, rounded to `precision`.
fn draw(random: &mut Random, family: Family, precision: Precision) -> f64 {
    let raw = match family {
        Family::SmallIntegers => random.below(17) as f64 - 8.0,
        Family::NearOne => random.sign() * (1.0 + random.unit()),
        Family::Normal | Family::Cancelling => (0..6).map(|_| random.unit()).sum::<f64>() - 3.0,
        Family::Wide(spread) => {
            let exponent = random.below(spread as u64) as i32 - spread / 2;
            random.sign() * (1.0 + random.unit()) * 2.0f64.powi(exponent)
        }
        Family::Subnormal => {
            let smallest = 2.0f64.powi(precision.spec().min_exponent().max(-1022));
            smallest
                * (random.below(9) as f64 - 4.0)
                * if precision == Precision::F64 { 2.0f64.powi(-50) } else { 1.0 }
        }
        Family::Zeros => [0.0, -0.0, 0.0, 1.0][random.below(4) as usize],
        Family::Special if random.below(20) == 0 => {
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0][random.below(5) as usize]
        }
        Family::Special => random.sign() * (1.0 + random.unit()),
        Family::AnyPattern => loop {
            let x = decode(random.bits() >> (64 - precision.spec().storage_bits), precision);
            if x.is_finite() {
                break x;
            }
        },
    };
    decode(encode(raw, precision, Rounding::NearestEven), precision)
}

/// n values of A and an n x width B. Cancelling: the second half repeats the first with the sign of A flipped, but
/// for one last bit.
fn operands(
    family: Family,
    precision: Precision,
    seed: u64,
    n: usize,
    width: usize,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut random = Random(seed);
    let mut a: Vec<f64> = (0..n).map(|_| draw(&mut random, family, precision)).collect();
    let mut b: Vec<Vec<f64>> =
        (0..n).map(|_| (0..width).map(|_| draw(&mut random, family, precision)).collect()).collect();
    if family == Family::Cancelling {
        for t in n / 2..n {
            a[t] = -a[t - n / 2];
            b[t] = b[t - n / 2].clone();
        }
        if n > 3 {
            let bits = encode(a[n - 1], precision, Rounding::NearestEven)
                ^ if precision == Precision::Tf32 { 1 << 13 } else { 1 };
            a[n - 1] = decode(bits, precision);
        }
    }
    (a, b)
}

/// Sums in a panel and checks every column, the rounding of the row included.
fn check_panel(a: &[f64], b: &[Vec<f64>], width: usize, narrow: bool, context: &str) -> Path {
    let mut panel = Panel::new(3);
    if narrow {
        let rows: Vec<Vec<f32>> = b.iter().map(|row| row.iter().map(|&x| x as f32).collect()).collect();
        let terms = a.iter().copied().zip(rows.iter().map(Vec::as_slice));
        panel.accumulate(terms, width).expect("rows are long enough");
    } else {
        let terms = a.iter().copied().zip(b.iter().map(Vec::as_slice));
        panel.accumulate(terms, width).expect("rows are long enough");
    }
    assert_eq!(panel.width(), width);
    let mut irregular = 0;
    for j in 0..width {
        let column: Vec<f64> = b.iter().map(|row| row[j]).collect();
        let element = panel.element(j);
        check_element(&element, a, &column, &format!("{context}, column {j}, {:?}", panel.path()));
        irregular += usize::from(panel.irregular().iter().any(|(at, _)| *at == j));
        if element.value.is_finite() {
            assert_eq!(panel.hi()[j].to_bits(), element.value.approx().to_bits(), "{context}: hi");
            assert_eq!(
                panel.gauge_hi()[j].to_bits(),
                element.gauge.approx().to_bits(),
                "{context}: gauge_hi"
            );
            let exact = element.gauge == sparse_oracle::exact::Value::from_f64(panel.gauge_hi()[j]);
            assert_eq!(panel.gauge_lo()[j] == 0.0, exact, "{context}: gauge_lo");
        }
    }
    assert_eq!(irregular, panel.irregular().len());
    let mut bits = vec![0; width];
    for precision in Precision::ALL {
        for mode in MODES {
            panel.round_row(precision, mode, &mut bits).expect("same width");
            for (j, &found) in bits.iter().enumerate() {
                let value = panel.element(j).value;
                let expected = match value_units(&value) {
                    Some(exact) if j % 5 == 0 => round(&exact, precision, mode),
                    _ => value.round(precision, mode),
                };
                assert_eq!(found, expected, "{context}: {value:?} to {precision} {mode:?}");
            }
        }
    }
    panel.path()
}

#[test]
fn every_family_in_every_precision_is_exact() {
    let mut paths: BTreeMap<Path, usize> = BTreeMap::new();
    for precision in Precision::ALL {
        for family in FAMILIES {
            for (seed, (n, width)) in
                [(0, 3), (1, 1), (2, 33), (7, 8), (40, 5), (200, 4)].into_iter().enumerate()
            {
                let (a, b) = operands(family, precision, seed as u64, n, width);
                let context = format!("{precision} {family:?} n={n} width={width}");
                let path = check_panel(&a, &b, width, precision != Precision::F64, &context);
                *paths.entry(path).or_default() += 1;
            }
        }
    }
    println!("{paths:?}");
    for path in Path::ALL {
        assert!(paths.get(&path).copied().unwrap_or(0) >= 5, "{path:?} was hardly taken: {paths:?}");
    }
}

/// Spreads chosen so that each path takes its last and refuses its first: two terms, `top` from the first product,
/// `low` from the second.
#[test]
fn each_path_is_exact_at_its_limit_and_refused_past_it() {
    // Full 53-bit factors: a product of 106 bits; the second term is scaled down.
    let mut seen: Vec<(Path, i32)> = Vec::new();
    for bits in [10, 24, 53] {
        let odd = 2.0 - 2.0f64.powi(1 - bits);
        for shift in 0..140 {
            let low = odd * 2.0f64.powi(-shift);
            for (a, b) in [(vec![odd, low], vec![odd, odd]), (vec![odd, -odd, low], vec![odd, odd, -odd])] {
                let width = 4;
                let rows: Vec<Vec<f64>> = b.iter().map(|&x| vec![x, -x, x / 2.0, 0.0]).collect();
                let path = check_panel(&a, &rows, width, false, &format!("{bits} bits, shift {shift}"));
                seen.push((path, bits));
            }
        }
    }
    for path in Path::ALL {
        assert!(seen.iter().any(|(p, _)| *p == path), "{path:?} was not taken");
    }
    // Monotone: a larger spread never goes back to a cheaper path.
    for bits in [10, 24, 53] {
        let of_bits: Vec<Path> =
            seen.iter().filter(|(_, b)| *b == bits).map(|(p, _)| *p).step_by(2).collect();
        assert!(of_bits.is_sorted(), "{bits}: {of_bits:?}");
    }
}

#[test]
fn long_rows_are_exact() {
    for (family, precision, n) in [
        (Family::Normal, Precision::F32, 3000),
        (Family::Normal, Precision::F64, 3000),
        (Family::Wide(30), Precision::F64, 1500),
        (Family::Wide(60), Precision::F32, 1500),
        (Family::Normal, Precision::F16, 5000),
        (Family::Wide(12), Precision::Bf16, 2500),
    ] {
        let (a, b) = operands(family, precision, 99, n, 2);
        let path = check_panel(&a, &b, 2, false, &format!("long {family:?} {precision}"));
        println!("{family:?} {precision} {n}: {path:?}");
    }
}

/// Terms that hit a bin's rounding exactly: halves of its grid, one unit less and more, both signs.
#[test]
fn ties_inside_the_bins_are_exact() {
    for grid in 30..130 {
        let unit = 2.0f64.powi(-grid);
        let tail = 2.0f64.powi(-grid - 45);
        let a = [1.0, unit, -unit, unit, 3.0 * unit, tail, -tail, 1.0 - f64::EPSILON];
        let b = [1.0, 0.5, 0.5 + f64::EPSILON, 1.5, -0.5, 1.0 + f64::EPSILON, 1.0, 1.0 + f64::EPSILON];
        let rows: Vec<Vec<f64>> = b.iter().map(|&x| vec![x, -x, x * x]).collect();
        check_panel(&a, &rows, 3, false, &format!("grid {grid}"));
    }
}

/// Sums next to the midpoint of two f64: the leading float must follow the last bit.
#[test]
fn the_tail_breaks_ties() {
    for (sign, tail) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, 0.0)] {
        for depth in [60, 80, 100, 120, 140, 170, 200] {
            let a = [sign, sign * f64::EPSILON / 2.0, tail * 2.0f64.powi(-depth), 0.0];
            for head in [1.0, 1.0 + f64::EPSILON, 1.5] {
                let rows = [vec![head; 5], vec![1.0; 5], vec![1.0 + f64::EPSILON; 5], vec![1.0; 5]];
                check_panel(&a, &rows, 5, false, &format!("tie {sign} {tail} 2^-{depth}"));
                // The same as the first piece of a row that is too wide for one certificate.
                let (mut a, mut rows) = (a.to_vec(), rows.to_vec());
                a.resize(100, 0.0);
                a.push(2.0f64.powi(-300));
                rows.resize(101, vec![1.0; 5]);
                let path = check_panel(&a, &rows, 5, false, &format!("wide tie {sign} {tail} 2^-{depth}"));
                assert_eq!(path, Path::Register);
            }
        }
    }
}

#[test]
fn range_ends_go_to_the_register() {
    let tiny = f64::from_bits(1);
    for (a, b) in [
        (vec![f64::MAX, 1.0], vec![f64::MAX, 1.0]),
        (vec![f64::MAX, f64::MAX], vec![0.5, 0.5]),
        (vec![tiny, tiny], vec![tiny, 0.5]),
        (vec![1e-200, 1e-170], vec![1e-150, 1.1e-170]),
        (vec![f64::MIN_POSITIVE * 1.5, 1.0], vec![1.0 + f64::EPSILON, 1e-300]),
    ] {
        let (element, path) = dot_traced(&a, &b);
        assert_eq!(path, Path::Register, "{a:?} . {b:?}");
        check_element(&element, &a, &b, "range");
    }
    // Just inside: products that are whole multiples of the smallest subnormal.
    let (a, b) = (vec![tiny, 3.0 * tiny, f64::MIN_POSITIVE], vec![1.0, 5.0, -3.0]);
    let (element, path) = dot_traced(&a, &b);
    assert_eq!(path, Path::TwoBins);
    check_element(&element, &a, &b, "subnormal");
}

#[test]
fn narrow_rows_and_lengths_are_refused() {
    let mut panel = Panel::new(2);
    let row = [1.0, 2.0];
    let refusal = panel.accumulate([(1.0, &row[..])], 3).unwrap_err();
    assert_eq!(refusal.to_string(), "row of B has 2 elements, expected 3");
    panel.accumulate([(1.0, &row[..])], 2).unwrap();
    let refusal = panel.round_row(Precision::F32, Rounding::NearestEven, &mut [0; 3]).unwrap_err();
    assert_eq!(refusal.to_string(), "out has 3 elements, expected 2");
    // A panel forgets what it held.
    panel.accumulate(std::iter::empty::<(f64, &[f64])>(), 2).unwrap();
    assert_eq!((panel.hi(), panel.terms()), (&[0.0, 0.0][..], 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn dots_and_sums_are_exact(family in 0usize..14, precision in 0usize..7, seed: u64, n in 0usize..200) {
        let (family, precision) = (FAMILIES[family], Precision::ALL[precision]);
        let (a, b) = operands(family, precision, seed, n, 1);
        let b: Vec<f64> = b.into_iter().flatten().collect();
        let context = format!("{family:?} {precision} seed {seed} n {n}");
        let element = dot(&a, &b);
        check_element(&element, &a, &b, &context);
        prop_assert_eq!(&element, &dot_reference(&a, &b));
        check_element(&sum(&a), &a, &vec![1.0; n], &context);
    }

    #[test]
    fn panels_are_exact(family in 0usize..14, precision in 0usize..7, seed: u64, n in 0usize..60, width in 0usize..40) {
        let (family, precision) = (FAMILIES[family], Precision::ALL[precision]);
        let (a, b) = operands(family, precision, seed, n, width);
        check_panel(&a, &b, width, precision != Precision::F64, &format!("{family:?} {precision} seed {seed}"));
    }
}

fn random_csr<T: Scalar>(random: &mut Random, family: Family, rows: usize, cols: usize) -> Csr<T> {
    let mut parts = CsrParts { rows, cols, row_ptr: vec![0], ..CsrParts::default() };
    for row in 0..rows {
        for col in 0..cols {
            // Every fifth row is empty.
            if row % 5 != 4 && random.below(4) == 0 {
                parts.col_idx.push(col as u32);
                parts.values.push(T::from_f64(draw(random, family, T::PRECISION)));
            }
        }
        parts.row_ptr.push(parts.col_idx.len() as u32);
    }
    Csr::try_new(parts).expect("valid")
}

fn check_product<T: sparse_oracle::scalar::Element, O: Scalar>(family: Family, layout: Layout, cols: usize) {
    let mut random = Random(7);
    let (m, k) = (23, 31);
    let a = random_csr::<T>(&mut random, family, m, k);
    let (outer, inner) = if layout == Layout::RowMajor { (k, cols) } else { (cols, k) };
    let ld = inner + 2;
    let data = (0..outer * ld).map(|_| T::from_f64(draw(&mut random, family, T::PRECISION))).collect();
    let b = Dense::try_new(k, cols, ld, layout, data).expect("valid");
    let product = ReferenceSpmm::new(&b).product::<T, O>(&a, Rounding::NearestEven).expect("shapes fit");
    assert_eq!(product.paths.iter().sum::<u64>(), m as u64);
    for i in 0..m {
        let (columns, values) = a.row(i);
        assert_eq!(product.terms[i] as usize, values.len());
        let left: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
        for j in 0..cols {
            let right: Vec<f64> = columns.iter().map(|&c| b.at(c as usize, j).to_f64()).collect();
            let element = dot_reference(&left, &right);
            let context = format!("{} {family:?} {layout:?} ({i}, {j})", T::PRECISION);
            check_element(&element, &left, &right, &context);
            let expected = element.value.round(O::PRECISION, Rounding::NearestEven);
            assert_eq!(product.values[i * cols + j].bits64(), expected, "{context}");
            let gauge = element.gauge.approx();
            assert_eq!(product.gauge[i * cols + j].to_bits(), gauge.to_bits(), "{context}: gauge");
            if !gauge.is_nan() {
                let exact = element.gauge == sparse_oracle::exact::Value::from_f64(gauge);
                assert_eq!(product.gauge_exact[i * cols + j], exact, "{context}: gauge flag");
            }
        }
    }
}

#[test]
fn products_are_exact_in_every_type() {
    use sparse_oracle::{Bf16, E4m3, E5m2, F16, Tf32};
    for family in FAMILIES {
        for layout in [Layout::RowMajor, Layout::ColMajor] {
            check_product::<f64, f64>(family, layout, 9);
            check_product::<f32, f32>(family, layout, 18);
            check_product::<Tf32, f32>(family, layout, 4);
            check_product::<F16, F16>(family, layout, 5);
            check_product::<Bf16, Bf16>(family, layout, 5);
            check_product::<E4m3, f32>(family, layout, 3);
            check_product::<E5m2, F16>(family, layout, 3);
        }
    }
}

#[test]
fn mismatched_shapes_are_refused() {
    let a = random_csr::<f64>(&mut Random(1), Family::NearOne, 4, 5);
    let b = Dense::from_fn(6, 2, |_, _| 1.0);
    let refusal = ReferenceSpmm::new(&b).product::<f64, f64>(&a, Rounding::NearestEven).unwrap_err();
    assert_eq!(refusal.to_string(), "columns of A is 5, but rows of B is 6");
    for (m, n) in [(0, 3), (3, 0), (0, 0)] {
        let a = random_csr::<f64>(&mut Random(1), Family::NearOne, m, 5);
        let b = Dense::from_fn(5, n, |_, _| 1.0);
        let product = ReferenceSpmm::new(&b).product::<f64, f32>(&a, Rounding::NearestEven).unwrap();
        assert_eq!(product.values.len(), m * n);
    }
}
