//! Table I: tiles of a block, a warp and a thread.

use super::Ratio;
use sparse_oracle::refusal::{Refusal, RequestError};

/// Threads of a warp.
const WARP: u32 = 32;

/// Registers that a thread may use.
const REGISTERS: u64 = 255;

/// Tiles of a thread block, of a warp and of a thread, in elements of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// Rows of a block.
    pub m_s: u32,
    /// Columns of a block.
    pub n_s: u32,
    /// Rows of a warp's tile.
    pub m_r: u32,
    /// Columns of a warp's tile.
    pub n_r: u32,
    /// Rows of a thread's tile.
    pub m_t: u32,
    /// Columns of a thread's tile.
    pub n_t: u32,
}

/// Shared memory loads, by the bits that one instruction moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as the instructions")]
pub enum LdsWidth {
    Bits32,
    Bits64,
    Bits128,
}

/// Equation (6): FMA instructions of a thread tile per load, `m_t * n_t / (alpha * (m_t + n_t))` with alpha = 4, 2 or 1
/// for loads of 32, 64 or 128 bits.
///
/// # Errors
/// A tile without elements; more than 255 registers, `m_t + n_t + m_t * n_t`.
pub fn cmar(m_t: u32, n_t: u32, width: LdsWidth) -> Result<Ratio, Refusal> {
    for (field, extent) in [("m_t", m_t), ("n_t", n_t)] {
        if extent == 0 {
            return Err(RequestError::Zero { field }.into());
        }
    }
    let (m_t, n_t) = (u128::from(m_t), u128::from(n_t));
    let registers = m_t + n_t + m_t * n_t;
    if registers > u128::from(REGISTERS) {
        return Err(Refusal::Request(RequestError::TooLarge {
            field: "m_t + n_t + m_t * n_t",
            found: registers,
            limit: REGISTERS,
        }));
    }
    let alpha = match width {
        LdsWidth::Bits32 => 4,
        LdsWidth::Bits64 => 2,
        LdsWidth::Bits128 => 1,
    };
    Ok(Ratio { numerator: m_t * n_t, denominator: alpha * (m_t + n_t) })
}

impl Tiles {
    /// For small matrices.
    pub const SMALL: Tiles = Tiles::new((32, 32), (16, 32), (4, 4));
    /// For medium matrices.
    pub const MEDIUM: Tiles = Tiles::new((32, 64), (32, 32), (8, 4));
    /// For large matrices.
    pub const LARGE: Tiles = Tiles::new((64, 128), (64, 32), (8, 8));

    const fn new((m_s, n_s): (u32, u32), (m_r, n_r): (u32, u32), (m_t, n_t): (u32, u32)) -> Tiles {
        Tiles { m_s, n_s, m_r, n_r, m_t, n_t }
    }

    /// The row of table I for an m x n result. The paper shows which examples it calls small, medium and large (table
    /// II), and no rule; here the smallest example of a class, by m * n, begins it: 512 x 2048 and 2048 x 4096.
    #[must_use]
    pub fn for_shape(m: usize, n: usize) -> Tiles {
        match m as u128 * n as u128 {
            0..0x10_0000 => Tiles::SMALL,
            0x10_0000..0x80_0000 => Tiles::MEDIUM,
            _ => Tiles::LARGE,
        }
    }

    /// Checks that tiles nest, that a warp has 32 threads and that a thread's tile fits its registers.
    ///
    /// # Errors
    /// The first defect found: an extent of 0, a block that is not a multiple of 32 (bank conflicts) or of its warp
    /// tiles, a warp tile that is not a multiple of its thread tiles, another number of threads, too many registers.
    pub fn check(&self) -> Result<(), Refusal> {
        cmar(self.m_t, self.n_t, LdsWidth::Bits32)?;
        let refuse = |field, expected, found: u32| {
            let found = u64::from(found);
            Err(RequestError::Parameter { field, expected, found }.into())
        };
        for (field, outer, inner) in [
            ("m_r", self.m_r, self.m_t),
            ("n_r", self.n_r, self.n_t),
            ("m_s", self.m_s, self.m_r),
            ("n_s", self.n_s, self.n_r),
        ] {
            if outer == 0 {
                return Err(RequestError::Zero { field }.into());
            }
            if !outer.is_multiple_of(inner) {
                return refuse(field, "a multiple of the tile inside it", outer);
            }
        }
        for (field, extent) in [("m_s", self.m_s), ("n_s", self.n_s)] {
            if !extent.is_multiple_of(32) {
                return refuse(field, "a multiple of 32", extent);
            }
        }
        let (down, across) = self.grid();
        let threads = u64::from(down) * u64::from(across);
        if threads != u64::from(WARP) {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "threads of a warp tile",
                expected: "32",
                found: threads,
            }));
        }
        Ok(())
    }

    /// Threads of a warp, down and across its tile: 4 x 8, but 8 x 4 for [`LARGE`](Tiles::LARGE), where listing 2 has
    /// 4 x 8 for all.
    #[must_use]
    pub const fn grid(&self) -> (u32, u32) {
        (self.m_r / self.m_t, self.n_r / self.n_t)
    }

    /// Warps of a block, down and across. Listing 2 has two across for all.
    #[must_use]
    pub const fn warps(&self) -> (u32, u32) {
        (self.m_s / self.m_r, self.n_s / self.n_r)
    }

    /// Row and column, in the block, where the tile of a thread begins.
    #[must_use]
    pub const fn thread_origin(&self, warp: u32, lane: u32) -> (u32, u32) {
        let (warps, lanes) = (self.warps().1, self.grid().1);
        (warp / warps * self.m_r + lane / lanes * self.m_t, warp % warps * self.n_r + lane % lanes * self.n_t)
    }
}
