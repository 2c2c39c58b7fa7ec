//! Why a check failed, as the text of a failing test.
//!
//! ```text
//! spmv.csr.f32_f32_f32_f32: 12 of 162 cases failed
//!   one of them: wrong value (T1): element (3, 0): expected 2 (0x40000000), found 0 (0x0): ..
//!   the smallest case that fails alike (31 tried): wrong value (T0): element (3, 0): ..
//!     a: csr f32, 4 x 1, 1 stored: (3, 0) 1
//!     x: f32, 1 x 1: 1
//!     parameters: values=ones,0
//!   again: SPARSE_CASE='spmv.csr.f32_f32_f32_f32/banded:rows=18,..' cargo test my_spmv_is_right -- --exact
//! ```

use crate::smallest::Smallest;
use sparse_conformance_core::report::show;
use std::fmt;
use std::path::PathBuf;

/// The environment variable whose case line is run instead of the plan.
pub(crate) const CASE: &str = "SPARSE_CASE";

/// Why a kernel did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The kernel is wrong.
    #[error("{0}")]
    Kernel(Box<Found>),
    /// Nothing wrong was found, in too few cases to mean anything.
    #[error("{contract}: nothing wrong was found, but too little was judged: {reason}")]
    Thin {
        /// Name of the contract.
        contract: String,
        /// What is missing.
        reason: String,
    },
    /// No contract is like this.
    #[error(
        "there is no contract {asked}; `sparse_check::contract::all_contracts` lists them, and the backend must take plain requests of one"
    )]
    NoContract {
        /// What was looked for.
        asked: String,
    },
    /// The declared arithmetic makes no sense for the contract.
    #[error("the declared arithmetic: {0}")]
    Declaration(String),
    /// The case line that was asked for can't be read.
    #[error("SPARSE_CASE is {line:?}, which is no case line: {reason}")]
    Case {
        /// What the variable says.
        line: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The case line that was asked for was not judged: it is of another contract, or the kernel does not take it.
    #[error("nothing was judged of {line:?}: {reason}")]
    NothingJudged {
        /// The line.
        line: String,
        /// Why.
        reason: String,
    },
    /// Nothing wrong was found, but the report that was asked for can't be written.
    #[error(
        "the report can't be written into {folder}: {reason}; name another folder (SPARSE_REPORT, or `report`)"
    )]
    Report {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// The threads could not be started.
    #[error("the threads that ask can't be started: {0}")]
    Threads(String),
}

/// What was found wrong.
#[derive(Debug)]
pub struct Found {
    /// Contract of the simplest case that failed.
    pub contract: String,
    /// How many cases failed.
    pub findings: usize,
    /// How many were judged.
    pub judged: usize,
    /// Its line.
    pub case: String,
    /// What is wrong there: the first wrong element.
    pub verdict: String,
    /// The test that failed, as libtest names it; none outside of a test, or where the tests have no threads of their own.
    pub(crate) test: Option<String>,
    /// The smallest case found that is wrong alike; none where the case did not fail again.
    pub(crate) smallest: Option<Smallest>,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found { contract, findings, judged, case, verdict, test, smallest } = self;
        let cases = show::counted(*judged as u64, "case");
        writeln!(f, "{contract}: {} of {cases} failed", show::count(*findings as u64))?;
        writeln!(f, "  one of them: {verdict}")?;
        match smallest {
            Some(smallest) => write!(f, "{smallest}")?,
            None => writeln!(f, "  it did not fail when it was run again: the kernel is not always alike")?,
        }
        write!(f, "  again: {}", again(case, test.as_deref()))
    }
}

/// The command that runs a case alone, in its test where that has a name.
pub(crate) fn again(case: &str, test: Option<&str>) -> String {
    let test = test.map(|test| format!(" {test} -- --exact")).unwrap_or_default();
    format!("{CASE}={} cargo test{test}", shell_words::quote(case))
}
