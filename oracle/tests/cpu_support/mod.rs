//! Operands for CPU instructions: made at random, written as a line of text, read again, and given to the model.
//!
//! ```text
//! unit            control   acc       a           b           result
//! fmopa.f32.f16   03000000  3f800000  3c00,-      3c01,0001   3f800000
//! vfmaddps        00001f80  3f800000  3f800000    3f800000    40000000
//! ```
//!
//! All but the unit's name is hexadecimal: control is FPCR or MXCSR, elements are bits, `-` is one whose predicate is not active.
//! Whoever has an Arm machine runs `data/recorded/arm_step.rs` on such lines; it adds the result.

#![allow(dead_code, reason = "each test uses a part")]

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::CpuUnit;
use sparse_oracle::model::cpu::CpuStep;
use sparse_oracle::model::cpu::arm::Fpcr;
use sparse_oracle::model::cpu::bfmopa::bfmopa;
use sparse_oracle::model::cpu::fmopa::{fmopa, fmopa_2way};
use sparse_oracle::model::cpu::x86::Mxcsr;
use sparse_oracle::scalar::{Rounding, decode, encode};
use sparse_oracle::source::random::Random;
use std::fmt;

/// What one instruction reads for one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operands {
    pub(crate) unit: CpuUnit,
    pub(crate) control: u32,
    pub(crate) acc: u64,
    pub(crate) a: Vec<Option<u64>>,
    pub(crate) b: Vec<Option<u64>>,
}

/// Where operands lie.
pub(crate) const DISTRIBUTIONS: [&str; 7] =
    ["near one", "wide", "tiny", "special", "ties", "uniform bits", "huge"];

/// True for the units of Arm.
pub(crate) fn is_arm(unit: CpuUnit) -> bool {
    unit.name().contains("fmopa") || unit.name().starts_with("fmla")
}

/// Magnitude bits of 2^exponent times a significand, exponents out of range cut.
fn number(random: &mut Random, precision: Precision, exponent: i64) -> u64 {
    let spec = precision.spec();
    let bits = spec.significand - 1;
    let field = (exponent - i64::from(spec.emin) + 1).clamp(0, i64::from(spec.emax - spec.emin) + 1) as u64;
    let fraction = match random.below(4) {
        0 => random.below(1 << bits),
        1 => random.below(8) << (bits - 3),
        2 => (1 << bits) - 1 - random.below(4),
        _ => random.below(1 << bits) & !((1 << (bits / 2)) - 1),
    };
    random.below(2) << (spec.storage_bits - 1) | field << bits | fraction
}

/// Zeros, infinities, NaNs of both kinds, and the ends of the range.
fn special(random: &mut Random, precision: Precision) -> u64 {
    let spec = precision.spec();
    let bits = spec.significand - 1;
    let infinity = ((spec.emax - spec.emin + 2) as u64) << bits;
    let one = encode(1.0, precision, Rounding::NearestEven);
    let magnitude = match random.below(10) {
        0 | 1 => 0,
        2 => infinity,
        3 => infinity | 1 << (bits - 1) | random.below(1 << (bits - 1)),
        4 => infinity + 1 + random.below((1 << (bits - 1)) - 1),
        5 => 1 + random.below(3),
        6 => infinity - 1,
        7 => 1 << bits,
        _ => one,
    };
    random.below(2) << (spec.storage_bits - 1) | magnitude
}

/// A legal number of products, small ones more often.
pub(crate) fn products(random: &mut Random, unit: CpuUnit) -> usize {
    let most = random.below((unit.products() / unit.granule()) as u64) + 1;
    unit.granule() * (1 + random.below(most) as usize)
}

/// One operand set of a distribution, the control register as it starts.
pub(crate) fn draw(random: &mut Random, unit: CpuUnit, distribution: usize, products: usize) -> Operands {
    let (input, acc_type) = (unit.input(), unit.acc());
    let spec = acc_type.spec();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..products {
        let pair = factors(random, input, spec.emin, spec.emax, distribution);
        a.push(pair.0);
        b.push(pair.1);
    }
    let acc = match distribution {
        0 => number_between(random, acc_type, -3, 3),
        1 => number_between(random, acc_type, -20, 20),
        2 => number_between(random, acc_type, i64::from(spec.emin) - 1, i64::from(spec.emin) + 1),
        3 => special(random, acc_type),
        4 => tie(random, unit, &mut a, &mut b),
        5 => random.bits() & (u64::MAX >> (64 - spec.storage_bits)),
        _ => number_between(random, acc_type, i64::from(spec.emax) - 2, i64::from(spec.emax)),
    };
    Operands {
        unit,
        control: if is_arm(unit) { 0 } else { 0x1f80 },
        acc,
        a: a.into_iter().map(Some).collect(),
        b: b.into_iter().map(Some).collect(),
    }
}

fn number_between(random: &mut Random, precision: Precision, low: i64, high: i64) -> u64 {
    let exponent = random.between(low, high);
    number(random, precision, exponent)
}

/// Two factors; of the tiny and the huge, the product lies at an end of the accumulator's range if it can.
fn factors(random: &mut Random, input: Precision, emin: i32, emax: i32, distribution: usize) -> (u64, u64) {
    let spec = input.spec();
    let around = |random: &mut Random, target: i32| {
        let whole = i64::from(target) + random.between(-3, 2);
        if whole < 2 * i64::from(spec.min_exponent()) && random.below(2) == 0 {
            // Out of reach: the accumulator alone is tiny.
            return (random.below(2) << (spec.storage_bits - 1), number(random, input, 0));
        }
        let first = random.between(i64::from(spec.emin) - 1, i64::from(spec.emax));
        (number(random, input, first), number(random, input, whole - first))
    };
    match distribution {
        0 | 4 => (number_between(random, input, -3, 3), number_between(random, input, -3, 3)),
        1 => (number_between(random, input, -20, 20), number_between(random, input, -20, 20)),
        2 => around(random, emin),
        3 => (special(random, input), special(random, input)),
        5 => {
            let mask = u64::MAX >> (64 - spec.storage_bits);
            (random.bits() & mask, random.bits() & mask)
        }
        _ => around(random, emax),
    }
}

/// An accumulator that cancels the first product, or puts a sum on a tie or a crumb beside it; likewise a second product.
fn tie(random: &mut Random, unit: CpuUnit, a: &mut [u64], b: &mut [u64]) -> u64 {
    let (input, acc) = (unit.input(), unit.acc());
    let p = acc.spec().significand as i32;
    let product = decode(a[0], input) * decode(b[0], input);
    if a.len() > 1 && random.below(2) == 0 {
        let shift = 2f64.powi([0, -p, 1 - p, -1 - p, -11][random.below(5) as usize] / 2);
        (a[1], b[1]) = (
            encode(-decode(a[0], input) * shift, input, Rounding::NearestEven),
            encode(decode(b[0], input) * shift, input, Rounding::NearestEven),
        );
    }
    let scaled = match random.below(5) {
        0 => -product,
        1 => product * 2f64.powi(p),
        2 => product * 2f64.powi(-p),
        3 => (product.abs().log2().floor() + f64::from(p)).exp2(),
        _ => product * 2f64.powi(random.between(-30, 30) as i32),
    };
    encode(scaled, acc, Rounding::TowardZero) ^ random.below(2)
}

impl Operands {
    /// What the model says.
    pub(crate) fn predicted(&self) -> u64 {
        let fpcr = Fpcr::from_bits(self.control);
        let step = CpuStep::new(self.unit).with_fpcr(fpcr).with_mxcsr(Mxcsr::from_bits(self.control));
        let all: Option<(Vec<u64>, Vec<u64>)> = self
            .a
            .iter()
            .zip(&self.b)
            .map(|(&a, &b)| a.zip(b))
            .collect::<Option<Vec<_>>>()
            .map(|pairs| pairs.into_iter().unzip());
        if let Some((a, b)) = all {
            return step.apply(self.acc, &a, &b).expect("lengths fit");
        }
        let pair = |side: &[Option<u64>]| [side[0], side[1]];
        match self.unit {
            CpuUnit::Fmopa2Way => fmopa_2way(self.acc, pair(&self.a), pair(&self.b), fpcr),
            CpuUnit::Bfmopa { ebf } => bfmopa(self.acc, pair(&self.a), pair(&self.b), Fpcr { ebf, ..fpcr }),
            _ => fmopa(self.unit.input(), self.acc, self.a[0], self.b[0], fpcr),
        }
    }

    /// Operands and the recorded result.
    pub(crate) fn parse(line: &str) -> Option<(Operands, u64)> {
        let mut words = line.split_whitespace();
        let unit = CpuUnit::from_name(words.next()?)?;
        let hex = |word: &str| u64::from_str_radix(word, 16).ok();
        let control = u32::from_str_radix(words.next()?, 16).ok()?;
        let acc = hex(words.next()?)?;
        let element = |word: &str| {
            if word == "-" { Some(None) } else { hex(word).map(Some) }
        };
        let mut list = || words.next()?.split(',').map(element).collect::<Option<Vec<_>>>();
        let (a, b) = (list()?, list()?);
        let result = hex(words.next()?)?;
        let operands = Operands { unit, control, acc, a, b };
        Some((operands, result))
    }
}

impl fmt::Display for Operands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |side: &[Option<u64>]| {
            let words = side.iter().map(|e| e.map_or("-".to_owned(), |bits| format!("{bits:x}")));
            words.collect::<Vec<_>>().join(",")
        };
        let (a, b) = (list(&self.a), list(&self.b));
        write!(f, "{} {:08x} {:x} {a} {b}", self.unit, self.control, self.acc)
    }
}
