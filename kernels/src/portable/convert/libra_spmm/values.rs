//! The values of both conversions: lists of offsets, gathered.

use super::encode::SMALL;
use crate::portable::element::Stored;
use crate::spread::mapped;

/// The elements at these offsets.
pub(in crate::portable::convert) fn gather<T: Stored>(from: &[T], at: &[u32]) -> Vec<T> {
    mapped(at, SMALL, |&at| from[at as usize])
}

/// The elements at these offsets of one list followed by another.
pub(in crate::portable::convert) fn gather_both<T: Stored>(first: &[T], second: &[T], at: &[u32]) -> Vec<T> {
    mapped(at, SMALL, |&at| {
        let at = at as usize;
        first.get(at).copied().unwrap_or_else(|| second[at - first.len()])
    })
}
