//! Writes all files of a report into one directory, and names what went wrong where.

use super::model::Report;
use super::{html, json, junit, markdown};
use std::io;
use std::path::{Path, PathBuf};

/// Why a report could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The directory cannot be made.
    #[error("cannot create the report directory {path}: {source}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The report holds a number that JSON has no place for.
    #[error("cannot write {path}: {source}")]
    Encode {
        /// The file.
        path: PathBuf,
        /// Which number.
        source: serde_json::Error,
    },
    /// A file is no report of this version.
    #[error("{path} is no report of schema {expected}: {reason}", expected = super::SCHEMA_NAME)]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line and column, or the contradiction.
        reason: String,
    },
    /// JUnit's writer failed.
    #[error("cannot write {path}: {source}")]
    Junit {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: quick_junit::SerializeError,
    },
}

/// Writes `report.json`, `report.junit.xml`, `report.md` and `report.html` into `directory`, which is created if
/// need be; files of these names are replaced. Returns the four paths in that order.
///
/// # Errors
/// Any [`ReportError`] about writing, naming the file.
pub fn write_all(report: &Report, directory: &Path) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(directory).map_err(|source| ReportError::Directory {
        path: directory.to_owned(),
        source,
    })?;
    let path = |name: &str| directory.join(name);
    let (json, junit) = (path("report.json"), path("report.junit.xml"));
    let json_text = json::to_json(report).map_err(|source| ReportError::Encode {
        path: json.clone(),
        source,
    })?;
    let junit_text = junit::to_junit(report).map_err(|source| ReportError::Junit {
        path: junit.clone(),
        source,
    })?;
    let files = [
        (json, json_text),
        (junit, junit_text),
        (path("report.md"), markdown::to_markdown(report)),
        (path("report.html"), html::to_html(report)),
    ];
    files.into_iter().map(|(path, text)| write(path, &text)).collect()
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, ReportError> {
    match std::fs::write(&path, text) {
        Ok(()) => Ok(path),
        Err(source) => Err(ReportError::Write { path, source }),
    }
}
