//! A minimal failing case as files that stand alone.
//!
//! ```text
//! REPORT/reproducers/BACKEND-CONTRACT-REASON/
//!   case.txt      the case line, what it shows, and the commands that replay it
//!   matrix.mtx    the sparse operand: read back bit for bit when it was written
//!   case.json     every operand in bits, what each element may be, what was found
//!   main.c        the same as a program that calls a plug-in       cc main.c -o main -ldl -lm && ./main ./kernel.so
//!   main.py       the same for a backend in Python                 python3 main.py backend.py
//! ```
//!
//! A case too large to embed has the first two only, and says so.

mod c;
mod data;
mod file;
mod findings;
mod json;
mod python;
mod want;

use crate::backend::Backend;
use crate::case::Case;
use crate::operands::build;
use crate::origin::{Loaded, Origin};
use crate::report::replay::CASE;
use crate::report::show::counted;
use crate::report::{Reproducer, replay_command};
use crate::shrink::{Candidate, Reason, ShrinkBudget, ShrinkOutcome, ShrinkTold, Shrunk, shrink, verdict_of};
use sparse_plugin::is_in_header;
use std::io;
use std::path::{Path, PathBuf};

pub use self::findings::shrink_findings;

use self::data::Data;

/// A reproducer that could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproducerError {
    /// The folder or a file.
    #[error("the reproducer {path} can't be written: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The matrix does not come back as it was.
    #[error("the matrix {path} does not read back as it was written: {reason}")]
    ReadBack {
        /// The file.
        path: PathBuf,
        /// What came back.
        reason: String,
    },
    /// The finding's own case can't be run again.
    #[error("the finding {case} can't be shrunk: {reason}")]
    Case {
        /// Its line.
        case: String,
        /// Why not.
        reason: String,
    },
}

/// Shrinks a case and writes its reproducer into `folder`, the line naming the matrix there.
///
/// # Errors
/// Files that can't be written, or a matrix that does not read back.
pub fn shrink_case(
    first: (&Case, &Loaded),
    subject: (&dyn Backend, &Reason),
    (budget, told): (ShrinkBudget, ShrinkTold<'_>),
    folder: &Path,
) -> Result<Reproducer, ReproducerError> {
    shrink_into(first, subject, (budget, told), (folder, folder))
}

/// [`shrink_case`] with the folder as the line should name it.
fn shrink_into(
    (case, loaded): (&Case, &Loaded),
    (backend, reason): (&dyn Backend, &Reason),
    (budget, told): (ShrinkBudget, ShrinkTold<'_>),
    (folder, named): (&Path, &Path),
) -> Result<Reproducer, ReproducerError> {
    match shrink(case, loaded, backend, reason, budget, told) {
        ShrinkOutcome::Flaky { seen, runs } => Ok(Reproducer {
            path: None,
            case: None,
            summary: format!("comes and goes: seen in {seen} of {runs} further runs, so not shrunk"),
            candidates: runs as u64,
            rows: loaded.coo.rows as u64,
            cols: loaded.coo.cols as u64,
            nnz: loaded.coo.nnz() as u64,
            n: columns(case),
        }),
        ShrinkOutcome::Shrunk(shrunk) => {
            let written = Written { first: case, shrunk: &shrunk, backend, folder };
            written.write(named)
        }
    }
}

/// What is written, and where.
struct Written<'a> {
    first: &'a Case,
    shrunk: &'a Shrunk,
    backend: &'a dyn Backend,
    folder: &'a Path,
}

impl Written<'_> {
    fn write(&self, named: &Path) -> Result<Reproducer, ReproducerError> {
        let Shrunk { minimal, tried, .. } = self.shrunk;
        let failed = |source| ReproducerError::Write { path: self.folder.to_owned(), source };
        std::fs::create_dir_all(self.folder).map_err(failed)?;
        let path = self.folder.join("matrix.mtx");
        file::write(&minimal.case, &minimal.loaded.coo, &path)?;
        // What hangs and was run just now, as it stands in the file, is not worth another time limit.
        let just_seen = *tried == 0 && self.shrunk.reason.is_slow();
        // Who runs the reproducer runs it first in a fresh process: what fails only after other calls must say so.
        let fresh = !just_seen && self.backend.renew();
        let steady = just_seen || self.fails_from(&path)?;
        let here = located(&minimal.case, Path::new("matrix.mtx"));
        let there = located(&minimal.case, &named.join("matrix.mtx"));
        // A program of one call can't show what only a sequence does: the line is the whole sequence.
        let alone = minimal.case.params.after.is_none();
        let data = build(&minimal.case, &minimal.loaded)
            .ok()
            .filter(|_| alone)
            .and_then(|operands| Data::gather(&minimal.case, &operands, self.backend));
        let summary = self.summary((steady, fresh), data.is_some());
        self.save("case.txt", &self.about(&here, &summary, data.is_some()))?;
        if let Some(data) = &data {
            let shown = Shown {
                here: &here,
                first: self.first,
                backend: self.backend.name(),
                reason: &self.shrunk.reason,
                verdict: &self.shrunk.verdict,
                data,
            };
            self.save("case.json", &json::to_json(&shown))?;
            self.save("main.py", &python::to_python(&shown))?;
            if is_in_header(here.contract.op) {
                self.save("main.c", &c::to_c(&shown))?;
                self.save("sparse_conformance.h", c::HEADER)?;
            }
        }
        let coo = &minimal.loaded.coo;
        Ok(Reproducer {
            path: Some(named.display().to_string()),
            case: Some(there.to_string()),
            summary,
            candidates: *tried as u64,
            rows: coo.rows as u64,
            cols: coo.cols as u64,
            nnz: coo.nnz() as u64,
            n: columns(&minimal.case),
        })
    }

    /// True when the case fails for its reason with the matrix read from its file.
    fn fails_from(&self, path: &Path) -> Result<bool, ReproducerError> {
        let loaded = Origin::File(path.to_owned()).load();
        let loaded = loaded.map_err(|error| ReproducerError::ReadBack {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let candidate = Candidate { case: self.shrunk.minimal.case.clone(), loaded };
        let verdict = verdict_of(&candidate, self.backend, &self.shrunk.reason);
        Ok(Reason::of(&verdict).as_ref() == Some(&self.shrunk.reason))
    }

    fn summary(&self, (steady, fresh): (bool, bool), embedded: bool) -> String {
        let Shrunk { minimal, tried, unfinished, .. } = self.shrunk;
        let coo = &minimal.loaded.coo;
        let entries = if coo.nnz() == 1 { "entry" } else { "entries" };
        let has_n = minimal.case.contract.op.signature().has_n();
        let n = if has_n { format!(", n = {}", minimal.case.params.n) } else { String::new() };
        let mut text = format!(
            "shrunk to {} x {} with {} {entries}{n}, in {}",
            coo.rows,
            coo.cols,
            coo.nnz(),
            counted(*tried as u64, "candidate")
        );
        for (applies, words) in [
            (*unfinished, "; the budget ended before the search"),
            (steady && fresh, "; fails in a fresh process"),
            (
                !steady && fresh,
                "; did not fail in a fresh process: it needs the calls before it, or comes and goes",
            ),
            (!steady && !fresh, "; did not fail in the last run: it comes and goes"),
            (
                minimal.case.params.after.is_some() && *tried == 0,
                "; its calls before were not left out: no program of one call is written",
            ),
            (
                minimal.case.params.after.is_some() && *tried > 0,
                "; fails only after other calls, which the case line makes: no program of one call is written",
            ),
            (!embedded && minimal.case.params.after.is_none(), "; too large to embed its arrays"),
        ] {
            if applies {
                text.push_str(words);
            }
        }
        text
    }

    fn about(&self, here: &Case, summary: &str, embedded: bool) -> String {
        let selection = self.backend.selection();
        // A function of another process is no program that could be started.
        let programs = if embedded && !selection.contains(CASE) {
            format!("\nWithout the suite:\n{}", programs(is_in_header(here.contract.op), &selection))
        } else {
            String::new()
        };
        format!(
            "{here}\n\n\
             {}\n\
             {summary}\n\n\
             In this folder:\n  {}\n\n\
             It was found as:\n  {}\n{programs}",
            words(&self.shrunk.verdict),
            replay_command(&here.to_string(), &selection),
            replay_command(&self.first.to_string(), &selection),
        )
    }

    fn save(&self, name: &str, text: &str) -> Result<(), ReproducerError> {
        let path = self.folder.join(name);
        crate::beside::write(&path, text.as_bytes()).map_err(|source| ReproducerError::Write { path, source })
    }
}

/// Which of the two programs asks a backend that is selected so, and how. Variables that it was given stand before the command. There is
/// none in C for an operation that the C header does not have.
fn programs(has_c: bool, selection: &str) -> String {
    let words = shell_words::split(selection).unwrap_or_default();
    let given = words.windows(2).filter(|pair| pair[0] == "--env");
    let env: String = given.map(|pair| assignment(&pair[1])).collect();
    let in_c = |library: &str| format!("cc main.c -o main -ldl -lm && {env}./main {library}");
    let in_python = |command: &str| format!("{env}python3 main.py {command}");
    match (words.first().map(String::as_str), words.get(1)) {
        (Some("--plugin"), Some(library)) => format!(
            "  {}\nmain.py is for programs that speak the protocol.\n",
            in_c(&shell_words::quote(library))
        ),
        (selected, command) if !has_c => {
            let command = command.filter(|_| selected == Some("--exec"));
            format!("  {}\n", in_python(command.map_or("backend.py", String::as_str)))
        }
        (Some("--exec"), Some(command)) => {
            format!("  {}\nmain.c is for plug-ins.\n", in_python(command))
        }
        _ => format!(
            "  {}   (a plug-in)\n  {}   (a program that speaks the protocol)\n",
            in_c("./kernel.so"),
            in_python("backend.py")
        ),
    }
}

/// `NAME='a value' `, as a shell takes it before a command: the name may not be quoted.
fn assignment(variable: &str) -> String {
    let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
    format!("{name}={} ", shell_words::quote(value))
}

/// What the writers of files are given.
struct Shown<'a> {
    here: &'a Case,
    first: &'a Case,
    backend: &'a str,
    reason: &'a Reason,
    verdict: &'a sparse_oracle::verdict::Verdict,
    data: &'a Data,
}

/// The case with its matrix in a file.
fn located(case: &Case, path: &Path) -> Case {
    Case { origin: Origin::File(path.to_owned()), ..case.clone() }
}

/// What n is in the case; 1 where its operation has none, whatever the parameter says.
fn columns(case: &Case) -> u64 {
    if case.contract.op.signature().has_n() { case.params.n as u64 } else { 1 }
}

/// The verdict in one line.
fn words(verdict: &sparse_oracle::verdict::Verdict) -> String {
    crate::report::show::one_line(&crate::record::verdict_record(verdict.clone()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_without_the_suite_take_the_variables_along() {
        let plugin = programs(true, "--plugin '/a b/k.so' --env OMP_NUM_THREADS=4 --env 'X=a b'");
        assert!(plugin.contains("&& OMP_NUM_THREADS=4 X='a b' ./main '/a b/k.so'\n"), "{plugin}");
        let program = programs(true, "--exec 'python3 /x/mine.py' --env FTZ=1");
        assert!(program.contains("  FTZ=1 python3 main.py python3 /x/mine.py\n"), "{program}");
        assert!(programs(true, "--backend portable").contains("./main ./kernel.so   (a plug-in)"));
        let python = programs(false, "--backend portable");
        assert!(python.contains("main.py backend.py") && !python.contains("./main "), "{python}");
    }
}
