//! The codecs of all formats, called with the element type as data.
//!
//! A generic function is compiled in every crate that calls it, and these reach the encoders and decoders of every format. What is here is
//! generic in nothing, so that all crates share one copy for each element type.

use super::{Codec, Entries, FormatKind, FormatParams, Sparse};
use crate::refusal::Refusal;
use crate::scalar::Precision;
use crate::{each_format, with_format, with_scalar};
use std::any::Any;

/// The [`Entries`] of this element type as a [`Sparse`] of it.
pub(super) fn encode(
    precision: Precision,
    kind: FormatKind,
    params: &FormatParams,
    entries: &dyn Any,
) -> Result<Box<dyn Any>, Refusal> {
    with_scalar!(precision, T => {
        let entries: &Entries<T> = known(entries);
        let boxed = |matrix: Sparse<T>| -> Box<dyn Any> { Box::new(matrix) };
        with_format!(kind, Format => Format::from_entries_with(entries, params).map(|matrix| boxed(matrix.into())))
    })
}

/// The [`Sparse`] of this element type as [`Entries`] of it.
pub(super) fn decode(precision: Precision, matrix: &dyn Any) -> Box<dyn Any> {
    with_scalar!(precision, T => {
        let matrix: &Sparse<T> = known(matrix);
        Box::new(each_format!(Sparse, matrix, m => m.entries()))
    })
}

/// The parameters of the [`Sparse`] of this element type.
pub(super) fn params(precision: Precision, matrix: &dyn Any) -> FormatParams {
    with_scalar!(precision, T => {
        let matrix: &Sparse<T> = known(matrix);
        each_format!(Sparse, matrix, m => m.params())
    })
}

/// How many slots a format stores at most for the [`Entries`] of this element type.
pub(super) fn most_slots(
    precision: Precision,
    kind: FormatKind,
    params: &FormatParams,
    entries: &dyn Any,
) -> u128 {
    with_scalar!(precision, T => {
        let entries: &Entries<T> = known(entries);
        with_format!(kind, Format => Format::most_slots(entries, params))
    })
}

/// What came back, in its type.
pub(super) fn unboxed<M: 'static>(made: Box<dyn Any>) -> M {
    *made.downcast().unwrap_or_else(|_| foreign())
}

fn known<M: 'static>(given: &dyn Any) -> &M {
    given.downcast_ref().unwrap_or_else(|| foreign())
}

fn foreign() -> ! {
    unreachable!("there are no scalar types but those of the table")
}
