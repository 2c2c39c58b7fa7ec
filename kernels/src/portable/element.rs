//! Element types as kernels see them: how an operand enters a unit, how a result leaves it, how duplicates are settled.
//!
//! f16 and bf16 go through the `half` crate, an opinion independent of the oracle's encoder.

use super::exact_sum::{ExactSum, To};
use super::rounding::{nearest_code, to_odd_f32};
use super::unit::Unit;
use half::{bf16, f16};
use sparse_types::arithmetic::Input;
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::{AnySparse, FormatKind, PartsElement, Sparse};
use sparse_types::scalar::Element;
use sparse_types::{Bf16, E4m3, E5m2, F16, Scalar, Tf32};

/// A type that sparse matrices store.
pub(crate) trait Stored: Element + PartsElement {
    /// The typed matrix, if its elements are of this type.
    fn open(matrix: &AnySparse) -> Option<&Sparse<Self>>;

    /// An exact sum, rounded once.
    fn round_sum(sum: &ExactSum) -> Self;
}

/// A type that enters products in unit `A`.
pub(crate) trait Operand<A>: Stored {
    /// What [`load`](Self::load) does to the stored value.
    const INPUT: Input = Input::AsStored;

    /// The value in the unit.
    fn load(self) -> A;

    /// The same elements, where loading one changes nothing.
    fn as_loaded(_: &[Self]) -> Option<&[A]> {
        None
    }
}

/// A type that results of unit `A` are returned in.
pub(crate) trait Output<A>: Stored {
    /// One rounding, none where the types are the same.
    fn store(acc: A) -> Self;

    /// Exact.
    fn widen(self) -> A;
}

/// The contract of an operation on these element types, both operands of one.
pub(crate) fn contract<I: Operand<A>, A: Unit, O: Output<A>>(op: Op, format: FormatKind) -> Contract {
    let types = Types { a: I::PRECISION, b: I::PRECISION, acc: A::PRECISION, out: O::PRECISION };
    Contract { op, format, to: None, types }
}

macro_rules! stored {
    ($($t:ty => $variant:ident, $sum:ident => $round:expr;)*) => {$(
        impl Stored for $t {
            fn open(matrix: &AnySparse) -> Option<&Sparse<Self>> {
                if let AnySparse::$variant(typed) = matrix { Some(typed) } else { None }
            }

            fn round_sum($sum: &ExactSum) -> Self {
                $round
            }
        }
    )*};
}
stored! {
    f64 => F64, sum => sum.round(To::Nearest);
    f32 => F32, sum => sum.round(To::Odd) as f32;
    // Stored as f32, not yet rounded to tf32.
    Tf32 => Tf32, sum => Tf32((sum.round(To::Odd) as f32).to_bits());
    F16 => F16, sum => F16(f16::from_f32(to_odd_f32(sum.round(To::Odd))).to_bits());
    Bf16 => Bf16, sum => Bf16(bf16::from_f32(to_odd_f32(sum.round(To::Odd))).to_bits());
    E4m3 => E4m3, sum => E4m3(eight_bits(sum.round(To::Odd), 0x7e, 0x7f, |code| E4m3(code).to_f64()));
    E5m2 => E5m2, sum => E5m2(eight_bits(sum.round(To::Odd), 0x7b, 0x7e, |code| E5m2(code).to_f64()));
}

/// The code of an 8-bit float, sign included.
fn eight_bits(x: f64, largest: u8, nan: u8, value: impl Fn(u8) -> f64) -> u8 {
    let code = if x.is_nan() { nan } else { nearest_code(x, largest, value) };
    code | if x.is_sign_negative() { 0x80 } else { 0 }
}

impl Operand<f64> for f64 {
    fn load(self) -> f64 {
        self
    }

    fn as_loaded(elements: &[f64]) -> Option<&[f64]> {
        Some(elements)
    }
}

impl Operand<f32> for f32 {
    fn load(self) -> f32 {
        self
    }

    fn as_loaded(elements: &[f32]) -> Option<&[f32]> {
        Some(elements)
    }
}

impl Operand<f32> for Tf32 {
    const INPUT: Input = Input::Tf32Rna;

    fn load(self) -> f32 {
        f32::from_bits(self.round_rna().0)
    }
}

impl Operand<f32> for F16 {
    fn load(self) -> f32 {
        f16::from_bits(self.0).to_f32()
    }
}

impl Operand<f16> for F16 {
    fn load(self) -> f16 {
        f16::from_bits(self.0)
    }
}

impl Operand<f32> for Bf16 {
    fn load(self) -> f32 {
        bf16::from_bits(self.0).to_f32()
    }
}

impl Operand<bf16> for Bf16 {
    fn load(self) -> bf16 {
        bf16::from_bits(self.0)
    }
}

impl Operand<f32> for E4m3 {
    fn load(self) -> f32 {
        self.to_f64() as f32
    }
}

impl Operand<f32> for E5m2 {
    fn load(self) -> f32 {
        self.to_f64() as f32
    }
}

impl<A: Unit + Stored> Output<A> for A {
    fn store(acc: A) -> A {
        acc
    }

    fn widen(self) -> A {
        self
    }
}

impl Output<f32> for F16 {
    fn store(acc: f32) -> F16 {
        F16(f16::from_f32(acc).to_bits())
    }

    fn widen(self) -> f32 {
        self.load()
    }
}

impl Output<f16> for F16 {
    fn store(acc: f16) -> F16 {
        F16(acc.to_bits())
    }

    fn widen(self) -> f16 {
        self.load()
    }
}

impl Output<bf16> for Bf16 {
    fn store(acc: bf16) -> Bf16 {
        Bf16(acc.to_bits())
    }

    fn widen(self) -> bf16 {
        self.load()
    }
}

impl Output<f32> for Bf16 {
    fn store(acc: f32) -> Bf16 {
        Bf16(bf16::from_f32(acc).to_bits())
    }

    fn widen(self) -> f32 {
        self.load()
    }
}
