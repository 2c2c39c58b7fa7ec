//! One value: real decimals through the standard library's correctly rounded parser, integers exactly.

use super::Field;
use crate::source::file_error::{FileError, shown};
use crate::source::input::{Decimal, Token, decimal};

/// The value that `token` stands for in a file of this field (not `Pattern`, which has no value tokens).
pub(super) fn parse(field: Field, token: Token<'_>) -> Result<f64, FileError> {
    match field {
        Field::Real => real(token),
        Field::Integer => integer(token, true),
        Field::UnsignedInteger => integer(token, false),
        Field::Pattern => Ok(1.0),
    }
}

fn real(token: Token<'_>) -> Result<f64, FileError> {
    let text = std::str::from_utf8(token.bytes).ok();
    let Some(value) = text.and_then(|t| t.parse::<f64>().ok()) else {
        return Err(token.bad_number("value", "a decimal number, `nan` or `inf`"));
    };
    if value.is_nan() {
        return Ok(f64::NAN);
    }
    // `inf` and `infinity` hold no digit; a token of digits that comes out infinite was too large.
    if value.is_infinite() && token.bytes.iter().any(u8::is_ascii_digit) {
        return Err(FileError::RealOverflow {
            line: token.line,
            column: token.column,
            token: shown(token.bytes),
        });
    }
    Ok(value)
}

fn integer(token: Token<'_>, signed: bool) -> Result<f64, FileError> {
    let (negative, digits) = match token.bytes {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let sound = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if !sound || (negative && !signed) {
        let expected = if signed { "a whole number" } else { "a whole number from 0" };
        return Err(token.bad_number("value", expected));
    }
    let most = if negative { 1 << 63 } else { u64::MAX };
    match decimal(digits) {
        // Conversion rounds to nearest, ties to even; a zero has no sign.
        Decimal::Value(0) => Ok(0.0),
        Decimal::Value(v) if v <= most => Ok(if negative { -(v as f64) } else { v as f64 }),
        _ => Err(FileError::IntegerOverflow {
            line: token.line,
            column: token.column,
            token: shown(token.bytes),
        }),
    }
}
