//! Moves and choices: bits go as they are, NaNs and all.

use super::lane::lanes;

macro_rules! choose {
    ($name:ident, $type:ty) => {
        /// The bits of one of two, without a branch.
        #[inline(always)]
        fn $name(p: bool, a: $type, b: $type) -> $type {
            let keep = <$type>::from(p).wrapping_neg();
            (a & keep) | (b & !keep)
        }
    };
}

choose!(choose32, u32);
choose!(choose64, u64);

lanes! { ROWS;
    "mov.{b16,u16,s16}" (1, 0) 10 Exact: (a: u16) -> u16 { a }
    "mov.{b32,u32,s32}" (1, 0) 10 Exact: (a: u32) -> u32 { a }
    "mov.f32" (1, 0) 10 Exact: (a: f32) -> f32 { a }
    "mov.{b64,u64,s64}" (1, 0) 10 Exact: (a: u64) -> u64 { a }
    "mov.f64" (1, 0) 13 Exact: (a: f64) -> f64 { a }
    "mov.pred" (1, 0) 10 Exact: (a: bool) -> bool { a }
    // Global memory lies in the generic addresses where it lies.
    "cvta{,.to}.global.u64" (2, 0) 20 Exact: (a: u64) -> u64 { a }
    "selp.{b16,u16,s16}" (1, 0) 10 Exact: (a: u16, b: u16, p: bool) -> u16 { if p { a } else { b } }
    "selp.{b32,u32,s32}" (1, 0) 10 Exact: (a: u32, b: u32, p: bool) -> u32 { choose32(p, a, b) }
    "selp.f32" (1, 0) 10 Exact: (a: f32, b: f32, p: bool) -> f32 { f32::from_bits(choose32(p, a.to_bits(), b.to_bits())) }
    "selp.{b64,u64,s64}" (1, 0) 10 Exact: (a: u64, b: u64, p: bool) -> u64 { choose64(p, a, b) }
    "selp.f64" (1, 0) 13 Exact: (a: f64, b: f64, p: bool) -> f64 { if p { a } else { b } }
    "slct.{b16,u16,s16}.s32" (1, 0) 10 Exact: (a: u16, b: u16, c: i32) -> u16 { if c >= 0 { a } else { b } }
    "slct.{b32,u32,s32}.s32" (1, 0) 10 Exact: (a: u32, b: u32, c: i32) -> u32 { if c >= 0 { a } else { b } }
    "slct.f32.s32" (1, 0) 10 Exact: (a: f32, b: f32, c: i32) -> f32 { if c >= 0 { a } else { b } }
    "slct.{b64,u64,s64}.s32" (1, 0) 10 Exact: (a: u64, b: u64, c: i32) -> u64 { if c >= 0 { a } else { b } }
    "slct.f64.s32" (1, 0) 13 Exact: (a: f64, b: f64, c: i32) -> f64 { if c >= 0 { a } else { b } }
    // A zero of either sign chooses the first, a NaN the second.
    "slct.{b32,u32,s32}.f32" (1, 0) 10 Exact: (a: u32, b: u32, c: f32) -> u32 { if c >= 0.0 { a } else { b } }
    "slct.f32.f32" (1, 0) 10 Exact: (a: f32, b: f32, c: f32) -> f32 { if c >= 0.0 { a } else { b } }
    "slct.{b64,u64,s64}.f32" (1, 0) 10 Exact: (a: u64, b: u64, c: f32) -> u64 { if c >= 0.0 { a } else { b } }
    "slct.f64.f32" (1, 0) 13 Exact: (a: f64, b: f64, c: f32) -> f64 { if c >= 0.0 { a } else { b } }
}
