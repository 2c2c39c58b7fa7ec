//! FMOPA of f16 pairs into f32: two tiles of the block at a time.
//!
//! ```text
//! tiles 2q, 2q+1:    z0 = a0 a1 a2 ..      z1 = A0 A1 A2 ..        (rows of the block; SVL/16 of them)
//! zip1, zip2:        z4 = a0 A0 a1 A1 ..   z5 = the upper half     the same for two rows of B: z6, z7
//!
//!                z6      z7                ZA0: first rows, first columns      ZA1: first rows, other columns
//!         z4  | ZA0  |  ZA1 |              ZA2: other rows, first columns      ZA3: other rows, other columns
//!         z5  | ZA2  |  ZA3 |              p = round(a * b + A * B); ZA = round(ZA + p)
//! ```
//!
//! The last tile of an odd number is paired with a zero tile and a zero row. Rows and columns that the predicates p0 and p1 do not load
//! are zeros, and their sums are not stored. Registers as in [`single`](super::single); p2 and p3 are the columns of ZA0 and ZA1.
//!
//! Source: Arm ARM C9.2, FMOPA (widening, 2-way); section 3.3 of the paper.

use super::Call;
use super::single::{close_block, enter, leave, next_block};
use std::arch::naked_asm;

/// Four outer products of z4, z5 (rows) and z6, z7 (columns).
macro_rules! zip_and_add {
    () => {
        "
        zip1 z4.h, z0.h, z1.h
        zip2 z5.h, z0.h, z1.h
        zip1 z6.h, z2.h, z3.h
        zip2 z7.h, z2.h, z3.h
        fmopa za0.s, p4/m, p4/m, z4.h, z6.h
        fmopa za1.s, p4/m, p4/m, z4.h, z7.h
        fmopa za2.s, p4/m, p4/m, z5.h, z6.h
        fmopa za3.s, p4/m, p4/m, z5.h, z7.h
        "
    };
}

/// Up to a vector of f16 rows and as many columns.
///
/// # Safety
/// As [`Outer::run`](super::Outer::run).
#[unsafe(naked)]
pub(super) unsafe extern "C" fn f16_2way(call: &Call) -> u64 {
    naked_asm!(
        enter!(),
        "whilelt p1.h, xzr, x15",
        "whilelt p2.s, xzr, x15",
        "cntw x16",
        "whilelt p3.s, x16, x15",
        "ptrue p4.h",
        next_block!("h"),
        "4:",
        "subs x12, x12, #2",
        "b.lt 5f",
        "ldp w19, w20, [x17], #8",
        "madd x19, x19, x7, x6",
        "madd x20, x20, x7, x6",
        "ld1h {{z0.h}}, p0/z, [x0]",
        "add x0, x0, x5",
        "ld1h {{z1.h}}, p0/z, [x0]",
        "add x0, x0, x5",
        "ld1h {{z2.h}}, p1/z, [x19]",
        "ld1h {{z3.h}}, p1/z, [x20]",
        zip_and_add!(),
        "b 4b",
        // -1: one tile is left.
        "5:",
        "cmn x12, #1",
        "b.ne 6f",
        "ldr w19, [x17]",
        "madd x19, x19, x7, x6",
        "ld1h {{z0.h}}, p0/z, [x0]",
        "mov z1.h, #0",
        "ld1h {{z2.h}}, p1/z, [x19]",
        "mov z3.h, #0",
        zip_and_add!(),
        // Rows of ZA0 and ZA1: x17 of them.
        "6:",
        "cntw x17",
        "cmp x16, x17",
        "csel x17, x16, x17, lt",
        "mov x19, x8",
        "mov w12, #0",
        "3:",
        "st1w {{za0h.s[w12, 0]}}, p2, [x19]",
        "addvl x20, x19, #1",
        "st1w {{za1h.s[w12, 0]}}, p3, [x20]",
        "add x19, x19, x9",
        "add w12, w12, #1",
        "cmp w12, w17",
        "b.lt 3b",
        // The others are in ZA2 and ZA3.
        "subs x17, x16, x17",
        "b.eq 7f",
        "mov w12, #0",
        "3:",
        "st1w {{za2h.s[w12, 0]}}, p2, [x19]",
        "addvl x20, x19, #1",
        "st1w {{za3h.s[w12, 0]}}, p3, [x20]",
        "add x19, x19, x9",
        "add w12, w12, #1",
        "cmp w12, w17",
        "b.lt 3b",
        "7:",
        close_block!(),
        leave!(),
    )
}
