//! A declared arithmetic as text (`--arithmetic`, manifests): a unit by name, and how its sums are put together.
//!
//! ```text
//! any | fma | muladd | CPU-UNIT | ARCH:INSTRUCTION   [,split-k=N | ,two-pass=N] [,rna] [,from-c] [,fold-alpha] [,no-pads]
//! sm_90:mma.m16n8k16.f32.f16,split-k=4
//! ```
//!
//! `any` is the weakest arithmetic that the contract admits. `no-pads` says that the zero pads of a format are never
//! multiplied, so that an infinite element of B beside one does no harm.

use sparse_oracle::arithmetic::{
    Along, Architecture, Arithmetic, CpuUnit, Epilogue, Init, Input, Instruction, Order, Pads,
    ParseInstructionError, Reduction,
};
use sparse_oracle::contract::Contract;
use sparse_oracle::model::ModelError;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::table::{ROWS, Row};
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
    Parse {
        architecture: Architecture,
        source: ParseInstructionError,
    },
    #[error("{source}; {architecture} has {}", instructions(*architecture))]
    Absent {
        architecture: Architecture,
        source: ModelError,
    },
    #[error(
        "unknown option '{option}'; there are split-k=N, two-pass=N (N at least 1), rna, from-c, fold-alpha, no-pads"
    )]
    Option { option: String },
    #[error("{unit} multiplies {takes} numbers, the operands of {contract} are {stored}; units that take {stored}: {}", units_of(*stored))]
    Input {
        unit: String,
        takes: Precision,
        stored: Precision,
        contract: String,
    },
    #[error("'{text}' {reason}")]
    Contradiction { text: String, reason: &'static str },
    #[error("{contract} moves values and rounds nothing; --arithmetic is for products")]
    Moves { contract: String },
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
/// A unit, architecture or option that does not exist, or does not fit the contract.
pub fn parse(
    text: &str,
    contract: &Contract,
    (alpha, beta): (f64, f64),
) -> Result<Arithmetic, DeclarationError> {
    if contract.op.is_exact() {
        let contract = contract.to_string();
        return Err(DeclarationError::Moves { contract });
    }
    let mut words = text.split(',').map(str::trim);
    let mut arithmetic = unit(words.next().unwrap_or_default(), contract)?;
    for option in words {
        arithmetic = with_option(arithmetic, option)?;
    }
    match arithmetic.contradiction(alpha, beta) {
        Some(reason) => Err(DeclarationError::Contradiction {
            text: text.to_owned(),
            reason,
        }),
        None => Ok(arithmetic),
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
        let unit = unit.ok_or_else(|| DeclarationError::Unit {
            name: name.to_owned(),
        })?;
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
    Err(DeclarationError::Input {
        unit,
        takes,
        stored,
        contract,
    })
}

fn with_option(arithmetic: Arithmetic, option: &str) -> Result<Arithmetic, DeclarationError> {
    let unknown = || DeclarationError::Option {
        option: option.to_owned(),
    };
    Ok(match option.split_once('=') {
        Some(("split-k" | "two-pass", _)) if arithmetic.part().along != Along::Chain => return Err(unknown()),
        Some(("split-k", n)) => {
            let parts = n.parse().ok().filter(|&n| n > 0).ok_or_else(unknown)?;
            arithmetic.along(Along::SplitK { parts })
        }
        Some(("two-pass", n)) => {
            let blocks = n.parse().ok().filter(|&n| n > 0).ok_or_else(unknown)?;
            arithmetic.along(Along::TwoPass { blocks })
        }
        None if option == "rna" => arithmetic.input(Input::Tf32Rna),
        None if option == "from-c" => arithmetic.from_c(),
        None if option == "no-pads" => {
            let mut skips = arithmetic;
            skips.part_mut().pads = Pads::Skipped;
            skips
        }
        None if option == "fold-alpha" => arithmetic.epilogue(Epilogue::AlphaIntoA),
        _ => return Err(unknown()),
    })
}

/// How terms become a sum, called as in a declaration.
#[must_use]
pub fn reduction_name(reduction: Reduction) -> String {
    match reduction {
        Reduction::FmaChain => "fma".to_owned(),
        Reduction::MulAddChain => "muladd".to_owned(),
        Reduction::Any => "any".to_owned(),
        Reduction::Cpu(unit) => unit.to_string(),
        Reduction::Mma {
            architecture,
            instruction,
        } => {
            let device = architecture.map_or("an unknown device", |a| a.name());
            format!("{instruction} on {device}")
        }
    }
}

/// An arithmetic's first part in the words of a declaration, and what they mean.
#[must_use]
pub fn in_words(arithmetic: &Arithmetic) -> String {
    let part = arithmetic.part();
    let along = match part.along {
        Along::Chain => "one chain along k".to_owned(),
        Along::SplitK { parts } => format!("split-k={parts}"),
        Along::TwoPass { blocks } => format!("two-pass={blocks}"),
    };
    let order = match part.order {
        Order::Ascending => "in ascending order",
        Order::Free => "in any order",
    };
    let start = match part.init {
        Init::Zero => "starts from 0",
        Init::C => "from-c (starts from beta * c)",
    };
    let input = match part.input {
        Input::AsStored => "inputs as stored",
        Input::Tf32Rna => "rna (inputs rounded to tf32)",
        Input::Tf32Truncate => "inputs cut to tf32",
    };
    let epilogue = match arithmetic.epilogue {
        Epilogue::MulThenFma => "then fma(beta, c, alpha * sum)",
        Epilogue::MulThenAdd => "then alpha * sum + beta * c",
        Epilogue::AlphaIntoA => "fold-alpha (alpha goes into A)",
        Epilogue::None => "not scaled",
    };
    let pads = match part.pads {
        Pads::Skipped => "no-pads (pads are skipped)",
        Pads::Multiplied => "pads are multiplied",
    };
    let reduction = reduction_name(part.reduction);
    format!(
        "{reduction}, {along}, {order}, accumulates in {}, {start}, {input}, {epilogue}, {pads}",
        part.acc
    )
}

fn architectures() -> String {
    Architecture::ALL.map(Architecture::name).join(", ")
}

fn units() -> String {
    let cpus: Vec<&str> = CpuUnit::ALL.iter().map(|unit| unit.name()).collect();
    let aliases = ALIASES.map(|alias| alias.0).join(", ");
    format!(
        "any (what the contract admits); fma and muladd (chains in the contract's accumulator type); {} (also {aliases}); and ARCH:INSTRUCTION, such as \
         sm_90:mma.m16n8k16.f32.f16, with ARCH one of {}",
        cpus.join(", "),
        architectures()
    )
}

/// The instructions of an architecture, each with its smallest n.
fn instructions(architecture: Architecture) -> String {
    let rows = ROWS
        .iter()
        .filter(|row| row.architectures.contains(&architecture));
    let names: Vec<String> = rows.flat_map(Row::instructions).map(|i| i.to_string()).collect();
    names.join(", ")
}

fn units_of(stored: Precision) -> String {
    let cpus = CpuUnit::ALL
        .into_iter()
        .filter(|unit| unit.input() == stored)
        .map(|unit| unit.to_string());
    let fits = |input: Precision| input == stored || input == Precision::Tf32 && stored == Precision::F32;
    let mut names: Vec<String> = ["fma".to_owned(), "muladd".to_owned()]
        .into_iter()
        .chain(cpus)
        .collect();
    let cores = ROWS.iter().flat_map(Row::instructions).filter(|i| fits(i.input));
    for name in cores.map(|i| format!("ARCH:{i}")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(name: &str) -> Contract {
        Contract::from_name(name).expect("in the table")
    }

    #[test]
    fn units_and_options_parse() {
        let f16 = contract("spmm.csr.f16_f16_f32_f32");
        for (text, wanted) in [
            ("fma", Reduction::FmaChain),
            ("muladd", Reduction::MulAddChain),
            ("fmopa_2way", Reduction::Cpu(CpuUnit::Fmopa2Way)),
            ("tdpfp16ps", Reduction::Cpu(CpuUnit::Tdpfp16ps)),
        ] {
            let arithmetic = parse(text, &f16, (1.0, 0.0)).expect(text);
            assert_eq!(arithmetic.part().reduction, wanted);
            assert!(arithmetic.is_deterministic());
        }
        let split = parse("sm_80:mma.m16n8k8.f32.f16,split-k=3", &f16, (1.0, 0.0)).expect("known");
        assert_eq!(split.part().along, Along::SplitK { parts: 3 });
        let tf32 = contract("spmm.csr.tf32_tf32_f32_f32");
        let rna = parse("sm_90:mma.m16n8k8.f32.tf32,rna", &tf32, (1.0, 0.0)).expect("known");
        assert_eq!(rna.part().input, Input::Tf32Rna);
    }

    #[test]
    fn what_is_no_declaration_is_refused_with_what_there_is() {
        let f16 = contract("spmm.csr.f16_f16_f32_f32");
        for (text, needles) in [
            ("", &["unknown unit ''", "fma", "sm_90:mma"][..]),
            ("fnord", &["unknown unit 'fnord'", "vdpbf16ps", "fmopa_2way"]),
            ("sm_91:mma.m16n8k16.f32.f16", &["sm_91", "sm_120"]),
            ("sm_90:mma", &["no instruction", "mma.m16n8k16.f32.f16"]),
            (
                "sm_70:mma.m16n8k16.f32.f16",
                &["sm_70 has no modelled", "mma.m8n8k4.f32.f16"],
            ),
            (
                "sm_90:mma.m16n8k16.f32.bf16",
                &["bf16", "operands of spmm.csr.f16", "fmopa.f32.f16"],
            ),
            ("vdpbf16ps", &["bf16", "f16"]),
            ("fma,split-k=0", &["split-k=0", "at least 1"]),
            ("fma,fast", &["fast", "from-c"]),
            ("fma,rna=1", &["rna=1"]),
            ("sm_90:mma.m16n8k16.f32.f16,rna", &["tf32"]),
            ("sm_90:mma.m16n8k16.f32.f16,fold-alpha", &["folds alpha"]),
        ] {
            let error = parse(text, &f16, (2.0, 1.0)).expect_err(text).to_string();
            for needle in needles {
                assert!(error.contains(needle), "{text}: {needle}: {error}");
            }
        }
        let moves = contract("convert.csr.ell.f32");
        assert!(parse("fma", &moves, (1.0, 0.0)).is_err());
    }
}
