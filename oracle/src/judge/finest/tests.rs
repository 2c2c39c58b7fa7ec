//! What floats tell of T0, up to its limits and to the ends of their range.

use super::super::exact_dense::ExactDense;
use super::super::one_row::{one_row, wide};
use super::super::problem::lsb;
use super::*;
use crate::scalar::power_of_two;

/// Significand and range of f16, and of f64 as far as floats go.
const F16: FloatLimits = FloatLimits { floor: 1.0 / 16_777_216.0, bits: 2048.0, largest: 65_504.0 };
const F64: FloatLimits =
    FloatLimits { floor: f64::MIN_POSITIVE, bits: 9_007_199_254_740_992.0, largest: f64::MAX };

/// Found by mutation: a largest number that is always infinite only sends rows to a slower way.
#[test]
fn the_largest_of_a_row_is_infinite_only_where_something_is_not_finite() {
    let infinite = f64::INFINITY;
    let cases: [(&[f64], f64); 7] = [
        (&[], 0.0),
        (&[0.0, -0.0], 0.0),
        (&[1.5, -3.0, 2.0], 3.0),
        (&[-4.0, 5.0], 5.0),
        (&[1.0, -infinite], infinite),
        (&[f64::NAN, 1.0], infinite),
        (&[infinite, 1.0], infinite),
    ];
    for (values, most) in cases {
        let Largest { gauge, held } = FindLargest { gauge: values, held: &[2.0] }.call();
        assert_eq!((gauge, held), (most, 2.0), "{values:?}");
    }
}

/// Found by mutation: a lowest bit that is wrong only leaves columns to the rule.
#[test]
fn the_lowest_bit_of_a_number_is_a_power_of_two() {
    let tiny = f64::from_bits(1);
    let cases =
        [(6.0, 2.0), (-6.0, 2.0), (-1.0, 1.0), (1.5, 0.5), (tiny, tiny), (3.0 * tiny, tiny), (1e300, 0.0)];
    for (x, bit) in cases {
        let bit = if bit == 0.0 { power_of_two(lsb(x) as i32) } else { bit };
        assert_eq!(lowest_bit(x), bit, "{x}");
    }
    assert_eq!(lowest_bit(-0.0), f64::INFINITY);
}

/// What is found of each column of a row of ones, `b` its two rows: `+` where T0 applies, `-` where it does not, `.` where that is open.
fn found(
    ones: f64,
    columns: &[[f64; 2]],
    held: &[f64],
    (alpha, beta): (f64, f64),
    limits: FloatLimits,
) -> String {
    let rows = [0, 1].map(|k| columns.iter().map(|column| column[k]).collect::<Vec<f64>>());
    let b = wide(&[&rows[0], &rows[1]]);
    let ExactDense::Wide(dense) = &b else { unreachable!("it was made wide") };
    let (mut free, mut fine) = (vec![f64::INFINITY; columns.len()], vec![0.0; columns.len()]);
    one_row(&[ones, ones], &b, &mut |row| {
        let (free, fine) = (&mut free, &mut fine);
        FindFree { row, b: dense, held, alpha, beta, limits, free, fine }.call();
    });
    let of_column = |(free, fine): (&f64, &f64)| match (*free != 0.0, *fine != 0.0) {
        (true, false) => '+',
        (false, true) => '-',
        (false, false) => '.',
        (true, true) => '!',
    };
    free.iter().zip(&fine).map(of_column).collect()
}

/// Found by mutation: T0 that is found in fewer columns than it could be only leaves more of them to the rule.
#[test]
fn t0_is_found_up_to_its_limits() {
    let columns = [
        [1.0, 2.0],
        [2046.0, 1.0],
        // Exactly the limit is too near to it.
        [2047.0, 1.0],
        [2048.0, 1.0],
        [0.5, 1023.0],
        [0.5, 1024.0],
        [0.0, 0.0],
        [power_of_two(-24), 0.0],
        [power_of_two(-25), 0.0],
        [32.0, 65_440.0],
        [32.0, 65_472.0],
        [64.0, 65_472.0],
    ];
    let held = [0.0; 12];
    assert_eq!(found(1.0, &columns, &held, (1.0, 0.0), F16), "++.-+-++.+.-");
    // C is not read.
    assert_eq!(found(1.0, &columns, &[0.3; 12], (1.0, 0.0), F16), "++.-+-++.+.-");
}

/// Found by mutation: scaled sums and addends that are taken for too large or too fine only leave more columns to the rule.
#[test]
fn t0_is_found_up_to_the_limits_of_scaled_sums() {
    // 3 * sum + c / 2: the sum, c, what is expected.
    let cases = [
        ([1.0, 1.0], 2.0, '+'),
        ([1.0, 1.0], 0.5, '+'),
        ([255.0, 0.0], 0.0, '+'),
        ([681.0, 0.0], 8.0, '+'),
        ([681.0, 0.0], 10.0, '.'),
        ([683.0, 0.0], 0.0, '.'),
        ([2049.0, 0.0], 0.0, '-'),
        ([1.0, 1.0], power_of_two(-24), '.'),
        ([1.0, 1.0], 0.001, '.'),
        ([0.0, 0.0], 0.0, '+'),
        // Left to the rule: zeros beside products of other columns, to which something is added.
        ([0.0, 0.0], 2.0, '.'),
    ];
    let (columns, held) = (cases.map(|case| case.0), cases.map(|case| case.1));
    let expected: String = cases.iter().map(|case| case.2).collect();
    assert_eq!(found(1.0, &columns, &held, (3.0, 0.5), F16), expected);
    // A row of zeros alone has nothing but its addend.
    let zeros = [[5.0, 0.1]; 4];
    assert_eq!(found(0.0, &zeros, &[3.0, 0.0, 2049.0, 0.1], (1.0, 1.0), F16), "++..");
}

/// Found by mutation: nobody looked at sums that are too small or too large for floats to tell.
#[test]
fn t0_is_left_open_at_the_ends_of_the_range() {
    let p = power_of_two;
    let cases = [
        // Sums that are large enough, and the next power of two, which is not.
        ([p(-830), 0.0], 1.0, '+'),
        ([p(-831), 0.0], 1.0, '.'),
        ([p(-800), 0.0], p(-60), '.'),
        ([p(-850), 0.0], p(60), '.'),
        // Powers of two that may have underflowed.
        ([p(-970), p(-790)], 1.0, '.'),
        ([p(-910), p(-790)], p(-60), '.'),
        ([p(-910), p(-790)], 1.0, '-'),
        ([p(-890), p(-831)], 1.0, '.'),
        ([1.0, p(900)], 1.0, '-'),
        ([1.0, p(970)], 1.0, '.'),
    ];
    for (column, alpha, expected) in cases {
        let found = found(1.0, &[column], &[0.0], (alpha, 0.0), F64);
        assert_eq!(found, expected.to_string(), "{column:?}, alpha {alpha}");
    }
    // A total that is the limit but for the margin, to the last bit, is as open as the limit itself; the next one is not.
    let near = (1.0 / (1.0 - CLEAR)).next_down().next_down();
    let mut seen = 0;
    for total in std::iter::successors(Some(near), |total| Some(total.next_up())).take(6) {
        let limits = FloatLimits { bits: 1.0 / lowest_bit(total), ..F64 };
        let expected = if total * (1.0 - CLEAR) > 1.0 { "-" } else { "." };
        assert_eq!(found(1.0, &[[total, 0.0]], &[0.0], (1.0, 0.0), limits), expected, "{total}");
        seen += usize::from(total * (1.0 - CLEAR) == 1.0);
    }
    assert!(seen > 0, "none is the limit to the last bit");
}

/// Found by mutation: a product that is too fine and is not seen to be only costs time.
#[test]
fn products_that_are_too_fine_are_seen_to_the_last_bit() {
    let factors: [f64; 8] = [1.0, 3.0, 1023.0, 1025.0, 4097.0, 16_777_215.0, 134_217_729.0, 67_108_865.0];
    let mut seen = [0; 2];
    for (a, b) in factors.iter().flat_map(|&a| factors.map(|b| (a, b))) {
        for (significand, more) in [8, 11, 24, 53].into_iter().flat_map(|p| [1.0, 1.7, 40.0].map(|m| (p, m)))
        {
            let gauge = a * b * more;
            let top = i64::from((gauge.to_bits() >> 52) as u32) - 1023;
            let last = top - i64::from(significand);
            // Of 53 bits, only the rest of the product is looked at.
            let rest = a.mul_add(b, -(a * b));
            let too_fine = if significand < 53 { lsb(a) + lsb(b) } else { lsb(rest) } < last;
            let mut fine = [0.0, 0.0, 5.0];
            let all = Fine { a, b: &[-b, 0.0, 0.0], gauge: &[gauge; 3], significand, fine: &mut fine };
            assert!(!all.call(), "a product of 0 is never too fine");
            assert_eq!(fine.map(|fine| fine != 0.0), [too_fine, false, true], "{a} {b} {significand} {more}");
            let mut fine = [0.0];
            let all = Fine { a, b: &[b], gauge: &[gauge], significand, fine: &mut fine }.call();
            assert_eq!(all, too_fine);
            seen[usize::from(too_fine)] += 1;
        }
    }
    assert!(seen.iter().all(|&seen| seen > 100), "{seen:?}");
    // Too small, or beside too large a gauge, for floats to tell.
    for (b, gauge) in [(3e-202, 1e-180), (3.3, 1e251)] {
        let mut fine = [0.0];
        assert!(!Fine { a: 1.0, b: &[b], gauge: &[gauge], significand: 11, fine: &mut fine }.call());
    }
}
