//! Locality-aware row reordering (RSH-SpMM, section 3.4 and Algorithm 3): rows with columns in common come together, so
//! that windows of eight rows have few distinct columns.
//!
//! ```text
//! I    columns -> rows that have them       capped lists: candidates for every row
//! II   candidates -> 8 nearest rows         weighted Jaccard similarity: rare columns count for more
//! III  graph of neighbours -> forest        lightest edges; depth first -> spanning
//! IV   2-opt inside 8 positions             -> refined
//!      rows that fit neither neighbour      next to the most similar row, or last -> adjusted
//! ```
//!
//! The paper names the steps and little else; SEMANTICS section 7b pins the rest. All costs are `1 - similarity`,
//! computed in f64. They lie in [0, 1], where every such difference is a multiple of 2^-53, so that they are kept as
//! that many units, and sums and comparisons of costs are exact.
//!
//! Time is near-linear: a row looks at no more than 256 rows per column, and only rows that may be among the nearest
//! are compared column by column. What is not bounded by the cap is the length of a compared row, since the union of two
//! rows is summed column by column: if a row of a hundred thousand columns is the only candidate of as many rows, each of
//! which has a smaller column of its own, that takes half a minute.
//!
//! No kernel, format or benchmark of the suite reorders rows: `examples/reorder.rs` of this crate does, and counts.

mod forest;
mod isolated;
mod neighbours;
mod permutation;
mod refine;
mod similarity;

pub use permutation::Permutation;

use neighbours::{Nearest, Neighbours};
use similarity::RowPatterns;
use sparse_oracle::format::Csr;

/// Most rows that one column proposes as candidates: those with the smallest ids.
pub const CANDIDATES_PER_COLUMN: usize = 256;

/// Neighbours of a row in the graph, before the graph is made undirected.
pub const NEAREST: usize = 8;

/// Positions of a window of the refinement.
pub const REFINED: usize = 8;

/// A cost of 1: two rows without a column in common.
pub const COST_ONE: u64 = 1 << 53;

/// The order of the rows after each step that gives one; figure 16(b) compares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// After step III: depth first through the minimum spanning forest.
    pub spanning: Permutation,
    /// After 2-opt.
    pub refined: Permutation,
    /// After isolated rows have moved: the result.
    pub adjusted: Permutation,
}

/// Reorders the rows of a matrix. Values are not looked at; explicit zeros count as entries.
#[must_use]
pub fn reorder<T>(matrix: &Csr<T>) -> Reordering {
    let rows = RowPatterns::new(matrix);
    let mut neighbours = Neighbours::new(&rows);
    let nearest = Nearest::new(&mut neighbours, NEAREST);
    let spanning = forest::depth_first(rows.count(), &nearest);
    let mut refined = spanning.clone();
    refine::two_opt(&rows, &mut refined);
    let adjusted = isolated::adjust(&rows, &mut neighbours, &nearest, &refined);
    Reordering {
        spanning: Permutation::trusted(spanning),
        refined: Permutation::trusted(refined),
        adjusted: Permutation::trusted(adjusted),
    }
}

/// Weighted Jaccard similarity of two rows, 0 to 1: the weights of shared columns over those of all their columns, a
/// column weighing one over its number of entries. 0 for two empty rows.
#[must_use]
pub fn similarity<T>(matrix: &Csr<T>, row: u32, other: u32) -> f64 {
    RowPatterns::new(matrix).similarity(row, other)
}

/// What an order costs: the sum of `1 - similarity` over neighbours, in units of 2^-53.
#[must_use]
pub fn adjacent_cost<T>(matrix: &Csr<T>, order: &Permutation) -> u128 {
    let rows = RowPatterns::new(matrix);
    let pairs = order.rows().windows(2);
    pairs.map(|pair| u128::from(rows.cost(pair[0], pair[1]))).sum()
}
