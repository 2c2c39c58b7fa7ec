//! One pattern as one line of text.
//!
//! ```text
//! rmat:scale=8,edges=8,seed=7      family : parameters that differ from their defaults , seed (always printed)
//! synth:scircuit,seed=1            the published matrix comes first, without a key
//! ```
//!
//! Parsing takes the parameters in any order, with or without the defaults; printing has one order, so that equal
//! specs print alike.

use super::error::SourceError;
use super::family::{FAMILIES, Family, Param, ParamKind};
use super::pattern::Pattern;
use crate::format::Csr;
use crate::source::random::{ONE, Random};
use std::fmt;
use std::str::FromStr;

/// Most parameters that any family has.
pub(super) const MAX_PARAMS: usize = 6;

/// How many u32 elements (arrays and scratch together) [`SourceSpec::generate`] may use: 2^27, half a GiB. The
/// largest published matrix, circuit5M, needs 2^26.1 of them.
pub const DEFAULT_LIMIT: u64 = 1 << 27;

/// A pattern: family, parameters, seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceSpec {
    family: Family,
    values: [i64; MAX_PARAMS],
    seed: u64,
}

/// What a spec promises before anything is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of rows, exactly.
    pub rows: u64,
    /// Number of columns, exactly.
    pub cols: u64,
    /// Number of stored entries, at most.
    pub nnz_at_most: u128,
    /// u32 elements of working memory beyond the result, at most.
    pub scratch: u128,
}

impl SourceSpec {
    /// The family with all defaults.
    #[must_use]
    pub fn new(family: Family, seed: u64) -> SourceSpec {
        let mut values = [0; MAX_PARAMS];
        for (value, param) in values.iter_mut().zip(family.info().params) {
            *value = param.default;
        }
        SourceSpec { family, values, seed }
    }

    /// Which family.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// The seed.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same spec with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> SourceSpec {
        SourceSpec { seed, ..self }
    }

    /// The same spec with one parameter changed; `value` is an integer, or parts per million of a decimal.
    ///
    /// # Errors
    /// The family has no such parameter, or its bounds exclude the value.
    pub fn with(mut self, key: &str, value: i64) -> Result<SourceSpec, SourceError> {
        let (at, param) = self.find(key)?;
        if !(param.low..=param.high).contains(&value) {
            return Err(SourceError::OutOfBounds {
                key: param.key,
                found: param.kind.print(value),
                low: param.kind.print(param.low),
                high: param.kind.print(param.high),
            });
        }
        self.values[at] = value;
        Ok(self)
    }

    /// The value of a parameter (parts per million for a decimal), if the family has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<i64> {
        self.find(key).ok().map(|(at, _)| self.values[at])
    }

    /// The parameters and their values, in the order of the table.
    pub fn params(&self) -> impl Iterator<Item = (&'static Param, i64)> {
        self.family.info().params.iter().zip(self.values)
    }

    /// A size or share that the family is known to have.
    pub(crate) fn size(&self, key: &str) -> u64 {
        self.signed(key) as u64
    }

    /// A signed parameter that the family is known to have.
    pub(crate) fn signed(&self, key: &str) -> i64 {
        debug_assert!(self.get(key).is_some(), "{} has no {key}", self.family.name());
        self.get(key).unwrap_or(0)
    }

    fn find(&self, key: &str) -> Result<(usize, &'static Param), SourceError> {
        let info = self.family.info();
        let found = info.params.iter().enumerate().find(|(_, param)| param.key == key);
        found.ok_or_else(|| SourceError::UnknownKey {
            family: info.name,
            key: key.to_owned(),
            known: join(info.params.iter().map(|p| p.key).chain(["seed"])),
        })
    }

    /// Rows, columns and an upper bound of the entries.
    ///
    /// # Errors
    /// [`SourceError::Conflict`] when parameters do not fit together.
    pub fn shape(&self) -> Result<Shape, SourceError> {
        (self.family.info().shape)(self)
    }

    /// The pattern, using at most [`DEFAULT_LIMIT`] elements.
    ///
    /// # Errors
    /// A conflict between parameters, or a pattern that is too large.
    pub fn generate(&self) -> Result<Csr<()>, SourceError> {
        self.generate_within(DEFAULT_LIMIT)
    }

    /// The pattern, using at most `limit` u32 elements for the result and the working memory together. Nothing is
    /// allocated before the need is known.
    ///
    /// # Errors
    /// A conflict between parameters, or a pattern that is too large.
    pub fn generate_within(&self, limit: u64) -> Result<Csr<()>, SourceError> {
        let shape = self.shape()?;
        let needed = u128::from(shape.rows) + 1 + shape.nnz_at_most + shape.scratch;
        if needed > u128::from(limit.min(u64::from(u32::MAX))) {
            let spec = self.to_string();
            return Err(SourceError::TooLarge { spec, needed, limit });
        }
        let info = self.family.info();
        let mut pattern = Pattern::new(shape);
        (info.fill)(self, &mut Random::new(self.seed, info.name), &mut pattern);
        pattern.finish().map_err(|refusal| SourceError::Defect { spec: self.to_string(), refusal })
    }
}

impl fmt::Display for SourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.family.name())?;
        for (param, value) in self.params() {
            if param.kind == ParamKind::Matrix {
                write!(f, "{},", param.kind.print(value))?;
            } else if value != param.default {
                write!(f, "{}={},", param.key, param.kind.print(value))?;
            }
        }
        write!(f, "seed={}", self.seed)
    }
}

impl FromStr for SourceSpec {
    type Err = SourceError;

    fn from_str(line: &str) -> Result<SourceSpec, SourceError> {
        let (name, rest) = line.split_once(':').unwrap_or((line, ""));
        let family = Family::from_name(name).ok_or_else(|| SourceError::UnknownFamily {
            found: name.to_owned(),
            known: join(FAMILIES.iter().map(|info| info.name)),
        })?;
        let mut spec = SourceSpec::new(family, 0);
        let mut items = rest.split(',').filter(|_| !rest.is_empty());
        if let Some(first) = family.info().params.first().filter(|p| p.kind == ParamKind::Matrix) {
            let value = first.kind.parse(first.key, items.next().unwrap_or(""))?;
            spec = spec.with(first.key, value)?;
        }
        let mut seen: Vec<&str> = Vec::new();
        for item in items {
            let (key, text) =
                item.split_once('=').ok_or_else(|| SourceError::NotAPair { item: item.to_owned() })?;
            if seen.contains(&key) {
                return Err(SourceError::RepeatedKey { key: key.to_owned() });
            }
            seen.push(key);
            spec = spec.assign(key, text)?;
        }
        Ok(spec)
    }
}

impl SourceSpec {
    /// The spec with `key=text` applied.
    fn assign(self, key: &str, text: &str) -> Result<SourceSpec, SourceError> {
        if key == "seed" {
            let seed = text.parse().map_err(|_| not_a_number(key, text, "an integer below 2^64"))?;
            return Ok(self.with_seed(seed));
        }
        let (_, param) = self.find(key)?;
        self.with(key, param.kind.parse(key, text)?)
    }
}

impl ParamKind {
    /// The text of a value.
    #[must_use]
    pub fn print(self, value: i64) -> String {
        match self {
            ParamKind::Integer => value.to_string(),
            ParamKind::Share => {
                let (whole, parts) = (value / ONE as i64, value % ONE as i64);
                let text = format!("{whole}.{parts:06}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            ParamKind::Matrix => crate::source::synth::name_at(value).to_owned(),
        }
    }

    /// The value of a text; exact, no float is involved.
    fn parse(self, key: &str, text: &str) -> Result<i64, SourceError> {
        match self {
            ParamKind::Integer => text.parse().map_err(|_| not_a_number(key, text, "an integer")),
            ParamKind::Share => {
                parse_share(text).ok_or_else(|| not_a_number(key, text, "a decimal of at most 6 places"))
            }
            ParamKind::Matrix => crate::source::synth::index_of(text),
        }
    }
}

/// Parts per million of a decimal such as `0.125`.
fn parse_share(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let parts: i64 = format!("{fraction:0<6}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(ONE as i64)?.checked_add(parts)
}

fn not_a_number(key: &str, text: &str, expected: &'static str) -> SourceError {
    SourceError::NotANumber { key: key.to_owned(), text: text.to_owned(), expected }
}

pub(crate) fn join<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().collect::<Vec<_>>().join(", ")
}
