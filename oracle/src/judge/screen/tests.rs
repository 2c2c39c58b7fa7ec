//! What the screen tells of whole rows and of single columns.

use super::super::one_row::{one_row, wide};
use super::*;
use crate::arithmetic::Arithmetic;
use crate::profile::Profile;
use crate::scalar::{Precision, power_of_two};

fn screen(out: Precision, (alpha, beta): (f64, f64)) -> Screen {
    let arithmetic = Arithmetic::any(out, out);
    Screen::new(&Rule::new(&arithmetic, &Profile::default(), alpha, beta, 0.0)).expect("it is screened")
}

/// Found by mutation: T0 that is not found for a whole row only sends it to a slower way.
#[test]
fn t0_is_found_for_whole_rows_up_to_its_limits() {
    let p = power_of_two;
    let (f16, f64) = (Precision::F16, Precision::F64);
    let tiny = p(-600);
    // Two elements of A and two columns of B, alpha and beta, what C held.
    let cases = [
        (f16, [1.0, 1.0], [[1.0, 2.0], [1.0, 0.0]], (1.0, 0.0), [0.3; 2], true),
        (f16, [1.0, 1.0], [[2046.0, 1.0], [1.0, 0.0]], (1.0, 0.0), [0.0; 2], true),
        // The limit itself is too near to it.
        (f16, [1.0, 1.0], [[2047.0, 1.0], [1.0, 0.0]], (1.0, 0.0), [0.0; 2], false),
        (f16, [1.0, 1.0], [[2048.0, 1.0], [1.0, 0.0]], (1.0, 0.0), [0.0; 2], false),
        (f16, [1.0, 0.5], [[1024.0, 0.0], [0.0, 1.0]], (1.0, 0.0), [0.0; 2], false),
        // Scaled, and with an addend.
        (f16, [1.0, 1.0], [[681.0, 1.0], [0.0, 0.0]], (3.0, 0.0), [0.0; 2], true),
        (f16, [1.0, 1.0], [[683.0, 1.0], [0.0, 0.0]], (3.0, 0.0), [0.0; 2], false),
        (f16, [1.0, 1.0], [[1000.0, 1.0], [0.0, 0.0]], (2.0, 1.0), [40.0, 1.0], true),
        (f16, [1.0, 1.0], [[1000.0, 1.0], [0.0, 0.0]], (2.0, 1.0), [48.0, 1.0], false),
        (f16, [1.0, 1.0], [[1000.0, 1.0], [0.0, 0.0]], (1.0, 1.0), [0.25, 0.0], false),
        (f16, [1.0, 1.0], [[100.0, 1.0], [0.0, 0.0]], (1.0, 0.5), [0.5, 0.0], true),
        // Nothing but zeros, of products and of C.
        (f16, [0.0, 0.0], [[5.0, 0.3], [0.3, 1.0]], (1.0, 1.0), [0.0; 2], true),
        (f16, [0.0, 0.0], [[5.0, 0.3], [0.3, 1.0]], (1.0, 1.0), [3.0; 2], true),
        (f16, [1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]], (1.0, 0.0), [0.0; 2], true),
        (f16, [1.0, 1.0], [[1.0, f64::INFINITY], [1.0, 0.0]], (1.0, 0.0), [0.0; 2], false),
        // What floats do not hold, or hardly.
        (f64, [p(-830), 0.0], [[1.0, 1.0], [0.0, 0.0]], (1.0, 0.0), [0.0; 2], true),
        (f64, [p(-831), 0.0], [[1.0, 1.0], [0.0, 0.0]], (1.0, 0.0), [0.0; 2], false),
        (f64, [tiny, 0.0], [[tiny, tiny], [0.0, 0.0]], (1.0, 0.0), [0.0; 2], false),
        (f64, [p(-800), 0.0], [[1.0, 1.0], [0.0, 0.0]], (p(-60), 0.0), [0.0; 2], false),
        (f64, [p(-800), 0.0], [[1.0, 1.0], [0.0, 0.0]], (p(-20), 0.0), [0.0; 2], true),
        (f64, [0.0, 0.0], [[1.0, 1.0], [0.0, 0.0]], (1.0, p(-60)), [p(-800), 0.0], false),
        (f64, [0.0, 0.0], [[1.0, 1.0], [0.0, 0.0]], (1.0, p(-60)), [f64::from_bits(1 << 14), 0.0], false),
        (f64, [0.0, 0.0], [[1.0, 1.0], [0.0, 0.0]], (1.0, p(-20)), [p(-800), 0.0], true),
    ];
    for (out, a, b, scalars, held, expected) in cases {
        one_row(&a, &wide(&[&b[0], &b[1]]), &mut |row| {
            let found = screen(out, scalars).is_order_free(row, &held);
            assert_eq!(found, expected, "{out} {a:?} {b:?} {scalars:?} {held:?}");
        });
    }
}

/// What one column is said to be in a row where T0 applies to it or not, with a model or without.
fn class(is_free: bool, y: f64, modelled: Option<f64>, worst: f64) -> (ElementClass, Option<bool>) {
    // A third of a product has no 11 bits.
    let (a, b) = if is_free { (1.0, 0.0) } else { (1.0 / 3.0, 3.0) };
    let mut said = None;
    one_row(&[a], &wide(&[&[b]]), &mut |row| {
        let arithmetic = Arithmetic::any(Precision::F16, Precision::F16);
        let mut rule = Rule::new(&arithmetic, &Profile::default(), 1.0, 0.0, 0.0);
        let mut screen = Screen::new(&rule).expect("it is screened");
        let tolerance = rule.allowance(row, row.values).expect("a bound");
        let modelled = modelled.as_ref().map(std::slice::from_ref);
        let result = RowResult { found: &[y], held: &[0.0], modelled };
        let so_far = SoFar { worst, order_free: false };
        let screened = screen.row(row, &tolerance, result, so_far);
        assert_eq!(screened.order_free, is_free);
        said = Some((screened.class(0, so_far), screened.any_wrong()));
    });
    said.expect("a row")
}

/// Found by mutation: an element that is left open needlessly is judged the same, by the rule; one that is called wrong by its model may
/// be right.
#[test]
fn a_column_is_classed_by_all_that_is_known_of_it() {
    let (infinite, nan) = (f64::INFINITY, f64::NAN);
    let near = 1.0 + power_of_two(-12);
    let wrong = |tier| (ElementClass::Wrong(tier), Some(true));
    let open = |wrong| (ElementClass::Open, wrong);
    // T0 applies to a sum of zeros. Its gauge is below all that is sane, so that nothing wrong is called wrong.
    assert_eq!(class(true, 0.0, None, 0.0), (ElementClass::Exact, Some(false)));
    assert_eq!(class(true, 0.0, Some(0.0), 0.0), (ElementClass::Exact, Some(false)));
    // Other bits of the same number, and any NaN, are for the rule to tell.
    assert_eq!(class(true, 0.0, Some(-0.0), 0.0), open(None));
    assert_eq!(class(true, 0.0, Some(nan), 0.0), open(None));
    assert_eq!(class(true, 0.0, Some(1.0), 0.0), wrong(Criterion::T2));
    // It does not apply to a third.
    assert_eq!(class(false, near, None, infinite), (ElementClass::Within, Some(false)));
    assert_eq!(class(false, near, None, 1.0), (ElementClass::Within, Some(false)));
    assert_eq!(class(false, near, None, 0.0), (ElementClass::Open, Some(false)));
    assert_eq!(class(false, near, Some(near), 1.0), (ElementClass::Within, Some(false)));
    assert_eq!(class(false, near, Some(1.0), 1.0), wrong(Criterion::T2));
    assert_eq!(class(false, near, Some(nan), 1.0), open(None));
    assert_eq!(class(false, 1.5, None, infinite), wrong(Criterion::T1));
    assert_eq!(class(false, nan, None, infinite), wrong(Criterion::T1));
    assert_eq!(class(false, infinite, None, infinite), wrong(Criterion::T1));
}
