//! The journal of a run: every judged case, on disk before the next one starts, so that an interrupted run goes on.
//!
//! ```text
//! {"journal":"sparse-conformance-journal-2", suite_version, plan, backends, content}    whose results these are
//! {"source":{"made":{...},"content":"hash ..."}}                                a matrix was made, of a file with this content
//! {"records":[{...},{...}]}                                                     a case was judged on every backend
//! {"records":[{...},                                                            <- killed here: cut off on resuming
//! ```
//! One `write` a line, not buffered: what the process was told of is with the operating system when it dies. A line
//! without its end is that of the moment of death, and is cut off. `journal.jsonl` lies beside the report and is removed
//! once the report's files are written; it has nothing that they do not have. One run at a time writes to a folder.

use crate::beside;
use crate::content;
use crate::origin::Origin;
use crate::report::{Backend, CaseRecord, Plan, Source};
use serde::{Deserialize, Serialize};
use sparse_oracle::plain_file;
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Value of [`Header::journal`].
pub const SCHEMA_NAME: &str = "sparse-conformance-journal-2";
/// The journal's name in the report folder.
pub const FILE: &str = "journal.jsonl";
/// What the journal of an earlier run is renamed to when another run starts without resuming it.
pub const OLD_FILE: &str = "journal.old.jsonl";
/// Longest line that is read.
const MAX_LINE: u64 = 1 << 26;

/// Whose results a journal holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Always [`SCHEMA_NAME`].
    pub journal: String,
    /// Version of the suite.
    pub suite_version: String,
    /// What was asked for.
    pub plan: Plan,
    /// Which cases are run again.
    pub repeats: String,
    /// Who was asked, with versions and declarations.
    pub backends: Vec<Backend>,
    /// Hashes of this program, and of the files and variables of backends from outside.
    pub content: BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    Source { made: &'a Source, content: Option<&'a str> },
    Records(&'a [CaseRecord]),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OwnedLine {
    Source { made: Box<Source>, content: Option<String> },
    Records(Vec<CaseRecord>),
}

/// Why a journal can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file can't be read, written or renamed.
    #[error("the journal {path}: {source}")]
    File {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is the journal of another run.
    #[error(
        "the journal {path} is of another run: {what} was {theirs}, now is {ours}; give the options of that run, or run \
         without --resume"
    )]
    OtherRun {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: String,
        /// Its value in the journal.
        theirs: String,
        /// Its value now.
        ours: String,
    },
    /// Another run writes to the folder.
    #[error("another run writes to {folder}; wait for its end, or name another folder")]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// A line that is not the last makes no sense.
    #[error("the journal {path}, line {line}: {reason}; run without --resume to start again")]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// What an interrupted run had done.
#[derive(Debug, Default)]
pub struct Done {
    /// Records of a case line, one per backend, in their order.
    pub records: HashMap<String, Vec<CaseRecord>>,
    /// Matrices by name.
    pub sources: HashMap<String, Source>,
}

/// A journal open for writing. A failure to write ends it, not the run; [`Journal::close`] tells.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Keeps other runs out of the folder.
    _lock: Option<File>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    failed: Option<io::Error>,
}

impl Journal {
    /// Starts a journal in the report folder. An earlier one is kept under [`OLD_FILE`]; true if there was one.
    ///
    /// # Errors
    /// When the file can't be made.
    pub fn start(folder: &Path, header: &Header) -> Result<(Journal, bool), JournalError> {
        let path = folder.join(FILE);
        let lock = lock(folder)?;
        let failed = |source| JournalError::File { path: path.clone(), source };
        let kept = match std::fs::rename(&path, folder.join(OLD_FILE)) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        let mut line = serde_json::to_vec(header).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        let mut file = File::create(&path).map_err(failed)?;
        file.write_all(&line).map_err(failed)?;
        Ok((Journal::over(path, file, lock), kept))
    }

    /// Opens the journal of an interrupted run, cuts off a torn last line, and reads what was done. `None` if there is no
    /// journal, or none whose first line was finished.
    ///
    /// # Errors
    /// When it can't be read, is of another run, or makes no sense.
    pub fn resume(folder: &Path, header: &Header) -> Result<Option<(Journal, Done)>, JournalError> {
        let path = folder.join(FILE);
        let lock = lock(folder)?;
        let failed = |source| JournalError::File { path: path.clone(), source };
        // A pipe would be waited for, a device has no end.
        let plain = plain_file::open(&path).map(drop);
        let file = match plain.and_then(|()| OpenOptions::new().read(true).write(true).open(&path)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = Lines { path: &path, reader: BufReader::new(&file), whole: 0, number: 0 };
        let Some(first) = lines.next()? else {
            return Ok(None);
        };
        lines.check_header(&first, header)?;
        let mut done = Done::default();
        while let Some(line) = lines.next()? {
            lines.take(&line, header, &mut done)?;
        }
        let whole = lines.whole;
        file.set_len(whole).map_err(failed)?;
        drop(file);
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        Ok(Some((Journal::over(path, file, lock), done)))
    }

    fn over(path: PathBuf, file: File, lock: Option<File>) -> Journal {
        Journal { path, _lock: lock, state: Mutex::new(State { file, failed: None }) }
    }

    /// Notes that a matrix was made, and the hash of its file if it has one.
    pub fn source(&self, made: &Source, content: Option<&str>) {
        self.append(&Line::Source { made, content });
    }

    /// Notes what a case gave on every backend.
    pub fn judged(&self, records: &[CaseRecord]) {
        self.append(&Line::Records(records));
    }

    fn append(&self, line: &Line<'_>) {
        let text = serde_json::to_vec(line).map(|mut text| {
            text.push(b'\n');
            text
        });
        // Whoever panicked while holding the lock wrote a whole line or none.
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.failed.is_none() {
            let written = text.map_err(io::Error::from).and_then(|text| state.file.write_all(&text));
            state.failed = written.err();
        }
    }

    /// Removes the journal of a run whose report is written.
    ///
    /// # Errors
    /// When a line could not be written during the run, or the file can't be removed.
    pub fn close(self) -> Result<(), JournalError> {
        let Journal { path, state, _lock } = self;
        let state = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let removed = std::fs::remove_file(&path);
        match state.failed.map_or(removed, Err) {
            Ok(()) => Ok(()),
            Err(source) => Err(JournalError::File { path, source }),
        }
    }
}

/// Whole lines of a journal, with their place.
struct Lines<'a, R> {
    path: &'a Path,
    reader: R,
    /// Bytes of the whole lines read so far.
    whole: u64,
    number: usize,
}

impl<R: BufRead> Lines<'_, R> {
    /// The next line that has its end.
    fn next(&mut self) -> Result<Option<Vec<u8>>, JournalError> {
        let mut line = Vec::new();
        let read = io::Read::take(&mut self.reader, MAX_LINE).read_until(b'\n', &mut line);
        let read = read.map_err(|source| JournalError::File { path: self.path.to_owned(), source })?;
        self.number += 1;
        if read as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            return Err(self.wrong(&format!("it has more than {MAX_LINE} bytes")));
        }
        if line.pop() != Some(b'\n') {
            return Ok(None);
        }
        self.whole += read as u64;
        Ok(Some(line))
    }

    fn wrong(&self, reason: &impl ToString) -> JournalError {
        JournalError::Line { path: self.path.to_owned(), line: self.number, reason: reason.to_string() }
    }

    fn check_header(&self, line: &[u8], ours: &Header) -> Result<(), JournalError> {
        let theirs: Header = serde_json::from_slice(line).map_err(|e| self.wrong(&e))?;
        match difference(&theirs, ours) {
            None => Ok(()),
            Some((what, theirs, ours)) => {
                Err(JournalError::OtherRun { path: self.path.to_owned(), what, theirs, ours })
            }
        }
    }

    fn take(&self, line: &[u8], header: &Header, done: &mut Done) -> Result<(), JournalError> {
        match serde_json::from_slice(line).map_err(|e| self.wrong(&e))? {
            OwnedLine::Source { made, content } => {
                if let (Some(theirs), Ok(Origin::File(file))) = (content, made.spec.parse()) {
                    let ours = content::of_file(&file);
                    if theirs != ours {
                        let what = format!("the content of the matrix {}", file.display());
                        return Err(JournalError::OtherRun {
                            path: self.path.to_owned(),
                            what,
                            theirs,
                            ours,
                        });
                    }
                }
                done.sources.insert(made.spec.clone(), *made);
            }
            OwnedLine::Records(records) => {
                let case = records.first().map(|r| r.case.clone()).unwrap_or_default();
                // Who does not claim the contract has none.
                let mut names = header.backends.iter().map(|backend| &backend.name);
                let mut of_one =
                    |record: &CaseRecord| record.case == case && names.any(|n| *n == record.backend);
                if records.is_empty() || !records.iter().all(&mut of_one) {
                    return Err(self
                        .wrong(&"its records are not of one case and of the run's backends in their order"));
                }
                done.records.insert(case, records);
            }
        }
        Ok(())
    }
}

/// Keeps other runs out of a report folder as long as the file is open; `None` where the file system has no locks.
fn lock(folder: &Path) -> Result<Option<File>, JournalError> {
    let failed = |source| JournalError::File { path: folder.to_owned(), source };
    let file = File::open(folder).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            beside::clean(folder);
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Err(JournalError::Busy { folder: folder.to_owned() }),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

fn listed(names: &[String], without: &str) -> String {
    if names.is_empty() { without.to_owned() } else { names.join(", ") }
}

/// The first thing in which two runs differ, with both values.
fn difference(theirs: &Header, ours: &Header) -> Option<(String, String, String)> {
    type Show = fn(&Header) -> String;
    let facts: [(&'static str, Show); 14] = [
        ("the journal's version", |h| h.journal.clone()),
        ("the suite's version", |h| h.suite_version.clone()),
        ("the tier", |h| h.plan.tier.clone()),
        ("the seed", |h| h.plan.seed.to_string()),
        ("the shard", |h| h.plan.shard.map_or_else(|| "the whole plan".to_owned(), |s| s.to_string())),
        ("the list of matrices", |h| listed(&h.plan.matrices, "none")),
        ("the list of operations", |h| listed(&h.plan.operations, "none")),
        ("the list of element types", |h| listed(&h.plan.precisions, "none")),
        ("the list of contracts", |h| listed(&h.plan.contracts, "all")),
        ("the list of backends", |h| {
            let versions = h.backends.iter().map(|b| format!("{} {}", b.name, b.version));
            versions.collect::<Vec<_>>().join(", ")
        }),
        ("which cases are repeated", |h| h.repeats.clone()),
        // What the lines above leave out, the case lines first of all.
        ("the plan", |h| {
            format!("{} case lines ({})", h.plan.distinct_cases, content::of_text(&format!("{:?}", h.plan)))
        }),
        ("what backends declare", |h| {
            let declared = |b: &Backend| format!("{}: {}", b.name, content::of_text(&format!("{b:?}")));
            h.backends.iter().map(declared).collect::<Vec<_>>().join(", ")
        }),
        ("what is judged", |h| h.content.keys().cloned().collect::<Vec<_>>().join(", ")),
    ];
    let facts = facts.into_iter().map(|(what, show)| (what.to_owned(), show(theirs), show(ours)));
    // Past the facts both have the same names.
    let both = theirs.content.iter().zip(&ours.content);
    let contents = both.map(|((name, theirs), (_, ours))| (name.clone(), theirs.clone(), ours.clone()));
    facts.chain(contents).find(|(_, a, b)| a != b)
}
