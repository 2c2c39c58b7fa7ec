//! The floating-point environment of this thread: rounding mode, flushing of subnormals, traps. A kernel may change it and must
//! leave it as it found it; else the caller's next sum is another one.
//!
//! ```text
//! x86-64   MXCSR (rounding 13-14, flush results 15, flush operands 6, traps 7-12), x87 control word
//! aarch64  FPCR  (rounding 22-23, flush 24, flush f16 19, default NaN 25, traps 8-15)
//! ```
//!
//! Other processors have none here: it is never seen to change. Flags that only record what happened are not part of it.

/// Control bits of the floating-point units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment {
    /// MXCSR or FPCR, without flags.
    control: u64,
    /// Control word of the x87 unit; 0 elsewhere.
    x87: u16,
}

/// Flags of MXCSR: they record, and control nothing.
#[cfg(target_arch = "x86_64")]
const FLAGS: u32 = 0x3f;

/// What a thread starts with: round to nearest, subnormals kept, no traps.
impl Default for Environment {
    fn default() -> Environment {
        #[cfg(target_arch = "x86_64")]
        return Environment { control: 0x1f80, x87: 0x37f };
        #[cfg(not(target_arch = "x86_64"))]
        Environment { control: 0, x87: 0 }
    }
}

impl Environment {
    /// That of the calling thread.
    #[must_use]
    pub fn now() -> Environment {
        #[cfg(target_arch = "x86_64")]
        {
            let (mut mxcsr, mut x87) = (0u32, 0u16);
            // SAFETY: both instructions only write, 4 and 2 bytes, to variables of these sizes.
            unsafe {
                std::arch::asm!(
                    "stmxcsr [{mxcsr}]",
                    "fnstcw [{x87}]",
                    mxcsr = in(reg) &raw mut mxcsr,
                    x87 = in(reg) &raw mut x87,
                    options(nostack, preserves_flags)
                );
            };
            Environment { control: u64::from(mxcsr & !FLAGS), x87 }
        }
        #[cfg(target_arch = "aarch64")]
        {
            let control: u64;
            // SAFETY: reads a register that every program may read.
            unsafe {
                std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
            };
            Environment { control, x87: 0 }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Environment::default()
    }

    /// Makes it that of the calling thread again.
    pub fn restore(self) {
        if self == Environment::now() {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        {
            let (mxcsr, x87) = (self.control as u32, self.x87);
            // SAFETY: both instructions only read variables of their sizes. The values were in these registers before (`now`, or the
            // start of the thread), so no reserved bit is set; compiled code expects what a thread starts with, and nothing else.
            unsafe {
                std::arch::asm!(
                    "ldmxcsr [{mxcsr}]",
                    "fldcw [{x87}]",
                    mxcsr = in(reg) &raw const mxcsr,
                    x87 = in(reg) &raw const x87,
                    options(nostack, preserves_flags)
                );
            };
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the value was in this register before, or is that of a new thread.
        unsafe {
            std::arch::asm!("msr fpcr, {}", in(reg) self.control, options(nomem, nostack, preserves_flags));
        };
    }

    /// What is another in `after`, in words; `None` where nothing is.
    #[must_use]
    pub fn change(self, after: Environment) -> Option<String> {
        if self == after {
            return None;
        }
        let flipped = self.control ^ after.control;
        let mut words: Vec<String> = PARTS
            .iter()
            .filter(|(mask, _)| flipped & mask != 0)
            .map(|(mask, what)| {
                let shift = mask.trailing_zeros();
                let of = |e: Environment| (e.control & mask) >> shift;
                format!("{what} (0x{:x} before, 0x{:x} after)", of(self), of(after))
            })
            .collect();
        if self.x87 != after.x87 {
            words.push(format!("the x87 control word (0x{:x} before, 0x{:x} after)", self.x87, after.x87));
        }
        if words.is_empty() {
            words.push(format!("control bits (0x{:x} before, 0x{:x} after)", self.control, after.control));
        }
        Some(words.join(", "))
    }

    /// The same with results that are subnormal flushed to zero, and the rounding upwards: what tests change.
    #[must_use]
    pub fn flushing_upwards(self) -> Environment {
        Environment { control: self.control | CHANGED, ..self }
    }
}

/// Bits of the control register, and what they are about.
#[cfg(target_arch = "x86_64")]
const PARTS: [(u64, &str); 4] = [
    (0x6000, "the rounding mode"),
    (0x8000, "flushing of subnormal results"),
    (0x0040, "flushing of subnormal operands"),
    (0x1f80, "traps"),
];
#[cfg(target_arch = "x86_64")]
const CHANGED: u64 = 0xc000;

/// Bits of the control register, and what they are about.
#[cfg(not(target_arch = "x86_64"))]
const PARTS: [(u64, &str); 4] = [
    (0x00c0_0000, "the rounding mode"),
    (0x0100_0000, "flushing of subnormals"),
    (0x0008_0000, "flushing of subnormals in f16"),
    (0x0000_ff00, "traps"),
];
#[cfg(target_arch = "aarch64")]
const CHANGED: u64 = 0x0140_0000;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CHANGED: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_starts_with_the_default_and_gets_back_what_it_had() {
        let found = Environment::now();
        assert_eq!(found, Environment::default());
        assert_eq!(found.change(found), None);
        found.flushing_upwards().restore();
        let left = Environment::now();
        found.restore();
        assert_eq!(Environment::now(), found);
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            let words = found.change(left).expect("changed");
            assert!(words.contains("rounding mode") && words.contains("flushing"), "{words}");
        }
    }
}
