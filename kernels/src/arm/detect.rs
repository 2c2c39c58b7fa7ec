//! What an Arm CPU has, asked of the operating system: the ID registers are not for programs to read.
//!
//! ```text
//! Linux    getauxval(AT_HWCAP, AT_HWCAP2)          one bit each (arch/arm64/include/uapi/asm/hwcap.h)
//! macOS    sysctlbyname("hw.optional.arm.FEAT_*")  one int each
//! others   Advanced SIMD only, which every AArch64 program may use
//! ```
//!
//! The standard library's macro has SME only on nightly compilers (issue 127764).

#![cfg_attr(
    any(target_os = "linux", target_os = "android", target_vendor = "apple"),
    expect(unsafe_code, reason = "both systems answer through a C function")
)]

use crate::feature::Feature;

/// True when this machine has it.
pub(crate) fn detected(feature: Feature) -> bool {
    match feature {
        // Part of the base of every AArch64 target of Rust that has an operating system.
        Feature::Neon => true,
        Feature::Fp16 | Feature::Sme | Feature::SmeF64F64 | Feature::SmeF16F32 => system::has(feature),
        _ => false,
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use super::Feature;
    use std::ffi::c_ulong;

    const AT_HWCAP: c_ulong = 16;
    const AT_HWCAP2: c_ulong = 26;

    unsafe extern "C" {
        /// glibc, musl and bionic: the value of an entry of the auxiliary vector, 0 if there is none.
        safe fn getauxval(entry: c_ulong) -> c_ulong;
    }

    pub(super) fn has(feature: Feature) -> bool {
        let bits = |entry: c_ulong, wanted: &[u32]| {
            let word = u64::from(getauxval(entry));
            wanted.iter().all(|bit| word >> bit & 1 == 1)
        };
        match feature {
            // FPHP and ASIMDHP.
            Feature::Fp16 => bits(AT_HWCAP, &[9, 10]),
            Feature::Sme => bits(AT_HWCAP2, &[23]),
            Feature::SmeF64F64 => bits(AT_HWCAP2, &[25]),
            Feature::SmeF16F32 => bits(AT_HWCAP2, &[27]),
            _ => false,
        }
    }
}

#[cfg(target_vendor = "apple")]
mod system {
    use super::Feature;
    use std::ffi::{CStr, c_char, c_int, c_void};

    unsafe extern "C" {
        fn sysctlbyname(
            name: *const c_char,
            old: *mut c_void,
            old_len: *mut usize,
            new: *mut c_void,
            new_len: usize,
        ) -> c_int;
    }

    pub(super) fn has(feature: Feature) -> bool {
        match feature {
            Feature::Fp16 => is_set(c"hw.optional.arm.FEAT_FP16"),
            Feature::Sme => is_set(c"hw.optional.arm.FEAT_SME"),
            Feature::SmeF64F64 => {
                is_set(c"hw.optional.arm.SME_F64F64") || is_set(c"hw.optional.arm.FEAT_SME_F64F64")
            }
            Feature::SmeF16F32 => is_set(c"hw.optional.arm.SME_F16F32"),
            _ => false,
        }
    }

    /// True when the system knows the name and its value is not 0.
    fn is_set(name: &CStr) -> bool {
        let mut value: c_int = 0;
        let mut len = size_of::<c_int>();
        // SAFETY: `name` ends with a zero; `value` has `len` bytes; nothing is set (the new value is null, of length 0).
        let status = unsafe {
            sysctlbyname(name.as_ptr(), (&raw mut value).cast(), &raw mut len, std::ptr::null_mut(), 0)
        };
        status == 0 && value != 0
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use super::Feature;

    pub(super) fn has(_: Feature) -> bool {
        false
    }
}
