//! The tests in the binaries: how long each takes and which mutants it reaches, with no mutant chosen; and running some of them.

use crate::plan::Binary;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Of a test that takes longer with no mutant chosen, only the beginning is run.
const LONGEST: Duration = Duration::from_secs(60);
/// Memory that a test may have, in KiB: a mutant may allocate without end.
const MEMORY: &str = "8000000";

/// A test, measured with no mutant chosen.
#[derive(Clone, Debug)]
pub struct Test {
    /// Which binary it is in.
    pub binary: usize,
    /// As the binary lists it.
    pub name: String,
    /// How long it takes alone.
    pub time: Duration,
    /// The mutants that it asks for.
    pub reached: BTreeSet<u32>,
    /// It takes longer than [`LONGEST`]: that it fails says something, that it does not end says nothing.
    pub is_long: bool,
}

/// How tests ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// All passed.
    Passed,
    /// One failed, or the process died.
    Failed,
    /// They took too long and were stopped.
    TimedOut,
}

/// Does `work` for the numbers below `count`, as many at a time as there are cores.
pub fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> Option<T> + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let at = next.fetch_add(1, Relaxed);
            if at >= count {
                return;
            }
            let result = work(at);
            done.lock().unwrap_or_else(|e| e.into_inner()).extend(result.map(|r| (at, r)));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs each test alone. Also says which tests are left out, and why.
pub fn measure(binaries: &[Binary]) -> Result<(Vec<Test>, Vec<String>)> {
    let mut names = Vec::new();
    for (at, binary) in binaries.iter().enumerate() {
        let listed =
            command(binary).args(["--list", "--format", "terse"]).output().context("listing tests")?;
        let ignored = command(binary).args(["--list", "--format", "terse", "--ignored"]).output()?;
        let ignored = String::from_utf8(ignored.stdout)?;
        let is_run = |line: &&str| !ignored.lines().any(|i| i == *line);
        let listed = String::from_utf8(listed.stdout)?;
        let tests = listed.lines().filter(is_run).filter_map(|line| line.strip_suffix(": test"));
        names.extend(tests.map(|name| (at, name.to_owned())));
    }
    let folder = std::env::current_dir()?.join("target/mutants/reached");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    let measured = side_by_side(names.len(), |number| {
        let (at, name) = &names[number];
        let file = folder.join(number.to_string());
        let start = Instant::now();
        let mut command = command(&binaries[*at]);
        command.args(["--exact", name]).env("MUTANTS_REACHED", &file);
        let end = end_of(&mut command, LONGEST);
        let reached = std::fs::read_to_string(&file).unwrap_or_default();
        let reached = reached.lines().filter_map(|line| line.parse().ok()).collect();
        let is_long = matches!(end, Ok(End::TimedOut));
        Some((Test { binary: *at, name: name.clone(), time: start.elapsed(), reached, is_long }, end))
    });
    let (mut tests, mut left_out) = (Vec::new(), Vec::new());
    for (test, end) in measured {
        let whole = format!("{} {}", binaries[test.binary].name, test.name);
        match end? {
            End::Passed => tests.push(test),
            End::Failed => left_out.push(format!("{whole}: fails with no mutant chosen")),
            End::TimedOut => {
                left_out
                    .push(format!("{whole}: only the beginning, it takes more than {} s", LONGEST.as_secs()));
                tests.push(test);
            }
        }
    }
    Ok((tests, left_out))
}

/// Runs some tests of a binary with a mutant chosen, until the first fails.
pub fn run(binary: &Binary, tests: &[&Test], mutant: u32, limit: Duration) -> Result<End> {
    let mut command = command(binary);
    command
        .args(["--exact", "--test-threads", "1"])
        .args(tests.iter().map(|t| &t.name))
        .env("MUTANT", mutant.to_string());
    end_of(&mut command, limit)
}

fn command(binary: &Binary) -> Command {
    let mut command = Command::new("nice");
    let limited = format!("ulimit -v {MEMORY} -c 0; exec \"$0\" \"$@\"");
    command.args(["-n", "10", "bash", "-c", &limited, &binary.path]).current_dir(&binary.folder);
    command.env("CARGO_MANIFEST_DIR", &binary.folder).stdin(Stdio::null()).process_group(0);
    // As many processes as cores run already.
    command.env("RAYON_NUM_THREADS", "1");
    command.env("PROPTEST_FAILURE_PERSISTENCE", "off").env("INSTA_UPDATE", "no");
    command
}

fn end_of(command: &mut Command, limit: Duration) -> Result<End> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("starting tests")?;
    let lines = BufReader::new(child.stdout.take().context("the output of tests")?).lines();
    let (say, heard) = channel();
    // Ends when the last process of the group that holds the pipe does.
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if line.ends_with("... FAILED") && say.send(()).is_err() {
                return;
            }
        }
    });
    let end = match heard.recv_timeout(limit) {
        Ok(()) => End::Failed,
        Err(RecvTimeoutError::Timeout) => End::TimedOut,
        Err(RecvTimeoutError::Disconnected) => {
            return Ok(if child.wait()?.success() { End::Passed } else { End::Failed });
        }
    };
    stop(&mut child)?;
    Ok(end)
}

/// Ends the process and those that it started.
fn stop(child: &mut Child) -> Result<()> {
    Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status()?;
    child.wait()?;
    Ok(())
}
