//! What RP-CSC and CP-CSR conversions share: the widths of their fields, and tasks that run on threads where that pays.

use crate::portable::convert::jobs::with_scratch;
use sparse_types::format::FormatParams;
use sparse_types::refusal::{Refusal, RequestError};

/// Entries from which threads are worth starting.
pub(in crate::portable::convert) const PARALLEL: usize = 1 << 14;
/// Bits of a group bitmap.
const GROUPS: usize = 64;
/// What a 16-bit index can count.
const EXTENT: usize = 1 << 16;
/// What an 8-bit length can say.
pub(in crate::portable::convert) const LANE: usize = 255;

/// What to call the sides of a matrix in refusals: the grouped one is cut into groups, the other has 16-bit indices.
pub(in crate::portable::convert) struct Sides {
    pub(in crate::portable::convert) other: &'static str,
    pub(in crate::portable::convert) group: &'static str,
}

/// Checks groups and extents; returns the number of groups and how many rows (columns) each has.
pub(in crate::portable::convert) fn check_groups(
    params: FormatParams,
    sides: &Sides,
    grouped: usize,
    other: usize,
) -> Result<(usize, usize), Refusal> {
    let groups = params.groups as usize;
    if groups == 0 {
        return Err(RequestError::Zero { field: "groups" }.into());
    }
    let extent = grouped.div_ceil(groups);
    for (field, found, limit) in
        [("groups", groups, GROUPS), (sides.other, other, EXTENT), (sides.group, extent, EXTENT)]
    {
        if found > limit {
            return Err(RequestError::TooLarge { field, found: found as u128, limit: limit as u64 }.into());
        }
    }
    Ok((groups, extent))
}

/// Runs every task, on all threads where that pays; each thread has one scratch.
pub(in crate::portable::convert) fn each<X: Send, S: Default>(
    entries: usize,
    tasks: Vec<X>,
    work: impl Fn(&mut S, X) + Sync,
) {
    if entries < PARALLEL {
        let mut scratch = S::default();
        tasks.into_iter().for_each(|task| work(&mut scratch, task));
    } else {
        with_scratch(tasks, work);
    }
}

/// Cuts slices of the given lengths off the front of `rest`, one after the other.
pub(in crate::portable::convert) fn pieces<X>(
    mut rest: &mut [X],
    lengths: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &mut [X]> {
    lengths.map(move |length| {
        let (piece, tail) = std::mem::take(&mut rest).split_at_mut(length);
        rest = tail;
        piece
    })
}
