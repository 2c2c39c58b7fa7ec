//! Vectors of registers as one register, and back: `mov.b64 d, {a, b}`, `mov.b32 {d, e}, a`.
//!
//! ```text
//! mov.b32 d, {a, b}          d = b << 16 | a             mov.b32 {d, e}, a   d = low half, e = high half
//! mov.b64 d, {a, b}          d = b << 32 | a             mov.b64 {d, e}, a
//! mov.b64 d, {a, b, c, e}    16 bits each
//! ```
//!
//! Where part of a register is not wanted (`_`), the functions for one part serve.

use super::lane::{Value, lane_fn};
use crate::program::{LaneFn, Operands};
use crate::registers::{LANES, Mask, Registers, Slot};

/// `mov.b16 d, {a, b}`: two of 8 bits as one of 16.
pub const B16_OF_TWO: LaneFn = lane_fn!((a: u8, b: u8) -> u16 { u16::from(b) << 8 | u16::from(a) });
/// `mov.b32 d, {a, b}`: two of 16 bits as one of 32.
pub const B32_OF_TWO: LaneFn = lane_fn!((a: u16, b: u16) -> u32 { u32::from(b) << 16 | u32::from(a) });
/// `mov.b32 d, {a, b, c, e}`: four of 8 bits as one of 32.
pub const B32_OF_FOUR: LaneFn =
    lane_fn!((a: u8, b: u8, c: u8, e: u8) -> u32 { u32::from_le_bytes([a, b, c, e]) });
/// `mov.b64 d, {a, b}`: two of 32 bits as one of 64.
pub const B64_OF_TWO: LaneFn = lane_fn!((a: u32, b: u32) -> u64 { u64::from(b) << 32 | u64::from(a) });
/// `mov.b64 d, {a, b, c, e}`: four of 16 bits as one of 64.
pub const B64_OF_FOUR: LaneFn = lane_fn!((a: u16, b: u16, c: u16, e: u16) -> u64 {
    (u64::from(e) << 16 | u64::from(c)) << 32 | u64::from(b) << 16 | u64::from(a)
});

/// Part 0 and 1 of `mov.b32 {d, e}, a`: a half each.
pub const HALVES_OF_B32: [LaneFn; 2] =
    [lane_fn!((a: u32) -> u16 { a as u16 }), lane_fn!((a: u32) -> u16 { (a >> 16) as u16 })];
/// Part 0 and 1 of `mov.b64 {d, e}, a`: a half each.
pub const HALVES_OF_B64: [LaneFn; 2] =
    [lane_fn!((a: u64) -> u32 { a as u32 }), lane_fn!((a: u64) -> u32 { (a >> 32) as u32 })];
/// Parts 0 to 3 of `mov.b64 {d, e, f, g}, a`: 16 bits each.
pub const QUARTERS_OF_B64: [LaneFn; 4] = [
    lane_fn!((a: u64) -> u16 { a as u16 }),
    lane_fn!((a: u64) -> u16 { (a >> 16) as u16 }),
    lane_fn!((a: u64) -> u16 { (a >> 32) as u16 }),
    lane_fn!((a: u64) -> u16 { (a >> 48) as u16 }),
];

/// `mov.b32 {d, second}, a`, the source read before either is written.
pub fn split_b32(registers: &mut Registers, operands: &Operands, mask: Mask) {
    let a = *u32::lanes(registers, operands.sources[0]);
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        low[lane] = a[lane] & 0xffff;
        high[lane] = a[lane] >> 16;
    }
    store_both(registers, operands, mask, &low, &high);
}

/// `mov.b64 {d, second}, a`.
pub fn split_b64(registers: &mut Registers, operands: &Operands, mask: Mask) {
    let a = *u64::lanes(registers, operands.sources[0]);
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        low[lane] = a[lane] as u32;
        high[lane] = (a[lane] >> 32) as u32;
    }
    store_both(registers, operands, mask, &low, &high);
}

fn store_both(
    registers: &mut Registers,
    operands: &Operands,
    mask: Mask,
    low: &[u32; LANES],
    high: &[u32; LANES],
) {
    u32::store(registers, operands.d, mask, low);
    let second: Option<Slot> = operands.second;
    if let Some(second) = second {
        u32::store(registers, second, mask, high);
    }
}
