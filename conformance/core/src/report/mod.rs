//! The evidence of one run as plain data, and the words for it. The files made from it are written by the crate above.
//!
//! Nothing here judges: verdicts arrive finished and are only counted, ordered and named.

pub mod environment;
pub mod evidence;
pub mod expectation;
pub mod finding;
#[cfg(feature = "files")]
pub mod json;
#[cfg(feature = "files")]
mod machine;
pub mod model;
pub mod outcome;
pub mod reason;
pub mod replay;
pub mod show;
#[cfg(feature = "files")]
pub mod stored;
pub mod summary;
pub mod verdict;
pub mod worth;
pub mod wrong_elements;

pub use environment::{Environment, SlowestCase, Timings};
pub use evidence::{Claim, DeterminismGrade, Repeated, Reproducer, Same};
pub use expectation::{Became, Expectation, Expected, Occurs, Since, Waivers};
pub use finding::{Described, Finding};
#[cfg(feature = "files")]
pub use json::ReadError;
pub use model::{
    Backend, CaseRecord, Contract, Deviation, Exclusion, Plan, Report, RowStatistics, SCHEMA_NAME, Source,
    SpyGrid, plan_digest,
};
pub use outcome::{Outcome, Thin};
pub use reason::Reason;
pub use replay::replay_command;
pub use summary::{BackendSummary, Cell, ContractRow, Counts, Histogram, NotRun, Summary, Worst};
pub use verdict::{Criterion, Defect, Mismatch, Place, VerdictKind, VerdictRecord, details};
pub use worth::{Behind, LEAST_CAUGHT, Seeded, Worth};
pub use wrong_elements::WrongElements;

/// The style sheet of every page that the suite writes.
pub const STYLE: &str = include_str!("style.css");
