//! Rare values among ordinary ones: one big value beside many small ones, and NaN and Inf in few places.
//!
//! ```text
//! one-big          1 -3 2 B -1 4 ...            the next big value comes after 1 to 2^1, 2^2, ... or 2^8 entries: rows of any
//!                                               length hold one now and then, at each of their positions
//! placed-special   x x NaN x -0 x x Inf ...     one entry in 64, and one at least; a -0 for each, where there is room
//! ```

use super::range::{Range, power_of_two, sign};
use crate::scalar::{Precision, Specials};
use crate::source::random::Random;

/// The exponent of the big values: products with small integers of up to 4 stay finite, and exact in sums of an f32 (in those of an
/// f64, for f64) of up to 16 terms.
const fn big_exponent(precision: Precision) -> i32 {
    match precision {
        Precision::F64 => 45,
        Precision::F32 | Precision::Tf32 | Precision::Bf16 => 16,
        Precision::F16 | Precision::E5m2 => 12,
        Precision::E4m3 => 8,
    }
}

/// Puts the big values among small integers.
pub(super) fn put_big(values: &mut [f64], random: &mut Random, precision: Precision) {
    if values.is_empty() {
        return;
    }
    let big = power_of_two(big_exponent(precision));
    let mut at = random.below(values.len().min(8) as u64) as usize;
    while at < values.len() {
        values[at] = sign(random, big);
        let reach = random.between(1, 8);
        at += 1 + random.below(1 << reach) as usize;
    }
}

/// Puts NaN and infinities among ordinary values, one entry in 64 and at least one, and as many zeros, which may face those of the other
/// operand: -0, which padded formats keep apart from a pad.
pub(super) fn put_special(values: &mut [f64], random: &mut Random, precision: Precision) {
    let count = values.len().div_ceil(64) as u64;
    let mut places = Vec::new();
    random.distinct(values.len() as u64, 2 * count, &mut places);
    let has_room = places.len() as u64 == 2 * count;
    let zeros = random.below(2) as usize;
    for (number, at) in places.into_iter().enumerate() {
        values[at as usize] = if has_room && number % 2 == zeros { -0.0 } else { special(random, precision) };
    }
}

/// NaN or, where the type has them, an infinity.
#[must_use]
pub fn special(random: &mut Random, precision: Precision) -> f64 {
    match random.below(3) {
        1 if Range::of(precision).spec.specials == Specials::Ieee => f64::INFINITY,
        2 if Range::of(precision).spec.specials == Specials::Ieee => f64::NEG_INFINITY,
        _ => f64::NAN,
    }
}

/// Where B of a case of [`PlacedSpecial`](super::ValueFamily::PlacedSpecial) holds NaN and Inf.
///
/// ```text
/// rows k that no entry of A meets    all elements: they must not arrive anywhere
/// one in 64 of the others            one element (k, j): must arrive in column j of the rows that meet k, nowhere else
/// ```
///
/// `used[k]` says whether an entry of A meets row `k`; the result lists `(row, column, value)`, the column `None` for
/// a whole row. `seed` and `columns` choose the single elements; without columns there are none.
#[must_use]
pub fn in_rows(
    used: &[bool],
    columns: usize,
    seed: u64,
    precision: Precision,
) -> Vec<(usize, Option<usize>, f64)> {
    let mut random = Random::new(seed, "placed-special rows");
    let met: Vec<usize> = (0..used.len()).filter(|&k| used[k]).collect();
    let mut single = Vec::new();
    if columns > 0 {
        random.distinct(met.len() as u64, met.len().div_ceil(64) as u64, &mut single);
    }
    let mut places: Vec<(usize, Option<usize>, f64)> = single
        .into_iter()
        .map(|at| {
            let column = random.below(columns as u64) as usize;
            (met[at as usize], Some(column), special(&mut random, precision))
        })
        .collect();
    let unmet = (0..used.len()).filter(|&k| !used[k]);
    places.extend(unmet.map(|k| (k, None, special(&mut random, precision))));
    places
}

/// The row of the one value that each column of op(B) keeps in a case of [`OneTerm`](super::ValueFamily::OneTerm), all others being zero:
/// one of `rows`, which names a row as often as an entry of A meets it, so that long rows of A meet most columns. Nothing where A has no
/// entry.
#[must_use]
pub fn one_a_column(rows: &[usize], columns: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed, "one-term rows");
    let columns = if rows.is_empty() { 0 } else { columns };
    (0..columns).map(|_| rows[random.below(rows.len() as u64) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::values::ValueFamily;

    /// Positions of the values that a family sets apart.
    fn rare(values: &[f64], is_rare: impl Fn(f64) -> bool) -> Vec<usize> {
        (0..values.len()).filter(|&i| is_rare(values[i])).collect()
    }

    #[test]
    fn a_big_value_comes_at_each_position_of_rows_of_any_length() {
        for precision in Precision::ALL {
            let values = ValueFamily::OneBig.fill(60_000, 5, precision);
            let big = power_of_two(big_exponent(precision));
            let found = rare(&values, |x| x.abs() == big);
            assert!(values.iter().all(|x| x.abs() == big || (1.0..=4.0).contains(&x.abs())));
            assert!((600..3000).contains(&found.len()), "{precision}: {}", found.len());
            for length in [2, 5, 16, 33] {
                let alone = values.chunks_exact(length).map(|row| rare(row, |x| x.abs() == big));
                let alone: Vec<usize> = alone.filter(|at| at.len() == 1).map(|at| at[0]).collect();
                assert!((0..length).all(|k| alone.contains(&k)), "{precision}: rows of {length}");
            }
        }
    }

    #[test]
    fn products_of_a_big_and_a_small_value_stay_finite_in_their_type() {
        for precision in Precision::ALL {
            let spec = Range::of(precision).spec;
            assert!(power_of_two(big_exponent(precision)) <= spec.max_finite());
            if precision != Precision::E4m3 {
                assert!(power_of_two(big_exponent(precision)) * 4.0 <= spec.max_finite(), "{precision}");
            }
        }
    }

    #[test]
    fn specials_are_few_and_there_is_one() {
        for precision in Precision::ALL {
            for n in [1, 2, 63, 64, 65, 1000] {
                let values = ValueFamily::PlacedSpecial.fill(n, 9, precision);
                assert_eq!(rare(&values, |x| !x.is_finite()).len(), n.div_ceil(64), "{precision}, {n}");
                let zeros = rare(&values, |x| x == 0.0).len();
                assert_eq!(zeros, if n == 1 { 0 } else { n.div_ceil(64) }, "{precision}, {n}");
            }
        }
    }

    #[test]
    fn rows_that_nobody_meets_are_special_and_few_elements_of_the_others() {
        let used: Vec<bool> = (0..200).map(|k| k % 3 == 1).collect();
        for precision in Precision::ALL {
            let places = in_rows(&used, 7, 4, precision);
            let whole: Vec<usize> = places.iter().filter(|p| p.1.is_none()).map(|p| p.0).collect();
            assert_eq!(whole, (0..200).filter(|k| k % 3 != 1).collect::<Vec<_>>());
            let single: Vec<_> = places.iter().filter(|p| p.1.is_some()).collect();
            assert_eq!(single.len(), 67usize.div_ceil(64));
            assert!(single.iter().all(|p| used[p.0] && p.1 < Some(7)));
            assert!(places.iter().all(|p| !p.2.is_finite()));
            assert!(in_rows(&used, 0, 4, precision).iter().all(|p| p.1.is_none()));
        }
    }
}
