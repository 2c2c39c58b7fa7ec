//! The parameters behind a partition, which the format does not store.
//!
//! The scan decides about the first rows of windows and the CUDA rows only. If some thresholds lead to a partition, so do
//! the tightest ones that still send each of its CUDA rows there: every window's row stays, because a tighter threshold
//! sends fewer. Hence one candidate per rule is enough, and each is tried by scanning again.

use super::partition::{RsTilePartition, RsTileThresholds, added_columns, partition, window_at};
use crate::format::{Entries, Entry, FormatParams, ImpactRule};

/// Parameters that lead to `wanted`: the default ones if they do, else the tightest of a rule; `None` when there are none.
/// The entries must be valid.
#[must_use]
pub fn recover<T>(entries: &Entries<T>, wanted: &RsTilePartition) -> Option<FormatParams> {
    let rows: Vec<&[Entry<T>]> = entries.list.chunk_by(|a, b| a.row == b.row).collect();
    let at = |row: &u32| rows.binary_search_by_key(row, |lane| lane[0].row).ok();
    let sent: Vec<usize> = wanted.residual.iter().map(at).collect::<Option<_>>()?;
    let added = || sent.iter().map(|&at| added_columns(window_at(&rows, at)) as u32);
    let longest = sent.iter().map(|&at| rows[at].len()).max().unwrap_or(0) as u32;
    let candidate =
        |impact, tau_inc| FormatParams { tau_nnz: Some(longest), tau_inc, impact, ..FormatParams::default() };
    let candidates = [
        FormatParams::default(),
        candidate(ImpactRule::AsDescribed, None),
        candidate(ImpactRule::AsDescribed, added().min()),
        candidate(ImpactRule::AsPrinted, added().max().map(|most| most.saturating_add(1))),
    ];
    let leads_there = |params: &FormatParams| {
        let thresholds = RsTileThresholds::new(entries.rows, entries.nnz(), params);
        partition(entries, &thresholds) == *wanted
    };
    candidates.into_iter().find(leads_there)
}
