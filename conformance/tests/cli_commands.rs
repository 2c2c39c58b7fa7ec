//! The commands on good input: exit codes, the files of a report, replay, tables, pipes.

use crate::cli;

use cli::{Ran, report_value, run_in};
use sparse_oracle::contract::all_contracts;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the program anywhere.
fn run(args: &[&str]) -> Ran {
    run_in(&std::env::temp_dir(), args)
}

/// Story: cudarc panics where a library lacks a function of its table, as every driver older than CUDA 13.0 does, and the table of
/// kernels asks for the GPU's architecture: `list kernels` and `run --backend portable` ended with 101 there.
#[cfg(target_os = "linux")]
#[test]
fn a_driver_that_is_too_old_or_none_at_all_is_no_gpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let folders = ["/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64"];
    let mut found = folders.iter().map(|folder| std::path::Path::new(folder).join("libm.so.6"));
    let Some(foreign) = found.find(|path| path.exists()) else {
        eprintln!("SKIPPED: 1 of 1 checks, no libm.so.6 to take for a driver");
        return;
    };
    for name in ["libcuda.so", "libnvrtc.so", "libcusparse.so", "libcublas.so"] {
        std::fs::copy(&foreign, folder.path().join(name)).expect("copied");
    }
    for args in [&["list", "kernels"][..], &["list", "backends"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(args)
            .env("LD_LIBRARY_PATH", folder.path())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    }
}

#[test]
fn a_clean_run_exits_0_and_writes_valid_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args = [
        "run",
        "--ops",
        "spmv,transpose",
        "--precisions",
        "f32",
        "--seed",
        "5",
        "--allow-thin",
        "--report",
        "deep/report",
    ];
    let ran = run_in(folder.path(), &args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let at = folder.path().join("deep/report");
    let mut names: Vec<String> = std::fs::read_dir(&at)
        .expect("made")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    // The journal is gone: the report has everything that it had.
    assert_eq!(
        names,
        [
            "badge.json",
            "badge.svg",
            "history.jsonl",
            "report.html",
            "report.json",
            "report.junit.xml",
            "report.md",
            "report.sarif"
        ]
    );
    let text = std::fs::read_to_string(at.join("report.json")).expect("readable");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/report-2.schema.json");
    let schema: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(schema).expect("checked in")).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
    let complaints: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).take(5).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    assert_eq!(json["plan"]["seed"], 5);
    assert!(json["findings"].as_array().is_some_and(Vec::is_empty));
    for name in ["html", "json", "junit.xml", "md"] {
        let path = format!("deep/report/report.{name}");
        assert!(ran.out.contains(&path), "{path} is not named: {}", ran.out);
        assert!(std::fs::metadata(folder.path().join(path)).is_ok_and(|m| m.len() > 500));
    }
    // Lines of the report replay to the verdicts of the report.
    let mut by_kind: BTreeMap<(String, String), &serde_json::Value> = BTreeMap::new();
    let report = report_value(&text).expect("a report");
    for record in report["cases"].as_array().expect("an array") {
        let text = |v: &serde_json::Value| v.as_str().expect("text").to_owned();
        by_kind.insert((text(&record["backend"]), text(&record["verdict"]["kind"])), record);
    }
    assert!(by_kind.len() >= 6, "{:?}", by_kind.keys());
    for ((backend, kind), record) in by_kind {
        let line = record["case"].as_str().expect("text");
        let ran = run(&["replay", line, "--backend", &backend]);
        // What nobody was judged on is no pass.
        let idle = matches!(kind.as_str(), "not_run" | "unsupported");
        assert_eq!(ran.code, if idle { 2 } else { 0 }, "{line}: {}", ran.err);
        let shown = ran.out.lines().nth(1).expect("one verdict").trim().to_owned();
        let words = match kind.as_str() {
            "agreed_refusal" => "refused, as it must be",
            "not_run" => "not run",
            other => other,
        };
        assert!(shown.starts_with(&backend), "{shown}");
        assert!(shown.contains(words), "{line}: the report says {kind}, replay says {shown}");
        if let Some(share) = record["verdict"]["share"].as_f64() {
            let percent = sparse_conformance::report::show::share(share);
            assert!(shown.contains(&percent), "{percent}: {shown}");
        }
    }
}

/// A required backend that runs nothing is a finding, and a run in which nothing was judged is no result.
#[test]
fn idle_runs_are_not_clean() {
    let ran = run(&["run", "--backend", "sprs", "--ops", "sddmm"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("sprs ran no case"), "{}", ran.out);
    let last = ran.out.lines().last().unwrap_or_default();
    assert!(last.starts_with("nothing judged: 0 cases run"), "{last}");
}

#[test]
fn every_table_is_listed() {
    for (table, needle, least) in [
        ("contracts", "spmm.csr.f16_f16_f32_f32", all_contracts().len()),
        ("backends", "nalgebra-sparse", 3),
        ("kernels", "portable", all_contracts().len()),
        ("sources", "rmat", 20),
        ("values", "near-cancelling", 10),
        ("choices", "duplicates", 11),
        ("embedded", "karate", 10),
    ] {
        let ran = run(&["list", table]);
        assert_eq!(ran.code, 0, "{table}: {}", ran.err);
        assert!(ran.out.contains(needle), "{table}: {}", ran.out);
        assert!(ran.out.lines().count() >= least, "{table}: {}", ran.out.lines().count());
    }
    assert_eq!(run(&["list"]).out, run(&["list", "backends"]).out);
}

/// `conformance list contracts | head -1`: the reader goes away, which is no error and no panic.
#[test]
fn a_closed_pipe_is_no_error() {
    for args in [&["list", "contracts"][..], &["list", "kernels"], &["inspect", "embedded:cora"], &["--help"]]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        // The reader is dropped after one line, or before any.
        let mut reader = BufReader::with_capacity(16, child.stdout.take().expect("piped"));
        if args[0] == "list" {
            reader.read_line(&mut line).expect("one line");
        }
        drop(reader);
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!err.contains("panicked"), "{args:?}: {err}");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
    }
}

#[test]
fn inspect_takes_embedded_specs_and_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 1.5\n2 4 0\n3 2 1\n3 2 1\n";
    std::fs::write(folder.path().join("own.mtx"), text).expect("written");
    let ran = run_in(folder.path(), &["inspect", "own.mtx", "--svg", "own.svg"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for needle in ["3 x 4", "stored entries   3", "duplicates       1", "explicit zeros   1", "own.svg"] {
        assert!(ran.out.contains(needle), "{needle}: {}", ran.out);
    }
    let svg = std::fs::read_to_string(folder.path().join("own.svg")).expect("written");
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{}", &svg[..40]);
    for (name, needle) in [
        ("embedded:karate", "34 x 34"),
        ("stencil:nx=4,ny=4,seed=0", "16 x 16"),
        ("uniform:rows=0,cols=0,seed=0", "0 x 0"),
        ("synth:scircuit,seed=0", "shape"),
    ] {
        let ran = run(&["inspect", name]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert!(ran.out.contains(needle), "{name}: {}", ran.out);
    }
}

#[test]
fn explain_follows_one_element() {
    let line = "spmm.csr.f32_f32_f32_f32/embedded:karate/values=near-one,3/n=3/alpha=0.5/beta=1";
    let ran = run(&["explain", line]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for needle in [
        line,
        "34 x 34",
        "portable: ",
        "sprs: ",
        "nalgebra-sparse: ",
        "exact ",
        "T1 ",
        "T2 ",
        "found ",
        "declares",
    ] {
        assert!(ran.out.contains(needle), "{needle}: {}", ran.out);
    }
    let at = run(&["explain", line, "--backend", "portable", "--at", "33,2"]);
    assert_eq!(at.code, 0, "{}", at.err);
    assert!(at.out.contains("(33, 2), 17 terms") && at.out.contains("and 1 more"), "{}", at.out);
    let vacuous = run(&["explain", "spmv.csr.f64_f64_f64_f64/embedded:karate/values=ones,3/alpha=0"]);
    assert!(vacuous.out.contains("degenerate"), "{}", vacuous.out);
    for line in [
        "convert.csr.ell.f32/embedded:karate/values=ones,1",
        "spgemm.csr.f64_f64_f64_f64/embedded:karate/values=ones,1",
        "spmm.csr.f64_f64_f64_f64/embedded:karate/values=ones,1/fault=inner-shape",
        "sddmm.csr.f16_f16_f32_f32/embedded:karate/values=own,1",
    ] {
        assert_eq!(run(&["explain", line]).code, 0, "{line}");
    }
}

#[test]
fn help_and_version_are_on_standard_output() {
    for command in ["run", "list", "merge", "diff", "replay", "explain", "inspect"] {
        let ran = run(&[command, "--help"]);
        assert!(ran.code == 0 && ran.out.contains("Usage: conformance") && ran.err.is_empty(), "{command}");
    }
    assert!(run(&["--version"]).out.starts_with("conformance "));
}

/// A line as it is pasted into a shell in this folder: the exit code and what it says.
fn in_shell(line: &str, folder: &Path) -> (Option<i32>, String) {
    let script = format!("conformance() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_conformance"));
    let ran = std::process::Command::new("sh").args(["-c", &script]).current_dir(folder).output();
    let ran = ran.expect("a shell");
    (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// A program that dies at every request: found by `run`, shrunk by default, replayed by the printed line.
#[test]
fn a_run_shrinks_what_it_finds_and_the_line_replays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    let run = |more: &[&str]| {
        let ops = ["run", "--ops", "transpose", "--precisions", "f64", "--exec", &subject];
        run_in(folder.path(), &[&ops[..], more].concat())
    };
    let ran = run(&["--report", "out", "--shrink", "5"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    // The command for the small case works as it is printed, where the run was started; so does that of the page.
    let mut lines = ran.out.lines().skip_while(|line| !line.starts_with("  shrunk to "));
    let small = lines.nth(1).expect("a line below").trim();
    assert!(
        small.starts_with("conformance replay 'transpose.") && small.contains("[out/reproducers/"),
        "{}",
        ran.out
    );
    let (code, said) = in_shell(small, folder.path());
    assert_eq!(code, Some(1), "{small}: {said}");
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).expect("written");
    let shown =
        format!("<code>{}</code><button class=\"copy\"", small.replace('&', "&amp;").replace('"', "&quot;"));
    assert!(page.contains(&shown), "{shown}");
    let named: Vec<_> = std::fs::read_dir(folder.path().join("out/reproducers"))
        .expect("made")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert!(!named.is_empty());
    for reproducer in named {
        let line = std::fs::read_to_string(reproducer.join("case.txt")).expect("text");
        let line = line.lines().next().expect("the line").to_owned();
        let again = run_in(&reproducer, &["replay", &line, "--exec", &subject]);
        assert_eq!(again.code, 1, "{line}: {}{}", again.out, again.err);
    }
    let ran = run(&["--report", "none", "--no-shrink"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(!folder.path().join("none/reproducers").exists());
    // A run that was interrupted while it wrote them, and resumed, took its own for those of the run before, which then went.
    let at = |name: &str| folder.path().join("out").join(name);
    std::fs::rename(at("reproducers"), at("reproducers.old")).expect("renamed");
    std::fs::create_dir(at("reproducers")).expect("made");
    std::fs::write(at("reproducers/unfinished"), "").expect("written");
    let count = |name: &str| std::fs::read_dir(at(name)).expect("there").count();
    let before = count("reproducers.old");
    assert_eq!(run(&["--report", "out", "--no-shrink"]).code, 1);
    assert!(count("reproducers.old") == before && !at("reproducers").exists());
}

#[test]
fn one_line_is_shrunk_and_what_passes_is_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    let line = "spmv.csr.f64_f64_f64_f64/uniform:rows=9,cols=7,density=0.4,seed=1/values=wide,3/beta=1";
    let args = ["shrink", line, "--exec", &subject, "--out", "small"];
    let ran = run_in(folder.path(), &args);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("shrunk to 1 x 1 with"), "{}", ran.out);
    let small = ran.out.lines().find(|line| line.starts_with("conformance replay ")).expect("a command");
    assert!(small.contains("/file:[small/matrix.mtx]/"), "{}", ran.out);
    assert_eq!(in_shell(small, folder.path()).0, Some(1), "{small}");
    assert!(folder.path().join("small/main.py").exists());
    let ran = run_in(folder.path(), &["shrink", line, "--backend", "portable"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("does not fail"), "{}", ran.out);
}

/// Reproducers lie next to the shards' reports; the merged report names them, so they must lie next to it as well.
#[test]
fn a_merged_report_brings_its_reproducers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    for shard in ["1/2", "2/2"] {
        let report = &shard[..1];
        let options = ["--shrink", "5", "--shard", shard, "--report", report];
        let what = ["run", "--ops", "transpose", "--precisions", "f64", "--exec", &subject];
        let ran = run_in(folder.path(), &[&what[..], &options].concat());
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    }
    // Those of a merge before are none of this one's.
    std::fs::create_dir_all(folder.path().join("both/reproducers/stale")).expect("made");
    let ran = run_in(folder.path(), &["merge", "both", "1", "2"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(folder.path().join("both/reproducers.old/stale").exists());
    assert!(!folder.path().join("both/reproducers/stale").exists());
    let text = std::fs::read_to_string(folder.path().join("both/report.json")).expect("written");
    let report = report_value(&text).expect("a report");
    let named: Vec<&str> = report["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .filter_map(|case| case["reproducer"]["path"].as_str())
        .collect();
    assert!(named.len() >= 2, "{named:?}");
    for path in named {
        for file in ["case.txt", "matrix.mtx", "main.c", "main.py"] {
            assert!(folder.path().join("both").join(path).join(file).exists(), "{path}/{file}");
        }
    }
}

/// `case.txt` says "In this folder", where a program that was given by a relative path is not.
#[test]
fn the_line_of_a_reproducer_works_in_its_folder_for_a_relative_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::copy(env!("CARGO_BIN_EXE_hostile_subject"), folder.path().join("subject")).expect("copied");
    let what = ["run", "--ops", "transpose", "--precisions", "f64", "--exec", "./subject exit-always"];
    let ran = run_in(folder.path(), &[&what[..], &["--report", "out", "--shrink", "5"]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    // On a busy machine the time may end before a case is small enough for a program: another one is, then.
    let made = std::fs::read_dir(folder.path().join("out/reproducers")).expect("made");
    let of = |entry: std::io::Result<std::fs::DirEntry>| {
        let reproducer = entry.expect("readable").path();
        let about = std::fs::read_to_string(reproducer.join("case.txt")).expect("text");
        about.contains("python3 main.py /").then_some((reproducer, about))
    };
    let (reproducer, about) = made.into_iter().find_map(of).expect("one with a program");
    let lines: Vec<&str> = about.lines().filter(|line| line.contains("conformance replay")).collect();
    assert_eq!(lines.len(), 2, "{about}");
    for line in lines {
        let (code, said) = in_shell(line, &reproducer);
        assert_eq!(code, Some(1), "{line}: {said}");
    }
}

/// Forty lines of patterns for a backend of one format hid the others.
#[test]
fn exclusions_are_counted_unless_all_are_asked_for() {
    let (short, long) = (run(&["list", "backends"]).out, run(&["list", "backends", "--all"]).out);
    assert!(short.contains("(--all lists them)") && !short.contains("because"), "{short}");
    assert!(long.contains("because") && long.lines().count() > short.lines().count(), "{long}");
}
