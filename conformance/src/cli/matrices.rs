//! Matrices named on the command line: files, folders of them, and sources.

use super::meant;
use crate::notice::say;
use crate::origin::Origin;
use anyhow::{Context, Result, bail};
use sparse_oracle::source::file;
use std::path::{Path, PathBuf};

/// A file if there is one, or if nothing says that it is a source: `family:`, and not the ending of a file or folder.
///
/// # Errors
/// What is wrong with the source, with the name that was probably meant.
pub(super) fn named(path: &Path) -> Result<Origin> {
    let text = path.to_str().filter(|_| !path.exists());
    match text.filter(|text| is_source(text)) {
        Some(source) => meant::source(source),
        None => Ok(Origin::File(path.to_owned())),
    }
}

fn is_source(text: &str) -> bool {
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let is_path = file::is_matrix_name(text) || text.ends_with('/');
    text.split_once(':').is_some_and(|(family, _)| is_word(family)) && !is_path
}

/// Files and sources named, and the matrix files in folders named.
///
/// # Errors
/// What is none of these, with its reason.
pub(super) fn matrices(paths: &[PathBuf]) -> Result<Vec<Origin>> {
    let mut found = Vec::new();
    for path in paths {
        let about = || format!("--matrix {}", path.display());
        match named(path).with_context(about)? {
            Origin::File(folder) if std::fs::metadata(&folder).with_context(about)?.is_dir() => {
                let listing = file::list_dir(&folder).with_context(about)?;
                if listing.matrices.is_empty() {
                    bail!("--matrix {}: no .mtx or .smtx file in this folder", path.display());
                }
                skipped(&folder, &listing.skipped);
                found.extend(listing.matrices.into_iter().map(Origin::File));
            }
            matrix => found.push(matrix),
        }
    }
    Ok(found)
}

fn skipped(folder: &Path, others: &[PathBuf]) {
    if !others.is_empty() {
        let names: Vec<String> = others.iter().map(|p| p.display().to_string()).collect();
        say(&format!(
            "{}: skipped {} files that are no matrices: {}",
            folder.display(),
            names.len(),
            names.join(", ")
        ));
    }
}
