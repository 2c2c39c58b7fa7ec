//! Where a case's matrix comes from: a generator's one-line specification, the embedded pack, or a file.

use sparse_oracle::format::{Coo, CooCodec, CooParts, Csr};
use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::source::{embedded, file};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

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
}

/// A matrix and the values it came with, if any.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Positions and values; 1.0 everywhere when the source has none.
    pub coo: Coo<f64>,
    /// False for generators, masks and pattern files.
    pub has_values: bool,
    offsets: OnceLock<Option<Csr<u32>>>,
}

impl Loaded {
    /// A matrix, and whether its values are its own.
    #[must_use]
    pub fn new(coo: Coo<f64>, has_values: bool) -> Loaded {
        Loaded { coo, has_values, offsets: OnceLock::new() }
    }

    /// Where each position is stored, row by row, worked out once for all cases on the matrix; `None` where a position is repeated.
    pub(crate) fn offsets(&self) -> Option<&Csr<u32>> {
        self.offsets.get_or_init(|| self.coo.offsets()).as_ref()
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

    /// Makes the matrix.
    ///
    /// # Errors
    /// What the generator or the file reader says.
    pub fn load(&self) -> Result<Loaded, OriginError> {
        let loaded = |m: file::FileMatrix| Loaded::new(m.coo, !m.pattern_only);
        match self {
            Origin::Embedded(name) => Ok(loaded(embedded::read(name)?)),
            Origin::File(path) => Ok(loaded(file::read_path(path)?)),
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

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Spec(spec) => write!(f, "{spec}"),
            Origin::Embedded(name) => write!(f, "embedded:{name}"),
            Origin::File(path) => write!(f, "file:[{}]", path.display()),
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
            return Ok(Origin::File(PathBuf::from(path)));
        }
        let error = |reason: String| OriginError::Spec { text: text.to_owned(), reason };
        text.parse::<SourceSpec>().map(Origin::Spec).map_err(|e| error(e.to_string()))
    }
}
