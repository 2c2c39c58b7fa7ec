//! Why a matrix file is refused: one variant per defect, with the place and the fix.
//!
//! Lines and columns are 1-based; a column counts bytes. Tokens are shown escaped and cut to 48 characters,
//! so that junk in a file can never garble a terminal or fill a log.

use super::matrix_market::{Field, Storage, Symmetry};
use crate::refusal::Refusal;
use std::io;
use std::path::PathBuf;

/// Why a file (or a stream) is not a readable matrix. Messages are lowercase fragments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A defect of the file at this path; [`FileError::root`] is the defect itself.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<FileError>,
    },
    /// The operating system does not open the file or folder.
    #[error("cannot open: {message}; check that it exists and is readable")]
    Open {
        /// Kind of the error.
        kind: io::ErrorKind,
        /// The system's own words.
        message: String,
    },
    /// The path is a folder, a pipe or a device.
    #[error("not a regular file; give the path of a matrix file, or list the folder")]
    NotAFile,
    /// The name does not say which format to read.
    #[error("unknown file name ending; expected .mtx, .mtx.gz, .smtx or .smtx.gz")]
    UnknownExtension,
    /// The name ends in `.gz` but the content does not start with the gzip magic bytes.
    #[error("named .gz but not gzip data; rename it or compress it")]
    NotGzip,
    /// This build does not decompress.
    #[error(
        "gzip data, which this build does not read; decompress it (gunzip), or enable the feature gzip of sparse-oracle"
    )]
    Gzip,
    /// Reading or decompressing failed part-way.
    #[error("line {line}: reading failed: {message}; the file is cut short or corrupt")]
    Read {
        /// Line that was being read.
        line: u64,
        /// Kind of the error.
        kind: io::ErrorKind,
        /// The system's or the decompressor's own words.
        message: String,
    },
    /// There is not a single byte.
    #[error("the file is empty; expected a header line")]
    Empty,
    /// A line is longer than the limit: binary data, or not this format at all.
    #[error("line {line} is longer than {limit} bytes; is this a text file?")]
    LineTooLong {
        /// Line number.
        line: u64,
        /// Longest legal line, in bytes.
        limit: usize,
    },
    /// Blank space and comments exceed the limit.
    #[error("line {line}: more than {limit} bytes of comments and blanks; strip the file or raise the limit")]
    TooMuchFiller {
        /// Line that crossed the limit.
        line: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// Line 1 is no Matrix Market banner.
    #[error(
        "line 1 starts with `{found}`, expected `%%MatrixMarket matrix coordinate real general` or alike"
    )]
    NoBanner {
        /// First word found.
        found: String,
    },
    /// A word of the banner is missing or unknown.
    #[error("line {line}, column {column}: {element} is `{found}`, expected {expected}")]
    BadWord {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// Which word: object, format, field or symmetry.
        element: &'static str,
        /// The word found; empty when the banner ends before it.
        found: String,
        /// Legal words.
        expected: &'static str,
    },
    /// Complex matrices are legal Matrix Market, but no contract of this suite is complex.
    #[error("line {line}: field `{field}` is not supported; export the real or the imaginary part as `real`")]
    UnsupportedField {
        /// Line number.
        line: u64,
        /// The field word.
        field: String,
    },
    /// Legal words that do not go together.
    #[error("line {line}: `{} {} {}` is not a legal combination: {reason}", storage.name(), field.name(), symmetry.name())]
    IllegalCombination {
        /// Line number.
        line: u64,
        /// Format word.
        storage: Storage,
        /// Field word.
        field: Field,
        /// Symmetry word.
        symmetry: Symmetry,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// The file ends before the line that states the size.
    #[error("line {line}: the file ends before the size line; it is cut short")]
    NoSizeLine {
        /// Last line read.
        line: u64,
    },
    /// A symmetric, skew-symmetric or hermitian matrix must be square.
    #[error("line {line}: {} matrix of {rows} x {cols}, must be square; declare it general", symmetry.name())]
    NotSquare {
        /// Line number.
        line: u64,
        /// Symmetry word.
        symmetry: Symmetry,
        /// Rows stated.
        rows: u32,
        /// Columns stated.
        cols: u32,
    },
    /// A line ends too early.
    #[error("line {line}, column {column}: {what} is missing; the line is cut short")]
    MissingToken {
        /// Line number.
        line: u64,
        /// Column number where the line ends.
        column: u64,
        /// What should stand there.
        what: &'static str,
    },
    /// A line goes on too long.
    #[error(
        "line {line}, column {column}: unexpected `{token}` after {after}; one item per line, nothing behind it"
    )]
    TrailingToken {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// First token too many.
        token: String,
        /// What the line should end with.
        after: &'static str,
    },
    /// A token is not a number of the declared kind.
    #[error("line {line}, column {column}: {what} is `{token}`, expected {expected}")]
    BadNumber {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// What the token stands for.
        what: &'static str,
        /// The token.
        token: String,
        /// What a legal token looks like.
        expected: &'static str,
    },
    /// A dimension or count past the u32 of every format here.
    #[error(
        "line {line}, column {column}: {what} is {token}, the limit is {limit}; cut the matrix into parts"
    )]
    TooLarge {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// Which dimension or count.
        what: &'static str,
        /// The number, as written.
        token: String,
        /// Largest legal value.
        limit: u64,
    },
    /// A row or column index outside `first..=last`.
    #[error("line {line}, column {column}: {what} is {token}, must be in {first}..={last}")]
    IndexOutOfRange {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// "row index", "column index", or the array of a mask.
        what: &'static str,
        /// The index, as written.
        token: String,
        /// Smallest legal index.
        first: u64,
        /// Largest legal index (below `first` when none is legal).
        last: u64,
    },
    /// An integer value outside -2^63 ..= 2^64 - 1.
    #[error("line {line}, column {column}: integer {token} exceeds 64 bits; declare the field real")]
    IntegerOverflow {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// The number, as written.
        token: String,
    },
    /// A finite decimal that rounds to infinity in f64.
    #[error(
        "line {line}, column {column}: {token} exceeds the range of f64; write `inf` if infinity is meant"
    )]
    RealOverflow {
        /// Line number.
        line: u64,
        /// Column number.
        column: u64,
        /// The number, as written.
        token: String,
    },
    /// A skew-symmetric matrix with something other than zero on its diagonal.
    #[error(
        "line {line}: diagonal entry ({index}, {index}) of a skew-symmetric matrix is {token}, must be 0"
    )]
    SkewDiagonal {
        /// Line number.
        line: u64,
        /// Row and column, 1-based.
        index: u64,
        /// The value, as written.
        token: String,
    },
    /// The file ends before everything promised was there.
    #[error(
        "line {line}: {found} {what} found, {promised} promised; the file is cut short or its header is wrong"
    )]
    TooFew {
        /// Last line read.
        line: u64,
        /// Entries, row offsets or column indices.
        what: &'static str,
        /// Number that the header promises.
        promised: u64,
        /// Number present.
        found: u64,
    },
    /// More than promised; reading stops at the first one too many.
    #[error("line {line}: more than the promised {promised} {what}; the header is wrong or files were glued")]
    TooMany {
        /// Line of the first one too many.
        line: u64,
        /// Entries, row offsets or column indices.
        what: &'static str,
        /// Number that the header promises.
        promised: u64,
    },
    /// More entries, after symmetry expansion, than the caller's limit (at most 2^32 - 1).
    #[error(
        "line {line}: more than {limit} entries after symmetry expansion; cut the matrix into parts or raise the limit"
    )]
    EntryLimit {
        /// Line that crossed the limit.
        line: u64,
        /// Largest legal number of entries.
        limit: u32,
    },
    /// The arrays of the file parse but are not a valid encoding.
    #[error("line {line}: not a valid encoding: {source}")]
    Encoding {
        /// Last line read.
        line: u64,
        /// The defect; its offsets and indices are 0-based.
        source: Refusal,
    },
    /// No embedded matrix has this name.
    #[error("no embedded matrix is called `{name}`; `conformance list embedded` names them")]
    UnknownName {
        /// The name asked for.
        name: String,
    },
}

impl FileError {
    /// The defect itself, without the path around it.
    #[must_use]
    pub fn root(&self) -> &FileError {
        match self {
            FileError::InFile { source, .. } => source.root(),
            other => other,
        }
    }

    /// The same error, saying which file it is about.
    #[must_use]
    pub(super) fn in_file(self, path: &std::path::Path) -> FileError {
        FileError::InFile { path: path.to_path_buf(), source: Box::new(self) }
    }

    /// A failure to open or list.
    pub(super) fn open(error: &io::Error) -> FileError {
        FileError::Open { kind: error.kind(), message: error.to_string() }
    }

    /// A failure while reading line `line`.
    pub(super) fn read(line: u64, error: &io::Error) -> FileError {
        FileError::Read { line, kind: error.kind(), message: error.to_string() }
    }
}

/// A token for a message: escaped, at most 48 characters.
pub(super) fn shown(token: &[u8]) -> String {
    const LIMIT: usize = 48;
    let mut text: String =
        token.iter().take(LIMIT + 1).flat_map(|b| b.escape_ascii()).map(char::from).collect();
    if text.len() > LIMIT {
        text.truncate(LIMIT - 3);
        text.push_str("...");
    }
    text
}
