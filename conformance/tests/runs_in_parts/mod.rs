//! Runs that are more than one process.
//!
//! ```text
//! shards       parts of a plan, and their merging          resumed   an interrupted run that goes on
//! schedulers   the examples for schedulers, the commands that bring parts together
//! ```

mod lost;
mod resumed;
mod schedulers;
mod shards;

use sparse_conformance::backend::{Backend, NalgebraSparse, Portable, Sprs};
use sparse_conformance::campaign::{self, Extras, Planned};
use sparse_conformance::plan::Options;
use sparse_conformance::report::{
    Environment, Expectation, Expected, Occurs, Report, Since, Timings, WRITERS,
};
use sparse_conformance::shard::Shard;
use sparse_oracle::scalar::Precision;
use std::path::{Path, PathBuf};

/// A plan of a few hundred cases, of products and of moves.
fn options() -> Options {
    Options {
        precisions: vec![Precision::F32],
        contracts: ["spmv.csr.*", "spmv.coo.*", "transpose.csr.*"].map(str::to_owned).into(),
        seed: 3,
        ..Options::default()
    }
}

fn shard_of(index: u64, count: u64) -> Shard {
    Shard::new(index, count).expect("possible")
}

/// Backends that all have something to do here, whatever the machine has.
fn backends() -> Vec<Box<dyn Backend>> {
    vec![Box::new(Portable), Box::new(Sprs), Box::new(NalgebraSparse)]
}

/// A run, with the time that it took.
fn timed(options: &Options, extras: &Extras) -> Report {
    let backends = backends();
    let planned = Planned::new(options, &backends);
    campaign::run_with(planned, &backends, Environment::default(), &(), extras)
}

/// Runs without the two blocks that may differ.
fn run(options: &Options, extras: &Extras) -> Report {
    Report { timings: Timings::default(), ..timed(options, extras) }
}

fn shards(options: &Options, count: u64, extras: &Extras) -> Vec<(PathBuf, Report)> {
    let one = |index| {
        let options = Options { shard: Some(shard_of(index, count)), ..options.clone() };
        (PathBuf::from(format!("shard-{index}")), run(&options, extras))
    };
    (1..=count).map(one).collect()
}

/// Every file of two reports, byte for byte, but for machine and time.
fn assert_same_files(a: &Report, b: &Report) {
    let plain = |report: &Report| Report {
        environment: Environment::default(),
        timings: Timings::default(),
        ..report.clone()
    };
    let (a, b) = (plain(a), plain(b));
    for writer in WRITERS {
        let text = |report| writer.text(report, Path::new(writer.file)).expect("finite numbers only");
        let (a, b) = (text(&a), text(&b));
        let differing = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        assert!(a == b, "{} differs: {differing:?}", writer.file);
    }
}

/// An expectation about sprs that all of its cases break, one of a backend's that nothing matches, one that only the
/// whole plan can decide.
fn expectations() -> Vec<Expectation> {
    let entry = |number: usize, contract: &str, occurs| Expectation {
        from: format!("sprs.toml entry {number}"),
        backend: "sprs".to_owned(),
        case: None,
        contract: Some(contract.to_owned()),
        verdict: Expected::Wrong,
        defect: None,
        occurs,
        tier: Since::Quick,
        reason: "made up".to_owned(),
        link: None,
        expires: "2027-01-31".to_owned(),
        expired: false,
    };
    vec![
        entry(1, "spmv.csr.f32*", Occurs::Always),
        entry(2, "spmv.csr.f32*", Occurs::Sometimes),
        entry(3, "none", Occurs::Always),
    ]
}

/// The reports in two folders are the same, but for machine and time.
fn same_lines(a: &Path, b: &Path) {
    let lines = |folder: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join("report.json")).expect("written");
        let varies = |line: &&str| !line.starts_with("\"environment\":") && !line.starts_with("\"timings\":");
        text.lines().filter(varies).map(str::to_owned).collect()
    };
    let (a, b) = (lines(a), lines(b));
    let differing = a.iter().zip(&b).find(|(a, b)| a != b);
    assert!(a == b, "{differing:?}");
}
