//! T2 for a whole row: what the matrix instruction of a GPU returns, all columns side by side.
//!
//! ```text
//! slots of the terms    0 1 . .  . . . .  . . 10 11       blocks of four products, a dot for 0 * 0
//! run as               [0 1 . .][. . . .][. . 10 11]      one empty block stands for any number of them
//!                      -> accumulators, one a column -> alpha, beta, C
//! ```
//!
//! Blocks are those of [`Model`]; a test holds the two together.

use super::exact_dense::ExactDense;
use super::row::MergedRow;
use super::rows::SpmmRow;
use super::rule::Rule;
use crate::arithmetic::{Selects, Slot};
use crate::format::Dense;
use crate::model::ModelError;
use crate::model::reduction::{Model, exact_bits};
use crate::model::tensor_core::{ModelSpmm, PAD, TensorCore};
use crate::scalar::{Precision, Scalar, decode};
use std::fmt::Debug;

/// An instruction with B prepared for it.
pub(super) trait Accumulate: Debug + Sync {
    /// As [`ModelSpmm::accumulate`].
    fn accumulate(&self, terms: &[(u32, u64)], acc: &mut [u64]) -> Result<(), ModelError>;
}

impl<T: Scalar> Accumulate for ModelSpmm<'_, T> {
    fn accumulate(&self, terms: &[(u32, u64)], acc: &mut [u64]) -> Result<(), ModelError> {
        ModelSpmm::accumulate(self, terms, acc)
    }
}

/// Fewer columns are not worth preparing B, which takes room for [`FEWEST`] columns and more.
const FEWEST: usize = 8;

/// The instruction of a declaration that one chain of one instruction computes, terms as they are; `n` is the number of columns.
pub(super) fn instruction(rule: &Rule<'_>, n: usize) -> Option<TensorCore> {
    let (arithmetic, (alpha, _)) = (rule.arithmetic(), rule.scalars());
    let part = arithmetic.part();
    if n < FEWEST || !rule.is_one_chain() || part.selects != Selects::All || alpha == 0.0 {
        return None;
    }
    Model::new(arithmetic)?.core().filter(|core| core.products() == part.block())
}

/// B in the type that the instruction multiplies; `None` where an element is none of it.
pub(super) fn typed<T: Scalar>(b: &ExactDense) -> Option<Dense<T>> {
    let mut exact = true;
    let mut element = |i: usize, j: usize| {
        let bits = exact_bits(b.at(i, j), T::PRECISION);
        exact &= bits.is_some();
        T::from_bits64(bits.unwrap_or(0))
    };
    let typed = Dense::from_fn(b.rows(), b.cols(), &mut element);
    exact.then_some(typed)
}

/// The model of one declaration, with its memory.
#[derive(Debug)]
pub(super) struct CoreRows<'b> {
    b: &'b dyn Accumulate,
    core: TensorCore,
    model: Model,
    scalars: (f64, f64),
    out: Precision,
    merged: MergedRow,
    /// Place along k, row of B, bits of A.
    placed: Vec<(u32, u32, u64)>,
    terms: Vec<(u32, u64)>,
    acc: Vec<u64>,
    row: Vec<f64>,
}

impl<'b> CoreRows<'b> {
    /// `None` for a declaration that is not of such an instruction.
    pub(super) fn new(rule: &Rule<'_>, b: &'b dyn Accumulate) -> Option<CoreRows<'b>> {
        let model = Model::new(rule.arithmetic())?;
        let core = model.core()?;
        let (scalars, out) = (rule.scalars(), rule.arithmetic().out);
        let (merged, placed, terms) = (MergedRow::default(), Vec::new(), Vec::new());
        let (acc, row) = (Vec::new(), Vec::new());
        Some(CoreRows { b, core, model, scalars, out, merged, placed, terms, acc, row })
    }

    /// The results of one row, as f64; `held` is what C held. `None` where the rule has to look at every element: an operand is not of
    /// the instruction's type, a pad faces a NaN or an infinity, slots do not fit.
    pub(super) fn row(&mut self, row: &SpmmRow<'_, '_>, held: &[f64]) -> Option<&[f64]> {
        if row.faces_special() {
            return None;
        }
        self.merged.fill((row.cols, row.values), row.pads);
        self.place(row.slots())?;
        self.line_up();
        let acc_type = self.core.instruction().acc;
        self.acc.clear();
        for &c in held {
            self.acc.push(exact_bits(self.model.start(self.scalars.1, c), acc_type)?);
        }
        let before = if self.placed.is_empty() { self.acc.clone() } else { Vec::new() };
        self.b.accumulate(&self.terms, &mut self.acc).ok()?;
        // Whether an instruction of zeros alone is run for a row without terms, nobody declares.
        if self.placed.is_empty() && self.acc != before {
            return None;
        }
        self.row.clear();
        for (&acc, &c) in self.acc.iter().zip(held) {
            let bits = self.model.finish(decode(acc, acc_type), self.scalars, c);
            self.row.push(decode(bits, self.out));
        }
        Some(&self.row)
    }

    /// The terms, pads among them, in the order of their slots; `None` if two share one.
    fn place(&mut self, slots: Option<&[Slot]>) -> Option<()> {
        let (cols, values) = (&self.merged.cols, &self.merged.values);
        if slots.is_some_and(|slots| slots.len() != cols.len()) {
            return None;
        }
        self.placed.clear();
        for (number, (&col, &value)) in (0u32..).zip(cols.iter().zip(values)) {
            let at = slots.map_or(number, |slots| slots[number as usize].at);
            self.placed.push((at, col, exact_bits(value, self.core.instruction().input)?));
        }
        self.placed.sort_unstable_by_key(|placed| placed.0);
        let distinct = self.placed.windows(2).all(|pair| pair[0].0 < pair[1].0);
        distinct.then_some(())
    }

    /// Blocks of products, filled up with pads.
    fn line_up(&mut self) {
        let block = self.core.products() as u32;
        let terms = &mut self.terms;
        terms.clear();
        // The first block that has not begun.
        let mut next = 0;
        for &(at, row, bits) in &self.placed {
            let index = at / block;
            let fill = |terms: &mut Vec<(u32, u64)>, to: usize| terms.resize(to, (PAD, 0));
            if index >= next {
                let blocks = terms.len().div_ceil(block as usize) + usize::from(index > next);
                fill(terms, blocks * block as usize);
                next = index + 1;
            }
            // Products of the blocks before this one.
            let full = terms.len() / block as usize * block as usize;
            fill(terms, full + (at % block) as usize);
            terms.push((row, bits));
        }
        if terms.is_empty() {
            terms.resize(block as usize, (PAD, 0));
        }
    }
}
