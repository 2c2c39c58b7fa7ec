//! Reads known deviations from TOML files.
//!
//! ```toml
//! [[expect]]
//! backend = "sprs"
//! contract = "spmm.csr.f32_*"          # operation and format written out; and/or case = "...": `*` is any text, `?` any letter
//! verdict = "wrong"                    # wrong, lone_refusal, lone_acceptance, crashed, timed_out
//! defect = "value"                     # for wrong, if only one defect is meant
//! reason = "beta is ignored"
//! link = "https://example.org/issue/7"
//! expires = 2027-01-31                 # the last day on which this holds, within 400 days
//! occurs = "sometimes"                 # "always" by default: a case that passes is a finding
//! tier = "full"                        # the smallest tier that has such a case; "quick" by default
//! ```

use crate::report::{Defect, Expectation, Expected, Occurs, Since};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use sparse_oracle::plain_file;
use std::io;
use std::path::{Path, PathBuf};

/// Why expectations could not be read. Each names the file, and the entry if it is about one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpectationError {
    /// The file or folder can't be read.
    #[error("expectations {path}: {source}")]
    Read {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The folder has no file of this kind.
    #[error("expectations {path}: no .toml file in this folder")]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// The file is no TOML, or not of this form.
    #[error("expectations {path}: {source}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, column, and what is wrong there.
        source: Box<toml::de::Error>,
    },
    /// An entry says something that can't be.
    #[error("expectations {path}, entry {entry}: {reason}")]
    Entry {
        /// The file.
        path: PathBuf,
        /// Its place in the file, from 1.
        entry: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// Most days that an entry holds from today on.
const LONGEST: i32 = 400;

/// Largest file that is read: these are written by hand.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    expect: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    backend: String,
    case: Option<String>,
    contract: Option<String>,
    verdict: Expected,
    defect: Option<Defect>,
    #[serde(default)]
    occurs: Occurs,
    #[serde(default)]
    tier: Since,
    reason: String,
    link: Option<String>,
    expires: Day,
}

/// TOML has dates; people quote them all the same.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Day {
    Date(toml::value::Datetime),
    Text(String),
}

/// Today, in UTC.
#[must_use]
pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// The expectations of these files, and of every `.toml` file in these folders (by name, not deeper), in order.
///
/// # Errors
/// The first file or entry that can't be used.
pub fn load(paths: &[PathBuf], today: Date) -> Result<Vec<Expectation>, ExpectationError> {
    let mut all = Vec::new();
    for path in paths {
        let read = |source| ExpectationError::Read { path: path.clone(), source };
        if std::fs::metadata(path).map_err(read)?.is_dir() {
            for file in toml_files(path)? {
                all.extend(load_file(&file, today)?);
            }
        } else {
            all.extend(load_file(path, today)?);
        }
    }
    Ok(all)
}

fn toml_files(folder: &Path) -> Result<Vec<PathBuf>, ExpectationError> {
    let read = |source| ExpectationError::Read { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(ExpectationError::Empty { path: folder.to_owned() });
    }
    Ok(files)
}

fn load_file(path: &Path, today: Date) -> Result<Vec<Expectation>, ExpectationError> {
    let read = |source| ExpectationError::Read { path: path.to_owned(), source };
    parse(path, &plain_file::read_text(path, MAX_BYTES).map_err(read)?, today)
}

/// The expectations in the text of a file.
///
/// # Errors
/// What is no TOML of this form; the first entry that can't be used.
pub fn parse(path: &Path, text: &str, today: Date) -> Result<Vec<Expectation>, ExpectationError> {
    let file: File = toml::from_str(text)
        .map_err(|source| ExpectationError::Syntax { path: path.to_owned(), source: Box::new(source) })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let entries = file.expect.into_iter().zip(1..);
    entries
        .map(|(entry, number)| {
            let from = format!("{name} entry {number}");
            entry.check(from, today).map_err(|reason| ExpectationError::Entry {
                path: path.to_owned(),
                entry: number,
                reason,
            })
        })
        .collect()
}

/// True where operation and format are written out: `spmm.csr.*`.
fn names_a_format(pattern: &str) -> bool {
    let literal =
        |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut words = pattern.split('/').next().unwrap_or_default().split('.');
    words.next().is_some_and(literal) && words.next().is_some_and(literal)
}

/// True where a part of the case line after the contract is written out, too: `spm?.*/alpha=*`.
fn names_a_case(pattern: &str) -> bool {
    let rest = pattern.split_once('/').map_or("", |(_, rest)| rest);
    names_a_format(pattern) || rest.bytes().any(|b| b.is_ascii_alphanumeric())
}

impl Entry {
    fn check(self, from: String, today: Date) -> Result<Expectation, String> {
        let text = match self.expires {
            Day::Date(date) => date.to_string(),
            Day::Text(text) => text,
        };
        let expires: Date =
            text.parse().map_err(|_| format!("expires = {text:?} is no date; write 2027-01-31"))?;
        let days = today.until(expires).map_or(0, |span| span.get_days());
        if days > LONGEST {
            return Err(format!(
                "it expires on {expires}, in {days} days; at most {LONGEST}, so that somebody looks at it again"
            ));
        }
        for (name, value) in [("backend", &self.backend), ("reason", &self.reason)] {
            if value.trim().is_empty() {
                return Err(format!("{name} is empty"));
            }
        }
        if self.case.is_none() && self.contract.is_none() {
            return Err("neither case nor contract is given".to_owned());
        }
        let narrow = [self.contract.as_deref().map(names_a_format), self.case.as_deref().map(names_a_case)];
        if !narrow.into_iter().flatten().any(|narrow| narrow) {
            return Err("it would waive whatever goes wrong; name operation and format at least, \
                        `contract = \"spmm.csr.*\"`, or what the cases have in common, `case = \"*/alpha=*\"`"
                .to_owned());
        }
        if self.defect.is_some() && self.verdict != Expected::Wrong {
            return Err("only a wrong result has a defect".to_owned());
        }
        Ok(Expectation {
            from,
            backend: self.backend,
            case: self.case,
            contract: self.contract,
            verdict: self.verdict,
            defect: self.defect,
            occurs: self.occurs,
            tier: self.tier,
            reason: self.reason,
            link: self.link,
            expires: expires.to_string(),
            expired: expires < today,
        })
    }
}
