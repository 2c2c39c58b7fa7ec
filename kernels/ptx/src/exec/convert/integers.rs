//! `cvt` from integers.

use super::{brain_of, half_of, odd};
use crate::exec::lane::{Brain, Half, lanes};
use crate::exec::round::Rounding::{Down, NearestEven, TowardZero, Up};
use crate::exec::round::{f64_of_integer, to_f32};

lanes! { INTEGERS;
    "cvt.u8.{u8,s8,u16,s16,u32,s32}" (1, 0) 10 Exact: (a: u8) -> u8 { a }
    "cvt.u8.{u64,s64}" (1, 0) 10 Exact: (a: u64) -> u8 { a as u8 }
    "cvt.{u16,s16}.u8" (1, 0) 10 Exact: (a: u8) -> u16 { a.into() }
    "cvt.{u16,s16}.s8" (1, 0) 10 Exact: (a: i8) -> i16 { a.into() }
    "cvt.{u16,s16}.{u16,s16,u32,s32}" (1, 0) 10 Exact: (a: u16) -> u16 { a }
    "cvt.{u16,s16}.{u64,s64}" (1, 0) 10 Exact: (a: u64) -> u16 { a as u16 }
    "cvt.{u32,s32}.u8" (1, 0) 10 Exact: (a: u8) -> u32 { a.into() }
    "cvt.{u32,s32}.s8" (1, 0) 10 Exact: (a: i8) -> i32 { a.into() }
    "cvt.{u32,s32}.u16" (1, 0) 10 Exact: (a: u16) -> u32 { a.into() }
    "cvt.{u32,s32}.s16" (1, 0) 10 Exact: (a: i16) -> i32 { a.into() }
    "cvt.{u32,s32}.{u32,s32}" (1, 0) 10 Exact: (a: u32) -> u32 { a }
    "cvt.{u32,s32}.{u64,s64}" (1, 0) 10 Exact: (a: u64) -> u32 { a as u32 }
    "cvt.{u64,s64}.u8" (1, 0) 10 Exact: (a: u8) -> u64 { a.into() }
    "cvt.{u64,s64}.s8" (1, 0) 10 Exact: (a: i8) -> i64 { a.into() }
    "cvt.{u64,s64}.u16" (1, 0) 10 Exact: (a: u16) -> u64 { a.into() }
    "cvt.{u64,s64}.s16" (1, 0) 10 Exact: (a: i16) -> i64 { a.into() }
    "cvt.{u64,s64}.u32" (1, 0) 10 Exact: (a: u32) -> u64 { a.into() }
    "cvt.{u64,s64}.s32" (1, 0) 10 Exact: (a: i32) -> i64 { a.into() }
    "cvt.{u64,s64}.{u64,s64}" (1, 0) 10 Exact: (a: u64) -> u64 { a }
    "cvt.sat.u8.u16" (1, 0) 10 Exact: (a: u16) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u8.s16" (1, 0) 10 Exact: (a: i16) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u8.u32" (1, 0) 10 Exact: (a: u32) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u8.s32" (1, 0) 10 Exact: (a: i32) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u8.u64" (1, 0) 10 Exact: (a: u64) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u8.s64" (1, 0) 10 Exact: (a: i64) -> u8 { i128::from(a).clamp(u8::MIN.into(), u8::MAX.into()) as u8 }
    "cvt.sat.u16.s16" (1, 0) 10 Exact: (a: i16) -> u16 { i128::from(a).clamp(u16::MIN.into(), u16::MAX.into()) as u16 }
    "cvt.sat.u16.u32" (1, 0) 10 Exact: (a: u32) -> u16 { i128::from(a).clamp(u16::MIN.into(), u16::MAX.into()) as u16 }
    "cvt.sat.u16.s32" (1, 0) 10 Exact: (a: i32) -> u16 { i128::from(a).clamp(u16::MIN.into(), u16::MAX.into()) as u16 }
    "cvt.sat.u16.u64" (1, 0) 10 Exact: (a: u64) -> u16 { i128::from(a).clamp(u16::MIN.into(), u16::MAX.into()) as u16 }
    "cvt.sat.u16.s64" (1, 0) 10 Exact: (a: i64) -> u16 { i128::from(a).clamp(u16::MIN.into(), u16::MAX.into()) as u16 }
    "cvt.sat.s16.u16" (1, 0) 10 Exact: (a: u16) -> i16 { i128::from(a).clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    "cvt.sat.s16.u32" (1, 0) 10 Exact: (a: u32) -> i16 { i128::from(a).clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    "cvt.sat.s16.s32" (1, 0) 10 Exact: (a: i32) -> i16 { i128::from(a).clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    "cvt.sat.s16.u64" (1, 0) 10 Exact: (a: u64) -> i16 { i128::from(a).clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    "cvt.sat.s16.s64" (1, 0) 10 Exact: (a: i64) -> i16 { i128::from(a).clamp(i16::MIN.into(), i16::MAX.into()) as i16 }
    "cvt.sat.u32.s16" (1, 0) 10 Exact: (a: i16) -> u32 { i128::from(a).clamp(u32::MIN.into(), u32::MAX.into()) as u32 }
    "cvt.sat.u32.s32" (1, 0) 10 Exact: (a: i32) -> u32 { i128::from(a).clamp(u32::MIN.into(), u32::MAX.into()) as u32 }
    "cvt.sat.u32.u64" (1, 0) 10 Exact: (a: u64) -> u32 { i128::from(a).clamp(u32::MIN.into(), u32::MAX.into()) as u32 }
    "cvt.sat.u32.s64" (1, 0) 10 Exact: (a: i64) -> u32 { i128::from(a).clamp(u32::MIN.into(), u32::MAX.into()) as u32 }
    "cvt.sat.s32.u32" (1, 0) 10 Exact: (a: u32) -> i32 { i128::from(a).clamp(i32::MIN.into(), i32::MAX.into()) as i32 }
    "cvt.sat.s32.u64" (1, 0) 10 Exact: (a: u64) -> i32 { i128::from(a).clamp(i32::MIN.into(), i32::MAX.into()) as i32 }
    "cvt.sat.s32.s64" (1, 0) 10 Exact: (a: i64) -> i32 { i128::from(a).clamp(i32::MIN.into(), i32::MAX.into()) as i32 }
    "cvt.sat.u64.s16" (1, 0) 10 Exact: (a: i16) -> u64 { i128::from(a).clamp(u64::MIN.into(), u64::MAX.into()) as u64 }
    "cvt.sat.u64.s32" (1, 0) 10 Exact: (a: i32) -> u64 { i128::from(a).clamp(u64::MIN.into(), u64::MAX.into()) as u64 }
    "cvt.sat.u64.s64" (1, 0) 10 Exact: (a: i64) -> u64 { i128::from(a).clamp(u64::MIN.into(), u64::MAX.into()) as u64 }
    "cvt.sat.s64.u64" (1, 0) 10 Exact: (a: u64) -> i64 { i128::from(a).clamp(i64::MIN.into(), i64::MAX.into()) as i64 }
}

lanes! { TO_FLOAT;
    "cvt.{rn,rz,rm,rp}.f32.u8" (1, 0) 10 Exact: (a: u8) -> f32 { a.into() }
    "cvt.{rn,rz,rm,rp}.f32.s8" (1, 0) 10 Exact: (a: i8) -> f32 { a.into() }
    "cvt.{rn,rz,rm,rp}.f32.u16" (1, 0) 10 Exact: (a: u16) -> f32 { a.into() }
    "cvt.{rn,rz,rm,rp}.f32.s16" (1, 0) 10 Exact: (a: i16) -> f32 { a.into() }
    "cvt.rn.f32.u32" (1, 0) 10 Exact: (a: u32) -> f32 { a as f32 }
    "cvt.rz.f32.u32" (1, 0) 10 Exact: (a: u32) -> f32 { to_f32(a.into(), TowardZero) }
    "cvt.rm.f32.u32" (1, 0) 10 Exact: (a: u32) -> f32 { to_f32(a.into(), Down) }
    "cvt.rp.f32.u32" (1, 0) 10 Exact: (a: u32) -> f32 { to_f32(a.into(), Up) }
    "cvt.rn.f32.s32" (1, 0) 10 Exact: (a: i32) -> f32 { a as f32 }
    "cvt.rz.f32.s32" (1, 0) 10 Exact: (a: i32) -> f32 { to_f32(a.into(), TowardZero) }
    "cvt.rm.f32.s32" (1, 0) 10 Exact: (a: i32) -> f32 { to_f32(a.into(), Down) }
    "cvt.rp.f32.s32" (1, 0) 10 Exact: (a: i32) -> f32 { to_f32(a.into(), Up) }
    "cvt.rn.f32.u64" (1, 0) 10 Exact: (a: u64) -> f32 { a as f32 }
    "cvt.rz.f32.u64" (1, 0) 10 Exact: (a: u64) -> f32 { to_f32(odd(a.into()), TowardZero) }
    "cvt.rm.f32.u64" (1, 0) 10 Exact: (a: u64) -> f32 { to_f32(odd(a.into()), Down) }
    "cvt.rp.f32.u64" (1, 0) 10 Exact: (a: u64) -> f32 { to_f32(odd(a.into()), Up) }
    "cvt.rn.f32.s64" (1, 0) 10 Exact: (a: i64) -> f32 { a as f32 }
    "cvt.rz.f32.s64" (1, 0) 10 Exact: (a: i64) -> f32 { to_f32(odd(a.into()), TowardZero) }
    "cvt.rm.f32.s64" (1, 0) 10 Exact: (a: i64) -> f32 { to_f32(odd(a.into()), Down) }
    "cvt.rp.f32.s64" (1, 0) 10 Exact: (a: i64) -> f32 { to_f32(odd(a.into()), Up) }
    "cvt.{rn,rz,rm,rp}.f64.u8" (1, 0) 13 Exact: (a: u8) -> f64 { a.into() }
    "cvt.{rn,rz,rm,rp}.f64.s8" (1, 0) 13 Exact: (a: i8) -> f64 { a.into() }
    "cvt.{rn,rz,rm,rp}.f64.u16" (1, 0) 13 Exact: (a: u16) -> f64 { a.into() }
    "cvt.{rn,rz,rm,rp}.f64.s16" (1, 0) 13 Exact: (a: i16) -> f64 { a.into() }
    "cvt.{rn,rz,rm,rp}.f64.u32" (1, 0) 13 Exact: (a: u32) -> f64 { a.into() }
    "cvt.{rn,rz,rm,rp}.f64.s32" (1, 0) 13 Exact: (a: i32) -> f64 { a.into() }
    "cvt.rn.f64.u64" (1, 0) 13 Exact: (a: u64) -> f64 { a as f64 }
    "cvt.rz.f64.u64" (1, 0) 13 Exact: (a: u64) -> f64 { f64_of_integer(a.into(), TowardZero) }
    "cvt.rm.f64.u64" (1, 0) 13 Exact: (a: u64) -> f64 { f64_of_integer(a.into(), Down) }
    "cvt.rp.f64.u64" (1, 0) 13 Exact: (a: u64) -> f64 { f64_of_integer(a.into(), Up) }
    "cvt.rn.f64.s64" (1, 0) 13 Exact: (a: i64) -> f64 { a as f64 }
    "cvt.rz.f64.s64" (1, 0) 13 Exact: (a: i64) -> f64 { f64_of_integer(a.into(), TowardZero) }
    "cvt.rm.f64.s64" (1, 0) 13 Exact: (a: i64) -> f64 { f64_of_integer(a.into(), Down) }
    "cvt.rp.f64.s64" (1, 0) 13 Exact: (a: i64) -> f64 { f64_of_integer(a.into(), Up) }
    "cvt.rn.f16.u8" (4, 2) 53 Exact: (a: u8) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.u8" (4, 2) 53 Exact: (a: u8) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.u8" (4, 2) 53 Exact: (a: u8) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.u8" (4, 2) 53 Exact: (a: u8) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.s8" (4, 2) 53 Exact: (a: i8) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.s8" (4, 2) 53 Exact: (a: i8) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.s8" (4, 2) 53 Exact: (a: i8) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.s8" (4, 2) 53 Exact: (a: i8) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.u16" (4, 2) 53 Exact: (a: u16) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.u16" (4, 2) 53 Exact: (a: u16) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.u16" (4, 2) 53 Exact: (a: u16) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.u16" (4, 2) 53 Exact: (a: u16) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.s16" (4, 2) 53 Exact: (a: i16) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.s16" (4, 2) 53 Exact: (a: i16) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.s16" (4, 2) 53 Exact: (a: i16) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.s16" (4, 2) 53 Exact: (a: i16) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.u32" (4, 2) 53 Exact: (a: u32) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.u32" (4, 2) 53 Exact: (a: u32) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.u32" (4, 2) 53 Exact: (a: u32) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.u32" (4, 2) 53 Exact: (a: u32) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.s32" (4, 2) 53 Exact: (a: i32) -> Half { half_of(a.into(), NearestEven) }
    "cvt.rz.f16.s32" (4, 2) 53 Exact: (a: i32) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.s32" (4, 2) 53 Exact: (a: i32) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.s32" (4, 2) 53 Exact: (a: i32) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.u64" (4, 2) 53 Exact: (a: u64) -> Half { half_of(odd(a.into()), NearestEven) }
    "cvt.rz.f16.u64" (4, 2) 53 Exact: (a: u64) -> Half { half_of(odd(a.into()), TowardZero) }
    "cvt.rm.f16.u64" (4, 2) 53 Exact: (a: u64) -> Half { half_of(odd(a.into()), Down) }
    "cvt.rp.f16.u64" (4, 2) 53 Exact: (a: u64) -> Half { half_of(odd(a.into()), Up) }
    "cvt.rn.f16.s64" (4, 2) 53 Exact: (a: i64) -> Half { half_of(odd(a.into()), NearestEven) }
    "cvt.rz.f16.s64" (4, 2) 53 Exact: (a: i64) -> Half { half_of(odd(a.into()), TowardZero) }
    "cvt.rm.f16.s64" (4, 2) 53 Exact: (a: i64) -> Half { half_of(odd(a.into()), Down) }
    "cvt.rp.f16.s64" (4, 2) 53 Exact: (a: i64) -> Half { half_of(odd(a.into()), Up) }
    "cvt.rn.bf16.u16" (7, 8) 90 Exact: (a: u16) -> Brain { brain_of(a.into(), NearestEven) }
    "cvt.rn.bf16.s16" (7, 8) 90 Exact: (a: i16) -> Brain { brain_of(a.into(), NearestEven) }
    "cvt.rn.bf16.u32" (7, 8) 90 Exact: (a: u32) -> Brain { brain_of(a.into(), NearestEven) }
    "cvt.rn.bf16.s32" (7, 8) 90 Exact: (a: i32) -> Brain { brain_of(a.into(), NearestEven) }
}
