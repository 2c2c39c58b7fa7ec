//! What can go wrong with MKL.

use std::fmt::Display;
use std::path::PathBuf;

/// Why MKL can't be loaded, or did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MklError {
    /// No library was found.
    #[error(
        "no libmkl_rt found (tried {tried}); install the PyPI package `mkl` and give its library by --mkl PATH or MKL_RT"
    )]
    NotFound {
        /// Where it was looked for.
        tried: String,
    },
    /// The loader refused the library.
    #[error("{path} can't be loaded: {reason}", path = .path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The loader's words.
        reason: String,
    },
    /// The library lacks a function.
    #[error("{path} has no function {name}: is it libmkl_rt?", path = .path.display())]
    Symbol {
        /// The file.
        path: PathBuf,
        /// The function.
        name: &'static str,
    },
    /// A call returned another status than success.
    #[error("{call} returned {name} ({status})")]
    Status {
        /// The function.
        call: &'static str,
        /// Its status.
        status: i32,
        /// The status by name.
        name: &'static str,
    },
    /// Arrays or lengths that MKL must not see.
    #[error("{what}: expected {expected}, found {found}")]
    Argument {
        /// Which.
        what: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
}

impl MklError {
    pub(crate) fn argument(what: &'static str, expected: &dyn Display, found: &dyn Display) -> MklError {
        MklError::Argument { what, expected: expected.to_string(), found: found.to_string() }
    }
}
