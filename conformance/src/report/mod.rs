//! The evidence of one run: a plain data model and the files written from it.
//!
//! ```text
//! runner -> Report (model) -> summary -+-> text      the terminal
//!                                      +-> json      report.json, the only complete one; read back by `Report::read`
//!                                      +-> junit     report.junit.xml, for CI systems
//!                                      +-> markdown  report.md, for job summaries
//!                                      +-> html      report.html, one page without network
//!                                      +-> sarif     report.sarif, for code scanning
//!                                      +-> badge     badge.svg, badge.json
//!                                      +-> history   history.jsonl, a line for each run into the folder
//!
//! shards' Reports -> merge -> Report        two Reports -> diff -> what changed
//! ```
//! Nothing here judges: verdicts arrive finished and are only counted, ordered and shown.

pub mod badge;
pub mod brief;
pub mod diff;
pub mod github;
pub mod history;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod sarif;
pub mod schema;
pub mod text;
pub mod write;

pub use brief::to_brief;
pub use merge::{MergeError, merge};
pub use sparse_conformance_core::report::*;
pub use text::{Colour, to_text};
pub use write::{ReportError, WRITERS, Writer, write_all};
