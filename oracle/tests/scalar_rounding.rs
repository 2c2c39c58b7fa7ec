//! `encode` and `decode` against `half` and `rustc_apfloat`: every pattern of every 8- and 16-bit type, and every
//! rounding decision between neighbours.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use sparse_oracle::exact::Dyadic;
use sparse_oracle::exact::encode_dyadic;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{decode, encode, encode_exact};
use sparse_oracle::{Precision, Rounding, Scalar, Tf32};

const MODES: [(Rounding, Option<Round>); 6] = [
    (Rounding::NearestEven, Some(Round::NearestTiesToEven)),
    (Rounding::NearestAway, Some(Round::NearestTiesToAway)),
    (Rounding::TowardZero, Some(Round::TowardZero)),
    (Rounding::Up, Some(Round::TowardPositive)),
    (Rounding::Down, Some(Round::TowardNegative)),
    (Rounding::ToOdd, None),
];

const NARROW: [Precision; 4] = [Precision::F16, Precision::Bf16, Precision::E4m3, Precision::E5m2];

/// What apfloat makes of `value` (round to odd: built from its truncation).
fn second_opinion(value: f64, precision: Precision, mode: Option<Round>) -> u64 {
    fn convert<T: Float>(value: f64, round: Round) -> (u64, bool)
    where
        Double: FloatConvert<T>,
    {
        let mut loses = false;
        let out: T = Double::from_bits(value.to_bits().into()).convert_r(round, &mut loses).value;
        (out.to_bits() as u64, loses)
    }
    let by = |round| match precision {
        Precision::F64 => (value.to_bits(), false),
        Precision::F32 => convert::<Single>(value, round),
        Precision::F16 => convert::<Half>(value, round),
        Precision::Bf16 => convert::<BFloat>(value, round),
        Precision::E4m3 => convert::<Float8E4M3FN>(value, round),
        Precision::E5m2 => convert::<Float8E5M2>(value, round),
        Precision::Tf32 => panic!("apfloat has no tf32"),
    };
    match mode {
        Some(round) => by(round).0,
        None => {
            let (bits, _) = by(Round::TowardZero);
            let kept = decode(bits, precision) == value;
            let saturated = value.abs() > precision.spec().max_finite();
            bits | u64::from(!kept && !saturated)
        }
    }
}

/// Directed modes of E4M3 past 448, stated directly: `rustc_apfloat` 0.2.3 is not symmetric there (448.1 goes up to
/// NaN, -448.1 goes down to -448; -480 goes up to NaN).
fn e4m3_overflow(value: f64, precision: Precision, mode: Rounding) -> Option<u64> {
    if precision != Precision::E4m3 || value.is_nan() || value.abs() <= 448.0 {
        return None;
    }
    let sign = if value < 0.0 { 0x80 } else { 0 };
    let magnitude = match mode {
        Rounding::NearestEven | Rounding::NearestAway => return None,
        Rounding::TowardZero | Rounding::ToOdd => 0x7e,
        Rounding::Up => 0x7f - u64::from(value < 0.0),
        Rounding::Down => 0x7f - u64::from(value > 0.0),
    };
    Some(sign | magnitude)
}

fn check(value: f64, precision: Precision) {
    let nearest = encode(value, precision, Rounding::NearestEven);
    assert_eq!(
        encode_exact(value, precision),
        (decode(nearest, precision) == value).then_some(nearest),
        "{value:e} ({:x}) in {precision}",
        value.to_bits()
    );
    for (mode, theirs) in MODES {
        let expected = match e4m3_overflow(value, precision, mode) {
            Some(bits) => bits,
            None => second_opinion(value, precision, theirs),
        };
        let found = encode(value, precision, mode);
        assert_eq!(
            found,
            expected,
            "{value:e} ({:x}) to {precision} {mode:?}: {found:x}, apfloat says {expected:x}",
            value.to_bits()
        );
        if let Some(exact) = Dyadic::from_f64(value).filter(|x| !x.is_zero()) {
            assert_eq!(
                encode_dyadic(&exact, precision, mode),
                expected,
                "{value:e} as Dyadic to {precision} {mode:?}"
            );
        }
    }
}

#[test]
fn decodes_every_pattern_as_half_does() {
    for bits in 0..=u16::MAX {
        let ours = decode(bits.into(), Precision::F16);
        let theirs = half::f16::from_bits(bits).to_f64();
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "f16 {bits:x}");
        let ours = decode(bits.into(), Precision::Bf16);
        let theirs = half::bf16::from_bits(bits).to_f64();
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "bf16 {bits:x}");
    }
}

#[test]
fn decodes_every_8_bit_pattern_as_apfloat_does() {
    for bits in 0..=u8::MAX {
        let mut loses = false;
        let e4m3: Double = Float8E4M3FN::from_bits(bits.into()).convert(&mut loses).value;
        let e5m2: Double = Float8E5M2::from_bits(bits.into()).convert(&mut loses).value;
        for (precision, theirs) in [(Precision::E4m3, e4m3), (Precision::E5m2, e5m2)] {
            let ours = decode(bits.into(), precision);
            let theirs = f64::from_bits(theirs.to_bits() as u64);
            assert!(
                ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()),
                "{precision} {bits:x}: {ours}, apfloat says {theirs}"
            );
        }
    }
}

#[test]
fn every_pattern_survives_decode_and_encode_in_every_mode() {
    for precision in NARROW {
        for bits in 0..1u64 << precision.spec().storage_bits {
            let value = decode(bits, precision);
            for (mode, _) in MODES {
                let back = encode(value, precision, mode);
                if value.is_nan() {
                    assert!(decode(back, precision).is_nan(), "{precision} {bits:x}");
                } else {
                    assert_eq!(back, bits, "{precision} {mode:?}");
                }
            }
        }
    }
}

/// Each value, the midpoint to its successor and quarter points, all with their f64 neighbours.
#[test]
fn rounds_the_neighbourhood_of_every_pattern_as_apfloat_does() {
    for precision in NARROW {
        let magnitudes = 1u64 << (precision.spec().storage_bits - 1);
        let mut checked = 0u64;
        for bits in 0..magnitudes {
            let low = decode(bits, precision);
            if !low.is_finite() {
                continue;
            }
            let next = decode(bits + 1, precision);
            // Past the largest finite number the next step has the same width.
            let high = if next.is_finite() { next } else { 2.0 * low - decode(bits - 1, precision) };
            let middle = low + (high - low) / 2.0;
            for point in [low, middle, low + (high - low) / 4.0, high] {
                for x in [point, point.next_up(), point.next_down()] {
                    check(x, precision);
                    check(-x, precision);
                    checked += 2;
                }
            }
        }
        assert!(checked > 23 * (magnitudes - 1) * 7 / 8, "{precision}: only {checked} points");
    }
}

#[test]
fn rounds_far_and_special_values() {
    let tiny = f64::from_bits(1);
    for value in
        [0.0, -0.0, tiny, -tiny, f64::MIN_POSITIVE, f64::MAX, f64::MIN, 1e300, -1e300, 1e-300, 1e39, 7e4]
    {
        for precision in NARROW.into_iter().chain([Precision::F32]) {
            check(value, precision);
        }
    }
    for (mode, _) in MODES {
        for precision in Precision::ALL {
            let nan = encode(-f64::NAN, precision, mode);
            assert!(decode(nan, precision).is_nan());
            assert_eq!(nan >> (precision.spec().storage_bits - 1), 0, "canonical NaN is positive");
            let infinity = decode(encode(f64::NEG_INFINITY, precision, mode), precision);
            assert!(
                infinity == f64::NEG_INFINITY || (precision == Precision::E4m3 && infinity.is_nan()),
                "{precision} {mode:?}: {infinity}"
            );
        }
    }
    assert_eq!(encode(f64::NAN, Precision::F32, Rounding::NearestEven), u64::from(f32::NAN.to_bits()));
    assert_eq!(encode(449.0, Precision::E4m3, Rounding::TowardZero), 0x7e);
    assert_eq!(encode(464.0, Precision::E4m3, Rounding::NearestEven), 0x7e);
    assert_eq!(encode(464.0, Precision::E4m3, Rounding::NearestAway), 0x7f);
    assert_eq!(encode(465.0, Precision::E4m3, Rounding::NearestEven), 0x7f);
    assert_eq!(encode(-1e9, Precision::E4m3, Rounding::Up), 0xfe);
}

#[test]
fn rounds_to_f32_as_the_machine_and_apfloat_do() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut finite = 0;
    for round in 0..200_000u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // All f64 patterns, then only exponents that f32 has, its subnormals included.
        let mut bits = state ^ state >> 29;
        if round % 2 == 0 {
            let field = 1023 - 160 + (bits >> 52 & 0x7ff) % 300;
            bits = bits & !(0x7ff << 52) | field << 52;
        }
        if round % 4 == 0 {
            bits &= !0 << (round % 53);
        }
        let value = f64::from_bits(bits);
        if value.is_nan() {
            continue;
        }
        finite += 1;
        let nearest = encode(value, Precision::F32, Rounding::NearestEven);
        assert_eq!(nearest, u64::from((value as f32).to_bits()), "{value:e}");
        check(value, Precision::F32);
    }
    assert!(finite > 190_000);
}

/// `rna` = (bits + 0x1000) & 0xffffe000 and `rz` = bits & 0xffffe000 are two of the modes, on finite values.
#[test]
fn tf32_formulas_are_rounding_modes() {
    let mut overflowed = 0;
    let interesting = (0..=u32::MAX).step_by(4093).chain((0..512).flat_map(|e| {
        [0u32, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x7f_efff, 0x7f_f000, 0x7f_ffff].map(|f| e << 23 | f)
    }));
    for bits in interesting {
        let x = Tf32(bits);
        let value = x.to_f64();
        if !value.is_finite() {
            continue;
        }
        let away = encode(value, Precision::Tf32, Rounding::NearestAway);
        assert_eq!(away, u64::from(x.round_rna().0), "rna of {bits:08x}");
        overflowed += u32::from(!x.round_rna().to_f64().is_finite());
        let even = encode(value, Precision::Tf32, Rounding::NearestEven);
        assert_eq!(even, u64::from(x.round_rne().0), "rne of {bits:08x}");
        let zero = encode(value, Precision::Tf32, Rounding::TowardZero);
        assert_eq!(zero, u64::from(x.round_rz().0), "rz of {bits:08x}");
        for (mode, _) in MODES {
            let rounded = encode(value, Precision::Tf32, mode);
            assert_eq!(rounded & 0x1fff, 0, "low bits of {rounded:08x}");
            assert_eq!(encode(decode(rounded, Precision::Tf32), Precision::Tf32, mode), rounded);
        }
    }
    assert!(overflowed > 0, "no case rounds up to infinity");
}

#[test]
fn from_f64_is_nearest_even() {
    use sparse_oracle::{Bf16, E4m3, E5m2, F16};
    for i in 0..20_000 {
        let value = (f64::from(i) - 10_000.0) * 0.013_7;
        assert_eq!(F16::from_f64(value).0, half::f16::from_f64(value).to_bits());
        assert_eq!(Bf16::from_f64(value).0, half::bf16::from_f64(value).to_bits());
        let e4m3 = second_opinion(value, Precision::E4m3, Some(Round::NearestTiesToEven));
        assert_eq!(u64::from(E4m3::from_f64(value).0), e4m3);
        let e5m2 = second_opinion(value, Precision::E5m2, Some(Round::NearestTiesToEven));
        assert_eq!(u64::from(E5m2::from_f64(value).0), e5m2);
    }
}

#[test]
fn max_finite_and_min_exponent_match_the_patterns() {
    for precision in NARROW {
        let spec = precision.spec();
        let finite = (0..1u64 << (spec.storage_bits - 1)).map(|bits| decode(bits, precision));
        let largest = finite.filter(|x| x.is_finite()).fold(0.0, f64::max);
        assert_eq!(largest, spec.max_finite());
        assert_eq!(decode(1, precision), 2.0f64.powi(spec.min_exponent()));
    }
}
