//! Levels of alpha and beta: which numbers stand for a level, and the level of a number.

use super::mix::Mix;
use sparse_oracle::scalar::{Precision, nearest_in};

/// The levels.
pub(super) const NUMBERS: [&str; 6] = ["1", "0", "-1", "power of 2", "full significand", "extreme"];
/// Where [`NUMBERS`] has the tiny and the huge ones.
pub(super) const EXTREME: u8 = 5;

/// A factor of the level, as a number of the accumulator's type.
pub(super) fn number(level: u8, acc: Precision, mix: &mut Mix) -> f64 {
    let spec = acc.spec();
    let drawn = match level {
        0 => 1.0,
        1 => mix.pick(&[0.0, 0.0, 0.0, -0.0]),
        2 => -1.0,
        3 => mix.pick(&[2.0, 0.5, -2.0, -0.5, 4.0]),
        4 => {
            let random = 1.0 + mix.below(1 << 52) as f64 / (1u64 << 52) as f64;
            // One step of f16 above 1 is near it, and is not.
            let near = 1.0 + 1.0 / 1024.0;
            let known = [0.1, 1.0 / 3.0, std::f64::consts::PI, 3.0, -1.7, near];
            mix.pick(&[&known[..], &[random, -random]].concat())
        }
        _ => {
            let tiny = 2f64.powi(spec.emin);
            let huge = spec.max_finite();
            mix.pick(&[tiny, tiny * 1.5, -tiny / 4.0, huge / 4.0, -huge / 16.0, huge])
        }
    };
    nearest_in(drawn, acc)
}

/// True for two factors of one level.
pub(crate) fn same_level(a: f64, b: f64) -> bool {
    number_class(a) == number_class(b)
}

/// The level of a factor.
pub(super) fn number_class(value: f64) -> u8 {
    let size = value.abs();
    match () {
        () if value == 1.0 => 0,
        () if value == 0.0 => 1,
        () if value == -1.0 => 2,
        () if !(2f64.powi(-6)..=2f64.powi(6)).contains(&size) => 5,
        () if size.log2().fract() == 0.0 => 3,
        () => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_the_level_that_they_are_drawn_for() {
        let mut mix = Mix::new(&[3]);
        for acc in [Precision::F64, Precision::F32, Precision::F16] {
            for level in 0..NUMBERS.len() as u8 {
                for _ in 0..40 {
                    let drawn = number(level, acc, &mut mix);
                    assert_eq!(number_class(drawn), level, "{drawn} in {acc}");
                }
            }
        }
    }
}
