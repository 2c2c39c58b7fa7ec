//! What every fuzz binary is: a function of `sparse-fuzz-targets` behind libFuzzer, and a count of the inputs that
//! it accepted.
//!
//! The count is printed whenever the number of inputs is a power of two: libFuzzer leaves without a last word.
//!
//! ```text
//! fuzz: bitmap_decode accepted 3321 of 8192 inputs, 40 %, wanted 20 %
//! ```

#![forbid(unsafe_code)]

pub use libfuzzer_sys;
pub use sparse_fuzz_targets as targets;

use std::sync::atomic::{AtomicU64, Ordering};
use targets::{FuzzOutcome, Target};

/// The body of a binary: `target!(bitmap_decode);`, or `target!(other_targets::journal);` for those of another crate that has a
/// table.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        use $crate::targets;
        $crate::target!(targets::$name);
    };
    ($targets:ident::$name:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            // Looked up by the compiler, so that the table and with it all other targets stay out of the binary.
            const FLOOR: u32 = $crate::floor(&$targets::TARGETS, stringify!($name));
            $crate::count(stringify!($name), FLOOR, $targets::$name(bytes));
        });
    };
}

static INPUTS: AtomicU64 = AtomicU64::new(0);
static ACCEPTED: AtomicU64 = AtomicU64::new(0);

/// Counts one input, and prints the counts now and then.
pub fn count(target: &str, floor: u32, outcome: FuzzOutcome) {
    if outcome == FuzzOutcome::Accepted {
        ACCEPTED.fetch_add(1, Ordering::Relaxed);
    }
    let inputs = INPUTS.fetch_add(1, Ordering::Relaxed) + 1;
    if inputs >= 256 && inputs.is_power_of_two() {
        let accepted = ACCEPTED.load(Ordering::Relaxed);
        let share = accepted * 100 / inputs;
        eprintln!("fuzz: {target} accepted {accepted} of {inputs} inputs, {share} %, wanted {floor} %");
    }
}

/// The share of accepted inputs that a target must show, in percent.
///
/// # Panics
/// When there is no such target: then the binary does not compile.
#[must_use]
pub const fn floor(targets: &[Target], name: &str) -> u32 {
    let mut at = 0;
    while at < targets.len() {
        if same(targets[at].name.as_bytes(), name.as_bytes()) {
            return targets[at].floor;
        }
        at += 1;
    }
    panic!("no such target in the table");
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
