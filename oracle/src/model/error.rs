//! Why a model cannot answer.

use crate::arithmetic::{Architecture, CpuUnit, Instruction};
use crate::scalar::Precision;

/// What was asked of a model that it cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The architecture does not have the instruction, or nobody knows how it rounds there.
    #[error("{architecture} has no modelled {instruction}; {available}")]
    NoSuchInstruction {
        /// Where it was asked for.
        architecture: Architecture,
        /// What was asked for.
        instruction: Instruction,
        /// Which architectures have it, as a sentence.
        available: String,
    },
    /// Operands of the wrong length.
    #[error(
        "{instruction} multiplies {expected} pairs an element, but a has {a} and b has {b} values; pad both with zeros or split them"
    )]
    Operands {
        /// The instruction.
        instruction: Instruction,
        /// Pairs that it multiplies.
        expected: usize,
        /// Values of a.
        a: usize,
        /// Values of b.
        b: usize,
    },
    /// Operands of the wrong length for an instruction of a CPU.
    #[error(
        "{unit} multiplies {granule} to {most} pairs an element, in multiples of {granule}, but a has {a} and b has {b} values; pad both with zeros or split them"
    )]
    UnitOperands {
        /// The instruction.
        unit: CpuUnit,
        /// The fewest pairs, and what their number is a multiple of.
        granule: usize,
        /// The most pairs.
        most: usize,
        /// Values of a.
        a: usize,
        /// Values of b.
        b: usize,
    },
    /// A chain whose length is no multiple of the instruction's.
    #[error(
        "{terms} terms are no multiple of the {products} products of {instruction}; use the padded chain, or pad with zeros"
    )]
    NotAMultiple {
        /// The instruction.
        instruction: Instruction,
        /// Products of one instruction.
        products: usize,
        /// Terms of the chain.
        terms: usize,
    },
    /// A metadata nibble that `mma.sp::ordered_metadata` does not allow.
    #[error(
        "metadata nibble {chunk} is {nibble:#06b}, its indices are not ascending; for f16 and bf16 use one of 0100 1000 1100 1001 1101 1110, for tf32 0100 or 1110"
    )]
    Metadata {
        /// Which nibble.
        chunk: usize,
        /// Its value.
        nibble: u32,
    },
    /// A column of B of another length than its metadata describes.
    #[error(
        "a column of B has {found} values, its metadata describes {expected}; give all rows of B, kept or not"
    )]
    Column {
        /// Rows that the metadata describes.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// An instruction whose registers are not described.
    #[error(
        "the registers of {instruction} are not described; described are mma m16n8 and m8n8k4.f64, mma.sp of f16, bf16 and tf32, wgmma"
    )]
    NoFragment {
        /// The instruction.
        instruction: Instruction,
    },
    /// Matrices of another type than the instruction multiplies.
    #[error("{instruction} multiplies {}, the matrix holds {found}; convert it first", instruction.input)]
    Input {
        /// The instruction.
        instruction: Instruction,
        /// The type of the elements.
        found: Precision,
    },
    /// A term names a row that B does not have.
    #[error("a term names row {row} of B, which has {rows}; a pad is named u32::MAX")]
    Row {
        /// The row.
        row: usize,
        /// Rows of B.
        rows: usize,
    },
    /// As many accumulators as B has columns are needed, or as many rows as A has columns.
    #[error("{what}: {found} given, {expected} needed")]
    Shape {
        /// Of what.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}
