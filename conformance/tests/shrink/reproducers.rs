//! Reproducers of single cases and of whole runs: their lines replay from their files.

use crate::bugs::{Bug, edited, honest, with_values};
use sparse_conformance::backend::{Backend, Failure};
use sparse_conformance::campaign;
use sparse_conformance::case::Case;
use sparse_conformance::origin::Origin;
use sparse_conformance::plan::Options;
use sparse_conformance::report::{
    Colour, Environment, Report, Reproducer, markdown, show, to_text, write_all,
};
use sparse_conformance::reproducer::{shrink_case, shrink_findings};
use sparse_conformance::runner::run_case;
use sparse_conformance::shrink::{Reason, ShrinkBudget, select};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::format::FormatKind;
use sparse_oracle::scalar::Precision;
use sparse_oracle::task::{Answer, Task};
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The last row is a copy of the one before.
pub(crate) fn last_row_copied(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    edited(contract, task, |c| {
        for j in 0..c.cols {
            if c.rows > 1 {
                c.data[c.at(c.rows - 1, j)] = c.data[c.at(c.rows - 2, j)];
            }
        }
    })
}

pub(crate) const LINE: &str = "spmm.csr.f32_f32_f32_f32/uniform:rows=30,cols=20,density=0.3,seed=3/values=near-one,9/n=17/beta=2/lc=col/ldc=+2";

/// No clock, so that the tests do not depend on the machine.
pub(crate) const BUDGET: ShrinkBudget = ShrinkBudget { candidates: 4000, time: None };

pub(crate) fn wrong_value() -> Reason {
    let mismatch = Mismatch::plain(Defect::Value, String::new());
    Reason::of(&Verdict::Wrong(Box::new(mismatch))).expect("a finding")
}

pub(crate) fn written(
    line: &str,
    backend: &dyn Backend,
    reason: &Reason,
    budget: ShrinkBudget,
    folder: &Path,
) -> Reproducer {
    let case: Case = line.parse().expect("a line");
    let loaded = case.origin.load().expect("a matrix");
    shrink_case((&case, &loaded), (backend, reason), (budget, &|_, _| ()), folder).expect("it is written")
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_line_replays_from_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = written(LINE, &Bug(last_row_copied), &wrong_value(), BUDGET, folder.path());
    assert_eq!((found.rows, found.cols, found.nnz, found.n), (2, 1, 1, 1));
    let case: Case = found.case.expect("a line").parse().expect("it parses");
    let loaded = case.origin.load().expect("the file is there");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Bug(last_row_copied))];
    let record = run_case(&case, &loaded, &backends).records.remove(0);
    assert_eq!(Reason::of_record(&record), Some(wrong_value()));
    let about = text(&folder.path().join("case.txt"));
    assert!(about.starts_with("spmm.csr.f32_f32_f32_f32/file:[matrix.mtx]/values="), "{about}");
    assert!(about.contains("conformance replay 'spmm") && about.contains(LINE), "{about}");
}

/// Every stored value counts twice in an SpMV.
fn doubled(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let Task::Spmv { a, transpose_a, x, alpha, beta, y } = task else { return honest(contract, task) };
    let a = &with_values(a, |value| 2.0 * value);
    honest(contract, Task::Spmv { a, transpose_a, x, alpha, beta, y })
}

/// The reproducer of an SpMV, which has one column, said "n = 8".
#[test]
fn an_operation_without_an_n_is_shrunk_without_a_word_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "spmv.csr.f32_f32_f32_f32/uniform:rows=9,cols=7,density=0.5,seed=1/values=near-one,9";
    let found = written(line, &Bug(doubled), &wrong_value(), BUDGET, folder.path());
    assert_eq!(found.n, 1);
    assert!(found.summary.contains("shrunk to 1 x 1 with 1 entry, in "), "{}", found.summary);
    let json: serde_json::Value =
        serde_json::from_str(&text(&folder.path().join("case.json"))).expect("it is JSON");
    assert_eq!(json["parameters"]["n"], 1);
    for file in ["case.txt", "main.c", "main.py"] {
        assert!(!text(&folder.path().join(file)).contains("n = 8"), "{file}");
    }
}

#[test]
fn the_json_holds_operands_and_what_each_element_may_be() {
    let folder = tempfile::tempdir().expect("a folder");
    written(LINE, &Bug(last_row_copied), &wrong_value(), BUDGET, folder.path());
    let json: serde_json::Value =
        serde_json::from_str(&text(&folder.path().join("case.json"))).expect("it is JSON");
    assert_eq!(json["schema"], "sparse-conformance-reproducer-1");
    assert_eq!(json["verdict"]["kind"], "wrong");
    assert_eq!(json["a"]["arrays"][0]["name"], "row_ptr");
    let elements = json["expected"].as_array().expect("elements");
    assert_eq!(elements.len(), 2);
    let wrong: Vec<_> = elements.iter().filter(|e| e["right"] == false).collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!((&wrong[0]["row"], &wrong[0]["col"]), (&1.into(), &0.into()));
    assert!(wrong[0]["found_bits"].is_string() && wrong[0]["exact"].is_string());
    assert_eq!(json["c_before"]["rows"], 2);
}

/// Crashes where the first element of C is negative before the call.
fn crashes_on_a_negative_c(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let mut negative = false;
    let answer = edited(contract, task, |c| negative = c.was(0, 0) < 0.0)?;
    if negative { Err(Failure::Crashed("C is negative".to_owned())) } else { Ok(answer) }
}

/// Found by a new user: what is called twice, from different C, crashed in the second call, and the program held the first C: it said "right".
#[test]
fn a_crash_of_the_second_call_is_reproduced_from_the_second_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let reason = Reason::of(&Verdict::Crashed { message: "C is negative".to_owned() }).expect("a finding");
    let as_it_is = ShrinkBudget { candidates: 0, time: None };
    // The first C is negative there in some, and in some none is.
    let second = (0..20).find(|seed| {
        let line = LINE.replace("near-one,9", &format!("near-one,{seed}"));
        written(&line, &Bug(crashes_on_a_negative_c), &reason, as_it_is, folder.path());
        text(&folder.path().join("case.txt")).contains("in a second call, from another C")
    });
    assert!(second.is_some());
    let json: serde_json::Value =
        serde_json::from_str(&text(&folder.path().join("case.json"))).expect("it is JSON");
    let bits = json["c_before"]["bits"][0].as_str().and_then(|bits| bits.strip_prefix("0x")).expect("bits");
    let held = f32::from_bits(u32::from_str_radix(bits, 16).expect("hexadecimal"));
    assert!(held < 0.0, "{held}");
}

#[test]
fn a_case_too_large_to_embed_keeps_its_line_and_matrix() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "spmm.csr.f32_f32_f32_f32/uniform:rows=300,cols=300,density=0.3,seed=3/values=ones,0/n=33";
    let budget = ShrinkBudget { candidates: 0, time: None };
    let found = written(line, &Bug(last_row_copied), &wrong_value(), budget, folder.path());
    assert!(found.summary.contains("too large to embed"), "{}", found.summary);
    assert!(found.summary.contains("budget"), "{}", found.summary);
    assert!(folder.path().join("matrix.mtx").exists() && folder.path().join("case.txt").exists());
    assert!(!folder.path().join("case.json").exists() && !folder.path().join("main.c").exists());
}

fn failing_report() -> (Report, Vec<Box<dyn Backend>>) {
    let options = Options { ops: vec![Op::Spmm], precisions: vec![Precision::F32], ..Options::default() };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Bug(last_row_copied))];
    let report = campaign::run(&options, &backends, Environment::default(), &());
    (report, backends)
}

#[test]
fn a_run_shrinks_one_finding_of_each_contract_and_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut report, backends) = failing_report();
    let before = report.clone();
    let problems =
        shrink_findings(&mut report, &backends, folder.path(), Duration::from_secs(600), &|_, _| ());
    assert!(problems.is_empty(), "{problems:?}");
    let shrunk: Vec<_> = report.cases.iter().filter_map(|r| Some((r, r.reproducer.as_ref()?))).collect();
    let keys: BTreeSet<_> =
        report.failures().filter_map(|r| Some((r.contract.clone(), Reason::of_record(r)?))).collect();
    assert!(report.failures().count() > 2 * keys.len(), "many failures of one bug");
    assert_eq!(shrunk.len(), keys.len());
    let mut paths = BTreeSet::new();
    for (record, reproducer) in &shrunk {
        assert!(record.verdict.is_finding());
        assert!(reproducer.rows <= 2 && reproducer.n == 1, "{}: {}", record.case, reproducer.summary);
        let path = PathBuf::from(reproducer.path.as_deref().expect("a folder"));
        assert!(folder.path().join(&path).join("case.txt").exists());
        // The line is for the report's folder.
        let mut case: Case = reproducer.case.as_deref().expect("a line").parse().expect("it parses");
        let Origin::File(file) = &case.origin else {
            panic!("{case}");
        };
        case.origin = Origin::File(folder.path().join(file));
        let loaded = case.origin.load().expect("the file is there");
        let again = run_case(&case, &loaded, &backends).records.remove(0);
        assert_eq!(Reason::of_record(&again), Reason::of_record(record));
        paths.insert(path);
    }
    assert_eq!(paths.len(), shrunk.len(), "each has a folder of its own");
    // The report says the same with and without them, and says where they are.
    assert_eq!(report.findings, before.findings);
    assert_eq!(report.exit_code(), before.exit_code());
    let first = show::shrunk_first(&report).remove(0);
    let first = report.describe(&first).record.expect("a case");
    let small = report.replay_shrunk(first, Path::new("")).expect("a command");
    assert!(to_text(&report, &[], Colour::Plain).contains(&small));
    assert!(markdown::to_markdown(&report).contains(&small));
    write_all(&report, folder.path()).expect("it is written");
    assert_eq!(Report::read(&folder.path().join("report.json")).expect("it reads").cases, report.cases);
}

#[test]
fn a_folder_that_cant_be_written_changes_nothing_but_the_reproducers() {
    let folder = tempfile::tempdir().expect("a folder");
    // A file where the folder should be.
    std::fs::write(folder.path().join("reproducers"), "in the way").expect("written");
    let (mut report, backends) = failing_report();
    let before = report.clone();
    let problems =
        shrink_findings(&mut report, &backends, folder.path(), Duration::from_secs(600), &|_, _| ());
    assert!(!problems.is_empty() && problems[0].to_string().contains("can't be written"));
    assert_eq!(report, before);
}

/// True while findings are shrunk: hanging in the run as well would only cost time.
static SHRINKING: AtomicBool = AtomicBool::new(false);

/// A bug for each format; CSR, whose findings come first, hangs.
fn hangs_and_others(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    match contract.format {
        FormatKind::Csr => {
            if SHRINKING.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1500));
            }
            Err(Failure::TimedOut { seconds: 1.5, idle: false, tail: String::new() })
        }
        FormatKind::Csc => Err(Failure::Crashed("one thing".to_owned())),
        FormatKind::Coo => Err(Failure::Crashed("another".to_owned())),
        FormatKind::Bcsr => Err("not today".into()),
        _ => honest(contract, task),
    }
}

/// A single hang used up all of the time: its candidates cost the time limit each, and it came first.
#[test]
fn a_hang_leaves_time_for_every_other_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { ops: vec![Op::Spmm], precisions: vec![Precision::F32], ..Options::default() };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Bug(hangs_and_others))];
    let mut report = campaign::run(&options, &backends, Environment::default(), &());
    let chosen = select(&report).remove(backends[0].name()).expect("findings");
    let reasons: BTreeSet<_> = chosen.iter().map(|c| c.reason.clone()).collect();
    assert_eq!(reasons.len(), 4);
    let first: Vec<_> = chosen[..4].iter().map(|c| c.reason.is_slow()).collect();
    assert_eq!(first, [false, false, false, true], "the hang is the last of the first");
    SHRINKING.store(true, Ordering::Relaxed);
    let problems = shrink_findings(&mut report, &backends, folder.path(), Duration::from_secs(6), &|_, _| ());
    assert!(problems.is_empty(), "{problems:?}");
    let shrunk: BTreeSet<_> =
        report.cases.iter().filter(|c| c.reproducer.is_some()).filter_map(Reason::of_record).collect();
    assert_eq!(shrunk, reasons);
}
