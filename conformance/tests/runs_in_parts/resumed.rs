//! A run that was killed goes on from its journal.

use super::{backends, options, run, same_lines, shard_of, timed};
use crate::cli::run_in;
use sparse_conformance::backend::Backend;
use sparse_conformance::campaign::{Extras, Planned};
use sparse_conformance::journal::{FILE, Journal, JournalError, OLD_FILE};
use sparse_conformance::plan::Options;
use sparse_conformance::report::VerdictRecord;
use sparse_oracle::contract::Op;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) fn journal_lines(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    text.matches('\n').count()
}

/// The process is killed in the middle, with no chance to tidy up; the resumed run writes what an uninterrupted one does.
#[test]
fn a_killed_run_resumes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args =
        ["run", "--contracts", "spmv.cs*", "--precisions", "f32,f64", "--allow-thin", "-j", "2", "--report"];
    let call = |report: &str, more: &[&str]| run_in(folder.path(), &[&args[..], &[report], more].concat());
    let whole = call("whole", &[]);
    assert_eq!(whole.code, 0, "{}", whole.err);

    let cut = folder.path().join("cut");
    let mut child = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .arg("cut")
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    while journal_lines(&cut) < 40 {
        assert!(start.elapsed() < Duration::from_secs(120), "no case was noted");
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    let noted = journal_lines(&cut);
    assert!(!cut.join("report.json").exists());
    // As if the kill had torn a line: half of one, which must not count.
    let mut journal = std::fs::OpenOptions::new().append(true).open(cut.join(FILE)).expect("there");
    journal.write_all(b"{\"records\":[{\"case\":\"spm").expect("written");
    drop(journal);

    let resumed = call("cut", &["--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let said = resumed.err.lines().find(|l| l.starts_with("resuming: ")).expect("it says so");
    let already: usize =
        said.split(' ').nth(1).and_then(|n| n.replace(',', "").parse().ok()).expect("a number");
    assert!(already >= 10 && already < noted, "{said}: {noted} lines");
    same_lines(&cut, &folder.path().join("whole"));
    assert!(!cut.join(FILE).exists(), "the report has everything");

    // Nothing is left to resume: it starts, and says so.
    let again = call("cut", &["--resume"]);
    assert!(again.code == 0 && again.err.contains("nothing to resume"), "{}", again.err);
}

/// Judges every case in a way that no run would, so that a record shows whether it was taken from the journal.
#[test]
fn what_the_journal_holds_is_not_judged_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let backends = backends();
    let header = Planned::new(&options(), &backends).header(&backends);
    let whole = run(&options(), &Extras::default());
    let (journal, kept) = Journal::start(folder.path(), &header).expect("made");
    assert!(!kept);
    // One that all of them were asked for.
    let asked = |case: &str| whole.cases.iter().filter(|c| c.case == case).count();
    let of_all = whole.cases.iter().find(|c| asked(&c.case) == backends.len());
    let case = of_all.expect("a case that all claim").case.clone();
    let of_case = |backend: &dyn Backend| {
        let record = whole.cases.iter().find(|c| c.case == case && c.backend == backend.name());
        let mut record = record.expect("one each").clone();
        record.verdict = VerdictRecord::Crashed { message: "from the journal".to_owned() };
        record
    };
    journal.judged(&backends.iter().map(AsRef::as_ref).map(of_case).collect::<Vec<_>>());
    drop(journal);

    let (journal, done) = Journal::resume(folder.path(), &header).expect("readable").expect("there");
    assert_eq!(done.records.len(), 1);
    let extras = Extras { journal: Some(journal), done, ..Extras::default() };
    let report = timed(&options(), &extras);
    let found: Vec<&str> = report.failures().map(|c| c.case.as_str()).collect();
    assert_eq!(found, vec![case.as_str(); backends.len()]);
    assert_eq!(report.cases.len(), whole.cases.len());
    let slowest = report.timings.slowest;
    assert!(!slowest.is_empty() && slowest.values().all(|slow| slow.case != case), "{slowest:?}");
    drop(extras);
    // All others were noted: a second resumption has nothing to do, and no case of it is the slowest.
    let (_, done) = Journal::resume(folder.path(), &header).expect("readable").expect("there");
    assert_eq!(done.records.len() as u64, whole.plan.distinct_cases);
    let names: BTreeSet<&String> = done.sources.keys().collect();
    assert_eq!(names, whole.sources.iter().map(|s| &s.spec).collect());
    let report = timed(&options(), &Extras { done, ..Extras::default() });
    assert!(report.cases.len() == whole.cases.len() && report.timings.slowest.is_empty());
}

#[test]
fn a_journal_of_another_run_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let backends = backends();
    let header = |options: &Options| Planned::new(options, &backends).header(&backends);
    let ours = header(&options());
    assert!(Journal::resume(folder.path(), &ours).expect("no journal is no error").is_none());
    drop(Journal::start(folder.path(), &ours).expect("made"));
    let refused = |header: &_| match Journal::resume(folder.path(), header) {
        Err(JournalError::OtherRun { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let other = |change: fn(&mut Options)| {
        let mut options = options();
        change(&mut options);
        header(&options)
    };
    assert_eq!(refused(&other(|o| o.seed = 4)), "the seed");
    assert_eq!(refused(&other(|o| o.shard = Some(shard_of(1, 2)))), "the shard");
    assert_eq!(refused(&other(|o| o.ops = vec![Op::Spmm])), "the list of operations");
    let mut fewer = ours.clone();
    fewer.plan.distinct_cases -= 1;
    assert_eq!(refused(&fewer), "the plan");
    let mut newer = ours.clone();
    newer.backends[1].version = "9".to_owned();
    assert_eq!(refused(&newer), "the list of backends");
    newer = ours.clone();
    newer.suite_version = "9".to_owned();
    assert_eq!(refused(&newer), "the suite's version");

    // A line that is whole and makes no sense is no torn one.
    let path = folder.path().join(FILE);
    let text = std::fs::read_to_string(&path).expect("readable");
    for line in ["{}", "{\"records\":[]}", "no JSON", "{\"records\":[{\"case\":\"x\"}]}"] {
        std::fs::write(&path, format!("{text}{line}\n")).expect("written");
        let error = Journal::resume(folder.path(), &ours).expect_err(line).to_string();
        assert!(error.contains("line 2"), "{error}");
    }
    // A first line cut off: nothing was done.
    std::fs::write(&path, &text[..text.len() - 2]).expect("written");
    assert!(Journal::resume(folder.path(), &ours).expect("readable").is_none());
    // Starting anew loses nothing.
    let (_, kept) = Journal::start(folder.path(), &ours).expect("made");
    assert!(kept && folder.path().join(OLD_FILE).exists());
}
