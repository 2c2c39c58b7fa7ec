//! The entries: positions, values, symmetry expansion.
//!
//! ```text
//! stored (i, j, v)    general    symmetric, hermitian      skew-symmetric
//! i = j               (i,j,v)    (i,j,v)                   (i,i,0), anything else refused
//! i != j              (i,j,v)    (i,j,v) then (j,i,v)      (i,j,v) then (j,i,-v)
//! ```

use super::{Field, Header, Storage, Symmetry, value};
use crate::format::CooParts;
use crate::source::file_error::{FileError, shown};
use crate::source::input::{Limits, Lines, Token};
use std::io::BufRead;

/// Entries reserved on the word of a header; beyond it, memory grows with what is there.
const TRUSTED_ENTRIES: usize = 1 << 12;

/// Reads all entries and then insists on the end of the file.
pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    header: &Header,
    limits: Limits,
) -> Result<CooParts<f64>, FileError> {
    if header.stored_entries > limits.entries {
        let (line, limit) = (lines.number(), limits.entries);
        return Err(FileError::EntryLimit { line, limit });
    }
    let mut body = Triples::new(header, limits);
    match header.storage {
        Storage::Coordinate => read_coordinate(lines, &mut body)?,
        Storage::Array => read_array(lines, &mut body)?,
    }
    if lines.advance_to_content()? {
        return Err(FileError::TooMany {
            line: lines.number(),
            what: "entries",
            promised: u64::from(header.stored_entries),
        });
    }
    Ok(body.parts)
}

fn read_coordinate<R: BufRead>(lines: &mut Lines<R>, body: &mut Triples<'_>) -> Result<(), FileError> {
    let (rows, cols) = (u64::from(body.header.rows), u64::from(body.header.cols));
    for found in 0..body.header.stored_entries {
        next_line(lines, body.header, found)?;
        let mut words = lines.tokens();
        let row = words.expect("row index")?.index("row index", 1, rows)?;
        let col = words.expect("column index")?.index("column index", 1, cols)?;
        // Both are at most u32::MAX, as rows and cols are.
        let position = (row as u32 - 1, col as u32 - 1);
        if body.header.field == Field::Pattern {
            words.finish("the column index of a pattern")?;
            body.push(lines.number(), position, 1.0, None)?;
        } else {
            let token = words.expect("value")?;
            words.finish("the value")?;
            let value = value::parse(body.header.field, token)?;
            body.push(lines.number(), position, value, Some(token))?;
        }
    }
    Ok(())
}

fn read_array<R: BufRead>(lines: &mut Lines<R>, body: &mut Triples<'_>) -> Result<(), FileError> {
    let mut found = 0;
    // Columns without a row are not gone through: there may be 2^32 - 1 of them.
    let cols = if body.header.stored_entries == 0 { 0 } else { body.header.cols };
    for col in 0..cols {
        let first = match body.header.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric | Symmetry::Hermitian => col,
            Symmetry::SkewSymmetric => col + 1,
        };
        for row in first..body.header.rows {
            next_line(lines, body.header, found)?;
            let mut words = lines.tokens();
            let token = words.expect("value")?;
            words.finish("the value")?;
            let value = value::parse(body.header.field, token)?;
            body.push(lines.number(), (row, col), value, Some(token))?;
            found += 1;
        }
    }
    Ok(())
}

/// Goes to the line of entry number `found`.
fn next_line<R: BufRead>(lines: &mut Lines<R>, header: &Header, found: u32) -> Result<(), FileError> {
    if lines.advance_to_content()? {
        return Ok(());
    }
    Err(FileError::TooFew {
        line: lines.number(),
        what: "entries",
        promised: u64::from(header.stored_entries),
        found: u64::from(found),
    })
}

/// The triples so far.
struct Triples<'a> {
    header: &'a Header,
    limit: u32,
    parts: CooParts<f64>,
}

impl<'a> Triples<'a> {
    fn new(header: &'a Header, limits: Limits) -> Self {
        let room = TRUSTED_ENTRIES.min(header.stored_entries as usize);
        Triples {
            header,
            limit: limits.entries,
            parts: CooParts {
                rows: header.rows as usize,
                cols: header.cols as usize,
                row_idx: Vec::with_capacity(room),
                col_idx: Vec::with_capacity(room),
                values: Vec::with_capacity(room),
            },
        }
    }

    /// Adds a stored entry and its mirror image.
    fn push(
        &mut self,
        line: u64,
        (row, col): (u32, u32),
        value: f64,
        token: Option<Token<'_>>,
    ) -> Result<(), FileError> {
        let symmetry = self.header.symmetry;
        // NaN is not zero either.
        if symmetry == Symmetry::SkewSymmetric && row == col && value != 0.0 {
            return Err(FileError::SkewDiagonal {
                line,
                index: u64::from(row) + 1,
                token: token.map_or_else(String::new, |t| shown(t.bytes)),
            });
        }
        self.push_one(line, row, col, value)?;
        match symmetry {
            Symmetry::Symmetric | Symmetry::Hermitian if row != col => self.push_one(line, col, row, value),
            Symmetry::SkewSymmetric if row != col => self.push_one(line, col, row, self.negated(value)),
            _ => Ok(()),
        }
    }

    /// The value of the opposite sign; NaN stays canonical, an integer zero stays +0.0.
    fn negated(&self, value: f64) -> f64 {
        let unsigned_zero = value == 0.0 && self.header.field != Field::Real;
        if value.is_nan() || unsigned_zero { value } else { -value }
    }

    fn push_one(&mut self, line: u64, row: u32, col: u32, value: f64) -> Result<(), FileError> {
        if self.parts.values.len() >= self.limit as usize {
            let limit = self.limit;
            return Err(FileError::EntryLimit { line, limit });
        }
        self.parts.row_idx.push(row);
        self.parts.col_idx.push(col);
        self.parts.values.push(value);
        Ok(())
    }
}
