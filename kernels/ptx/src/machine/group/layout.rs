//! Where a descriptor of `wgmma` says that the elements of A and B lie in shared memory.
//!
//! ```text
//! bits 0..13 address / 16    16..29 leading offset / 16    32..45 stride offset / 16    49..51 base    62..63 swizzle
//!
//! along k     rows of W bytes, 8 rows of the matrix side by side; the next 8 a stride further; W = 16: 16 bytes along k a leading further
//! along m, n  rows of W bytes, 8 of k side by side; the next 8 of k a stride further, the next W bytes a leading (W = 16: swapped)
//! swizzle     address bits 4.. of a row of 128, 64 or 32 bytes are exchanged with bits 7..: exclusive or
//! ```
//!
//! Source: PTX ISA 9.1, section 9.7.15.5.1; each compared with an H200 (`tests/silicon/h200_wgmma.txt`).

/// A descriptor taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TileLayout {
    start: u32,
    leading: u32,
    stride: u32,
    /// Bytes of a row.
    row: u32,
    transposed: bool,
    /// Of an element.
    bytes: u32,
}

/// Shared memory has addresses of 18 bits.
const ADDRESSES: u32 = 0x3_ffff;

impl TileLayout {
    /// Of an operand with `k` elements of so many bytes along k.
    ///
    /// # Errors
    /// Why it is not played, in words.
    pub(super) fn of(
        descriptor: u64,
        transposed: bool,
        (k, bytes): (usize, usize),
    ) -> Result<TileLayout, &'static str> {
        let field = |from: u32| (descriptor >> from & 0x3fff) as u32 * 16;
        let row = match descriptor >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        if descriptor >> 49 & 7 != 0 {
            return Err(
                "its base offset is not 0: the machine plays tiles that begin where their pattern does",
            );
        }
        if !transposed && row > 16 && k * bytes > row as usize {
            return Err("a swizzle of 32 bytes is narrower than what the instruction takes along k");
        }
        Ok(TileLayout {
            start: field(0),
            leading: field(16),
            stride: field(32),
            row,
            transposed,
            bytes: bytes as u32,
        })
    }

    /// Elements of 16 bytes: those lie side by side, along k or across it.
    pub(super) const fn each(&self) -> usize {
        (16 / self.bytes) as usize
    }

    /// Whether they lie across.
    pub(super) const fn transposed(&self) -> bool {
        self.transposed
    }

    /// Where the 16 bytes begin that hold the element of row or column `across` at `k`.
    pub(super) fn at(&self, across: usize, k: usize) -> u32 {
        let (across, k) = (across as u32, k as u32);
        let TileLayout { start, leading, stride, row, .. } = *self;
        let offset = if self.transposed {
            let wide = row / self.bytes;
            let (next_across, next_k) = if row == 16 { (stride, leading) } else { (leading, stride) };
            let (inner, block) = (across % wide, across / wide);
            inner * self.bytes / 16 * 16 + block * next_across + k % 8 * row + k / 8 * next_k
        } else {
            let along = k * self.bytes / 16 * 16;
            let along = if row == 16 { along / 16 * leading } else { along };
            across % 8 * row + across / 8 * stride + along
        };
        let at = start.wrapping_add(offset);
        let swizzled = match row {
            128 => at ^ (at >> 3 & 0x70),
            64 => at ^ (at >> 3 & 0x30),
            32 => at ^ (at >> 3 & 0x10),
            _ => at,
        };
        swizzled & ADDRESSES
    }
}
