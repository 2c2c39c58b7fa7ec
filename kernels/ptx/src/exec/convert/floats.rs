//! `cvt` from floats.

use super::{
    bf16_of, brain_number, brain_of, double_of, f16_of, half_of, narrow, number, relu, single_of, tf32_away,
};
use super::{i16_of_f64, i32_of_f64, i64_of_f32, i64_of_f64, u16_of_f64, u32_of_f64, u64_of_f32, u64_of_f64};
use crate::exec::lane::{Brain, Brains, Half, Halves, lanes};
use crate::exec::round::Rounding::{Down, NearestEven, TowardZero, Up};
use crate::exec::round::{flush, quiet, quiet64, saturate, saturate64};
use sparse_oracle::scalar::Precision;

lanes! { TO_INTEGER;
    "cvt.rni.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { a.round_ties_even() as u16 }
    "cvt.rni.ftz.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { flush(a).round_ties_even() as u16 }
    "cvt.rni.u16.f64" (1, 0) 13 Exact: (a: f64) -> u16 { u16_of_f64(a.round_ties_even()) }
    "cvt.rni.u16.f16" (4, 2) 53 Exact: (a: Half) -> u16 { number(a).round_ties_even() as u16 }
    "cvt.rni.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { a.round_ties_even() as i16 }
    "cvt.rni.ftz.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { flush(a).round_ties_even() as i16 }
    "cvt.rni.s16.f64" (1, 0) 13 Exact: (a: f64) -> i16 { i16_of_f64(a.round_ties_even()) }
    "cvt.rni.s16.f16" (4, 2) 53 Exact: (a: Half) -> i16 { number(a).round_ties_even() as i16 }
    "cvt.rni.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { a.round_ties_even() as u32 }
    "cvt.rni.ftz.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { flush(a).round_ties_even() as u32 }
    "cvt.rni.u32.f64" (1, 0) 13 Exact: (a: f64) -> u32 { u32_of_f64(a.round_ties_even()) }
    "cvt.rni.u32.f16" (4, 2) 53 Exact: (a: Half) -> u32 { number(a).round_ties_even() as u32 }
    "cvt.rni.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { a.round_ties_even() as i32 }
    "cvt.rni.ftz.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { flush(a).round_ties_even() as i32 }
    "cvt.rni.s32.f64" (1, 0) 13 Exact: (a: f64) -> i32 { i32_of_f64(a.round_ties_even()) }
    "cvt.rni.s32.f16" (4, 2) 53 Exact: (a: Half) -> i32 { number(a).round_ties_even() as i32 }
    "cvt.rni.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(a.round_ties_even()) }
    "cvt.rni.ftz.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(flush(a).round_ties_even()) }
    "cvt.rni.u64.f64" (1, 0) 13 Exact: (a: f64) -> u64 { u64_of_f64(a.round_ties_even()) }
    "cvt.rni.u64.f16" (4, 2) 53 Exact: (a: Half) -> u64 { u64_of_f32(number(a).round_ties_even()) }
    "cvt.rni.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(a.round_ties_even()) }
    "cvt.rni.ftz.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(flush(a).round_ties_even()) }
    "cvt.rni.s64.f64" (1, 0) 13 Exact: (a: f64) -> i64 { i64_of_f64(a.round_ties_even()) }
    "cvt.rni.s64.f16" (4, 2) 53 Exact: (a: Half) -> i64 { i64_of_f32(number(a).round_ties_even()) }
    "cvt.rzi.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { a.trunc() as u16 }
    "cvt.rzi.ftz.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { flush(a).trunc() as u16 }
    "cvt.rzi.u16.f64" (1, 0) 13 Exact: (a: f64) -> u16 { u16_of_f64(a.trunc()) }
    "cvt.rzi.u16.f16" (4, 2) 53 Exact: (a: Half) -> u16 { number(a).trunc() as u16 }
    "cvt.rzi.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { a.trunc() as i16 }
    "cvt.rzi.ftz.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { flush(a).trunc() as i16 }
    "cvt.rzi.s16.f64" (1, 0) 13 Exact: (a: f64) -> i16 { i16_of_f64(a.trunc()) }
    "cvt.rzi.s16.f16" (4, 2) 53 Exact: (a: Half) -> i16 { number(a).trunc() as i16 }
    "cvt.rzi.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { a.trunc() as u32 }
    "cvt.rzi.ftz.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { flush(a).trunc() as u32 }
    "cvt.rzi.u32.f64" (1, 0) 13 Exact: (a: f64) -> u32 { u32_of_f64(a.trunc()) }
    "cvt.rzi.u32.f16" (4, 2) 53 Exact: (a: Half) -> u32 { number(a).trunc() as u32 }
    "cvt.rzi.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { a.trunc() as i32 }
    "cvt.rzi.ftz.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { flush(a).trunc() as i32 }
    "cvt.rzi.s32.f64" (1, 0) 13 Exact: (a: f64) -> i32 { i32_of_f64(a.trunc()) }
    "cvt.rzi.s32.f16" (4, 2) 53 Exact: (a: Half) -> i32 { number(a).trunc() as i32 }
    "cvt.rzi.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(a.trunc()) }
    "cvt.rzi.ftz.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(flush(a).trunc()) }
    "cvt.rzi.u64.f64" (1, 0) 13 Exact: (a: f64) -> u64 { u64_of_f64(a.trunc()) }
    "cvt.rzi.u64.f16" (4, 2) 53 Exact: (a: Half) -> u64 { u64_of_f32(number(a).trunc()) }
    "cvt.rzi.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(a.trunc()) }
    "cvt.rzi.ftz.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(flush(a).trunc()) }
    "cvt.rzi.s64.f64" (1, 0) 13 Exact: (a: f64) -> i64 { i64_of_f64(a.trunc()) }
    "cvt.rzi.s64.f16" (4, 2) 53 Exact: (a: Half) -> i64 { i64_of_f32(number(a).trunc()) }
    "cvt.rmi.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { a.floor() as u16 }
    "cvt.rmi.ftz.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { flush(a).floor() as u16 }
    "cvt.rmi.u16.f64" (1, 0) 13 Exact: (a: f64) -> u16 { u16_of_f64(a.floor()) }
    "cvt.rmi.u16.f16" (4, 2) 53 Exact: (a: Half) -> u16 { number(a).floor() as u16 }
    "cvt.rmi.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { a.floor() as i16 }
    "cvt.rmi.ftz.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { flush(a).floor() as i16 }
    "cvt.rmi.s16.f64" (1, 0) 13 Exact: (a: f64) -> i16 { i16_of_f64(a.floor()) }
    "cvt.rmi.s16.f16" (4, 2) 53 Exact: (a: Half) -> i16 { number(a).floor() as i16 }
    "cvt.rmi.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { a.floor() as u32 }
    "cvt.rmi.ftz.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { flush(a).floor() as u32 }
    "cvt.rmi.u32.f64" (1, 0) 13 Exact: (a: f64) -> u32 { u32_of_f64(a.floor()) }
    "cvt.rmi.u32.f16" (4, 2) 53 Exact: (a: Half) -> u32 { number(a).floor() as u32 }
    "cvt.rmi.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { a.floor() as i32 }
    "cvt.rmi.ftz.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { flush(a).floor() as i32 }
    "cvt.rmi.s32.f64" (1, 0) 13 Exact: (a: f64) -> i32 { i32_of_f64(a.floor()) }
    "cvt.rmi.s32.f16" (4, 2) 53 Exact: (a: Half) -> i32 { number(a).floor() as i32 }
    "cvt.rmi.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(a.floor()) }
    "cvt.rmi.ftz.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(flush(a).floor()) }
    "cvt.rmi.u64.f64" (1, 0) 13 Exact: (a: f64) -> u64 { u64_of_f64(a.floor()) }
    "cvt.rmi.u64.f16" (4, 2) 53 Exact: (a: Half) -> u64 { u64_of_f32(number(a).floor()) }
    "cvt.rmi.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(a.floor()) }
    "cvt.rmi.ftz.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(flush(a).floor()) }
    "cvt.rmi.s64.f64" (1, 0) 13 Exact: (a: f64) -> i64 { i64_of_f64(a.floor()) }
    "cvt.rmi.s64.f16" (4, 2) 53 Exact: (a: Half) -> i64 { i64_of_f32(number(a).floor()) }
    "cvt.rpi.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { a.ceil() as u16 }
    "cvt.rpi.ftz.u16.f32" (1, 0) 10 Exact: (a: f32) -> u16 { flush(a).ceil() as u16 }
    "cvt.rpi.u16.f64" (1, 0) 13 Exact: (a: f64) -> u16 { u16_of_f64(a.ceil()) }
    "cvt.rpi.u16.f16" (4, 2) 53 Exact: (a: Half) -> u16 { number(a).ceil() as u16 }
    "cvt.rpi.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { a.ceil() as i16 }
    "cvt.rpi.ftz.s16.f32" (1, 0) 10 Exact: (a: f32) -> i16 { flush(a).ceil() as i16 }
    "cvt.rpi.s16.f64" (1, 0) 13 Exact: (a: f64) -> i16 { i16_of_f64(a.ceil()) }
    "cvt.rpi.s16.f16" (4, 2) 53 Exact: (a: Half) -> i16 { number(a).ceil() as i16 }
    "cvt.rpi.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { a.ceil() as u32 }
    "cvt.rpi.ftz.u32.f32" (1, 0) 10 Exact: (a: f32) -> u32 { flush(a).ceil() as u32 }
    "cvt.rpi.u32.f64" (1, 0) 13 Exact: (a: f64) -> u32 { u32_of_f64(a.ceil()) }
    "cvt.rpi.u32.f16" (4, 2) 53 Exact: (a: Half) -> u32 { number(a).ceil() as u32 }
    "cvt.rpi.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { a.ceil() as i32 }
    "cvt.rpi.ftz.s32.f32" (1, 0) 10 Exact: (a: f32) -> i32 { flush(a).ceil() as i32 }
    "cvt.rpi.s32.f64" (1, 0) 13 Exact: (a: f64) -> i32 { i32_of_f64(a.ceil()) }
    "cvt.rpi.s32.f16" (4, 2) 53 Exact: (a: Half) -> i32 { number(a).ceil() as i32 }
    "cvt.rpi.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(a.ceil()) }
    "cvt.rpi.ftz.u64.f32" (1, 0) 10 Exact: (a: f32) -> u64 { u64_of_f32(flush(a).ceil()) }
    "cvt.rpi.u64.f64" (1, 0) 13 Exact: (a: f64) -> u64 { u64_of_f64(a.ceil()) }
    "cvt.rpi.u64.f16" (4, 2) 53 Exact: (a: Half) -> u64 { u64_of_f32(number(a).ceil()) }
    "cvt.rpi.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(a.ceil()) }
    "cvt.rpi.ftz.s64.f32" (1, 0) 10 Exact: (a: f32) -> i64 { i64_of_f32(flush(a).ceil()) }
    "cvt.rpi.s64.f64" (1, 0) 13 Exact: (a: f64) -> i64 { i64_of_f64(a.ceil()) }
    "cvt.rpi.s64.f16" (4, 2) 53 Exact: (a: Half) -> i64 { i64_of_f32(number(a).ceil()) }
}

lanes! { FLOATS;
    "cvt.f32.f16" (4, 2) 53 Exact: (a: Half) -> f32 { number(a) }
    "cvt.f32.bf16" (7, 1) 80 Exact: (a: Brain) -> f32 { brain_number(a) }
    "cvt.f64.f16" (4, 2) 53 Exact: (a: Half) -> f64 { number(a).into() }
    "cvt.f64.f32" (1, 0) 13 Exact: (a: f32) -> f64 { double_of(a) }
    "cvt.ftz.f64.f32" (1, 0) 13 Exact: (a: f32) -> f64 { double_of(flush(a)) }
    "cvt.rn.f32.f64" (1, 0) 13 Exact: (a: f64) -> f32 { single_of(a, NearestEven) }
    "cvt.rz.f32.f64" (1, 0) 13 Exact: (a: f64) -> f32 { single_of(a, TowardZero) }
    "cvt.rm.f32.f64" (1, 0) 13 Exact: (a: f64) -> f32 { single_of(a, Down) }
    "cvt.rp.f32.f64" (1, 0) 13 Exact: (a: f64) -> f32 { single_of(a, Up) }
    "cvt.rn.ftz.f32.f64" (1, 0) 13 Exact: (a: f64) -> f32 { flush(single_of(a, NearestEven)) }
    "cvt.rn.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { Half(f16_of(a.to_bits()) as u16) }
    "cvt.rn.ftz.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { Half(f16_of(flush(a).to_bits()) as u16) }
    "cvt.rn.relu.f16.f32" (7, 0) 80 Exact: (a: f32) -> Half { Half(f16_of(relu(a).to_bits()) as u16) }
    "cvt.rn.sat.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { Half(f16_of(saturate(a).to_bits()) as u16) }
    "cvt.rz.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { half_of(a.into(), TowardZero) }
    "cvt.rm.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { half_of(a.into(), Down) }
    "cvt.rp.f16.f32" (4, 2) 53 Exact: (a: f32) -> Half { half_of(a.into(), Up) }
    "cvt.rn.f16.f64" (4, 2) 53 Exact: (a: f64) -> Half { half_of(a, NearestEven) }
    "cvt.rz.f16.f64" (4, 2) 53 Exact: (a: f64) -> Half { half_of(a, TowardZero) }
    "cvt.rm.f16.f64" (4, 2) 53 Exact: (a: f64) -> Half { half_of(a, Down) }
    "cvt.rp.f16.f64" (4, 2) 53 Exact: (a: f64) -> Half { half_of(a, Up) }
    "cvt.rn.bf16.f32" (7, 0) 80 Exact: (a: f32) -> Brain { Brain(bf16_of(a.to_bits()) as u16) }
    "cvt.rn.relu.bf16.f32" (7, 0) 80 Exact: (a: f32) -> Brain { Brain(bf16_of(relu(a).to_bits()) as u16) }
    "cvt.rz.bf16.f32" (7, 0) 80 Exact: (a: f32) -> Brain { brain_of(a.into(), TowardZero) }
    "cvt.rn.bf16.f64" (7, 8) 90 Exact: (a: f64) -> Brain { brain_of(a, NearestEven) }
    "cvt.rn.f16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Halves { Halves(f16_of(a.to_bits()) << 16 | f16_of(b.to_bits())) }
    "cvt.rn.relu.f16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Halves { Halves(f16_of(relu(a).to_bits()) << 16 | f16_of(relu(b).to_bits())) }
    "cvt.rz.f16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Halves { Halves(narrow(a.into(), Precision::F16, TowardZero) << 16 | narrow(b.into(), Precision::F16, TowardZero)) }
    "cvt.rn.bf16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Brains { Brains(bf16_of(a.to_bits()) << 16 | bf16_of(b.to_bits())) }
    "cvt.rn.relu.bf16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Brains { Brains(bf16_of(relu(a).to_bits()) << 16 | bf16_of(relu(b).to_bits())) }
    "cvt.rz.bf16x2.f32" (7, 0) 80 Exact: (a: f32, b: f32) -> Brains { Brains(narrow(a.into(), Precision::Bf16, TowardZero) << 16 | narrow(b.into(), Precision::Bf16, TowardZero)) }
    "cvt.rna.tf32.f32" (7, 0) 80 Exact: (a: f32) -> u32 { tf32_away(a.to_bits()) }
    "cvt.rn.tf32.f32" (7, 8) 90 Exact: (a: f32) -> u32 { narrow(a.into(), Precision::Tf32, NearestEven) }
    "cvt.rz.tf32.f32" (7, 8) 90 Exact: (a: f32) -> u32 { narrow(a.into(), Precision::Tf32, TowardZero) }
    "cvt.rni.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { quiet(a.round_ties_even()) }
    "cvt.rni.f64.f64" (1, 0) 13 Exact: (a: f64) -> f64 { quiet64(a.round_ties_even(), [a, 0.0, 0.0]) }
    "cvt.rni.f16.f16" (4, 2) 53 Exact: (a: Half) -> Half { Half(f16_of(number(a).round_ties_even().to_bits()) as u16) }
    "cvt.rzi.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { quiet(a.trunc()) }
    "cvt.rzi.f64.f64" (1, 0) 13 Exact: (a: f64) -> f64 { quiet64(a.trunc(), [a, 0.0, 0.0]) }
    "cvt.rzi.f16.f16" (4, 2) 53 Exact: (a: Half) -> Half { Half(f16_of(number(a).trunc().to_bits()) as u16) }
    "cvt.rmi.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { quiet(a.floor()) }
    "cvt.rmi.f64.f64" (1, 0) 13 Exact: (a: f64) -> f64 { quiet64(a.floor(), [a, 0.0, 0.0]) }
    "cvt.rmi.f16.f16" (4, 2) 53 Exact: (a: Half) -> Half { Half(f16_of(number(a).floor().to_bits()) as u16) }
    "cvt.rpi.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { quiet(a.ceil()) }
    "cvt.rpi.f64.f64" (1, 0) 13 Exact: (a: f64) -> f64 { quiet64(a.ceil(), [a, 0.0, 0.0]) }
    "cvt.rpi.f16.f16" (4, 2) 53 Exact: (a: Half) -> Half { Half(f16_of(number(a).ceil().to_bits()) as u16) }
    "cvt.sat.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { saturate(a) }
    "cvt.ftz.sat.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { saturate(flush(a)) }
    "cvt.ftz.f32.f32" (1, 0) 10 Exact: (a: f32) -> f32 { quiet(flush(a)) }
    "cvt.sat.f64.f64" (1, 0) 13 Exact: (a: f64) -> f64 { saturate64(a) }
}
