//! The steps of the modelled units against `rustc_apfloat`, bit for bit, zeros' signs included.
//!
//! NaN results compare as NaN: which one a unit returns is not modelled.

use rustc_apfloat::Float;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use sparse_oracle::Precision;
use sparse_oracle::model::chain::Unit;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

/// Bit patterns of one type: anything, subnormals, neighbours of powers of two, both zeros, the extremes.
fn pattern(random: &mut Random, precision: Precision) -> u64 {
    let spec = precision.spec();
    let fraction = spec.significand - 1;
    let sign = random.below(2) << (spec.storage_bits - 1);
    let magnitude = match random.below(8) {
        0 => random.below(1 << fraction.min(8)),
        1 => random.below(1 << fraction),
        2 => 0,
        3 => (random.below((spec.emax - spec.emin + 1) as u64) + 1) << fraction,
        // Close to 1, so that sums and products meet and cancel.
        4 | 5 => {
            let exponent = (-spec.emin) as u64 + random.below(4);
            exponent << fraction
                | random.below(1 << fraction.min(4)) << random.below(u64::from(fraction.max(5) - 4))
        }
        6 => ((spec.emax - spec.emin + 2) as u64) << fraction,
        _ => return random.bits() & (u64::MAX >> (64 - spec.storage_bits)),
    };
    sign | magnitude
}

/// A third operand that puts the result of `a * b + c` on or beside a tie, or cancels it, half of the time.
fn addend(random: &mut Random, precision: Precision, product: f64) -> u64 {
    if random.below(2) == 0 || !product.is_finite() {
        return pattern(random, precision);
    }
    let p = precision.spec().significand as i32;
    let scaled = match random.below(4) {
        0 => -product,
        1 => product * 2.0f64.powi(p),
        2 => product * 2.0f64.powi(-p),
        _ => product * 2.0f64.powi(random.between(-60, 60) as i32),
    };
    encode(scaled, precision, Rounding::TowardZero)
}

fn agree<F: Float>(precision: Precision, cases: u64) {
    let unit = Unit { precision };
    let mut random = Random::new(17, "model_chain");
    let (mut ties_or_tiny, mut finite) = (0u64, 0u64);
    let check = |name: &str, operands: &[u64], found: f64, expected: F| {
        let expected = expected.to_bits() as u64;
        let found_bits = encode(found, precision, Rounding::NearestEven);
        let both_nan = found.is_nan() && decode(expected, precision).is_nan();
        assert!(
            both_nan || found_bits == expected && decode(found_bits, precision).to_bits() == found.to_bits(),
            "{precision} {name} {operands:x?}: {found:e} (0x{found_bits:x}), apfloat 0x{expected:x}"
        );
    };
    for _ in 0..cases {
        let (a, b) = (pattern(&mut random, precision), pattern(&mut random, precision));
        let (x, y) = (decode(a, precision), decode(b, precision));
        let c = addend(&mut random, precision, x * y);
        let z = decode(c, precision);
        let (fa, fb, fc) = (F::from_bits(a.into()), F::from_bits(b.into()), F::from_bits(c.into()));
        check("mul", &[a, b], unit.mul(x, y), (fa * fb).value);
        check("add", &[a, b], unit.add(x, y), (fa + fb).value);
        check("add", &[a, c], unit.add(x, z), (fa + fc).value);
        let fused = fa.mul_add(fb, fc);
        check("fma", &[a, b, c], unit.fma(x, y, z), fused.value);
        finite += u64::from(fused.value.is_finite());
        let other = unit.add(unit.mul(x, y), z);
        ties_or_tiny += u64::from(other.to_bits() != unit.fma(x, y, z).to_bits() && !other.is_nan());
    }
    println!("{precision}: {cases} triples, {finite} finite, fma and mul-add differ on {ties_or_tiny}");
    // The sample must hold what is hard: fused and separate steps differ only where a product is inexact.
    assert!(finite > cases / 3 && ties_or_tiny > cases / 100, "{precision}: a weak sample");
}

#[test]
fn f16_steps_round_as_apfloat_does() {
    agree::<Half>(Precision::F16, 60_000);
}

#[test]
fn bf16_steps_round_as_apfloat_does() {
    agree::<BFloat>(Precision::Bf16, 60_000);
}

#[test]
fn f32_steps_round_as_apfloat_does() {
    agree::<Single>(Precision::F32, 60_000);
}

#[test]
fn f64_steps_round_as_apfloat_does() {
    agree::<Double>(Precision::F64, 60_000);
}

/// Results that a second rounding, from f64, would get wrong: a crumb too far below a tie for 53 bits.
#[test]
fn a_crumb_that_f64_cannot_hold_decides_a_tie() {
    let f16 = Unit { precision: Precision::F16 };
    assert_eq!(f16.add(2048.0, 1.0), 2048.0, "a tie goes to the even neighbour");
    assert_eq!(f16.fma(128.0, 256.0, 16.0), 32768.0, "and so does this one");
    assert_eq!(f16.fma(2.0, 1024.5, 2.0f64.powi(-24)), 2050.0, "just above it");
    let bf16 = Unit { precision: Precision::Bf16 };
    let crumb = 2.0f64.powi(-133);
    // 1.0625^2 = 1.125 + 2^-8, half an ulp above 1.125, whose last bit is even.
    assert_eq!(bf16.fma(1.0625, 1.0625, 0.0), 1.125);
    assert_eq!(bf16.fma(1.0625, 1.0625, crumb), 1.125 + 2.0f64.powi(-7));
    assert_eq!(bf16.fma(1.0625, 1.0625, -crumb), 1.125);
}
