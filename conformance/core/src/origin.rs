//! Where a case's matrix comes from: a generator's one-line specification, the embedded pack, or a file.

use crate::memory::{MemoryBudget, NoRoom};
use sparse_oracle::format::{Coo, CooCodec, CooParts, Csr, FormatKind, FormatParams, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::generator::{DEFAULT_LIMIT, SourceSpec};
use sparse_oracle::source::matrix_market::Limits;
use sparse_oracle::source::{embedded, file};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A matrix by name. Prints as `rmat:scale=8,seed=7`, `embedded:karate` or `file:[../m/x.mtx]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// A seeded generator (also `synth:`).
    Spec(SourceSpec),
    /// A small real matrix compiled into the program.
    Embedded(String),
    /// A file, by path as given.
    File(PathBuf),
}

/// A matrix that could not be named or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// The generator's specification is wrong.
    #[error("source {text:?}: {reason}")]
    Spec {
        /// The specification.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file, or embedded matrix, can't be read; the reason names it.
    #[error(transparent)]
    File(#[from] FileError),
    /// It would take more memory than there is for it.
    #[error("{origin}: {source}")]
    Memory {
        /// The matrix.
        origin: String,
        /// What it needs, and what there is.
        source: NoRoom,
    },
}

/// Bytes that an entry takes while its matrix is read and brought into order.
const ENTRY: u128 = 64;

/// Bytes that a row or column takes, even an empty one.
const LINE: u128 = 32;

/// A matrix and the values it came with, if any.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Positions and values; 1.0 everywhere when the source has none.
    pub coo: Coo<f64>,
    /// False for generators, masks and pattern files.
    pub has_values: bool,
    offsets: OnceLock<Option<Csr<u32>>>,
    slots: Arc<Mutex<Vec<(Encoded, u128)>>>,
}

/// A format with its parameters.
type Encoded = (FormatKind, FormatParams);

impl Loaded {
    /// A matrix, and whether its values are its own.
    #[must_use]
    pub fn new(coo: Coo<f64>, has_values: bool) -> Loaded {
        Loaded { coo, has_values, offsets: OnceLock::new(), slots: Arc::default() }
    }

    /// Where each position is stored, row by row, worked out once for all cases on the matrix; `None` where a position is repeated.
    pub(crate) fn offsets(&self) -> Option<&Csr<u32>> {
        self.offsets.get_or_init(|| self.coo.offsets()).as_ref()
    }

    /// How many slots a format stores for the matrix at most, worked out once for all cases on it: the entries are sorted for that.
    pub(crate) fn most_slots(&self, format: FormatKind, params: &FormatParams) -> u128 {
        let known = || self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            known().iter().find(|(encoded, _)| *encoded == (format, *params)).map(|&(_, slots)| slots);
        found.unwrap_or_else(|| {
            let slots = Sparse::most_slots(format, params, &self.coo.entries());
            known().push(((format, *params), slots));
            slots
        })
    }
}

impl Origin {
    /// The family in the report: the generator's name, `embedded` or `file`.
    #[must_use]
    pub fn family(&self) -> String {
        match self {
            Origin::Spec(spec) => spec.family().name().to_owned(),
            Origin::Embedded(_) => "embedded".to_owned(),
            Origin::File(_) => "file".to_owned(),
        }
    }

    /// Bytes that the matrix takes at most about: as the first lines of its file promise, or the parameters of its generator.
    ///
    /// # Errors
    /// What the generator or the file reader says.
    pub fn need(&self) -> Result<u128, OriginError> {
        let bytes = |rows: u64, cols: u64, entries: u128| {
            let lines = u128::from(rows) + u128::from(cols);
            lines.saturating_mul(LINE).saturating_add(entries.saturating_mul(ENTRY))
        };
        match self {
            // The largest is in this program.
            Origin::Embedded(_) => Ok(0),
            Origin::File(path) => {
                let promise = file::promise(path)?;
                Ok(bytes(promise.rows.into(), promise.cols.into(), promise.entries.into()))
            }
            Origin::Spec(spec) => {
                let error = |e: &dyn fmt::Display| OriginError::Spec {
                    text: spec.to_string(),
                    reason: e.to_string(),
                };
                let shape = spec.shape().map_err(|e| error(&e))?;
                let elements =
                    shape.nnz_at_most.saturating_add(shape.scratch).saturating_add(shape.rows.into());
                // Nobody generates what is larger, whatever memory there is; its own refusal says so.
                let is_made = elements < u128::from(DEFAULT_LIMIT);
                let scratch = shape.scratch.saturating_mul(4);
                Ok(if is_made {
                    bytes(shape.rows, shape.cols, shape.nnz_at_most).saturating_add(scratch)
                } else {
                    0
                })
            }
        }
    }

    /// Makes the matrix, if this process has the memory.
    ///
    /// # Errors
    /// What the generator or the file reader says; [`OriginError::Memory`] before anything is allocated.
    pub fn load(&self) -> Result<Loaded, OriginError> {
        self.load_within(MemoryBudget::process())
    }

    /// Makes the matrix within a budget.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_within(&self, budget: &MemoryBudget) -> Result<Loaded, OriginError> {
        let need = self.need()?;
        let room = budget.check(need);
        let room = room.map_err(|source| OriginError::Memory { origin: self.to_string(), source })?;
        let loaded = |m: file::FileMatrix| Loaded::new(m.coo, !m.pattern_only);
        match self {
            Origin::Embedded(name) => Ok(loaded(embedded::read(name)?)),
            Origin::File(path) => {
                // Another file may have taken the place of the one that promised.
                let entries = u32::try_from(room.div_ceil(LINE as u64)).unwrap_or(u32::MAX);
                Ok(loaded(file::read_path_within(path, Limits { entries, ..Limits::default() })?))
            }
            Origin::Spec(spec) => {
                let error = |reason: String| OriginError::Spec { text: spec.to_string(), reason };
                let pattern = spec.generate().map_err(|e| error(e.to_string()))?.into_parts();
                let rows = (0..pattern.rows as u32)
                    .flat_map(|i| {
                        let i = i as usize;
                        std::iter::repeat_n(i as u32, (pattern.row_ptr[i + 1] - pattern.row_ptr[i]) as usize)
                    })
                    .collect();
                let parts = CooParts {
                    rows: pattern.rows,
                    cols: pattern.cols,
                    row_idx: rows,
                    values: vec![1.0; pattern.col_idx.len()],
                    col_idx: pattern.col_idx,
                };
                let coo = Coo::try_new(parts).map_err(|e| error(e.to_string()))?;
                Ok(Loaded::new(coo, false))
            }
        }
    }
}

/// A path as text in one line that says every byte of it: what is no UTF-8 or a control character is `\x0a`, and `\` is `\\`.
fn written(path: &Path) -> String {
    let mut text = String::new();
    let coded = |bytes: &[u8]| bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => text.push_str(&coded(c.encode_utf8(&mut [0; 4]).as_bytes())),
                c => text.push(c),
            }
        }
        text.push_str(&coded(chunk.invalid()));
    }
    text
}

/// The path that such a text names; a `\` that begins nothing stands for itself.
fn read(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.strip_prefix(b"x").and_then(|digits| digits.get(..2));
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let (byte, after) = match (first, after) {
            (b'\\', [b'\\', after @ ..]) => (b'\\', after),
            (b'\\', [_, _, _, after @ ..]) if code.is_some() => (code.unwrap_or(first), after),
            _ => (first, after),
        };
        bytes.push(byte);
        rest = after;
    }
    PathBuf::from(OsString::from_vec(bytes))
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Spec(spec) => write!(f, "{spec}"),
            Origin::Embedded(name) => write!(f, "embedded:{name}"),
            Origin::File(path) => write!(f, "file:[{}]", written(path)),
        }
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Origin, OriginError> {
        if let Some(name) = text.strip_prefix("embedded:") {
            return Ok(Origin::Embedded(name.to_owned()));
        }
        if let Some(path) = text.strip_prefix("file:[").and_then(|rest| rest.strip_suffix(']')) {
            return Ok(Origin::File(read(path)));
        }
        let error = |reason: String| OriginError::Spec { text: text.to_owned(), reason };
        if let Some(path) = text.strip_prefix("file:") {
            return Err(error(format!("the path of a file stands in brackets: file:[{path}]")));
        }
        text.parse::<SourceSpec>().map(Origin::Spec).map_err(|e| error(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: a few bytes of a header, or of a line, promised all of a machine's memory, and it was taken.
    #[test]
    fn what_no_budget_has_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let budget = MemoryBudget::new(1 << 20);
        let load = |origin: Origin| origin.load_within(&budget);
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            Origin::File(path)
        };
        let head = "%%MatrixMarket matrix coordinate pattern";
        for (name, text) in [
            ("rows.mtx", format!("{head} general\n4000000000 2 1\n7 1\n")),
            ("columns.mtx", format!("{head} general\n2 40000 1\n1 7\n")),
            ("entries.mtx", format!("{head} general\n1 1 20000\n")),
            // Each entry stands for two: 10,000 of them would fit.
            ("mirrored.mtx", format!("{head} symmetric\n2 2 10000\n")),
            ("mask.smtx", "40000, 3, 0\n".to_owned()),
        ] {
            let error = load(file(name, &text)).expect_err(name);
            let OriginError::Memory { origin, source: NoRoom::Limit { limit, .. } } = &error else {
                panic!("{name}: {error}");
            };
            assert!(origin.contains(name) && *limit == 1 << 20, "{error}");
        }
        let spec = "dense:rows=200,cols=200,seed=1".parse().expect("a line");
        assert!(matches!(load(spec), Err(OriginError::Memory { .. })));
        let small = load(file("small.mtx", &format!("{head} symmetric\n2 2 2\n1 1\n2 1\n"))).expect("small");
        assert_eq!(small.coo.nnz(), 3);
    }

    /// Story: the line of a matrix file with a newline or broken UTF-8 in its name named no file, and could not be replayed.
    #[test]
    fn every_path_survives_its_line() {
        for name in [
            &b"a/plain.mtx"[..],
            b"two\nlines.mtx",
            b"\xff\xfe.mtx",
            b"back\\x41slash",
            b"\x1b[31m",
            "\u{85}é".as_bytes(),
        ] {
            let origin = Origin::File(PathBuf::from(OsString::from_vec(name.to_vec())));
            let line = origin.to_string();
            assert!(!line.contains(char::is_control), "{line:?}");
            assert_eq!(line.parse::<Origin>().expect("a path"), origin, "{line}");
        }
        let plain = Origin::File(PathBuf::from("../m/x y.mtx"));
        assert_eq!(plain.to_string(), "file:[../m/x y.mtx]");
        // As an earlier version wrote it.
        assert_eq!("file:[a\\b\\]".parse::<Origin>().expect("a path"), Origin::File(PathBuf::from("a\\b\\")));
    }
}
