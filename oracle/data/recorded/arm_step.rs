//! Runs operand lines through the real instructions of an Arm machine with SME, and prints each with its result.
//!
//! Not a part of the workspace: one file, for an aarch64 target.
//!
//!     cargo run -p sparse-oracle --example cpu_operands -- arm 1000 7 > operands.txt
//!     rustc --edition 2024 -O --target aarch64-unknown-linux-gnu arm_step.rs
//!     ./arm_step < operands.txt > some_machine.txt        or: qemu-aarch64 -cpu max ./arm_step < ...
//!
//! Only element [0][0] of the tile is used. Lines for FMOPA on f16 need FEAT_SME_F16F16, EBF = 1 FEAT_EBF16, AH and FIZ
//! FEAT_AFP; a machine without them faults or ignores the bit.

use std::arch::naked_asm;
use std::io::BufRead;

/// What the routines below read and write, by offset.
#[repr(C, align(16))]
struct Frame {
    /// 0: FPCR.
    fpcr: u64,
    /// 8: one bit a byte of the vectors.
    rows: u64,
    /// 16
    cols: u64,
    pad: u64,
    /// 32, 288, 544: vectors of up to 2048 bits.
    a: [u64; 32],
    b: [u64; 32],
    acc: [u64; 32],
}

macro_rules! outer_product {
    ($name:ident, $instruction:literal) => {
        /// # Safety
        /// The frame is valid, and the machine has SME. Callee-saved registers are kept.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(frame: *mut Frame) {
            naked_asm!(
                ".arch_extension sme2", ".arch_extension sme-f64f64", ".arch_extension sme-f16f16",
                "stp d8, d9, [sp, #-64]!", "stp d10, d11, [sp, #16]", "stp d12, d13, [sp, #32]", "stp d14, d15, [sp, #48]",
                "smstart", "ldr x1, [x0]", "msr fpcr, x1",
                "add x1, x0, #8", "ldr p0, [x1]", "add x1, x0, #16", "ldr p1, [x1]",
                "add x1, x0, #32", "ldr z0, [x1]", "add x1, x0, #288", "ldr z1, [x1]",
                "zero {{za}}", "mov w12, #0", "add x1, x0, #544", "ldr za[w12, 0], [x1]",
                $instruction,
                "str za[w12, 0], [x1]", "msr fpcr, xzr", "smstop",
                "ldp d10, d11, [sp, #16]", "ldp d12, d13, [sp, #32]", "ldp d14, d15, [sp, #48]", "ldp d8, d9, [sp], #64", "ret",
            )
        }
    };
}
outer_product!(fmopa_f64, "fmopa za0.d, p0/m, p1/m, z0.d, z1.d");
outer_product!(fmopa_f32, "fmopa za0.s, p0/m, p1/m, z0.s, z1.s");
outer_product!(fmopa_f16, "fmopa za0.h, p0/m, p1/m, z0.h, z1.h");
outer_product!(fmopa_2way, "fmopa za0.s, p0/m, p1/m, z0.h, z1.h");
outer_product!(bfmopa, "bfmopa za0.s, p0/m, p1/m, z0.h, z1.h");

macro_rules! multiply_add {
    ($name:ident, $instruction:literal) => {
        /// # Safety
        /// The frame is valid.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(frame: *mut Frame) {
            naked_asm!(
                ".arch_extension fp16", "ldr x1, [x0]", "msr fpcr, x1", "ldr q0, [x0, #32]", "ldr q1, [x0, #288]",
                "ldr q2, [x0, #544]", $instruction, "str q2, [x0, #544]", "msr fpcr, xzr", "ret",
            )
        }
    };
}
multiply_add!(fmla_f64, "fmla v2.2d, v0.2d, v1.2d");
multiply_add!(fmla_f32, "fmla v2.4s, v0.4s, v1.4s");
multiply_add!(fmla_f16, "fmla v2.8h, v0.8h, v1.8h");

fn main() {
    for line in std::io::stdin().lock().lines().map(|line| line.expect("text")) {
        let words: Vec<&str> = line.split_whitespace().take(5).collect();
        let hex = |word: &str| u64::from_str_radix(word, 16).expect("hexadecimal");
        let (run, bytes, out): (unsafe extern "C" fn(*mut Frame), u32, u32) = match words[0] {
            "fmopa.f64" => (fmopa_f64, 8, 8),
            "fmopa.f32" => (fmopa_f32, 4, 4),
            "fmopa.f16" => (fmopa_f16, 2, 2),
            "fmopa.f32.f16" => (fmopa_2way, 2, 4),
            "bfmopa.f32.bf16" | "bfmopa.ebf.f32.bf16" => (bfmopa, 2, 4),
            "fmla.f64" => (fmla_f64, 8, 8),
            "fmla.f32" => (fmla_f32, 4, 4),
            "fmla.f16" => (fmla_f16, 2, 2),
            other => panic!("no {other} here"),
        };
        let side = |word: &str| {
            let (mut vector, mut active) = (0, 0);
            for (i, element) in word.split(',').enumerate().filter(|(_, element)| *element != "-") {
                vector |= hex(element) << (8 * bytes * i as u32);
                active |= 1 << (bytes * i as u32);
            }
            (vector, active)
        };
        let mut frame = Frame { fpcr: hex(words[1]), rows: 0, cols: 0, pad: 0, a: [0; 32], b: [0; 32], acc: [0; 32] };
        (frame.a[0], frame.rows) = side(words[3]);
        (frame.b[0], frame.cols) = side(words[4]);
        frame.acc[0] = hex(words[2]);
        // SAFETY: the frame is as the routine reads it; whoever starts this has a machine with the instruction.
        unsafe { run(&raw mut frame) };
        println!("{} {:x}", words.join(" "), frame.acc[0] & (u64::MAX >> (64 - 8 * out)));
    }
}
