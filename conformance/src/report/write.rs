//! Writes all files of a report into one directory, and names what went wrong where.

use super::{badge, history, html, json, junit, markdown, sarif};
use crate::beside;
use crate::report::model::Report;
use std::io;
use std::path::{Path, PathBuf};

/// Why a report could not be written.
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
    /// The report holds a number that JSON has no place for.
    #[error("cannot write {path}: {source}")]
    Encode {
        /// The file.
        path: PathBuf,
        /// Which number.
        source: serde_json::Error,
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

/// Why a writer has no text.
#[derive(Debug)]
enum Fault {
    Json(serde_json::Error),
    Junit(quick_junit::SerializeError),
}

/// One file of a report.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Its name.
    pub file: &'static str,
    /// Who it is for.
    pub purpose: &'static str,
    text: fn(&Report, &Path) -> Result<String, Fault>,
}

/// Every file of a report, in the order in which they are named.
pub const WRITERS: [Writer; 8] = [
    Writer {
        file: "report.json",
        purpose: "everything; read by `merge` and `diff`",
        text: |report, _| json::to_json(report).map_err(Fault::Json),
    },
    Writer {
        file: "report.junit.xml",
        purpose: "CI systems",
        text: |report, _| junit::to_junit(report).map_err(Fault::Junit),
    },
    Writer {
        file: "report.md",
        purpose: "job summaries, comments",
        text: |report, _| Ok(markdown::to_markdown(report)),
    },
    Writer {
        file: "report.html",
        purpose: "people",
        text: |report, folder| Ok(html::to_html(report, folder)),
    },
    Writer {
        file: "report.sarif",
        purpose: "code scanning",
        text: |report, _| sarif::to_sarif(report).map_err(Fault::Json),
    },
    Writer { file: "badge.svg", purpose: "a README", text: |report, _| Ok(badge::to_svg(report)) },
    Writer { file: "badge.json", purpose: "a badge server", text: |report, _| Ok(badge::to_json(report)) },
    Writer {
        file: history::FILE,
        purpose: "what changed from run to run; a line each",
        text: |report, folder| history::to_lines(report, folder).map_err(Fault::Json),
    },
];

impl Writer {
    /// The text of the file at `path`.
    ///
    /// # Errors
    /// [`ReportError::Encode`] or [`ReportError::Junit`], naming `path`.
    pub fn text(&self, report: &Report, path: &Path) -> Result<String, ReportError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let path = path.to_owned();
        (self.text)(report, folder).map_err(|fault| match fault {
            Fault::Json(source) => ReportError::Encode { path, source },
            Fault::Junit(source) => ReportError::Junit { path, source },
        })
    }
}

/// Writes every file of [`WRITERS`] into `directory`, which is created if need be; files of these names are replaced.
/// Returns their paths in that order.
///
/// # Errors
/// Any [`ReportError`] about writing, naming the file.
pub fn write_all(report: &Report, directory: &Path) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(directory)
        .map_err(|source| ReportError::Directory { path: directory.to_owned(), source })?;
    let texts: Result<Vec<(PathBuf, String)>, ReportError> = WRITERS
        .iter()
        .map(|writer| {
            let path = directory.join(writer.file);
            let text = writer.text(report, &path)?;
            Ok((path, text))
        })
        .collect();
    texts?.into_iter().map(|(path, text)| write(path, &text)).collect()
}

/// The folder of a report that these are the files of; empty where there are none.
pub(super) fn folder_of(written: &[PathBuf]) -> &Path {
    written.first().and_then(|file| file.parent()).unwrap_or(Path::new(""))
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, ReportError> {
    match beside::write(&path, text.as_bytes()) {
        Ok(()) => Ok(path),
        Err(source) => Err(ReportError::Write { path, source }),
    }
}
