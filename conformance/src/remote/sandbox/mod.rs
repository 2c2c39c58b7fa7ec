//! `--sandbox`: a program that is not trusted sees what it needs and nothing else of this machine.
//!
//! ```text
//! judge --- warden --- `conformance sandboxed` == becomes ==> program      (exec: the same process, its pipes the judge's)
//!                          |
//!                          reads.rs       what the program needs to read
//!                          shm.rs         a `/dev/shm` of its own
//!                          restrict.rs    landlock: files, signals, TCP; another user where root
//!                          calls.rs       seccomp: no network, no look into other processes
//! ```
//!
//! Warden and judge are not restricted: they watch and kill what is. What the kernel does not have is said ([`Held::missing`]).

mod calls;
mod folder;
mod reads;
mod restrict;
mod shm;

pub(super) use self::folder::{Folder, remove};
use self::reads::Reads;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name of the command that restricts itself and becomes a program.
const NAME: &str = "sandboxed";
/// The option before the folder of its own.
const FOLDER: &str = "--folder";
/// The option that asks for a `/dev/shm` of its own.
const SHM: &str = "--own-shm";

/// What holds a sandboxed program on this machine, and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// What is enforced, and by what.
    pub enforced: Vec<String>,
    /// What this kernel can't do, and what therefore is not enforced.
    pub missing: Vec<String>,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.enforced.join("; "))?;
        if !self.missing.is_empty() {
            write!(f, "; NOT ENFORCED: {}", self.missing.join("; "))?;
        }
        Ok(())
    }
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum SandboxError {
    #[error(
        "--sandbox: nothing can be enforced on this machine ({missing}); run without it only what you trust"
    )]
    Nothing { missing: String },
    #[error("--sandbox: landlock: {0}")]
    Landlock(#[from] landlock::RulesetError),
    #[error("--sandbox: another user: {0}")]
    User(std::io::Error),
    #[error("--sandbox: a /dev/shm of its own, which the trial had: {0}")]
    Shm(std::io::Error),
    #[error("--sandbox: the temporary folder {path}: {source}", path = path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("--sandbox: trying it out: {0}")]
    Probe(String),
    #[error("{program:?}: {source}")]
    Exec { program: String, source: std::io::Error },
    #[error("--sandbox-read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
}

/// The sandbox of a run: what its programs may read besides what they need, and what this machine enforces.
#[derive(Debug, PartialEq, Eq)]
pub struct Sandbox {
    read: Vec<String>,
    held: Held,
}

impl Sandbox {
    /// Tries out what this machine enforces, with `program`, which is a `conformance` command. `read`: files and folders that programs
    /// may read besides what they need. From here on no other process of this user may look into this one.
    ///
    /// # Errors
    /// A machine on which nothing can be enforced; a path to read that is not there.
    pub fn open(program: &Path, read: &[String]) -> Result<Sandbox, SandboxError> {
        let absolute = |path: &String| {
            let error = |source| SandboxError::Read { path: PathBuf::from(path), source };
            let there = Path::new(path).canonicalize().map_err(error)?;
            let text = there.to_str().map(str::to_owned);
            text.ok_or_else(|| error(std::io::Error::other("its name is not UTF-8")))
        };
        hide();
        let read = read.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
        let folder = Folder::new()?;
        let output = Command::new(program).arg(NAME).arg(FOLDER).arg(folder.path()).output();
        let output = output.map_err(|error| SandboxError::Probe(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(SandboxError::Probe(said.trim().to_owned()));
        }
        let held = serde_json::from_slice::<Held>(&output.stdout);
        let held = held.map_err(|error| SandboxError::Probe(error.to_string()))?;
        if held.enforced.is_empty() {
            return Err(SandboxError::Nothing { missing: held.missing.join("; ") });
        }
        Ok(Sandbox { read, held })
    }

    /// What this machine enforces.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// What programs may read besides what they need: absolute paths.
    #[must_use]
    pub fn read(&self) -> &[String] {
        &self.read
    }

    /// What this command may read that holds this folder, if anything does. `environment` is what it has besides this process's.
    #[must_use]
    pub fn opens(
        &self,
        command: &[String],
        environment: &[(String, String)],
        folder: &Path,
    ) -> Option<PathBuf> {
        Reads::of(command, &self.read, &variable_among(environment)).holding(folder)
    }

    /// The command within this sandbox, with these variables there and this folder for itself.
    pub(super) fn around(
        &self,
        conformance: Option<&Path>,
        folder: &Path,
        environment: &[(String, String)],
        command: &[String],
    ) -> std::io::Result<Vec<String>> {
        let text = |path: Option<&Path>| path.and_then(Path::to_str).map(str::to_owned);
        let program = text(conformance)
            .ok_or_else(|| std::io::Error::other("a sandbox needs the warden, in a folder named in UTF-8"))?;
        let name = text(Some(folder))
            .ok_or_else(|| std::io::Error::other("the name of the temporary folder is not UTF-8"))?;
        let mut words = vec![program, NAME.to_owned(), FOLDER.to_owned(), name];
        if self.held.enforced.iter().any(|what| what == shm::OWN) {
            words.push(SHM.to_owned());
        }
        for path in &self.read {
            words.extend(["--read".to_owned(), path.clone()]);
        }
        words.extend(variables(environment));
        words.push("--".to_owned());
        words.extend_from_slice(command);
        Ok(words)
    }
}

/// Closes this process to others of its user, where no landlock does: its memory, its variables, its open files.
pub(super) fn hide() {
    // Fails nowhere; where it did, landlock or another user would do the same.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// The options that hand these variables on.
pub(super) fn variables(environment: &[(String, String)]) -> impl Iterator<Item = String> {
    environment.iter().map(|(name, value)| format!("--env={name}={value}"))
}

/// A variable by its name: one of these, the last of that name, else one of this process.
fn variable_among(environment: &[(String, String)]) -> impl Fn(&str) -> Option<OsString> {
    |name| {
        let own = environment.iter().rev().find(|(known, _)| known == name);
        own.map_or_else(|| std::env::var_os(name), |(_, value)| Some(OsString::from(value)))
    }
}

/// Restricts this process and becomes the command, which has these variables; returns only if it can't.
/// `own_shm`: what [`probe`] found possible.
#[must_use]
pub fn become_sandboxed(
    (folder, own_shm): (&Path, bool),
    (read, environment): (&[String], &[(String, String)]),
    command: &[String],
) -> SandboxError {
    let Some((program, arguments)) = command.split_first() else {
        return SandboxError::Probe("no command".to_owned());
    };
    let reads = Reads::of(command, read, &variable_among(environment));
    let mut next = Command::new(program);
    next.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    // What runs on a user's behalf lies there, too; none of it is for this program.
    for name in ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"]
    {
        next.env_remove(name);
    }
    for name in ["HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"] {
        next.env(name, folder);
    }
    if let Some(base) = &reads.python_base {
        next.env("PYTHONUSERBASE", base);
    }
    let own = match own_shm.then(shm::mount_own).transpose() {
        Ok(own) => own,
        Err(error) => return SandboxError::Shm(error),
    };
    match restrict::restrict(folder, own.as_deref(), &reads) {
        Ok(held) if held.enforced.is_empty() => SandboxError::Nothing { missing: held.missing.join("; ") },
        Ok(_) => SandboxError::Exec { program: program.clone(), source: next.exec() },
        Err(error) => error,
    }
}

/// Restricts this process and says what that gave.
///
/// # Errors
/// As [`become_sandboxed`] would give.
pub fn probe(folder: &Path) -> Result<Held, SandboxError> {
    let own = shm::mount_own().ok();
    let mut held = restrict::restrict(folder, own.as_deref(), &Reads::of(&[], &[], &|_| None))?;
    // Alone it holds nobody.
    if own.is_some() && !held.enforced.is_empty() {
        held.enforced.push(shm::OWN.to_owned());
    }
    Ok(held)
}
