//! The job summary of GitHub Actions: `report.md`, appended to the file that `GITHUB_STEP_SUMMARY` names.

use super::markdown::to_markdown;
use crate::report::model::Report;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The variable that names the file.
pub const VARIABLE: &str = "GITHUB_STEP_SUMMARY";
/// A step's summary may have so many bytes; a longer one is refused as a whole.
pub const LIMIT: usize = 1 << 20;
/// What stands where the rest was cut off.
const SHORTENED: &str = "\n\n(shortened: a step summary ends at 1 MiB; the report files have everything)\n";

/// Why there is no summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Not in a step of GitHub Actions.
    #[error("--github: {VARIABLE} is not set; GitHub Actions sets it in every step")]
    Unset,
    /// The file can't be written.
    #[error("cannot append to the step summary {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Earlier summaries of the step leave no room.
    #[error("the step summary {path} is full: it may have {LIMIT} bytes")]
    Full {
        /// The file.
        path: PathBuf,
    },
}

/// Where the summary goes, found out before the work.
///
/// # Errors
/// [`SummaryError::Unset`] outside GitHub Actions.
pub fn summary_file() -> Result<PathBuf, SummaryError> {
    match std::env::var_os(VARIABLE) {
        Some(path) if !path.is_empty() => Ok(path.into()),
        _ => Err(SummaryError::Unset),
    }
}

/// Appends the report, shortened to what the file still has room for. Findings stand first, so they are cut last.
///
/// # Errors
/// When the file can't be written, or is full.
pub fn append(report: &Report, path: &Path) -> Result<(), SummaryError> {
    let taken = std::fs::metadata(path).map_or(0, |m| usize::try_from(m.len()).unwrap_or(LIMIT));
    let text = shortened(&to_markdown(report), LIMIT.saturating_sub(taken));
    let text = text.ok_or_else(|| SummaryError::Full { path: path.to_owned() })?;
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| SummaryError::Write { path: path.to_owned(), source })
}

/// The text, or as many whole paragraphs of it as fit; `None` if none does. Fences hold no empty line, so none is cut.
fn shortened(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return Some(text.to_owned());
    }
    let room = text.floor_char_boundary(limit.checked_sub(SHORTENED.len())?);
    let end = text[..room].rfind("\n\n")?;
    Some(format!("{}{SHORTENED}", &text[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_cut_between_paragraphs() {
        let text = "# head\n\n- one äöü\n\n  ```sh\n  replay\n  ```\n\nlast paragraph, which is long enough to be cut off\n".repeat(4);
        assert_eq!(shortened(&text, text.len()).as_ref(), Some(&text));
        for limit in 0..text.len() {
            let Some(short) = shortened(&text, limit) else {
                assert!(limit < SHORTENED.len() + 12, "{limit}");
                continue;
            };
            assert!(short.len() <= limit && short.ends_with(SHORTENED));
            assert_eq!(short.matches("```").count() % 2, 0, "{limit}: {short}");
        }
    }
}
