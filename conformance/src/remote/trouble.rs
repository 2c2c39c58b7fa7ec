//! What can happen instead of an answer, and what a record then says.

use super::frame::FrameError;
use super::sandbox::SandboxError;
use super::tail::{Tail, ending};
use super::warden;
use crate::backend::Failure;
use crate::manifest::ManifestError;
use rustix::io::Errno;
use sparse_oracle::verdict::{Defect, Mismatch};
use std::process::ExitStatus;
use std::time::Duration;

/// What was seen of a child instead of a message.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It ended.
    Died { status: ExitStatus, received: usize },
    /// It was found dead before anything was asked.
    FoundDead { status: ExitStatus, before: String },
    /// This limit passed; idle, if it computed next to nothing meanwhile.
    Late { limit: Duration, idle: bool },
    /// It used too much memory.
    Memory { used: u64, limit: u64 },
    /// What it sent is no message, or not the one that was due.
    Protocol(String),
    /// The system refused to go on.
    Io(String),
}

impl From<FrameError> for Trouble {
    fn from(error: FrameError) -> Trouble {
        Trouble::Protocol(error.to_string())
    }
}

impl Trouble {
    /// True where a warden says that there is no such program.
    pub(super) fn is_not_started(&self) -> bool {
        matches!(self, Trouble::Died { status, .. } if status.code() == Some(i32::from(warden::NOT_STARTED)))
    }

    /// One sentence, without what the child said.
    pub(super) fn what(&self) -> String {
        match self {
            Trouble::Died { status, received: 0 } => format!("{} without an answer", ending(*status)),
            Trouble::Died { status, received } => {
                format!("{} after {received} bytes of its answer", ending(*status))
            }
            Trouble::FoundDead { status, before } => {
                format!("{} between two tasks, after it had answered {before}", ending(*status))
            }
            Trouble::Late { limit, .. } => format!("no answer within {} s, killed", limit.as_secs_f64()),
            Trouble::Memory { used, limit } => {
                format!("used {} MiB of memory, the limit is {} MiB; killed", used >> 20, limit >> 20)
            }
            Trouble::Protocol(what) | Trouble::Io(what) => what.clone(),
        }
    }

    /// The failure that stands in a report, `time` being the limit of a task: that of a first one was longer, but which one is the
    /// first differs from run to run.
    pub(super) fn failure(self, tail: &Tail, time: Duration) -> Failure {
        match self {
            Trouble::Late { idle, .. } => {
                Failure::TimedOut { seconds: time.as_secs_f64(), idle, tail: tail.text() }
            }
            Trouble::Protocol(what) => {
                Failure::Broke(Box::new(Mismatch::plain(Defect::Protocol, tail.after(&what))))
            }
            other => Failure::Crashed(tail.after(&other.what())),
        }
    }
}

/// Why a program could not be started as a backend.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum StartError {
    #[error("the command is empty; give a program and its arguments")]
    Empty,
    #[error("{program:?} can't be started: {source}")]
    Spawn { program: String, source: std::io::Error },
    #[error("{program:?} was not started, for no fault of its own: {source}; make room there or set TMPDIR")]
    Folder { program: String, source: SandboxError },
    #[error("{program:?} did not say what it supports: {what}")]
    Handshake { program: String, what: String },
    #[error("{program:?}: {source}")]
    Manifest { program: String, source: Box<ManifestError> },
    #[error(
        "{program:?} said something else about itself when it was started again; a manifest must not change"
    )]
    Changed { program: String },
}

impl StartError {
    /// True where the judge's machine has no room for another process. That is nobody's finding, and there may be room later.
    pub(super) fn is_of_the_machine(&self) -> bool {
        match self {
            StartError::Folder { .. } => true,
            StartError::Spawn { source, .. } => Errno::from_io_error(source)
                .is_some_and(|no| [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM].contains(&no)),
            StartError::Empty
            | StartError::Handshake { .. }
            | StartError::Manifest { .. }
            | StartError::Changed { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: a judge that had no process or no file descriptor left took it for three failed starts of the backend, gave it up, and
    /// called all its other cases crashed.
    #[test]
    fn a_machine_without_room_is_no_failed_start_of_the_backend() {
        let spawn = |source| StartError::Spawn { program: "kernel".to_owned(), source };
        for no in [Errno::AGAIN, Errno::MFILE, Errno::NFILE, Errno::NOMEM] {
            assert!(spawn(no.into()).is_of_the_machine(), "{no}");
        }
        for no in [Errno::NOENT, Errno::ACCESS, Errno::NOEXEC] {
            assert!(!spawn(no.into()).is_of_the_machine(), "{no}");
        }
        assert!(!StartError::Empty.is_of_the_machine());
    }
}
