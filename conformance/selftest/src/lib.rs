//! Does the judge judge? A catalogue of seeded bugs and of broken comparators, hunted through the same plan, runner and
//! judge as any backend, and the score.
//!
//! ```text
//! catalogue -> seeded backend -> cases of the tier, in mixed order -> run_case -> first finding = kill
//!           \-> its control    -> the same cases                   -> run_case -> any finding   = false alarm
//! comparator -> probes (a result, and whether it is right) -> one misjudged = kill; the suite's own judge misjudges none
//! schedule   -> inputs -> the oracle's check or definition -> one difference = kill
//! ```
//!
//! A kill counts only if the finding is called what the catalogue says it may be called.

#![forbid(unsafe_code)]

mod address;
mod bug;
mod catalogue;
pub mod comparator;
mod dense;
mod edit;
mod hunt;
mod memory;
mod own;
mod request;
pub mod schedules;
mod score;
mod seeded;
mod text;

pub use bug::{Bug, Effect, EntryOrder, Family, RunFn, SupportFn, Symptom, symptom};
pub use catalogue::bugs;
pub use dense::Dense;
pub use hunt::{CONTROLLED, Hunt, HuntPlan, HuntTold, Kill, hunt};
pub use memory::{Memory, State};
pub use own::{Lanes, StepInput, StepKernel};
pub use score::{Fate, KillScore, Row, RowKind, Scorecard, run};
pub use seeded::Seeded;
pub use text::{to_markdown, to_text};

/// Version of what hunts and is hunted.
pub const SUITE_VERSION: &str = env!("CARGO_PKG_VERSION");
