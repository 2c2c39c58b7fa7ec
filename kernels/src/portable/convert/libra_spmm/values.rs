//! The values of both conversions: lists of offsets, gathered.

use super::encode::SMALL;
use crate::portable::element::Stored;
use rayon::prelude::*;

/// The elements at these offsets.
pub(in crate::portable::convert) fn gather<T: Stored>(from: &[T], at: &[u32]) -> Vec<T> {
    let pick = |&at: &u32| from[at as usize];
    if at.len() < SMALL {
        return at.iter().map(pick).collect();
    }
    at.par_iter().with_min_len(SMALL).map(pick).collect()
}

/// The elements at these offsets of one list followed by another.
pub(in crate::portable::convert) fn gather_both<T: Stored>(first: &[T], second: &[T], at: &[u32]) -> Vec<T> {
    let pick = |&at: &u32| {
        let at = at as usize;
        first.get(at).copied().unwrap_or_else(|| second[at - first.len()])
    };
    if at.len() < SMALL {
        return at.iter().map(pick).collect();
    }
    at.par_iter().with_min_len(SMALL).map(pick).collect()
}
