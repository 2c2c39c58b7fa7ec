//! T2 for the terms of one part of a row: chains of IEEE operations, or of a matrix instruction of a GPU, all columns side by side.
//!
//! ```text
//! slots of the terms    0 1 . .  . . . .  . . 10 11 | 12 ..      blocks of four products, ranges of three blocks
//! run as               [0 1 . .][. . . .][. . 10 11]             one empty block stands for any number of them
//!                      -> accumulators, one a column  +  those of the next range  + ..
//! ```
//!
//! Blocks and ranges are those of [`Model`](crate::model::reduction::Model); a test holds the two together.

use super::exact_dense::{ExactDense, each_width};
use super::modelled::{Number, add_terms, fuses, is_f32};
use super::row::MergedRow;
use super::rows::SpmmRow;
use super::rule::Rule;
use crate::arithmetic::{Along, Part, Reduction, Selects};
use crate::exact::Lane;
use crate::format::Dense;
use crate::model::ModelError;
use crate::model::chain::Unit;
use crate::model::reduction::{Ranges, exact_bits, ranges};
use crate::model::tensor_core::{ModelSpmm, PAD, TensorCore};
use crate::op::DenseRows;
use crate::scalar::{Precision, Scalar, decode};
use pulp::{Arch, NullaryFnOnce};
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

/// The instruction of the first part of a declaration, where it is computed by rows; `n` is the number of columns.
pub(super) fn instruction(rule: &Rule<'_>, n: usize) -> Option<TensorCore> {
    if n < FEWEST || !rule.has_model() {
        return None;
    }
    match rule.arithmetic().part().reduction {
        Reduction::Mma { architecture: Some(architecture), instruction } => {
            TensorCore::new(architecture, instruction).ok()
        }
        _ => None,
    }
}

/// True for a part of IEEE operations that are the machine's own.
pub(super) fn is_chain(part: &Part, out: Precision) -> bool {
    let is_machine_type = matches!(part.acc, Precision::F32 | Precision::F64);
    fuses(part.reduction).is_some() && is_machine_type && part.acc.spec().holds(out.spec())
}

/// B in the type that the instruction multiplies; `None` where an element is none of it. Rows in which the instruction has no term may hold
/// anything.
pub(super) fn typed<T: Scalar>(
    b: &ExactDense<'_>,
    is_multiplied: impl Fn(usize) -> bool,
) -> Option<Dense<T>> {
    let mut exact = true;
    let mut element = |i: usize, j: usize| {
        let bits = exact_bits(b.at(i, j), T::PRECISION);
        exact &= bits.is_some() || !is_multiplied(i);
        T::from_bits64(bits.unwrap_or(0))
    };
    let typed = Dense::from_fn(b.rows(), b.cols(), &mut element);
    exact.then_some(typed)
}

/// What takes the terms of a range.
#[derive(Clone, Copy, Debug)]
enum RangeStep<'b> {
    /// IEEE operations, fused or not.
    Chain { fused: bool },
    /// An instruction, B prepared for it.
    Core(TensorCore, &'b dyn Accumulate),
}

/// A term: its place along k, its row of B, and the element of A.
#[derive(Clone, Copy, Debug)]
struct PlacedTerm {
    at: u32,
    row: u32,
    value: f64,
}

/// The model of one part, with its memory.
#[derive(Debug)]
pub(super) struct PartRows<'b> {
    part: Part,
    arch: Arch,
    step: RangeStep<'b>,
    /// The terms of this part by slot, less those dropped.
    placed: Vec<PlacedTerm>,
    /// The first and the last slot of a term, dropped or not.
    span: Option<(u32, u32)>,
    /// The sums of a range after the first.
    later: Vec<f64>,
    /// The sums of the groups of ranges before the one that is added up.
    before: Vec<f64>,
    narrow: Vec<f32>,
    terms: Vec<(u32, u64)>,
    bits: Vec<u64>,
}

impl<'b> PartRows<'b> {
    /// `None` for a part that is neither; `core` is the instruction, if it has one, and `out` the type of the result.
    pub(super) fn new(
        part: &Part,
        out: Precision,
        core: Option<(TensorCore, &'b dyn Accumulate)>,
    ) -> Option<PartRows<'b>> {
        let step = match (core, fuses(part.reduction)) {
            (Some((core, b)), _) => RangeStep::Core(core, b),
            (None, Some(fused)) if is_chain(part, out) => RangeStep::Chain { fused },
            (None, _) => return None,
        };
        let (placed, later, before, narrow) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (span, terms, bits) = (None, Vec::new(), Vec::new());
        Some(PartRows {
            part: *part,
            arch: Arch::new(),
            step,
            placed,
            span,
            later,
            before,
            narrow,
            terms,
            bits,
        })
    }

    /// The part.
    pub(super) fn part(&self) -> &Part {
        &self.part
    }

    /// True where it has no term of the row.
    pub(super) fn is_empty(&self) -> bool {
        self.span.is_none()
    }

    /// Takes its terms of a row, pads among them, in the order of their slots. `None` if two share one, or ranges are cut from blocks that
    /// the slots do not tell.
    pub(super) fn place(&mut self, row: &SpmmRow<'_, '_>, merged: &MergedRow) -> Option<()> {
        let slots = row.slots();
        if slots.is_some() && matches!(self.part.along, Along::SplitK { .. }) {
            return None;
        }
        self.placed.clear();
        for (number, (&row, &value)) in (0u32..).zip(merged.cols.iter().zip(&merged.values)) {
            let slot = slots.map(|slots| slots[number as usize]);
            if slot.is_none_or(|slot| self.part.selects == Selects::All || slot.is_of(self.part.selects)) {
                self.placed.push(PlacedTerm { at: slot.map_or(number, |slot| slot.at), row, value });
            }
        }
        self.placed.sort_unstable_by_key(|placed| placed.at);
        self.placed.windows(2).all(|pair| pair[0].at < pair[1].at).then_some(())?;
        self.span = self.placed.first().zip(self.placed.last()).map(|(first, last)| (first.at, last.at));
        // To a fused sum, a product of a zero and a number is what a slot without a term is. (The model drops those with a zero in B as well,
        // column by column: a block of zeros changes nothing that one empty block has not changed, and a range of zeros adds +0.)
        if matches!(self.step, RangeStep::Core(core, _) if core.fused_sum().is_some()) {
            self.placed.retain(|placed| placed.value != 0.0 || row.is_special(placed.row));
        }
        Some(())
    }

    /// The sums of the placed terms; `acc` has what they start from. `None` where the rule has to look at every element: an operand is
    /// not of the unit's type.
    pub(super) fn sum(&mut self, b: &ExactDense<'_>, acc: &mut [f64]) -> Option<()> {
        let block = self.part.block() as u32;
        let (first, extent) =
            self.span.map_or((u32::MAX, 0), |(first, last)| (first / block, last / block + 1));
        let Ranges { length, count, together } = ranges(self.part.along, extent);
        let (placed, mut later) = (std::mem::take(&mut self.placed), std::mem::take(&mut self.later));
        let mut before = std::mem::take(&mut self.before);
        before.clear();
        let range_of = |placed: &PlacedTerm| placed.at / block / length;
        if block > 1 && placed.first().is_none_or(|first| range_of(first) > 0) {
            later.clear();
            later.extend_from_slice(acc);
            self.range(b, &[], 0, acc)?;
            let is_same = acc.iter().zip(&later).all(|(acc, before)| acc.to_bits() == before.to_bits());
            // Whether an instruction of zeros alone is run where the first range has no terms, nobody declares.
            (is_same || first < length).then_some(())?;
        }
        let (mut filled, mut group) = (1, 0);
        for terms in placed.chunk_by(|x, y| range_of(x) == range_of(y)) {
            let range = range_of(&terms[0]);
            if range == 0 {
                self.range(b, terms, 0, acc)?;
                continue;
            }
            later.clear();
            later.resize(acc.len(), 0.0);
            self.range(b, terms, range * length, &mut later)?;
            if range / together == group {
                self.add(acc, &later);
            } else {
                self.add_group(&mut before, acc);
                acc.copy_from_slice(&later);
                group = range / together;
            }
            filled += 1;
        }
        if group > 0 {
            self.add_group(&mut before, acc);
            acc.copy_from_slice(&before);
        }
        if filled < count {
            // Empty ranges add +0.
            let unit = Unit { precision: self.part.acc };
            acc.iter_mut().for_each(|acc| *acc = unit.add(*acc, 0.0));
        }
        (self.placed, self.later, self.before) = (placed, later, before);
        Some(())
    }

    /// Adds the sums of a group of ranges to those of the groups before it, if there are any.
    fn add_group(&self, before: &mut Vec<f64>, group: &[f64]) {
        if before.is_empty() {
            before.extend_from_slice(group);
        } else {
            self.add(before, group);
        }
    }

    /// Adds sums to sums, in the accumulator's type.
    pub(super) fn add(&self, acc: &mut [f64], more: &[f64]) {
        let unit = Unit { precision: self.part.acc };
        acc.iter_mut().zip(more).for_each(|(acc, &more)| *acc = unit.add(*acc, more));
    }

    /// One chain over the blocks of a range, which begins at block `base`.
    fn range(&mut self, b: &ExactDense<'_>, terms: &[PlacedTerm], base: u32, acc: &mut [f64]) -> Option<()> {
        match self.step {
            RangeStep::Chain { fused } if self.part.acc == Precision::F64 => {
                each_width!(b, b => self.arch.dispatch(AddTerms { fused, terms, b, to: acc }));
            }
            RangeStep::Chain { fused } => {
                let ExactDense::Narrow(b) = b else { return None };
                let fits = terms.iter().all(|term| is_f32(term.value)) && acc.iter().all(|&v| is_f32(v));
                fits.then_some(())?;
                self.narrow.clear();
                self.narrow.extend(acc.iter().map(|&v| v as f32));
                self.arch.dispatch(AddTerms { fused, terms, b, to: &mut self.narrow });
                acc.iter_mut().zip(&self.narrow).for_each(|(acc, &v)| *acc = f64::from(v));
            }
            RangeStep::Core(core, b) => {
                self.line_up(core, terms, base)?;
                let precision = core.instruction().acc;
                self.bits.clear();
                for &v in &*acc {
                    self.bits.push(exact_bits(v, precision)?);
                }
                b.accumulate(&self.terms, &mut self.bits).ok()?;
                acc.iter_mut().zip(&self.bits).for_each(|(acc, &bits)| *acc = decode(bits, precision));
            }
        }
        Some(())
    }

    /// Blocks of products, filled up with pads. `None` where an element of A is not of the instruction's type.
    fn line_up(&mut self, core: TensorCore, placed: &[PlacedTerm], base: u32) -> Option<()> {
        let block = core.products() as u32;
        let terms = &mut self.terms;
        terms.clear();
        // The first block that has not begun.
        let mut next = base;
        for &PlacedTerm { at, row, value } in placed {
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
            terms.push((row, exact_bits(value, core.instruction().input)?));
        }
        if terms.is_empty() {
            terms.resize(block as usize, (PAD, 0));
        }
        Some(())
    }
}

/// The terms of a range, as a task for the vector unit.
struct AddTerms<'r, T, L: Lane> {
    fused: bool,
    terms: &'r [PlacedTerm],
    b: &'r DenseRows<'r, L>,
    to: &'r mut [T],
}

impl<T: Number, L: Lane> NullaryFnOnce for AddTerms<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        add_terms(self.fused, self.terms.iter().map(|term| (term.row, term.value)), self.b, self.to);
    }
}
