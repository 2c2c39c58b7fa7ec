//! Element types: what a bit pattern means, exactly. Every type here embeds exactly in f64.

mod any;
mod decode;
mod float8;
mod half_types;
mod native;
mod spec;
mod tf32;

pub use any::{AnySlice, AnySliceMut, Element, Values, element_types};
pub use decode::{decode, infinity_bits, max_finite_bits, power_of_two};
pub use float8::{E4m3, E5m2};
pub use half_types::{Bf16, F16};
pub(crate) use spec::precisions;
pub use spec::{FloatSpec, Precision, Specials};
pub use tf32::Tf32;

/// An element type: a fixed-width bit pattern with a numeric meaning.
pub trait Scalar: Copy + Default + std::fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Which type this is, as data.
    const PRECISION: Precision;

    /// The value whose bit pattern is the low [`FloatSpec::storage_bits`] bits of `bits`.
    fn from_bits64(bits: u64) -> Self;

    /// The bit pattern, zero-extended.
    fn bits64(self) -> u64;

    /// The exact value (NaN maps to NaN, infinities to infinities).
    ///
    /// For [`Tf32`] this is the stored f32 value; a declared input rounding is applied separately.
    fn to_f64(self) -> f64;

    /// True for the pattern of +0.0 only (a pad is bitwise +0.0).
    fn is_positive_zero(self) -> bool {
        self.bits64() == 0
    }
}
