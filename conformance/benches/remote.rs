//! Small cases per second: portable kernels called in this process, the same kernels served by a child per thread, and a loop in
//! C behind `--plugin`.
//!
//! `cargo bench -p sparse-conformance --bench remote`. Judging is part of both: what differs is the way to the kernel.

use rayon::prelude::*;
use sparse_conformance::backend::{Backend, Portable};
use sparse_conformance::case::Case;
use sparse_conformance::origin::Loaded;
use sparse_conformance::remote::{Limits, Remote};
use sparse_conformance::runner::run_case;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const LINES: [&str; 3] = [
    "spmm.csr.f32_f32_f32_f32/banded:rows=24,cols=24/values=small-int,1/n=8",
    "spmv.csr.f64_f64_f64_f64/banded:rows=24,cols=24/values=near-one,1",
    "convert.csr.rs_tile.f16/banded:rows=24,cols=24/values=small-int,1",
];

/// Judges cases for two seconds on all threads; cases per second.
fn rate(cases: &[(Case, Loaded)], backends: &[Box<dyn Backend>]) -> f64 {
    let (start, mut done) = (Instant::now(), 0usize);
    while start.elapsed() < Duration::from_secs(2) {
        let round: Vec<&(Case, Loaded)> = cases.iter().cycle().take(3 * 256).collect();
        round.par_iter().for_each(|(case, loaded)| {
            let record = run_case(case, loaded, backends).records.remove(0);
            assert!(!record.verdict.is_finding(), "{case}: {}", record.verdict);
        });
        done += round.len();
    }
    done as f64 / start.elapsed().as_secs_f64()
}

fn main() {
    let cases = LINES.map(|line| {
        let case: Case = line.parse().expect("a case line");
        let loaded = case.origin.load().expect("generated");
        (case, loaded)
    });
    let command = [env!("CARGO_BIN_EXE_conformance"), "serve"].map(str::to_owned);
    let served = Remote::open(command.to_vec(), Limits::default()).expect("it starts");
    println!("small cases judged per second, {} threads", rayon::current_num_threads());
    let subjects: [(&str, Box<dyn Backend>); 2] =
        [("in process", Box::new(Portable)), ("out of process", Box::new(served))];
    for (name, backend) in subjects {
        let backends = [backend];
        rate(&cases, &backends);
        println!("{name:16} {:9.0}", rate(&cases, &backends));
    }
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(library) = loop_in_c(folder.path()) {
        let command = [env!("CARGO_BIN_EXE_conformance"), "host", library.as_str()].map(str::to_owned);
        let backends: [Box<dyn Backend>; 1] =
            [Box::new(Remote::open(command.to_vec(), Limits::default()).expect("it starts"))];
        // It has products only.
        rate(&cases[..2], &backends);
        println!("{:16} {:9.0}", "C plug-in", rate(&cases[..2], &backends));
    }
}

/// The example in C as a shared library; says so where there is no compiler.
fn loop_in_c(folder: &Path) -> Option<String> {
    let target = folder.join("spmm_csr.so");
    let here = env!("CARGO_MANIFEST_DIR");
    let built = Command::new("cc")
        .args(["-O2", "-ffp-contract=off", "-shared", "-fPIC"])
        .arg(format!("-I{here}/include"))
        .arg(format!("{here}/examples/c/spmm_csr.c"))
        .arg("-o")
        .arg(&target)
        .status();
    if built.is_ok_and(|status| status.success()) {
        return target.to_str().map(str::to_owned);
    }
    println!("C plug-in: SKIPPED, cc does not build the example");
    None
}
