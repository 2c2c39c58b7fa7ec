//! How runs of elements enter the accumulator's type and leave it: F16C for f16, shifts for bf16, a table for the 8-bit types.

use super::isa::Isa;
use crate::portable::element::{Operand, Output};
use crate::portable::unit::Unit;
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};
use std::sync::LazyLock;

/// An operand of products in `A`.
pub(super) trait Enter<A: Unit>: Operand<A> + Default {
    /// The same elements, where the stored type is the accumulator's.
    fn as_unit(_: &[Self]) -> Option<&[A]> {
        None
    }

    /// Widens every element; exact but for the input rounding of tf32. The runs are of one length.
    fn widen<S: Isa>(_: S, from: &[Self], to: &mut [A]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = from.load();
        }
    }
}

/// A result of sums in `A`.
pub(super) trait Leave<A: Unit>: Output<A> + Default {
    /// The same elements, where the output type is the accumulator's.
    fn as_unit(_: &mut [Self]) -> Option<&mut [A]> {
        None
    }

    /// Exact.
    fn read<S: Isa>(_: S, from: &[Self], to: &mut [A]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = from.widen();
        }
    }

    /// One rounding.
    fn narrow<S: Isa>(_: S, from: &[A], to: &mut [Self]) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = Self::store(from);
        }
    }
}

macro_rules! own {
    ($($t:ty),*) => {$(
        impl Enter<$t> for $t {
            fn as_unit(elements: &[$t]) -> Option<&[$t]> {
                Some(elements)
            }
        }

        impl Leave<$t> for $t {
            fn as_unit(elements: &mut [$t]) -> Option<&mut [$t]> {
                Some(elements)
            }
        }
    )*};
}
own!(f64, f32);

impl Enter<f32> for Tf32 {}
impl Enter<f32> for Bf16 {}
impl Leave<f32> for Bf16 {}

impl Enter<f32> for F16 {
    fn widen<S: Isa>(isa: S, from: &[F16], to: &mut [f32]) {
        isa.widen_f16(from, to);
    }
}

impl Leave<f32> for F16 {
    fn read<S: Isa>(isa: S, from: &[F16], to: &mut [f32]) {
        isa.widen_f16(from, to);
    }

    fn narrow<S: Isa>(isa: S, from: &[f32], to: &mut [F16]) {
        isa.narrow_f16(from, to);
    }
}

/// The numbers of all codes of an 8-bit type.
macro_rules! by_table {
    ($t:ident) => {
        impl Enter<f32> for $t {
            fn widen<S: Isa>(_: S, from: &[$t], to: &mut [f32]) {
                static NUMBERS: LazyLock<[f32; 256]> =
                    LazyLock::new(|| std::array::from_fn(|code| $t(code as u8).load()));
                let numbers = &*NUMBERS;
                for (to, from) in to.iter_mut().zip(from) {
                    *to = numbers[usize::from(from.0)];
                }
            }
        }
    };
}
by_table!(E4m3);
by_table!(E5m2);
