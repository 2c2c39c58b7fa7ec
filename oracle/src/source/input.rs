//! Bytes in, lines and tokens out, in bounded memory.
//!
//! ```text
//! reader -> gzip? (magic 1f 8b) -> Lines: one line at a time, comments and blanks counted -> Tokens: words of a line
//! ```
//!
//! Nothing here trusts a header: a line, and the sum of all comments and blanks, have a limit, so neither junk
//! without line ends nor a gzip bomb of blank lines can exhaust memory or run for ever.

use super::file_error::{FileError, shown};
#[cfg(feature = "gzip")]
use flate2::bufread::MultiGzDecoder;
use std::io::{BufRead, BufReader, Cursor, Read};

/// What a line with content may have in bytes before the rest of it counts as filler: three numbers of any usual length.
const PLAIN_LINE: usize = 256;

/// How much a reader may take before it refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest line, in bytes, its end included. `.smtx` array lines are streamed and exempt.
    pub line_bytes: usize,
    /// All comment lines and blanks together, in bytes, and what lines with content have beyond 256 bytes.
    pub filler_bytes: u64,
    /// Entries after symmetry expansion (of a `.smtx`, rows as well). An entry takes 16 bytes of memory.
    pub entries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { line_bytes: 64 << 10, filler_bytes: 64 << 20, entries: u32::MAX }
    }
}

/// Input that is decompressed if need be.
pub(super) struct PlainInput<'a> {
    /// The text.
    pub(super) text: Box<dyn BufRead + 'a>,
    /// Whether it came out of gzip.
    pub(super) was_gzip: bool,
}

/// Looks at the first two bytes and decompresses gzip (all members of it).
///
/// # Errors
/// [`FileError::Read`] when the first bytes cannot be read; [`FileError::Gzip`] where nothing that decompresses was compiled in.
pub(super) fn plain<'a>(mut input: impl Read + 'a) -> Result<PlainInput<'a>, FileError> {
    let mut magic = Vec::with_capacity(2);
    let first = input.by_ref().take(2).read_to_end(&mut magic);
    first.map_err(|e| FileError::read(1, &e))?;
    let was_gzip = magic == [0x1f, 0x8b];
    let whole = BufReader::with_capacity(1 << 16, Cursor::new(magic).chain(input));
    let text: Box<dyn BufRead + 'a> = if was_gzip { decompressed(whole)? } else { Box::new(whole) };
    Ok(PlainInput { text, was_gzip })
}

#[cfg(feature = "gzip")]
fn decompressed<'a>(whole: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, FileError> {
    Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole))))
}

#[cfg(not(feature = "gzip"))]
fn decompressed<'a>(_: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, FileError> {
    Err(FileError::Gzip)
}

/// One line at a time.
pub(super) struct Lines<R> {
    inner: R,
    line: Vec<u8>,
    number: u64,
    filler: u64,
    limits: Limits,
}

impl<R: BufRead> Lines<R> {
    /// Starts before line 1.
    pub(super) fn new(inner: R, limits: Limits) -> Self {
        Lines { inner, line: Vec::new(), number: 0, filler: 0, limits }
    }

    /// Number of the current line, 1-based; 0 before the first.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The words of the current line.
    pub(super) fn tokens(&self) -> Tokens<'_> {
        Tokens::new(self.number, &self.line)
    }

    /// The rest of the input, from the line after the current one.
    pub(super) fn into_inner(self) -> R {
        self.inner
    }

    /// Goes to the next line; false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, FileError> {
        self.line.clear();
        let limit = self.limits.line_bytes;
        let mut window = self.inner.by_ref().take(limit as u64 + 1);
        let read = window.read_until(b'\n', &mut self.line);
        let length = read.map_err(|e| FileError::read(self.number + 1, &e))?;
        if length == 0 {
            return Ok(false);
        }
        self.number += 1;
        if length > limit {
            return Err(FileError::LineTooLong { line: self.number, limit });
        }
        Ok(true)
    }

    /// Goes to the next line that is neither blank nor a `%` comment; false at the end of the input.
    pub(super) fn advance_to_content(&mut self) -> Result<bool, FileError> {
        while self.advance()? {
            match self.line.iter().find(|&&b| !is_blank(b)) {
                None | Some(b'%') => self.count_filler(self.line.len())?,
                Some(_) => {
                    self.count_filler(self.line.len().saturating_sub(PLAIN_LINE))?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn count_filler(&mut self, bytes: usize) -> Result<(), FileError> {
        self.filler += bytes as u64;
        if self.filler > self.limits.filler_bytes {
            return Err(FileError::TooMuchFiller { line: self.number, limit: self.limits.filler_bytes });
        }
        Ok(())
    }
}

/// Blank inside a line or at its end: space, tab, CR (of CRLF), LF.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) bytes: &'a [u8],
}

/// The words of one line.
#[derive(Clone)]
pub(super) struct Tokens<'a> {
    line: u64,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(line: u64, bytes: &'a [u8]) -> Self {
        Tokens { line, bytes, at: 0 }
    }

    /// Line and column where the search for the next word starts.
    pub(super) fn position(&self) -> (u64, u64) {
        (self.line, self.at as u64 + 1)
    }

    /// The next word, if the line has one.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        let rest = &self.bytes[self.at..];
        let start = self.at + rest.iter().position(|&b| !is_blank(b))?;
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&b| is_blank(b)).unwrap_or(rest.len());
        self.at = start + length;
        Some(Token { line: self.line, column: start as u64 + 1, bytes: &rest[..length] })
    }

    /// The next word, which must be there; `what` names it.
    pub(super) fn expect(&mut self, what: &'static str) -> Result<Token<'a>, FileError> {
        self.next().ok_or(FileError::MissingToken { line: self.line, column: self.at as u64 + 1, what })
    }

    /// Refuses any further word; `after` names what the line should have ended with.
    pub(super) fn finish(mut self, after: &'static str) -> Result<(), FileError> {
        match self.next() {
            None => Ok(()),
            Some(t) => {
                Err(FileError::TrailingToken { line: t.line, column: t.column, token: shown(t.bytes), after })
            }
        }
    }
}

/// What a string of decimal digits can turn out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimal {
    /// Fits.
    Value(u64),
    /// Digits only, but past u64.
    Huge,
    /// A minus sign, then digits only.
    Negative,
    /// Anything else.
    Junk,
}

/// Reads digits, no sign, no blanks. `-` before digits is told apart for the message.
pub(super) fn decimal(bytes: &[u8]) -> Decimal {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let mut value = Some(0u64);
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return Decimal::Junk;
        }
        value = value.and_then(|v| v.checked_mul(10)?.checked_add(u64::from(digit)));
    }
    match value {
        _ if digits.is_empty() => Decimal::Junk,
        _ if digits.len() < bytes.len() => Decimal::Negative,
        Some(v) => Decimal::Value(v),
        None => Decimal::Huge,
    }
}

impl Token<'_> {
    /// A dimension or count: 0 to 2^32 - 1.
    pub(super) fn count(self, what: &'static str) -> Result<u32, FileError> {
        let limit = u64::from(u32::MAX);
        match decimal(self.bytes) {
            Decimal::Value(v) if v <= limit => Ok(v as u32),
            Decimal::Value(_) | Decimal::Huge => Err(FileError::TooLarge {
                line: self.line,
                column: self.column,
                what,
                token: shown(self.bytes),
                limit,
            }),
            Decimal::Negative | Decimal::Junk => Err(self.bad_number(what, "a whole number from 0")),
        }
    }

    /// An index in `first..=last`, returned as written.
    pub(super) fn index(self, what: &'static str, first: u64, last: u64) -> Result<u64, FileError> {
        match decimal(self.bytes) {
            Decimal::Value(v) if (first..=last).contains(&v) => Ok(v),
            Decimal::Junk => Err(self.bad_number(what, "a whole number")),
            _ => Err(FileError::IndexOutOfRange {
                line: self.line,
                column: self.column,
                what,
                token: shown(self.bytes),
                first,
                last,
            }),
        }
    }

    /// The error for a token of the wrong kind.
    pub(super) fn bad_number(self, what: &'static str, expected: &'static str) -> FileError {
        FileError::BadNumber {
            line: self.line,
            column: self.column,
            what,
            token: shown(self.bytes),
            expected,
        }
    }
}
