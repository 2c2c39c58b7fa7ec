//! What the judge would need is known before it is taken: too large a matrix or case is not run, with its reason, and the run goes on.

use crate::cli::{Ran, report_value, run_in};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

const PATTERN: &str = "%%MatrixMarket matrix coordinate pattern general\n";

/// Seconds that no command here needs.
const HANGS: &str = "100";

/// Runs the program with so many MiB of address space; one that waits for ever is ended, which fails.
fn run_within(folder: &Path, mib: u64, args: &[&str]) -> Ran {
    let script = format!("ulimit -v {}; exec timeout {HANGS} \"$0\" \"$@\"", mib << 10);
    let output = Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_conformance")])
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("bash starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8 output");
    let ran =
        Ran { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) };
    assert!((0..=2).contains(&ran.code), "{args:?}: code {}: {}", ran.code, ran.err);
    ran
}

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "nothing of {word:?}: {}", ran.err);
    }
}

/// An archive of a head and so many equal pieces.
fn archive(path: &Path, head: &str, piece: &[u8], pieces: usize) {
    let file = std::fs::File::create(path).expect("made");
    let mut encoder = GzEncoder::new(file, Compression::best());
    encoder.write_all(head.as_bytes()).expect("written");
    let many = piece.repeat(1 << 14);
    for _ in 0..pieces >> 14 {
        encoder.write_all(&many).expect("written");
    }
    encoder.finish().expect("written");
    let bytes = std::fs::metadata(path).expect("there").len();
    assert!(bytes < 500_000, "{bytes} bytes of archive");
}

/// A file that does what the name of the folder or the extension asks for, and is none: devices without an end, a pipe that nobody writes
/// to, a socket, a folder.
fn no_files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let at = |name: &str| folder.join(format!("{name}.{extension}"));
    symlink("/dev/zero", at("zero")).expect("linked");
    symlink("/dev/urandom", at("random")).expect("linked");
    mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    symlink(at("pipe"), at("linked_pipe")).expect("linked");
    drop(UnixListener::bind(at("socket")).expect("bound"));
    std::fs::create_dir(at("folder")).expect("made");
    ["zero", "random", "pipe", "linked_pipe", "socket", "folder"].map(at).to_vec()
}

fn report(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("report.json")).expect("written");
    report_value(&text).expect("a report")
}

/// Case line, kind of verdict and reason of every record.
fn verdicts(report: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cases = report["cases"].as_array().expect("an array").iter();
    cases.map(|c| (text(&c["case"]), text(&c["verdict"]["kind"]), text(&c["verdict"]["reason"]))).collect()
}

/// Story: an archive of half a megabyte took 0.93 GB, and one of a mask 1 GB and 32 s. Here both are honest, and a third as
/// large; there are 600 MiB of address space.
#[test]
fn archives_that_need_too_much_are_refused_at_the_header() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let entries = 20_000_000 >> 14 << 14;
    archive(&at.join("a.mtx.gz"), &format!("{PATTERN}1 1 {entries}\n"), b"1 1\n", entries);
    let rows = (30_000_000 >> 14 << 14) - 1;
    archive(&at.join("b.smtx.gz"), &format!("{rows}, 1, 0\n"), b"0 ", rows + 1);
    for name in ["a.mtx.gz", "b.smtx.gz"] {
        refused(&run_within(at, 600, &["inspect", name]), &[name, "it needs about", "--judge-memory"]);
        let run = ["run", "--ops", "transpose", "--backend", "portable", "--matrix", name];
        refused(&run_within(at, 600, &run), &["1 of the matrices", name, "it needs about", "--judge-memory"]);
        let limited = ["--judge-memory", "700", "inspect", name];
        refused(&run_in(at, &limited), &[name, "the judge has 700 MiB"]);
    }
}

/// Story: the offsets of an empty matrix of 4 billion rows took 16 GB.
#[test]
fn four_billion_rows_are_refused_at_the_header() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, content) in [
        ("rows.mtx", format!("{PATTERN}4000000000 2 1\n7 1\n")),
        ("columns.mtx", format!("{PATTERN}2 4000000000 1\n1 7\n")),
        ("entries.mtx", format!("{PATTERN}100000 100000 4000000000\n")),
        ("mask.smtx", "4000000000, 3, 0\n".to_owned()),
    ] {
        std::fs::write(at.join(name), content).expect("written");
        let case = format!("spmv.csr.f64_f64_f64_f64/file:[{name}]/values=ones,1");
        for args in [
            vec!["inspect", name],
            vec!["replay", &case],
            vec!["explain", &case],
            vec!["shrink", &case, "--out", "o"],
        ] {
            refused(&run_within(at, 2000, &args), &[name, "it needs about", "--judge-memory"]);
        }
    }
}

/// Story: what a generator is asked for was known before it was made, and nobody looked.
#[test]
fn specifications_of_enormous_matrices_are_refused() {
    let at = std::env::temp_dir();
    let inspect = |spec: &str| run_within(&at, 1000, &["inspect", spec]);
    refused(&inspect("synth:circuit5M,seed=1"), &["synth:circuit5M", "it needs about", "--judge-memory"]);
    refused(&inspect("zero:rows=100000000,cols=1,seed=1"), &["zero:", "it needs about", "--judge-memory"]);
    for spec in
        ["zero:rows=4000000000,cols=4000000000,seed=1", "dense:rows=4000000000,cols=4000000000,seed=1"]
    {
        refused(&inspect(spec), &["elements, the limit is"]);
    }
    let line = "spmm.csr.f64_f64_f64_f64/diagonal:rows=400000,cols=400000,seed=1/values=ones,1/n=64";
    let ran = run_within(&at, 1000, &["replay", line, "--backend", "portable"]);
    refused(&ran, &["no backend was judged"]);
    assert!(ran.out.contains("it needs about") && ran.out.contains("--judge-memory"), "{}", ran.out);
}

/// Story: memory that ran out in one case ended the run, with everything that was judged before.
#[test]
fn a_case_that_is_too_large_is_not_run_and_all_others_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir(at.join("m")).expect("made");
    std::fs::write(at.join("m/a.mtx"), format!("{PATTERN}3 3 2\n1 2\n3 3\n")).expect("written");
    // It is read; its products have 16 million elements.
    std::fs::write(at.join("m/large.mtx"), format!("{PATTERN}1000000 1000000 2\n1 2\n3 3\n"))
        .expect("written");
    std::fs::write(at.join("m/z.mtx"), format!("{PATTERN}2 3 1\n2 3\n")).expect("written");
    let run = [
        "run",
        "--matrix",
        "m",
        "--contracts",
        "spmm.csr.f64_f64_f64_f64",
        "--backend",
        "portable",
        "--allow-thin",
    ];
    // Once the judge knows the limit; once it was told that it has more than the system gives.
    for (name, more, why) in [
        ("known", vec![], "the judge has"),
        ("told", vec!["--judge-memory", "1000000"], "the system does not give"),
    ] {
        let ran = run_within(at, 1200, &[&run[..], &more, &["--report", name]].concat());
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        let mut counts = [0, 0];
        for (case, kind, reason) in verdicts(&report(&at.join(name))) {
            let large = case.contains("large.mtx");
            assert_eq!(kind == "not_run", large, "{name}: {case}: {kind} {reason}");
            assert!(!large || reason.contains(why) && reason.contains("--judge-memory"), "{name}: {reason}");
            counts[usize::from(large)] += 1;
        }
        assert_eq!(counts, [4, 2], "{name}");
    }
}

/// Story: cases side by side took together what one of them may take. Here no two have room at once, and all are judged.
#[test]
fn what_has_no_room_beside_others_is_judged_after_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir(at.join("m")).expect("made");
    for name in ["a", "b", "c"] {
        let text = format!("{PATTERN}4000 4000 3\n1 2\n3 3\n4000 7\n");
        std::fs::write(at.join(format!("m/{name}.mtx")), text).expect("written");
    }
    let run = |name: &str, more: &[&str]| {
        let args = [
            "run",
            "--matrix",
            "m",
            "--contracts",
            "spmm.csr.f*,spmv.csr.f*",
            "--backend",
            "portable",
            "--report",
            name,
            "--allow-thin",
        ];
        let ran = run_in(at, &[&args[..], more].concat());
        assert!(ran.code < 2, "{}{}", ran.out, ran.err);
        report(&at.join(name))
    };
    let (free, tight) = (run("free", &[]), run("tight", &["--judge-memory", "32", "--jobs", "4"]));
    assert_eq!(free["cases"], tight["cases"]);
    assert_eq!(free["sources"], tight["sources"]);
    assert!(verdicts(&tight).len() >= 12 && verdicts(&tight).iter().all(|(_, kind, _)| kind != "not_run"));
}

/// Story: a matrix could be a link to a device without an end, or a pipe that nobody writes to.
#[test]
fn matrices_that_are_no_files_are_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for extension in ["mtx", "mtx.gz", "smtx"] {
        for path in no_files(at, extension) {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            refused(&run_within(at, 2000, &["inspect", name]), &[name, "not a regular file"]);
            let case = format!("spmv.csr.f64_f64_f64_f64/file:[{name}]/values=ones,1");
            refused(&run_within(at, 2000, &["replay", &case]), &[name, "not a regular file"]);
        }
    }
    // Of a folder they are skipped, by name.
    std::fs::write(at.join("good.mtx"), format!("{PATTERN}3 3 2\n1 2\n3 3\n")).expect("written");
    let run = ["run", "--matrix", ".", "--ops", "transpose", "--backend", "portable", "--allow-thin"];
    let ran = run_within(at, 2000, &run);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("pipe.mtx") && ran.err.contains("zero.smtx"), "{}", ran.err);
}

/// Story: a pipe called `x.toml` in the folder of expectations stopped a run before it began; a report that is a link to `/dev/zero` was
/// read until the memory was full.
#[test]
fn other_inputs_that_are_no_files_are_refused_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let run = ["run", "--ops", "transpose", "--backend", "portable", "--matrix", "good.mtx", "--allow-thin"];
    std::fs::write(at.join("good.mtx"), format!("{PATTERN}3 3 2\n1 2\n3 3\n")).expect("written");
    for path in no_files(at, "toml").into_iter().filter(|path| !path.is_dir()) {
        let path = path.to_str().expect("UTF-8");
        let refusal = run_within(at, 2000, &[&run[..], &["--expectations", path]].concat());
        refused(&refusal, &[path, "not a regular file"]);
    }
    let among = run_within(at, 2000, &[&run[..], &["--expectations", "."]].concat());
    refused(&among, &["toml", "not a regular file"]);
    assert_eq!(run_within(at, 2000, &[&run[..], &["--report", "whole"]].concat()).code, 0);
    for path in no_files(at, "json").into_iter().filter(|path| !path.is_dir()) {
        let path = path.to_str().expect("UTF-8");
        refused(&run_within(at, 2000, &["merge", "out", path]), &[path, "not a regular file"]);
        refused(&run_within(at, 2000, &["diff", "whole", path]), &[path, "not a regular file"]);
        refused(&run_within(at, 2000, &["diff", path, "whole"]), &[path, "not a regular file"]);
    }
    for path in no_files(at, "jsonl") {
        let journal = at.join("resumed/journal.jsonl");
        std::fs::create_dir_all(at.join("resumed")).expect("made");
        symlink(&path, &journal).expect("linked");
        let resumed = run_within(at, 2000, &[&run[..], &["--report", "resumed", "--resume"]].concat());
        refused(&resumed, &["journal.jsonl", "not a regular file"]);
        std::fs::remove_file(&journal).expect("removed");
    }
    for path in no_files(at, "bin") {
        let ran = run_within(at, 2000, &["model", "check", path.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 2, "{}: {}{}", path.display(), ran.out, ran.err);
    }
}
