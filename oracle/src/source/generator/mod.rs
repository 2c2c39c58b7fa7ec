//! Structured patterns from one line of text: `rmat:scale=8,edges=8,seed=7`.
//!
//! ```text
//! "uniform:rows=33,seed=7" --parse--> SourceSpec --shape (bounds checked)--> --generate--> Csr<()>
//! ```
//!
//! One file per family of patterns; each opens with what it guarantees, and `tests/sources_generator.rs` checks
//! exactly that. The table [`FAMILIES`] is the only list of them. Generation is integer arithmetic on one seeded
//! stream ([`crate::source::random`]), so a line gives the same pattern on every platform; a fingerprint per
//! family is pinned, and a change to any of them is a new version of the case lines.

mod banded;
mod block;
mod borders;
mod circuit;
mod collide;
mod dense_row;
mod empty;
mod error;
mod family;
mod lengths;
mod longrows;
mod lp;
mod nm;
mod pairs;
mod pattern;
mod power_law;
mod quick;
mod simple;
mod spec;
mod stencil;
mod tails;
mod uniform;

pub use error::SourceError;
pub use family::{FAMILIES, Family, FamilyInfo, Param, ParamKind};
pub use pattern::{Pattern, fingerprint};
pub use quick::{quick_spec, quick_specs};
pub use spec::{DEFAULT_LIMIT, Shape, SourceSpec};
