//! The end of the judge, whatever it is, is the end of everything that it started, and costs no judged case.
//!
//! ```text
//! judge (a signal, at some moment of the run) -> within 2 s no process with the run's mark is left -> --resume -> the whole report
//! ```

use crate::cli::{Ran, report_value, run_in};
use crate::remote_hostile::left;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Moments at which a judge is ended. `KILLED=200` in the environment tries more.
const MOMENTS: u32 = 50;
/// How long after the judge something may still be alive.
const SOON: Duration = Duration::from_secs(2);

const WAYS: [Signal; 5] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL, Signal::QUIT];

/// How the program behaves: well; it loops; or it leaves processes in sessions of their own behind.
const SUBJECTS: [&str; 3] = ["honest", "spin-always", "leaves"];

/// Small random numbers from a seed (Knuth's linear congruential generator).
fn drawn(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

fn command(mode: &str, mark: &str, threads: &str) -> Vec<String> {
    let program = format!("{} {mode} {mark}", env!("CARGO_BIN_EXE_hostile_subject"));
    let limits = ["--timeout", "0.05", "--no-shrink", "-j", threads, "--allow-thin"];
    let what = ["run", "--contracts", "spmv.csr.f32_f32_f32_f32", "--matrix", "matrices"];
    let mut words: Vec<String> = what.into_iter().chain(limits).map(str::to_owned).collect();
    words.extend(["--exec".to_owned(), program]);
    words
}

fn start(folder: &Path, command: &[String], report: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(command)
        .args(["--report", report])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

/// A report without what differs from run to run, and without the marks of the run.
fn bare(report: &Path, mark: &str) -> String {
    let text = std::fs::read_to_string(report.join("report.json")).expect("a report");
    let mut report = report_value(&text).expect("a report");
    for part in ["environment", "timings"] {
        report.as_object_mut().expect("an object").remove(part);
    }
    report.to_string().replace(mark, "MARK")
}

fn matrices(folder: &Path) {
    let folder = folder.join("matrices");
    std::fs::create_dir(&folder).expect("a new folder");
    for number in 1..=3 {
        let text =
            format!("%%MatrixMarket matrix coordinate real general\n4 4 2\n1 {number} 1.5\n3 2 -0.5\n");
        std::fs::write(folder.join(format!("m{number}.mtx")), text).expect("written");
    }
}

/// A run on a program that misbehaves so, with a file of its own to remember by: what the command printed, and the report.
fn ran_late(mode: &str) -> (Ran, String) {
    let folder = tempfile::tempdir().expect("a folder");
    matrices(folder.path());
    ran_late_in(folder.path(), mode, "2")
}

fn ran_late_in(folder: &Path, mode: &str, threads: &str) -> (Ran, String) {
    let mark = format!("{mode}-{}", std::process::id());
    let mut words = command(mode, &mark, threads);
    if let Some(program) = words.last_mut() {
        program.push_str(&format!(" {}", folder.join("hung").display()));
    }
    words.extend(["--report", "report"].map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = run_in(folder, &words);
    let report = bare(&folder.join("report"), &mark);
    (ran, report)
}

/// Story: a busy machine's time-outs were findings. One case loops once; asked again when all else is done, it answers.
#[test]
fn a_case_without_an_answer_is_asked_again_alone_and_the_report_says_so() {
    let (ran, report) = ran_late("late-once-always");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let said = "hostile: 1 case had no answer in time, and one when asked again";
    assert!(ran.out.contains(said), "{}", ran.out);
    assert_eq!(report.matches("\"asked_again\":true").count(), 1);
    assert!(!report.contains("timed_out"), "{report}");
}

/// Story: a process's first task has six times the limit, and a case was asked again in a new process: what took up to six times the
/// limit every time was late, asked again, and passed. This one computes
/// for 0.15 s a task; the limit is 0.05 s, that of a first task 0.3 s.
#[test]
fn what_always_takes_longer_than_the_limit_does_not_pass_when_asked_again() {
    let (ran, report) = ran_late("labours-always");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    // The first task of each of the two processes may be compiling.
    let (late, passed) = (report.matches("timed_out").count(), report.matches("\"exact\"").count());
    assert!(late > 0 && passed <= 2, "{late} late, {passed} passed: {report}");
    assert!(report.matches("\"asked_again\":true").count() > 0, "{report}");
}

/// Story: a kernel that is compiled longer than the limit looped on two cases. The others were late since a first task had no time to
/// compile any more, and counted as timed out, though nobody had asked them alone.
#[test]
fn cases_that_only_compile_do_not_time_out_because_others_hang() {
    let folder = tempfile::tempdir().expect("a folder");
    matrices(folder.path());
    let five = "%%MatrixMarket matrix coordinate real general\n5 4 2\n1 2 1.5\n5 2 -0.5\n";
    std::fs::write(folder.path().join("matrices/m0.mtx"), five).expect("written");
    // On one thread the matrix that it loops on comes first, and no other process has compiled meanwhile.
    let (ran, report) = ran_late_in(folder.path(), "compiles-hangs", "1");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let of = |kind: &str| -> Vec<&str> {
        let cases = report["cases"].as_array().expect("an array").iter();
        cases.filter(|c| c["verdict"]["kind"] == kind).filter_map(|c| c["case"].as_str()).collect()
    };
    let late = of("timed_out");
    assert!(late.len() >= 2 && late.iter().all(|line| line.contains("m0.mtx")), "{late:?}");
    assert_eq!(
        of("exact").len() + of("within").len() + of("not_run").len() + late.len(),
        report["cases"].as_array().map_or(0, Vec::len)
    );
}

/// Story: with a kernel that looped, INT, TERM, HUP or KILL of the judge left its child spinning; one was found after 38 minutes. A
/// grandchild that had called `setsid` survived even a time-out.
#[test]
fn nothing_outlives_the_judge_and_nothing_is_lost() {
    let moments = std::env::var("KILLED").ok().and_then(|n| n.parse().ok()).unwrap_or(MOMENTS);
    let folder = tempfile::tempdir().expect("a folder");
    matrices(folder.path());
    let mut wanted = Vec::new();
    let mut lengths = Vec::new();
    for mode in SUBJECTS {
        let mark = format!("killed-{mode}-{}-whole", std::process::id());
        let began = Instant::now();
        let mut whole = start(folder.path(), &command(mode, &mark, "2"), mode);
        let status = whole.wait().expect("it ends");
        assert_eq!(status.code(), Some(i32::from(mode == "spin-always")), "{mode}");
        lengths.push(began.elapsed());
        assert_eq!(left(&mark), Vec::<String>::new(), "{mode}: after a whole run");
        wanted.push(bare(&folder.path().join(mode), &mark));
    }
    let mut state = 20_261_125;
    let mut during = 0;
    for moment in 0..moments {
        let which = drawn(&mut state, 3) as usize;
        let way = WAYS[moment as usize % WAYS.len()];
        let mark = format!("killed-{}-{}-{moment}", SUBJECTS[which], std::process::id());
        let (command, report) = (command(SUBJECTS[which], &mark, "2"), format!("cut{moment}"));
        let mut judge = start(folder.path(), &command, &report);
        let after = lengths[which].mul_f64(drawn(&mut state, 1000) as f64 / 1000.0);
        std::thread::sleep(after);
        let running = judge.try_wait().expect("it can be asked").is_none();
        during += u32::from(running);
        if running {
            kill_process(Pid::from_child(&judge), way).expect("a signal");
        }
        judge.wait().expect("it ends");
        let ended = Instant::now();
        while !left(&mark).is_empty() && ended.elapsed() < SOON {
            std::thread::sleep(Duration::from_millis(5));
        }
        let about = format!("{way:?} after {after:?} of {}", SUBJECTS[which]);
        assert_eq!(left(&mark), Vec::<String>::new(), "{about}");
        let words: Vec<&str> =
            command.iter().map(String::as_str).chain(["--resume", "--report", &report]).collect();
        run_in(folder.path(), &words);
        assert_eq!(bare(&folder.path().join(&report), &mark), wanted[which], "{about}");
        assert_eq!(left(&mark), Vec::<String>::new(), "{about}: after the resumed run");
    }
    assert!(2 * during > moments, "only {during} of {moments} moments were in a run");
}
