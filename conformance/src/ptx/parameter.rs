//! A parameter of a launch: a number, or a buffer whose address is the parameter.

use serde::Deserialize;
use sparse_oracle::scalar::{Precision, Rounding, decode, encode};
use sparse_ptx::text::Type;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Value;

/// Bytes of all buffers of a launch at most. The record of who touched them last takes 4 to 16 times as much.
pub(super) const MOST_BYTES: u64 = 1 << 28;

/// As the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    /// What it is called in what is printed.
    name: Option<String>,
    /// A type of PTX; of a buffer, that of its elements.
    #[serde(rename = "type")]
    kind: String,
    /// A number, or several that lie one after another (a struct). Everything below makes it a buffer.
    value: Option<Value>,
    /// Elements.
    count: Option<u64>,
    /// What every element holds.
    fill: Option<Value>,
    /// What the first elements hold.
    values: Option<Vec<Value>>,
    /// Whose bytes they hold.
    file: Option<PathBuf>,
}

/// A parameter, checked.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// Its bytes.
    Bytes(Vec<u8>),
    /// A buffer.
    Buffer(Buffer),
}

/// An array in global memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What it is called.
    pub name: String,
    /// Of its elements.
    pub ty: Type,
    /// Elements.
    pub count: u64,
    /// What it holds before the launch; nobody has written what is missing.
    pub content: Option<Vec<u8>>,
}

/// What is wrong with a parameter.
#[derive(Debug, Error)]
pub enum ParameterFault {
    /// No type of numbers.
    #[error("'{0}' is no type of numbers; b8 to b64, u8 to u64, s8 to s64, f16, f32 and f64 are")]
    Type(String),
    /// Neither number nor buffer.
    #[error("it needs `value` (a number), or `count`, `values` or `file` (a buffer)")]
    Nothing,
    /// Number and buffer.
    #[error("`value` makes it a number, and `count`, `fill`, `values` and `file` a buffer; one of both")]
    Both,
    /// Several contents.
    #[error("`fill`, `values` and `file` each say what a buffer holds; one of them")]
    Contents,
    /// Does not fit.
    #[error("`{key}`: {value} is no {kind}; write {wanted}")]
    Number {
        /// Where it stands.
        key: &'static str,
        /// As written.
        value: String,
        /// The type.
        kind: String,
        /// What would be right.
        wanted: String,
    },
    /// Too many, or too few.
    #[error(
        "{given} bytes are given for {count} elements of {width} bytes, which take {}; {fits}",
        u128::from(*.count) * u128::from(*.width)
    )]
    Size {
        /// Bytes of content.
        given: u64,
        /// Elements.
        count: u64,
        /// Bytes of one.
        width: u64,
        /// What would be right.
        fits: String,
    },
    /// Too large.
    #[error("{bytes} bytes are more than the {left} that are left of {MOST_BYTES} for all buffers")]
    Large {
        /// Of the buffer.
        bytes: u128,
        /// Left by those before it.
        left: u64,
    },
    /// A file that can't be read.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
}

impl Parameter {
    /// What it is; files lie beside the description, and `left` bytes may be in buffers.
    pub(super) fn checked(
        &self,
        number: usize,
        folder: &Path,
        left: &mut u64,
    ) -> Result<Argument, ParameterFault> {
        let ty = Type::from_name(&self.kind).filter(|ty| (1..=8).contains(&ty.bytes()) && *ty != Type::F16x2);
        let ty = ty.ok_or_else(|| ParameterFault::Type(self.kind.clone()))?;
        let is_buffer =
            self.count.is_some() || self.fill.is_some() || self.values.is_some() || self.file.is_some();
        match &self.value {
            Some(_) if is_buffer => Err(ParameterFault::Both),
            Some(Value::Array(values)) => Ok(Argument::Bytes(self.encoded("value", ty, values)?)),
            Some(value) => Ok(Argument::Bytes(self.encoded("value", ty, std::slice::from_ref(value))?)),
            None => {
                let buffer = self.buffer(number, ty, folder, *left)?;
                *left = left.saturating_sub(buffer.bytes());
                Ok(Argument::Buffer(buffer))
            }
        }
    }

    fn buffer(&self, number: usize, ty: Type, folder: &Path, left: u64) -> Result<Buffer, ParameterFault> {
        let width = u64::from(ty.bytes());
        let content = match (&self.fill, &self.values, &self.file) {
            (None, None, None) => None,
            (None, Some(values), None) => Some(self.encoded("values", ty, values)?),
            (None, None, Some(file)) => Some(
                sparse_oracle::plain_file::read(&folder.join(file), left)
                    .map_err(|error| ParameterFault::File(file.display().to_string(), error))?,
            ),
            (Some(fill), None, None) => {
                let one = self.encoded("fill", ty, std::slice::from_ref(fill))?;
                Some(one.repeat(room(self.count.ok_or(ParameterFault::Nothing)?, width, left)? as usize))
            }
            _ => return Err(ParameterFault::Contents),
        };
        let given = content.as_ref().map(|content| content.len() as u64);
        let count = self.count.or(given.map(|given| given / width)).ok_or(ParameterFault::Nothing)?;
        let bytes = room(count, width, left)? * width;
        if let Some(given) = given
            && (given > bytes || !given.is_multiple_of(width))
        {
            return Err(ParameterFault::Size { given, count, width, fits: fits(given, width) });
        }
        let name = self.name.clone().unwrap_or_else(|| format!("parameter {number}"));
        Ok(Buffer { name, ty, count, content })
    }

    /// The type of a number; nothing for a buffer.
    pub(super) fn number(&self) -> Option<Type> {
        self.value.as_ref().and_then(|_| Type::from_name(&self.kind))
    }

    fn encoded(&self, key: &'static str, ty: Type, values: &[Value]) -> Result<Vec<u8>, ParameterFault> {
        let mut bytes = Vec::new();
        for value in values {
            let refused = || ParameterFault::Number {
                key,
                value: match value {
                    Value::Float(number) => format!("{number:?}"),
                    other => other.to_string(),
                },
                kind: self.kind.clone(),
                wanted: wanted(ty),
            };
            let bits = bits(ty, value).ok_or_else(refused)?;
            bytes.extend_from_slice(&bits.to_le_bytes()[..usize::from(ty.bytes())]);
        }
        Ok(bytes)
    }
}

/// The count, if so many elements are allowed.
fn room(count: u64, width: u64, left: u64) -> Result<u64, ParameterFault> {
    let bytes = u128::from(count) * u128::from(width);
    if bytes > u128::from(left) { Err(ParameterFault::Large { bytes, left }) } else { Ok(count) }
}

/// Which sizes would do for so many bytes.
fn fits(given: u64, width: u64) -> String {
    let (whole, rest) = (given / width, given % width);
    if rest == 0 {
        format!("write `count = {whole}` or more, or give less")
    } else {
        let (below, above) = (whole * width, (whole + 1) * width);
        format!(
            "they are no whole number of elements: give {below} or {above} bytes, and at most as many as `count` says"
        )
    }
}

/// What may stand for a number of a type.
fn wanted(ty: Type) -> String {
    match (ty, range(ty)) {
        (Type::F16, _) => "a number from -65504 to 65504, inf or nan".to_owned(),
        (Type::F32, _) => "a number from -3.4028235e38 to 3.4028235e38, inf or nan".to_owned(),
        (_, Some((least, most))) => format!("a whole number from {least} to {most}"),
        (_, None) => "a number".to_owned(),
    }
}

/// The least and the largest of a type of integers; of bits, signed ones count too.
fn range(ty: Type) -> Option<(i128, i128)> {
    let wide = u32::from(ty.bytes()) * 8;
    match ty {
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => Some((0, (1i128 << wide) - 1)),
        Type::S8 | Type::S16 | Type::S32 | Type::S64 => {
            Some((-(1i128 << (wide - 1)), (1i128 << (wide - 1)) - 1))
        }
        Type::B8 | Type::B16 | Type::B32 | Type::B64 => Some((-(1i128 << (wide - 1)), (1i128 << wide) - 1)),
        Type::Pred | Type::B128 | Type::F16 | Type::F16x2 | Type::F32 | Type::F64 => None,
    }
}

/// The bits of a number, in the low ones; `None` where the type does not have it.
fn bits(ty: Type, value: &Value) -> Option<u64> {
    let precision = match ty {
        Type::F16 => Some(Precision::F16),
        Type::F32 => Some(Precision::F32),
        Type::F64 => Some(Precision::F64),
        _ => None,
    };
    match (precision, value) {
        (Some(precision), &Value::Float(number)) => finite(number, precision),
        (Some(precision), &Value::Integer(number)) => finite(number as f64, precision),
        (None, &Value::Integer(number)) => {
            let (least, most) = range(ty)?;
            (least..=most).contains(&i128::from(number)).then_some(number as u64)
        }
        _ => None,
    }
}

/// The bits of a float; nothing where a finite number would become infinite.
fn finite(number: f64, precision: Precision) -> Option<u64> {
    let bits = encode(number, precision, Rounding::NearestEven);
    (!number.is_finite() || decode(bits, precision).is_finite()).then_some(bits)
}

impl Buffer {
    /// Bytes of an element.
    #[must_use]
    pub fn width(&self) -> usize {
        usize::from(self.ty.bytes())
    }

    /// Bytes of all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.count * u64::from(self.ty.bytes())
    }

    /// An element as people read it.
    #[must_use]
    pub fn shown(&self, element: &[u8]) -> String {
        let mut word = [0; 8];
        word.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
        let bits = u64::from_le_bytes(word);
        let unused = 64 - 8 * self.width().clamp(1, 8) as u32;
        match self.ty {
            Type::F16 => decode(bits, Precision::F16).to_string(),
            Type::F32 => f32::from_bits(bits as u32).to_string(),
            Type::F64 => f64::from_bits(bits).to_string(),
            Type::S8 | Type::S16 | Type::S32 | Type::S64 => (((bits << unused) as i64) >> unused).to_string(),
            Type::U8 | Type::U16 | Type::U32 | Type::U64 => bits.to_string(),
            _ => format!("{bits:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_their_type() {
        let cases = [
            (Type::U8, Value::Integer(255), Some(255)),
            (Type::U8, Value::Integer(256), None),
            (Type::U8, Value::Integer(-1), None),
            (Type::S8, Value::Integer(-128), Some(u64::MAX - 127)),
            (Type::S8, Value::Integer(128), None),
            (Type::B8, Value::Integer(-128), Some(u64::MAX - 127)),
            (Type::B8, Value::Integer(255), Some(255)),
            (Type::U64, Value::Integer(i64::MAX), Some(i64::MAX as u64)),
            (Type::S64, Value::Integer(i64::MIN), Some(1 << 63)),
            (Type::U32, Value::Float(1.0), None),
            (Type::F32, Value::Float(0.1), Some(0x3dcc_cccd)),
            (Type::F32, Value::Integer(1), Some(0x3f80_0000)),
            (Type::F16, Value::Float(f64::INFINITY), Some(0x7c00)),
            // Story: these became infinite.
            (Type::F32, Value::Float(1e300), None),
            (Type::F32, Value::Float(f64::from(f32::MAX)), Some(0x7f7f_ffff)),
            (Type::F16, Value::Integer(65520), None),
            (Type::F16, Value::Integer(65504), Some(0x7bff)),
            (Type::F64, Value::String("1".to_owned()), None),
        ];
        for (ty, value, expected) in cases {
            assert_eq!(bits(ty, &value), expected, "{ty:?} {value}");
        }
    }

    #[test]
    fn elements_are_shown_by_their_type() {
        let of = |ty| Buffer { name: String::new(), ty, count: 1, content: None };
        assert_eq!(of(Type::S16).shown(&[0xff, 0xff]), "-1");
        assert_eq!(of(Type::U16).shown(&[0xff, 0xff]), "65535");
        assert_eq!(of(Type::B32).shown(&[1, 0, 0, 0x80]), "0x80000001");
        assert_eq!(of(Type::F16).shown(&[0, 0x3c]), "1");
        assert_eq!(of(Type::F64).shown(&(-0.0f64).to_le_bytes()), "-0");
        assert_eq!(of(Type::S64).shown(&[0xff; 8]), "-1");
    }
}
