//! `.smtx`: the masks of the Deep Learning Matrix Collection, a CSR pattern without values.
//!
//! ```text
//! % any number of comments, only before the sizes
//! 3, 4, 3            rows, columns, nnz; commas or blanks between
//! 0 2 2 3            rows + 1 offsets, on one line
//! 1 3 0              nnz columns, 0-based, on one line
//! ```
//!
//! As strict as the Matrix Market reader: the exact number of offsets on the second line and of columns on the
//! third, then nothing but blanks; offsets from 0 to nnz without a decrease; columns strictly ascending in each row.
//! The two array lines are streamed, so they may be long; memory grows with what is there.

use super::file_error::{FileError, shown};
use super::input::{Limits, Lines, Token, Tokens, is_blank, plain};
use crate::format::{Csr, CsrParts};
use std::io::{self, BufRead, BufWriter, Read, Write};

/// Longest number in an array line, in bytes; u32 needs 10.
const NUMBER_BYTES: usize = 20;

/// Reads a whole `.smtx` stream, plain or gzip, with the default [`Limits`].
///
/// # Errors
/// The first defect found, with its line.
pub fn read_smtx(input: impl Read) -> Result<Csr<()>, FileError> {
    read_smtx_within(input, Limits::default())
}

/// Reads a whole `.smtx` stream, plain or gzip.
///
/// # Errors
/// The first defect found, with its line, or the limit that was crossed.
pub fn read_smtx_within(input: impl Read, limits: Limits) -> Result<Csr<()>, FileError> {
    read_text(plain(input)?.text, limits)
}

/// Reads text that is known not to be gzip.
pub(super) fn read_text(text: impl BufRead, limits: Limits) -> Result<Csr<()>, FileError> {
    let mut lines = Lines::new(text, limits);
    let [rows, cols, nnz] = read_sizes(&mut lines)?;
    let line = lines.number();
    if nnz.max(rows) > limits.entries {
        let limit = limits.entries;
        return Err(FileError::EntryLimit { line, limit });
    }
    let mut stream = Numbers::new(lines.into_inner(), line + 1, limits);
    let row_ptr = stream.line("row offsets", u64::from(rows) + 1, u64::from(nnz))?;
    let col_idx = stream.line("column indices", u64::from(nnz), u64::from(cols).saturating_sub(1))?;
    stream.finish(u64::from(nnz))?;
    let values = vec![(); col_idx.len()];
    let (rows, cols) = (rows as usize, cols as usize);
    let parts = CsrParts { rows, cols, row_ptr, col_idx, values };
    Csr::try_new(parts).map_err(|source| FileError::Encoding { line: line + 2, source })
}

/// Reads up to and including the size line: rows, columns, entries.
pub(super) fn read_sizes(lines: &mut Lines<impl BufRead>) -> Result<[u32; 3], FileError> {
    if !lines.advance_to_content()? {
        return Err(match lines.number() {
            0 => FileError::Empty,
            line => FileError::NoSizeLine { line },
        });
    }
    sizes(lines.tokens())
}

/// Writes the pattern of a matrix; values of any type are left out.
///
/// # Errors
/// Whatever `out` reports.
pub fn write_smtx<T>(matrix: &Csr<T>, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "{}, {}, {}", matrix.rows, matrix.cols, matrix.nnz())?;
    for array in [&matrix.row_ptr, &matrix.col_idx] {
        for (i, number) in array.iter().enumerate() {
            write!(out, "{}{number}", if i == 0 { "" } else { " " })?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// The size line: three counts, separated by blanks, or by commas with or without blanks.
fn sizes(mut words: Tokens<'_>) -> Result<[u32; 3], FileError> {
    const NAMES: [&str; 3] = ["number of rows", "number of columns", "number of entries"];
    let mut sizes = [0; 3];
    let mut rest: Option<Token<'_>> = None;
    for (i, what) in NAMES.into_iter().enumerate() {
        let token = match rest.take() {
            Some(token) => token,
            None => words.expect(what)?,
        };
        let (number, behind) = match token.bytes.iter().position(|&b| b == b',') {
            Some(at) if i < 2 => token.split_at(at),
            _ => (token, None),
        };
        sizes[i] = number.count(what)?;
        rest = behind;
    }
    words.finish("the number of entries")?;
    Ok(sizes)
}

impl<'a> Token<'a> {
    /// The part before the comma at `at`, and the part behind it unless that is empty.
    fn split_at(self, at: usize) -> (Token<'a>, Option<Token<'a>>) {
        let (before, behind) = (&self.bytes[..at], &self.bytes[at + 1..]);
        let column = self.column + at as u64 + 1;
        let behind = (!behind.is_empty()).then_some(Token { bytes: behind, column, ..self });
        (Token { bytes: before, ..self }, behind)
    }
}

/// The numbers of arbitrarily long lines, one at a time.
struct Numbers<R> {
    inner: R,
    line: u64,
    column: u64,
    blanks: u64,
    limits: Limits,
    /// Bytes of the last number.
    word: Vec<u8>,
}

/// What stands next in the stream.
enum Next {
    /// The column where a number starts; its bytes are in `word`.
    Word(u64),
    LineEnd,
    FileEnd,
}

impl<R: BufRead> Numbers<R> {
    fn new(inner: R, line: u64, limits: Limits) -> Self {
        Numbers { inner, line, column: 1, blanks: 0, limits, word: Vec::new() }
    }

    /// One line of exactly `promised` numbers, each at most `most`.
    fn line(&mut self, what: &'static str, promised: u64, most: u64) -> Result<Vec<u32>, FileError> {
        let mut list = Vec::new();
        let line = self.line;
        while let Next::Word(column) = self.next()? {
            if list.len() as u64 == promised {
                return Err(FileError::TooMany { line, what, promised });
            }
            let token = Token { line, column, bytes: &self.word };
            // `most` is below 2^32: it comes from a u32.
            list.push(token.index(what, 0, most)? as u32);
        }
        if (list.len() as u64) < promised {
            let found = list.len() as u64;
            return Err(FileError::TooFew { line, what, promised, found });
        }
        Ok(list)
    }

    /// Insists that only blanks follow.
    fn finish(&mut self, promised: u64) -> Result<(), FileError> {
        loop {
            match self.next()? {
                Next::FileEnd => return Ok(()),
                Next::LineEnd => {}
                Next::Word(..) => {
                    let (line, what) = (self.line, "column indices");
                    return Err(FileError::TooMany { line, what, promised });
                }
            }
        }
    }

    fn next(&mut self) -> Result<Next, FileError> {
        loop {
            match self.peek()? {
                None => return Ok(Next::FileEnd),
                Some(b'\n') => {
                    self.blank()?;
                    (self.line, self.column) = (self.line + 1, 1);
                    return Ok(Next::LineEnd);
                }
                Some(byte) if is_blank(byte) => self.blank()?,
                Some(_) => return self.word(),
            }
        }
    }

    fn word(&mut self) -> Result<Next, FileError> {
        let start = self.column;
        self.word.clear();
        while let Some(byte) = self.peek()?.filter(|&b| !is_blank(b)) {
            if self.word.len() == NUMBER_BYTES {
                return Err(FileError::BadNumber {
                    line: self.line,
                    column: start,
                    what: "array element",
                    token: shown(&self.word),
                    expected: "a whole number of at most 20 digits",
                });
            }
            self.word.push(byte);
            self.step();
        }
        self.blanks = self.blanks.saturating_sub(1);
        Ok(Next::Word(start))
    }

    fn peek(&mut self) -> Result<Option<u8>, FileError> {
        let line = self.line;
        let chunk = self.inner.fill_buf().map_err(|e| FileError::read(line, &e))?;
        Ok(chunk.first().copied())
    }

    fn step(&mut self) {
        self.inner.consume(1);
        self.column += 1;
    }

    /// Steps over a blank; one before each number is free, the rest counts as filler.
    fn blank(&mut self) -> Result<(), FileError> {
        self.blanks += 1;
        self.step();
        let limit = self.limits.filler_bytes;
        if self.blanks > limit {
            let line = self.line;
            return Err(FileError::TooMuchFiller { line, limit });
        }
        Ok(())
    }
}
