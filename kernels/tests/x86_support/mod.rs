//! The instructions themselves, on arrays: each sets MXCSR, runs once, and restores MXCSR inside one block of assembly.
//!
//! ```text
//! acc, a, b (64 bytes each)  ->  zmm0, zmm1, zmm2  ->  instruction  ->  zmm0  ->  acc
//! ```
//!
//! Elements are u32 words whatever their type: f64 takes two of them, bf16 and f16 half of one.

#[path = "amx.rs"]
pub(crate) mod amx;

use std::arch::asm;

/// The contents of a register.
pub(crate) type Words = [u32; 16];

/// What can be run on three vectors.
pub(crate) struct Vector {
    pub(crate) name: &'static str,
    pub(crate) available: fn() -> bool,
    /// acc, a, b, MXCSR; the result is in acc.
    pub(crate) run: fn(&mut Words, &Words, &Words, u32),
}

fn avx512f() -> bool {
    is_x86_feature_detected!("avx512f")
}

fn avx512bf16() -> bool {
    avx512f() && is_x86_feature_detected!("avx512bf16")
}

fn avx512fp16() -> bool {
    avx512f() && is_x86_feature_detected!("avx512fp16")
}

macro_rules! vector {
    ($available:ident, $name:literal, $instruction:literal) => {
        Vector {
            name: $name,
            available: $available,
            run: |acc, a, b, mxcsr| {
                assert!($available(), "{} is not there", $name);
                let mut modes = [mxcsr, 0];
                // SAFETY: the CPU has the instruction (asserted). The block reads 64 bytes of acc, a and b, which are 64
                // bytes long, writes those of acc, and reads and writes the 8 bytes of modes. All exceptions are masked
                // in every MXCSR given, or the instruction does not raise any; MXCSR is as before at the end.
                unsafe {
                    asm!(
                        "vmovups zmm0, [{acc}]", "vmovups zmm1, [{a}]", "vmovups zmm2, [{b}]",
                        "stmxcsr [{modes} + 4]", "ldmxcsr [{modes}]",
                        $instruction,
                        "ldmxcsr [{modes} + 4]", "vmovups [{acc}], zmm0",
                        acc = in(reg) acc.as_mut_ptr(), a = in(reg) a.as_ptr(), b = in(reg) b.as_ptr(),
                        modes = in(reg) modes.as_mut_ptr(),
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, options(nostack, preserves_flags),
                    );
                }
            },
        }
    };
}

/// acc + a * b of bf16 pairs.
pub(crate) const VDPBF16PS: Vector = vector!(avx512bf16, "vdpbf16ps", "vdpbf16ps zmm0, zmm1, zmm2");

/// a * b + acc, written three ways. The operands come in the order that the form gives them: see `x86::fma`.
pub(crate) const FMA_F32: [Vector; 3] = [
    // zmm1 is the first factor and must be the destination: exchanged with zmm0 before and after.
    vector!(avx512f, "vfmadd132ps", "vmovaps zmm3, zmm1\nvfmadd132ps zmm3, zmm0, zmm2\nvmovaps zmm0, zmm3"),
    vector!(avx512f, "vfmadd213ps", "vmovaps zmm3, zmm2\nvfmadd213ps zmm3, zmm1, zmm0\nvmovaps zmm0, zmm3"),
    vector!(avx512f, "vfmadd231ps", "vfmadd231ps zmm0, zmm1, zmm2"),
];

/// The same on f64.
pub(crate) const FMA_F64: [Vector; 3] = [
    vector!(avx512f, "vfmadd132pd", "vmovaps zmm3, zmm1\nvfmadd132pd zmm3, zmm0, zmm2\nvmovaps zmm0, zmm3"),
    vector!(avx512f, "vfmadd213pd", "vmovaps zmm3, zmm2\nvfmadd213pd zmm3, zmm1, zmm0\nvmovaps zmm0, zmm3"),
    vector!(avx512f, "vfmadd231pd", "vfmadd231pd zmm0, zmm1, zmm2"),
];

/// The same on f16.
pub(crate) const FMA_F16: [Vector; 3] = [
    vector!(
        avx512fp16,
        "vfmadd132ph",
        "vmovaps zmm3, zmm1\nvfmadd132ph zmm3, zmm0, zmm2\nvmovaps zmm0, zmm3"
    ),
    vector!(
        avx512fp16,
        "vfmadd213ph",
        "vmovaps zmm3, zmm2\nvfmadd213ph zmm3, zmm1, zmm0\nvmovaps zmm0, zmm3"
    ),
    vector!(avx512fp16, "vfmadd231ph", "vfmadd231ph zmm0, zmm1, zmm2"),
];

/// acc = a + b, f32 and f64.
pub(crate) const ADD: [Vector; 2] = [
    vector!(avx512f, "vaddps", "vaddps zmm0, zmm1, zmm2"),
    vector!(avx512f, "vaddpd", "vaddpd zmm0, zmm1, zmm2"),
];

/// acc = a, 16 f16 in its low half, as f32.
pub(crate) const VCVTPH2PS: Vector = vector!(avx512f, "vcvtph2ps", "vcvtph2ps zmm0, ymm1");

/// acc = a as f16 in the low half, rounded as MXCSR says.
pub(crate) const VCVTPS2PH: Vector =
    vector!(avx512f, "vcvtps2ph", "vpxord zmm0, zmm0, zmm0\nvcvtps2ph ymm0, zmm1, 4");

/// The lowest elements alone, by the instructions of FMA3.
pub(crate) const SCALAR: [Vector; 2] = [
    vector!(avx512f, "vfmadd231ss", "vfmadd231ss xmm0, xmm1, xmm2"),
    vector!(avx512f, "vfmadd231sd", "vfmadd231sd xmm0, xmm1, xmm2"),
];
