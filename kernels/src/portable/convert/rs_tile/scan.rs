//! Which rows start a window and which are residual: one pass, in order.
//!
//! Only a row that is short enough is asked how many columns it adds to its window. They are looked up in the rows
//! below it, by a plain search where those are short and by bisection where they are long, so that no row costs more
//! than seven bisections per entry, and most cost one cache line or two.

use super::SIDE;
use sparse_types::format::{FormatParams, ImpactRule};

/// Entries of seven rows up to which they are searched from end to end.
const PLAIN: usize = 256;

/// The partition of the rows.
#[derive(Debug, Default)]
pub(super) struct RowSplit {
    pub(super) window_row: Vec<u32>,
    pub(super) residual_row: Vec<u32>,
    /// Entries of the longest residual row.
    pub(super) residual_width: usize,
}

impl RowSplit {
    pub(super) fn new(row_ptr: &[u32], col_idx: &[u32], params: &FormatParams) -> RowSplit {
        let rows = row_ptr.len() - 1;
        let tau = params.tau_nnz.unwrap_or_else(|| estimate(rows, col_idx.len()));
        let mut split = RowSplit::default();
        let mut row = 0;
        while row < rows {
            let nnz = row_ptr[row + 1] - row_ptr[row];
            if nnz == 0 {
                row += 1;
            } else if nnz <= tau && residual(params, tau, nnz, added(row_ptr, col_idx, row)) {
                split.residual_row.push(row as u32);
                split.residual_width = split.residual_width.max(nnz as usize);
                row += 1;
            } else {
                split.window_row.push(row as u32);
                row += SIDE;
            }
        }
        split
    }
}

/// Half the mean length of a row, 1 to 4.
fn estimate(rows: usize, nnz: usize) -> u32 {
    match rows {
        0 => 1,
        _ => (nnz / rows / 2).clamp(1, 4) as u32,
    }
}

/// Whether a row of at most `tau` entries that adds `added` columns is residual.
fn residual(params: &FormatParams, tau: u32, nnz: u32, added: u32) -> bool {
    match params.impact {
        ImpactRule::AsPrinted => added < params.tau_inc.unwrap_or(tau),
        // nnz is at least 1 here, and so is half of it, rounded up.
        ImpactRule::AsDescribed => added >= params.tau_inc.unwrap_or(nnz.div_ceil(2)),
    }
}

/// Columns of a row that none of the next seven has.
fn added(row_ptr: &[u32], col_idx: &[u32], row: usize) -> u32 {
    let ends = &row_ptr[row..row_ptr.len().min(row + SIDE + 1)];
    let lane = |i: usize| ends[i] as usize..ends[i + 1] as usize;
    let own = &col_idx[lane(0)];
    let below = &col_idx[ends[1] as usize..ends[ends.len() - 1] as usize];
    let occurs = |col: &u32| {
        if below.len() <= PLAIN {
            below.contains(col)
        } else {
            (1..ends.len() - 1).any(|i| col_idx[lane(i)].binary_search(col).is_ok())
        }
    };
    own.iter().filter(|col| !occurs(col)).count() as u32
}
