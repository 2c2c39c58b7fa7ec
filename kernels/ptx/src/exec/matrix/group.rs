//! A warp's part of `wgmma`: its 16 rows, 8 columns of D after another, each as `mma` has them in registers.
//!
//! ```text
//! D, m64nNkK      warp w: rows 16 w .. 16 w + 15      columns 8 j .. 8 j + 7: registers 4 j .. 4 j + 3 (f16: 2 j, 2 j + 1)
//! A               registers of the warp, or rows of shared memory: put where m16n8kK has them
//! B               shared memory, k x N
//! ```

use super::{MatrixError, PreparedMma, ROWS};
use crate::program::Mma;
use crate::registers::{Extent, LANES, Mask, Registers, Slot};
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::scalar::Precision;

/// Registers of A and of B, at most.
const FOUR: u16 = 4;
/// Where B, D (C as well) and the metadata lie in the registers of a part; A is first.
const B: u16 = FOUR;
const D: u16 = 2 * FOUR;
const METADATA: u16 = 3 * FOUR;

/// Elements of an operand, with the bits of each and whether it is defined.
pub type Element = (u32, bool);

/// `wgmma.mma_async` of an architecture.
#[derive(Clone, Debug)]
pub struct PreparedGroup {
    part: PreparedMma,
    columns: usize,
    /// Elements of a register.
    each: usize,
}

/// Operand A of a warp.
#[derive(Clone, Copy, Debug)]
pub enum GroupA<'a> {
    /// Registers, with the lanes that are defined.
    Registers(&'a [([u32; LANES], Mask)]),
    /// 16 rows of kept elements.
    Rows(&'a [Element]),
}

impl PreparedGroup {
    /// Looks up the model. The registers of D, A and metadata are as many as the decoder has made sure of.
    ///
    /// # Errors
    /// [`MatrixError`], where the architecture does not have the instruction.
    pub fn new(
        architecture: Architecture,
        instruction: Instruction,
        selector: Option<u8>,
    ) -> Result<PreparedGroup, MatrixError> {
        let core = TensorCore::new(architecture, instruction)?;
        let engine = match instruction.engine {
            Engine::Wgmma => Engine::Mma,
            Engine::WgmmaSparse => Engine::MmaSparse,
            Engine::Mma | Engine::MmaSparse | Engine::Tcgen05 => {
                return Err(MatrixError::Shape { instruction });
            }
        };
        let Instruction { n, k, input, acc, .. } = instruction;
        let half = input.bytes() == 2;
        if !(half || input == Precision::Tf32) || usize::from(k) > super::DEPTH {
            return Err(MatrixError::Shape { instruction });
        }
        let each = if half { 2 } else { 1 };
        let of_b = k / (4 * each);
        let of_d = if acc.bytes() == 2 { 2 } else { 4 };
        let slots = |first: u16, count: u16| (first..first + count).map(Slot::narrow).collect::<Vec<_>>();
        let mma = Mma {
            instruction: Instruction::mma((16, 8, k), acc, input).engine(engine),
            d: slots(D, of_d),
            a: slots(0, FOUR),
            b: slots(B, of_b),
            c: slots(D, of_d),
            metadata: selector.map(|selector| (Slot::narrow(METADATA), selector)),
        };
        Ok(PreparedGroup { part: PreparedMma::by(core, mma)?, columns: n.into(), each: each.into() })
    }

    /// The instruction on 8 columns, over the registers of [`scratch`](Self::scratch).
    #[must_use]
    pub const fn part(&self) -> &Mma {
        &self.part.mma
    }

    /// Columns of D.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Kept elements of a row of A.
    #[must_use]
    pub const fn products(&self) -> usize {
        self.part.core.products()
    }

    /// Registers for a part, with A and the metadata in them.
    #[must_use]
    pub fn scratch(&self, a: GroupA<'_>, metadata: Option<([u32; LANES], Mask)>) -> Registers {
        let mut scratch =
            Registers::new(Extent { predicates: 0, narrow: usize::from(METADATA) + 1, wide: 0 });
        if let Some(word) = metadata {
            put(&mut scratch, METADATA, word);
        }
        match a {
            GroupA::Registers(registers) => {
                (0..FOUR).zip(registers).for_each(|(slot, &register)| put(&mut scratch, slot, register));
            }
            GroupA::Rows(rows) => {
                let products = self.products();
                for i in 0..FOUR {
                    let register = self.register(|lane, side| {
                        let row = lane / 4 + usize::from(i % 2) * 8;
                        let first = usize::from(i / 2) * products / 2;
                        rows[(row % ROWS) * products + first + self.each * (lane % 4) + side]
                    });
                    put(&mut scratch, i, register);
                }
            }
        }
        scratch
    }

    /// Puts columns `8 j` to `8 j + 7` of B into the registers; `b` has k rows of all columns.
    pub fn put_b(&self, scratch: &mut Registers, b: &[Element], j: usize) {
        for i in 0..self.part.mma.b.len() {
            let register = self.register(|lane, side| {
                let k = self.each * (4 * i + lane % 4) + side;
                b[k * self.columns + 8 * j + lane / 4]
            });
            put(scratch, B + i as u16, register);
        }
    }

    /// The sums of 8 columns, from the registers of D and into them.
    ///
    /// # Errors
    /// As [`PreparedMma::apply`].
    pub fn apply(&self, scratch: &mut Registers) -> Result<(), MatrixError> {
        self.part.apply(scratch)
    }

    /// A register of elements; `element` is asked for the low one and, of 16 bits, for the high one.
    fn register(&self, element: impl Fn(usize, usize) -> Element) -> ([u32; LANES], Mask) {
        let (mut words, mut known) = ([0; LANES], 0);
        for (lane, word) in words.iter_mut().enumerate() {
            let mut all = true;
            for side in 0..self.each {
                let (bits, defined) = element(lane, side);
                *word |= bits << (16 * side);
                all &= defined;
            }
            known |= u32::from(all) << lane;
        }
        (words, known)
    }
}

fn put(registers: &mut Registers, index: u16, (words, known): ([u32; LANES], Mask)) {
    registers.narrow[usize::from(index)] = words;
    registers.define(Slot::narrow(index), u32::MAX, known);
}
