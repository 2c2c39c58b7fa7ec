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
//!
//! shards' Reports -> merge -> Report        two Reports -> diff -> what changed
//! ```
//! Nothing here judges: verdicts arrive finished and are only counted, ordered and shown.

pub mod badge;
pub mod diff;
pub mod environment;
pub mod evidence;
pub mod expectation;
pub mod finding;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod model;
pub mod outcome;
pub mod reason;
pub mod sarif;
pub mod schema;
pub mod show;
pub mod summary;
pub mod text;
pub mod verdict;
pub mod worth;
pub mod write;

pub use environment::{Environment, Timings};
pub use evidence::{Claim, DeterminismGrade, Repeated, Reproducer, Same};
pub use expectation::{Became, Expectation, Expected, Occurs, Since, Waivers};
pub use finding::{Described, Finding};
pub use merge::{MergeError, merge, plan_digest};
pub use model::{
    Backend, CaseRecord, Contract, Deviation, Exclusion, Plan, Report, RowStatistics, SCHEMA_NAME, Source,
    SpyGrid,
};
pub use outcome::{Outcome, Thin};
pub use reason::Reason;
pub use summary::{BackendSummary, Cell, ContractRow, Counts, Histogram, NotRun, Summary, Worst};
pub use text::{Colour, to_text};
pub use verdict::{Criterion, Defect, Mismatch, Place, VerdictKind, VerdictRecord, details};
pub use worth::{Behind, LEAST_CAUGHT, Seeded, Worth};
pub use write::{ReportError, WRITERS, Writer, write_all};
