//! Comparisons: `setp`, alone, with a second result, and with another predicate; `set`.
//!
//! ```text
//! setp.lt.s32 p|q, a, b          p = a < b           q = !(a < b)
//! setp.lt.and.s32 p|q, a, b, c   p = (a < b) and c   q = !(a < b) and c
//! ```
//!
//! A comparison of floats is false where a NaN takes part; those that end in `u` are true there.

#![expect(
    clippy::double_comparisons,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "a NaN makes both a comparison and its opposite false; that is what is asked here"
)]

use super::convert::{f32_of_bf16, f32_of_f16};
use super::lane::{Brain, Half, Value, class, immediate, lanes};
use super::round::flush;
use crate::isa::{Evidence, Kind, Row};
use crate::program::Operands;
use crate::registers::{Class, Mask, Registers};

/// Writes a comparison and, where it is wanted, its opposite.
fn store(registers: &mut Registers, operands: &Operands, mask: Mask, [p, q]: [Mask; 2]) {
    <bool as Value>::store(registers, operands.d, mask, &p);
    if let Some(second) = operands.second {
        <bool as Value>::store(registers, second, mask, &q);
    }
}

/// A comparison, and the four functions that use it.
macro_rules! comparisons {
    ($rows:ident; $($name:ident $comparison:literal $types:literal ($major:literal, $minor:literal) $sm:literal:
        ($a:ident, $b:ident: $type:ty) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, reason = "what a comparison needs differs from type to type")]
            use super::{Brain, Half, brain, flush, half, store};
            use crate::exec::lane::{Value, dispatch};
            use crate::program::Operands;
            use crate::registers::{LANES, Mask, Registers};

            struct Work<'a>(&'a Registers, &'a Operands);

            impl pulp::WithSimd for Work<'_> {
                type Output = Mask;

                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> Mask {
                    let Work(registers, operands) = self;
                    let $a = <$type as Value>::lanes(registers, operands.sources[0]);
                    let $b = <$type as Value>::lanes(registers, operands.sources[1]);
                    let mut out = 0;
                    for lane in 0..LANES {
                        let $a = <$type as Value>::at($a, lane);
                        let $b = <$type as Value>::at($b, lane);
                        let value: bool = $body;
                        value.put(&mut out, lane);
                    }
                    out
                }
            }

            pub(super) fn plain(registers: &mut Registers, operands: &Operands, mask: Mask) {
                let p = dispatch(Work(registers, operands));
                store(registers, operands, mask, [p, !p]);
            }

            pub(super) fn and(registers: &mut Registers, operands: &Operands, mask: Mask) {
                let p = dispatch(Work(registers, operands));
                let c = bool::lanes(registers, operands.sources[2]);
                store(registers, operands, mask, [p & c, !p & c]);
            }

            pub(super) fn or(registers: &mut Registers, operands: &Operands, mask: Mask) {
                let p = dispatch(Work(registers, operands));
                let c = bool::lanes(registers, operands.sources[2]);
                store(registers, operands, mask, [p | c, !p | c]);
            }

            pub(super) fn xor(registers: &mut Registers, operands: &Operands, mask: Mask) {
                let p = dispatch(Work(registers, operands));
                let c = bool::lanes(registers, operands.sources[2]);
                store(registers, operands, mask, [p ^ c, !p ^ c]);
            }
        })+

        pub(crate) const $rows: &[Row] = &[$(
            Row {
                forms: concat!("setp.", $comparison, $types),
                ptx: ($major, $minor),
                sm: $sm,
                kind: Kind::Lanes {
                    run: $name::plain,
                    d: Class::Predicate,
                    sources: &[class::<$type>(), class::<$type>()],
                    immediate: immediate::<$type>(),
                },
                evidence: Evidence::Exact,
            },
            comparisons!(@with $name and ".and" $comparison $types ($major, $minor) $sm $type),
            comparisons!(@with $name or ".or" $comparison $types ($major, $minor) $sm $type),
            comparisons!(@with $name xor ".xor" $comparison $types ($major, $minor) $sm $type),
        )+];
    };
    (@with $name:ident $function:ident $with:literal $comparison:literal $types:literal ($major:literal, $minor:literal) $sm:literal $type:ty) => {
        Row {
            forms: concat!("setp.", $comparison, $with, $types),
            ptx: ($major, $minor),
            sm: $sm,
            kind: Kind::Lanes {
                run: $name::$function,
                d: Class::Predicate,
                sources: &[class::<$type>(), class::<$type>(), Class::Predicate],
                immediate: immediate::<$type>(),
            },
            evidence: Evidence::Exact,
        }
    };
}

#[inline(always)]
fn half(a: Half) -> f32 {
    f32::from_bits(f32_of_f16(a.0.into()))
}

#[inline(always)]
fn brain(a: Brain) -> f32 {
    f32::from_bits(f32_of_bf16(a.0.into()))
}

comparisons! { INTEGERS;
    eq_b16 "eq" ".{b16,u16,s16}" (1, 0) 10: (a, b: u16) { a == b }
    ne_b16 "ne" ".{b16,u16,s16}" (1, 0) 10: (a, b: u16) { a != b }
    lt_s16 "lt" ".s16" (1, 0) 10: (a, b: i16) { a < b }
    lt_u16 "{lt,lo}" ".u16" (1, 0) 10: (a, b: u16) { a < b }
    le_s16 "le" ".s16" (1, 0) 10: (a, b: i16) { a <= b }
    le_u16 "{le,ls}" ".u16" (1, 0) 10: (a, b: u16) { a <= b }
    gt_s16 "gt" ".s16" (1, 0) 10: (a, b: i16) { a > b }
    gt_u16 "{gt,hi}" ".u16" (1, 0) 10: (a, b: u16) { a > b }
    ge_s16 "ge" ".s16" (1, 0) 10: (a, b: i16) { a >= b }
    ge_u16 "{ge,hs}" ".u16" (1, 0) 10: (a, b: u16) { a >= b }
    eq_b32 "eq" ".{b32,u32,s32}" (1, 0) 10: (a, b: u32) { a == b }
    ne_b32 "ne" ".{b32,u32,s32}" (1, 0) 10: (a, b: u32) { a != b }
    lt_s32 "lt" ".s32" (1, 0) 10: (a, b: i32) { a < b }
    lt_u32 "{lt,lo}" ".u32" (1, 0) 10: (a, b: u32) { a < b }
    le_s32 "le" ".s32" (1, 0) 10: (a, b: i32) { a <= b }
    le_u32 "{le,ls}" ".u32" (1, 0) 10: (a, b: u32) { a <= b }
    gt_s32 "gt" ".s32" (1, 0) 10: (a, b: i32) { a > b }
    gt_u32 "{gt,hi}" ".u32" (1, 0) 10: (a, b: u32) { a > b }
    ge_s32 "ge" ".s32" (1, 0) 10: (a, b: i32) { a >= b }
    ge_u32 "{ge,hs}" ".u32" (1, 0) 10: (a, b: u32) { a >= b }
    eq_b64 "eq" ".{b64,u64,s64}" (1, 0) 10: (a, b: u64) { a == b }
    ne_b64 "ne" ".{b64,u64,s64}" (1, 0) 10: (a, b: u64) { a != b }
    lt_s64 "lt" ".s64" (1, 0) 10: (a, b: i64) { a < b }
    lt_u64 "{lt,lo}" ".u64" (1, 0) 10: (a, b: u64) { a < b }
    le_s64 "le" ".s64" (1, 0) 10: (a, b: i64) { a <= b }
    le_u64 "{le,ls}" ".u64" (1, 0) 10: (a, b: u64) { a <= b }
    gt_s64 "gt" ".s64" (1, 0) 10: (a, b: i64) { a > b }
    gt_u64 "{gt,hi}" ".u64" (1, 0) 10: (a, b: u64) { a > b }
    ge_s64 "ge" ".s64" (1, 0) 10: (a, b: i64) { a >= b }
    ge_u64 "{ge,hs}" ".u64" (1, 0) 10: (a, b: u64) { a >= b }
}

comparisons! { FLOATS;
    eq_f32 "eq" ".f32" (1, 0) 10: (a, b: f32) { a == b }
    ne_f32 "ne" ".f32" (1, 0) 10: (a, b: f32) { a < b || a > b }
    lt_f32 "lt" ".f32" (1, 0) 10: (a, b: f32) { a < b }
    le_f32 "le" ".f32" (1, 0) 10: (a, b: f32) { a <= b }
    gt_f32 "gt" ".f32" (1, 0) 10: (a, b: f32) { a > b }
    ge_f32 "ge" ".f32" (1, 0) 10: (a, b: f32) { a >= b }
    equ_f32 "equ" ".f32" (1, 0) 10: (a, b: f32) { !(a < b || a > b) }
    neu_f32 "neu" ".f32" (1, 0) 10: (a, b: f32) { a != b }
    ltu_f32 "ltu" ".f32" (1, 0) 10: (a, b: f32) { !(a >= b) }
    leu_f32 "leu" ".f32" (1, 0) 10: (a, b: f32) { !(a > b) }
    gtu_f32 "gtu" ".f32" (1, 0) 10: (a, b: f32) { !(a <= b) }
    geu_f32 "geu" ".f32" (1, 0) 10: (a, b: f32) { !(a < b) }
    num_f32 "num" ".f32" (1, 0) 10: (a, b: f32) { !a.is_nan() & !b.is_nan() }
    nan_f32 "nan" ".f32" (1, 0) 10: (a, b: f32) { a.is_nan() | b.is_nan() }
    eq_ftz_f32 "eq" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) == flush(b) }
    ne_ftz_f32 "ne" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) < flush(b) || flush(a) > flush(b) }
    lt_ftz_f32 "lt" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) < flush(b) }
    le_ftz_f32 "le" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) <= flush(b) }
    gt_ftz_f32 "gt" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) > flush(b) }
    ge_ftz_f32 "ge" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) >= flush(b) }
    equ_ftz_f32 "equ" ".ftz.f32" (1, 0) 10: (a, b: f32) { !(flush(a) < flush(b) || flush(a) > flush(b)) }
    neu_ftz_f32 "neu" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a) != flush(b) }
    ltu_ftz_f32 "ltu" ".ftz.f32" (1, 0) 10: (a, b: f32) { !(flush(a) >= flush(b)) }
    leu_ftz_f32 "leu" ".ftz.f32" (1, 0) 10: (a, b: f32) { !(flush(a) > flush(b)) }
    gtu_ftz_f32 "gtu" ".ftz.f32" (1, 0) 10: (a, b: f32) { !(flush(a) <= flush(b)) }
    geu_ftz_f32 "geu" ".ftz.f32" (1, 0) 10: (a, b: f32) { !(flush(a) < flush(b)) }
    num_ftz_f32 "num" ".ftz.f32" (1, 0) 10: (a, b: f32) { !flush(a).is_nan() & !flush(b).is_nan() }
    nan_ftz_f32 "nan" ".ftz.f32" (1, 0) 10: (a, b: f32) { flush(a).is_nan() | flush(b).is_nan() }
    eq_f64 "eq" ".f64" (1, 0) 13: (a, b: f64) { a == b }
    ne_f64 "ne" ".f64" (1, 0) 13: (a, b: f64) { a < b || a > b }
    lt_f64 "lt" ".f64" (1, 0) 13: (a, b: f64) { a < b }
    le_f64 "le" ".f64" (1, 0) 13: (a, b: f64) { a <= b }
    gt_f64 "gt" ".f64" (1, 0) 13: (a, b: f64) { a > b }
    ge_f64 "ge" ".f64" (1, 0) 13: (a, b: f64) { a >= b }
    equ_f64 "equ" ".f64" (1, 0) 13: (a, b: f64) { !(a < b || a > b) }
    neu_f64 "neu" ".f64" (1, 0) 13: (a, b: f64) { a != b }
    ltu_f64 "ltu" ".f64" (1, 0) 13: (a, b: f64) { !(a >= b) }
    leu_f64 "leu" ".f64" (1, 0) 13: (a, b: f64) { !(a > b) }
    gtu_f64 "gtu" ".f64" (1, 0) 13: (a, b: f64) { !(a <= b) }
    geu_f64 "geu" ".f64" (1, 0) 13: (a, b: f64) { !(a < b) }
    num_f64 "num" ".f64" (1, 0) 13: (a, b: f64) { !a.is_nan() & !b.is_nan() }
    nan_f64 "nan" ".f64" (1, 0) 13: (a, b: f64) { a.is_nan() | b.is_nan() }
    eq_f16 "eq" ".f16" (4, 2) 53: (a, b: Half) { half(a) == half(b) }
    ne_f16 "ne" ".f16" (4, 2) 53: (a, b: Half) { half(a) < half(b) || half(a) > half(b) }
    lt_f16 "lt" ".f16" (4, 2) 53: (a, b: Half) { half(a) < half(b) }
    le_f16 "le" ".f16" (4, 2) 53: (a, b: Half) { half(a) <= half(b) }
    gt_f16 "gt" ".f16" (4, 2) 53: (a, b: Half) { half(a) > half(b) }
    ge_f16 "ge" ".f16" (4, 2) 53: (a, b: Half) { half(a) >= half(b) }
    equ_f16 "equ" ".f16" (4, 2) 53: (a, b: Half) { !(half(a) < half(b) || half(a) > half(b)) }
    neu_f16 "neu" ".f16" (4, 2) 53: (a, b: Half) { half(a) != half(b) }
    ltu_f16 "ltu" ".f16" (4, 2) 53: (a, b: Half) { !(half(a) >= half(b)) }
    leu_f16 "leu" ".f16" (4, 2) 53: (a, b: Half) { !(half(a) > half(b)) }
    gtu_f16 "gtu" ".f16" (4, 2) 53: (a, b: Half) { !(half(a) <= half(b)) }
    geu_f16 "geu" ".f16" (4, 2) 53: (a, b: Half) { !(half(a) < half(b)) }
    num_f16 "num" ".f16" (4, 2) 53: (a, b: Half) { !half(a).is_nan() & !half(b).is_nan() }
    nan_f16 "nan" ".f16" (4, 2) 53: (a, b: Half) { half(a).is_nan() | half(b).is_nan() }
    eq_bf16 "eq" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) == brain(b) }
    ne_bf16 "ne" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) < brain(b) || brain(a) > brain(b) }
    lt_bf16 "lt" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) < brain(b) }
    le_bf16 "le" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) <= brain(b) }
    gt_bf16 "gt" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) > brain(b) }
    ge_bf16 "ge" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) >= brain(b) }
    equ_bf16 "equ" ".bf16" (7, 8) 90: (a, b: Brain) { !(brain(a) < brain(b) || brain(a) > brain(b)) }
    neu_bf16 "neu" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a) != brain(b) }
    ltu_bf16 "ltu" ".bf16" (7, 8) 90: (a, b: Brain) { !(brain(a) >= brain(b)) }
    leu_bf16 "leu" ".bf16" (7, 8) 90: (a, b: Brain) { !(brain(a) > brain(b)) }
    gtu_bf16 "gtu" ".bf16" (7, 8) 90: (a, b: Brain) { !(brain(a) <= brain(b)) }
    geu_bf16 "geu" ".bf16" (7, 8) 90: (a, b: Brain) { !(brain(a) < brain(b)) }
    num_bf16 "num" ".bf16" (7, 8) 90: (a, b: Brain) { !brain(a).is_nan() & !brain(b).is_nan() }
    nan_bf16 "nan" ".bf16" (7, 8) 90: (a, b: Brain) { brain(a).is_nan() | brain(b).is_nan() }
}

/// All ones or zero.
#[inline(always)]
fn ones(p: bool) -> u32 {
    u32::from(p).wrapping_neg()
}

/// One or zero.
#[inline(always)]
fn one(p: bool) -> f32 {
    if p { 1.0 } else { 0.0 }
}

lanes! { SETS;
    "set.eq.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a == b) }
    "set.eq.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a == b) }
    "set.eq.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a == b) }
    "set.eq.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a == b) }
    "set.eq.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a == b) }
    "set.eq.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a == b) }
    "set.ne.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a != b) }
    "set.ne.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a != b) }
    "set.ne.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a != b) }
    "set.ne.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a != b) }
    "set.ne.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a < b || a > b) }
    "set.ne.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a < b || a > b) }
    "set.lt.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a < b) }
    "set.lt.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a < b) }
    "set.lt.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a < b) }
    "set.lt.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a < b) }
    "set.lt.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a < b) }
    "set.lt.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a < b) }
    "set.le.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a <= b) }
    "set.le.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a <= b) }
    "set.le.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a <= b) }
    "set.le.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a <= b) }
    "set.le.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a <= b) }
    "set.le.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a <= b) }
    "set.gt.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a > b) }
    "set.gt.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a > b) }
    "set.gt.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a > b) }
    "set.gt.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a > b) }
    "set.gt.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a > b) }
    "set.gt.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a > b) }
    "set.ge.{u32,s32}.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> u32 { ones(a >= b) }
    "set.ge.f32.s32" (1, 0) 10 Exact: (a: i32, b: i32) -> f32 { one(a >= b) }
    "set.ge.{u32,s32}.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> u32 { ones(a >= b) }
    "set.ge.f32.u32" (1, 0) 10 Exact: (a: u32, b: u32) -> f32 { one(a >= b) }
    "set.ge.{u32,s32}.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> u32 { ones(a >= b) }
    "set.ge.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32) -> f32 { one(a >= b) }
}
