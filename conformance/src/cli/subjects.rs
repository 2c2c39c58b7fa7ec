//! Who is judged: the options that `run`, `replay` and `explain` share.

use super::meant::meant;
use crate::backend::{Backend, check_declarations};
use crate::notice::patiently;
use crate::remote::{Limits, PluginBackend, Remote, SAID, Sandbox, StartError};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args as ClapArgs;
use rustix::io::Errno;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The backends to judge.
#[derive(Debug, ClapArgs)]
pub(super) struct Subjects {
    /// Backends, comma-separated; by default all built-in ones but those that `conformance list backends` calls "by name only". Beside
    /// --exec or --plugin: of those programs and plug-ins, the ones of these names.
    #[arg(long = "backend", alias = "backends", value_delimiter = ',', value_name = "NAME")]
    backends: Vec<String>,
    #[command(flatten)]
    outside: Outsiders,
}

/// Programs and plug-ins of the user's.
#[derive(Debug, ClapArgs)]
pub(super) struct Outsiders {
    /// A program that speaks the protocol (PROTOCOL.md), with its arguments; may be repeated.
    #[arg(long = "exec", value_name = "CMD")]
    programs: Vec<String>,
    /// A shared library that exports the functions of `sparse_conformance.h` (PLUGIN.md); runs in a child process; may be
    /// repeated.
    #[arg(long = "plugin", value_name = "LIB")]
    plugins: Vec<PathBuf>,
    /// A variable that programs and plug-ins have in their environment besides this command's own; may be repeated. It stands in
    /// replay lines.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    environment: Vec<(String, String)>,
    /// Seconds that the processors of a program or plug-in may compute for one task; it has twice as many on the clock, and six times both for a
    /// process's first task of each contract, for which kernels may be compiled. Other seconds than the default stand in replay lines.
    #[arg(long, default_value = "10", value_parser = |text: &str| seconds(text, (0.01, 86400.0)), value_name = "SECONDS")]
    timeout: Duration,
    /// The command that runs a case again where this one can't, `{case}` for its line: Python's `check` answers on a socket of its own.
    #[arg(long, hide = true, value_name = "COMMAND")]
    replayed_by: Option<String>,
    /// Programs and plug-ins see what they need and nothing else of this machine: no network, no other process, no file but their own,
    /// a temporary folder; another user where this one is root. What this kernel can't enforce is said. It stands in replay lines.
    #[arg(long)]
    sandbox: bool,
    /// A file or folder that programs in the sandbox may read as well; may be repeated.
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    sandbox_read: Vec<String>,
    /// MiB of memory that a program or plug-in, with all it starts, may use; for the judge's own see --judge-memory.
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u64).range(16..=1 << 24), value_name = "MIB")]
    memory: u64,
}

/// The first task of a contract may take so many times longer.
const FIRST: u32 = 6;

/// A program that has not said hello after this time is spoken of.
const SOON: Duration = Duration::from_secs(5);

/// The command as it works in any folder: files of this one by their absolute paths. A program without a slash is looked up
/// in PATH and stays.
fn from_anywhere(command: &[String]) -> Vec<String> {
    let absolute = |(place, word): (usize, &String)| {
        let path = Path::new(word);
        let looked_up = place == 0 && !word.contains('/');
        if looked_up || path.is_absolute() || !path.is_file() {
            return word.clone();
        }
        let found = std::path::absolute(path).ok();
        let text = found.as_deref().and_then(Path::to_str);
        text.map_or_else(|| word.clone(), str::to_owned)
    };
    command.iter().enumerate().map(absolute).collect()
}

/// Why a program is not started, with what helps. A warden hands on the system's words, so it is these that tell.
fn explained(error: StartError, command: &[String]) -> anyhow::Error {
    let StartError::Spawn { source, .. } = &error else { return error.into() };
    let (said, program) =
        (source.to_string(), shell_words::quote(command.first().map_or("", String::as_str)));
    let says = |errno: Errno| said.contains(&io::Error::from(errno).to_string());
    let how = if program.ends_with(".py") { format!("python3 {program}") } else { format!("./{program}") };
    if says(Errno::ACCESS) {
        anyhow!(
            "{error}; a script is run by its interpreter (python3 {program}), a program must be executable (chmod +x)"
        )
    } else if says(Errno::NOENT) && !program.contains('/') && Path::new(&*program).is_file() {
        anyhow!("{error}; there is a file of that name here, which --exec \"{how}\" runs")
    } else {
        error.into()
    }
}

/// This program as the host of a library. Children are found by name and must not depend on the folder: both paths are absolute.
fn hosting(library: &Path) -> Result<Vec<String>> {
    let text = |path: PathBuf| -> Result<String> {
        let text = path.to_str().context("the path is not UTF-8")?;
        Ok(text.to_owned())
    };
    let program = text(std::env::current_exe()?)?;
    Ok(vec![program, super::host::NAME.to_owned(), text(library.canonicalize()?)?])
}

/// A variable as `--env` names it.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let plain = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match text.split_once('=') {
        Some((name, value)) if plain(name) => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE, the name of letters, digits and _".to_owned()),
    }
}

/// A time limit between `least` and `most` seconds.
pub(super) fn seconds(text: &str, (least, most): (f64, f64)) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (least..=most).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("a number of seconds, {least} to {most}"))
}

impl Subjects {
    /// True when the choice was left to the suite.
    pub(super) fn named_none(&self) -> bool {
        self.backends.is_empty() && !self.outside.are_there()
    }

    /// Makes sure that nothing in a sandbox can read what is written to this folder.
    pub(super) fn keep_from(&self, folder: &Path) -> Result<()> {
        self.outside.keep_from(folder)
    }

    /// Opens the backends, each with its declarations checked.
    pub(super) fn open(&self, built_in: Vec<Box<dyn Backend>>) -> Result<Vec<Box<dyn Backend>>> {
        let known: Vec<String> = built_in.iter().map(|b| b.name().to_owned()).collect();
        let foreign = |name: &&String| !known.contains(name);
        if let Some(name) = self.backends.iter().find(foreign).filter(|_| !self.outside.are_there()) {
            let hint = meant(name, &known);
            let end = if hint.is_empty() { "; there" } else { " There" };
            bail!("unknown backend {name:?}{hint}{end} are {}", known.join(", "));
        }
        if !self.outside.are_there() && !self.outside.environment.is_empty() {
            bail!("--env is for programs and plug-ins: give --exec or --plugin, too");
        }
        if !self.outside.are_there() && self.outside.sandbox {
            bail!("--sandbox is for programs and plug-ins: give --exec or --plugin, too");
        }
        let mut chosen: Vec<_> = built_in
            .into_iter()
            .filter(|b| match self.named_none() {
                true => !b.by_name_only(),
                false => self.backends.iter().any(|n| n == b.name()),
            })
            .collect();
        let inside = chosen.len();
        for program in &self.outside.programs {
            chosen.push(Box::new(self.outside.start(program)?));
        }
        for library in &self.outside.plugins {
            chosen.push(Box::new(self.outside.host(library)?));
        }
        self.keep_named(&mut chosen, inside, &known)?;
        if let Some(taken) = chosen[inside..].iter().find(|b| known.iter().any(|n| n == b.name())) {
            bail!(
                "{} calls itself {:?}, which is a built-in backend; give it another name in its manifest",
                taken.selection(),
                taken.name()
            );
        }
        let mut names = HashSet::new();
        for backend in &chosen {
            check_declarations(backend.as_ref())?;
            if !names.insert(backend.name()) {
                bail!("two backends are called {:?}; a report tells them apart by name", backend.name());
            }
        }
        Ok(chosen)
    }

    /// Of those from outside (from `inside` on), the ones that `--backend` names; all of them where it names none.
    fn keep_named(&self, chosen: &mut Vec<Box<dyn Backend>>, inside: usize, known: &[String]) -> Result<()> {
        let named: Vec<&String> = self.backends.iter().filter(|n| !known.contains(n)).collect();
        let outside: Vec<String> = chosen[inside..].iter().map(|b| b.name().to_owned()).collect();
        if let Some(name) = named.iter().find(|name| !outside.contains(name)) {
            bail!(
                "unknown backend {name:?}; there are {}, and from outside {}",
                known.join(", "),
                outside.join(", ")
            );
        }
        if !named.is_empty() {
            let mut place = 0;
            chosen.retain(|backend| {
                place += 1;
                place <= inside || named.iter().any(|name| *name == backend.name())
            });
        }
        Ok(())
    }
}

impl Outsiders {
    /// True where there are any.
    pub(super) fn are_there(&self) -> bool {
        !(self.programs.is_empty() && self.plugins.is_empty())
    }

    /// The options that give a child its variables, its time and its sandbox again, each with a space before it.
    fn environment_options(&self) -> Result<String> {
        let option = |(name, value): &(String, String)| {
            format!(" --env {}", shell_words::quote(&format!("{name}={value}")))
        };
        let mut options: String = self.environment.iter().map(option).collect();
        if self.timeout != Limits::default().time {
            options.push_str(&format!(" --timeout {}", self.timeout.as_secs_f64()));
        }
        if let Some(sandbox) = self.sandbox()? {
            options.push_str(" --sandbox");
            options
                .extend(sandbox.read().iter().map(|p| format!(" --sandbox-read {}", shell_words::quote(p))));
        }
        Ok(options)
    }

    fn sandbox(&self) -> Result<Option<&'static Sandbox>> {
        self.sandbox.then(|| super::sandboxed::sandbox(&self.sandbox_read)).transpose()
    }

    /// Makes sure that nothing in the sandbox can read what is written to this folder.
    fn keep_from(&self, folder: &Path) -> Result<()> {
        let Some(sandbox) = self.sandbox()? else { return Ok(()) };
        let mut commands = Vec::new();
        for program in &self.programs {
            commands.push(shell_words::split(program).with_context(|| format!("--exec {program:?}"))?);
        }
        for library in &self.plugins {
            commands.push(hosting(library).with_context(|| format!("--plugin {}", library.display()))?);
        }
        let opens = |command: &Vec<String>| sandbox.opens(command, &self.environment, folder);
        match commands.iter().find_map(opens) {
            Some(open) => bail!(
                "--sandbox: the report folder {} lies in {}, which the program may read; write the report elsewhere, or let it \
                 read less",
                folder.display(),
                open.display()
            ),
            None => Ok(()),
        }
    }

    fn start(&self, program: &str) -> Result<Remote> {
        let about = || format!("--exec {program:?}");
        let command = shell_words::split(program).with_context(about)?;
        let anywhere = shell_words::join(from_anywhere(&command));
        let selection = match &self.replayed_by {
            Some(command) => command.clone(),
            None => format!("--exec {}{}", shell_words::quote(&anywhere), self.environment_options()?),
        };
        let remote = self
            .open(&about(), command.clone(), self.limits()?)
            .map_err(|error| explained(error, &command))
            .with_context(about)?;
        Ok(remote.selected_by(selection))
    }

    /// Starts a program; where it does not say hello soon, says what is waited for.
    fn open(&self, about: &str, command: Vec<String>, limits: Limits) -> Result<Remote, StartError> {
        let wait = limits.start.as_secs();
        let line = format!("{about}: not a word yet of what it supports; it has {wait} s for that");
        patiently(SOON, &line, || Remote::open_in(command, self.environment.clone(), limits))
    }

    /// The programs and plug-ins as a benchmark wants them: plug-ins in this process, where no pipe is timed.
    pub(super) fn to_time(&self) -> Result<Vec<Box<dyn Backend>>> {
        let mut subjects: Vec<Box<dyn Backend>> = Vec::new();
        for program in &self.programs {
            subjects.push(Box::new(self.start(program)?));
        }
        for library in &self.plugins {
            if self.sandbox {
                crate::notice::say(&format!(
                    "conformance: --sandbox: {} is timed with its pipes, as a program is: in this process nothing would hold it",
                    library.display()
                ));
                subjects.push(Box::new(self.host(library)?));
                continue;
            }
            let opened = PluginBackend::open(library);
            subjects.push(Box::new(opened.with_context(|| format!("--plugin {}", library.display()))?));
        }
        subjects.iter().try_for_each(|subject| check_declarations(subject.as_ref()))?;
        Ok(subjects)
    }

    /// A plug-in is a program too: this one, as its host.
    fn host(&self, library: &Path) -> Result<Remote> {
        let about = || format!("--plugin {}", library.display());
        let command = hosting(library).with_context(about)?;
        let library = command.last().map_or("", String::as_str);
        let selection = format!("--plugin {}{}", shell_words::quote(library), self.environment_options()?);
        match self.open(&about(), command, self.limits()?) {
            Ok(remote) => Ok(remote.selected_by(selection)),
            // What the host says of the library is what its author can use; that it then ended is not.
            Err(StartError::Handshake { what, .. }) if what.contains(SAID) => {
                let said = what.split_once(SAID).map_or("", |(_, said)| said);
                let said = said.trim_start_matches("conformance: ").trim_start_matches("error: ");
                Err(anyhow!("{said}")).with_context(about)
            }
            Err(error) => Err(error).with_context(about),
        }
    }

    fn limits(&self) -> Result<Limits> {
        let default = Limits::default();
        Ok(Limits {
            time: self.timeout,
            first: self.timeout * FIRST,
            warden: super::warden::this_program(),
            sandbox: self.sandbox()?,
            start: default.start.max(self.timeout),
            memory: self.memory << 20,
            ..default
        })
    }
}
