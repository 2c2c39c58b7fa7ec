//! Linearity: `A (B + D) = A B + A D`, `(A + E) B = A B + E B`, `A (s B) = s (A B)`, exactly; and splitting the inner
//! dimension, `[A1 A2] [B1; B2] = A1 B1 + A2 B2`, with gauges and numbers of terms.

use crate::laws_support;

use laws_support::{Held, Values, equal, product, under_proptest, under_quickcheck};
use sparse_oracle::exact::{Element, Value};
use sparse_oracle::format::{Dense, Entries};
use sparse_oracle::op::scale;

/// Leading bits of a finite number; `v - head(v)` is exact.
fn head(v: f64) -> f64 {
    f64::from_bits(v.to_bits() & !((1 << 51) - 1))
}

fn values_add_up(what: &str, whole: &[Vec<Element>], left: &[Vec<Element>], right: &[Vec<Element>]) -> Held {
    for (i, row) in whole.iter().enumerate() {
        for (j, element) in row.iter().enumerate() {
            let sum: Value = &left[i][j].value + &right[i][j].value;
            if sum != element.value {
                return Err(format!("{what}: ({i}, {j}) is {:?}, the parts give {sum:?}", element.value));
            }
        }
    }
    Ok(())
}

fn linear_in_b(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    let (high, low) = (b.map(|&v| head(v)), b.map(|&v| v - head(v)));
    values_add_up("A (B + D)", &product(a, b), &product(a, &high), &product(a, &low))
}

fn linear_in_a(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
    let (high, low) = (a.map(|&v| head(v)), a.map(|&v| v - head(v)));
    values_add_up("(A + E) B", &product(a, b), &product(&high, b), &product(&low, b))
}

fn scaling_an_operand_scales_the_result(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let s = [-1.0, 2.0, -0.5, 3.0][(seed % 4) as usize];
    let exact = |v: f64| v * s / s == v && (v * s).is_finite() && (v == 0.0 || v.abs() > 1e-290);
    let exact = |v: f64| exact(v) && (s != 3.0 || v.fract() == 0.0 && v.abs() < 1e9);
    let scaled: Vec<Vec<Element>> =
        product(a, b).iter().map(|row| row.iter().map(|e| scale(e, s, 0.0, f64::NAN)).collect()).collect();
    if b.data().iter().all(|&v| exact(v)) {
        equal("A (s B)", &product(a, &b.map(|v| v * s)), &scaled)?;
    }
    if a.list.iter().all(|e| exact(e.value)) {
        equal("(s A) B", &product(&a.map(|v| v * s), b), &scaled)?;
    }
    Ok(())
}

fn splitting_the_inner_dimension(a: &Entries<f64>, b: &Dense<f64>, seed: u64) -> Held {
    let cut = (seed % (a.cols as u64 + 1)) as usize;
    let part = |from: usize, to: usize| {
        let mut columns = a.clone();
        columns.list.retain(|e| (from..to).contains(&(e.col as usize)));
        columns.list.iter_mut().for_each(|e| e.col -= from as u32);
        columns.cols = to - from;
        product(&columns, &Dense::from_fn(to - from, b.cols(), |k, j| b.at(from + k, j)))
    };
    let (left, right) = (part(0, cut), part(cut, a.cols));
    let join = |(l, r): (&Element, &Element)| Element {
        value: &l.value + &r.value,
        gauge: &l.gauge + &r.gauge,
        terms: l.terms + r.terms,
    };
    let joined: Vec<Vec<Element>> =
        left.iter().zip(&right).map(|(l, r)| l.iter().zip(r).map(join).collect()).collect();
    equal("[A1 A2] [B1; B2]", &product(a, b), &joined)
}

#[test]
fn products_are_linear_in_b() {
    under_proptest(linear_in_b, Values::Finite, 20, 12);
    under_quickcheck(linear_in_b, 200);
}

#[test]
fn products_are_linear_in_the_values_of_a() {
    under_proptest(linear_in_a, Values::Finite, 20, 12);
    under_quickcheck(linear_in_a, 200);
}

#[test]
fn a_scaled_operand_gives_a_scaled_result() {
    under_proptest(scaling_an_operand_scales_the_result, Values::Finite, 20, 12);
    under_quickcheck(scaling_an_operand_scales_the_result, 200);
}

#[test]
fn the_inner_dimension_may_be_split_anywhere() {
    under_proptest(splitting_the_inner_dimension, Values::All, 20, 12);
    under_quickcheck(splitting_the_inner_dimension, 200);
}

#[test]
fn a_head_and_its_rest_add_up() {
    for v in [1.0 / 3.0, -1e300, 5e-324, 1e-310, 0.0, f64::MAX] {
        assert_eq!(head(v) + (v - head(v)), v);
    }
    assert!(head(1.0 / 3.0) != 1.0 / 3.0, "both parts are used");
}

#[test]
fn both_frameworks_refute_a_false_law() {
    fn no_term_has_a_sign(a: &Entries<f64>, b: &Dense<f64>, _: u64) -> Held {
        let signed = |e: &Element| e.value != e.gauge;
        if product(a, b).iter().flatten().any(signed) { Err("a sign".to_owned()) } else { Ok(()) }
    }
    let refuted = |run: fn()| std::panic::catch_unwind(run).is_err();
    assert!(refuted(|| under_proptest(no_term_has_a_sign, Values::SmallIntegers, 20, 12)));
    assert!(refuted(|| under_quickcheck(no_term_has_a_sign, 100)));
}
