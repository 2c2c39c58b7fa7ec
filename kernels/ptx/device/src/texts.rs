//! The PTX that is played: the committed one of every source, decoded at its first use, or another text in its place.

use sparse_kernels::cuda::source::Source;
use sparse_ptx::decode::{DecodeError, programs};
use sparse_ptx::program::Program;
use sparse_ptx::text::{TextError as SyntaxError, parse};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Why a text cannot be played.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// The committed PTX was made from another text than the source has now.
    #[error("{source_name}.ptx is older than its source; run ci/ptx.sh")]
    Stale {
        /// Stem of the file.
        source_name: &'static str,
    },
    /// It is no PTX.
    #[error("{source_name}.ptx: {reason}")]
    Syntax {
        /// Stem of the file.
        source_name: &'static str,
        /// Where, and what was expected.
        reason: SyntaxError,
    },
    /// It has an instruction that is not known, or an entry that is not right.
    #[error("{source_name}.ptx: {reason}")]
    Decode {
        /// Stem of the file.
        source_name: &'static str,
        /// Where, and what is wrong.
        reason: DecodeError,
    },
}

/// Entries of a source by their names.
pub(crate) type Entries = HashMap<String, Program>;

/// The texts of all sources. Clones share what is decoded.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    decoded: Arc<Mutex<HashMap<Source, Arc<Entries>>>>,
}

impl Texts {
    /// Those that are committed beside the kernels.
    #[must_use]
    pub fn committed() -> Texts {
        Texts::default()
    }

    /// With another text for a source, as a test of the checks plays a kernel with a fault.
    ///
    /// # Errors
    /// [`TextError`] where it is no PTX that can be played.
    pub fn replaced(self, source: Source, text: &str) -> Result<Texts, TextError> {
        let mut others = self.decoded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        others.insert(source, Arc::new(decode(source, text)?));
        Ok(Texts { decoded: Arc::new(Mutex::new(others)) })
    }

    /// The entries of a source.
    pub(crate) fn entries(&self, source: Source) -> Result<Arc<Entries>, TextError> {
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = decoded.get(&source) {
            return Ok(Arc::clone(entries));
        }
        let stale = TextError::Stale { source_name: source.row().name };
        let entries = Arc::new(decode(source, &source.precompiled().ok_or(stale)?)?);
        decoded.insert(source, Arc::clone(&entries));
        Ok(entries)
    }
}

fn decode(source: Source, text: &str) -> Result<Entries, TextError> {
    let source_name = source.row().name;
    let module = parse(text).map_err(|reason| TextError::Syntax { source_name, reason })?;
    let all = programs(&module).map_err(|reason| TextError::Decode { source_name, reason })?;
    Ok(all.into_iter().map(|program| (program.name.clone(), program)).collect())
}
