//! Which lane holds which element of A, B, C and D.
//!
//! ```text
//! lane = 4 g + t      a_i (row, k)                       b_i (k, n)             c_i (row, n)
//! 2-byte types        g + 8 (i/2 % 2), 2t + i%2 + 8 (i/4)    2t + i%2 + 8 (i/2), g    g + 8 (i/2), 2t + i%2
//! tf32, f64           g + 8 (i % 2), t + 4 (i/2)             t + 4i, g
//! 1-byte types        g + 8 (i/4 % 2), 4t + i%4 + 16 (i/8)   4t + i%4 + 16 (i/4), g
//! wgmma               warp w of 4 has rows 16 w .. 16 w + 15, A as above; B lies in shared memory;
//!                     c_i: g + 8 (i/2 % 2), 8 (i/4) + 2t + i%2
//! ```
//!
//! Source: PTX ISA 9.1, sections 9.7.14.5 (mma), 9.7.14.6 (mma.sp), 9.7.15.5 (wgmma).

use crate::arithmetic::{Engine, Instruction};
use crate::model::ModelError;
use crate::scalar::Precision;

/// The registers of one instruction. Sparse ones: A as it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    instruction: Instruction,
}

impl Fragment {
    /// The registers of `instruction`.
    ///
    /// # Errors
    /// [`ModelError::NoFragment`] where they are not described.
    pub fn of(instruction: Instruction) -> Result<Fragment, ModelError> {
        let Instruction { m, n, k, .. } = instruction;
        let width = instruction.input.bytes();
        // Bytes of a row of A as it is compressed: 16 or 32, and multiples of 32 for f64.
        let row = instruction.products() * width;
        let known = instruction.input != Precision::F32
            && match instruction.engine {
                Engine::Mma if width == 8 => {
                    (m, n, k) == (8, 8, 4) || (m, n) == (16, 8) && matches!(k, 4 | 8 | 16)
                }
                Engine::Mma => (m, n) == (16, 8) && matches!(row, 16 | 32),
                Engine::MmaSparse => (m, n) == (16, 8) && matches!(row, 16 | 32) && matches!(width, 2 | 4),
                Engine::Wgmma => m == 64 && n.is_multiple_of(8) && (8..=256).contains(&n) && row == 32,
                Engine::WgmmaSparse | Engine::Tcgen05 => false,
            };
        if known { Ok(Fragment { instruction }) } else { Err(ModelError::NoFragment { instruction }) }
    }

    /// Threads that share the work: 32, or 128 of a warpgroup.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        match self.instruction.engine {
            Engine::Wgmma => 128,
            _ => 32,
        }
    }

    /// Elements of A in one lane.
    #[must_use]
    pub const fn a_len(&self) -> usize {
        self.instruction.m as usize * self.instruction.products() / self.lanes()
    }

    /// Elements of B in one lane; 0 where B lies in shared memory.
    #[must_use]
    pub const fn b_len(&self) -> usize {
        match self.instruction.engine {
            Engine::Wgmma => 0,
            _ => self.instruction.k as usize * self.instruction.n as usize / 32,
        }
    }

    /// Elements of C, and of D, in one lane.
    #[must_use]
    pub const fn c_len(&self) -> usize {
        self.instruction.m as usize * self.instruction.n as usize / self.lanes()
    }

    /// Row and column, in A as it is compressed, of element `i` of `lane`.
    #[must_use]
    pub const fn a(&self, lane: usize, i: usize) -> (usize, usize) {
        let (warp, g, t) = split(lane);
        let first = 16 * warp + g;
        match self.instruction.input.bytes() {
            1 => (first + i / 4 % 2 * 8, 4 * t + i % 4 + i / 8 * 16),
            2 => (first + i / 2 % 2 * 8, 2 * t + i % 2 + i / 4 * 8),
            _ if self.instruction.m == 8 => (first, t),
            _ => (first + i % 2 * 8, t + i / 2 * 4),
        }
    }

    /// Row and column of B of element `i` of `lane`.
    #[must_use]
    pub const fn b(&self, lane: usize, i: usize) -> (usize, usize) {
        let (_, g, t) = split(lane);
        match self.instruction.input.bytes() {
            1 => (4 * t + i % 4 + i / 4 * 16, g),
            2 => (2 * t + i % 2 + i / 2 * 8, g),
            _ => (t + i * 4, g),
        }
    }

    /// Row and column of C and D of element `i` of `lane`.
    #[must_use]
    pub const fn c(&self, lane: usize, i: usize) -> (usize, usize) {
        let (warp, g, t) = split(lane);
        (16 * warp + g + i / 2 % 2 * 8, i / 4 * 8 + 2 * t + i % 2)
    }
}

/// Warp in the warpgroup, g and t of a lane.
const fn split(lane: usize) -> (usize, usize, usize) {
    (lane / 32, lane % 32 / 4, lane % 4)
}
