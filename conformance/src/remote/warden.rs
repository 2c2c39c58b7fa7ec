//! The process between the judge and a program: it lives no longer than either, and leaves nothing behind.
//!
//! ```text
//! judge --- warden --- program (stdin, stdout and stderr are the judge's pipes; the warden has none of them)
//!
//! the program ends  ->  kill what it started, end as it did
//! the judge ends    ->  kill the program and what it started, end
//! ```
//!
//! A judge that is killed can't clean up; its warden does, which waits for the end of both. It adopts whatever loses its parent
//! (`PR_SET_CHILD_SUBREAPER`), so that no descendant gets out of its sight by leaving a group or session.

use super::{family, sandbox};
use crate::notice::say;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpgrp, getpid, getppid, kill_process,
    kill_process_group, pidfd_open, set_child_subreaper, wait,
};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;

/// The name of the command that is a warden.
const NAME: &str = "warden";
/// Exit status of a warden that could not start the program; it said why on standard error.
pub(crate) const NOT_STARTED: u8 = 125;
/// What it says before the reason.
pub(crate) const SAYS: &str = "conformance warden: ";

/// How often it looks for adopted processes that have ended.
const REAP: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// How often it looks for everything where the kernel has no descriptors of processes.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// The arguments that make this program the warden of a command with these variables, and with a folder that goes with it, on behalf of
/// the calling process.
pub(super) fn arguments(
    memory: u64,
    (environment, folder): (&[(String, String)], Option<&Path>),
    command: &[String],
) -> Vec<String> {
    let judge = getpid().as_raw_nonzero().get();
    let mut words = vec![NAME.to_owned(), judge.to_string(), memory.to_string()];
    words.extend(sandbox::variables(environment));
    words.extend(folder.and_then(Path::to_str).map(|folder| format!("--folder={folder}")));
    words.push("--".to_owned());
    words.extend_from_slice(command);
    words
}

/// Runs a command with these variables for the judge with this process number, removes the folder that was made for it, and ends as it
/// does: the status to exit with.
#[must_use]
pub fn watch_over(
    judge: i32,
    memory: u64,
    (environment, folder): (&[(String, String)], Option<&Path>),
    command: &[String],
) -> u8 {
    let Some((program, arguments)) = command.split_first() else {
        say(&format!("{SAYS}no command"));
        return NOT_STARTED;
    };
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        say(&format!("{SAYS}descendants can't be adopted: {error}"));
    }
    family::limit(None, memory);
    // Ending as the program did, it would leave a second core dump; and nobody else is to look into it.
    sandbox::hide();
    // In the warden's group, by which it is found should it kill its warden.
    let variables = environment.iter().map(|(name, value)| (name, value));
    let child = match Command::new(program).args(arguments).envs(variables).spawn() {
        Ok(child) => Pid::from_child(&child),
        Err(error) => {
            say(&format!("{SAYS}{error}"));
            return NOT_STARTED;
        }
    };
    let_go();
    let status = await_end(judge, child);
    if status.is_none() {
        let _ = kill_process(child, Signal::KILL);
    }
    family::end(getpid());
    folder.into_iter().for_each(sandbox::remove);
    let Some(status) = status else {
        // The judge is gone. It made this group, which holds the warden, for these processes alone.
        let _ = kill_process_group(getpgrp(), Signal::KILL);
        return 0;
    };
    end_as(status)
}

/// Gives up the pipes: an end that nobody holds any more is seen on the other side.
fn let_go() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Waits for the end of the child, or of the judge: `None`.
fn await_end(judge: i32, child: Pid) -> Option<WaitStatus> {
    let open = |pid| pidfd_open(pid, PidfdFlags::empty()).ok();
    let processes: Vec<OwnedFd> =
        [Pid::from_raw(judge).and_then(open), open(child)].into_iter().flatten().collect();
    let time = if processes.len() == 2 { REAP } else { LOOK };
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == child {
                return Some(status);
            }
        }
        // Looked at after the descriptor is open, so that it is the judge's and not of another with its number.
        if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != judge) {
            return None;
        }
        let mut ends: Vec<PollFd<'_>> = processes.iter().map(|p| PollFd::new(p, PollFlags::IN)).collect();
        let _ = poll(&mut ends, Some(&time));
    }
}

/// Ends as the child did: by its signal, or with its status.
fn end_as(status: WaitStatus) -> u8 {
    let Some(signal) = status.terminating_signal() else {
        return status.exit_status().unwrap_or(0) as u8;
    };
    if let Some(signal) = Signal::from_named_raw(signal) {
        // Rust's own handlers of some signals reset them and return: the second time they end the process.
        let _ = kill_process(getpid(), signal);
        let _ = kill_process(getpid(), signal);
    }
    // One that Rust ignores (SIGPIPE), or that has no name: as shells say it.
    (128 + signal) as u8
}
