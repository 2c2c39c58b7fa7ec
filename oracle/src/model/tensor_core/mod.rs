//! Tensor cores: which bits one instruction returns.
//!
//! ```text
//! table   architecture x instruction -> datapath, evidence
//! alignment  one step opened up, for readers
//! term    bits -> exact integers, and back      fused    one step: T-FDPA
//! chain   instructions one after another along k
//! sparse  2:4 metadata -> the products that take part
//! fragment  which lane holds what
//! spmm    rows of C against a whole B, fast; lanes: its inner loops
//! ```
//!
//! Each model is a short function on exact integers; see [`FusedSum`] for the one algorithm and [`table::ROWS`] for where it
//! holds. NaN bits of f64 instructions are not modelled.

mod alignment;
mod chain;
pub mod fragment;
mod fused;
mod lanes;
mod line;
pub mod sparse;
mod spmm;
pub mod table;
mod term;

pub use alignment::{Aligned, Alignment};
pub use chain::{chain, chain_padded};
pub use fused::FusedSum;
pub use line::Line;
pub use spmm::{ModelSpmm, PAD};
pub use table::{Datapath, Evidence};
pub use term::FinalRounding;

use super::ModelError;
use super::chain::Unit;
use crate::arithmetic::{Architecture, Instruction};
use crate::scalar::{Rounding, decode, encode};
use table::{ROWS, Row};

/// One matrix instruction on one architecture.
#[derive(Clone, Copy, Debug)]
pub struct TensorCore {
    architecture: Architecture,
    instruction: Instruction,
    row: &'static Row,
}

impl PartialEq for TensorCore {
    fn eq(&self, other: &TensorCore) -> bool {
        (self.architecture, self.instruction) == (other.architecture, other.instruction)
    }
}

impl Eq for TensorCore {}

impl TensorCore {
    /// The model of `instruction` on `architecture`.
    ///
    /// # Errors
    /// [`ModelError::NoSuchInstruction`], which names the architectures that have it.
    pub fn new(architecture: Architecture, instruction: Instruction) -> Result<TensorCore, ModelError> {
        let mut covering = ROWS.iter().filter(|row| row.covers(&instruction));
        match covering.find(|row| row.architectures.contains(&architecture)) {
            Some(row) => Ok(TensorCore { architecture, instruction, row }),
            None => Err(ModelError::NoSuchInstruction {
                architecture,
                instruction,
                available: available(&instruction),
            }),
        }
    }

    /// The architecture.
    #[must_use]
    pub const fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// The instruction.
    #[must_use]
    pub const fn instruction(&self) -> Instruction {
        self.instruction
    }

    /// How it computes.
    #[must_use]
    pub const fn datapath(&self) -> Datapath {
        self.row.datapath
    }

    /// How much the model is worth.
    #[must_use]
    pub const fn evidence(&self) -> Evidence {
        self.row.evidence
    }

    /// Who says so.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        self.row.source
    }

    /// The parameters of its fused sums; `None` for f64, which fuses nothing but one product.
    #[must_use]
    pub const fn fused_sum(&self) -> Option<FusedSum> {
        match self.row.datapath {
            Datapath::Fused(sum) | Datapath::HalfPairs(sum) => Some(sum),
            Datapath::FmaChain => None,
        }
    }

    /// Products of one instruction and output element: k, or k / 2 where A is compressed.
    #[must_use]
    pub const fn products(&self) -> usize {
        self.instruction.products()
    }

    /// Steps, each with one rounding, of one instruction and output element. fp8 by the f16 unit adds the accumulator
    /// in one more rounding, see [`roundings`](Self::roundings).
    #[must_use]
    pub const fn links(&self) -> usize {
        self.products() / self.fused()
    }

    /// Products of one step.
    #[must_use]
    pub const fn fused(&self) -> usize {
        let products = self.products();
        match self.row.datapath {
            Datapath::Fused(sum) if sum.products < products => sum.products,
            Datapath::Fused(_) => products,
            Datapath::HalfPairs(_) => products / 2,
            Datapath::FmaChain => 1,
        }
    }

    /// The step in which a product takes part.
    #[must_use]
    pub const fn link_of(&self, product: usize) -> usize {
        match self.row.datapath {
            Datapath::HalfPairs(_) => product % 4 / 2,
            _ => product / self.fused(),
        }
    }

    /// Roundings of one instruction and output element.
    #[must_use]
    pub const fn roundings(&self) -> usize {
        self.links() + matches!(self.row.datapath, Datapath::HalfPairs(_)) as usize
    }

    /// True where the bits of a NaN result are modelled too.
    #[must_use]
    pub const fn fixes_nan(&self) -> bool {
        !matches!(self.row.datapath, Datapath::FmaChain)
    }

    /// One output element of one instruction: the bits of `sum a[i] * b[i] + acc`.
    ///
    /// Operands are bits of the input type, `acc` and the result of the accumulator type. For sparse instructions they are
    /// the products that the metadata selects, in the order of A as it is compressed.
    ///
    /// # Errors
    /// [`ModelError::Operands`] unless both lengths are [`products`](Self::products).
    pub fn apply(&self, acc: u64, a: &[u64], b: &[u64]) -> Result<u64, ModelError> {
        if a.len() != self.products() || b.len() != self.products() {
            return Err(ModelError::Operands {
                instruction: self.instruction,
                expected: self.products(),
                a: a.len(),
                b: b.len(),
            });
        }
        let input = self.instruction.input;
        let blocks = a.chunks(self.fused()).zip(b.chunks(self.fused()));
        Ok(match self.row.datapath {
            Datapath::Fused(sum) => blocks.fold(acc, |acc, (a, b)| sum.step(acc, a, b, input)),
            // Of equal types no product of subnormals reaches a place that is cut, so the conversion to f16 needs no step here.
            Datapath::HalfPairs(sum) => {
                let pairs = |operands: &[u64], link| {
                    let of_link = |i: &usize| self.link_of(*i) == link;
                    (0..operands.len()).filter(of_link).map(|i| operands[i]).collect::<Vec<u64>>()
                };
                let dot = (0..2).fold(0, |dot, link| sum.step(dot, &pairs(a, link), &pairs(b, link), input));
                ieee_add(acc, dot, sum.output)
            }
            Datapath::FmaChain => {
                let number = |bits: &u64| f64::from_bits(*bits);
                let terms = a.iter().map(number).zip(b.iter().map(number));
                terms.fold(number(&acc), |acc, (a, b)| a.mul_add(b, acc)).to_bits()
            }
        })
    }
}

/// `FADD` or `HADD`: nearest even, and the one NaN of these units.
fn ieee_add(x: u64, y: u64, output: FinalRounding) -> u64 {
    let precision = output.precision();
    let sum = Unit { precision }.add(decode(x, precision), decode(y, precision));
    if sum.is_nan() {
        return output.nan();
    }
    encode(sum, precision, Rounding::NearestEven)
}

/// Which architectures have an instruction, as a sentence.
fn available(instruction: &Instruction) -> String {
    let has =
        |a: &Architecture| ROWS.iter().any(|row| row.covers(instruction) && row.architectures.contains(a));
    let names: Vec<&str> = Architecture::ALL.iter().filter(|a| has(a)).map(|a| a.name()).collect();
    if names.is_empty() {
        return "no architecture in the table has it; see `model::tensor_core::table::ROWS`".to_owned();
    }
    format!("it is modelled on {}", names.join(", "))
}
