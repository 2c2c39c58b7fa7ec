//! Which encodings are made: every format with the parameters asked for, and the load-balanced variants.

use sparse_oracle::Precision;
use sparse_oracle::format::{FormatKind, FormatParams, PARAMETERS, Parameter};

/// The element type that values are stored in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Element {
    /// Two bytes.
    F16,
    /// Four bytes.
    #[default]
    F32,
}

impl Element {
    /// The element type for a format: tf32, as wide, where it is not defined for f32; `None` if it has neither.
    #[must_use]
    pub fn of(self, kind: FormatKind) -> Option<Precision> {
        let choices: &[Precision] = match self {
            Element::F16 => &[Precision::F16],
            Element::F32 => &[Precision::F32, Precision::Tf32],
        };
        let defined = |p: &&Precision| kind.precisions().contains(p);
        choices.iter().find(defined).copied()
    }

    /// The element type itself.
    #[must_use]
    pub fn precision(self) -> Precision {
        match self {
            Element::F16 => Precision::F16,
            Element::F32 => Precision::F32,
        }
    }
}

/// A format and its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// The format.
    pub kind: FormatKind,
    /// Parameters of which it reads its own.
    pub params: FormatParams,
}

/// Every format, in the order of [`FormatKind::ALL`], those with a balanced variant twice.
#[must_use]
pub fn variants(params: FormatParams) -> Vec<Variant> {
    let mut variants = Vec::new();
    for kind in FormatKind::ALL {
        variants.push(Variant { kind, params });
        let balanced = PARAMETERS.iter().any(|p| p.name == "balanced" && p.formats.contains(&kind));
        if balanced && !params.balanced {
            let params = FormatParams { balanced: true, ..params };
            variants.push(Variant { kind, params });
        }
    }
    variants
}

impl Variant {
    /// The parameters that are not at their default, as in case lines: `kb=16,fill=1`; empty if all are.
    #[must_use]
    pub fn parameters(&self) -> String {
        let default = FormatParams::default();
        let own = PARAMETERS.iter().filter(|p| p.formats.contains(&self.kind));
        let changed = own.filter(|p| (p.get)(&self.params) != (p.get)(&default));
        let shown = changed.filter_map(|p| Some(format!("{}={}", p.name, (p.get)(&self.params)?)));
        shown.collect::<Vec<_>>().join(",")
    }
}

/// A parameter on the command line that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// No `=`, or no number behind it.
    #[error("parameter {text:?} is not NAME=NUMBER")]
    Form {
        /// As given.
        text: String,
    },
    /// Neither on nor off.
    #[error("parameter {text:?} must be 0 or 1")]
    Flag {
        /// As given.
        text: String,
    },
    /// No format has it.
    #[error("unknown parameter {name:?}; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
}

/// The default parameters with these set: `kb=16`, one each.
///
/// # Errors
/// A text of another form, a name that no format has.
pub fn parse_parameters(texts: &[String]) -> Result<FormatParams, ParameterError> {
    let mut params = FormatParams::default();
    for text in texts {
        let form = || ParameterError::Form { text: text.clone() };
        let (name, number) = text.split_once('=').ok_or_else(form)?;
        let number: u32 = number.parse().map_err(|_| form())?;
        let parameter = PARAMETERS.iter().find(|p| p.name == name).ok_or_else(|| unknown(name))?;
        if !parameter.assign(&mut params, number) {
            return Err(ParameterError::Flag { text: text.clone() });
        }
    }
    Ok(params)
}

fn unknown(name: &str) -> ParameterError {
    let known: Vec<&str> = PARAMETERS.iter().map(|p: &Parameter| p.name).collect();
    ParameterError::Unknown { name: name.to_owned(), known: known.join(", ") }
}
