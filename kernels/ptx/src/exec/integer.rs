//! Arithmetic of integers. Everything wraps that does not say `.sat`.
//!
//! PTX leaves a division by zero open; the GPU returns all ones for the quotient and for the remainder, and so do these.

use super::lane::lanes;

/// The low 24 bits, sign and all.
#[inline(always)]
fn signed24(x: i32) -> i64 {
    i64::from(x << 8 >> 8)
}

/// The low 24 bits.
#[inline(always)]
fn low24(x: u32) -> u64 {
    u64::from(x & 0xff_ffff)
}

macro_rules! divide {
    ($name:ident, $remainder:ident, $type:ty) => {
        #[inline(always)]
        fn $name(a: $type, b: $type) -> $type {
            if b == 0 { !0 } else { a.wrapping_div(b) }
        }

        #[inline(always)]
        fn $remainder(a: $type, b: $type) -> $type {
            if b == 0 { !0 } else { a.wrapping_rem(b) }
        }
    };
}

divide!(div_u16, rem_u16, u16);
divide!(div_i16, rem_i16, i16);
divide!(div_u32, rem_u32, u32);
divide!(div_i32, rem_i32, i32);
divide!(div_u64, rem_u64, u64);
divide!(div_i64, rem_i64, i64);

lanes! { ROWS;
    "add.{s16,u16}" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    "add.{s32,u32}" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.wrapping_add(b) }
    "add.{s64,u64}" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a.wrapping_add(b) }
    "add.sat.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { a.saturating_add(b) }
    "sub.{s16,u16}" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    "sub.{s32,u32}" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.wrapping_sub(b) }
    "sub.{s64,u64}" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a.wrapping_sub(b) }
    "sub.sat.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { a.saturating_sub(b) }
    "mul.lo.{s16,u16}" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a.wrapping_mul(b) }
    "mul.lo.{s32,u32}" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.wrapping_mul(b) }
    "mul.lo.{s64,u64}" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a.wrapping_mul(b) }
    "mul.hi.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i16 { ((i32::from(a) * i32::from(b)) >> 16) as i16 }
    "mul.hi.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { ((u32::from(a) * u32::from(b)) >> 16) as u16 }
    "mul.hi.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { ((i64::from(a) * i64::from(b)) >> 32) as i32 }
    "mul.hi.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ((u64::from(a) * u64::from(b)) >> 32) as u32 }
    "mul.hi.s64" (1, 0) 10 Exact: (a: i64, b: i64) -> i64 { ((i128::from(a) * i128::from(b)) >> 64) as i64 }
    "mul.hi.u64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { ((u128::from(a) * u128::from(b)) >> 64) as u64 }
    "mul.wide.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i32 { i32::from(a) * i32::from(b) }
    "mul.wide.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u32 { u32::from(a) * u32::from(b) }
    "mul.wide.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i64 { i64::from(a) * i64::from(b) }
    "mul.wide.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u64 { u64::from(a) * u64::from(b) }
    "mul24.lo.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { (signed24(a) * signed24(b)) as i32 }
    "mul24.lo.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { (low24(a) * low24(b)) as u32 }
    "mul24.hi.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { ((signed24(a) * signed24(b)) >> 16) as i32 }
    "mul24.hi.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ((low24(a) * low24(b)) >> 16) as u32 }
    "mad.lo.{s16,u16}" (1, 0) 10 Exact: (a: u16, b: u16, c: u16) -> u16 { a.wrapping_mul(b).wrapping_add(c) }
    "mad.lo.{s32,u32}" (1, 0) 10 Exact: (a: u32, b: u32, c: u32) -> u32 { a.wrapping_mul(b).wrapping_add(c) }
    "mad.lo.{s64,u64}" (1, 0) 10 Exact: (a: u64, b: u64, c: u64) -> u64 { a.wrapping_mul(b).wrapping_add(c) }
    "mad.hi.s16" (1, 0) 10 Exact: (a: i16, b: i16, c: i16) -> i16 { (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c) }
    "mad.hi.u16" (1, 0) 10 Exact: (a: u16, b: u16, c: u16) -> u16 { (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c) }
    "mad.hi.s32" (1, 0) 10 Exact: (a: i32, b: i32, c: i32) -> i32 { (((i64::from(a) * i64::from(b)) >> 32) as i32).wrapping_add(c) }
    "mad.hi.u32" (1, 0) 10 Exact: (a: u32, b: u32, c: u32) -> u32 { (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c) }
    "mad.hi.sat.s32" (1, 0) 10 Exact: (a: i32, b: i32, c: i32) -> i32 { (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c) }
    "mad.hi.s64" (1, 0) 10 Exact: (a: i64, b: i64, c: i64) -> i64 { (((i128::from(a) * i128::from(b)) >> 64) as i64).wrapping_add(c) }
    "mad.hi.u64" (1, 0) 10 Exact: (a: u64, b: u64, c: u64) -> u64 { (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c) }
    "mad.wide.s16" (1, 0) 10 Exact: (a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    "mad.wide.u16" (1, 0) 10 Exact: (a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    "mad.wide.s32" (1, 0) 10 Exact: (a: i32, b: i32, c: i64) -> i64 { (i64::from(a) * i64::from(b)).wrapping_add(c) }
    "mad.wide.u32" (1, 0) 10 Exact: (a: u32, b: u32, c: u64) -> u64 { (u64::from(a) * u64::from(b)).wrapping_add(c) }
    "mad24.lo.s32" (1, 0) 10 Exact: (a: i32, b: i32, c: i32) -> i32 { ((signed24(a) * signed24(b)) as i32).wrapping_add(c) }
    "mad24.lo.u32" (1, 0) 10 Exact: (a: u32, b: u32, c: u32) -> u32 { ((low24(a) * low24(b)) as u32).wrapping_add(c) }
    "sad.s32" (1, 0) 10 Exact: (a: i32, b: i32, c: i32) -> i32 { (a.abs_diff(b) as i32).wrapping_add(c) }
    "sad.u32" (1, 0) 10 Exact: (a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) }
    "div.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i16 { div_i16(a, b) }
    "div.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { div_u16(a, b) }
    "div.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { div_i32(a, b) }
    "div.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { div_u32(a, b) }
    "div.s64" (1, 0) 10 Exact: (a: i64, b: i64) -> i64 { div_i64(a, b) }
    "div.u64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { div_u64(a, b) }
    "rem.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i16 { rem_i16(a, b) }
    "rem.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { rem_u16(a, b) }
    "rem.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { rem_i32(a, b) }
    "rem.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { rem_u32(a, b) }
    "rem.s64" (1, 0) 10 Exact: (a: i64, b: i64) -> i64 { rem_i64(a, b) }
    "rem.u64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { rem_u64(a, b) }
    "abs.s16" (1, 0) 10 Exact: (a: i16) -> i16 { a.wrapping_abs() }
    "abs.s32" (1, 0) 10 Exact: (a: i32) -> i32 { a.wrapping_abs() }
    "abs.s64" (1, 0) 10 Exact: (a: i64) -> i64 { a.wrapping_abs() }
    "neg.s16" (1, 0) 10 Exact: (a: i16) -> i16 { a.wrapping_neg() }
    "neg.s32" (1, 0) 10 Exact: (a: i32) -> i32 { a.wrapping_neg() }
    "neg.s64" (1, 0) 10 Exact: (a: i64) -> i64 { a.wrapping_neg() }
    "min.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i16 { a.min(b) }
    "min.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a.min(b) }
    "min.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { a.min(b) }
    "min.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.min(b) }
    "min.s64" (1, 0) 10 Exact: (a: i64, b: i64) -> i64 { a.min(b) }
    "min.u64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a.min(b) }
    "max.s16" (1, 0) 10 Exact: (a: i16, b: i16) -> i16 { a.max(b) }
    "max.u16" (1, 0) 10 Exact: (a: u16, b: u16) -> u16 { a.max(b) }
    "max.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> i32 { a.max(b) }
    "max.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { a.max(b) }
    "max.s64" (1, 0) 10 Exact: (a: i64, b: i64) -> i64 { a.max(b) }
    "max.u64" (1, 0) 10 Exact: (a: u64, b: u64) -> u64 { a.max(b) }
}
