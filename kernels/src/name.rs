//! Kernel names: a grammar and its parser.
//!
//! ```text
//! <op>_<format>_<a>_<b>_<acc>_<out>__<engine>[_<tech>][_<tile>]     spmm_csr_f16_f16_f32_f32__portable
//! transpose_<format>_<type>__<engine>..                             transpose_csr_f32__portable
//! convert_<from>_<to>_<type>__<engine>..                            convert_csr_blocked_ell_f32__portable
//! ```
//!
//! Words are lowercase letters and digits, split by `_`; `__` occurs once, before the engine. A format's own name may
//! hold `_` (`blocked_ell`): the longest format that fits is taken. A tech starts with a letter (`fmopa`, `mma`), a
//! tile with a digit (`16x8`, `2way`).

use crate::engine::Engine;
use sparse_types::Precision;
use sparse_types::contract::{Contract, Op, Types, all_contracts};
use sparse_types::format::FormatKind;
use std::fmt;
use std::str::FromStr;

/// A kernel's name, taken apart. Prints as the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KernelName {
    /// What it computes.
    pub contract: Contract,
    /// What it runs on.
    pub engine: Engine,
    /// The instruction or method, where one engine has several.
    pub tech: Option<String>,
    /// The tile shape or variant.
    pub tile: Option<String>,
}

/// Why a string is not a kernel's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The engine is not set off by `__`, or `__` occurs again.
    #[error("{name:?} holds {found} double underscores, expected 1 before the engine")]
    Separator {
        /// The whole name.
        name: String,
        /// How many there are.
        found: usize,
    },
    /// The name does not start with an operation.
    #[error(
        "{found:?} does not start with an operation (spmm, spmv, sddmm, spgemm, transpose, convert) and `_`"
    )]
    Operation {
        /// What stands there.
        found: String,
    },
    /// No format where one belongs.
    #[error("{found:?} does not start with a format (coo, csr, csc, bcsr, ell, blocked_ell) and `_`")]
    Format {
        /// What stands there.
        found: String,
    },
    /// A word is no element type.
    #[error("{found:?} (element type {position}) is not one of f64, f32, tf32, f16, bf16, e4m3, e5m2")]
    Type {
        /// The word.
        found: String,
        /// Which of the types it should be, from 0.
        position: usize,
    },
    /// Too few or too many element types.
    #[error("{found} element types, expected {expected}")]
    TypeCount {
        /// Types present.
        found: usize,
        /// Types that the operation has.
        expected: usize,
    },
    /// Every part is well formed, but the suite has no such contract.
    #[error("no contract {contract:?} in the table")]
    Contract {
        /// The contract's name.
        contract: String,
    },
    /// The engine is unknown.
    #[error("{found:?} is not an engine (portable, avx2, avx512, neon, sme, cuda, ptx, iops)")]
    Engine {
        /// The word.
        found: String,
    },
    /// What follows the engine is not `[_<tech>][_<tile>]`.
    #[error("{found:?} after the engine is not a tech (letter first) and a tile (digit first), lowercase")]
    Suffix {
        /// The text after the engine.
        found: String,
    },
}

impl KernelName {
    /// A name without tech and tile.
    #[must_use]
    pub const fn plain(contract: Contract, engine: Engine) -> KernelName {
        KernelName { contract, engine, tech: None, tile: None }
    }

    /// The name of one of several methods for a contract on an engine.
    #[must_use]
    pub fn of_method(contract: Contract, engine: Engine, tech: &str) -> KernelName {
        KernelName { tech: Some(tech.to_owned()), ..KernelName::plain(contract, engine) }
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contract { op, format, to, types } = self.contract;
        write!(f, "{}_{}_", op.name(), format.name())?;
        if let Some(to) = to {
            write!(f, "{}_", to.name())?;
        }
        if op.is_exact() {
            write!(f, "{}", types.a)?;
        } else {
            write!(f, "{types}")?;
        }
        write!(f, "__{}", self.engine.name())?;
        for word in [&self.tech, &self.tile].into_iter().flatten() {
            write!(f, "_{word}")?;
        }
        Ok(())
    }
}

impl FromStr for KernelName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<KernelName, NameError> {
        let parts: Vec<&str> = name.split("__").collect();
        let [what, how] = parts[..] else {
            return Err(NameError::Separator { name: name.to_owned(), found: parts.len() - 1 });
        };
        let contract = parse_contract(what)?;
        let (engine, tech, tile) = parse_engine(how)?;
        Ok(KernelName { contract, engine, tech, tile })
    }
}

fn parse_contract(what: &str) -> Result<Contract, NameError> {
    let split = what.split_once('_');
    let Some((op, rest)) = split.and_then(|(word, rest)| Some((Op::from_name(word)?, rest))) else {
        return Err(NameError::Operation { found: what.to_owned() });
    };
    let (format, rest) = parse_format(rest)?;
    let (to, rest) = if op == Op::Convert {
        let (to, rest) = parse_format(rest)?;
        (Some(to), rest)
    } else {
        (None, rest)
    };
    let types = parse_types(rest, op.is_exact())?;
    let contract = Contract { op, format, to, types };
    if all_contracts().contains(&contract) {
        Ok(contract)
    } else {
        Err(NameError::Contract { contract: contract.to_string() })
    }
}

/// The longest format that `text` starts with, and what follows its `_`.
fn parse_format(text: &str) -> Result<(FormatKind, &str), NameError> {
    let fits = |format: FormatKind| Some((format, text.strip_prefix(format.name())?.strip_prefix('_')?));
    let longest = FormatKind::ALL.into_iter().filter_map(fits).min_by_key(|(_, rest)| rest.len());
    longest.ok_or_else(|| NameError::Format { found: text.to_owned() })
}

/// One type for operations that move values, else four.
fn parse_types(text: &str, one: bool) -> Result<Types, NameError> {
    let mut types = Vec::new();
    for (position, word) in text.split('_').enumerate() {
        types.push(
            Precision::from_name(word).ok_or_else(|| NameError::Type { found: word.to_owned(), position })?,
        );
    }
    match (one, &types[..]) {
        (true, &[a]) => Ok(Types { a, b: a, acc: a, out: a }),
        (false, &[a, b, acc, out]) => Ok(Types { a, b, acc, out }),
        _ => Err(NameError::TypeCount { found: types.len(), expected: if one { 1 } else { 4 } }),
    }
}

type Suffix = (Engine, Option<String>, Option<String>);

fn parse_engine(how: &str) -> Result<Suffix, NameError> {
    let (word, suffix) = match how.split_once('_') {
        Some((word, suffix)) => (word, Some(suffix)),
        None => (how, None),
    };
    let engine = Engine::from_name(word).ok_or_else(|| NameError::Engine { found: word.to_owned() })?;
    let Some(suffix) = suffix else {
        return Ok((engine, None, None));
    };
    let plain = |word: &str| word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let tech = |word: &str| plain(word) && word.starts_with(|c: char| c.is_ascii_lowercase());
    let tile = |word: &str| plain(word) && word.starts_with(|c: char| c.is_ascii_digit());
    let owned = |word: &str| Some(word.to_owned());
    match suffix.split('_').collect::<Vec<_>>()[..] {
        [only] if tech(only) => Ok((engine, owned(only), None)),
        [only] if tile(only) => Ok((engine, None, owned(only))),
        [first, second] if tech(first) && tile(second) => Ok((engine, owned(first), owned(second))),
        _ => Err(NameError::Suffix { found: suffix.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str) -> NameError {
        name.parse::<KernelName>().expect_err(name)
    }

    #[test]
    fn names_print_as_they_parse() {
        for name in [
            "spmm_csr_f16_f16_f32_f32__portable",
            "spmv_blocked_ell_e4m3_e4m3_f32_f32__cuda_mma_16x8",
            "convert_csr_blocked_ell_f32__avx512_2way",
            "convert_blocked_ell_csr_tf32__sme_fmopa",
            "transpose_coo_bf16__portable",
        ] {
            let parsed: KernelName = name.parse().expect(name);
            assert_eq!(parsed.to_string(), name);
        }
    }

    #[test]
    fn ell_is_not_mistaken_for_blocked_ell() {
        let ell: KernelName = "spmm_ell_f32_f32_f32_f32__portable".parse().expect("ell");
        assert_eq!(ell.contract.format, FormatKind::Ell);
        let blocked: KernelName = "spmm_blocked_ell_f32_f32_f32_f32__portable".parse().expect("blocked");
        assert_eq!(blocked.contract.format, FormatKind::BlockedEll);
    }

    #[test]
    fn errors_name_the_part_that_is_wrong() {
        let text = |found: &str| found.to_owned();
        assert!(matches!(error("spmm_csr_f32_f32_f32_f32_portable"), NameError::Separator { found: 0, .. }));
        assert!(matches!(error("spmm__csr__portable"), NameError::Separator { found: 2, .. }));
        assert_eq!(error("gemm_csr_f32__portable"), NameError::Operation { found: text("gemm_csr_f32") });
        assert_eq!(error("__portable"), NameError::Operation { found: text("") });
        assert_eq!(error("spmm_dia_f32__portable"), NameError::Format { found: text("dia_f32") });
        assert_eq!(error("convert_csr_f32__portable"), NameError::Format { found: text("f32") });
        assert_eq!(
            error("spmm_csr_f32_f32_x87_f32__portable"),
            NameError::Type { found: text("x87"), position: 2 }
        );
        assert_eq!(error("spmm_csr_f32_f32_f32__portable"), NameError::TypeCount { found: 3, expected: 4 });
        assert_eq!(error("transpose_csr_f32_f32__portable"), NameError::TypeCount { found: 2, expected: 1 });
        assert!(matches!(error("spmm_csr_f16_f32_f32_f32__portable"), NameError::Contract { .. }));
        assert!(matches!(error("convert_csc_coo_f32__portable"), NameError::Contract { .. }));
        assert_eq!(error("transpose_csr_f32__tpu"), NameError::Engine { found: text("tpu") });
        for suffix in ["", "_", "16x8_mma", "MMA", "mma_16x8_more"] {
            let name = format!("transpose_csr_f32__cuda_{suffix}");
            assert!(matches!(error(&name), NameError::Suffix { .. } | NameError::Separator { .. }), "{name}");
        }
    }
}
