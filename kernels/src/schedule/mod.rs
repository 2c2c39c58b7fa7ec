//! The LOOPS scheduler: which rows become tiles, and how many threads compute which part (sections 3.1, 3.4 and 3.5 of its paper;
//! SEMANTICS section 6).
//!
//! ```text
//! calibrate   time a sample of the rows: threads of each part alone, then some pairs (x, y) of both
//! boundary    rows in proportion to throughput times threads                        (equation 1, as SEMANTICS has it)
//! model       least squares for perf(x, y) = a0 + a1 x + a2 y + a3 x^2 + a4 y^2     (equation 2)  -> its best legal pair (equation 3)
//! steps       from the fastest run: the boundary, the threads, the boundary again
//! decide      the best of CSR alone, tiles alone and both, timed again in turns     -> the plan
//! ```
//!
//! The paper takes the pair that the model says is best. Here that pair is timed like the others, and steps from the fastest run find the
//! plan: on a machine that is played, with 16 threads and units for outer products that more threads slow down, equations 1 to 3 alone are
//! within 3 % of the best of all splits on 5 of 200 matrices, and the steps on 190, with 38 different splits timed on average
//! (`kernels/tests/loops_machine.rs` prints it). [`planned`](crate::planned) makes plans for LOOPS with AVX-512, AVX2,
//! NEON and SME.
//!
//! The boundary is exact. The model is solved in f64, and two predictions that are closer than [`TIE`] of what went into
//! them are equal: fewer threads win then, and of those, fewer of the CSR part.

mod boundary;
mod calibrate;
mod model;
mod rank;
mod timed;

pub use boundary::row_boundary;
pub use calibrate::{pairs, plan};
pub use model::{Model, Prediction, TIE, choose};
pub use timed::{RowSample, sample_rows, timed_plan};

use sparse_types::format::FormatParams;
use sparse_types::refusal::Refusal;

/// The most threads that are distributed: every pair is looked at.
pub const THREAD_LIMIT: u32 = 1 << 10;

/// Why there is no schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// No part has a thread.
    #[error("neither part has a thread; give one of them at least one")]
    NoThreads,
    /// More threads than are looked at.
    #[error("{found} threads, the limit is {THREAD_LIMIT}")]
    TooManyThreads {
        /// Threads asked for.
        found: u32,
    },
    /// A throughput is not a positive finite number.
    #[error("the throughput of the {part} part is {found}, must be positive and finite")]
    Throughput {
        /// "CSR" or "tile".
        part: &'static str,
        /// Its value.
        found: f64,
    },
    /// A boundary past the last row.
    #[error("the boundary is {found}, the matrix has {rows} rows")]
    Boundary {
        /// Its value.
        found: u32,
        /// Rows of the matrix.
        rows: u32,
    },
    /// A measured performance is infinite or NaN.
    #[error("the performance of sample {at} is {found}, must be finite")]
    Performance {
        /// Which sample.
        at: usize,
        /// Its value.
        found: f64,
    },
    /// Too few measurements.
    #[error("{found} usable samples, at least {needed} are needed")]
    TooFewSamples {
        /// Samples that count.
        found: usize,
        /// Samples needed.
        needed: usize,
    },
    /// The samples do not determine the five coefficients.
    #[error("the samples do not determine the model: measure three thread counts of each part, crossed")]
    RankDeficient,
    /// A tile of no rows.
    #[error("tiles of 0 rows; br must be at least 1")]
    NoTileRows,
    /// The kernel or the encoder refused a calibration run.
    #[error("a calibration run was refused: {0}")]
    Refused(#[from] Refusal),
}

/// What computes one part: vectors of a row (CSR part) or tiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopsUnit {
    /// Throughput of one thread, in any measure that both parts share; positive and finite.
    pub throughput: f64,
    /// Threads, at most [`THREAD_LIMIT`].
    pub threads: u32,
}

/// One calibration run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Threads of the CSR part, x; at most [`THREAD_LIMIT`].
    pub csr_threads: u32,
    /// Threads of the tile part, y; at most [`THREAD_LIMIT`].
    pub tile_threads: u32,
    /// What was measured, more is better; finite.
    pub performance: f64,
}

/// Who computes what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Threads of the CSR part.
    pub csr_threads: u32,
    /// Threads of the tile part.
    pub tile_threads: u32,
    /// Rows of the CSR part.
    pub boundary: u32,
}

/// How a CSR matrix is encoded as LOOPS and computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Threads and rows of both parts; a part without rows has no threads.
    pub choice: Choice,
    /// Rows of a tile.
    pub br: u32,
}

impl Plan {
    /// What the encoder takes.
    #[must_use]
    pub fn params(&self) -> FormatParams {
        FormatParams { boundary: Some(self.choice.boundary), br: self.br, ..FormatParams::default() }
    }

    /// True when both parts have rows.
    #[must_use]
    pub const fn is_hybrid(&self) -> bool {
        self.choice.csr_threads > 0 && self.choice.tile_threads > 0
    }
}
