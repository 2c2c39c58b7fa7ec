//! SME: the blocks of `br` x 1 tiles of a LOOPS matrix times B, as outer products that are summed in ZA.
//!
//! ```text
//!                     B[col, j..]                      one step: tile (rows of the block) x piece of a row of B
//!                  [ v0 | v1 | v2 | v3 ]               added to W tiles of ZA at once; each B row is loaded once
//!   tile  [ . ]    +----+----+----+----+
//!  (rows) [ . ] x  | ZA0| ZA1| ZA2| ZA3|               f64, f32: W = 1, 2 or 4 vectors of columns
//!         [ . ]    +----+----+----+----+               f16: two tiles at a time, 2 vectors of rows x 2 of columns
//! ```
//!
//! Any streaming vector length from 128 to 2048 bits works, and any `br`: rows past a vector are another chunk of the block, rows
//! short of one are switched off by a predicate, as are columns past the last. What an element adds up, and in which order, does
//! not depend on any of that. ZA starts as +0 and its slices are stored row by row, into C itself where that is the result.
//!
//! Everything between SMSTART and SMSTOP is one naked function, since the compiler does not know of streaming mode. By the procedure
//! call standard (AAPCS64, 6.1.1 and "SME"): SMSTART and SMSTOP clear all vector registers, so d8 to d15 are saved; ZA is off on
//! return; where TPIDR2_EL0 says that ZA still holds a caller's state, nothing is done and the call is refused.
//!
//! Source: section 3.3 of the LOOPS paper, "BCSR-part"; Arm ARM (DDI 0487) C9.2 FMOPA, ZIP1, ST1W (SME).

#![expect(unsafe_code, reason = "streaming mode is out of the compiler's sight")]

mod call;
mod half;
mod single;

pub(crate) use call::{Call, multiply};

use super::detected;
use crate::feature::Feature;
use sparse_types::F16;

/// An element type that SME multiplies into `Acc`.
pub(crate) trait Outer: Copy + Sync + 'static {
    /// What ZA holds.
    type Acc;

    /// What the CPU must have for every function here.
    const NEEDS: &'static [Feature];

    /// Rows of a block that one call takes, at this thread's streaming vector length.
    ///
    /// # Safety
    /// The CPU has [`NEEDS`](Self::NEEDS).
    unsafe fn rows() -> usize;

    /// Columns that one call takes of `n`, at this thread's streaming vector length.
    ///
    /// # Safety
    /// The CPU has [`NEEDS`](Self::NEEDS).
    unsafe fn columns(n: usize) -> usize;

    /// Runs the function. Returns 0, or 1 where ZA belongs to a caller and nothing was done.
    ///
    /// # Safety
    /// The CPU has [`NEEDS`](Self::NEEDS). What [`Call`] says about its pointers holds; its `columns` are at most
    /// [`columns`](Self::columns) of themselves, and its `height` at most [`rows`](Self::rows).
    unsafe fn run(call: &Call) -> u64;
}

/// Bits of a streaming vector of this thread; 0 where the CPU has no SME.
pub(crate) fn vector_bits() -> u32 {
    if !detected(Feature::Sme) {
        return 0;
    }
    // SAFETY: the CPU has SME, as was just asked.
    8 * unsafe { vector_bytes() } as u32
}

/// Bytes of a streaming vector of this thread.
///
/// # Safety
/// The CPU has SME.
unsafe fn vector_bytes() -> usize {
    // SAFETY: RDSVL is legal outside of streaming mode on a CPU with SME, which the caller promises.
    unsafe { single::rdsvl() }
}

macro_rules! non_widening {
    ($t:ident, $needs:expr, $one:ident, $two:ident, $four:ident) => {
        impl Outer for $t {
            type Acc = $t;
            const NEEDS: &'static [Feature] = $needs;

            unsafe fn rows() -> usize {
                // SAFETY: SME is one of NEEDS, which the caller promises.
                unsafe { vector_bytes() / size_of::<$t>() }
            }

            unsafe fn columns(n: usize) -> usize {
                // SAFETY: the caller promises NEEDS.
                n.min(4 * unsafe { Self::rows() })
            }

            unsafe fn run(call: &Call) -> u64 {
                // SAFETY: the caller promises NEEDS and what `Call` says of its pointers; each function takes up to as many vectors
                // of columns as its name says, and there are at most four.
                unsafe {
                    let lanes = Self::rows();
                    if call.columns <= lanes {
                        single::$one(call)
                    } else if call.columns <= 2 * lanes {
                        single::$two(call)
                    } else {
                        single::$four(call)
                    }
                }
            }
        }
    };
}
non_widening!(f32, &[Feature::Neon, Feature::Sme], f32_1, f32_2, f32_4);
non_widening!(f64, &[Feature::Neon, Feature::Sme, Feature::SmeF64F64], f64_1, f64_2, f64_4);

impl Outer for F16 {
    type Acc = f32;
    const NEEDS: &'static [Feature] = &[Feature::Neon, Feature::Sme, Feature::SmeF16F32];

    unsafe fn rows() -> usize {
        // SAFETY: SME is one of NEEDS, which the caller promises.
        unsafe { vector_bytes() / size_of::<F16>() }
    }

    unsafe fn columns(n: usize) -> usize {
        // SAFETY: the caller promises NEEDS.
        n.min(unsafe { Self::rows() })
    }

    unsafe fn run(call: &Call) -> u64 {
        // SAFETY: the caller promises NEEDS and what `Call` says of its pointers, at most one vector of columns.
        unsafe { half::f16_2way(call) }
    }
}
