//! `mma.sync`, `mma.sp` and a warp's part of `wgmma` for all 32 lanes at once, bit for bit as the oracle's model of the architecture.
//!
//! ```text
//! registers of 32 lanes -> A (16 x products), B (k x 8), C (16 x 8) -> fused: 8 outputs a turn -> D -> registers
//!                                              NaN, infinity, f64   -> TensorCore::apply, one output
//! ```

mod fused;
mod group;
mod layout;

use crate::program::Mma;
use crate::registers::{Class, LANES, Registers, Slot};
use fused::Fused;
pub use group::{Element, GroupA, PreparedGroup};
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::format::SparseMma;
use sparse_oracle::model::ModelError;
use sparse_oracle::model::tensor_core::TensorCore;
use sparse_oracle::model::tensor_core::fragment::Fragment;
use thiserror::Error;

/// Rows of D at most.
const ROWS: usize = 16;
/// Columns of D.
const COLS: usize = 8;
/// Products of an output at most.
const PRODUCTS: usize = 16;
/// Rows of B at most.
const DEPTH: usize = 32;

/// For each row of A: the row of B that each of its values meets.
type Selected = [[u8; PRODUCTS]; ROWS];

/// Why an instruction for matrices can't be executed.
#[derive(Clone, Debug, Error)]
pub enum MatrixError {
    /// The oracle has no model of it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Not one of those that fit the registers of this machine.
    #[error(
        "{instruction} is not executed here; m16n8 with up to 16 products an output, and m8n8k4.f64, are"
    )]
    Shape {
        /// The instruction.
        instruction: Instruction,
    },
    /// Another number of registers, or registers of another width.
    #[error(
        "{instruction} takes {expected} registers of {bits} bits for {which}, the instruction names {found}"
    )]
    Registers {
        /// The instruction.
        instruction: Instruction,
        /// A, B, C, D or the metadata.
        which: &'static str,
        /// How many.
        expected: usize,
        /// How wide.
        bits: usize,
        /// How many the instruction names.
        found: usize,
    },
    /// A selector that the shape does not have.
    #[error("the selector of {instruction} is {selector}; it is below {selectors}")]
    Selector {
        /// The instruction.
        instruction: Instruction,
        /// As the instruction says.
        selector: u8,
        /// How many there are.
        selectors: usize,
    },
}

/// An instruction for matrices, prepared for an architecture.
#[derive(Clone, Debug)]
pub struct PreparedMma {
    core: TensorCore,
    fragment: Fragment,
    fused: Option<Fused>,
    sparse: Option<(SparseMma, usize, Slot)>,
    mma: Mma,
}

impl PreparedMma {
    /// Checks an instruction, and looks up its model.
    ///
    /// # Errors
    /// [`MatrixError`], where the architecture does not have the instruction or its registers don't fit it.
    pub fn new(architecture: Architecture, mma: &Mma) -> Result<PreparedMma, MatrixError> {
        let instruction = mma.instruction;
        let core = TensorCore::new(architecture, instruction)?;
        let fragment = Fragment::of(instruction)?;
        let warp = matches!(instruction.engine, Engine::Mma | Engine::MmaSparse);
        let fits = usize::from(instruction.m) <= ROWS && usize::from(instruction.n) == COLS;
        if !warp || !fits || core.products() > PRODUCTS || usize::from(instruction.k) > DEPTH {
            return Err(MatrixError::Shape { instruction });
        }
        let (input, acc) = (instruction.input.bytes(), instruction.acc.bytes());
        check(instruction, "A", &mma.a, fragment.a_len(), input)?;
        check(instruction, "B", &mma.b, fragment.b_len(), input)?;
        check(instruction, "C", &mma.c, fragment.c_len(), acc)?;
        check(instruction, "D", &mma.d, fragment.c_len(), acc)?;
        PreparedMma::by(core, mma.clone())
    }

    /// The same sums by the model of `core`, whose 16 rows of a warp and 8 columns lie as those of `mma`.
    fn by(core: TensorCore, mma: Mma) -> Result<PreparedMma, MatrixError> {
        let fragment = Fragment::of(mma.instruction)?;
        let sparse = sparse(&mma)?;
        Ok(PreparedMma { core, fragment, fused: Fused::of(&core), sparse, mma })
    }

    /// The model that this follows.
    #[must_use]
    pub const fn core(&self) -> &TensorCore {
        &self.core
    }

    /// D from A, B and C, in all lanes.
    ///
    /// # Errors
    /// [`ModelError::Metadata`] where the metadata names no ascending pair; no register is changed then.
    pub fn apply(&self, registers: &mut Registers) -> Result<(), MatrixError> {
        let selected = self.selected(registers)?;
        let mut d = [[0; COLS]; ROWS];
        let slow = match &self.fused {
            Some(fused) if fused.is_zero(registers, &self.mma) => [0; ROWS],
            Some(fused) => fused.run(registers, &self.mma, &selected, &mut d),
            None => [u8::MAX; ROWS],
        };
        if slow != [0; ROWS] {
            self.slowly(registers, &selected, slow, &mut d)?;
        }
        self.write(registers, &d);
        Ok(())
    }

    /// The rows of B that take part.
    fn selected(&self, registers: &Registers) -> Result<Selected, MatrixError> {
        let Some((shape, selector, slot)) = self.sparse else {
            return Ok([std::array::from_fn(|product| product as u8); ROWS]);
        };
        let words = &registers.narrow[usize::from(slot.index)];
        let kept = shape.chunk() / 2;
        let mut selected = [[0; PRODUCTS]; ROWS];
        for (row, selected) in selected.iter_mut().enumerate() {
            for chunk in 0..shape.k() / shape.chunk() {
                let (word, shift) = shape.nibble_of_chunk(row, chunk);
                let nibble = words[shape.lane_of_word(word, selector) % LANES] >> shift & 15;
                let offsets = shape.offsets(nibble).ok_or(ModelError::Metadata { chunk, nibble })?;
                for (i, offset) in offsets[..kept].iter().enumerate() {
                    selected[chunk * kept + i] = (chunk * shape.chunk() + offset) as u8;
                }
            }
        }
        Ok(selected)
    }

    /// The outputs that `slow` names, by the scalar model.
    fn slowly(
        &self,
        registers: &Registers,
        selected: &Selected,
        slow: [u8; ROWS],
        d: &mut [[u64; COLS]; ROWS],
    ) -> Result<(), MatrixError> {
        let Instruction { m, input, acc, .. } = self.core.instruction();
        let mut a = [[0; PRODUCTS]; ROWS];
        let mut b = [[0; COLS]; DEPTH];
        for lane in 0..LANES {
            for i in 0..self.fragment.a_len() {
                let (row, product) = self.fragment.a(lane, i);
                a[row][product] = element(registers, &self.mma.a, input.bytes(), lane, i);
            }
            for i in 0..self.fragment.b_len() {
                let (row, col) = self.fragment.b(lane, i);
                b[row][col] = element(registers, &self.mma.b, input.bytes(), lane, i);
            }
        }
        let products = self.core.products();
        for lane in 0..LANES {
            for i in 0..self.fragment.c_len() {
                let (row, col) = self.fragment.c(lane, i);
                if slow[row] >> col & 1 == 0 || row >= usize::from(m) {
                    continue;
                }
                let c = element(registers, &self.mma.c, acc.bytes(), lane, i);
                let column: [u64; PRODUCTS] = selected[row].map(|k| b[usize::from(k)][col]);
                d[row][col] = self.core.apply(c, &a[row][..products], &column[..products])?;
            }
        }
        Ok(())
    }

    /// D as `fragment` in the oracle has it: lane 4 g + t holds columns 2 t and 2 t + 1 of rows g and g + 8.
    fn write(&self, registers: &mut Registers, d: &[[u64; COLS]; ROWS]) {
        let width = self.core.instruction().acc.bytes();
        for (i, slot) in self.mma.d.iter().enumerate() {
            let index = usize::from(slot.index);
            let (half, odd) = if width == 2 { (i, 0) } else { (i / 2, i % 2) };
            let rows = d[half % 2 * 8..].iter().take(8).enumerate();
            for (g, row) in rows {
                for t in 0..4 {
                    let (first, lane) = (row[2 * t + odd], 4 * g + t);
                    match width {
                        // Two elements a register, the first in the low half.
                        2 => registers.narrow[index][lane] = (row[2 * t + 1] << 16 | first) as u32,
                        4 => registers.narrow[index][lane] = first as u32,
                        _ => registers.wide[index][lane] = first,
                    }
                }
            }
        }
    }
}

/// Element `i` that a lane holds.
fn element(registers: &Registers, slots: &[Slot], width: usize, lane: usize, i: usize) -> u64 {
    match width {
        2 => (registers.narrow[usize::from(slots[i / 2].index)][lane] >> (i % 2 * 16) & 0xffff).into(),
        4 => registers.narrow[usize::from(slots[i].index)][lane].into(),
        _ => registers.wide[usize::from(slots[i].index)][lane],
    }
}

/// `count` elements of `width` bytes lie in these registers.
fn check(
    instruction: Instruction,
    which: &'static str,
    slots: &[Slot],
    count: usize,
    width: usize,
) -> Result<(), MatrixError> {
    let (class, bits) = if width == 8 { (Class::Wide, 64) } else { (Class::Narrow, 32) };
    let expected = count * width * 8 / bits;
    let found = slots.len();
    if !matches!(width, 2 | 4 | 8) || found != expected || slots.iter().any(|slot| slot.class != class) {
        return Err(MatrixError::Registers { instruction, which, expected, bits, found });
    }
    Ok(())
}

/// The shape, the selector and the metadata of `mma.sp`.
fn sparse(mma: &Mma) -> Result<Option<(SparseMma, usize, Slot)>, MatrixError> {
    let instruction = mma.instruction;
    let expected = usize::from(instruction.engine == Engine::MmaSparse);
    let wrong = || MatrixError::Registers {
        instruction,
        which: "metadata",
        expected,
        bits: 32,
        found: usize::from(mma.metadata.is_some()),
    };
    match (instruction.engine, mma.metadata) {
        (Engine::MmaSparse, Some((slot, selector))) if slot.class == Class::Narrow => {
            let shape = [true, false].into_iter().filter_map(|short| SparseMma::of(instruction.input, short));
            let shape = shape.into_iter().find(|shape| shape.k() == usize::from(instruction.k));
            let shape = shape.ok_or(MatrixError::Shape { instruction })?;
            let selectors = shape.selectors();
            if usize::from(selector) >= selectors {
                return Err(MatrixError::Selector { instruction, selector, selectors });
            }
            Ok(Some((shape, selector.into(), slot)))
        }
        (Engine::Mma, None) => Ok(None),
        _ => Err(wrong()),
    }
}
