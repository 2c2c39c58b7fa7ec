//! FMOPA on f64 and f32: one tile against 1, 2 or 4 vectors of columns.
//!
//! ```text
//! x1 block_ptr   x3 block_col   x5 tile_bytes   x7 row_bytes   x9  out_bytes     x11 height      x14 br
//! x2 blocks      x4 values      x6 b            x8 out         x10 block_bytes   x13 rows_left   x15 columns
//! p0 rows of this block         p1..p4 columns of each vector
//!
//! for each block:  p0 = rows; ZA = 0
//!   for each tile: z0 = tile; z1.. = B[col]; ZA0 += z0 (x) z1; ..        FMOPA: one rounding
//!   for each row:  store its slice of ZA0, ..
//! ```

use super::Call;
use std::arch::naked_asm;

/// Bytes of a streaming vector.
///
/// # Safety
/// The CPU has SME.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn rdsvl() -> usize {
    naked_asm!(".arch_extension sme", "rdsvl x0, #1", "ret")
}

/// Before streaming mode: refuses where ZA is a caller's, saves what SMSTART clears, reads the argument.
macro_rules! enter {
    () => {
        "
        .arch_extension sme
        .arch_extension sme-f64f64
        mrs x1, S3_3_C13_C0_5
        cbnz x1, 9f
        stp d8, d9, [sp, #-80]!
        stp d10, d11, [sp, #16]
        stp d12, d13, [sp, #32]
        stp d14, d15, [sp, #48]
        stp x19, x20, [sp, #64]
        ldp x1, x2, [x0]
        ldp x3, x4, [x0, #16]
        ldp x5, x6, [x0, #32]
        ldp x7, x8, [x0, #48]
        ldp x9, x10, [x0, #64]
        ldp x11, x13, [x0, #80]
        ldp x14, x15, [x0, #96]
        smstart
        "
    };
}

/// The next block, or on to label 8: rows in x16 and p0, count of tiles in x12, their values at x0, their columns at x17.
macro_rules! next_block {
    ($s:literal) => {
        concat!(
            "
        2:
        cbz x2, 8f
        cmp x13, #0
        b.le 8f
        cmp x11, x13
        csel x16, x11, x13, lt
        whilelt p0.",
            $s,
            ", xzr, x16
        zero {{za}}
        ldr w17, [x1], #4
        ldr w12, [x1]
        sub x12, x12, x17
        madd x0, x17, x5, x4
        add x17, x3, x17, lsl #2
        "
        )
    };
}

/// After the rows of a block: to the next one.
macro_rules! close_block {
    () => {
        "
        add x8, x8, x10
        sub x13, x13, x14
        sub x2, x2, #1
        b 2b
        "
    };
}

/// Out of streaming mode, ZA off; everything as it was.
macro_rules! leave {
    () => {
        "
        8:
        smstop
        ldp x19, x20, [sp, #64]
        ldp d14, d15, [sp, #48]
        ldp d12, d13, [sp, #32]
        ldp d10, d11, [sp, #16]
        ldp d8, d9, [sp], #80
        mov x0, #0
        ret
        9:
        mov x0, #1
        ret
        "
    };
}

pub(super) use {close_block, enter, leave, next_block};

/// A naked function: `$s` is the element's suffix, `$ld1` and `$st1` its loads and stores, `$inc` adds its lanes to a register;
/// then number, next number, and one less, of each vector of columns.
macro_rules! outer_products {
    ($(#[$doc:meta])* $name:ident, $s:literal, $w:literal, $inc:literal; $(($v:literal, $za:literal)),*) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As [`Outer::run`](super::Outer::run); the columns fit into these vectors.
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name(call: &Call) -> u64 {
            naked_asm!(
                enter!(),
                "mov x16, #0",
                $(concat!("whilelt p", $v, ".", $s, ", x16, x15"), concat!($inc, " x16"),)*
                next_block!($s),
                "cbz x12, 5f",
                "4:",
                "ldr w19, [x17], #4",
                "madd x19, x19, x7, x6",
                concat!("ld1", $w, " {{z0.", $s, "}}, p0/z, [x0]"),
                $(concat!("ld1", $w, " {{z", $v, ".", $s, "}}, p", $v, "/z, [x19, #", $za, ", mul vl]"),)*
                $(concat!("fmopa za", $za, ".", $s, ", p0/m, p", $v, "/m, z0.", $s, ", z", $v, ".", $s),)*
                "add x0, x0, x5",
                "subs x12, x12, #1",
                "b.ne 4b",
                "5:",
                "mov x19, x8",
                "mov w12, #0",
                "6:",
                "mov x20, x19",
                $(
                    concat!("st1", $w, " {{za", $za, "h.", $s, "[w12, 0]}}, p", $v, ", [x20]"),
                    "addvl x20, x20, #1",
                )*
                "add x19, x19, x9",
                "add w12, w12, #1",
                "cmp w12, w16",
                "b.lt 6b",
                close_block!(),
                leave!(),
            )
        }
    };
}

outer_products!(
    /// f32, up to one vector of columns.
    f32_1, "s", "w", "incw"; ("1", "0")
);
outer_products!(
    /// f32, up to two vectors of columns.
    f32_2, "s", "w", "incw"; ("1", "0"), ("2", "1")
);
outer_products!(
    /// f32, up to four vectors of columns: all of ZA.
    f32_4, "s", "w", "incw"; ("1", "0"), ("2", "1"), ("3", "2"), ("4", "3")
);
outer_products!(
    /// f64, up to one vector of columns.
    f64_1, "d", "d", "incd"; ("1", "0")
);
outer_products!(
    /// f64, up to two vectors of columns.
    f64_2, "d", "d", "incd"; ("1", "0"), ("2", "1")
);
outer_products!(
    /// f64, up to four vectors of columns: half of ZA.
    f64_4, "d", "d", "incd"; ("1", "0"), ("2", "1"), ("3", "2"), ("4", "3")
);
