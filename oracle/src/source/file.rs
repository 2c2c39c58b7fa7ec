//! Matrices in files, by name: Matrix Market and `.smtx`, plain or gzip.

use super::file_error::FileError;
use super::input::{Lines, PlainInput, plain};
use super::matrix_market::{self, Field, Limits, Symmetry};
use super::smtx;
use crate::format::{Coo, CooParts, Csr, CsrParts};
use crate::plain_file;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A matrix read from a file, after symmetry expansion.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMatrix {
    /// The file's name without folder and ending.
    pub name: String,
    /// The entries in file order; each mirror image follows its original. Duplicates and explicit zeros are kept.
    pub coo: Coo<f64>,
    /// The file holds no values: each entry is 1.0.
    pub pattern_only: bool,
    /// What the file says its values are.
    pub field: Field,
    /// What the file left out.
    pub symmetry: Symmetry,
    /// Entries in the file, before symmetry expansion.
    pub stored_entries: usize,
}

/// Which reader a file name asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    MatrixMarket,
    Smtx,
}

/// True where a file of this name would be read as a matrix.
#[must_use]
pub fn is_matrix_name(file_name: &str) -> bool {
    classify(file_name).is_some()
}

/// Splits `west0067.mtx.gz` into name, kind and whether it claims to be gzip.
fn classify(file_name: &str) -> Option<(&str, FileKind, bool)> {
    let (stem, gzip) = strip_ending(file_name, ".gz").map_or((file_name, false), |s| (s, true));
    let endings = [(".mtx", FileKind::MatrixMarket), (".smtx", FileKind::Smtx)];
    let hit = endings.into_iter().find_map(|(ending, kind)| Some((strip_ending(stem, ending)?, kind)))?;
    Some((hit.0, hit.1, gzip))
}

/// `name` without `ending`, whatever the case.
fn strip_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(ending.len())?;
    let tail = name.get(at..)?;
    tail.eq_ignore_ascii_case(ending).then(|| &name[..at])
}

/// Reads the file at `path` as its name says (`.mtx`, `.mtx.gz`, `.smtx`, `.smtx.gz`), with the default [`Limits`].
/// A file whose name lacks `.gz` may be gzip all the same.
///
/// # Errors
/// [`FileError::InFile`] around the first defect found.
pub fn read_path(path: &Path) -> Result<FileMatrix, FileError> {
    read_path_within(path, Limits::default())
}

/// Reads the file at `path` within `limits`.
///
/// # Errors
/// [`FileError::InFile`] around the first defect found, or the limit that was crossed.
pub fn read_path_within(path: &Path, limits: Limits) -> Result<FileMatrix, FileError> {
    open(path).and_then(|file| read_named(&file_name(path), file, limits)).map_err(|e| e.in_file(path))
}

/// What the first lines of a file promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
    /// Entries after symmetry expansion, at most. Readers refuse a file that holds more.
    pub entries: u64,
}

/// Reads the first lines of a file and no further, so that what it would take is known before it is taken.
///
/// # Errors
/// [`FileError::InFile`] around the first defect found.
pub fn promise(path: &Path) -> Result<Promise, FileError> {
    open(path).and_then(|file| promise_named(&file_name(path), file)).map_err(|e| e.in_file(path))
}

fn promise_named(file_name: &str, input: impl Read) -> Result<Promise, FileError> {
    let (_, kind, text) = text_of(file_name, input)?;
    let limits = Limits::default();
    match kind {
        FileKind::MatrixMarket => {
            let header = matrix_market::read_header(text.text, limits)?;
            let mirrored = if header.symmetry == Symmetry::General { 1 } else { 2 };
            let entries = u64::from(header.stored_entries) * mirrored;
            Ok(Promise { rows: header.rows, cols: header.cols, entries })
        }
        FileKind::Smtx => {
            let [rows, cols, entries] = smtx::read_sizes(&mut Lines::new(text.text, limits))?;
            Ok(Promise { rows, cols, entries: u64::from(entries) })
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// Opens a regular file; a pipe or a device could block or never end.
fn open(path: &Path) -> Result<fs::File, FileError> {
    plain_file::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidInput => FileError::NotAFile,
        _ => FileError::open(&e),
    })
}

/// Reads a stream that is called `file_name`.
///
/// # Errors
/// The first defect found.
pub fn read_named(file_name: &str, input: impl Read, limits: Limits) -> Result<FileMatrix, FileError> {
    let (name, kind, content) = text_of(file_name, input)?;
    let name = name.to_string();
    match kind {
        FileKind::MatrixMarket => {
            let (header, coo) = matrix_market::read_text(content.text, limits)?;
            Ok(FileMatrix {
                name,
                coo,
                pattern_only: header.field == Field::Pattern,
                field: header.field,
                symmetry: header.symmetry,
                stored_entries: header.stored_entries as usize,
            })
        }
        FileKind::Smtx => {
            let mask = smtx::read_text(content.text, limits)?;
            let stored_entries = mask.nnz();
            let (pattern_only, field, symmetry) = (true, Field::Pattern, Symmetry::General);
            let coo = ones(mask)?;
            Ok(FileMatrix { name, coo, pattern_only, field, symmetry, stored_entries })
        }
    }
}

/// Name and kind that a file's name says, and its text.
fn text_of<'n, 'a>(
    file_name: &'n str,
    input: impl Read + 'a,
) -> Result<(&'n str, FileKind, PlainInput<'a>), FileError> {
    let (name, kind, claims_gzip) = classify(file_name).ok_or(FileError::UnknownExtension)?;
    let content = plain(input)?;
    if claims_gzip && !content.was_gzip {
        return Err(FileError::NotGzip);
    }
    Ok((name, kind, content))
}

/// The mask as triples with value 1.0.
fn ones(mask: Csr<()>) -> Result<Coo<f64>, FileError> {
    let CsrParts { rows, cols, row_ptr, col_idx, .. } = mask.into_parts();
    let mut row_idx = Vec::with_capacity(col_idx.len());
    for (row, span) in row_ptr.windows(2).enumerate() {
        row_idx.extend((span[0]..span[1]).map(|_| row as u32));
    }
    let values = vec![1.0; col_idx.len()];
    let parts = CooParts { rows, cols, row_idx, col_idx, values };
    Coo::try_new(parts).map_err(|source| FileError::Encoding { line: 3, source })
}

/// What a folder holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Files whose names say that they can be read, sorted.
    pub matrices: Vec<PathBuf>,
    /// All other files, pipes and links to folders, sorted: skipped, and to be printed as such.
    pub skipped: Vec<PathBuf>,
}

/// Lists `folder` and everything below it. Links to folders are not followed, so that a loop of links ends.
///
/// # Errors
/// [`FileError::InFile`] around [`FileError::Open`] for a folder that cannot be listed.
pub fn list_dir(folder: &Path) -> Result<Listing, FileError> {
    let mut listing = Listing::default();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        let failed = |e: std::io::Error| FileError::open(&e).in_file(&folder);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                pending.push(path);
            } else if path.is_file() && is_matrix_name(&file_name(&path)) {
                listing.matrices.push(path);
            } else {
                listing.skipped.push(path);
            }
        }
    }
    listing.matrices.sort();
    listing.skipped.sort();
    Ok(listing)
}
