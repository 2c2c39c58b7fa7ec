//! The target that decodes bitmap formats: small and fast, since what it looks for takes many inputs.
//!
//! Nearly valid arrays are not encoded but built, array by array, as the formats' definitions allow: with columns that no
//! bit uses, in windows at any row, in any split between the parts. So they reach what no encoder writes. One element type is
//! enough, as values are only moved; `invalid_parts` has the others. The binary holds nothing else: libFuzzer's work per
//! input grows with the code that is there.

use super::FuzzOutcome;
use super::input::Input;
use super::same::same_csr;
use sparse_kernels::bitmap_decoders;
use sparse_oracle::F16;
use sparse_oracle::format::{
    AnySparse, BitTcf, BitTcfParts, Csr, Entries, FormatKind, FormatParams, LibraSddmm, LibraSddmmParts,
    LibraSpmm, LibraSpmmParts, PAD, Parts, RsTile, RsTileParts, Sparse,
};
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::{Precision, Scalar};
use sparse_oracle::task::{Answer, Task};

/// The formats that mark stored positions by bits.
pub(super) const BITMAPS: [FormatKind; 4] =
    [FormatKind::RsTile, FormatKind::BitTcf, FormatKind::LibraSpmm, FormatKind::LibraSddmm];

/// A second byte from here on asks for arrays with no regard for one another.
pub(super) const RAW: u8 = 0xc0;

/// Rows of a window.
const WINDOW: usize = 8;

/// Most rows: a third window that has one row.
pub(super) const ROWS: usize = 17;

/// Most columns: a second block of the widest kind that has two, a third of the others that has four.
pub(super) const COLS: usize = 20;

/// Arrays of a bitmap format: refused with a typed error, or decoded by the kernel to exactly the entries that the
/// reference decodes.
///
/// # Panics
/// When the two differ.
pub fn bitmap_decode(bytes: &[u8]) -> FuzzOutcome {
    let mut input = Input::new(bytes);
    let which = input.below(BITMAPS.len());
    let parts = if input.byte() >= RAW {
        input.parts(BITMAPS[which])
    } else {
        let damage = input.damages();
        let mut parts = build(&mut input, which);
        for mut piece in damage {
            piece.damage(&mut parts);
        }
        parts
    };
    match check(parts) {
        Ok(matrix) => decoded_alike(which, matrix),
        Err(_) => FuzzOutcome::Refused,
    }
}

/// The constructor of the format. Other formats are not among the inputs, and not in the binary.
fn check(parts: Parts<F16>) -> Result<Sparse<F16>, Refusal> {
    match parts {
        Parts::RsTile(p) => RsTile::try_new(p).map(Sparse::RsTile),
        Parts::BitTcf(p) => BitTcf::try_new(p).map(Sparse::BitTcf),
        Parts::LibraSpmm(p) => LibraSpmm::try_new(p).map(Sparse::LibraSpmm),
        Parts::LibraSddmm(p) => LibraSddmm::try_new(p).map(Sparse::LibraSddmm),
        _ => Err(RequestError::Zero { field: "format" }.into()),
    }
}

fn decoded_alike(which: usize, matrix: Sparse<F16>) -> FuzzOutcome {
    let (entries, nnz) = match &matrix {
        Sparse::RsTile(m) => (m.entries(), m.nnz()),
        Sparse::BitTcf(m) => (m.entries(), m.nnz()),
        Sparse::LibraSpmm(m) => (m.entries(), m.nnz()),
        Sparse::LibraSddmm(m) => (m.entries(), m.nnz()),
        _ => return FuzzOutcome::Refused,
    };
    assert_eq!(entries.check(), Ok(()), "the reference decodes to valid entries");
    assert_eq!(nnz, entries.nnz());
    let (kind, decode) = bitmap_decoders()[which];
    assert_eq!(kind, BITMAPS[which]);
    let answer = decode(Task::Convert {
        a: &AnySparse::F16(matrix),
        to: FormatKind::Csr,
        params: FormatParams::default(),
    });
    match answer {
        Ok(Answer::Sparse(raw)) => {
            assert_eq!(same_csr(&raw, &entries, false), None, "{kind:?}");
            FuzzOutcome::Accepted
        }
        Ok(other) => panic!("{kind:?} answered {other:?}"),
        // More rows than a row pointer may have.
        Err(refusal) => {
            assert_eq!(too_tall(&entries), Some(refusal), "{kind:?}");
            FuzzOutcome::Refused
        }
    }
}

fn too_tall(entries: &Entries<F16>) -> Option<Refusal> {
    Csr::from_entries(entries).err()
}

/// The blocks of all windows, and what they store.
#[derive(Default)]
struct Blocks {
    window_ptr: Vec<u32>,
    /// One word per block, two where it has 128 positions.
    bitmap: Vec<u64>,
    value_ptr: Vec<u32>,
    col: Vec<u32>,
    values: Vec<F16>,
    /// Row and column of each value.
    at: Vec<(u32, u32)>,
    /// A bit for each stored column of each row.
    stored: [u32; ROWS],
}

/// How a format cuts its windows into blocks.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    cols: usize,
    /// Columns of a block.
    width: usize,
    /// Whether a window without a column stands without a block, or must have one.
    may_be_empty: bool,
    /// Whether the columns of a window may stand in any order.
    any_order: bool,
}

/// Values in turn, so that their number costs no input.
struct Palette([F16; 4], usize);

impl Palette {
    fn next(&mut self) -> F16 {
        self.1 += 1;
        self.0[self.1 % 4]
    }
}

/// The set bits, ascending.
fn set(mut mask: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros());
        mask &= mask.wrapping_sub(1);
        bit
    })
}

impl Blocks {
    /// Windows at the given rows: columns by one bit each, then one bit for each position of a block.
    fn read(
        input: &mut Input<'_>,
        shape: Shape,
        starts: impl Iterator<Item = usize>,
        palette: &mut Palette,
    ) -> Blocks {
        let mut blocks = Blocks {
            window_ptr: vec![0],
            value_ptr: vec![0],
            values: Vec::with_capacity(64),
            at: Vec::with_capacity(64),
            ..Blocks::default()
        };
        let words = (WINDOW * shape.width).div_ceil(64);
        for first in starts {
            let mut mask = input.word(3) as u32 & ((1 << shape.cols) - 1);
            if mask == 0 && !shape.may_be_empty {
                mask = 1;
            }
            let mut columns = [0u32; COLS];
            let mut count = 0;
            for column in set(mask) {
                columns[count] = column;
                count += 1;
            }
            if shape.any_order && count > 0 {
                let turn = input.below(count);
                columns[..count].rotate_left(turn);
            }
            for lane in columns[..count].chunks(shape.width) {
                let from = blocks.bitmap.len();
                blocks.bitmap.resize(from + words, 0);
                for r in 0..WINDOW.min(shape.rows - first) {
                    let bits = input.word(shape.width.div_ceil(8)) as u32 & ((1u32 << lane.len()) - 1);
                    let bit = shape.width * r;
                    blocks.bitmap[from + bit / 64] |= u64::from(bits) << (bit % 64);
                    for c in set(bits) {
                        let column = lane[c as usize];
                        blocks.stored[first + r] |= 1 << column;
                        blocks.at.push(((first + r) as u32, column));
                        blocks.values.push(palette.next());
                    }
                }
                blocks.value_ptr.push(blocks.values.len() as u32);
                blocks.col.extend_from_slice(lane);
                blocks.col.resize(blocks.bitmap.len() / words * shape.width, PAD);
            }
            blocks.window_ptr.push((blocks.value_ptr.len() - 1) as u32);
        }
        blocks
    }
}

/// Valid arrays of a format.
fn build(input: &mut Input<'_>, which: usize) -> Parts<F16> {
    let (rows, cols) = (input.below(ROWS + 1), input.below(COLS + 1));
    let mut values = [F16::default(); 4];
    for value in &mut values {
        *value = F16::from_bits64(input.value(Precision::F16));
    }
    let palette = &mut Palette(values, 0);
    let shape = Shape { rows, cols, width: 8, may_be_empty: true, any_order: false };
    match which {
        0 => Parts::RsTile(rs_tile(input, shape, palette)),
        1 => Parts::BitTcf(bit_tcf(input, shape, palette)),
        2 => Parts::LibraSpmm(libra_spmm(input, shape, palette)),
        _ => Parts::LibraSddmm(libra_sddmm(input, shape, palette)),
    }
}

fn aligned(shape: Shape) -> impl Iterator<Item = usize> {
    (0..shape.rows).step_by(WINDOW)
}

fn bit_tcf(input: &mut Input<'_>, shape: Shape, palette: &mut Palette) -> BitTcfParts<F16> {
    let balanced = input.byte() & 1 != 0;
    let blocks = Blocks::read(input, shape, aligned(shape), palette);
    let windows = blocks.window_ptr.windows(2).zip(0..);
    let window_of = windows.flat_map(|(ends, window)| (ends[0]..ends[1]).map(move |_| window));
    BitTcfParts {
        rows: shape.rows,
        cols: shape.cols,
        balanced,
        block_window: if balanced { window_of.collect() } else { Vec::new() },
        row_window_offset: blocks.window_ptr,
        tc_offset: blocks.value_ptr,
        tc_local_bit: blocks.bitmap,
        sparse_a_to_b: blocks.col,
        values: blocks.values,
    }
}

fn rs_tile(input: &mut Input<'_>, mut shape: Shape, palette: &mut Palette) -> RsTileParts<F16> {
    shape.may_be_empty = false;
    let mut starts = Vec::with_capacity(4);
    let mut row = input.below(WINDOW);
    while row < shape.rows && shape.cols > 0 {
        starts.push(row as u32);
        row += WINDOW + input.below(16);
    }
    let blocks = Blocks::read(input, shape, starts.iter().map(|&row| row as usize), palette);
    let mut p = RsTileParts {
        rows: shape.rows,
        cols: shape.cols,
        window_block_ptr: blocks.window_ptr,
        bitmap: blocks.bitmap,
        block_value_ptr: blocks.value_ptr,
        block_col: blocks.col,
        values: blocks.values,
        residual_width: input.below(4),
        ..RsTileParts::default()
    };
    let wanted = input.word(3) as u32;
    let inside = |row: u32| starts.iter().any(|&first| (first..first + WINDOW as u32).contains(&row));
    for row in set(wanted).filter(|&row| (row as usize) < shape.rows && !inside(row)) {
        let mask = input.word(3) as u32 & ((1 << shape.cols) - 1);
        p.residual_row.push(row);
        for column in set(mask).take(p.residual_width) {
            p.residual_col.push(column);
            p.residual_values.push(palette.next());
        }
        let slots = p.residual_row.len() * p.residual_width;
        p.residual_col.resize(slots, PAD);
        p.residual_values.resize(slots, F16::default());
    }
    p.window_row = starts;
    p
}

/// The CUDA-core part of Libra: any positions that no block stores.
#[derive(Default)]
struct Rest {
    row_ptr: Vec<u32>,
    col_idx: Vec<u32>,
    values: Vec<F16>,
}

impl Rest {
    /// Adds the positions to `stored`.
    fn read(input: &mut Input<'_>, shape: Shape, stored: &mut [u32; ROWS], palette: &mut Palette) -> Rest {
        let mut rest = Rest { row_ptr: vec![0], ..Rest::default() };
        let wanted = input.word(3);
        for (row, stored) in stored.iter_mut().enumerate().take(shape.rows) {
            if wanted >> row & 1 == 1 {
                let mask = input.word(3) as u32 & ((1 << shape.cols) - 1) & !*stored;
                rest.col_idx.extend(set(mask));
                rest.values.resize_with(rest.col_idx.len(), || palette.next());
                *stored |= mask;
            }
            rest.row_ptr.push(rest.col_idx.len() as u32);
        }
        rest
    }
}

fn libra_spmm(input: &mut Input<'_>, mut shape: Shape, palette: &mut Palette) -> LibraSpmmParts<F16> {
    shape.width = input.pick(&[8, 4, 16]);
    let mut blocks = Blocks::read(input, shape, aligned(shape), palette);
    let rest = Rest::read(input, shape, &mut blocks.stored, palette);
    LibraSpmmParts {
        rows: shape.rows,
        cols: shape.cols,
        kb: shape.width,
        window_block_ptr: blocks.window_ptr,
        bitmap: blocks.bitmap,
        block_value_ptr: blocks.value_ptr,
        block_col: blocks.col,
        values: blocks.values,
        row_ptr: rest.row_ptr,
        col_idx: rest.col_idx,
        rest_values: rest.values,
    }
}

fn libra_sddmm(input: &mut Input<'_>, mut shape: Shape, palette: &mut Palette) -> LibraSddmmParts<F16> {
    (shape.width, shape.any_order) = (16, true);
    let mut blocks = Blocks::read(input, shape, aligned(shape), palette);
    let rest = Rest::read(input, shape, &mut blocks.stored, palette);
    let mut above = [0u32; ROWS];
    for row in 1..ROWS {
        above[row] = above[row - 1] + blocks.stored[row - 1].count_ones();
    }
    let position = |row: u32, column: u32| {
        let left = blocks.stored[row as usize] & ((1 << column) - 1);
        above[row as usize] + left.count_ones()
    };
    let lanes = rest.row_ptr.windows(2).zip(0..);
    let rest_rows = lanes.flat_map(|(ends, row)| (ends[0]..ends[1]).map(move |_| row));
    let rest_position = rest_rows.zip(&rest.col_idx).map(|(row, &column)| position(row, column));
    LibraSddmmParts {
        rows: shape.rows,
        cols: shape.cols,
        rest_position: rest_position.collect(),
        position: blocks.at.iter().map(|&(row, column)| position(row, column)).collect(),
        window_block_ptr: blocks.window_ptr,
        bitmap: blocks.bitmap,
        block_value_ptr: blocks.value_ptr,
        block_col: blocks.col,
        values: blocks.values,
        row_ptr: rest.row_ptr,
        col_idx: rest.col_idx,
        rest_values: rest.values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is built from bytes without damage is valid: the constructors take all of it.
    #[test]
    fn what_is_built_is_valid() {
        let mut stored = [0; BITMAPS.len()];
        for seed in 0..4000u64 {
            let mut word = seed;
            let noise = std::iter::from_fn(|| {
                word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                Some((word >> 56) as u8)
            });
            let which = seed as usize % BITMAPS.len();
            let bytes: Vec<u8> = noise.take(seed as usize % 256).collect();
            let parts = build(&mut Input::new(&bytes), which);
            let matrix = check(parts).unwrap_or_else(|refusal| panic!("{:?}: {refusal}", BITMAPS[which]));
            stored[which] += matrix.nnz();
            assert_eq!(decoded_alike(which, matrix), FuzzOutcome::Accepted);
        }
        assert!(stored.iter().all(|&nnz| nnz > 1000), "{stored:?}");
    }
}
