//! A judge whose machine fails it: the n-th allocation, write, read, clock reading and so on goes wrong (`faults.c`), and a small run ends
//! right, or refuses with a reason and goes on by `--resume`. A program killed at its n-th answer costs one case.
//!
//! ```text
//! undisturbed run -> its report
//! fault n -> exit 0 or 1: the same report            right
//!         -> exit 2, or an abort for want of memory:  --resume -> the same report    refused
//! ```
//!
//! `FAULTS=N` in the environment tries up to N places of each kind, spread evenly; what is left out is printed.

use crate::cli::report_value;
use crate::remote_hostile::left;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Places of each kind that are tried, unless the environment says otherwise.
const PLACES: u64 = 6;

/// What fails, and how.
const WAYS: [(&str, &str); 22] = [
    ("alloc", "ENOMEM"),
    ("write", "short"),
    ("write", "short:on"),
    ("write", "EINTR"),
    ("write", "ENOSPC"),
    ("write", "ENOSPC:on"),
    ("read", "short"),
    ("read", "EINTR"),
    ("read", "EIO"),
    ("open", "EMFILE"),
    ("open", "EMFILE:on"),
    ("open", "EINTR"),
    ("rename", "ENOSPC"),
    ("sync", "ENOSPC"),
    ("sync", "EIO:on"),
    ("unlink", "EIO"),
    ("pipe", "EMFILE"),
    ("spawn", "EAGAIN"),
    ("thread", "EAGAIN"),
    ("clock", "+3600:on"),
    ("clock", "-3600:on"),
    ("storm", "EINTR"),
];

/// How a disturbed run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Right,
    Refused,
}

/// A folder with the matrices of a small run.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 1..=2 {
        let text =
            format!("%%MatrixMarket matrix coordinate real general\n4 4 2\n1 {number} 1.5\n3 2 -0.5\n");
        std::fs::write(folder.path().join(format!("m{number}.mtx")), text).expect("written");
    }
    folder
}

fn judge(folder: &Path, program: &str, options: &[&str]) -> Command {
    let mut judge = Command::new(env!("CARGO_BIN_EXE_conformance"));
    judge.args(["run", "--contracts", "spmv.csr.f32_f32_f32_f32", "--no-shrink", "-j", "1", "--allow-thin"]);
    judge.args(["--matrix", "m1.mtx", "--matrix", "m2.mtx", "--report", "report", "--exec", program]);
    let error = File::create(folder.join("err")).expect("a file");
    judge.args(options).current_dir(folder).stdout(Stdio::null()).stderr(error);
    judge
}

fn honest(mark: &str) -> String {
    format!("{} honest {mark}", env!("CARGO_BIN_EXE_hostile_subject"))
}

/// The report without what differs from run to run; `None` where there is none that is whole.
fn report(folder: &Path, mark: &str) -> Option<serde_json::Value> {
    let text = std::fs::read_to_string(folder.join("report/report.json")).ok()?.replace(mark, "MARK");
    let mut report = report_value(&text).ok()?;
    for part in ["environment", "timings"] {
        report.as_object_mut()?.remove(part);
    }
    Some(report)
}

/// Processes of a mark that are still there after a moment.
fn stayed(mark: &str) -> Vec<String> {
    let since = Instant::now();
    while !left(mark).is_empty() && since.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    left(mark)
}

/// The library that fails calls; `None` where it can't be built.
fn library(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("faults.so");
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-o"]).arg(&library);
    let Ok(built) = cc.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/faults/faults.c")).output() else {
        eprintln!("SKIPPED: no cc here; faults are not injected");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(library)
}

/// How often a kind is called in an undisturbed run.
fn calls(library: &Path, kind: &str, mark: &str) -> u64 {
    let folder = folder();
    let count = folder.path().join("count");
    let how = if kind == "clock" { "+0" } else { "EINTR" };
    let mut judge = judge(folder.path(), &honest(mark), &["--backend", "portable,hostile"]);
    judge.env("LD_PRELOAD", library).env("FAULT", format!("{kind}:0:{how}")).env("FAULT_COUNT", &count);
    assert!(judge.status().expect("it starts").success(), "{kind}");
    std::fs::read_to_string(count).expect("a count").parse().expect("a number")
}

/// One disturbed run, and the one that goes on with it.
fn disturbed(library: &Path, fault: &str, mark: &str, wanted: &serde_json::Value) -> Result<End, String> {
    let folder = folder();
    let program = honest(mark);
    let options = ["--backend", "portable,hostile"];
    let mut first = judge(folder.path(), &program, &options);
    let status = first.env("LD_PRELOAD", library).env("FAULT", fault).status().expect("it starts");
    let said = std::fs::read_to_string(folder.path().join("err")).unwrap_or_default();
    let said: String = said.chars().take(600).collect();
    let stayed = stayed(mark);
    if !stayed.is_empty() {
        return Err(format!("left behind {stayed:?}"));
    }
    let whole = |what: &str| match report(folder.path(), mark) {
        Some(report) if report == *wanted => Ok(()),
        Some(report) => Err(format!("{what}: another report: {}", difference(&report, wanted))),
        None => Err(format!("{what}: no report: {said}")),
    };
    let refused = match status.code() {
        Some(0) => return whole("exit 0").map(|()| End::Right),
        Some(2) => said.contains("conformance: ") || fault.contains("ENOSPC"),
        _ => fault.starts_with("alloc") && status.signal() == Some(6),
    };
    if !refused {
        return Err(format!("{status}: {said}"));
    }
    let status = judge(folder.path(), &program, &["--backend", "portable,hostile", "--resume"]).status();
    let status = status.expect("it starts");
    if status.code() != Some(0) {
        let said = std::fs::read_to_string(folder.path().join("err")).unwrap_or_default();
        return Err(format!("resumed: {status}: {said}"));
    }
    whole("resumed").map(|()| End::Refused)
}

/// The first place where two reports differ.
fn difference(a: &serde_json::Value, b: &serde_json::Value) -> String {
    let (a, b) = (format!("{a:#}"), format!("{b:#}"));
    let differs = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    differs.map_or_else(|| "one is longer".to_owned(), |(a, b)| format!("{a} instead of {b}"))
}

/// Places from 1 to `count`, at most `most`, spread evenly with both ends.
fn places(count: u64, most: u64) -> Vec<u64> {
    if count <= most {
        return (1..=count).collect();
    }
    (0..most).map(|i| 1 + i * (count - 1) / (most - 1).max(1)).collect()
}

/// Story: standard error on a full disk ended the run in a panic of its progress line; a clock that jumped an hour had the program called
/// late.
#[test]
fn faults_injected() {
    let built = tempfile::tempdir().expect("a folder");
    let Some(library) = library(built.path()) else { return };
    let most = std::env::var("FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(PLACES);
    let mark = |worker: usize| format!("faults-{}-{worker}-", std::process::id());
    let whole = folder();
    let status = judge(whole.path(), &honest(&mark(9)), &["--backend", "portable,hostile"]).status();
    assert!(status.expect("it starts").success());
    let wanted = report(whole.path(), &mark(9)).expect("a report");

    let mut queue = VecDeque::new();
    let mut counts = Vec::new();
    for (way, (kind, how)) in WAYS.into_iter().enumerate() {
        // Microseconds between two signals; faster ones leave no time for anything else.
        let (count, places) = match kind {
            "storm" => (3, vec![300, 1000, 3000]),
            _ => {
                let count = calls(&library, kind, &mark(8));
                (count, places(count, most))
            }
        };
        assert!(count > 0, "{kind}: never called, so that nothing is tried");
        counts.push((count, places.len()));
        let fault = |place: u64| match how.strip_suffix(":on") {
            Some(how) => format!("{kind}:{place}:{how}:on"),
            None => format!("{kind}:{place}:{how}"),
        };
        queue.extend(places.into_iter().map(|place| (way, fault(place))));
    }
    let (queue, ends) = (Mutex::new(queue), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (queue, ends, library, wanted) = (&queue, &ends, &library, &wanted);
            let mark = mark(worker);
            scope.spawn(move || {
                loop {
                    let next = queue.lock().expect("nobody panicked").pop_front();
                    let Some((way, fault)) = next else { return };
                    let end = disturbed(library, &fault, &mark, wanted);
                    ends.lock().expect("nobody panicked").push((way, fault, end));
                }
            });
        }
    });
    let ends = ends.into_inner().expect("nobody panicked");
    for (way, (kind, how)) in WAYS.into_iter().enumerate() {
        let (count, tried) = counts[way];
        let of = |end| ends.iter().filter(|(w, _, e)| *w == way && *e == Ok(end)).count();
        println!(
            "{kind} {how}: {tried} of {count} places, {} right, {} refused",
            of(End::Right),
            of(End::Refused)
        );
    }
    let failures: Vec<String> =
        ends.iter().filter_map(|(_, fault, end)| Some(format!("{fault}: {}", end.as_ref().err()?))).collect();
    println!("faults injected: {}, {} failures", ends.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The records of a report by case, as text.
fn records(report: &serde_json::Value) -> Vec<&serde_json::Value> {
    report["cases"].as_array().expect("cases").iter().collect()
}

/// A program that is killed before, within or after its n-th answer costs one case, which is told as what it is.
#[test]
fn a_program_killed_at_any_answer_costs_one_case() {
    let mark = format!("killed-at-{}", std::process::id());
    let run = |mode: &str, number: usize| {
        let folder = folder();
        let program = format!("{} {mode} {mark} {number}", env!("CARGO_BIN_EXE_hostile_subject"));
        let code = judge(folder.path(), &program, &["--repeat", "0"]).status().expect("it starts").code();
        assert_eq!(stayed(&mark), Vec::<String>::new(), "{mode} {number}");
        (code, report(folder.path(), &mark).expect("a report"))
    };
    let (code, whole) = run("killed-before", 0);
    assert_eq!(code, Some(0));
    let count = records(&whole).len();
    let mut killed = 0;
    for mode in ["killed-before", "killed-within", "killed-after"] {
        // A case may ask more than once: on until a number that nobody asks.
        for number in 1.. {
            let (code, report) = run(mode, number);
            let pairs: Vec<_> = records(&report).into_iter().zip(records(&whole)).collect();
            assert_eq!(pairs.len(), count, "{mode} {number}");
            let crashed: Vec<String> = pairs
                .iter()
                .filter(|(a, b)| a["verdict"] != b["verdict"])
                .map(|(a, _)| a.to_string())
                .collect();
            if crashed.is_empty() {
                // Nobody asks again after the last answer.
                assert!(
                    number > count || mode == "killed-after" && number == count,
                    "{mode} {number}: not seen"
                );
                assert_eq!(code, Some(0), "{mode} {number}");
                break;
            }
            assert_eq!((crashed.len(), code), (1, Some(1)), "{mode} {number}: {crashed:?}");
            let told = |record: &String| record.contains("crashed") && record.contains("SIGKILL");
            assert!(crashed.iter().all(told), "{mode} {number}: {crashed:?}");
            killed += 1;
        }
    }
    println!("programs killed at an answer: {killed}, 0 failures");
    assert!(count >= 4, "only {count} cases");
}
