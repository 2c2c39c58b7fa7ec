//! A dense output as bits, before and after the honest kernel has written it.

use super::request::reborrow;
use sparse_conformance_core::backend::{Backend, Failure};
use sparse_conformance_peers::Portable;
use sparse_oracle::contract::Contract;
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, Layout};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{AnySliceMut, Precision, Rounding, Scalar, decode, encode};
use sparse_oracle::task::{Answer, Task};

/// What a kernel left in its output, to be changed.
#[derive(Debug)]
pub struct Dense<'t> {
    /// Rows of the result; stored positions of an SDDMM.
    pub rows: usize,
    /// Columns of the result.
    pub cols: usize,
    /// Leading dimension, in elements.
    pub ld: usize,
    /// Which index runs fastest.
    pub layout: Layout,
    /// Output type.
    pub precision: Precision,
    /// Factor of C.
    pub beta: f64,
    /// Where the first element lies in memory.
    pub address: usize,
    /// The sparse operand, and whether it is used transposed.
    pub sparse: (&'t AnySparse, bool),
    /// Bits before the call.
    pub before: Vec<u64>,
    /// Bits after it.
    pub after: Vec<u64>,
}

/// Offset of an element.
#[must_use]
pub(super) const fn offset(layout: Layout, ld: usize, i: usize, j: usize) -> usize {
    match layout {
        Layout::RowMajor => i * ld + j,
        Layout::ColMajor => j * ld + i,
    }
}

impl Dense<'_> {
    /// Offset of element (i, j).
    #[must_use]
    pub fn offset(&self, i: usize, j: usize) -> usize {
        offset(self.layout, self.ld, i, j)
    }

    /// (row, column, offset) of every element, row by row; padding is left out.
    #[must_use]
    pub fn offsets(&self) -> Vec<(usize, usize, usize)> {
        (0..self.rows)
            .flat_map(|i| (0..self.cols).map(move |j| (i, j)))
            .map(|(i, j)| (i, j, self.offset(i, j)))
            .collect()
    }

    /// The number that bits of the output type stand for.
    #[must_use]
    pub fn number(&self, bits: u64) -> f64 {
        decode(bits, self.precision)
    }

    /// The nearest number of the output type, as bits.
    #[must_use]
    pub fn bits(&self, number: f64) -> u64 {
        encode(number, self.precision, Rounding::NearestEven)
    }

    /// Sets every element for which `change` has something else: (row, column, bits after, bits before).
    pub fn change(&mut self, change: impl Fn(&Self, (usize, usize), u64, u64) -> Option<u64>) {
        for (i, j, at) in self.offsets() {
            if let Some(bits) = change(self, (i, j), self.after[at], self.before[at]) {
                self.after[at] = bits;
            }
        }
    }

    /// Puts the element after the call through `f`, as a number.
    pub fn map(&mut self, f: impl Fn(f64) -> f64) {
        self.change(|d, _, after, _| Some(d.bits(f(d.number(after)))));
    }

    /// Elements (i, j) for which `left` holds keep what they held before.
    pub fn leave(&mut self, left: impl Fn(&Self, usize, usize) -> bool) {
        self.change(|d, (i, j), _, before| left(d, i, j).then_some(before));
    }

    /// Elements (i, j) for which `lost` holds get no terms: what beta leaves of C, or zero.
    pub fn lose(&mut self, lost: impl Fn(&Self, usize, usize) -> bool) {
        self.change(|d, (i, j), _, before| {
            lost(d, i, j).then(|| if d.beta == 0.0 { 0 } else { d.bits(d.beta * d.number(before)) })
        });
    }

    /// Two elements change places, where both are there.
    pub fn swap(&mut self, one: (usize, usize), other: (usize, usize)) {
        let inside = |at: (usize, usize)| at.0 < self.rows && at.1 < self.cols;
        if inside(one) && inside(other) {
            let (one, other) = (self.offset(one.0, one.1), self.offset(other.0, other.1));
            self.after.swap(one, other);
        }
    }

    /// How many entries each row of the product has.
    #[must_use]
    pub fn row_lengths(&self) -> Vec<usize> {
        let (a, transposed) = self.sparse;
        let mut lengths = vec![0; self.rows];
        sparse_oracle::each_sparse!(a, m => for e in &m.entries().list {
            let row = if transposed { e.col } else { e.row };
            if let Some(length) = lengths.get_mut(row as usize) {
                *length += 1;
            }
        });
        lengths
    }
}

fn read(data: &AnySliceMut<'_>) -> Vec<u64> {
    each_precision!(AnySliceMut, data, s => s.iter().map(|x| x.bits64()).collect())
}

fn write(data: &mut AnySliceMut<'_>, bits: &[u64]) {
    each_precision!(AnySliceMut, data, s => s.iter_mut().zip(bits).for_each(|(x, &b)| *x = Scalar::from_bits64(b)));
}

/// Runs the portable kernel, lets `edit` change what it wrote, and stores that. Tasks without a dense output run
/// unchanged.
///
/// # Errors
/// Those of the portable kernel.
pub(super) fn after(
    contract: &Contract,
    mut task: Task<'_>,
    edit: impl FnOnce(&mut Dense<'_>),
) -> Result<Answer, Failure> {
    let Some(out) = task.output_mut() else {
        return Portable.run(contract, task);
    };
    let before = read(&out.data);
    let (rows, cols, ld, layout) = (out.rows, out.cols, out.ld, out.layout);
    let answer = Portable.run(contract, reborrow(&mut task)?)?;
    let inputs = task.inputs();
    let sparse = (inputs.a, inputs.transpose_a);
    let beta = if inputs.op.updates() { inputs.beta } else { 0.0 };
    let precision = contract.types.out;
    let Some(mut out) = task.output_mut() else {
        return Ok(answer);
    };
    let after = read(&out.data);
    let address = each_precision!(AnySliceMut, &out.data, s => s.as_ptr() as usize);
    let mut dense = Dense { rows, cols, ld, layout, precision, beta, address, sparse, before, after };
    edit(&mut dense);
    write(&mut out.data, &dense.after);
    Ok(answer)
}
