//! Arithmetic of f32 and f64. Nearest even is the host's; the other roundings are exact (see `round`).
//!
//! A NaN of f32 is 0x7fffffff, also from `abs` and `neg`. Of f64 PTX leaves the bits of a NaN open: an operand that is one goes on, quiet, as
//! on an H100 (`tests/silicon`); `abs` and `neg` of f64 change the sign and nothing else.

use super::lane::lanes;
use super::round::Rounding::{Down, TowardZero, Up};
use super::round::{
    NAN32, add_f32, add_f64, div_f32, flush, fma_f32, fma_f64, mul_f32, mul_f64, quiet, quiet64, saturate,
    sqrt_f32,
};

/// The smaller one; a number rather than a NaN, -0 rather than +0.
#[inline(always)]
fn min32(a: f32, b: f32) -> f32 {
    let zeros = f32::from_bits(a.to_bits() | b.to_bits());
    let less = if a < b { a } else { b };
    let number = if a == b { zeros } else { less };
    let with_nan = if a.is_nan() { b } else { a };
    quiet(if a.is_nan() | b.is_nan() { with_nan } else { number })
}

/// The larger one; a number rather than a NaN, +0 rather than -0.
#[inline(always)]
fn max32(a: f32, b: f32) -> f32 {
    let zeros = f32::from_bits(a.to_bits() & b.to_bits());
    let more = if a > b { a } else { b };
    let number = if a == b { zeros } else { more };
    let with_nan = if a.is_nan() { b } else { a };
    quiet(if a.is_nan() | b.is_nan() { with_nan } else { number })
}

/// `.NaN`: a NaN if either is one.
#[inline(always)]
fn or_nan(a: f32, b: f32, number: f32) -> f32 {
    if a.is_nan() | b.is_nan() { f32::from_bits(NAN32) } else { number }
}

#[inline(always)]
fn min64(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, false) => b,
        (false, true) => a,
        (true, true) => quiet64(a, [a, b, 0.0]),
        (false, false) if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
        (false, false) => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

#[inline(always)]
fn max64(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, false) => b,
        (false, true) => a,
        (true, true) => quiet64(a, [a, b, 0.0]),
        (false, false) if a == b => f64::from_bits(a.to_bits() & b.to_bits()),
        (false, false) => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

#[inline(always)]
fn abs32(a: f32) -> f32 {
    quiet(f32::from_bits(a.to_bits() & 0x7fff_ffff))
}

#[inline(always)]
fn neg32(a: f32) -> f32 {
    quiet(f32::from_bits(a.to_bits() ^ 0x8000_0000))
}

lanes! { ROWS;
    "add{,.rn}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(a + b) }
    "add{,.rn}.ftz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) + flush(b))) }
    "add{,.rn}.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(a + b) }
    "add{,.rn}.ftz.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(flush(flush(a) + flush(b))) }
    "add{,.rn}.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { quiet64(a + b, [a, b, 0.0]) }
    "sub{,.rn}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(a - b) }
    "sub{,.rn}.ftz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) - flush(b))) }
    "sub{,.rn}.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(a - b) }
    "sub{,.rn}.ftz.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(flush(flush(a) - flush(b))) }
    "sub{,.rn}.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { quiet64(a - b, [a, b, 0.0]) }
    "mul{,.rn}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(a * b) }
    "mul{,.rn}.ftz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) * flush(b))) }
    "mul{,.rn}.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(a * b) }
    "mul{,.rn}.ftz.sat.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { saturate(flush(flush(a) * flush(b))) }
    "mul{,.rn}.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { quiet64(a * b, [a, b, 0.0]) }
    "{fma,mad}.rn.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { quiet(a.mul_add(b, c)) }
    "{fma,mad}.rn.ftz.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { quiet(flush(flush(a).mul_add(flush(b), flush(c)))) }
    "{fma,mad}.rn.sat.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { saturate(a.mul_add(b, c)) }
    "{fma,mad}.rn.ftz.sat.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { saturate(flush(flush(a).mul_add(flush(b), flush(c)))) }
    "{fma,mad}.rn.f64" (1, 4) 13 Exact: (a: f64, b: f64, c: f64) -> f64 { quiet64(a.mul_add(b, c), [a, b, c]) }
    "div.rn.f32" (1, 4) 20 Exact: (a: f32, b: f32) -> f32 { quiet(a / b) }
    "div.rn.ftz.f32" (1, 4) 20 Exact: (a: f32, b: f32) -> f32 { quiet(flush(flush(a) / flush(b))) }
    "div.rn.f64" (1, 4) 13 Exact: (a: f64, b: f64) -> f64 { quiet64(a / b, [b, a, 0.0]) }
    "rcp.rn.f32" (1, 4) 20 Exact: (a: f32) -> f32 { quiet(1.0 / a) }
    "rcp.rn.ftz.f32" (1, 4) 20 Exact: (a: f32) -> f32 { quiet(flush(1.0 / flush(a))) }
    "rcp.rn.f64" (1, 4) 13 Exact: (a: f64) -> f64 { quiet64(1.0 / a, [a, 0.0, 0.0]) }
    "sqrt.rn.f32" (1, 4) 20 Exact: (a: f32) -> f32 { quiet(a.sqrt()) }
    "sqrt.rn.ftz.f32" (1, 4) 20 Exact: (a: f32) -> f32 { quiet(flush(a).sqrt()) }
    "sqrt.rn.f64" (1, 4) 13 Exact: (a: f64) -> f64 { quiet64(a.sqrt(), [a, 0.0, 0.0]) }
    "abs.f32" (1, 0) 10 Exact: (a: f32) -> f32 { abs32(a) }
    "abs.ftz.f32" (1, 0) 10 Exact: (a: f32) -> f32 { abs32(flush(a)) }
    "abs.f64" (1, 0) 13 Exact: (a: f64) -> f64 { f64::from_bits(a.to_bits() & !(1 << 63)) }
    "neg.f32" (1, 0) 10 Exact: (a: f32) -> f32 { neg32(a) }
    "neg.ftz.f32" (1, 0) 10 Exact: (a: f32) -> f32 { neg32(flush(a)) }
    "neg.f64" (1, 0) 13 Exact: (a: f64) -> f64 { f64::from_bits(a.to_bits() ^ 1 << 63) }
    "min.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { min32(a, b) }
    "min.ftz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { min32(flush(a), flush(b)) }
    "min.NaN.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> f32 { or_nan(a, b, min32(a, b)) }
    "min.ftz.NaN.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> f32 { or_nan(a, b, min32(flush(a), flush(b))) }
    "min.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { min64(a, b) }
    "max.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { max32(a, b) }
    "max.ftz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { max32(flush(a), flush(b)) }
    "max.NaN.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> f32 { or_nan(a, b, max32(a, b)) }
    "max.ftz.NaN.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> f32 { or_nan(a, b, max32(flush(a), flush(b))) }
    "max.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { max64(a, b) }
    // The sign is that of the first, the rest that of the second.
    "copysign.f32" (2, 0) 20 Exact: (a: f32, b: f32) -> f32 { b.copysign(a) }
    "copysign.f64" (2, 0) 20 Exact: (a: f64, b: f64) -> f64 { b.copysign(a) }
    "testp.finite.f32" (2, 0) 20 Exact: (a: f32) -> bool { a.is_finite() }
    "testp.infinite.f32" (2, 0) 20 Exact: (a: f32) -> bool { a.is_infinite() }
    "testp.number.f32" (2, 0) 20 Exact: (a: f32) -> bool { !a.is_nan() }
    "testp.notanumber.f32" (2, 0) 20 Exact: (a: f32) -> bool { a.is_nan() }
    "testp.normal.f32" (2, 0) 20 Exact: (a: f32) -> bool { a.is_normal() }
    "testp.subnormal.f32" (2, 0) 20 Exact: (a: f32) -> bool { a.is_subnormal() }
    "testp.finite.f64" (2, 0) 20 Exact: (a: f64) -> bool { a.is_finite() }
    "testp.infinite.f64" (2, 0) 20 Exact: (a: f64) -> bool { a.is_infinite() }
    "testp.number.f64" (2, 0) 20 Exact: (a: f64) -> bool { !a.is_nan() }
    "testp.notanumber.f64" (2, 0) 20 Exact: (a: f64) -> bool { a.is_nan() }
    "testp.normal.f64" (2, 0) 20 Exact: (a: f64) -> bool { a.is_normal() }
    "testp.subnormal.f64" (2, 0) 20 Exact: (a: f64) -> bool { a.is_subnormal() }
}

lanes! { ROUNDED;
    "add.rz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { add_f32(a, b, TowardZero) }
    "add.rm.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { add_f32(a, b, Down) }
    "add.rp.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { add_f32(a, b, Up) }
    "add.rz.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { add_f64(a, b, TowardZero) }
    "add.rm.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { add_f64(a, b, Down) }
    "add.rp.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { add_f64(a, b, Up) }
    "sub.rz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { add_f32(a, neg32(b), TowardZero) }
    "sub.rm.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { add_f32(a, neg32(b), Down) }
    "sub.rp.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { add_f32(a, neg32(b), Up) }
    "mul.rz.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { mul_f32(a, b, TowardZero) }
    "mul.rm.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { mul_f32(a, b, Down) }
    "mul.rp.f32" (1, 0) 20 Exact: (a: f32, b: f32) -> f32 { mul_f32(a, b, Up) }
    "mul.rz.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { mul_f64(a, b, TowardZero) }
    "mul.rm.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { mul_f64(a, b, Down) }
    "mul.rp.f64" (1, 0) 13 Exact: (a: f64, b: f64) -> f64 { mul_f64(a, b, Up) }
    "fma.rz.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { fma_f32(a, b, c, TowardZero) }
    "fma.rm.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { fma_f32(a, b, c, Down) }
    "fma.rp.f32" (2, 0) 20 Exact: (a: f32, b: f32, c: f32) -> f32 { fma_f32(a, b, c, Up) }
    "fma.rz.f64" (1, 4) 13 Exact: (a: f64, b: f64, c: f64) -> f64 { fma_f64(a, b, c, TowardZero) }
    "fma.rm.f64" (1, 4) 13 Exact: (a: f64, b: f64, c: f64) -> f64 { fma_f64(a, b, c, Down) }
    "fma.rp.f64" (1, 4) 13 Exact: (a: f64, b: f64, c: f64) -> f64 { fma_f64(a, b, c, Up) }
    "div.rz.f32" (1, 4) 20 Exact: (a: f32, b: f32) -> f32 { div_f32(a, b, TowardZero) }
    "div.rm.f32" (1, 4) 20 Exact: (a: f32, b: f32) -> f32 { div_f32(a, b, Down) }
    "div.rp.f32" (1, 4) 20 Exact: (a: f32, b: f32) -> f32 { div_f32(a, b, Up) }
    "rcp.rz.f32" (1, 4) 20 Exact: (a: f32) -> f32 { div_f32(1.0, a, TowardZero) }
    "rcp.rm.f32" (1, 4) 20 Exact: (a: f32) -> f32 { div_f32(1.0, a, Down) }
    "rcp.rp.f32" (1, 4) 20 Exact: (a: f32) -> f32 { div_f32(1.0, a, Up) }
    "sqrt.rz.f32" (1, 4) 20 Exact: (a: f32) -> f32 { sqrt_f32(a, TowardZero) }
    "sqrt.rm.f32" (1, 4) 20 Exact: (a: f32) -> f32 { sqrt_f32(a, Down) }
    "sqrt.rp.f32" (1, 4) 20 Exact: (a: f32) -> f32 { sqrt_f32(a, Up) }
}
