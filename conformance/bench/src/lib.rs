//! `conformance bench`: kernels and peers side by side, on operands on which each was first found right.
//!
//! ```text
//! matrices x (operation, element types)
//!    -> operands, drawn once       operands
//!    -> contenders, prepared       contender, encoded; kernels, peers and what the user brought, all by the trait of the judge
//!    -> judged on these operands   judging          who is wrong is printed, not timed
//!    -> timed in rounds            rounds
//!    -> medians, ratios            statistics       against what the machine can do: machine
//!    -> report                     report, table, text, markdown, html
//! ```

#![forbid(unsafe_code)]

mod compare;
mod contender;
#[cfg(feature = "cuda")]
pub mod device;
mod encoded;
pub mod html;
mod hybrid;
mod judging;
pub mod machine;
pub mod markdown;
mod operands;
mod peers;
pub mod preset;
pub mod report;
mod rounds;
pub mod statistics;
mod summary;
mod table;
pub mod text;

pub use peers::Peer;
pub use report::BenchReport;

use compare::{Compared, Comparing};
use machine::Machine;
use operands::Shared;
use peers::Peers;
use preset::Preset;
use report::{SCHEMA, Skipped, UNREAD};
use sparse_conformance_core::backend::Backend;
use sparse_conformance_core::origin::Origin;
use sparse_conformance_core::report::Environment;
use sparse_conformance_peers::OneKernel;
use sparse_kernels::registry::Kernel;
use sparse_oracle::contract::{Contract, Op, Returned, Types};
use std::path::PathBuf;
use std::time::Duration;

/// True for an operation that can be timed here: products. Moves are timed beside the kernels that need them, and what is judged in
/// panels of rows has elements that do not depend on one another.
#[must_use]
pub fn is_timed(op: Op) -> bool {
    op.signature().has_n() || op.updates()
}

/// What to measure.
pub struct Options {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// What the user brought, by `--exec` or `--plugin`.
    pub subjects: Vec<Box<dyn Backend>>,
    /// The contracts that these are timed on, of those that they claim.
    pub asked: Vec<Contract>,
    /// The matrices.
    pub origins: Vec<Origin>,
    /// The peers.
    pub peers: Vec<Peer>,
    /// Columns of B and C.
    pub n: usize,
    /// Threads of kernels and of peers that have several.
    pub threads: usize,
    /// Time for each contender on each matrix.
    pub time: Duration,
    /// Most products of elements that are judged for each contender.
    pub judged_terms: u64,
    /// The preset, for its claims.
    pub preset: Option<&'static Preset>,
    /// Files with fewer entries are left out.
    pub fewest_entries: usize,
    /// Where MKL is.
    pub mkl: Option<PathBuf>,
    /// What could not be asked for, from choosing kernels.
    pub skipped: Vec<Skipped>,
}

/// A run that could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// No threads to be had.
    #[error("{threads} threads can't be started; try a smaller --threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// The system's reason.
        reason: String,
    },
    /// The report of what was measured so far can't be kept: better said now than after the last matrix.
    #[error("{reason}")]
    Report {
        /// Which file, and why.
        reason: String,
    },
}

/// What is told what is going on, line by line.
type Shown<'a> = &'a mut (dyn FnMut(&str) + Send);

/// What gets the report after each matrix, as it is by then, so that a run that is cut off leaves what it measured.
type Kept<'a> = &'a mut (dyn FnMut(&BenchReport) -> Result<(), String> + Send);

/// Measures everything. `shown` is told what is going on; `kept` gets the report after each matrix, the last time complete.
///
/// # Errors
/// Threads that can't be had; a report that `kept` could not keep.
pub fn run(options: &Options, shown: Shown<'_>, kept: Kept<'_>) -> Result<BenchReport, BenchError> {
    let threads = options.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| BenchError::Threads { threads, reason: error.to_string() })?;
    let peers = Peers::open(&options.peers, options.mkl.as_deref(), threads);
    for peer in peers.records.iter().filter(|peer| !peer.present) {
        shown(&format!("SKIPPED peer {}: {}", peer.name, peer.note));
    }
    let environment = Environment::here(threads);
    pool.install(|| {
        peers.settle();
        let machine = Machine::measure();
        let kernels: Vec<OneKernel> = options.kernels.iter().cloned().map(OneKernel::new).collect();
        let mut report = BenchReport {
            schema: SCHEMA.to_owned(),
            suite_version: env!("CARGO_PKG_VERSION").to_owned(),
            environment,
            machine,
            preset: options.preset.map(|preset| preset.name.to_owned()),
            n: options.n as u64,
            threads: threads as u64,
            seconds: options.time.as_secs_f64(),
            judged_terms: options.judged_terms,
            peers: peers.records.clone(),
            comparisons: Vec::new(),
            skipped: options.skipped.clone(),
            summary: Vec::new(),
            hybrids: Vec::new(),
        };
        for (at, origin) in options.origins.iter().enumerate() {
            on_matrix(origin, (options, &kernels), &peers, &mut report, shown);
            report.summary = summary::summary(&report, options.preset);
            kept(&so_far(&report, &options.origins[at + 1..]))
                .map_err(|reason| BenchError::Report { reason })?;
        }
        Ok(report)
    })
}

/// The report with the matrices that are still to come among what was not measured.
fn so_far(report: &BenchReport, to_come: &[Origin]) -> BenchReport {
    let mut report = report.clone();
    report.skipped.extend(to_come.iter().map(|origin| Skipped {
        what: origin.to_string(),
        on: String::new(),
        reason: "not measured yet when this report was written".to_owned(),
    }));
    report
}

fn on_matrix(
    origin: &Origin,
    (options, kernels): (&Options, &[OneKernel]),
    peers: &Peers,
    report: &mut BenchReport,
    shown: Shown<'_>,
) {
    let skip = |report: &mut BenchReport, shown: &mut dyn FnMut(&str), on: String, reason: String| {
        shown(&format!("SKIPPED {origin} {on}: {reason}"));
        report.skipped.push(Skipped { what: origin.to_string(), on, reason });
    };
    let loaded = match origin.load() {
        Ok(loaded) => loaded,
        // The other matrices are measured all the same; the exit code says that one was not.
        Err(error) => return skip(report, shown, UNREAD.to_owned(), error.to_string()),
    };
    let entries = loaded.coo.nnz();
    if matches!(origin, Origin::File(_)) && entries < options.fewest_entries {
        let reason = format!("{entries} entries, the preset takes {} and more", options.fewest_entries);
        return skip(report, shown, String::new(), reason);
    }
    for (op, types) in groups(options) {
        let shared = match Shared::new(origin, &loaded, (op, types), options.n) {
            Ok(shared) => shared,
            Err(error) => {
                skip(report, shown, format!("{} {types}", op.name()), error.to_string());
                continue;
            }
        };
        let fits = |contract: &Contract| (contract.op, contract.types) == (op, types);
        let kernels: Vec<_> = kernels.iter().filter(|k| fits(&k.kernel().contract)).collect();
        let comparing = Comparing { shared: &shared, peers, options, machine: &report.machine };
        let Compared { comparison, hybrids, skipped } = comparing.run(&kernels);
        for line in text::comparison(&comparison).lines() {
            shown(line);
        }
        for skipped in &skipped {
            shown(&format!("  SKIPPED {}: {}", skipped.what, skipped.reason));
        }
        report.comparisons.push(comparison);
        report.hybrids.extend(hybrids);
        report.skipped.extend(skipped);
    }
}

/// The options of `conformance bench` that time a kernel, on a matrix that fits its format; none for one that it cannot time.
#[must_use]
pub fn timed_by(kernel: &Kernel) -> Option<&'static str> {
    let contract = kernel.contract;
    if !is_timed(contract.op) || !encoded::can_be_encoded(contract.format, contract.types.a) {
        return None;
    }
    if kernel.engine != "cuda" {
        return Some("--kernel");
    }
    match contract.op.signature().returned {
        Returned::Matrix | Returned::Sampled => Some("--device --kernel"),
        Returned::Vector | Returned::Product | Returned::Moved => None,
    }
}

/// What is compared with one another: kernels and subjects of one operation and one set of element types.
fn groups(options: &Options) -> Vec<(Op, Types)> {
    let claimed = |contract: &&Contract| options.subjects.iter().any(|subject| subject.claims(contract));
    let kernels = options.kernels.iter().map(|kernel| &kernel.contract);
    let mut groups = Vec::new();
    for contract in kernels.chain(options.asked.iter().filter(claimed)) {
        let group = (contract.op, contract.types);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}
