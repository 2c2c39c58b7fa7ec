//! What could lose or mix results: another kernel or matrix on resuming, two runs in one folder, a full disk, a merge over its parts.

use super::resumed::journal_lines;
use crate::cli::{Ran, run_in};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PLAN: [&str; 6] = ["run", "--backend", "portable", "--matrix", "m.mtx", "--allow-thin"];

fn matrix(folder: &Path, value: &str) {
    let text = format!("%%MatrixMarket matrix coordinate real general\n4 4 2\n1 1 {value}\n3 2 -0.5\n");
    std::fs::write(folder.join("m.mtx"), text).expect("written");
}

fn run(folder: &Path, more: &[&str]) -> Ran {
    run_in(folder, &[&PLAN[..], more].concat())
}

/// Interrupts a run after some cases: its report folder holds a journal.
fn interrupted(folder: &Path, command: &[&str]) {
    let mut judge = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(command)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    while journal_lines(&folder.join("report")) < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "no case was noted");
        assert!(judge.try_wait().expect("it can be asked").is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    judge.kill().expect("SIGKILL");
    judge.wait().expect("it ends");
}

/// Story: a changed `.mtx` went unnoticed.
#[test]
fn a_matrix_that_was_changed_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let plan: Vec<&str> = PLAN.iter().copied().chain(["--report", "report"]).collect();
    interrupted(folder.path(), &plan);
    matrix(folder.path(), "2.5");
    let refused = run(folder.path(), &["--report", "report", "--resume"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("the content of the matrix m.mtx was hash "), "{}", refused.err);
    matrix(folder.path(), "1.5");
    let resumed = run(folder.path(), &["--report", "report", "--resume"]);
    assert!(resumed.code == 0 && resumed.err.contains("resuming: "), "{}", resumed.err);
}

/// Story: a good kernel, killed at 738 of 969 cases and replaced by zeros, gave 142 findings instead of 538.
#[test]
fn a_program_that_was_changed_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let script = folder.path().join("kernel.sh");
    let served = |note: &str| {
        let text = format!("# {note}\nexec {} serve\n", env!("CARGO_BIN_EXE_conformance"));
        std::fs::write(&script, text).expect("written");
    };
    let plan = [
        "run",
        "--exec",
        "sh kernel.sh",
        "--env",
        "SPEED=1",
        "--matrix",
        "m.mtx",
        "--allow-thin",
        "--report",
        "report",
    ];
    served("the first");
    interrupted(folder.path(), &plan);
    let resume = |plan: &[&str]| run_in(folder.path(), &[plan, &["--resume"]].concat());
    served("the second");
    let refused = resume(&plan);
    assert!(refused.code == 2 && refused.err.contains("the file kernel.sh was hash "), "{}", refused.err);
    served("the first");
    let other = plan.map(|word| if word == "SPEED=1" { "SPEED=2" } else { word });
    let refused = resume(&other);
    assert!(refused.code == 2 && refused.err.contains("the variable SPEED was hash "), "{}", refused.err);
    let resumed = resume(&plan);
    assert!(resumed.code == 0 && resumed.err.contains("resuming: "), "{}", resumed.err);
}

/// Story: two resumptions at once corrupted the journal in four of five tries.
#[test]
fn a_folder_has_one_run_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let report = folder.path().join("report");
    std::fs::create_dir(&report).expect("a new folder");
    let lock = std::fs::File::open(&report).expect("a folder");
    lock.lock().expect("the only one");
    for more in [&["--report", "report"][..], &["--report", "report", "--resume"]] {
        let refused = run(folder.path(), more);
        assert!(refused.code == 2 && refused.err.contains("another run writes to report"), "{}", refused.err);
    }
    drop(lock);
    assert_eq!(run(folder.path(), &["--report", "report"]).code, 0);
}

/// Story: `merge A A B` overwrote shard A.
#[test]
fn merging_overwrites_no_report_that_it_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    for shard in ["1/2", "2/2"] {
        let ran = run(folder.path(), &["--shard", shard, "--report", &shard.replace('/', "of")]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let part = folder.path().join("1of2/report.json");
    let before = std::fs::read(&part).expect("there");
    let refused = run_in(folder.path(), &["merge", "1of2", "./1of2", "2of2"]);
    assert!(refused.code == 2 && refused.err.contains("would be overwritten"), "{}", refused.err);
    assert_eq!(std::fs::read(&part).expect("there"), before);
    // Story: a part that lay in the folder for the whole under another name was refused as if it were to be overwritten.
    std::fs::create_dir(folder.path().join("whole")).expect("a new folder");
    std::fs::copy(&part, folder.path().join("whole/part1.json")).expect("copied");
    let merged = run_in(folder.path(), &["merge", "whole", "whole/part1.json", "2of2"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
}

/// Story: with standard output closed (`conformance run ... | head -1`) the journal was kept, and a run with findings ended with 0.
#[test]
fn a_run_that_nobody_listens_to_is_finished_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let crashes = format!("{} exit-always", env!("CARGO_BIN_EXE_hostile_subject"));
    let contract = "spmv.csr.f32_f32_f32_f32";
    let ran = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["run", "--exec", &crashes, "--contracts", contract, "--matrix", "m.mtx", "--no-shrink"])
        .args(["--report", "report"])
        .current_dir(folder.path())
        .stdout(writer)
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let there = |name: &str| folder.path().join("report").join(name).exists();
    assert!(there("report.json") && !there("journal.jsonl"), "{said}");
}

/// Story: a process that was killed while it wrote a file left a half of it in the folder for ever.
#[test]
fn what_a_killed_run_did_not_finish_is_cleared_away() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let left = folder.path().join("report/.unfinished-x1y2z3");
    std::fs::create_dir(folder.path().join("report")).expect("a new folder");
    std::fs::write(&left, "half a rep").expect("written");
    assert_eq!(run(folder.path(), &["--report", "report"]).code, 0);
    assert!(!left.exists());
}

/// A file system of its own that is soon full; `None`, and said, where this user may not have one.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(at: &Path, options: &str) -> bool {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(at).output();
        mount.is_ok_and(|output| output.status.success())
    }

    fn new(at: std::path::PathBuf) -> Option<Small> {
        std::fs::create_dir(&at).expect("a new folder");
        if Small::mount(&at, "size=48k") {
            return Some(Small(at));
        }
        eprintln!("SKIPPED: 1 test: no tmpfs can be mounted by this user");
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Story: with the disk full, what had been found was lost.
#[test]
fn with_the_disk_full_the_findings_are_printed_and_the_run_goes_on_later() {
    let folder = tempfile::tempdir().expect("a folder");
    matrix(folder.path(), "1.5");
    let Some(small) = Small::new(folder.path().join("report")) else { return };
    let full = run(folder.path(), &["--report", "report"]);
    assert_eq!(full.code, 2, "{}", full.err);
    assert!(full.err.contains("--resume") && full.err.contains("No space left"), "{}", full.err);
    assert!(full.out.contains("cases run"), "{}", full.out);
    let files = || std::fs::read_dir(&small.0).expect("readable").flatten().map(|f| f.file_name());
    assert!(files().all(|name| name == "journal.jsonl"), "{:?}", files().collect::<Vec<_>>());
    assert!(Small::mount(&small.0, "remount,size=20m"), "room is made");
    let resumed = run(folder.path(), &["--report", "report", "--resume"]);
    assert!(resumed.code == 0 && resumed.err.contains("resuming: "), "{}", resumed.err);
    assert!(small.0.join("report.json").exists());
}
