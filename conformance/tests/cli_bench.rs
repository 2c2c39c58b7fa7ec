//! `conformance bench`: refuses what it can't measure, measures small matrices end to end, and never times what is wrong.

use crate::cli;

use cli::{Ran, run_in};
use sparse_conformance::bench::preset::PRESETS;
use sparse_conformance::bench::report::{BenchReport, Measured, SCHEMA};
use sparse_conformance::bench::{self, Options, Peer, html, markdown};
use sparse_conformance::report::VerdictRecord;
use sparse_kernels::registry::{Kernel, kernel};
use sparse_oracle::format::{AnySparse, Sparse};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{AnySlice, AnySliceMut};
use sparse_oracle::task::{Answer, Task};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn refused(args: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let args: Vec<&str> = std::iter::once("bench").chain(args.iter().copied()).collect();
    let ran = run_in(folder.path(), &args);
    assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{args:?} says nothing of {word:?}: {}", ran.err);
    }
}

/// A folder of test files had a complex matrix in it, and an hour of measurements ended there without a report.
#[test]
fn a_matrix_that_can_not_be_read_does_not_end_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("a_complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    write("good.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n");
    let args = "bench --matrix . --format csr --precisions f32 --peers none --time 0.001 --report report";
    let ran = run_in(folder.path(), &args.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("a_complex.mtx") && ran.out.contains("`complex` is not supported"),
        "{}",
        ran.out
    );
    let text = std::fs::read_to_string(folder.path().join("report/bench.json")).expect("a report");
    let report: BenchReport = serde_json::from_str(&text).expect("of the schema");
    assert_eq!((report.comparisons.len(), report.skipped.len()), (1, 1));
}

#[test]
fn bad_input_is_refused_with_the_repair() {
    let karate = ["--synth", "embedded:karate"];
    let with = |more: &[&'static str]| [&karate[..], more].concat();
    refused(&[], &["--matrix", "--synth", "--preset"]);
    refused(
        &with(&["--kernel", "spmm_csr_f32_f32_f32_f32__portably"]),
        &["unknown kernel", "spmm_csr_f32_f32_f32_f32__portable"],
    );
    refused(&with(&["--kernel", "nonsense"]), &["unknown kernel", "conformance list kernels"]);
    refused(&with(&["--kernel", "transpose_csr_f32__portable"]), &["not timed", "spmm"]);
    refused(&["--matrix", "nowhere.mtx"], &["--matrix nowhere.mtx"]);
    refused(&["--matrix", "."], &["no .mtx"]);
    refused(&["--synth", "rmat:scale=5,edge=3"], &["--synth rmat:scale=5,edge=3"]);
    refused(&with(&["--threads", "0"]), &["--threads", "1..=1024"]);
    refused(&with(&["--n", "0"]), &["--n"]);
    refused(&with(&["--time", "0"]), &["a number of seconds"]);
    refused(&with(&["--peers", "eigen"]), &["unknown peer", "nalgebra-sparse"]);
    refused(&["--preset", "gpu"], &["unknown preset", "cpu"]);
    refused(&with(&["--ops", "transpose"]), &["no kernel here fits"]);
}

/// Runs with short measurements and reads what it wrote.
fn measured(folder: &Path, args: &[&str]) -> (Ran, BenchReport) {
    let fixed = ["bench", "--time", "0.001", "--report", "out", "--markdown", "out/bench.md"];
    let args: Vec<&str> = fixed.into_iter().chain(args.iter().copied()).collect();
    let ran = run_in(folder, &args);
    let json = std::fs::read_to_string(folder.join("out/bench.json"));
    let json = json.unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    (ran, serde_json::from_str(&json).expect("its own schema"))
}

#[test]
fn a_small_run_has_everything() {
    let folder = tempfile::tempdir().expect("a folder");
    let args =
        ["--synth", "embedded:karate", "--synth", "uniform:rows=40,cols=30,density=0.2,seed=3", "--n", "5"];
    let more = ["--peers", "sprs,nalgebra-sparse", "--format", "csr,loops", "--ops", "spmm,spgemm"];
    let (ran, report) = measured(folder.path(), &[&args[..], &more].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!((report.schema.as_str(), report.n, report.threads), (SCHEMA, 5, 2));
    assert!(report.machine.bandwidth > 0.0 && report.machine.peak_f32 > 0.0 && report.machine.peak_f64 > 0.0);
    // Two matrices, two operations, f32 and f64.
    assert_eq!(report.comparisons.len(), 8);
    for comparison in &report.comparisons {
        let names: Vec<&str> = comparison.contenders.iter().map(|m| m.name.as_str()).collect();
        assert!(names.contains(&"sprs") && names.contains(&"nalgebra-sparse"), "{names:?}");
        assert!(names.iter().any(|n| n.ends_with("__portable")), "{names:?}");
        assert!(comparison.operations > 0 && comparison.rounds >= 7);
        for contender in &comparison.contenders {
            assert!(!contender.is_wrong(), "{}: {}", contender.label(), contender.verdict);
            assert_eq!(contender.judged, 1.0, "{}", contender.label());
            let speed = contender.speed.as_ref().expect("right, so timed");
            assert_eq!(speed.rounds.len() as u64, comparison.rounds);
            assert!(speed.fastest > 0.0 && speed.fastest <= speed.median && speed.gflops > 0.0);
            assert_eq!(speed.against.len(), if contender.peer { 0 } else { 2 });
            for ratio in speed.against.values() {
                assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high, "{ratio:?}");
            }
        }
    }
    assert!(!report.summary.is_empty() && !report.hybrids.is_empty());
    let page = std::fs::read_to_string(folder.path().join("out/bench.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<circle") && page.ends_with("</html>"));
    let table = std::fs::read_to_string(folder.path().join("out/bench.md")).expect("the tables");
    assert!(table.contains("## Over all matrices"), "{table}");
}

/// What a user judged with `run --exec` or `run --plugin` could not be timed at all.
#[test]
fn programs_and_plug_ins_are_judged_and_timed_beside_peers() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = format!("{} portable", env!("CARGO_BIN_EXE_hostile_subject"));
    let mut args = vec![
        "--synth",
        "embedded:karate",
        "--n",
        "5",
        "--peers",
        "sprs",
        "--ops",
        "spmm",
        "--exec",
        &program,
    ];
    let library = folder.path().join("spmm_csr.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/c/spmm_csr.c");
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
    let built = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-O1", "-ffp-contract=off", "-shared", "-fPIC", include, source, "-o"])
        .arg(&library)
        .status();
    let text = library.to_str().expect("UTF-8");
    if built.is_ok_and(|status| status.success()) {
        args.extend(["--plugin", text]);
    } else {
        println!("SKIPPED the plug-in: no C compiler");
    }
    let (ran, report) = measured(folder.path(), &args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let f32s = report.comparisons.iter().find(|c| c.types == "f32_f32_f32_f32").expect("both claim f32");
    let names: Vec<&str> = f32s.contenders.iter().map(|m| m.name.as_str()).collect();
    let names_of = if args.contains(&"--plugin") { 3 } else { 2 };
    assert!(names.contains(&"sprs") && names.len() >= names_of, "{names:?}");
    assert!(!names.iter().any(|name| name.contains("__")), "no kernel of ours was asked for: {names:?}");
    for contender in &f32s.contenders {
        assert!(
            !contender.is_wrong() && contender.speed.is_some(),
            "{}: {}",
            contender.label(),
            contender.verdict
        );
        assert_eq!(contender.peer, contender.name == "sprs");
    }
}

#[test]
fn what_both_sides_lack_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["--synth", "embedded:karate", "--ops", "sddmm", "--format", "csr", "--precisions", "f64,f16"];
    let (ran, report) =
        measured(folder.path(), &[&args[..], &["--peers", "sprs,mkl", "--mkl", "/nowhere"]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("SKIPPED peer mkl") && ran.out.contains("/nowhere"), "{}", ran.out);
    assert!(report.peers.iter().any(|p| p.name == "mkl" && !p.present));
    assert!(report.skipped.iter().any(|s| s.what == "sprs"), "{:?}", report.skipped);
    assert!(report.comparisons.iter().all(|c| c.contenders.iter().all(|m| m.speed.is_some())));
}

/// `sum a * b` in f32, product and sum rounded apart: right within any bound, but not what the registered kernel declares.
fn unfused(task: Task<'_>) -> Result<Answer, Refusal> {
    let Task::Spmm { a: AnySparse::F32(Sparse::Csr(a)), b, c, .. } = task else {
        panic!("asked for something else")
    };
    let (AnySlice::F32(b), n, AnySliceMut::F32(c)) = (b.data, b.cols, c.data) else {
        panic!("asked for another type")
    };
    for row in 0..a.rows {
        let (cols, values) = a.row(row);
        for j in 0..n {
            let terms = cols.iter().zip(values).map(|(&k, v)| v * b[k as usize * n + j]);
            c[row * n + j] = terms.sum();
        }
    }
    Ok(Answer::Written)
}

fn nothing(_: Task<'_>) -> Result<Answer, Refusal> {
    Ok(Answer::Written)
}

fn panics(_: Task<'_>) -> Result<Answer, Refusal> {
    panic!("as told")
}

fn options(kernels: Vec<Kernel>) -> Options {
    Options {
        kernels,
        subjects: Vec::new(),
        asked: Vec::new(),
        origins: vec!["rmat:scale=8,seed=7".parse().expect("a source")],
        peers: vec![Peer::Sprs],
        n: 8,
        threads: 2,
        time: Duration::from_millis(1),
        judged_terms: u64::MAX,
        preset: None,
        fewest_entries: 0,
        mkl: None,
        skipped: Vec::new(),
    }
}

#[test]
fn what_is_wrong_is_named_and_not_timed() {
    let right = kernel("spmm_csr_f32_f32_f32_f32__portable").expect("registered").clone();
    let wrong = |run| Kernel { run, ..right.clone() };
    let kernels = vec![right.clone(), wrong(unfused), wrong(nothing), wrong(panics)];
    let report = bench::run(&options(kernels), &mut |_| {}, &mut |_| Ok(())).expect("it runs");
    let contenders = &report.comparisons[0].contenders;
    assert!(contenders[0].speed.is_some() && !contenders[0].is_wrong());
    let kinds = |m: &Measured| match &m.verdict {
        VerdictRecord::Wrong(mismatch) => format!("{:?} {:?}", mismatch.tier, mismatch.what),
        other => format!("{other:?}"),
    };
    for (at, word) in [(1, "T2"), (2, "Unwritten"), (3, "as told")] {
        assert!(kinds(&contenders[at]).contains(word), "{}", kinds(&contenders[at]));
        assert_eq!(contenders[at].speed, None);
        let replay = contenders[at].replay.as_deref().expect("a registered name");
        assert!(replay.contains("conformance replay") && replay.contains("--backend portable"), "{replay}");
    }
    assert!(contenders[4].peer && contenders[4].speed.is_some());
    assert_eq!((report.exit_code(), report.wrong().count()), (1, 3));
    assert!(html::to_html(&report).contains("3 contenders were wrong"));
    assert!(markdown::to_markdown(&report).contains("| WRONG |"));
}

/// A run over many matrices was ended by a timeout before its last one, and left no report at all.
#[test]
fn what_was_measured_is_kept_after_each_matrix() {
    let right = kernel("spmm_csr_f32_f32_f32_f32__portable").expect("registered").clone();
    let origins = ["embedded:karate", "rmat:scale=6,seed=7", "rmat:scale=5,seed=8"];
    let options = Options {
        origins: origins.map(|line| line.parse().expect("a source")).to_vec(),
        ..options(vec![right])
    };
    let mut kept: Vec<BenchReport> = Vec::new();
    let report = bench::run(&options, &mut |_| {}, &mut |report| {
        kept.push(report.clone());
        Ok(())
    });
    let report = report.expect("it runs");
    let measured: Vec<usize> = kept.iter().map(|report| report.comparisons.len()).collect();
    assert_eq!(measured, [1, 2, 3]);
    let to_come = |report: &BenchReport| {
        report.skipped.iter().filter(|s| s.reason.contains("not measured yet")).count()
    };
    assert_eq!(kept.iter().map(to_come).collect::<Vec<_>>(), [2, 1, 0]);
    assert!(kept.iter().all(|report| !report.summary.is_empty()));
    assert_eq!(kept.last(), Some(&report), "the last one is whole");

    let full = bench::run(&options, &mut |_| {}, &mut |_| Err("the disk is full".to_owned()));
    assert_eq!(full.expect_err("it stops").to_string(), "the disk is full");
}

#[test]
fn a_sample_of_the_rows_is_called_one() {
    let right = kernel("spmm_csr_f64_f64_f64_f64__portable").expect("registered").clone();
    let report =
        bench::run(&Options { judged_terms: 4000, ..options(vec![right]) }, &mut |_| {}, &mut |_| Ok(()));
    let comparison = &report.expect("it runs").comparisons[0];
    for contender in &comparison.contenders {
        assert!(contender.judged > 0.0 && contender.judged < 1.0, "{}", contender.judged);
        assert!(contender.speed.is_some());
    }
}

/// The documentation lists what the preset's table holds.
#[test]
fn the_documentation_names_the_preset() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/bench.md");
    let text = std::fs::read_to_string(path).expect("docs/bench.md");
    for preset in &PRESETS {
        for word in preset.claims.iter().chain(preset.beside).chain(preset.sources) {
            assert!(text.contains(&format!("`{word}`")), "{word}");
        }
    }
}
