//! Where each element lies in the registers of a group, for every instruction that is probed.
//!
//! ```text
//! lane = 4 g + t, e = elements a 32-bit word (f64: one in two words)
//! A  word j   row g + 8 (j % 2), k = e t + i % e + 4 e (j / 2)      (m8: row g)
//! B  word j   k = e t + i % e + 4 e j, n = g                        (wgmma: shared memory, core matrices of 8 x 16 bytes)
//! C  word j   row g + 8 (j / (2 / e)), n = 2 t + ..
//! ```
//!
//! Written from the formulas of the PTX ISA 9.1, sections 9.7.14.5, 9.7.14.6 and 9.7.15.5, apart from the oracle's fragments; a
//! test compares both.

use sparse_kernels::cuda::probe::{Probe, Variant};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Engine, Instruction};

/// A bit field of a group's words; f64 goes on in the next word of the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the word in the group's section.
    pub word: u32,
    /// Lowest bit.
    pub shift: u8,
}

/// How metadata words map to rows and chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metadata {
    /// 16-bit halves of a word are rows g and g + 8 (16- and 32-bit types).
    HalvesAreRows,
    /// Lane parity is the row, halves are columns (8-bit types).
    HalvesAreColumns,
}

/// Places of all elements of one group, row-major.
#[derive(Clone, Debug)]
pub struct Layout {
    /// A as compressed: m x products.
    pub a: Vec<Place>,
    /// B by columns: n x k.
    pub b: Vec<Place>,
    /// C and D: m x n.
    pub c: Vec<Place>,
    /// Metadata nibbles: m x chunks; empty for dense ones.
    pub meta: Vec<Place>,
    /// Lanes, the stride of an f64's second word.
    pub lanes: usize,
}

impl Layout {
    /// The layout of an instruction; `None` for a conversion.
    #[must_use]
    pub fn of(probe: &Probe, metadata: Metadata) -> Option<Layout> {
        let Probe::Matrix { instruction, variant, .. } = probe else {
            return None;
        };
        let words = probe.words();
        let i = *instruction;
        let grid = |rows: u16, cols: usize| {
            (0..usize::from(rows)).flat_map(move |row| (0..cols).map(move |col| (row, col)))
        };
        let group = words.lanes == 128;
        let b = grid(i.n, usize::from(i.k)).map(|(n, k)| {
            if group { shared_b(i.input.bytes(), n, k) } else { register_b(i.input.bytes(), n, k) }
        });
        Some(Layout {
            a: grid(i.m, i.products()).map(|(row, k)| register_a(&i, words.a, row, k)).collect(),
            b: b.collect(),
            c: grid(i.m, usize::from(i.n))
                .map(|(row, n)| register_c(&i, words.c, words.lanes, row, n))
                .collect(),
            meta: if i.engine.is_sparse() {
                grid(i.m, chunks(&i))
                    .map(|(row, chunk)| nibble(&i, selector(*variant), metadata, row, chunk))
                    .collect()
            } else {
                Vec::new()
            },
            lanes: words.lanes,
        })
    }

    /// The bits at a place of a group's section.
    #[must_use]
    #[inline]
    pub fn read(&self, section: &[u32], place: Place, bytes: usize) -> u64 {
        let at = place.word as usize;
        let word = u64::from(section[at]);
        if bytes == 8 {
            return word | u64::from(section[at + self.lanes]) << 32;
        }
        word >> place.shift & (u64::MAX >> (64 - 8 * bytes))
    }
}

/// Chunks of a row of A before compression: four columns, two of tf32.
#[must_use]
pub(super) fn chunks(i: &Instruction) -> usize {
    usize::from(i.k) / chunk_columns(i)
}

/// Columns of one chunk.
#[must_use]
pub(super) const fn chunk_columns(i: &Instruction) -> usize {
    if i.input.bytes() == 4 { 2 } else { 4 }
}

pub(super) const fn selector(variant: Variant) -> usize {
    match variant {
        Variant::Selector(s) => s as usize,
        _ => 0,
    }
}

/// Warp of the group and row inside the warp's 16 (or 8).
fn warp_row(i: &Instruction, row: usize) -> (usize, usize) {
    if i.m == 64 { (row / 16, row % 16) } else { (0, row) }
}

fn lanes(i: &Instruction) -> usize {
    if matches!(i.engine, Engine::Wgmma | Engine::WgmmaSparse) { 128 } else { 32 }
}

/// Column within a lane's words: (t, word along k, element in the word).
fn along_k(bytes: usize, k: usize) -> (usize, usize, usize) {
    let each = (4 / bytes).max(1);
    (k / each % 4, k / (4 * each), k % each)
}

fn register_a(i: &Instruction, words: usize, row: usize, k: usize) -> Place {
    let bytes = i.input.bytes();
    let (warp, row) = warp_row(i, row);
    let (t, block, element) = along_k(bytes, k);
    let rows = if i.m == 8 { 1 } else { 2 };
    let register = row / 8 + rows * block;
    let word = if bytes == 8 { 2 * register } else { register };
    debug_assert!(word < words);
    let lane = 32 * warp + row % 8 * 4 + t;
    Place { word: (word * lanes(i) + lane) as u32, shift: (element * 8 * bytes % 32) as u8 }
}

fn register_b(bytes: usize, n: usize, k: usize) -> Place {
    let (t, register, element) = along_k(bytes, k);
    let word = if bytes == 8 { 2 * register } else { register };
    Place { word: (word * 32 + n * 4 + t) as u32, shift: (element * 8 * bytes % 32) as u8 }
}

/// The tile in shared memory: core matrices of 8 columns x 16 bytes, one after another along k.
fn shared_b(bytes: usize, n: usize, k: usize) -> Place {
    let along = k * bytes;
    let byte = along / 16 * 128 + n * 16 + along % 16;
    Place { word: (byte / 4) as u32, shift: (byte % 4 * 8) as u8 }
}

fn register_c(i: &Instruction, words: usize, lanes: usize, row: usize, n: usize) -> Place {
    let bytes = i.acc.bytes();
    let (warp, row) = warp_row(i, row);
    let lane = 32 * warp + row % 8 * 4 + n / 2;
    let element = row / 8 * 2 + n % 2;
    let (word, shift) = match bytes {
        8 => (2 * element, 0),
        2 => (element / 2, element % 2 * 16),
        _ => (element, 0),
    };
    debug_assert!(word < words);
    Place { word: (word * lanes + lane) as u32, shift: shift as u8 }
}

fn nibble(i: &Instruction, selector: usize, metadata: Metadata, row: usize, chunk: usize) -> Place {
    let (warp, row) = warp_row(i, row);
    let (g, high) = (row % 8, row / 8);
    let (block, nibble) = (chunk / 4, chunk % 4);
    // Lanes of a quad that share one word of columns: 1 (4 chunks), 2 (8) or all 4 (16).
    let (lane, half) = match (chunks(i), metadata) {
        (4, _) => (selector, high),
        (8, Metadata::HalvesAreRows) => (2 * selector + block, high),
        (8, Metadata::HalvesAreColumns) => (2 * selector + high, block),
        (_, Metadata::HalvesAreRows) => (block, high),
        (_, Metadata::HalvesAreColumns) => (2 * (block / 2) + high, block % 2),
    };
    Place { word: (32 * warp + 4 * g + lane) as u32, shift: (16 * half + 4 * nibble) as u8 }
}

/// The arrangement that the PTX ISA draws for a type.
#[must_use]
pub(super) fn documented(precision: Precision) -> Metadata {
    if precision.bytes() == 1 { Metadata::HalvesAreColumns } else { Metadata::HalvesAreRows }
}
