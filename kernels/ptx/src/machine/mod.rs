//! The machine: a program and a launch to memory, findings and counters.
//!
//! ```text
//! grid    blocks, one after another, in the order of the schedule
//! block   warps take turns; they meet at barriers
//! warp    fragments: lanes that stand at the same instruction; the one that is furthest behind runs, equal ones merge
//! step    one instruction for the lanes of a fragment
//! ```

mod access;
mod barrier;
mod block;
mod collective;
mod copy;
mod count;
mod grid;
mod group;
mod launch;
mod limits;
mod matrix;
mod prepare;
mod record;
mod schedule;
mod space;
mod step;
mod strong;
mod trail;
mod warp;

pub use count::Counters;
pub use grid::{Outcome, run};
pub use launch::{Launch, LaunchError};
pub use limits::{shared_limit, static_shared_limit};
pub use schedule::{Order, Schedule};
