//! Programs that misbehave: each misdeed gets its verdict, the run goes on in a fresh process, and none is left behind.

use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::determinism::Repeats;
use sparse_conformance::remote::{Limits, Remote, StartError};
use sparse_conformance::report::{Defect, VerdictRecord};
use sparse_conformance::runner::run_case_repeated;
use std::path::Path;
use std::time::{Duration, Instant};

const CASE: &str = "spmm.csr.f32_f32_f32_f32/banded:rows=40,cols=40/values=small-int,1";

fn limits() -> Limits {
    Limits {
        time: Duration::from_secs(60),
        first: Duration::from_secs(60),
        start: Duration::from_secs(60),
        memory: 512 << 20,
        warden: Some(Path::new(env!("CARGO_BIN_EXE_conformance"))),
        ..Limits::default()
    }
}

/// The command, with a mark that tells its processes from those of other tests.
fn command(mode: &str, file: &Path) -> (Vec<String>, String) {
    let mark = format!("mark-{mode}-{}", std::process::id());
    let file = file.display().to_string();
    let program = env!("CARGO_BIN_EXE_hostile_subject").to_owned();
    (vec![program, mode.to_owned(), mark.clone(), file], mark)
}

/// Processes whose command line holds the mark, zombies included (these have none, but a parent: this process).
pub(crate) fn left(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
    let alive = processes.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then_some(line)
    });
    alive.collect()
}

fn none_left(mark: &str) {
    // Killed processes of a group may take a moment to be gone.
    let deadline = Instant::now() + Duration::from_secs(5);
    while !left(mark).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(left(mark), Vec::<String>::new());
}

fn verdict(backends: &[Box<dyn Backend>]) -> VerdictRecord {
    let case: Case = CASE.parse().expect(CASE);
    let loaded = case.origin.load().expect("generated");
    run_case_repeated(&case, &loaded, backends, Repeats::NONE).records.remove(0).verdict
}

/// Asks thrice: wrong, right, wrong again.
fn thrice(mode: &str, limits: Limits, wrong: impl Fn(&VerdictRecord) -> bool) {
    let (command, mark) = command(mode, Path::new(""));
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Remote::open(command, limits).expect(mode))];
    for attempt in 0..3 {
        let verdict = verdict(&backends);
        if attempt == 1 {
            assert!(matches!(verdict, VerdictRecord::Exact), "{mode}: then: {verdict}");
        } else {
            assert!(wrong(&verdict), "{mode}: {verdict}");
        }
    }
    drop(backends);
    none_left(&mark);
}

fn crashed(needles: &'static [&str]) -> impl Fn(&VerdictRecord) -> bool {
    move |verdict| match verdict {
        VerdictRecord::Crashed { message } => needles.iter().all(|needle| message.contains(needle)),
        _ => false,
    }
}

fn broke(defect: Defect, needles: &'static [&str]) -> impl Fn(&VerdictRecord) -> bool {
    move |verdict| match verdict {
        VerdictRecord::Wrong(m) => {
            m.what == defect && needles.iter().all(|needle| m.message.contains(needle))
        }
        _ => false,
    }
}

#[test]
fn deaths_are_crashes_with_their_last_words() {
    thrice("abort", limits(), crashed(&["SIGABRT", "standard error ends:\ncorrupted size vs. prev_size"]));
    thrice("segv", limits(), crashed(&["SIGSEGV", "without an answer"]));
    thrice("panic", limits(), crashed(&["status 101", "index out of bounds"]));
    thrice("silent", limits(), crashed(&["exited with status 0 without an answer"]));
    thrice("exit", limits(), crashed(&["exited with status 3"]));
    thrice("half", limits(), crashed(&["exited with status 0 after", "bytes of its answer"]));
}

/// Seconds that this thread has computed.
fn busy() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

#[test]
fn what_does_not_end_is_ended() {
    let time = Duration::from_millis(700);
    let limits = Limits { time, first: time, ..limits() };
    let late = |verdict: &VerdictRecord| matches!(verdict, VerdictRecord::TimedOut { seconds, .. } if *seconds == 0.7);
    // Story: one that waits for a lock, and one that computes for too long, read alike.
    let said = |verdict: &VerdictRecord| verdict.to_string().contains("in which it computed next to nothing");
    thrice("hang", limits, |verdict| late(verdict) && said(verdict));
    thrice("spin", limits, |verdict| late(verdict) && !said(verdict));
    thrice("slow", limits, late);
    // A closed standard error ended every wait at once, and the judge burned a core until the limit.
    let before = busy();
    thrice("closed-stderr", limits, late);
    let spent = busy() - before;
    assert!(spent < 0.7, "{spent} s of this thread's time while it waited");
}

/// Story: a kernel that compiles itself for its first call had its first case called timed out.
#[test]
fn the_first_task_of_a_contract_has_longer() {
    let (command, mark) = command("slow-always", Path::new(""));
    let limits = Limits { time: Duration::from_millis(200), first: Duration::from_secs(60), ..limits() };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(Remote::open(command, limits).expect("it starts"))];
    let (first, second) = (verdict(&backends), verdict(&backends));
    assert!(matches!(first, VerdictRecord::Exact), "{first}");
    assert!(matches!(second, VerdictRecord::TimedOut { seconds, .. } if seconds == 0.2), "{second}");
    drop(backends);
    none_left(&mark);
}

#[test]
fn what_is_no_message_is_a_broken_protocol() {
    use Defect::Protocol;
    thrice("garbage", limits(), broke(Protocol, &["SPCONF", "result: 3.5 4.25"]));
    thrice("old-version", limits(), broke(Protocol, &["version 9", "speaks 1"]));
    thrice("endless-output", limits(), broke(Protocol, &["xxxx"]));
    thrice("endless-header", limits(), broke(Protocol, &["header of 4294967295 bytes"]));
    thrice("endless-payload", limits(), broke(Protocol, &["payload of 9187201950435737471 bytes"]));
    thrice("no-json", limits(), broke(Protocol, &["header is not what version 1 reads"]));
    thrice("unknown-field", limits(), broke(Protocol, &["unknown field `speed`"]));
    thrice("twice", limits(), broke(Protocol, &["followed by", "SPCONF"]));
    thrice("closed-stdout", limits(), broke(Protocol, &["closed its standard output", "lives on"]));
}

#[test]
fn what_is_another_answer_than_asked_for_is_a_broken_protocol() {
    use Defect::Protocol;
    thrice("no-outcome", limits(), broke(Protocol, &["no outcome"]));
    thrice("wrong-id", limits(), broke(Protocol, &["answered request 7777"]));
    thrice("wrong-shape", limits(), broke(Protocol, &["\"c\"", "319 elements, expected 320"]));
    thrice("past-payload", limits(), broke(Protocol, &["past the payload's 1280 bytes"]));
    // Story: what followed the last array of a payload was read by nobody.
    thrice("trailing", limits(), broke(Protocol, &["5 bytes of its payload belong to no array"]));
    // Story: it was never forbidden to pad the last array as well, and then it was a finding.
    thrice("padded", limits(), |verdict| matches!(verdict, VerdictRecord::Exact));
    thrice("wrong-dtype", limits(), broke(Protocol, &["\"u32\"", "\"f32\""]));
    thrice("wrong-name", limits(), broke(Protocol, &["result", "\"c\""]));
}

#[test]
fn broken_memory_is_said_as_such() {
    thrice("input-corrupted", limits(), broke(Defect::InputModified, &["input operand"]));
    thrice("guard-broken", limits(), broke(Defect::Canary, &["offset -3"]));
}

#[test]
fn what_the_manifest_takes_must_be_answered() {
    let lone = |verdict: &VerdictRecord| match verdict {
        VerdictRecord::LoneRefusal { refusal } => {
            refusal.contains("unsupported") && refusal.contains("not today")
        }
        _ => false,
    };
    thrice("unsupported", limits(), lone);
}

#[test]
fn a_flood_of_errors_is_swallowed() {
    thrice("stderr-flood", limits(), |verdict| matches!(verdict, VerdictRecord::Exact));
}

#[test]
fn too_much_memory_is_a_crash_that_says_so() {
    let limits = Limits { memory: 200 << 20, time: Duration::from_secs(60), ..limits() };
    thrice("memory-hog", limits, crashed(&["MiB of memory, the limit is 200 MiB"]));
}

#[test]
fn a_grandchild_that_holds_the_pipe_is_killed_too() {
    thrice("grandchild", limits(), crashed(&["exited with status 0 without an answer"]));
}

/// What happens after an answer is found before the next task, and said there: nothing is lost.
#[test]
fn what_happens_between_two_tasks_is_found_before_the_second() {
    for (mode, needles) in
        [("late-words", ["output before input", "done!"]), ("dies-after", ["SIGABRT", "double free"])]
    {
        let (command, mark) = command(mode, Path::new(""));
        let backends: Vec<Box<dyn Backend>> = vec![Box::new(Remote::open(command, limits()).expect(mode))];
        let first = verdict(&backends);
        assert!(matches!(first, VerdictRecord::Exact), "{mode}: {first}");
        std::thread::sleep(Duration::from_millis(800));
        let second = match verdict(&backends) {
            VerdictRecord::Crashed { message } => message,
            VerdictRecord::Wrong(m) => m.message,
            other => panic!("{mode}: {other}"),
        };
        for needle in needles.iter().chain(&["spmm.csr.f32_f32_f32_f32"]) {
            assert!(second.contains(needle), "{mode}: {needle}: {second}");
        }
        let third = verdict(&backends);
        assert!(matches!(third, VerdictRecord::Exact), "{mode}: {third}");
        drop(backends);
        none_left(&mark);
    }
}

#[test]
fn a_program_that_does_not_start_says_why() {
    let short = Limits { start: Duration::from_millis(700), ..limits() };
    for (mode, limits, needles) in [
        ("no-start", limits(), &["status 1", "libfast.so not found"][..]),
        ("banner", limits(), &["Welcome to FastSparse", "standard output belongs to the protocol"]),
        ("mute", short, &["no answer within 0.7 s"]),
    ] {
        let (command, mark) = command(mode, Path::new(""));
        let error = Remote::open(command, limits).expect_err(mode).to_string();
        for needle in needles {
            assert!(error.contains(needle), "{mode}: {needle}: {error}");
        }
        none_left(&mark);
    }
    let missing = vec!["/no/such/program".to_owned()];
    assert!(matches!(Remote::open(missing, limits()), Err(StartError::Spawn { .. })));
    assert!(matches!(Remote::open(Vec::new(), limits()), Err(StartError::Empty)));
}

#[test]
fn a_program_that_never_starts_again_is_given_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut command, mark) = command("start-once", &folder.path().join("used"));
    command[1] = "start-once".to_owned();
    // `start-once` is no misdeed of a request: the first one (odd) panics as an unknown mode, which kills the process.
    let backends: Vec<Box<dyn Backend>> =
        vec![Box::new(Remote::open(command, limits()).expect("the first start"))];
    let said: Vec<String> = (0..5).map(|_| verdict(&backends).to_string()).collect();
    assert!(said[0].contains("status 101"), "{said:?}");
    assert!(
        said[1].contains("could not be started again") && said[1].contains("licence already in use"),
        "{said:?}"
    );
    for late in &said[3..] {
        assert!(late.contains("not started again after 3 failed starts"), "{said:?}");
        assert!(late.contains("licence already in use"), "{said:?}");
    }
    drop(backends);
    none_left(&mark);
}
