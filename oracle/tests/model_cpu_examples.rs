//! CPU instructions by hand: for each likely mistake an example in which it would show.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::model::cpu::amx::{tdpbf16ps, tdpfp16ps};
use sparse_oracle::model::cpu::arm::{Fpcr, fmla};
use sparse_oracle::model::cpu::bfmopa::bfmopa;
use sparse_oracle::model::cpu::fmopa::{fmopa, fmopa_2way};
use sparse_oracle::model::cpu::vdpbf16::vdpbf16ps;
use sparse_oracle::model::cpu::x86::{self, Mxcsr};
use sparse_oracle::model::cpu::{CpuStep, nan};
use sparse_oracle::scalar::{Rounding, encode};
use sparse_oracle::source::random::Random;

const F32: Precision = Precision::F32;

fn f32(value: f64) -> u64 {
    exactly(value, F32)
}

fn f16(value: f64) -> u64 {
    exactly(value, Precision::F16)
}

fn bf16(value: f64) -> u64 {
    exactly(value, Precision::Bf16)
}

fn exactly(value: f64, precision: Precision) -> u64 {
    let bits = encode(value, precision, Rounding::TowardZero);
    assert_eq!(bits, encode(value, precision, Rounding::ToOdd), "{value} is not a number of {precision}");
    bits
}

fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

fn both(pair: [u64; 2]) -> [Option<u64>; 2] {
    pair.map(Some)
}

#[test]
fn two_way_fmopa_rounds_the_pair_and_then_the_sum() {
    let fpcr = Fpcr::DEFAULT;
    // 2^12 + 2^-13 is 2^12 in f32; with acc in one sum it would be above the tie 2^12 + 2^-12.
    let acc = f32(power(-13) * (1.0 + power(-23)));
    let row = both([f16(64.0), f16(power(-6))]);
    let col = both([f16(64.0), f16(power(-7))]);
    assert_eq!(fmopa_2way(acc, row, col, fpcr), f32(4096.0));
    let once = 4096.0 + power(-13) + power(-13) * (1.0 + power(-23));
    assert_eq!(encode(once, F32, Rounding::NearestEven), f32(4096.0 + power(-11)));
    // A chain of two multiply-adds would lose acc beside 2^12.
    let cancels = both([f16(64.0), f16(-64.0)]);
    assert_eq!(fmopa_2way(f32(power(-13)), both([f16(64.0); 2]), cancels, fpcr), f32(power(-13)));
}

#[test]
fn inactive_elements_leave_the_element_or_count_as_positive_zero() {
    let (fpcr, strange) = (Fpcr::DEFAULT, 0x7f80_1234);
    let one = Some(f32(1.0));
    assert_eq!(fmopa(F32, strange, None, one, fpcr), strange);
    assert_eq!(fmopa(F32, strange, one, None, fpcr), strange);
    assert_eq!(fmopa(F32, strange, one, one, fpcr), 0x7fc0_0000);
    let (x, inf) = (Some(f16(1.0)), Some(0x7c00));
    for outer in [fmopa_2way, bfmopa] {
        // Neither pair has both sides.
        assert_eq!(outer(strange, [x, None], [None, x], fpcr), strange);
        assert_eq!(outer(strange, [x, x], [None, None], fpcr), strange);
    }
    // -0 + (-0 * 1 + 0 * 0) = -0 + 0 = 0: not left alone.
    let negative_zero = Some(0x8000);
    assert_eq!(fmopa_2way(0x8000_0000, [negative_zero, None], [x, None], fpcr), 0);
    assert_eq!(fmopa_2way(0x8000_0000, [negative_zero; 2], [x; 2], fpcr), 0x8000_0000);
    // The zero that stands for an inactive element is multiplied all the same.
    assert_eq!(fmopa_2way(0, [x, None], [x, inf], fpcr), 0x7fc0_0000);
}

#[test]
fn bfmopa_without_ebf_rounds_to_odd_and_flushes() {
    let fpcr = Fpcr::DEFAULT;
    let step = |acc: f64, a: f64, b: f64| bfmopa(f32(acc), both([bf16(a), 0]), both([bf16(b), 0]), fpcr);
    // Nearest even would be 1.
    assert_eq!(step(1.0, power(-13), power(-12)), 0x3f80_0001);
    assert_eq!(step(-1.0, power(-13), power(-12)), 0xbf7f_ffff);
    // Subnormal: the accumulator, an operand, a product, a sum.
    assert_eq!(step(power(-127), 0.0, 0.0), 0);
    assert_eq!(step(0.0, power(-130), power(20)), 0);
    assert_eq!(step(0.0, -power(-100), power(-27)), 0, "-0, then 0 + -0");
    assert_eq!(step(1.5 * power(-126), -power(-100), power(-26)), 0);
    // To infinity, where rounding to odd elsewhere stops at the largest number.
    let large = 255.0 * power(120);
    assert_eq!(step(large, 1.0, large), 0x7f80_0000);
    assert_eq!(step(-large, -1.0, large), 0xff80_0000);
    // x - x = +0, whatever RMode is.
    let down = Fpcr { rmode: Rounding::Down, ..fpcr };
    let (one, minus) = (bf16(1.0), bf16(-1.0));
    assert_eq!(bfmopa(0, both([one, one]), both([one, minus]), down), 0);
    let ebf = Fpcr { ebf: true, ..down };
    assert_eq!(bfmopa(0x8000_0000, both([one, one]), both([one, minus]), ebf), 0x8000_0000);
}

#[test]
fn bfmopa_with_ebf_is_the_fused_pair() {
    let fpcr = Fpcr { ebf: true, ..Fpcr::DEFAULT };
    let step =
        |acc: f64, a: [f64; 2], b: [f64; 2]| bfmopa(f32(acc), both(a.map(bf16)), both(b.map(bf16)), fpcr);
    assert_eq!(step(1.0, [power(-13), 0.0], [power(-12), 0.0]), f32(1.0));
    assert_eq!(step(0.0, [power(-100), 0.0], [power(-27), 0.0]), f32(power(-127)));
    // Products beyond f32 that cancel.
    assert_eq!(step(3.0, [power(100), power(100)], [power(100), -power(100)]), f32(3.0));
    let unfused = bfmopa(
        f32(3.0),
        both([bf16(power(100)); 2]),
        both([bf16(power(100)), bf16(-power(100))]),
        Fpcr::DEFAULT,
    );
    assert_eq!(unfused, 0x7fc0_0000);
}

#[test]
fn vdpbf16ps_takes_the_high_element_first() {
    // 2^-24 + 2^-24 reaches 1's last place; one at a time, each is a tie to even.
    let (low, high) = (bf16(1.0), bf16(power(-12)));
    assert_eq!(vdpbf16ps(f32(power(-24)), [low, high], [low, high]), f32(1.0 + power(-23)));
    assert_eq!(vdpbf16ps(f32(power(-24)), [high, low], [high, low]), f32(1.0));
}

#[test]
fn vdpbf16ps_prefers_nans_of_the_low_half_and_the_accumulator_last() {
    let [p, q, r, s] = [0x7fc1u64, 0xffc2, 0x7f83, 0x7fc4];
    let one = bf16(1.0);
    let acc = 0x7f80_0005;
    let quiet = |bits: u64| bits << 16 | 0x0040_0000;
    assert_eq!(vdpbf16ps(acc, [p, r], [q, s]), quiet(p));
    assert_eq!(vdpbf16ps(acc, [one, r], [q, s]), quiet(q));
    assert_eq!(vdpbf16ps(acc, [one, r], [one, s]), quiet(r));
    assert_eq!(vdpbf16ps(acc, [one, one], [one, s]), quiet(s));
    assert_eq!(vdpbf16ps(acc, [one, one], [one, one]), 0x7fc0_0005);
    let infinity = 0x7f80;
    assert_eq!(vdpbf16ps(0, [infinity, one], [0, one]), 0xffc0_0000, "the real indefinite is negative");
}

#[test]
fn amx_sums_the_tile_from_zero_and_adds_c_last() {
    let ones = |n: usize| std::iter::repeat_n((bf16(1.0), bf16(1.0)), n);
    let c = f32(power(24));
    assert_eq!(tdpbf16ps(c, ones(8)), f32(power(24) + 8.0), "from C, each 1 would be lost to a tie");
    let chained = (0..8).fold(c, |c, _| x86::fma(F32, f32(1.0), f32(1.0), c, Mxcsr::DOT_PRODUCT));
    assert_eq!(chained, c);
    // Even and odd elements have a sum each: 2^24 beside 1 + 1.
    let (one, large) = ((bf16(1.0), bf16(1.0)), (bf16(4096.0), bf16(4096.0)));
    assert_eq!(tdpbf16ps(0, [large, one, (0, 0), one]), f32(power(24) + 2.0));
    assert_eq!(tdpbf16ps(0, [large, one, one, (0, 0)]), f32(power(24)));
}

#[test]
fn amx_flushes_f32_subnormals_and_keeps_those_of_f16() {
    let tiny = 1;
    assert_eq!(tdpfp16ps(0, [(tiny, f16(1.0)), (0, 0)]), f32(power(-24)));
    assert_eq!(tdpfp16ps(0, [(tiny, tiny), (0, 0)]), f32(power(-48)));
    assert_eq!(tdpbf16ps(0, [(tiny, bf16(power(100))), (0, 0)]), 0);
    assert_eq!(tdpbf16ps(0x8000_0001, [(0, 0), (0, 0)]), 0, "C is -0 then");
    assert_eq!(tdpbf16ps(0x8000_0000, [(0x8000, bf16(1.0)), (0, 0)]), 0, "chains start from +0");
}

#[test]
fn tininess_is_before_rounding_on_arm_and_after_it_on_x86() {
    // 2^-126 - 2^-160 rounds up to the least normal number.
    let (least, a, b) = (f32(power(-126)), f32(power(-80)), f32(-power(-80)));
    let flushing = Mxcsr { ftz: true, ..Mxcsr::DEFAULT };
    let fz = Fpcr { fz: true, ..Fpcr::DEFAULT };
    assert_eq!(x86::fma(F32, a, b, least, flushing), least);
    assert_eq!(fmla(F32, least, a, b, fz), 0);
    assert_eq!(fmla(F32, least, a, b, Fpcr { ah: true, ..fz }), least);
    // 2^-126 - 2^-150 has 24 bits, so it is tiny for all, though as a subnormal number it rounds up, too.
    let b = f32(-power(-70));
    for found in [x86::fma(F32, a, b, least, flushing), fmla(F32, least, a, b, Fpcr { ah: true, ..fz })] {
        assert_eq!(found, 0);
    }
    assert_eq!(x86::fma(F32, a, b, least, Mxcsr::DEFAULT), least);
}

#[test]
fn each_control_bit_flushes_what_it_names() {
    let (subnormal, one) = (0x8000_0001, f32(1.0));
    let sum = |fpcr: Fpcr| fmla(F32, subnormal, 0, one, fpcr);
    assert_eq!(sum(Fpcr::DEFAULT), subnormal);
    assert_eq!(sum(Fpcr { fz: true, ..Fpcr::DEFAULT }), 0, "-0 + 0");
    assert_eq!(sum(Fpcr { fiz: true, ..Fpcr::DEFAULT }), 0);
    assert_eq!(sum(Fpcr { fz: true, ah: true, ..Fpcr::DEFAULT }), 0x8000_0000, "the result alone");
    assert_eq!(sum(Fpcr { fz16: true, ..Fpcr::DEFAULT }), subnormal);
    let half = |fpcr: Fpcr| fmla(Precision::F16, 0x8001, 0, f16(1.0), fpcr);
    assert_eq!(half(Fpcr { fz: true, fiz: true, ..Fpcr::DEFAULT }), 0x8001);
    assert_eq!(half(Fpcr { fz16: true, ..Fpcr::DEFAULT }), 0);
    let sse = |mxcsr: Mxcsr| x86::add(F32, subnormal, 0x8000_0000, mxcsr);
    assert_eq!(sse(Mxcsr::DEFAULT), subnormal);
    assert_eq!(sse(Mxcsr { daz: true, ..Mxcsr::DEFAULT }), 0x8000_0000);
    assert_eq!(sse(Mxcsr { ftz: true, ..Mxcsr::DEFAULT }), 0x8000_0000);
    let f16_step = CpuStep::new(CpuUnit::Vfmaddph).with_mxcsr(Mxcsr::DOT_PRODUCT);
    assert_eq!(f16_step.apply(0, &[1], &[f16(1.0)]), Ok(1), "f16 is never flushed");
}

#[test]
fn x86_returns_the_first_nan_and_arm_the_first_signalling_one() {
    let (quiet, signalling, third) = (0x7fc0_0001, 0xff80_0002, 0x7fc0_0003);
    let (zero, infinity) = (0, 0x7f80_0000);
    let sse = |x, y, z| x86::fma(F32, x, y, z, Mxcsr::DEFAULT);
    assert_eq!(sse(quiet, signalling, third), quiet);
    assert_eq!(sse(f32(1.0), signalling, third), 0xffc0_0002);
    assert_eq!(sse(infinity, zero, third), third, "outranks Inf * 0");
    assert_eq!(sse(infinity, zero, f32(1.0)), 0xffc0_0000);
    let neon = |acc, n, m| fmla(F32, acc, n, m, Fpcr::DEFAULT);
    assert_eq!(neon(quiet, signalling, third), 0xffc0_0002);
    assert_eq!(neon(quiet, third, f32(1.0)), quiet, "the accumulator is the first operand");
    assert_eq!(neon(quiet, infinity, zero), 0x7fc0_0000, "Inf * 0 outranks a quiet accumulator");
    assert_eq!(neon(signalling, infinity, zero), 0xffc0_0002, "but not a signalling one");
    let alternate = |acc, n, m| fmla(F32, acc, n, m, Fpcr { ah: true, ..Fpcr::DEFAULT });
    assert_eq!(alternate(signalling, quiet, third), quiet, "register n");
    assert_eq!(alternate(signalling, f32(1.0), third), third, "then m");
    assert_eq!(alternate(quiet, infinity, zero), quiet);
    assert_eq!(alternate(f32(1.0), infinity, zero), 0xffc0_0000);
    assert_eq!(fmla(F32, quiet, third, signalling, Fpcr { dn: true, ..Fpcr::DEFAULT }), 0x7fc0_0000);
}

#[test]
fn default_nans_are_those_of_the_manuals() {
    for (precision, positive) in [
        (Precision::F64, 0x7ff8_0000_0000_0000),
        (Precision::F32, 0x7fc0_0000),
        (Precision::F16, 0x7e00),
        (Precision::Bf16, 0x7fc0),
    ] {
        let sign = 1 << (precision.spec().storage_bits - 1);
        assert_eq!(nan::default_nan(precision, false), positive);
        assert_eq!(nan::default_nan(precision, true), positive | sign);
    }
    assert!(nan::is_signalling(0x7f80_0001, F32) && !nan::is_signalling(0x7fc0_0001, F32));
    assert!(!nan::is_signalling(0x7f80_0000, F32), "infinity");
}

#[test]
fn f16_conversions_are_apfloats() {
    let mut lost = false;
    for bits in 0..=0xffffu64 {
        let wide: Single = Half::from_bits(bits.into()).convert(&mut lost).value;
        assert_eq!(u128::from(x86::widen_f16(bits)), wide.to_bits(), "{bits:x}");
    }
    let mut random = Random::new(37, "narrow");
    let modes = [
        (Rounding::NearestEven, Round::NearestTiesToEven),
        (Rounding::Up, Round::TowardPositive),
        (Rounding::Down, Round::TowardNegative),
        (Rounding::TowardZero, Round::TowardZero),
    ];
    for i in 0..40_000 {
        // Exponents around those of f16, then any.
        let bits = random.bits() & if i % 4 == 0 { 0xffff_ffff } else { 0x9fff_ffff };
        let bits = if i % 4 == 0 { bits } else { (bits & 0x8fff_ffff) + 0x3000_0000 };
        for (rounding, round) in modes {
            let narrow: Half = Single::from_bits(bits.into()).convert_r(round, &mut lost).value;
            let found = x86::narrow_to_f16(bits, Mxcsr { rounding, ..Mxcsr::DEFAULT });
            assert_eq!(u128::from(found), narrow.to_bits(), "{bits:x} {rounding:?}");
        }
    }
    let up = Mxcsr { rounding: Rounding::Up, ..Mxcsr::DEFAULT };
    assert_eq!(x86::narrow_to_f16(1, up), 1);
    assert_eq!(x86::narrow_to_f16(1, Mxcsr { daz: true, ..up }), 0);
}
