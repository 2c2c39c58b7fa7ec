//! What each operation means: plain definitions over entries, one exact element at a time.
//!
//! These are the semantics of SEMANTICS section 1 spelled out as loops; they are what faster exact code and every
//! judgement are tested against. Each gives, per output element, the exact sum of products, its gauge
//! `sum |a||b|` and its number of terms; [`scale`] then applies alpha, beta and C.

mod dense_rows;
pub mod nm;
mod prune;
mod reference;
mod scale;
pub mod sddmm;
pub mod spgemm;
pub mod spmm;

pub use dense_rows::DenseRows;
pub use prune::prune;
pub use reference::{ReferenceSpmm, SpmmReference, for_each_row};
pub use scale::{input, scale, times};
