//! Backends in processes of their own: the wire protocol, the judge's side with hard isolation, and the backend's side for
//! backends in Rust.
//!
//! ```text
//! judge (Remote) --- hello -->  child         one child per thread that asks, started when first needed
//!                <-- manifest --
//!                --- run 1  -->               request: encode a Task   ->  decode: a Task that owns its arrays
//!                <-- answer 1 --              answer: read into the Task <- serve: what the backend did
//!                --- bye    -->
//! ```
//!
//! Whatever a child does (hang, die, flood, lie, grow) becomes a [`Failure`] of the one case that it was asked for; it is
//! killed with everything that it started, and the next case gets a fresh one. The protocol is described byte by byte in
//! `conformance/PROTOCOL.md` and is frozen as version 1.

mod answer;
mod arrays;
mod child;
mod decode;
mod family;
mod frame;
mod header;
mod meter;
mod plugin;
mod request;
mod sandbox;
mod serve;
mod tail;
mod together;
mod trouble;
mod warden;

pub use self::answer::read as read_answer;
pub use self::decode::Request;
pub use self::frame::{
    ALIGN, FrameError, Lengths, MAGIC, MAX_HEADER, PREFIX, message, parse_prefix, read_message,
};
pub use self::header::{
    AnswerKind, ArrayHead, Ask, Asked, Bits, DenseHead, Extent, Reply, ReplyKind, Run, SparseHead, TypeNames,
};
pub use self::request::encode;
pub use self::sandbox::{Held, Sandbox, SandboxError, become_sandboxed, probe as probe_sandbox};
pub use self::serve::{manifest_of, respond, serve};
pub(crate) use self::tail::SAID;
pub use self::trouble::StartError;
pub use self::warden::watch_over;
pub(crate) use self::warden::{NOT_STARTED, SAYS};

use self::child::Child;
pub use self::plugin::{OpenError, PluginBackend};
use self::trouble::Trouble;
use crate::backend::{Backend, Determinism, Failure, Named, Support, ThreadControl};
use crate::case::Params;
use crate::content;
use crate::manifest::{Capabilities, Manifest};
use sparse_oracle::contract::Contract;
use sparse_oracle::task::{Answer, Task};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

/// What a child may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// That its processors may take for one task, from the first byte sent to the last byte received. One that computes less is
    /// waited for twice as long, by the clock.
    pub time: Duration,
    /// The same for a process's first task of each contract: kernels may be compiled for it. A contract for which that was not
    /// enough has it once.
    pub first: Duration,
    /// For its start, until it has said what it supports: interpreters load libraries first.
    pub start: Duration,
    /// Resident bytes of its process group.
    pub memory: u64,
    /// Longest sparse answer, in bytes: its length is the backend's choice, and the judge must hold it.
    pub answer: u64,
    /// After this many failed starts in a row it is not started again.
    pub starts: u32,
    /// The program that starts it and lives as long as judge and child do (a `conformance` command, as [`watch_over`] says); without
    /// one, a judge that is killed leaves it behind.
    pub warden: Option<&'static Path>,
    /// What it may see and do at most; only with a warden.
    pub sandbox: Option<&'static Sandbox>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(10),
            first: Duration::from_secs(60),
            start: Duration::from_secs(60),
            memory: 4096 << 20,
            answer: 1 << 30,
            starts: 3,
            warden: None,
            sandbox: None,
        }
    }
}

/// A backend that is a program.
#[derive(Debug)]
pub struct Remote {
    command: Vec<String>,
    /// Variables that it has besides the judge's own.
    environment: Vec<(String, String)>,
    /// How it is selected on the command line.
    selection: String,
    limits: Limits,
    capabilities: Capabilities,
    /// Children that wait for a task.
    idle: Mutex<Vec<Idle>>,
    next: AtomicU64,
    failed_starts: AtomicU32,
    gave_up: OnceLock<String>,
    /// Contracts whose first task in a process had no answer in [`Limits::first`], since the last [`Backend::renew`]: what it is for
    /// was waited for, and once is enough.
    hung: Mutex<HashSet<String>>,
}

/// A child that waits for a task.
#[derive(Debug)]
struct Idle {
    child: Child,
    /// The contract that it answered last.
    before: String,
    /// The thread that asked it: what a sequence of calls asks goes to one process, as long as that lives.
    owner: Option<ThreadId>,
}

impl Remote {
    /// With other options that select it on the command line than `--exec` and the command.
    #[must_use]
    pub fn selected_by(mut self, options: String) -> Remote {
        self.selection = options;
        self
    }

    /// Starts the program once and asks what it supports.
    ///
    /// # Errors
    /// A program that can't be started, does not answer, or says something about itself that is not so.
    pub fn open(command: Vec<String>, limits: Limits) -> Result<Remote, StartError> {
        Remote::open_in(command, Vec::new(), limits)
    }

    /// [`Remote::open`] with variables (name, value) that the program has besides the judge's own.
    ///
    /// # Errors
    /// As for [`Remote::open`].
    pub fn open_in(
        command: Vec<String>,
        environment: Vec<(String, String)>,
        limits: Limits,
    ) -> Result<Remote, StartError> {
        let (child, manifest) = start(&command, &environment, &limits)?;
        let capabilities = Capabilities::new(manifest).map_err(|source| StartError::Manifest {
            program: command.join(" "),
            source: Box::new(source),
        })?;
        Ok(Remote {
            selection: format!("--exec {}", shell_words::quote(&shell_words::join(&command))),
            command,
            environment,
            limits,
            capabilities,
            idle: Mutex::new(vec![Idle { child, before: "nothing yet".to_owned(), owner: None }]),
            next: AtomicU64::new(1),
            failed_starts: AtomicU32::new(0),
            gave_up: OnceLock::new(),
            hung: Mutex::default(),
        })
    }

    /// What it said about itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        self.capabilities.manifest()
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The caller's own child, else one that nobody asked yet; another thread's only where there are more than threads.
    fn waiting(&self) -> Option<Idle> {
        let (mut idle, me) = (self.idle(), std::thread::current().id());
        let of = |idle: &[Idle], owner| idle.iter().rposition(|i| i.owner == owner);
        let mine = of(&idle, Some(me)).or_else(|| of(&idle, None));
        let spare = idle.len() > rayon::current_num_threads();
        let at = mine.or(spare.then_some(0))?;
        Some(idle.remove(at))
    }

    /// A child that is ready for a task.
    fn take(&self) -> Result<Child, Failure> {
        if let Some(Idle { mut child, before, .. }) = self.waiting() {
            return match child.ready(&before) {
                Ok(()) => Ok(child),
                Err(trouble) => Err(trouble.failure(&child.tail, self.limits.time)),
            };
        }
        if let Some(reason) = self.gave_up.get() {
            return Err(Failure::Crashed(reason.clone()));
        }
        match start(&self.command, &self.environment, &self.limits) {
            Ok((_, manifest)) if manifest != *self.manifest() => {
                let program = self.command.join(" ");
                Err(self.failed_start(&StartError::Changed { program }))
            }
            Ok((child, _)) => {
                self.failed_starts.store(0, Ordering::Relaxed);
                Ok(child)
            }
            Err(error) => Err(self.failed_start(&error)),
        }
    }

    fn failed_start(&self, error: &StartError) -> Failure {
        if error.is_of_the_machine() {
            return Failure::NotAsked(error.to_string());
        }
        let failed = self.failed_starts.fetch_add(1, Ordering::Relaxed) + 1;
        if failed >= self.limits.starts {
            let reason =
                || format!("not started again after {failed} failed starts in a row; the last: {error}");
            return Failure::Crashed(self.gave_up.get_or_init(reason).clone());
        }
        Failure::Crashed(format!("could not be started again: {error}"))
    }
}

impl Backend for Remote {
    fn name(&self) -> &str {
        &self.manifest().name
    }

    fn version(&self) -> String {
        self.manifest().version.clone()
    }

    fn description(&self) -> &str {
        &self.manifest().description
    }

    fn selection(&self) -> String {
        self.selection.clone()
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        self.capabilities.support(contract, params)
    }

    fn claims(&self, contract: &Contract) -> bool {
        self.capabilities.claims(contract)
    }

    fn named(&self, contract: &Contract) -> Vec<Named<'_>> {
        self.capabilities.named(contract)
    }

    fn determinism(&self) -> Determinism {
        self.manifest().determinism
    }

    fn content(&self) -> Vec<(String, String)> {
        let program = self.command.first().map(|name| content::program(name));
        let files = self.command.iter().skip(1).map(PathBuf::from).filter(|path| path.is_file());
        let files = program.into_iter().chain(files);
        let files = files.map(|path| (format!("the file {}", path.display()), content::of_file(&path)));
        let variable =
            |(name, value): &(String, String)| (format!("the variable {name}"), content::of_text(value));
        let limits = [
            ("the time of a task (--timeout)", format!("{} s", self.limits.time.as_secs_f64())),
            ("the memory of a program (--memory)", format!("{} MiB", self.limits.memory >> 20)),
        ];
        let limits = limits.map(|(name, value)| (name.to_owned(), value));
        files.chain(self.environment.iter().map(variable)).chain(limits).collect()
    }

    fn renew(&self) -> bool {
        self.dismiss();
        self.hung().clear();
        true
    }

    /// Version 1 of the protocol has no word for a number of threads.
    fn thread_control(&self) -> ThreadControl {
        ThreadControl::None
    }

    /// A child has one task at a time: whether a library may be called by several threads is tried in the child.
    fn thread_safe(&self) -> bool {
        false
    }

    fn run(&self, contract: &Contract, mut task: Task<'_>) -> Result<Answer, Failure> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = encode(id, contract, &task).map_err(|error| Failure::Crashed(error.to_string()))?;
        let limit = longest_answer(contract, &task, &self.limits);
        let mut child = self.take()?;
        let name = contract.to_string();
        let first = !child.knows(&name) && !self.hung().contains(&name);
        let time = if first { self.limits.first } else { self.limits.time };
        match child.exchange(&request, time, limit) {
            Ok(message) => {
                child.learned(&name);
                let answer = answer::read(&message, id, contract, &mut task);
                // A broken rule of memory or of the protocol: nothing more is asked of this process.
                if !matches!(answer, Err(Failure::Broke(_))) {
                    self.idle().push(Idle { child, before: name, owner: Some(std::thread::current().id()) });
                }
                answer
            }
            Err(trouble) => {
                if first && matches!(trouble, Trouble::Late { .. }) {
                    self.hung().insert(name);
                }
                Err(trouble.failure(&child.tail, self.limits.time))
            }
        }
    }
}

impl Remote {
    fn hung(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.hung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets every waiting child go.
    fn dismiss(&self) {
        let bye = message(&Asked { kind: Ask::Bye }, &[]).unwrap_or_default();
        let mut idle = self.idle();
        idle.iter_mut().for_each(|idle| idle.child.dismiss(&bye));
        idle.clear();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// Starts a child and reads its manifest.
fn start(
    command: &[String],
    environment: &[(String, String)],
    limits: &Limits,
) -> Result<(Child, Manifest), StartError> {
    let program = || command.join(" ");
    let mut child = Child::spawn(command, environment, limits)?;
    let hello = message(&Asked { kind: Ask::Hello }, &[]).unwrap_or_default();
    let handshake = |what: String, child: &Child| StartError::Handshake {
        program: program(),
        what: child.tail.after(&what),
    };
    let (header, _) = match child.exchange(&hello, limits.start, 0) {
        Ok(message) => message,
        Err(trouble) => {
            // A program may exit with that status itself.
            let said = child.tail.text();
            let by_warden = said.strip_prefix(warden::SAYS).filter(|_| limits.warden.is_some());
            if let (true, Some(reason)) = (trouble.is_not_started(), by_warden) {
                let source = std::io::Error::other(reason.to_owned());
                return Err(StartError::Spawn { program: command[0].clone(), source });
            }
            let hint = match &trouble {
                Trouble::Protocol(_) => " (standard output belongs to the protocol; print to standard error)",
                _ => "",
            };
            return Err(handshake(format!("{}{hint}", trouble.what()), &child));
        }
    };
    match serde_json::from_slice::<Reply>(&header) {
        Ok(Reply { kind: ReplyKind::Manifest, manifest: Some(manifest), .. }) => Ok((child, manifest)),
        Ok(_) => Err(handshake("its first message is no manifest".to_owned(), &child)),
        Err(source) => Err(StartError::Manifest { program: program(), source: Box::new(source.into()) }),
    }
}

/// The longest payload that an answer may have: what is written has its length from the task; a sparse result may be as long
/// as the limit says (offsets of a transpose count the columns of its operand, which may have few bytes).
fn longest_answer(contract: &Contract, task: &Task<'_>, limits: &Limits) -> u64 {
    let slack = 64 << 10;
    let Some(output) = task.output() else {
        return limits.answer;
    };
    (output.data.len() * contract.types.out.bytes()) as u64 + slack
}
