//! Random inputs for property tests and fuzzers, with shrinking that keeps them valid.
//!
//! ```text
//! proptest     any::<SourceSpec>(), sparse_matrix(..), coo_with_duplicates(..), dense(..), spmm_operands(..)
//! quickcheck   SourceSpec, ArbitraryCsr
//! arbitrary    SourceSpec, ArbitraryCsr (from a fuzzer's bytes)
//! ```
//!
//! One set of shrink candidates serves proptest and quickcheck: fewer rows, then columns, then entries, then values
//! replaced by 1. Every candidate is strictly smaller in that order, so shrinking ends.

mod arbitrary;
mod proptests;
mod shrink;
mod tree;

pub use self::arbitrary::ArbitraryCsr;
pub use proptests::{
    Sizes, coo_with_duplicates, dense, source_spec, sparse_entries, sparse_matrix, spmm_operands,
};
pub use shrink::{Candidates, smaller_coo, smaller_dense, smaller_matrices, smaller_operands, smaller_specs};
pub use tree::{Drawn, Shrinking};
