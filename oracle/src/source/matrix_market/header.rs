//! The banner and the size line.

use crate::source::file_error::{FileError, shown};
use crate::source::input::{Lines, Token, Tokens};
use std::io::BufRead;

/// How a Matrix Market file lists its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// One line per stored entry, with its position.
    Coordinate,
    /// Every value, column by column, without positions.
    Array,
}

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Decimal numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// Whole numbers from 0.
    UnsignedInteger,
    /// No values: positions only, each standing for 1.
    Pattern,
}

/// Which part of the matrix the file leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// Nothing is left out.
    General,
    /// (j, i) equals (i, j).
    Symmetric,
    /// (j, i) equals -(i, j); the diagonal is zero.
    SkewSymmetric,
    /// (j, i) is the complex conjugate of (i, j): for real values the same as symmetric.
    Hermitian,
}

impl Storage {
    /// The word in the banner.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Storage::Coordinate => "coordinate",
            Storage::Array => "array",
        }
    }
}

impl Field {
    /// The word in the banner.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Field::Real => "real",
            Field::Integer => "integer",
            Field::UnsignedInteger => "unsigned-integer",
            Field::Pattern => "pattern",
        }
    }
}

impl Symmetry {
    /// The word in the banner.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::SkewSymmetric => "skew-symmetric",
            Symmetry::Hermitian => "hermitian",
        }
    }
}

/// Everything before the first entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Coordinate or array.
    pub storage: Storage,
    /// What the values are.
    pub field: Field,
    /// What is left out.
    pub symmetry: Symmetry,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub cols: u32,
    /// Entries (or array values) in the file, before symmetry expansion.
    pub stored_entries: u32,
}

/// Reads up to and including the size line.
pub(super) fn read<R: BufRead>(lines: &mut Lines<R>) -> Result<Header, FileError> {
    if !lines.advance()? {
        return Err(FileError::Empty);
    }
    let (storage, field, symmetry) = banner(lines.tokens())?;
    if !lines.advance_to_content()? {
        return Err(FileError::NoSizeLine { line: lines.number() });
    }
    let mut words = lines.tokens();
    let rows = words.expect("number of rows")?.count("number of rows")?;
    let cols = words.expect("number of columns")?.count("number of columns")?;
    if symmetry != Symmetry::General && rows != cols {
        return Err(FileError::NotSquare { line: lines.number(), symmetry, rows, cols });
    }
    let stored_entries = match storage {
        Storage::Coordinate => {
            let stored = words.expect("number of entries")?.count("number of entries")?;
            words.finish("the number of entries")?;
            stored
        }
        Storage::Array => {
            words.finish("the number of columns")?;
            array_length(lines.number(), symmetry, rows, cols)?
        }
    };
    Ok(Header { storage, field, symmetry, rows, cols, stored_entries })
}

/// Values in an array file: all, or a triangle with or without its diagonal.
fn array_length(line: u64, symmetry: Symmetry, rows: u32, cols: u32) -> Result<u32, FileError> {
    let (m, n) = (u64::from(rows), u64::from(cols));
    let length = match symmetry {
        Symmetry::General => m * n,
        Symmetry::Symmetric | Symmetry::Hermitian => m * (m + 1) / 2,
        Symmetry::SkewSymmetric => m * m.saturating_sub(1) / 2,
    };
    u32::try_from(length).map_err(|_| FileError::TooLarge {
        line,
        column: 1,
        what: "number of array values",
        token: length.to_string(),
        limit: u64::from(u32::MAX),
    })
}

type Words = (Storage, Field, Symmetry);

/// `%%MatrixMarket matrix <format> <field> <symmetry>` and nothing else.
fn banner(mut words: Tokens<'_>) -> Result<Words, FileError> {
    let tag = words.next().map_or(&b""[..], |t| t.bytes);
    if !tag.eq_ignore_ascii_case(b"%%MatrixMarket") && !tag.eq_ignore_ascii_case(b"%MatrixMarket") {
        return Err(FileError::NoBanner { found: shown(tag) });
    }
    pick(&mut words, "object", "`matrix`", &[("matrix", ())])?;
    let storage = pick(
        &mut words,
        "format",
        "`coordinate` or `array`",
        &[("coordinate", Storage::Coordinate), ("array", Storage::Array)],
    )?;
    let (field_word, field) = pick_field(&mut words)?;
    let symmetry = pick(
        &mut words,
        "symmetry",
        "`general`, `symmetric`, `skew-symmetric` or `hermitian`",
        &[
            ("general", Symmetry::General),
            ("symmetric", Symmetry::Symmetric),
            ("skew-symmetric", Symmetry::SkewSymmetric),
            ("hermitian", Symmetry::Hermitian),
        ],
    )?;
    words.finish("the symmetry")?;
    let Some(field) = field else {
        return Err(FileError::UnsupportedField { line: field_word.line, field: shown(field_word.bytes) });
    };
    check_combination(field_word.line, storage, field, symmetry)?;
    Ok((storage, field, symmetry))
}

/// The field word; `None` for complex, which is refused only once the rest of the banner is known to be sound.
fn pick_field<'a>(words: &mut Tokens<'a>) -> Result<(Token<'a>, Option<Field>), FileError> {
    let mut ahead = words.clone();
    let field = pick(
        words,
        "field",
        "`real`, `integer`, `unsigned-integer` or `pattern`",
        &[
            ("real", Some(Field::Real)),
            ("double", Some(Field::Real)),
            ("integer", Some(Field::Integer)),
            ("unsigned-integer", Some(Field::UnsignedInteger)),
            ("pattern", Some(Field::Pattern)),
            ("complex", None),
        ],
    )?;
    Ok((ahead.expect("field")?, field))
}

/// The next word, looked up without regard to case.
fn pick<T: Copy>(
    words: &mut Tokens<'_>,
    element: &'static str,
    expected: &'static str,
    table: &[(&str, T)],
) -> Result<T, FileError> {
    let end = words.position();
    let word = words.next();
    let bytes = word.map_or(&b""[..], |t| t.bytes);
    let hit = table.iter().find(|(name, _)| bytes.eq_ignore_ascii_case(name.as_bytes()));
    hit.map(|&(_, value)| value).ok_or_else(|| {
        let (line, column) = word.map_or(end, |t| (t.line, t.column));
        FileError::BadWord { line, column, element, found: shown(bytes), expected }
    })
}

/// The combinations that have no meaning.
fn check_combination(line: u64, storage: Storage, field: Field, symmetry: Symmetry) -> Result<(), FileError> {
    let reason = match (storage, field, symmetry) {
        (Storage::Array, Field::Pattern, _) => "an array without values says nothing; use coordinate",
        (_, Field::Pattern, Symmetry::SkewSymmetric) => "a pattern has no signs; use symmetric",
        (_, Field::Pattern, Symmetry::Hermitian) => "a pattern has no conjugates; use symmetric",
        (_, Field::UnsignedInteger, Symmetry::SkewSymmetric) => {
            "unsigned values have no negatives; use integer"
        }
        _ => return Ok(()),
    };
    Err(FileError::IllegalCombination { line, storage, field, symmetry, reason })
}
