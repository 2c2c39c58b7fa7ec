//! The tensor-core models: a second opinion in wide integers, exact sums, and the examples by which architectures differ.

use num_bigint::BigInt;
use num_traits::float::FloatCore;
use num_traits::{Signed, ToPrimitive, Zero};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Half, Single};
use sparse_oracle::Precision::{self, Bf16, E4m3, F16, F32, F64, Tf32};
use sparse_oracle::arithmetic::Architecture::{Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, Sm100, Sm120};
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::model::ModelError;
use sparse_oracle::model::tensor_core::table::ROWS;
use sparse_oracle::model::tensor_core::{Datapath, FinalRounding, FusedSum, TensorCore, chain, chain_padded};
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;

fn cores() -> Vec<TensorCore> {
    let mut cores = Vec::new();
    for row in ROWS {
        for instruction in row.instructions() {
            let all = row.architectures.iter();
            cores.extend(all.map(|&a| TensorCore::new(a, instruction).expect("in the table")));
        }
    }
    cores
}

fn core(architecture: Architecture, text: &str) -> TensorCore {
    TensorCore::new(architecture, text.parse().expect("an instruction")).expect("in the table")
}

// A second opinion: numbers as wide integers, exponents by comparison, one rounding by `scalar::encode`.

/// Places behind the point of an operand; products have twice as many.
const PLACES: i32 = 300;

/// `x * 2^PLACES`.
fn fixed(x: f64) -> BigInt {
    let (significand, exponent, sign) = x.integer_decode();
    let magnitude = BigInt::from(significand) << 1100 >> (1100 - i32::from(exponent) - PLACES);
    magnitude * sign
}

/// What the multiplier sees of an operand.
fn seen(bits: u64, precision: Precision) -> f64 {
    let ignored = if precision == Tf32 { 0x1fff } else { 0 };
    decode(bits & !ignored, precision)
}

/// floor(log2 |x|), not below the exponent of the least normal number.
fn exponent(x: f64, precision: Precision) -> i32 {
    let mut e = precision.spec().emax;
    while e > precision.spec().emin && x.abs() < 2.0f64.powi(e) {
        e -= 1;
    }
    e
}

fn canonical_nan(precision: Precision) -> u64 {
    if precision == F16 { 0x7fff } else { 0x7fff_ffff }
}

/// T-FDPA, slowly.
fn slow_step(unit: &FusedSum, acc: u64, a: &[u64], b: &[u64], input: Precision) -> u64 {
    let out = unit.output.precision();
    let c = decode(acc, out);
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).map(|(&x, &y)| (seen(x, input), seen(y, input))).collect();
    // f64 multiplies these exactly or overflows never: it knows about NaN and infinities.
    let specials: f64 = pairs.iter().map(|(x, y)| x * y).filter(|p| !p.is_finite()).sum();
    let specials = if c.is_finite() { specials } else { specials + c };
    if specials.is_nan() {
        return canonical_nan(out);
    }
    if specials != 0.0 {
        return encode(specials, out, Rounding::NearestEven);
    }
    let mut terms = vec![(fixed(c) << PLACES, exponent(c, out))];
    for &(x, y) in &pairs {
        terms.push((fixed(x) * fixed(y), exponent(x, input) + exponent(y, input)));
    }
    terms.retain(|(value, _)| !value.is_zero());
    let top = terms.iter().map(|t| t.1).fold(unit.zero_exponent, i32::max);
    let dropped = 2 * PLACES + top - unit.fraction;
    let mut sum = BigInt::from(0);
    for (value, _) in terms {
        let places = value.abs() >> dropped;
        sum += if value.is_negative() { -places } else { places };
    }
    let exact = sum.to_f64().expect("fits") * 2.0f64.powi(top - unit.fraction);
    if unit.output == FinalRounding::F16NearestEven {
        let bits = encode(exact, F16, Rounding::NearestEven);
        return if bits == 0x8000 { 0 } else { bits };
    }
    if exact.abs() >= 2.0f64.powi(128) {
        return if exact < 0.0 { 0xff80_0000 } else { 0x7f80_0000 };
    }
    let kept = if unit.output == FinalRounding::E8m13TowardZero { !0x3ff } else { !0 };
    let bits = encode(exact, F32, Rounding::TowardZero) & kept;
    if bits & 0x7fff_ffff == 0 { 0 } else { bits }
}

/// x + y by `rustc_apfloat`.
fn slow_add(x: u64, y: u64, precision: Precision) -> u64 {
    fn sum<F: Float>(x: u64, y: u64) -> Option<u64> {
        let sum = (F::from_bits(x.into()) + F::from_bits(y.into())).value;
        (!sum.is_nan()).then(|| sum.to_bits() as u64)
    }
    let bits = if precision == F16 { sum::<Half>(x, y) } else { sum::<Single>(x, y) };
    bits.unwrap_or(canonical_nan(precision))
}

fn slow(core: &TensorCore, acc: u64, a: &[u64], b: &[u64]) -> u64 {
    let Instruction { input, acc: out, .. } = core.instruction();
    match core.datapath() {
        Datapath::Fused(unit) => {
            let (mut acc, mut from) = (acc, 0);
            while from < a.len() {
                let to = (from + unit.products).min(a.len());
                acc = slow_step(&unit, acc, &a[from..to], &b[from..to], input);
                from = to;
            }
            acc
        }
        Datapath::HalfPairs(unit) => {
            let mut dot = 0;
            for low in [0, 2] {
                let picked: Vec<usize> = (0..a.len()).filter(|k| [low, low + 1].contains(&(k % 4))).collect();
                let x: Vec<u64> = picked.iter().map(|&k| a[k]).collect();
                let y: Vec<u64> = picked.iter().map(|&k| b[k]).collect();
                dot = slow_step(&unit, dot, &x, &y, input);
            }
            slow_add(acc, dot, out)
        }
        Datapath::FmaChain => {
            let number = |bits: u64| Double::from_bits(bits.into());
            let pairs = a.iter().zip(b);
            let sum = pairs.fold(number(acc), |acc, (&x, &y)| number(x).mul_add(number(y), acc).value);
            sum.to_bits() as u64
        }
    }
}

/// Bits of one operand; `kind` 0 near one, 1 wide, 2 subnormal, 3 any, else few bits.
fn operand(random: &mut Random, precision: Precision, kind: u64) -> u64 {
    let spec = precision.spec();
    let fraction = if precision == Tf32 { 23 } else { spec.significand - 1 };
    let (sign, bias) = (random.below(2) << (spec.storage_bits - 1), -i64::from(spec.emin) + 1);
    let low = random.bits() & ((1 << fraction) - 1);
    let exponent = |e: i64| ((bias + e).max(0) as u64).min((spec.emax - spec.emin + 1) as u64) << fraction;
    match (random.below(64), kind) {
        // An infinity, or all bits set, which is NaN in every type.
        (0..=1, 3) if precision != E4m3 => sign | ((spec.emax - spec.emin + 2) as u64) << fraction,
        (2..=3, 3) => sign | (u64::MAX >> (65 - spec.storage_bits)),
        (4..=7, _) => sign,
        (_, 0) => sign | exponent(random.between(-2, 2)) | low,
        (_, 1) => sign | exponent(random.between(spec.emin.into(), (spec.emax - 1).into()) / 2) | low,
        (_, 2) => sign | exponent(random.between(spec.emin.into(), i64::from(spec.emin) + 2) - 1) | low,
        (_, 3) => sign | exponent(random.between(spec.emin.into(), spec.emax.into())) | low,
        _ => sign | exponent(random.between(-14, 14)) | low & (3 << (fraction - 2)),
    }
}

/// Every row on every architecture against the slow model.
#[test]
fn every_row_agrees_with_wide_integers() {
    let mut random = Random::new(5, "model_tensor_core");
    let cores = cores();
    for core in &cores {
        let Instruction { input, acc: out, .. } = core.instruction();
        let (mut numbers, mut inexact, mut special) = (0, 0, 0);
        for case in 0..150 {
            let draw = |random: &mut Random| operand(random, input, case % 5);
            let a: Vec<u64> = (0..core.products()).map(|_| draw(&mut random)).collect();
            let b: Vec<u64> = (0..core.products()).map(|_| draw(&mut random)).collect();
            let acc = operand(&mut random, out, case % 5);
            let found = core.apply(acc, &a, &b).expect("full");
            let expected = slow(core, acc, &a, &b);
            let nans = !core.fixes_nan() && decode(found, out).is_nan() && decode(expected, out).is_nan();
            assert!(
                found == expected || nans,
                "{} on {}: {found:#x}, slow {expected:#x}: {acc:x} {a:x?} {b:x?}",
                core.instruction(),
                core.architecture()
            );
            let exact: f64 = a.iter().zip(&b).map(|(&x, &y)| seen(x, input) * seen(y, input)).sum();
            let number = decode(found, out);
            special += u32::from(!number.is_finite());
            numbers += u32::from(number.is_finite() && number != 0.0);
            inexact += u32::from(number.is_finite() && number != exact + decode(acc, out));
        }
        let name = core.instruction();
        assert!(numbers > 60, "{name}: only {numbers} of 150 cases are numbers");
        assert!(special > 1, "{name}: only {special} of 150 cases are special");
        assert!(inexact > 15 || input == F64, "{name}: only {inexact} cases round");
    }
    assert!(cores.len() > 100, "{} instructions", cores.len());
}

/// Integers whose sums every accumulator holds: no model may round.
#[test]
fn exact_sums_are_exact_in_every_row() {
    let mut random = Random::new(6, "model_tensor_core exact");
    for core in cores() {
        let Instruction { input, acc: out, .. } = core.instruction();
        let bits = |value: i64, precision| encode(value as f64, precision, Rounding::NearestEven);
        for _ in 0..40 {
            let x: Vec<i64> = (0..core.products()).map(|_| random.between(-4, 4)).collect();
            let y: Vec<i64> = (0..core.products()).map(|_| random.between(-4, 4)).collect();
            let c = random.between(-1000, 1000);
            let sum = c + x.iter().zip(&y).map(|(x, y)| x * y).sum::<i64>();
            let a: Vec<u64> = x.iter().map(|&v| bits(v, input)).collect();
            let b: Vec<u64> = y.iter().map(|&v| bits(v, input)).collect();
            let found = core.apply(bits(c, out), &a, &b).expect("full");
            assert_eq!(found, bits(sum, out), "{} on {}", core.instruction(), core.architecture());
        }
    }
}

/// Parameters by rule: F grows with the architecture, a step takes so many bytes of a row of A.
#[test]
fn the_table_follows_its_rules() {
    for core in cores() {
        let Instruction { engine, input, acc, .. } = core.instruction();
        let architecture = core.architecture();
        let Some(unit) = core.fused_sum() else {
            assert_eq!((input, acc), (F64, F64));
            continue;
        };
        let on_volta = core.instruction().m == 8;
        let (own, bytes) = match architecture {
            _ if on_volta => (23, 8),
            Sm70 => unreachable!("Volta has m8n8k4 only"),
            Sm75 | Sm80 | Sm86 | Sm89 => (24, 16),
            Sm90 | Sm100 | Sm120 => (25, 32),
        };
        let native = input.bytes() == 1
            && (architecture == Sm89 || matches!(engine, Engine::Wgmma | Engine::WgmmaSparse));
        let fraction = if native { 13 } else { own };
        // fp8 by the f16 unit is fed f16.
        let width = match core.datapath() {
            Datapath::HalfPairs(_) => 2,
            _ => input.bytes(),
        };
        let zero = if acc == F16 { 4 } else { -108 } - own;
        let expected = (fraction, bytes / width, zero);
        assert_eq!(
            (unit.fraction, unit.products, unit.zero_exponent),
            expected,
            "{} on {architecture}",
            core.instruction()
        );
        assert_eq!(unit.output == FinalRounding::E8m13TowardZero, native && acc == F32);
        assert_eq!(core.links() * core.fused(), core.products());
        let links: Vec<usize> = (0..core.products()).map(|i| core.link_of(i)).collect();
        for link in 0..core.links() {
            assert_eq!(links.iter().filter(|l| **l == link).count(), core.fused());
        }
    }
}

fn half(value: f64) -> u64 {
    let bits = encode(value, F16, Rounding::NearestEven);
    assert_eq!(decode(bits, F16), value, "f16 does not hold it");
    bits
}

/// `ones` first, then `tiny` products of 2^-25, then zeros.
fn one_and_tiny(places: &[usize], length: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut a, mut b) = (vec![0; length], vec![0; length]);
    (a[0], b[0]) = (half(1.0), half(1.0));
    for &place in places {
        (a[place], b[place]) = (half(2f64.powi(-12)), half(2f64.powi(-13)));
    }
    (a, b)
}

const ONE: u64 = 0x3f80_0000;

/// 1 + 4 * 2^-25: Ampere keeps 24 bits below 1, Hopper 25.
#[test]
fn ampere_and_hopper_differ() {
    let (a, b) = one_and_tiny(&[1, 2, 3, 4], 8);
    let on = |architecture| core(architecture, "mma.m16n8k8.f32.f16").apply(0, &a, &b).expect("full");
    assert_eq!([on(Sm75), on(Sm80), on(Sm86), on(Sm89)], [ONE; 4]);
    assert_eq!([on(Sm90), on(Sm100), on(Sm120)], [ONE + 1; 3]);
}

/// The same sum, two small terms in each half: the shorter instruction rounds in between.
#[test]
fn two_short_instructions_are_not_one_long() {
    let (a, b) = one_and_tiny(&[1, 2, 8, 9], 16);
    let long = chain(&core(Sm90, "mma.m16n8k16.f32.f16"), 0, &a, &b).expect("a multiple");
    let short = chain(&core(Sm90, "mma.m16n8k8.f32.f16"), 0, &a, &b).expect("a multiple");
    assert_eq!((long, short), (ONE + 1, ONE));
    // Ampere has two links either way.
    let long = chain(&core(Sm80, "mma.m16n8k16.f32.f16"), 0, &a, &b).expect("a multiple");
    let short = chain(&core(Sm80, "mma.m16n8k8.f32.f16"), 0, &a, &b).expect("a multiple");
    assert_eq!((long, short), (ONE, ONE));
}

/// 2^26 + 8 * 1: ones first survive, ones last are cut one by one.
#[test]
fn a_chain_depends_on_order() {
    let large = [vec![half(2f64.powi(13))], vec![0; 7]].concat();
    let ones = vec![half(1.0); 8];
    let core = core(Sm90, "mma.m16n8k8.f32.f16");
    let run = |blocks: [&[u64]; 2]| {
        let terms = blocks.concat();
        f32::from_bits(chain(&core, 0, &terms, &terms).expect("a multiple") as u32)
    };
    assert_eq!(run([&large, &ones]), 2f32.powi(26));
    assert_eq!(run([&ones, &large]), 2f32.powi(26) + 8.0);
}

#[test]
fn a_fused_block_does_not() {
    let mut random = Random::new(7, "model_tensor_core order");
    let mut moved = 0;
    for core in cores().into_iter().filter(|c| c.fused_sum().is_some()) {
        let input = core.instruction().input;
        for kind in 0..20 {
            let terms: Vec<(u64, u64)> = (0..core.products())
                .map(|_| (operand(&mut random, input, kind % 5), operand(&mut random, input, kind % 5)))
                .collect();
            let acc = operand(&mut random, core.instruction().acc, kind % 5);
            // Places may be exchanged within one link only.
            let mut order: Vec<usize> = (0..core.products()).collect();
            for link in 0..core.links() {
                let places: Vec<usize> = (0..core.products()).filter(|&i| core.link_of(i) == link).collect();
                let mut shuffled = places.clone();
                random.shuffle(&mut shuffled);
                places.iter().zip(shuffled).for_each(|(&place, from)| order[place] = from);
            }
            moved += usize::from(order.windows(2).any(|w| w[0] > w[1]));
            let run = |order: &[usize]| {
                let (a, b): (Vec<u64>, Vec<u64>) = order.iter().map(|&i| terms[i]).unzip();
                core.apply(acc, &a, &b).expect("full")
            };
            let straight: Vec<usize> = (0..core.products()).collect();
            assert_eq!(run(&order), run(&straight), "{}", core.instruction());
        }
    }
    assert!(moved > 1000, "{moved} permutations");
}

/// Only the bits above 2^12 of a word take part, and a NaN below them is an infinity.
#[test]
fn tf32_words_are_truncated() {
    let core = core(Sm90, "mma.m16n8k4.f32.tf32");
    let run = |a: u64| core.apply(0, &[a, 0, 0, 0], &[0x3f80_1fff, 0, 0, 0]).expect("full");
    assert_eq!(run(0x3f80_1fff), ONE);
    assert_eq!(run(0x3f80_2000), ONE + 0x2000);
    assert_eq!(run(0x7f80_0001), 0x7f80_0000);
    assert_eq!(run(0xff80_2000), 0x7fff_ffff);
}

/// Zeros and what has no sum.
#[test]
fn special_results_are_canonical() {
    let f32s = core(Sm90, "mma.m16n8k8.f32.f16");
    let f16s = core(Sm90, "mma.m16n8k8.f16.f16");
    let run = |core: &TensorCore, acc, a: u64, b: u64| {
        core.apply(acc, &[a, 0, 0, 0, 0, 0, 0, 0], &[b, 0, 0, 0, 0, 0, 0, 0]).expect("full")
    };
    let (infinity, nan, minus_zero) = (0x7c00, 0xfe01, 0x8000);
    assert_eq!(run(&f32s, 0x8000_0000, minus_zero, half(1.0)), 0, "never -0");
    assert_eq!(run(&f16s, 0x8000, minus_zero, half(1.0)), 0, "never -0");
    assert_eq!(run(&f32s, 0, nan, half(1.0)), 0x7fff_ffff);
    assert_eq!(run(&f16s, 0, infinity, 0), 0x7fff);
    assert_eq!(run(&f32s, 0xff80_0000, infinity, half(1.0)), 0x7fff_ffff);
    assert_eq!(run(&f32s, 0, infinity, half(-2.0)), 0xff80_0000);
    // The largest finite number plus half its last place, and the least that overflows f16.
    assert_eq!(run(&f32s, 0x7f7f_ffff, half(60000.0), half(60000.0)), 0x7f7f_ffff);
    assert_eq!(run(&f16s, half(65504.0), half(15.0), half(1.0)), half(65504.0));
    assert_eq!(run(&f16s, half(65504.0), half(16.0), half(1.0)), 0x7c00);
}

/// Toward zero, yet beyond the range is infinity; what cancels never leaves it.
#[test]
fn overflow_is_of_the_sum_only() {
    let bf16 = core(Sm90, "mma.m16n8k8.f32.bf16");
    let power = |e: i32| encode(2f64.powi(e), Bf16, Rounding::NearestEven);
    let sign = 0x8000;
    let mut a = vec![power(100), power(100) | sign, power(1), 0, 0, 0, 0, 0];
    let b = vec![power(100), power(100), power(1), 0, 0, 0, 0, 0];
    // 2^200 - 2^200 + 4: the 4 lies below what is kept.
    assert_eq!(bf16.apply(0, &a, &b), Ok(0));
    a[1] = 0;
    assert_eq!(bf16.apply(0, &a, &b), Ok(0x7f80_0000));
}

/// 448^2 and 16 products of 2^-10, which add up to its last place: they survive if they are summed first.
#[test]
fn fp8_by_the_half_unit_sums_pairs() {
    let emulated = core(Sm90, "mma.m16n8k32.f32.e4m3");
    let e4m3 = |value: f64| encode(value, E4m3, Rounding::NearestEven);
    let run = |large: usize, small: [usize; 2]| {
        let mut a = vec![0; 32];
        (0..32).filter(|k| small.contains(&(k % 4))).for_each(|k| a[k] = e4m3(2f64.powi(-5)));
        a[large] = e4m3(448.0);
        f32::from_bits(emulated.apply(0, &a, &a).expect("full") as u32)
    };
    assert_eq!(run(2, [0, 1]), 448.0 * 448.0 + 2f32.powi(-6));
    assert_eq!(run(0, [2, 3]), 448.0 * 448.0);
    // C is added in an ordinary addition, to nearest: 1 + 0.75 * 2^-23.
    let mut a = vec![0; 32];
    a[0] = e4m3(1.0);
    let three_quarters = (0.75 * 2f32.powi(-23)).to_bits();
    assert_eq!(emulated.apply(three_quarters.into(), &a, &a), Ok(ONE + 1));
}

#[test]
fn what_an_architecture_lacks_is_refused() {
    let lacks = |architecture, text: &str| {
        let instruction = text.parse().expect("an instruction");
        TensorCore::new(architecture, instruction).expect_err("not in the table").to_string()
    };
    assert_eq!(
        lacks(Sm75, "mma.m16n8k16.f32.f16"),
        "sm_75 has no modelled mma.m16n8k16.f32.f16; it is modelled on sm_80, sm_86, sm_89, sm_90, sm_100, sm_120"
    );
    assert!(lacks(Sm80, "wgmma.m64n8k16.f32.f16").ends_with("it is modelled on sm_90"));
    assert!(lacks(Sm90, "mma.m16n8k16.f32.f32").contains("no architecture in the table"));
    for n in [0, 12, 264] {
        let mut wide: Instruction = "wgmma.m64n8k16.f32.f16".parse().expect("an instruction");
        wide.n = n;
        assert!(TensorCore::new(Sm90, wide).is_err(), "n = {n}");
        wide.n = 256;
        assert!(TensorCore::new(Sm90, wide).is_ok());
    }
}

#[test]
fn operands_of_another_length_are_refused() {
    let core = core(Sm90, "mma.sp.m16n8k32.f32.f16");
    assert_eq!((core.products(), core.links(), core.fused()), (16, 1, 16));
    let refused = ModelError::Operands { instruction: core.instruction(), expected: 16, a: 16, b: 32 };
    assert_eq!(core.apply(0, &[0; 16], &[0; 32]), Err(refused));
    let chained = chain(&core, 0, &[0; 24], &[0; 24]).expect_err("no multiple of 16");
    assert_eq!(
        chained.to_string(),
        "24 terms are no multiple of the 16 products of mma.sp.m16n8k32.f32.f16; use the padded chain, or pad with zeros"
    );
    assert!(
        chain(&core, 0, &[0; 16], &[0; 17]).is_err() && chain_padded(&core, 0, &[0; 16], &[0; 17]).is_err()
    );
    assert_eq!(chain_padded(&core, ONE, &[], &[]), Ok(ONE));
    let ones = [half(1.0); 17];
    assert_eq!(chain_padded(&core, 0, &ones, &ones), Ok(u64::from(17f32.to_bits())));
}

#[test]
fn names_of_instructions_parse_back() {
    for core in cores() {
        let name = core.instruction().to_string();
        assert_eq!(name.parse(), Ok(core.instruction()), "{name}");
    }
    for wrong in [
        "",
        "mma",
        "mma.m16n8k16.f32",
        "mma.m16n8.f32.f16",
        "mma.m016n8k16.f32.f16",
        "mma.m16n8k0.f32.f16",
        "mma.m16n8k16.f32.f17",
        "mma.m16n8k16.f99.f16",
        "mmb.m16n8k16.f32.f16",
        "mma.m16n8k99999.f32.f16",
        "mma.m16n+8k16.f32.f16",
    ] {
        assert!(wrong.parse::<Instruction>().is_err(), "{wrong}");
    }
    for architecture in Architecture::ALL {
        assert_eq!(Architecture::from_name(&architecture.to_string()), Some(architecture));
    }
    assert_eq!(Architecture::from_name("sm_60"), None);
}
