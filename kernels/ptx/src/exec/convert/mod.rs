//! Conversions: `cvt` between integers, between floats, and from one to the other.
//!
//! ```text
//! integer -> integer   extended as the source says, cut to the destination; `.sat` clamps
//! integer -> float     rounded once, also from 64 bits
//! float -> integer     rounded to an integer, clamped; NaN is 0, or the highest bit alone where 64 bits take part
//! float -> float       rounded once; NaN of f32 is 0x7fffffff, of f16 and bf16 0x7fff
//! ```

mod floats;
mod integers;

pub(super) use floats::{FLOATS, TO_INTEGER};
pub(super) use integers::{INTEGERS, TO_FLOAT};

use super::lane::{Brain, Half};
use super::round::Rounding::{self, ToOdd};
use super::round::{NAN16, NAN32, f64_of_integer, to_f32};
use sparse_oracle::scalar::{Precision, encode};

/// f16 bits as f32 bits: all exact. NaN is the one of f32.
#[inline(always)]
pub(super) fn f32_of_f16(bits: u32) -> u32 {
    let magnitude = bits & 0x7fff;
    // 2^112: the difference of the biases; subnormals become normal on the way.
    let scaled = (f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)).to_bits();
    let sign = bits << 16 & 0x8000_0000;
    let infinity = sign | 0x7f80_0000;
    if magnitude > 0x7c00 {
        NAN32
    } else if magnitude == 0x7c00 {
        infinity
    } else {
        sign | scaled
    }
}

/// bf16 bits as f32 bits.
#[inline(always)]
pub(super) fn f32_of_bf16(bits: u32) -> u32 {
    if bits & 0x7fff > 0x7f80 { NAN32 } else { bits << 16 }
}

/// f32 bits as f16 bits, to nearest even.
#[inline(always)]
pub(super) fn f16_of(bits: u32) -> u32 {
    let magnitude = bits & 0x7fff_ffff;
    let sign = bits >> 16 & 0x8000;
    // Below 2^-14: added to 1/2, whose last place is that of a subnormal f16.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
    let half = 0xfff + (magnitude >> 13 & 1);
    let normal = magnitude.wrapping_add(half).wrapping_sub(112 << 23) >> 13;
    let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
    let number = if magnitude >= 0x4780_0000 { 0x7c00 } else { finite };
    if magnitude > 0x7f80_0000 { NAN16.into() } else { sign | number }
}

/// f32 bits as bf16 bits, to nearest even.
#[inline(always)]
pub(super) fn bf16_of(bits: u32) -> u32 {
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if bits & 0x7fff_ffff > 0x7f80_0000 { NAN16.into() } else { rounded }
}

/// f32 as tf32 in the bits of f32: 10 bits of fraction, ties away from zero. An H100 cuts the bits of a NaN, which makes an infinity of one
/// whose others are zeros.
#[inline(always)]
fn tf32_away(bits: u32) -> u32 {
    let magnitude = bits & 0x7fff_ffff;
    let rounded = (bits & 0x8000_0000) | (magnitude.wrapping_add(0x1000) & !0x1fff);
    if magnitude >= 0x7f80_0000 { bits & !0x1fff } else { rounded }
}

/// To a type of at most 32 bits, from exact or odd f64.
#[inline(always)]
fn narrow(x: f64, precision: Precision, mode: Rounding) -> u32 {
    let nan = if precision == Precision::Tf32 { NAN32 } else { NAN16.into() };
    if x.is_nan() { nan } else { encode(x, precision, mode) as u32 }
}

#[inline(always)]
fn half_of(x: f64, mode: Rounding) -> Half {
    Half(narrow(x, Precision::F16, mode) as u16)
}

#[inline(always)]
fn brain_of(x: f64, mode: Rounding) -> Brain {
    Brain(narrow(x, Precision::Bf16, mode) as u16)
}

/// f32 as f64; a NaN keeps sign and payload, quiet.
#[inline(always)]
fn double_of(a: f32) -> f64 {
    let bits = u64::from(a.to_bits());
    let nan = bits >> 31 << 63 | 0x7ff8_0000_0000_0000 | (bits & 0x7f_ffff) << 29;
    if a.is_nan() { f64::from_bits(nan) } else { a.into() }
}

/// f64 as f32; a NaN keeps its sign and the upper part of its payload, quiet.
#[inline(always)]
fn single_of(a: f64, mode: Rounding) -> f32 {
    let bits = a.to_bits();
    let nan = (bits >> 63 << 31) as u32 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x7f_ffff;
    if a.is_nan() { f32::from_bits(nan) } else { to_f32(a, mode) }
}

/// `.relu`: negative is +0, NaN stays.
#[inline(always)]
fn relu(x: f32) -> f32 {
    if x > 0.0 || x.is_nan() { x } else { 0.0 }
}

#[inline(always)]
fn number(a: Half) -> f32 {
    f32::from_bits(f32_of_f16(a.0.into()))
}

#[inline(always)]
fn brain_number(a: Brain) -> f32 {
    f32::from_bits(f32_of_bf16(a.0.into()))
}

/// An integer as f64, its last bit odd where something was lost.
#[inline(always)]
fn odd(x: i128) -> f64 {
    f64_of_integer(x, ToOdd)
}

macro_rules! to_integer {
    ($name:ident, $float:ty, $integer:ty, $nan:expr) => {
        #[inline(always)]
        fn $name(rounded: $float) -> $integer {
            if rounded.is_nan() { $nan } else { rounded as $integer }
        }
    };
}

to_integer!(i64_of_f32, f32, i64, i64::MIN);
to_integer!(u64_of_f32, f32, u64, 1 << 63);
to_integer!(i16_of_f64, f64, i16, i16::MIN);
to_integer!(u16_of_f64, f64, u16, 1 << 15);
to_integer!(i32_of_f64, f64, i32, i32::MIN);
to_integer!(u32_of_f64, f64, u32, 1 << 31);
to_integer!(i64_of_f64, f64, i64, i64::MIN);
to_integer!(u64_of_f64, f64, u64, 1 << 63);
