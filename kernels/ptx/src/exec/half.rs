//! Arithmetic of f16 and bf16, alone and in pairs.
//!
//! f32 has at least 2 p + 2 bits of either, so that a sum or product in f32 may be rounded again. A product and a sum at once are
//! made in f64, whose last bit is made odd where something was lost.

use super::convert::{bf16_of, f16_of, f32_of_bf16, f32_of_f16};
use super::lane::{Brain, Brains, Half, Halves, lanes};
use super::round::{NAN16, fma_odd, saturate};

/// f16 and bf16 as numbers.
trait Narrow: Copy {
    fn number(self) -> f32;
    fn round(x: f32) -> Self;
    fn of_bits(bits: u16) -> Self;
    fn bits(self) -> u16;
}

macro_rules! narrow {
    ($type:ident, $number:ident, $round:ident) => {
        impl Narrow for $type {
            #[inline(always)]
            fn number(self) -> f32 {
                f32::from_bits($number(self.0.into()))
            }

            #[inline(always)]
            fn round(x: f32) -> $type {
                $type($round(x.to_bits()) as u16)
            }

            #[inline(always)]
            fn of_bits(bits: u16) -> $type {
                $type(bits)
            }

            #[inline(always)]
            fn bits(self) -> u16 {
                self.0
            }
        }
    };
}

narrow!(Half, f32_of_f16, f16_of);
narrow!(Brain, f32_of_bf16, bf16_of);

#[inline(always)]
fn add<T: Narrow>(a: T, b: T) -> T {
    T::round(a.number() + b.number())
}

/// The sum of two f16, by their bits.
pub(super) fn add_f16(a: u16, b: u16) -> u16 {
    add(Half(a), Half(b)).0
}

/// The sum of two bf16, by their bits.
pub(super) fn add_bf16(a: u16, b: u16) -> u16 {
    add(Brain(a), Brain(b)).0
}

#[inline(always)]
fn sub<T: Narrow>(a: T, b: T) -> T {
    T::round(a.number() - b.number())
}

#[inline(always)]
fn mul<T: Narrow>(a: T, b: T) -> T {
    T::round(a.number() * b.number())
}

#[inline(always)]
fn fma<T: Narrow>(a: T, b: T, c: T) -> T {
    T::round(fma_odd(a.number(), b.number(), c.number()))
}

/// Clamped to [0, 1], NaN to +0.
#[inline(always)]
fn clamp<T: Narrow>(x: T) -> T {
    T::round(saturate(x.number()))
}

/// `.relu`: negative is +0, NaN stays.
#[inline(always)]
fn relu<T: Narrow>(x: T) -> T {
    let number = x.number();
    if number > 0.0 || number.is_nan() { x } else { T::of_bits(0) }
}

#[inline(always)]
fn abs<T: Narrow>(a: T) -> T {
    T::of_bits(a.bits() & 0x7fff)
}

#[inline(always)]
fn neg<T: Narrow>(a: T) -> T {
    T::of_bits(a.bits() ^ 0x8000)
}

/// The smaller one; a number rather than a NaN, -0 rather than +0.
#[inline(always)]
fn min<T: Narrow>(a: T, b: T) -> T {
    let (x, y) = (a.number(), b.number());
    match (x.is_nan(), y.is_nan()) {
        (true, true) => T::of_bits(NAN16),
        (true, false) => b,
        (false, true) => a,
        (false, false) if x == y => T::of_bits(a.bits() | b.bits()),
        (false, false) => {
            if x < y {
                a
            } else {
                b
            }
        }
    }
}

/// The larger one; a number rather than a NaN, +0 rather than -0.
#[inline(always)]
fn max<T: Narrow>(a: T, b: T) -> T {
    let (x, y) = (a.number(), b.number());
    match (x.is_nan(), y.is_nan()) {
        (true, true) => T::of_bits(NAN16),
        (true, false) => b,
        (false, true) => a,
        (false, false) if x == y => T::of_bits(a.bits() & b.bits()),
        (false, false) => {
            if x > y {
                a
            } else {
                b
            }
        }
    }
}

/// `.NaN`: a NaN if either is one.
#[inline(always)]
fn or_nan<T: Narrow>(a: T, b: T, number: T) -> T {
    if a.number().is_nan() || b.number().is_nan() { T::of_bits(NAN16) } else { number }
}

/// Each half by itself.
macro_rules! each {
    ($pair:ident, $single:ident, $($x:ident),+ => $body:expr) => {{
        let low = { $(let $x = $single($x.0 as u16);)+ $body };
        let high = { $(let $x = $single(($x.0 >> 16) as u16);)+ $body };
        $pair(u32::from(high.0) << 16 | u32::from(low.0))
    }};
}

lanes! { ROWS;
    "add{,.rn}.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { add(a, b) }
    "add{,.rn}.sat.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { clamp(add(a, b)) }
    "add{,.rn}.f16x2" (4, 2) 53 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => add(a, b)) }
    "add{,.rn}.bf16" (7, 8) 90 Exact: (a: Brain, b: Brain) -> Brain { add(a, b) }
    "add{,.rn}.bf16x2" (7, 8) 90 Exact: (a: Brains, b: Brains) -> Brains { each!(Brains, Brain, a, b => add(a, b)) }
    "sub{,.rn}.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { sub(a, b) }
    "sub{,.rn}.sat.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { clamp(sub(a, b)) }
    "sub{,.rn}.f16x2" (4, 2) 53 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => sub(a, b)) }
    "sub{,.rn}.bf16" (7, 8) 90 Exact: (a: Brain, b: Brain) -> Brain { sub(a, b) }
    "sub{,.rn}.bf16x2" (7, 8) 90 Exact: (a: Brains, b: Brains) -> Brains { each!(Brains, Brain, a, b => sub(a, b)) }
    "mul{,.rn}.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { mul(a, b) }
    "mul{,.rn}.sat.f16" (4, 2) 53 Exact: (a: Half, b: Half) -> Half { clamp(mul(a, b)) }
    "mul{,.rn}.f16x2" (4, 2) 53 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => mul(a, b)) }
    "mul{,.rn}.bf16" (7, 8) 90 Exact: (a: Brain, b: Brain) -> Brain { mul(a, b) }
    "mul{,.rn}.bf16x2" (7, 8) 90 Exact: (a: Brains, b: Brains) -> Brains { each!(Brains, Brain, a, b => mul(a, b)) }
    "fma.rn.f16" (4, 2) 53 Exact: (a: Half, b: Half, c: Half) -> Half { fma(a, b, c) }
    "fma.rn.sat.f16" (4, 2) 53 Exact: (a: Half, b: Half, c: Half) -> Half { clamp(fma(a, b, c)) }
    "fma.rn.relu.f16" (7, 0) 80 Exact: (a: Half, b: Half, c: Half) -> Half { relu(fma(a, b, c)) }
    "fma.rn.f16x2" (4, 2) 53 Exact: (a: Halves, b: Halves, c: Halves) -> Halves { each!(Halves, Half, a, b, c => fma(a, b, c)) }
    "fma.rn.relu.f16x2" (7, 0) 80 Exact: (a: Halves, b: Halves, c: Halves) -> Halves { each!(Halves, Half, a, b, c => relu(fma(a, b, c))) }
    "fma.rn.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain, c: Brain) -> Brain { fma(a, b, c) }
    "fma.rn.relu.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain, c: Brain) -> Brain { relu(fma(a, b, c)) }
    "fma.rn.bf16x2" (7, 0) 80 Exact: (a: Brains, b: Brains, c: Brains) -> Brains { each!(Brains, Brain, a, b, c => fma(a, b, c)) }
    "fma.rn.relu.bf16x2" (7, 0) 80 Exact: (a: Brains, b: Brains, c: Brains) -> Brains { each!(Brains, Brain, a, b, c => relu(fma(a, b, c))) }
    "abs.f16" (6, 5) 53 Exact: (a: Half) -> Half { abs(a) }
    "abs.f16x2" (6, 5) 53 Exact: (a: Halves) -> Halves { each!(Halves, Half, a => abs(a)) }
    "abs.bf16" (7, 0) 80 Exact: (a: Brain) -> Brain { abs(a) }
    "abs.bf16x2" (7, 0) 80 Exact: (a: Brains) -> Brains { each!(Brains, Brain, a => abs(a)) }
    "neg.f16" (6, 0) 53 Exact: (a: Half) -> Half { neg(a) }
    "neg.f16x2" (6, 0) 53 Exact: (a: Halves) -> Halves { each!(Halves, Half, a => neg(a)) }
    "neg.bf16" (7, 0) 80 Exact: (a: Brain) -> Brain { neg(a) }
    "neg.bf16x2" (7, 0) 80 Exact: (a: Brains) -> Brains { each!(Brains, Brain, a => neg(a)) }
    "min.f16" (7, 0) 80 Exact: (a: Half, b: Half) -> Half { min(a, b) }
    "min.NaN.f16" (7, 0) 80 Exact: (a: Half, b: Half) -> Half { or_nan(a, b, min(a, b)) }
    "min.f16x2" (7, 0) 80 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => min(a, b)) }
    "min.NaN.f16x2" (7, 0) 80 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => or_nan(a, b, min(a, b))) }
    "min.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain) -> Brain { min(a, b) }
    "min.NaN.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain) -> Brain { or_nan(a, b, min(a, b)) }
    "min.bf16x2" (7, 0) 80 Exact: (a: Brains, b: Brains) -> Brains { each!(Brains, Brain, a, b => min(a, b)) }
    "max.f16" (7, 0) 80 Exact: (a: Half, b: Half) -> Half { max(a, b) }
    "max.NaN.f16" (7, 0) 80 Exact: (a: Half, b: Half) -> Half { or_nan(a, b, max(a, b)) }
    "max.f16x2" (7, 0) 80 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => max(a, b)) }
    "max.NaN.f16x2" (7, 0) 80 Exact: (a: Halves, b: Halves) -> Halves { each!(Halves, Half, a, b => or_nan(a, b, max(a, b))) }
    "max.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain) -> Brain { max(a, b) }
    "max.NaN.bf16" (7, 0) 80 Exact: (a: Brain, b: Brain) -> Brain { or_nan(a, b, max(a, b)) }
    "max.bf16x2" (7, 0) 80 Exact: (a: Brains, b: Brains) -> Brains { each!(Brains, Brain, a, b => max(a, b)) }
}
