//! One child process: started under a warden of its own, asked and answered over pipes that never block the judge, and killed with
//! everything that it started.
//!
//! ```text
//!          request ->  stdin  |          write what fits, read what is there, keep the end of stderr, until the answer is whole,
//!   judge  answer  <-  stdout | child    the child ends, or the limit passes;
//!          tail    <-  stderr |          every 20 ms of waiting: still alive? every 100 ms: how large, how long has it computed?
//! ```

use super::frame::{FrameError, MAX_HEADER, PREFIX, parse_prefix, preview};
use super::meter::Meter;
use super::sandbox::Folder;
use super::tail::Tail;
use super::trouble::{StartError, Trouble};
use super::{Limits, family, warden};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long the judge waits at most before it looks whether the child is alive.
const SLICE: Duration = Duration::from_millis(20);
/// How long a child that closed its pipes, or was told to leave, has to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes read at once.
const CHUNK: usize = 1 << 16;
/// Pipes are made this large, where that is allowed.
const PIPE: usize = 1 << 20;

/// A message that came in: header and payload.
pub(super) type Message = (Vec<u8>, Vec<u8>);

/// A running child.
#[derive(Debug)]
pub(super) struct Child {
    /// The program itself, or its warden: a group of its own.
    process: std::process::Child,
    group: Pid,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// `None` once it is closed: a closed end would end every wait at once.
    stderr: Option<ChildStderr>,
    /// The end of its standard error.
    pub(super) tail: Tail,
    inbox: Vec<u8>,
    chunk: Vec<u8>,
    memory: u64,
    /// How long after the end of its pipes it may take to end: a warden kills what the program left, and then ends as it did.
    grace: Duration,
    reaped: bool,
    /// Contracts that it has answered.
    known: HashSet<String>,
    /// Its own, in a sandbox: removed once everything is killed that could write there.
    _folder: Option<Folder>,
}

impl Child {
    /// Starts a program, with these variables besides the judge's own.
    pub(super) fn spawn(
        command: &[String],
        environment: &[(String, String)],
        limits: &Limits,
    ) -> Result<Child, StartError> {
        let (program, arguments) = command.split_first().ok_or(StartError::Empty)?;
        let error = |source| StartError::Spawn { program: program.clone(), source };
        // The program's variables are neither for its warden nor for what restricts it, which a preloaded library would share.
        let (inside, folder, variables) = match limits.sandbox {
            Some(sandbox) => {
                let folder = Folder::new()
                    .map_err(|source| StartError::Folder { program: program.clone(), source })?;
                let inside = sandbox.around(limits.warden, folder.path(), environment, command);
                let inside = inside.map_err(error)?;
                (Cow::Owned(inside), Some(folder), &[][..])
            }
            None => (Cow::Borrowed(command), None, environment),
        };
        let mut start = Command::new(limits.warden.unwrap_or(Path::new(program)));
        match limits.warden {
            Some(_) => {
                let own = folder.as_ref().map(Folder::path);
                start.arg0("conformance").args(warden::arguments(limits.memory, (variables, own), &inside))
            }
            None => start.args(arguments).envs(variables.iter().map(|(name, value)| (name, value))),
        };
        let mut process = start
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(error)?;
        let group = Pid::from_child(&process);
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            let missing = std::io::Error::other("its pipes are missing");
            return Err(error(missing));
        };
        family::limit(Some(group), limits.memory);
        let child = Child {
            process,
            group,
            stdin: Some(stdin),
            stdout,
            stderr: Some(stderr),
            tail: Tail::default(),
            inbox: Vec::new(),
            chunk: vec![0; CHUNK],
            memory: limits.memory,
            grace: GRACE + if limits.warden.is_some() { family::KILLING } else { Duration::ZERO },
            reaped: false,
            known: HashSet::new(),
            _folder: folder,
        };
        child.unblock().map_err(|errno| error(errno.into()))?;
        Ok(child)
    }

    /// True once it has answered a task of this contract.
    pub(super) fn knows(&self, contract: &str) -> bool {
        self.known.contains(contract)
    }

    /// Notes that it answered one.
    pub(super) fn learned(&mut self, contract: &str) {
        if !self.knows(contract) {
            self.known.insert(contract.to_owned());
        }
    }

    fn unblock(&self) -> rustix::io::Result<()> {
        let ends: [Option<BorrowedFd<'_>>; 3] = [
            self.stdin.as_ref().map(AsFd::as_fd),
            Some(self.stdout.as_fd()),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for end in ends.into_iter().flatten() {
            fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
            // A larger pipe saves wake-ups; where it is refused, the small one does.
            let _ = rustix::pipe::fcntl_setpipe_size(end, PIPE);
        }
        Ok(())
    }

    /// Makes sure that the child is alive and has said nothing unasked; `before` is what it did last.
    pub(super) fn ready(&mut self, before: &str) -> Result<(), Trouble> {
        self.read_stderr();
        let open = self.read_stdout()?;
        if !self.inbox.is_empty() {
            let text = preview(&self.inbox);
            return Err(Trouble::Protocol(format!(
                "output before input: it wrote {text} before the task was sent (after {before})"
            )));
        }
        if !open || self.has_ended() {
            let Some(status) = self.ended_within(self.grace) else {
                let what = format!("closed its standard output after {before}, and lives on");
                return Err(Trouble::Protocol(what));
            };
            let before = before.to_owned();
            return Err(Trouble::FoundDead { status, before });
        }
        self.tail.clear();
        Ok(())
    }

    /// Sends a request and waits for one message. `limit` is the longest payload that the answer may have.
    pub(super) fn exchange(
        &mut self,
        request: &[u8],
        time: Duration,
        limit: u64,
    ) -> Result<Message, Trouble> {
        let mut meter = Meter::new(time, self.memory);
        let mut sent = 0;
        loop {
            if let Some(message) = self.message(limit)? {
                return self.complete(message, sent < request.len());
            }
            meter.look(self.group)?;
            let (writable, readable, said) = self.wait(sent < request.len(), SLICE.min(time))?;
            if said {
                self.read_stderr();
            }
            if writable {
                sent += self.write(&request[sent..]);
            }
            if readable && !self.read_stdout()? {
                return self.closed(limit);
            }
            if !(writable || readable) && self.has_ended() {
                return self.closed(limit);
            }
        }
    }

    /// Waits until something can be done: (stdin writable, stdout readable, stderr readable).
    fn wait(&self, writing: bool, time: Duration) -> Result<(bool, bool, bool), Trouble> {
        let mut ends = vec![PollFd::new(&self.stdout, PollFlags::IN)];
        let stdin = self.stdin.as_ref().filter(|_| writing);
        ends.extend(stdin.map(|stdin| PollFd::new(stdin, PollFlags::OUT)));
        ends.extend(self.stderr.iter().map(|stderr| PollFd::new(stderr, PollFlags::IN)));
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        match poll(&mut ends, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Trouble::Io(format!("poll: {error}"))),
        }
        let seen =
            |i: Option<usize>| i.and_then(|i| ends.get(i)).is_some_and(|end| !end.revents().is_empty());
        let after = stdin.is_some();
        Ok((
            seen(stdin.map(|_| 1)),
            seen(Some(0)),
            seen(self.stderr.as_ref().map(|_| 1 + usize::from(after))),
        ))
    }

    /// Writes what the pipe takes. A child that no longer reads is no error here: it may have answered.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let Some(stdin) = &mut self.stdin else {
            return bytes.len();
        };
        match stdin.write(bytes) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.stdin = None;
                bytes.len()
            }
        }
    }

    /// Reads what is there; false at the end.
    fn read_stdout(&mut self) -> Result<bool, Trouble> {
        match self.stdout.read(&mut self.chunk) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.inbox.extend_from_slice(&self.chunk[..count]);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(true),
            Err(error) => Err(Trouble::Io(format!("reading its standard output: {error}"))),
        }
    }

    /// Keeps the end of what is there, a bounded amount of it.
    fn read_stderr(&mut self) {
        for _ in 0..16 {
            let Some(stderr) = &mut self.stderr else { return };
            match stderr.read(&mut self.chunk) {
                Ok(0) => self.stderr = None,
                Ok(count) => self.tail.push(&self.chunk[..count]),
                Err(_) => return,
            }
        }
    }

    /// The message in the inbox, if it is whole; an error as soon as it can't become one.
    fn message(&mut self, limit: u64) -> Result<Option<Message>, FrameError> {
        let Some(lengths) = parse_prefix(&self.inbox)? else {
            return Ok(None);
        };
        if lengths.payload > limit {
            let found = lengths.payload;
            return Err(FrameError::Payload { found, limit });
        }
        let start = PREFIX + lengths.header;
        let end = start + lengths.payload as usize;
        if self.inbox.len() < end {
            return Ok(None);
        }
        let mut header: Vec<u8> = self.inbox.drain(..end).collect();
        let payload = header.split_off(start);
        header.drain(..PREFIX);
        if self.inbox.capacity() > 2 * MAX_HEADER {
            self.inbox = Vec::new();
        }
        Ok(Some((header, payload)))
    }

    /// A whole message: nothing may follow it, and nothing may be answered before it is read.
    fn complete(&mut self, message: Message, unread: bool) -> Result<Message, Trouble> {
        if !self.inbox.is_empty() {
            let text = preview(&self.inbox);
            return Err(Trouble::Protocol(format!("its answer is followed by {text}")));
        }
        if unread {
            return Err(Trouble::Protocol(
                "output before input: it answered before it had read the task".to_owned(),
            ));
        }
        Ok(message)
    }

    /// The end of its output: what came before it, or how it ended.
    fn closed(&mut self, limit: u64) -> Result<Message, Trouble> {
        while self.read_more()? {}
        if let Some(message) = self.message(limit)? {
            return self.complete(message, false);
        }
        let received = self.inbox.len();
        let ended = self.ended_within(self.grace);
        self.read_stderr();
        match ended {
            Some(status) => Err(Trouble::Died { status, received }),
            None => Err(Trouble::Protocol(
                "closed its standard output without an answer, and lives on".to_owned(),
            )),
        }
    }

    /// After its end: true while there is more to read. What it left cannot be more than its pipe held.
    fn read_more(&mut self) -> Result<bool, Trouble> {
        let before = self.inbox.len();
        Ok(self.read_stdout()? && self.inbox.len() > before && self.inbox.len() < 4 * PIPE + MAX_HEADER)
    }

    /// True when the process has ended. It is not reaped yet, so that its group's number stays its own.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Who is no child any more has been waited for.
        let ended = |found| matches!(found, Ok(Some(_)) | Err(rustix::io::Errno::CHILD));
        self.reaped || ended(waitid(WaitId::Pid(self.group), options))
    }

    fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + time;
        while !self.has_ended() {
            if Instant::now() >= deadline {
                return None;
            }
            self.read_stderr();
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill()
    }

    /// Kills everything and takes the child's status: its own, if it had ended before.
    fn kill(&mut self) -> Option<ExitStatus> {
        if !self.reaped {
            family::end_with(self.group);
            // Where there is no warden: what a member started while it was killed.
            family::end(self.group);
        }
        self.reaped = true;
        self.process.wait().ok()
    }

    /// Tells it that there is nothing more to do. Its end is awaited by [`Drop`].
    pub(super) fn dismiss(&mut self, bye: &[u8]) {
        self.write(bye);
        self.stdin = None;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Dismissed: it may end by itself, and write what it has to write.
        if self.stdin.is_none() && !self.reaped {
            let _ = self.ended_within(self.grace);
        }
        self.kill();
    }
}
