//! RSH-SpMM: which rows form windows and which go to the CUDA part.
//!
//! ```text
//! row 0  a . . b .      4 entries      window 0: rows 0..8, whatever they hold
//! ...
//! row 8  . . . . .                     empty before a window: skipped
//! row 9  . c . . .      1 entry, and column 1 occurs in none of rows 10..17: CUDA part
//! row 10 d . e . f      longer than tau_nnz: window 1 starts here, rows 10..18
//! ```
//!
//! Section 3.3.1, Algorithm 1. The scan asks about one row at a time. A row that is not sent to the CUDA part starts
//! a window, and the seven rows below it follow unasked, short or empty as they may be.
//!
//! Two things are missing in the paper or contradict one another (SEMANTICS section 7a): `EstimateThreshold` is not
//! given, and the text sends short rows to the CUDA part when they overlap *little* with their window where the
//! algorithm does so when they add *few* columns. Both rules exist.

use crate::format::{Entries, Entry, FormatParams, ImpactRule};

/// Rows of a window, and rows and columns of a block.
pub const WINDOW: usize = 8;

/// `EstimateThreshold`: the most entries of a CUDA row, `clamp(floor(nnz / (2 * rows)), 1, 4)`; 1 without rows.
///
/// The paper says no more than that it is small, and depends on size and sparsity. Half the mean keeps the rule to
/// rows that are short for this matrix; 4 is where figure 14 flattens.
#[must_use]
pub fn estimate_tau_nnz(rows: usize, nnz: usize) -> u32 {
    let half_mean = nnz.checked_div(rows.saturating_mul(2)).unwrap_or(0);
    half_mean.clamp(1, 4) as u32
}

/// What the scan compares a row with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RsTileThresholds {
    /// Most entries of a CUDA row; 0 for no CUDA part.
    pub nnz: u32,
    /// Added columns: below it a row goes to the CUDA part as printed, from it on as described. Derived when `None`.
    pub inc: Option<u32>,
    /// Which of the two.
    pub rule: ImpactRule,
}

impl RsTileThresholds {
    /// Those that `params` give, and the estimate where they give none.
    #[must_use]
    pub fn new(rows: usize, nnz: usize, params: &FormatParams) -> RsTileThresholds {
        RsTileThresholds {
            nnz: params.tau_nnz.unwrap_or_else(|| estimate_tau_nnz(rows, nnz)),
            inc: params.tau_inc,
            rule: params.impact,
        }
    }

    /// True when a row of `nnz` entries that adds `added` columns to its window goes to the CUDA part.
    #[must_use]
    pub fn send_to_cuda(&self, nnz: usize, added: usize) -> bool {
        let short = nnz as u64 <= u64::from(self.nnz);
        let added = added as u64;
        let low_impact = match self.rule {
            ImpactRule::AsPrinted => added < u64::from(self.inc.unwrap_or(self.nnz)),
            ImpactRule::AsDescribed => {
                let half = (nnz as u64).div_ceil(2).max(1);
                added >= self.inc.map_or(half, u64::from)
            }
        };
        short && low_impact
    }
}

/// What the scan finds. Empty rows are in neither list unless a window happens to hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RsTilePartition {
    /// First row of each window, ascending, at least [`WINDOW`] apart. The last window may run past the matrix.
    pub windows: Vec<u32>,
    /// Rows of the CUDA part, ascending.
    pub residual: Vec<u32>,
}

/// Algorithm 1. The entries must be valid ([`Entries::check`]).
#[must_use]
pub fn partition<T>(entries: &Entries<T>, thresholds: &RsTileThresholds) -> RsTilePartition {
    let rows: Vec<&[Entry<T>]> = entries.list.chunk_by(|a, b| a.row == b.row).collect();
    let mut found = RsTilePartition::default();
    let mut next = 0;
    while next < rows.len() {
        let window = window_at(&rows, next);
        let (first, nnz) = (window[0][0].row, window[0].len());
        // Only short rows are asked what they add; no other row can go to the CUDA part.
        if nnz as u64 <= u64::from(thresholds.nnz) && thresholds.send_to_cuda(nnz, added_columns(window)) {
            found.residual.push(first);
            next += 1;
        } else {
            found.windows.push(first);
            next += window.len();
        }
    }
    found
}

/// The non-empty rows of the window that starts at non-empty row number `at`.
pub(super) fn window_at<'a, 'e, T>(rows: &'a [&'e [Entry<T>]], at: usize) -> &'a [&'e [Entry<T>]] {
    let end = u64::from(rows[at][0].row) + WINDOW as u64;
    let height = rows[at..].iter().take_while(|row| u64::from(row[0].row) < end);
    &rows[at..at + height.count()]
}

/// The paper's delta: distinct columns of a window, less those of the window without its first row.
pub(super) fn added_columns<T>(window: &[&[Entry<T>]]) -> usize {
    distinct_columns(window) - distinct_columns(&window[1..])
}

/// Number of distinct columns in some rows.
fn distinct_columns<T>(rows: &[&[Entry<T>]]) -> usize {
    let mut columns: Vec<u32> = rows.iter().flat_map(|row| row.iter().map(|e| e.col)).collect();
    columns.sort_unstable();
    columns.dedup();
    columns.len()
}
