//! Intel AMX, where the CPU has it and the kernel grants it (`arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)`).
//!
//! ```text
//! tmm0 (C)   16 rows x 16 f32          tmm1 (A)   16 rows x `pairs` pairs          tmm2 (B)   `pairs` rows x 16 pairs
//! ```

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};

/// 16 rows of 64 bytes.
pub(crate) type Tile = [[u32; 16]; 16];

/// An AMX dot product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dot {
    Bf16,
    Fp16,
}

/// What LDTILECFG reads.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// Why the instruction cannot be run here, if so.
pub(crate) fn missing(dot: Dot) -> Option<String> {
    if __cpuid(0).eax < 7 {
        return Some("CPUID has no leaf 7".to_owned());
    }
    let leaf = __cpuid_count(7, 0);
    let has = leaf.edx >> 24 & 1 == 1
        && match dot {
            Dot::Bf16 => leaf.edx >> 22 & 1 == 1,
            Dot::Fp16 => leaf.eax >= 1 && __cpuid_count(7, 1).eax >> 21 & 1 == 1,
        };
    if !has {
        return Some("the CPU does not have it".to_owned());
    }
    let granted = request();
    (granted != 0).then(|| format!("the kernel does not grant it: arch_prctl says {granted}"))
}

/// Asks Linux for the tile registers; 0 if they are granted.
fn request() -> i64 {
    let mut result = 158i64;
    // SAFETY: a system call without pointers: arch_prctl(0x1023, 18). It changes rax, rcx and r11, as declared.
    unsafe {
        asm!("syscall", inout("rax") result, in("rdi") 0x1023, in("rsi") 18, out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

macro_rules! multiply {
    ($instruction:literal, $configuration:ident, $c:ident, $a:ident, $b:ident) => {
        // SAFETY: the caller found the instruction to be there and granted. The configuration is 64 bytes, of palette 1 and
        // within its limits; each tile is read, and C written, 64 bytes a row for at most the 16 rows that it has. The tiles
        // are released at the end.
        unsafe {
            asm!(
                "ldtilecfg [{configuration}]",
                "tileloadd tmm0, [{c} + {stride}]", "tileloadd tmm1, [{a} + {stride}]", "tileloadd tmm2, [{b} + {stride}]",
                $instruction,
                "tilestored [{c} + {stride}], tmm0", "tilerelease",
                configuration = in(reg) &raw const $configuration, c = in(reg) $c.as_mut_ptr(), a = in(reg) $a.as_ptr(),
                b = in(reg) $b.as_ptr(), stride = in(reg) 64usize, options(nostack, preserves_flags),
            );
        }
    };
}

/// C += A * B with `pairs` (1 to 16) pairs along k, which [`missing`] must have allowed.
pub(crate) fn multiply(dot: Dot, pairs: usize, c: &mut Tile, a: &Tile, b: &Tile) {
    assert!((1..=16).contains(&pairs) && missing(dot).is_none());
    let mut configuration =
        Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
    configuration.row_bytes[..3].copy_from_slice(&[64, 4 * pairs as u16, 64]);
    configuration.rows[..3].copy_from_slice(&[16, 16, pairs as u8]);
    match dot {
        Dot::Bf16 => multiply!("tdpbf16ps tmm0, tmm1, tmm2", configuration, c, a, b),
        Dot::Fp16 => multiply!("tdpfp16ps tmm0, tmm1, tmm2", configuration, c, a, b),
    }
}
