//! Runs that are more than one process: shards and their merging, an interrupted run that goes on, the examples for
//! schedulers, and what is refused on the way.

use crate::cli;

use cli::{Ran, run_in};
use sparse_conformance::backend::{Backend, NalgebraSparse, Portable, Sprs};
use sparse_conformance::campaign::{self, Extras, Planned, Progress};
use sparse_conformance::case::Case;
use sparse_conformance::journal::{FILE, Journal, JournalError, OLD_FILE};
use sparse_conformance::plan::{Options, plan, shard};
use sparse_conformance::report::{
    Environment, Expectation, Expected, MergeError, Occurs, Report, Since, Timings, VerdictRecord, WRITERS,
    merge,
};
use sparse_conformance::shard::Shard;
use sparse_oracle::contract::Op;
use sparse_oracle::scalar::Precision;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Silent;

impl Progress for Silent {
    fn planned(&self, _cases: usize, _matrices: usize) {}
    fn judged(&self, _case: &str, _findings: usize) {}
}

fn options() -> Options {
    Options {
        ops: vec![Op::Spmv, Op::Transpose],
        precisions: vec![Precision::F32, Precision::F16],
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

/// Runs without the two blocks that may differ.
fn run(options: &Options, extras: &Extras) -> Report {
    let backends = backends();
    let planned = Planned::new(options, &backends);
    let mut report = campaign::run_with(planned, &backends, Environment::default(), &Silent, extras);
    report.timings = Timings::default();
    report
}

fn shards(options: &Options, count: u64, extras: &Extras) -> Vec<(PathBuf, Report)> {
    let one = |index| {
        let options = Options {
            shard: Some(shard_of(index, count)),
            ..options.clone()
        };
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
        let text = |report| {
            writer
                .text(report, Path::new(writer.file))
                .expect("finite numbers only")
        };
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

#[test]
fn merged_shards_are_the_unsharded_report() {
    for count in [1, 3] {
        let whole = run(&options(), &Extras::default());
        let mut parts = shards(&options(), count, &Extras::default());
        assert!(parts.iter().all(|(_, part)| part.plan.distinct_cases > 50));
        parts.reverse();
        let merged = merge(parts).expect("all shards");
        assert_same_files(&merged, &whole);
        assert!(whole.sources.iter().any(|s| s.spy.is_some()));
    }
}

#[test]
fn findings_of_expectations_come_back_in_merging() {
    let extras = || Extras {
        expectations: expectations(),
        ..Extras::default()
    };
    // Not filtered, so that stale expectations are findings; small all the same.
    let unfiltered = |mut report: Report| {
        report.plan.filtered = false;
        report.seal();
        report
    };
    let whole = unfiltered(run(&options(), &extras()));
    assert_eq!(whole.findings.len(), 3, "{:?}", whole.findings);
    let parts = shards(&options(), 2, &extras());
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(path, part)| (path, unfiltered(part)))
        .collect();
    for (_, part) in &parts {
        assert_eq!(part.findings.len(), 1, "a shard decides what its own cases show");
    }
    let merged = merge(parts).expect("all shards");
    assert_eq!(merged.findings, whole.findings);
    assert_same_files(&merged, &whole);
}

/// A plan over one matrix splits too, and a filter moves no case to another shard.
#[test]
fn one_matrix_splits_and_filters_move_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("own.mtx");
    let text = "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1.5\n2 4 2\n3 2 1\n";
    std::fs::write(&path, text).expect("written");
    let lines = |options: &Options| -> BTreeSet<String> {
        let groups = shard(plan(options), options.shard);
        groups
            .iter()
            .flat_map(|g| &g.cases)
            .map(Case::to_string)
            .collect()
    };
    let all = Options {
        matrices: vec![path],
        ..Options::default()
    };
    let narrow = Options {
        ops: vec![Op::Spmm],
        ..all.clone()
    };
    let mut found = BTreeSet::new();
    for index in 1..=4 {
        let shard = Some(shard_of(index, 4));
        let of = |options: &Options| {
            lines(&Options {
                shard,
                ..options.clone()
            })
        };
        let (mine, filtered) = (of(&all), of(&narrow));
        assert!(mine.len() > 3, "{} cases", mine.len());
        assert!(filtered.is_subset(&mine));
        found.extend(mine);
    }
    assert_eq!(found, lines(&all));
}

/// A backend that a shard leaves without work is no finding there, and one in the whole report.
#[test]
fn an_idle_backend_in_a_shard_is_none() {
    let idle = || {
        let mut options = options();
        options.ops = vec![Op::Sddmm];
        options
    };
    let whole = run(&idle(), &Extras::default());
    assert_eq!(whole.exit_code(), 1, "sprs has no sampled product");
    let parts = shards(&idle(), 2, &Extras::default());
    assert!(parts.iter().all(|(_, part)| part.exit_code() == 0));
    let merged = merge(parts).expect("all shards");
    assert_eq!(merged.findings, whole.findings);
}

type Parts = Vec<(PathBuf, Report)>;
type Change = fn(&mut Report);

#[test]
fn reports_that_are_not_all_shards_of_one_plan_are_refused() {
    let good = shards(&options(), 3, &Extras::default());
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = good.clone();
        change(&mut parts);
        merge(parts).expect_err("it must be refused")
    };
    assert_eq!(merge(Vec::new()), Err(MergeError::Nothing));
    assert_eq!(
        with(&|p| drop(p.remove(1))),
        MergeError::Missing {
            count: 3,
            missing: vec![2]
        }
    );
    assert!(
        matches!(with(&|p| p.push(p[1].clone())), MergeError::Twice { path, .. } if path.ends_with("shard-2"))
    );
    assert!(matches!(
        with(&|p| p[2].1.plan.shard = None),
        MergeError::NotAShard { path } if path.ends_with("shard-3")
    ));
    let differing: [(&str, Change); 6] = [
        ("the seed", |r| r.plan.seed = 4),
        ("the suite's version", |r| r.suite_version = "9".to_owned()),
        ("the list of backends", |r| r.backends[0].version = "9".to_owned()),
        ("the plan", |r| r.plan.digest = "0".to_owned()),
        ("what backends declare", |r| r.backends[0].deviations.clear()),
        ("the list of expectations", |r| r.expectations = expectations()),
    ];
    for (expected, change) in differing {
        // A backend with a deviation to lose.
        let error = with(&|p| {
            for part in p.iter_mut() {
                part.1.backends.rotate_left(1);
            }
            change(&mut p[1].1);
        });
        let MergeError::Different { path, what, .. } = &error else {
            panic!("{expected}: {error}")
        };
        assert!(path.ends_with("shard-2") && *what == expected, "{error}");
    }
    assert!(matches!(
        with(&|p| { let moved = p[0].1.cases.remove(0); p[1].1.cases.push(moved); }),
        MergeError::Foreign { path, .. } if path.ends_with("shard-2")
    ));
    assert!(matches!(
        with(&|p| drop(p[0].1.cases.pop())),
        MergeError::Incomplete { .. }
    ));
    assert!(matches!(
        with(&|p| p[0].1.sources.iter_mut().for_each(|s| s.rows += 1)),
        MergeError::OtherMatrix { path, .. } if path.ends_with("shard-2")
    ));
}

fn journal_lines(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    text.matches('\n').count()
}

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

/// The process is killed in the middle, with no chance to tidy up; the resumed run writes what an uninterrupted one does.
#[test]
fn a_killed_run_resumes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let args = [
        "run",
        "--ops",
        "spmv,spmm",
        "--precisions",
        "f32,f64",
        "-j",
        "2",
        "--report",
    ];
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
        assert!(
            child.try_wait().expect("it can be asked").is_none(),
            "it ended before it could be killed"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    let noted = journal_lines(&cut);
    assert!(!cut.join("report.json").exists());
    // As if the kill had torn a line: half of one, which must not count.
    let mut journal = std::fs::OpenOptions::new()
        .append(true)
        .open(cut.join(FILE))
        .expect("there");
    journal
        .write_all(b"{\"records\":[{\"case\":\"spm")
        .expect("written");
    drop(journal);

    let resumed = call("cut", &["--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let said = resumed
        .err
        .lines()
        .find(|l| l.starts_with("resuming: "))
        .expect("it says so");
    let already: usize = said
        .split(' ')
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("a number");
    assert!(already >= 10 && already < noted, "{said}: {noted} lines");
    same_lines(&cut, &folder.path().join("whole"));
    assert!(!cut.join(FILE).exists(), "the report has everything");

    // Nothing is left to resume: it starts, and says so.
    let again = call("cut", &["--resume"]);
    assert!(
        again.code == 0 && again.err.contains("nothing to resume"),
        "{}",
        again.err
    );
}

/// Judges every case in a way that no run would, so that a record shows whether it was taken from the journal.
#[test]
fn what_the_journal_holds_is_not_judged_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let backends = backends();
    let header = Planned::new(&options(), &backends).header();
    let whole = run(&options(), &Extras::default());
    let (journal, kept) = Journal::start(folder.path(), &header).expect("made");
    assert!(!kept);
    let case = whole.cases[0].case.clone();
    let of_case = |backend: &dyn Backend| {
        let record = whole
            .cases
            .iter()
            .find(|c| c.case == case && c.backend == backend.name());
        let mut record = record.expect("one each").clone();
        record.verdict = VerdictRecord::Crashed {
            message: "from the journal".to_owned(),
        };
        record
    };
    journal.judged(
        &backends
            .iter()
            .map(AsRef::as_ref)
            .map(of_case)
            .collect::<Vec<_>>(),
    );
    drop(journal);

    let (journal, done) = Journal::resume(folder.path(), &header)
        .expect("readable")
        .expect("there");
    assert_eq!(done.records.len(), 1);
    let extras = Extras {
        journal: Some(journal),
        done,
        ..Extras::default()
    };
    let report = run(&options(), &extras);
    let found: Vec<&str> = report.failures().map(|c| c.case.as_str()).collect();
    assert_eq!(found, vec![case.as_str(); backends.len()]);
    assert_eq!(report.cases.len(), whole.cases.len());
    // All others were noted: a second resumption has nothing to do.
    let (_, done) = Journal::resume(folder.path(), &header)
        .expect("readable")
        .expect("there");
    assert_eq!(done.records.len() as u64, whole.plan.distinct_cases);
    let names: BTreeSet<&String> = done.sources.keys().collect();
    assert_eq!(names, whole.sources.iter().map(|s| &s.spec).collect());
}

#[test]
fn a_journal_of_another_run_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let backends = backends();
    let header = |options: &Options| Planned::new(options, &backends).header();
    let ours = header(&options());
    assert!(
        Journal::resume(folder.path(), &ours)
            .expect("no journal is no error")
            .is_none()
    );
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
    assert_eq!(refused(&other(|o| o.ops = vec![Op::Spmm])), "the plan");
    let mut newer = ours.clone();
    newer.backends[1].version = "9".to_owned();
    assert_eq!(refused(&newer), "the list of backends");
    newer = ours.clone();
    newer.suite_version = "9".to_owned();
    assert_eq!(refused(&newer), "the suite's version");

    // A line that is whole and makes no sense is no torn one.
    let path = folder.path().join(FILE);
    let text = std::fs::read_to_string(&path).expect("readable");
    for line in [
        "{}",
        "{\"records\":[]}",
        "no JSON",
        "{\"records\":[{\"case\":\"x\"}]}",
    ] {
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

/// A run of the program with a scheduler's variables.
fn with_variables(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("GITHUB_STEP_SUMMARY")
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// The options of `conformance run` and `conformance merge` in an example, after the shell has had its say.
fn calls(example: &str) -> Vec<Vec<String>> {
    let text = example.replace("\\\n", " ").replace('"', "");
    let call = |line: &str| {
        let at = line
            .find("conformance run")
            .or_else(|| line.find("conformance merge"))?;
        let words = line[at..].split_whitespace().skip(1);
        let words = words.take_while(|word| *word != "||");
        Some(words.map(str::to_owned).collect())
    };
    text.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(call)
        .collect()
}

/// What the examples in `ci/shards` call is what the program takes: it runs, as the shard that the scheduler says.
#[test]
fn examples_for_schedulers_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../ci/shards")
            .join(name);
        std::fs::read_to_string(path).expect("checked in")
    };
    let slurm: &[(&str, &str)] = &[
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "8"),
        ("SLURM_ARRAY_TASK_MIN", "1"),
        ("SLURM_ARRAY_TASK_STEP", "1"),
        ("SLURM_CPUS_PER_TASK", "2"),
        ("OUT", "slurm"),
    ];
    let kubernetes: &[(&str, &str)] = &[("JOB_COMPLETION_INDEX", "1"), ("CONFORMANCE_SHARDS", "8")];
    let github: &[(&str, &str)] = &[];
    for (name, variables, shard) in [
        ("slurm.sh", slurm, "2/8"),
        ("kubernetes.yaml", kubernetes, "2/8"),
        ("github.yml", github, "2/4"),
    ] {
        let text = read(name);
        let calls = calls(&text);
        let run = calls
            .iter()
            .find(|call| call[0] == "run")
            .expect("it runs shards");
        let mut args = run.clone();
        let valued = |args: &mut Vec<String>, option: &str, value: &str| {
            let at = args
                .iter()
                .position(|a| a == option)
                .expect("the example gives it");
            args[at + 1] = value.to_owned();
        };
        // GitHub fills in `${{ matrix.shard }}`, three words here.
        if let Some(at) = args.iter().position(|a| a == "${{") {
            args.splice(at..at + 3, ["2/4".to_owned()]);
        }
        for (variable, value) in variables {
            args.iter_mut()
                .for_each(|a| *a = a.replace(&format!("${variable}"), value));
        }
        // The same call on a plan of a second.
        valued(&mut args, "--tier", "quick");
        valued(&mut args, "--report", name);
        args.extend(["--ops", "transpose", "--precisions", "f16"].map(str::to_owned));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ran = with_variables(folder.path(), variables, &args);
        assert_eq!(ran.code, 0, "{name}: {args:?}: {}", ran.err);
        let report = Report::read(&folder.path().join(name).join("report.json")).expect("written");
        assert_eq!(report.plan.shard.expect("a shard").to_string(), shard, "{name}");
        if !variables.is_empty() {
            assert!(
                ran.err.contains(&format!("shard {shard} (")) && ran.err.contains(variables[0].0),
                "{}",
                ran.err
            );
        }
    }
    // The number of shards stands twice in each, and must be the same.
    assert!(
        read("kubernetes.yaml").contains("completions: 8")
            && read("kubernetes.yaml").contains("value: \"8\"")
    );
    assert!(read("github.yml").contains("shard: [1, 2, 3, 4]"));
}

/// Shards by the program, merged by the program; findings make `merge` and `diff` exit with 1, misuse with 2.
#[test]
fn the_commands_merge_and_diff() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |args: &[&str]| run_in(folder.path(), args);
    let plan = ["run", "--ops", "transpose", "--precisions", "f16,f32", "--report"];
    let call = |report: &str, more: &[&str]| run(&[&plan[..], &[report], more].concat());
    assert_eq!(call("whole", &[]).code, 0);
    for shard in ["1/2", "2/2"] {
        let ran = call(&shard.replace('/', "of"), &["--shard", shard]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let merged = run(&["merge", "merged", "2of2", "1of2/report.json"]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    same_lines(&folder.path().join("merged"), &folder.path().join("whole"));
    let same = run(&["diff", "whole", "merged"]);
    assert!(same.code == 0 && same.out == "no new finding\n", "{}", same.out);

    let expect = "[[expect]]\nbackend = \"sprs\"\ncontract = \"*\"\nverdict = \"wrong\"\nreason = \"made up\"\nexpires = 2027-01-31\n";
    std::fs::write(folder.path().join("sprs.toml"), expect).expect("written");
    let dirty = call("dirty", &["--expectations", "sprs.toml", "--today", "2027-01-31"]);
    assert!(
        dirty.code == 1 && dirty.out.contains("pass that should not"),
        "{}",
        dirty.out
    );
    let expired = call(
        "expired",
        &["--expectations", "sprs.toml", "--today", "2027-02-01"],
    );
    assert!(
        expired.code == 1 && expired.out.contains("expired on 2027-01-31"),
        "{}",
        expired.out
    );
    let worse = run(&["diff", "whole", "dirty"]);
    assert!(
        worse.code == 1 && worse.out.ends_with("1 new finding\n"),
        "{}",
        worse.out
    );
    let json = run(&["diff", "whole", "dirty", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["new_findings"][0]["rule"], "unexpected-pass");

    for (args, part) in [
        (&["merge", "out", "1of2"][..], "one is missing: 2"),
        (&["merge", "out", "1of2", "1of2"], "both shard 1/2"),
        (&["merge", "out", "1of2", "whole"], "whole is no shard's report"),
        (&["merge", "out", "none"], "none"),
        (&["diff", "whole", "none"], "none"),
        (
            &["diff", "whole", "dirty", "--factor", "0.5"],
            "must be a number from 1 up",
        ),
        (&["run", "--shard", "3/2"], "no shard 3 of 2"),
        (&["run", "--shard", "two"], "is no shard"),
        (&["run", "--resume"], "--report"),
        (&["run", "--expectations", "none.toml"], "none.toml"),
        (&["run", "--today", "tomorrow"], "tomorrow"),
    ] {
        let ran = run(args);
        assert!(ran.code == 2 && ran.err.contains(part), "{args:?}: {}", ran.err);
    }
    for (variables, part) in [
        (&[][..], "no scheduler has said"),
        (&[("JOB_COMPLETION_INDEX", "1")], "CONFORMANCE_SHARDS is not"),
    ] {
        let ran = with_variables(folder.path(), variables, &["run", "--shard", "auto"]);
        assert!(ran.code == 2 && ran.err.contains(part), "{}", ran.err);
    }
}

#[test]
fn the_step_summary_is_appended_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("summary.md");
    let args = ["run", "--ops", "transpose", "--precisions", "f16", "--github"];
    let ran = with_variables(folder.path(), &[], &args);
    assert!(
        ran.code == 2 && ran.err.contains("GITHUB_STEP_SUMMARY is not set"),
        "{}",
        ran.err
    );
    std::fs::write(&file, "before\n").expect("written");
    let path = file.to_str().expect("UTF-8");
    let ran = with_variables(folder.path(), &[("GITHUB_STEP_SUMMARY", path)], &args);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let text = std::fs::read_to_string(&file).expect("there");
    assert!(text.starts_with("before\n# Sparse conformance: clean"), "{text}");
    std::fs::write(&file, vec![b' '; 1 << 20]).expect("written");
    let ran = with_variables(folder.path(), &[("GITHUB_STEP_SUMMARY", path)], &args);
    assert!(ran.code == 2 && ran.err.contains("is full"), "{}", ran.err);
}
