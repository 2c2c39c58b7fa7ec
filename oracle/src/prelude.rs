//! The traits by which the oracle gives data types their meaning: encoding, decoding, rounding, admission.
//!
//! The types are those of [`sparse_types`], which kernels share; what these traits do, kernels do for themselves.

pub use crate::format::convert::{AnyCodec, SparseCodec};
pub use crate::format::{Codec, CooCodec, RawOf};
pub use crate::model::{Admits, Contradicts};
pub use crate::scalar::{FromF64, ValuesFromF64};
