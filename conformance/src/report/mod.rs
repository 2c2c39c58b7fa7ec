//! The evidence of one run: a plain data model and the files written from it.
//!
//! ```text
//! runner -> Report (model) -> summary -+-> text      the terminal
//!                                      +-> json      report.json, the only complete one; read back by `Report::read`
//!                                      +-> junit     report.junit.xml, for CI systems
//!                                      +-> markdown  report.md, for job summaries
//!                                      +-> html      report.html, one page without network
//! ```
//! Nothing here judges: verdicts arrive finished and are only counted, ordered and shown.

pub mod environment;
pub mod evidence;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod model;
pub mod schema;
pub mod show;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod write;

pub use environment::{Environment, Timings};
pub use evidence::{Claim, DeterminismGrade, Repeated, Reproducer, Same};
pub use model::{
    Backend, CaseRecord, Contract, Deviation, Exclusion, Finding, Plan, Report, RowStatistics, SCHEMA_NAME,
    Source, SpyGrid,
};
pub use summary::{BackendSummary, Cell, ContractRow, Counts, Histogram, Summary, Worst};
pub use text::{Colour, to_text};
pub use verdict::{Defect, Mismatch, Place, Tier, VerdictKind, VerdictRecord};
pub use write::{ReportError, write_all};
