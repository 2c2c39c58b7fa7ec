//! What can be wrong with a library, and with what it did.

use sparse_oracle::refusal::Refusal;
use std::path::{Path, PathBuf};

/// Why a library is no plug-in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum PluginError {
    #[error("{path}: {reason}", path = path.display())]
    NoFile { path: PathBuf, reason: String },
    #[error("{path} can't be loaded as a shared library: {reason}{repair}", path = path.display(), repair = compile_first(path))]
    Load { path: PathBuf, reason: String },
    #[error(
        "{path} does not export {symbol}; a plug-in exports sc_abi_version, sc_manifest and sc_run (sparse_conformance.h)",
        path = path.display()
    )]
    MissingSymbol { path: PathBuf, symbol: &'static str },
    #[error(
        "{path} was built against version {found} of sparse_conformance.h, this host speaks version {expected}; build it again",
        path = path.display()
    )]
    Version { path: PathBuf, found: u32, expected: u32 },
    #[error("{path}: sc_manifest returned NULL", path = path.display())]
    NullManifest { path: PathBuf },
    #[error("{path}: the manifest is longer than {limit} bytes, or does not end", path = path.display())]
    LongManifest { path: PathBuf, limit: usize },
    #[error("{path}: the manifest is not UTF-8 from byte {at}", path = path.display())]
    ManifestText { path: PathBuf, at: usize },
}

/// What makes a shared library of a file that is a program's text; nothing for other files.
fn compile_first(path: &Path) -> String {
    let by_c = |compiler: &str| {
        format!("{compiler} -shared -fPIC -I conformance/include {} -o kernel.so", path.display())
    };
    let command = match path.extension().and_then(|ending| ending.to_str()) {
        Some("c") => by_c("cc -O2 -ffp-contract=off"),
        Some("cpp" | "cc" | "cxx") => by_c("c++ -O2 -ffp-contract=off"),
        Some("cu") => {
            format!("nvcc -shared -Xcompiler -fPIC -I conformance/include {} -o kernel.so", path.display())
        }
        Some("rs") => format!("rustc -O --crate-type cdylib {} -o kernel.so", path.display()),
        _ => return String::new(),
    };
    format!("; it is source code: compile it first, `{command}`")
}

/// Why a run gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum RunError {
    /// In the plug-in's own words.
    #[error("{0}")]
    Refused(String),
    #[error("there is no contract {name:?}")]
    Contract { name: String },
    #[error("version 1 of sparse_conformance.h has no operation {op}")]
    Operation { op: &'static str },
    #[error("the host has no {bytes} bytes for the operands")]
    Memory { bytes: usize },
    #[error("sc_run returned {found}; it may return 0 (SC_OK) or 1 (SC_REFUSED)")]
    Status { found: i32 },
    #[error("sc_run wrote to its input {operand}, array {array}, element {at}")]
    Modified { operand: &'static str, array: &'static str, at: usize },
    #[error(
        "sc_run wrote outside {array} of {operand}: at byte {at} counted from its first; it has {len} bytes"
    )]
    OutOfBounds { operand: &'static str, array: &'static str, at: i64, len: usize },
    #[error(
        "sc_run wrote to the padding of C: element {at}, column or row {inner} of {used} within its line"
    )]
    Padding { at: usize, inner: usize, used: usize },
    #[error("sc_run left another floating-point environment than it found: {change}")]
    Environment { change: String },
    #[error("{call}: the name is {reason}")]
    Name { call: &'static str, reason: &'static str },
    #[error("{call}: {format} has no {what} {name:?}; it has {known}")]
    Unknown { call: &'static str, format: &'static str, what: &'static str, name: String, known: String },
    #[error("sc_new_array: {name} of {format} is of type {expected}, not of {found}")]
    Type { format: &'static str, name: &'static str, expected: String, found: String },
    #[error(
        "sc_new_array: {name} with {count} elements; all arrays of a result together may have {limit} bytes"
    )]
    TooLarge { name: &'static str, count: u64, limit: u64 },
    #[error("sc_new_array: {name} was asked for twice")]
    Twice { name: &'static str },
    #[error("sc_set_extent: {refusal}")]
    Extent { refusal: Refusal },
    #[error("{call}: the result is dense, and written in place")]
    Dense { call: &'static str },
}
