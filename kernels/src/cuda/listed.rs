//! Products by lists of terms: `kernels/cuda/listed.cu` and its host side. What the tiled kernels of N:M and 2:4 do not take
//! is run by these, with the same arithmetic.
//!
//! ```text
//! op(A) -> Lists { ptr, index, values }: the terms of every row of the result, pads of the format included
//!       -> Listed: the same on the device -> launch
//! Prepared: tiles where a tiled kernel takes the matrix, else lists -> launch of either
//! ```
//!
//! An instruction takes so many terms of a row one after another, as the tiled kernels give it: `mma.sp` fuses its kept
//! products as a dense `mma` of half its k does (docs/silicon/h200.md), and the lists are multiplied by the latter.

#![expect(unsafe_code, reason = "launching kernels has no safe form")]

use super::buffer::GpuBuffer;
use super::gpu::Gpu;
use super::launch::{GpuCall, Grid};
use super::layout::layout;
use super::operand::{DeviceDense, Word, bits_of, fits};
use super::source::Source;
use sparse_types::refusal::{Refusal, check_u32};

/// The kernel of f32.
pub(super) const FMA: &str = "listed_fma";

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &[
    FMA,
    "listed_tf32_f32",
    "listed_f16_f32",
    "listed_f16_f16",
    "listed_f16_sum",
    "listed_bf16_f32",
    "listed_bf16_bf16",
    "align_rows_2",
    "align_rows_4",
];

/// Threads of a block, as in the launch bounds.
const BLOCK: u32 = 128;

/// The terms of every row of op(A), pads that the kernel multiplies included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TermLists<T> {
    /// Columns of op(A), above every index.
    columns: usize,
    /// Terms of row i: `ptr[i]..ptr[i + 1]`.
    pub(super) ptr: Vec<u32>,
    /// Row of B of each term.
    pub(super) index: Vec<u32>,
    /// Value of each term.
    pub(super) values: Vec<T>,
}

impl<T: Copy> TermLists<T> {
    /// Of op(A) from (row of A, column of A, value), in the order of terms inside each row of op(A).
    pub(super) fn of(
        (rows, columns): (usize, usize),
        transpose: bool,
        terms: impl Iterator<Item = (u32, u32, T)>,
        zero: T,
    ) -> Result<TermLists<T>, Refusal> {
        if transpose {
            let turned: Vec<_> = terms.map(|(row, column, value)| (column, row, value)).collect();
            return TermLists::new((columns, rows), &turned, zero);
        }
        TermLists::new((rows, columns), &terms.collect::<Vec<_>>(), zero)
    }

    /// From (row, index, value), in the order of terms inside each row.
    fn new(
        (rows, columns): (usize, usize),
        terms: &[(u32, u32, T)],
        zero: T,
    ) -> Result<TermLists<T>, Refusal> {
        check_u32("terms", terms.len() as u128)?;
        check_u32("rows of op(A)", rows as u128)?;
        let mut ptr = vec![0u32; rows + 1];
        for &(row, ..) in terms {
            ptr[row as usize + 1] += 1;
        }
        for row in 0..rows {
            ptr[row + 1] += ptr[row];
        }
        let mut next = ptr.clone();
        let (mut index, mut values) = (vec![0; terms.len()], vec![zero; terms.len()]);
        for &(row, at, value) in terms {
            let place = next[row as usize] as usize;
            next[row as usize] += 1;
            (index[place], values[place]) = (at, value);
        }
        Ok(TermLists { columns, ptr, index, values })
    }
}

/// Lists on the device.
#[derive(Debug)]
pub(super) struct Listed<T: Word> {
    rows: usize,
    columns: usize,
    ptr: GpuBuffer<u32>,
    index: GpuBuffer<u32>,
    values: GpuBuffer<T::Bits>,
}

/// `struct Listed` of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct ListedArg {
    ptr: u64,
    index: u64,
    value: u64,
    b: u64,
    c: u64,
    ldb: u64,
    ldc: u64,
    rows: u32,
    n: u32,
    alpha: f32,
    beta: f32,
}

layout! { Listed
    ListedArg as "Listed", 72: {
        ptr: 0, index: 8, value: 16, b: 24, c: 32, ldb: 40, ldc: 48, rows: 56, n: 60, alpha: 64, beta: 68,
    }
}

impl<T: Word> Listed<T> {
    /// Uploads lists whose indices are below the rows of B.
    pub(super) fn new(gpu: &Gpu, lists: &TermLists<T>) -> Result<Listed<T>, Refusal> {
        Ok(Listed {
            rows: lists.ptr.len() - 1,
            columns: lists.columns,
            ptr: gpu.upload(&lists.ptr)?,
            index: gpu.upload(&lists.index)?,
            values: gpu.upload(&bits_of(&lists.values))?,
        })
    }

    /// Rows without terms: what is left of a product where alpha is 0.
    fn empty(gpu: &Gpu, (rows, columns): (usize, usize)) -> Result<Listed<T>, Refusal> {
        let lists = TermLists { columns, ptr: vec![0; rows + 1], index: Vec::new(), values: Vec::new() };
        Listed::new(gpu, &lists)
    }

    /// `C = alpha * lists * B + beta * C` by the kernel `symbol`, which takes elements `T` to `O`; returns when it is queued.
    pub(super) fn launch<O: Word>(
        &self,
        gpu: &Gpu,
        symbol: &str,
        (b, c): (&DeviceDense<T>, &mut DeviceDense<O>),
        (alpha, beta): (f32, f32),
    ) -> Result<(), Refusal> {
        fits((self.rows, self.columns), b, c)?;
        let wide = if symbol == FMA { 32 } else { 16 };
        let warps = self.rows as u128 * c.cols.div_ceil(wide) as u128;
        let blocks = warps.div_ceil(u128::from(BLOCK / 32));
        let grid = Grid::new("rows x columns of C", blocks, BLOCK, 0)?;
        let (ldb, ldc, n) = (b.ld as u64, c.ld as u64, check_u32("columns of C", c.cols as u128)?);
        let arguments = ListedArg {
            ptr: self.ptr.address(),
            index: self.index.address(),
            value: self.values.address(),
            b: b.data.address(),
            c: c.data.address(),
            ldb,
            ldc,
            rows: self.rows as u32,
            n,
            alpha,
            beta,
        };
        // SAFETY: `ListedArg` is the one parameter of every listed kernel. Offsets in ptr lie within index and values, all of
        // this object; indices are below `columns` (`TermLists`), which `fits` found to be the rows of B. The kernel checks i < rows
        // and j < n, so B is read at row * ldb + j and C written at i * ldc + j, where both have elements (`DeviceDense::new`).
        unsafe { GpuCall::new(Source::Listed, symbol, grid).arg(&arguments).launch(gpu) }
    }
}

/// B with rows at multiples of 16 bytes: a copy where it does not lie so.
fn aligned<T: Word>(gpu: &Gpu, b: &DeviceDense<T>) -> Result<Option<DeviceDense<T>>, Refusal> {
    let each = 16 / size_of::<T::Bits>();
    if b.ld.is_multiple_of(each) || b.rows == 0 {
        return Ok(None);
    }
    let ld = b.cols.next_multiple_of(each);
    let data = gpu.zeros::<T::Bits>(b.rows * ld)?;
    let symbol = match size_of::<T::Bits>() {
        2 => "align_rows_2",
        _ => "align_rows_4",
    };
    let all = b.rows as u64 * b.cols as u64;
    let blocks = [all.div_ceil(256).clamp(1, 4096) as u32, 1];
    let call = GpuCall::new(Source::Listed, symbol, Grid { blocks, threads: 256, shared: 0 })
        .arg(&b.data.address())
        .arg(&(b.ld as u64))
        .arg(&data.address())
        .arg(&(ld as u64))
        .arg(&(b.cols as u64))
        .arg(&all);
    // SAFETY: six arguments as align_rows_2 and _4 take them, chosen by the size of an element. The kernel reads rows * n
    // elements at row * ldb + column of B, which it has, and writes them at row * ld + column of the new buffer.
    unsafe { call.launch(gpu) }?;
    Ok(Some(DeviceDense::new(data, (b.rows, b.cols), ld)?))
}

/// A matrix in the tiles of a kernel for operands `I` and results `O`.
pub(super) trait Tiled<I: Word, O: Word> {
    /// `C = alpha * op(A) * B + beta * C` with alpha other than 0 and rows of B at multiples of 16 bytes; returns when it is
    /// queued.
    fn launch(
        &self,
        gpu: &Gpu,
        bc: (&DeviceDense<I>, &mut DeviceDense<O>),
        factors: (f32, f32),
    ) -> Result<(), Refusal>;
}

/// A matrix on the device.
#[derive(Debug)]
pub(super) enum Prepared<I: Word, T> {
    /// In tiles.
    Tiles(Box<T>),
    /// In lists.
    Listed(Listed<I>),
}

impl<I: Word, T> Prepared<I, T> {
    /// Lists.
    pub(super) fn listed(gpu: &Gpu, lists: &TermLists<I>) -> Result<Prepared<I, T>, Refusal> {
        Ok(Prepared::Listed(Listed::new(gpu, lists)?))
    }

    /// `C = alpha * op(A) * B + beta * C`; `by_list` is the kernel for lists of these types. Returns when it is queued.
    pub(super) fn launch<O: Word>(
        &self,
        gpu: &Gpu,
        by_list: &str,
        (b, c): (&DeviceDense<I>, &mut DeviceDense<O>),
        factors: (f32, f32),
    ) -> Result<(), Refusal>
    where
        T: Tiled<I, O>,
    {
        if factors.0 == 0.0 {
            // Neither A nor B is read.
            return Listed::empty(gpu, (c.rows, b.rows))?.launch(gpu, by_list, (b, c), factors);
        }
        match self {
            Prepared::Listed(listed) => listed.launch(gpu, by_list, (b, c), factors),
            Prepared::Tiles(tiles) => match aligned(gpu, b)? {
                Some(copy) => tiles.launch(gpu, (&copy, c), factors),
                None => tiles.launch(gpu, (b, c), factors),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_the_order_of_terms_inside_a_row() {
        let terms = [(2, 7, 'a'), (0, 1, 'b'), (2, 3, 'c')];
        let lists = TermLists::of((3, 8), false, terms.into_iter(), ' ').expect("few terms");
        assert_eq!(lists.ptr, [0, 1, 1, 3]);
        assert_eq!(lists.index, [1, 7, 3]);
        assert_eq!(lists.values, ['b', 'a', 'c']);
        let turned = TermLists::of((3, 8), true, terms.into_iter(), ' ').expect("few terms");
        assert_eq!(turned.ptr, [0, 0, 1, 1, 2, 2, 2, 2, 3]);
        assert_eq!(turned.index, [0, 2, 2]);
        assert_eq!(turned.values, ['b', 'c', 'a']);
    }
}
