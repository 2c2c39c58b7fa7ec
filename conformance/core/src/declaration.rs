//! A declared arithmetic as text (`--arithmetic`, manifests): a unit by name, and how its sums are put together.
//!
//! ```text
//! any | fma | muladd | CPU-UNIT | ARCH:INSTRUCTION
//!     [,split-k=N | ,two-pass=N | ,three-pass=NxM] [,rna | ,rne | ,full] [,from-c | ,fold-alpha | ,fold-alpha-b] [,no-pads]
//!     [,flush-inputs] [,flush-outputs] [,flush]
//! sm_90:mma.m16n8k16.f32.f16,split-k=4
//!
//! TILES + REST     a hybrid that adds both sums        sm_90:mma.m16n8k8.f32.tf32,rna + fma,full
//! TILES | REST     one whose rows are of either part   fmopa.f32 | fma
//! ```
//!
//! The rest has its own unit, its own ranges along k and its own input rounding; everything else is said of the tiles, and holds for both.
//!
//! `any` is the weakest arithmetic that the contract admits. `no-pads` says that the zero pads of a format are never
//! multiplied, so that an infinite element of B beside one does no harm. An option that changes nothing for a contract is refused: who
//! wrote it believes something that the judge does not do. A manifest's rule may span contracts, for some of which it does.

mod words;

pub use words::{in_words, reduction_name, rest_in_words};

use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, Combine, CpuUnit, Epilogue, Flush, Input, Instruction, Pads,
    ParseInstructionError, Part, Reduction,
};
use sparse_oracle::contract::{Contract, Returned};
use sparse_oracle::model::ModelError;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::table::{ROWS, Row};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;

/// Why a text declares nothing that can be looked at.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum DeclarationError {
    #[error("unknown unit '{name}'; there are {}", units())]
    Unit { name: String },
    #[error("unknown architecture '{name}'; there are {}", architectures())]
    Architecture { name: String },
    #[error("{source}; {architecture} has {}", instructions(*architecture))]
    Parse { architecture: Architecture, source: ParseInstructionError },
    #[error("{source}; {architecture} has {}", instructions(*architecture))]
    Absent { architecture: Architecture, source: ModelError },
    #[error(
        "unknown option '{option}'; there are split-k=N, two-pass=N, three-pass=NxM (N and M at least 1), rna, rne, full, from-c, fold-alpha, \
         fold-alpha-b, no-pads, flush-inputs, flush-outputs, flush"
    )]
    Option { option: String },
    #[error("{unit} multiplies {takes} numbers, the operands of {contract} are {stored}; units that take {stored}: {}", units_of(*stored))]
    Input { unit: String, takes: Precision, stored: Precision, contract: String },
    #[error("option '{option}' changes nothing for {contract}: {reason}; leave it out")]
    Idle { option: String, contract: String, reason: String },
    #[error(
        "option '{option}' says again, or otherwise, what another option of '{text}' says; give one of them"
    )]
    Repeated { option: String, text: String },
    #[error("option '{option}' holds for both parts of '{text}'; give it with the first, the tiles")]
    OfBoth { option: String, text: String },
    #[error("'{text}' {reason}")]
    Contradiction { text: String, reason: &'static str },
    #[error("{contract} moves values and rounds nothing; --arithmetic is for products")]
    Moves { contract: String },
}

impl DeclarationError {
    /// The option that is to blame, where it is one that changes nothing.
    #[cfg(feature = "files")]
    pub(crate) fn option(&self) -> Option<&str> {
        match self {
            DeclarationError::Idle { option, .. } => Some(option),
            _ => None,
        }
    }
}

/// Older and shorter names of units.
const ALIASES: [(&str, CpuUnit); 3] = [
    ("fmopa_2way", CpuUnit::Fmopa2Way),
    ("bfmopa", CpuUnit::Bfmopa { ebf: false }),
    ("bfmopa_ebf", CpuUnit::Bfmopa { ebf: true }),
];

/// Reads a declaration for a contract and its factors.
///
/// # Errors
/// A unit, architecture or option that does not exist, does not fit the contract, or changes nothing for it.
pub fn parse(
    text: &str,
    contract: &Contract,
    (alpha, beta): (f64, f64),
) -> Result<Arithmetic, DeclarationError> {
    if contract.op.is_exact() {
        let contract = contract.to_string();
        return Err(DeclarationError::Moves { contract });
    }
    let (arithmetic, idle) = read(text, contract)?;
    if let Some(idle) = idle.into_iter().next() {
        return Err(idle);
    }
    match arithmetic.contradiction(alpha, beta) {
        Some(reason) => Err(DeclarationError::Contradiction { text: text.to_owned(), reason }),
        None => Ok(arithmetic),
    }
}

/// Reads a declaration without the options that change nothing for the contract; those come beside it, as the errors that they are if
/// they change nothing for any other one either.
pub(crate) fn read(
    text: &str,
    contract: &Contract,
) -> Result<(Arithmetic, Vec<DeclarationError>), DeclarationError> {
    let Some(at) = text.find(JOINTS) else { return read_part(text, contract) };
    let (of_tiles, of_rest) = (&text[..at], &text[at + 1..]);
    let contradiction = |reason| DeclarationError::Contradiction { text: text.to_owned(), reason };
    if of_rest.contains(JOINTS) {
        return Err(contradiction("has more than two parts; there are tiles and a rest"));
    }
    if contract.op.signature().returned == Returned::Product {
        return Err(contradiction("has two parts, but no entry of a sparse product is told to be of either"));
    }
    let both = |option: &&str| !matches!(about(option), About::Along | About::Inputs);
    if let Some(option) = of_rest.split(',').skip(1).map(str::trim).find(both) {
        return Err(DeclarationError::OfBoth { option: option.to_owned(), text: text.to_owned() });
    }
    let (tiles, mut idle) = read_part(of_tiles, contract)?;
    let (rest, idle_of_rest) = read_part(of_rest, contract)?;
    idle.extend(idle_of_rest);
    let mut rest = Part { pads: tiles.part().pads, ..*rest.part() };
    let combine = if text[at..].starts_with(ADDED) { Combine::Ordered } else { Combine::Disjoint };
    if combine == Combine::Disjoint {
        rest.init = tiles.part().init;
    }
    Ok((Arithmetic::hybrid(tiles, rest, combine), idle))
}

/// Stands between two parts whose sums are added, and between two of which each element has one.
const ADDED: char = '+';
const JOINTS: [char; 2] = [ADDED, '|'];

fn read_part(
    text: &str,
    contract: &Contract,
) -> Result<(Arithmetic, Vec<DeclarationError>), DeclarationError> {
    let mut words = text.split(',').map(str::trim);
    let mut arithmetic = unit(words.next().unwrap_or_default(), contract)?;
    let (mut idle, mut said) = (Vec::new(), Vec::new());
    for option in words {
        let changed = with_option(arithmetic, option, contract)?;
        let about = about(option);
        let again = match about {
            About::Flush => changed.flush == arithmetic.flush,
            about => said.iter().any(|&other| about.clashes(other)),
        };
        if again {
            return Err(DeclarationError::Repeated { option: option.to_owned(), text: text.to_owned() });
        }
        said.push(about);
        match idle_reason(about, contract) {
            Some(reason) => idle.push(DeclarationError::Idle {
                option: option.to_owned(),
                contract: contract.to_string(),
                reason,
            }),
            None => arithmetic = changed,
        }
    }
    Ok((arithmetic, idle))
}

/// What an option is about. Two of the same kind contradict or repeat one another; flushes add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Along,
    Inputs,
    Scaling { from_c: bool },
    Pads,
    Flush,
}

impl About {
    fn clashes(self, other: About) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

fn about(option: &str) -> About {
    match option {
        "rna" | "rne" | "full" => About::Inputs,
        "from-c" => About::Scaling { from_c: true },
        "fold-alpha" | "fold-alpha-b" => About::Scaling { from_c: false },
        "no-pads" => About::Pads,
        _ if option.starts_with("flush") => About::Flush,
        _ => About::Along,
    }
}

/// Why an option changes nothing for a contract, if so.
fn idle_reason(about: About, contract: &Contract) -> Option<String> {
    let sparse = contract.op.signature().returned == Returned::Product;
    match about {
        About::Along | About::Flush => None,
        About::Inputs => (contract.types.a != Precision::Tf32).then(|| {
            format!(
                "its operands are {}, and only those of tf32 are rounded before they are multiplied",
                contract.types.a
            )
        }),
        About::Scaling { from_c } => sparse.then(|| {
            let missing = if from_c { "C to start from" } else { "alpha" };
            format!("{} has no {missing}", contract.op.name())
        }),
        About::Pads => (contract.weakest().part().pads == Pads::Skipped)
            .then(|| format!("{} has no pads that could be multiplied", contract.format.name())),
    }
}

fn unit(name: &str, contract: &Contract) -> Result<Arithmetic, DeclarationError> {
    let types = contract.types;
    if name == "any" {
        return Ok(contract.weakest());
    }
    let weakest = *contract.weakest().part();
    let mut arithmetic = if let Some((architecture, instruction)) = name.split_once(':') {
        let named = || architecture.to_owned();
        let architecture = Architecture::from_name(architecture)
            .ok_or_else(|| DeclarationError::Architecture { name: named() })?;
        let instruction: Instruction =
            (instruction.parse()).map_err(|source| DeclarationError::Parse { architecture, source })?;
        TensorCore::new(architecture, instruction)
            .map_err(|source| DeclarationError::Absent { architecture, source })?;
        takes(instruction.to_string(), instruction.input, contract)?;
        Arithmetic::mma(Some(architecture), instruction, types.out)
    } else if let Some(reduction) = chain(name) {
        Arithmetic::chain(reduction, types.acc, types.out).input(weakest.input)
    } else {
        let alias = ALIASES.iter().find(|alias| alias.0 == name).map(|alias| alias.1);
        let unit = CpuUnit::from_name(name).or(alias);
        let unit = unit.ok_or_else(|| DeclarationError::Unit { name: name.to_owned() })?;
        takes(unit.to_string(), unit.input(), contract)?;
        Arithmetic::cpu(unit, types.out)
    };
    arithmetic.part_mut().pads = weakest.pads;
    Ok(arithmetic)
}

fn chain(name: &str) -> Option<Reduction> {
    match name {
        "fma" => Some(Reduction::FmaChain),
        "muladd" => Some(Reduction::MulAddChain),
        _ => None,
    }
}

/// A unit's operands must be what is stored; f32 may be cut to tf32 on the way.
fn takes(unit: String, takes: Precision, contract: &Contract) -> Result<(), DeclarationError> {
    let stored = contract.types.a;
    if takes == stored || takes == Precision::Tf32 && stored == Precision::F32 {
        return Ok(());
    }
    let contract = contract.to_string();
    Err(DeclarationError::Input { unit, takes, stored, contract })
}

fn with_option(
    arithmetic: Arithmetic,
    option: &str,
    contract: &Contract,
) -> Result<Arithmetic, DeclarationError> {
    let unknown = || DeclarationError::Option { option: option.to_owned() };
    let number = |text: &str| -> Result<u32, DeclarationError> {
        text.parse().ok().filter(|&n| n > 0).ok_or_else(unknown)
    };
    Ok(match option.split_once('=') {
        Some(("split-k" | "two-pass" | "three-pass", _)) if arithmetic.part().along != Along::Chain => {
            return Err(unknown());
        }
        Some(("split-k", n)) => {
            let parts = u16::try_from(number(n)?).map_err(|_| unknown())?;
            arithmetic.along(Along::SplitK { parts })
        }
        Some(("two-pass", n)) => arithmetic.along(Along::TwoPass { blocks: number(n)? }),
        Some(("three-pass", n)) => {
            let (blocks, segments) = n.split_once('x').ok_or_else(unknown)?;
            arithmetic.along(Along::ThreePass { blocks: number(blocks)?, segments: number(segments)? })
        }
        None if option == "rna" => arithmetic.input(Input::Tf32Rna),
        None if option == "rne" => arithmetic.input(Input::Tf32Rne),
        None if option == "full" => arithmetic.input(Input::AsStored),
        None if option == "from-c" => arithmetic.from_c(),
        None if option == "no-pads" => {
            let mut skips = arithmetic;
            skips.part_mut().pads = Pads::Skipped;
            skips
        }
        None if option == "fold-alpha" => arithmetic.epilogue(Epilogue::AlphaIntoA),
        None if option == "fold-alpha-b" => arithmetic.epilogue(Epilogue::AlphaIntoB),
        None if matches!(option, "flush-inputs" | "flush-outputs" | "flush") => arithmetic.flushes(Flush {
            inputs: (option != "flush-outputs" || arithmetic.flush.inputs.is_some())
                .then_some(contract.types.a),
            results: option != "flush-inputs" || arithmetic.flush.results,
        }),
        _ => return Err(unknown()),
    })
}

fn architectures() -> String {
    Architecture::ALL.map(Architecture::name).join(", ")
}

fn units() -> String {
    let cpus: Vec<&str> = CpuUnit::ALL.iter().map(|unit| unit.name()).collect();
    let aliases = ALIASES.map(|alias| alias.0).join(", ");
    format!(
        "any (what the contract admits); fma and muladd (chains in the contract's accumulator type); {} (also {aliases}); and ARCH:INSTRUCTION, such as \
         sm_90:mma.m16n8k16.f32.f16, with ARCH one of {}; two of them, TILES + REST or TILES | REST, for a hybrid",
        cpus.join(", "),
        architectures()
    )
}

/// The instructions of an architecture, each with its smallest n.
fn instructions(architecture: Architecture) -> String {
    let rows = ROWS.iter().filter(|row| row.architectures.contains(&architecture));
    let names: Vec<String> = rows.flat_map(Row::instructions).map(|i| i.to_string()).collect();
    names.join(", ")
}

fn units_of(stored: Precision) -> String {
    let cpus = CpuUnit::ALL.into_iter().filter(|unit| unit.input() == stored).map(|unit| unit.to_string());
    let fits = |input: Precision| input == stored || input == Precision::Tf32 && stored == Precision::F32;
    let mut names: Vec<String> = ["fma".to_owned(), "muladd".to_owned()].into_iter().chain(cpus).collect();
    let cores = ROWS.iter().flat_map(Row::instructions).filter(|i| fits(i.input));
    for name in cores.map(|i| format!("ARCH:{i}")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests;
