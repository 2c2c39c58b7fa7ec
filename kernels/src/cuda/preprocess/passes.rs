//! The parameter of the kernels of `preprocess.cu`, and their launches.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use crate::cuda::gpu::Gpu;
use crate::cuda::launch::{GpuCall, Grid};
use crate::cuda::layout::layout;
use crate::cuda::source::Source;
use sparse_types::refusal::Refusal;

/// Threads of a block, as in the source.
const THREADS: usize = 256;

/// Elements of a tile of a prefix sum, as in the source.
const TILE: usize = 8 * THREADS;

/// Entries of a word.
pub(super) const WORD: usize = 32;

/// `struct Preprocess` of the source: addresses and numbers. With `words = ceil(entries / 32)` and
/// `windows = ceil(rows / 8)`, the arrays have at least as many elements as stand behind them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Pass {
    /// `rows + 1`: offsets of a valid CSR matrix with `entries` entries.
    pub(super) row_ptr: u64,
    /// `entries`
    pub(super) col_idx: u64,
    /// `entries`
    pub(super) values: u64,
    /// `words + 1`
    pub(super) first_row: u64,
    /// `entries`
    pub(super) vector: u64,
    /// `entries`
    pub(super) slot: u64,
    /// `planes * (words + 1)`; flags of the last word of each plane are 0
    pub(super) leaders: u64,
    /// `words + 1`, likewise
    pub(super) rest: u64,
    /// `planes * windows`
    pub(super) origin: u64,
    /// `windows`
    pub(super) cut: u64,
    /// `windows + 1`
    pub(super) window_values: u64,
    /// 2
    pub(super) totals: u64,
    /// `windows + 1`
    pub(super) window_block_ptr: u64,
    /// `rows + 1`
    pub(super) row_ptr_rest: u64,
    /// `blocks << shift`
    pub(super) block_col: u64,
    /// `blocks << shift`
    pub(super) column_mask: u64,
    /// `blocks`, twice as many where `shift` is 4
    pub(super) bitmap: u64,
    /// `blocks + 1`
    pub(super) block_value_ptr: u64,
    /// Entries of the tensor part.
    pub(super) tensor_values: u64,
    /// As many, or the address 0.
    pub(super) position: u64,
    /// Entries of the CUDA-core part.
    pub(super) rest_col: u64,
    /// As many.
    pub(super) rest_values: u64,
    /// As many, or the address 0.
    pub(super) rest_position: u64,
    pub(super) rows: u32,
    pub(super) entries: u32,
    pub(super) words: u32,
    pub(super) windows: u32,
    pub(super) least: u32,
    pub(super) shift: u32,
    pub(super) blocks: u32,
    pub(super) pad: u32,
}

/// `struct Scan` of the source.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Scan {
    words: u64,
    counts: u64,
    sums: u64,
    length: u32,
    tiles: u32,
}

layout! { Preprocess
    Pass as "Preprocess", 216: {
        row_ptr: 0, col_idx: 8, values: 16, first_row: 24, vector: 32, slot: 40, leaders: 48, rest: 56,
        origin: 64, cut: 72, window_values: 80, totals: 88, window_block_ptr: 96, row_ptr_rest: 104,
        block_col: 112, column_mask: 120, bitmap: 128, block_value_ptr: 136, tensor_values: 144,
        position: 152, rest_col: 160, rest_values: 168, rest_position: 176, rows: 184, entries: 188, words: 192,
        windows: 196, least: 200, shift: 204, blocks: 208, pad: 212,
    }
    Scan as "Scan", 32: { words: 0, counts: 8, sums: 16, length: 24, tiles: 28 }
}

/// What a thread of a kernel is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Each {
    /// An entry; a warp has the 32 of a word.
    Entry,
    /// A word, and one behind the last.
    Word,
    Window,
    /// A row, and one behind the last.
    Row,
    Block,
    /// One thread for all.
    All,
}

/// Tiles of a prefix sum of `length` elements and their total.
pub(super) const fn tiles(length: usize) -> usize {
    (length + 1).div_ceil(TILE)
}

impl Pass {
    /// Queues a kernel. Threads past the last element return first.
    ///
    /// # Safety
    /// The arrays that the kernel uses are live and of the lengths that [`Pass`] says; what it reads is what the passes before
    /// it wrote for the same CSR matrix.
    pub(super) unsafe fn queue(&self, gpu: &Gpu, symbol: &str, each: Each) -> Result<(), Refusal> {
        let (count, threads) = match each {
            Each::Entry => (WORD * self.words as usize, THREADS),
            Each::Word => (self.words as usize + 1, THREADS),
            Each::Window => (self.windows as usize, THREADS),
            Each::Row => (self.rows as usize + 1, THREADS),
            Each::Block => (self.blocks as usize, THREADS),
            Each::All => (1, 1),
        };
        let blocks = count.div_ceil(threads) as u128;
        let grid = Grid::new("blocks of threads", blocks, threads as u32, 0)?;
        // SAFETY: every kernel that `queue` is given takes `struct Preprocess`, whose layout `Pass` has (above). The caller promises
        // that the arrays which the kernel uses are live and as long as `Pass` says.
        unsafe { GpuCall::new(Source::Preprocess, symbol, grid).arg(self).launch(gpu) }
    }
}

/// Queues the prefix sum of the flags of `planes` planes of `length` words and one more.
///
/// # Safety
/// `words` is the address of `planes * (length + 1)` live pairs of u32, `sums` of `planes * tiles(length)` numbers.
pub(super) unsafe fn scan_words(
    gpu: &Gpu,
    (words, planes): (u64, usize),
    length: usize,
    sums: u64,
) -> Result<(), Refusal> {
    let scan = Scan { words, sums, length: length as u32, tiles: tiles(length) as u32, ..Scan::default() };
    // SAFETY: the kernels touch `length + 1` words of each plane and one sum per tile: the caller promises that `words` and `sums`
    // hold as many.
    unsafe { scan.queue(gpu, ["sum_words", "scan_words"], planes) }
}

/// Queues the prefix sum in place of `length` counts, and their total behind them.
///
/// # Safety
/// `counts` is the address of `length + 1` live numbers, `sums` of `tiles(length)`.
pub(super) unsafe fn scan_counts(gpu: &Gpu, counts: u64, length: usize, sums: u64) -> Result<(), Refusal> {
    let scan = Scan { counts, sums, length: length as u32, tiles: tiles(length) as u32, ..Scan::default() };
    // SAFETY: the kernels touch `length + 1` counts and one sum per tile: the caller promises that `counts` and `sums` hold as many.
    unsafe { scan.queue(gpu, ["sum_counts", "scan_counts"], 1) }
}

impl Scan {
    /// # Safety
    /// The arrays are live, and long enough for `planes` planes of `length` elements and `tiles` tiles.
    unsafe fn queue(&self, gpu: &Gpu, symbols: [&str; 2], planes: usize) -> Result<(), Refusal> {
        let blocks = planes as u128 * u128::from(self.tiles);
        let grid = Grid::new("tiles", blocks, THREADS as u32, 0)?;
        for symbol in symbols {
            // SAFETY: the four kernels of prefix sums take `struct Scan`, whose layout this one has (above); the caller promises live
            // arrays for `planes` planes of `length` elements and `tiles` tiles.
            unsafe { GpuCall::new(Source::Preprocess, symbol, grid).arg(self).launch(gpu)? };
        }
        Ok(())
    }
}
