//! Tensor cores: which bits one instruction returns.

use super::ModelError;
use crate::arithmetic::{Architecture, Instruction};

/// One matrix instruction on one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCore {
    architecture: Architecture,
    instruction: Instruction,
}

impl TensorCore {
    /// The model of `instruction` on `architecture`.
    ///
    /// # Errors
    /// [`ModelError::NoSuchInstruction`], which names the architectures that have it.
    pub fn new(architecture: Architecture, instruction: Instruction) -> Result<TensorCore, ModelError> {
        Err(ModelError::NoSuchInstruction {
            architecture,
            instruction,
            available: "no table yet".to_owned(),
        })
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

    /// Products of one instruction and output element: k, or k / 2 where A is compressed.
    #[must_use]
    pub const fn products(&self) -> usize {
        self.instruction.products()
    }

    /// Fused sums, each with one rounding, of one instruction and output element.
    #[must_use]
    pub const fn links(&self) -> usize {
        1
    }

    /// Products of one fused sum.
    #[must_use]
    pub const fn fused(&self) -> usize {
        self.products() / self.links()
    }

    /// One output element of one instruction: the bits of `sum a[i] * b[i] + acc`.
    ///
    /// Operands are bits of the input type, `acc` and the result of the accumulator type.
    ///
    /// # Errors
    /// [`ModelError::Operands`] unless both lengths are [`products`](Self::products).
    pub fn apply(&self, acc: u64, a: &[u64], b: &[u64]) -> Result<u64, ModelError> {
        let _ = acc;
        Err(ModelError::Operands {
            instruction: self.instruction,
            expected: self.products(),
            a: a.len(),
            b: b.len(),
        })
    }
}
