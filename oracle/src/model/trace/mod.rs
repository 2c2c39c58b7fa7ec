//! One element opened up: every operation of the declared arithmetic, and what each of them lost.
//!
//! ```text
//! terms -> step 0 -> step 1 -> ... -> bits        step: exact terms, what is kept of each, one rounding
//!                      \- step 2 -/               each result goes into one later step, times a known factor
//!
//! bits - exact value = sum over steps of weight * error, exactly: nothing is lost but what is listed
//! ```
//!
//! The trace walks the declaration by itself and takes the bits of each operation from the units' own functions. Where it does
//! not end in the bits of [`Model::element`], there is no trace but [`TraceError::Disagrees`].

mod blocks;
mod step;
mod walk;

pub use step::{Addend, Frame, Kind, Source, Step};

use super::reduction::Model;
use crate::arithmetic::{Arithmetic, Slot};
use crate::exact::Dyadic;
use crate::scalar::{Precision, decode};

/// One element.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its operations in the order they are carried out, ranges and parts one after another.
    pub steps: Vec<Step>,
    /// The result.
    pub bits: u64,
    /// Its type.
    pub out: Precision,
}

/// Why there is no trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Several results are right.
    #[error(
        "the declaration does not fix the bits of a result (a free order, an unknown device, a liberty to flush); declare an order and a unit"
    )]
    NotDeterministic,
    /// An operand that the unit cannot hold.
    #[error("{value:e} is no {precision} number, which {unit} takes; convert the operand first")]
    Operand {
        /// The value.
        value: f64,
        /// The unit's type.
        precision: Precision,
        /// The unit.
        unit: String,
    },
    /// Slots that do not fit the terms or the parts.
    #[error("{0}; give each term one slot of its own")]
    Slots(&'static str),
    /// An element whose bits the declaration leaves open: ranges of a tile, zeros alone that would change C.
    #[error("the declaration does not fix the bits of this element; see clause 13.3 of SEMANTICS.md")]
    NotFixed,
    /// The trace and the model differ: one of them is wrong.
    #[error(
        "the trace ends in {traced:#x}, the model in {modelled:?} ({at}); this is a bug of the suite, please report it"
    )]
    Disagrees {
        /// Where.
        at: &'static str,
        /// The trace's bits.
        traced: u64,
        /// The model's.
        modelled: Option<u64>,
    },
}

/// The element, its operands and its factors, as [`Model::element`] takes them.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Operands, rounded as declared.
    pub terms: &'a [(f64, f64)],
    /// Their places along k, where a layout gives them.
    pub slots: Option<&'a [Slot]>,
    /// Factor of the sum.
    pub alpha: f64,
    /// Factor of C.
    pub beta: f64,
    /// C, read only where beta is not 0.
    pub c: f64,
    /// With alpha = 0, multiply all the same.
    pub computes_zero: bool,
}

/// Error of the result by what caused it; the sum is `result - exact value`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Bits cut off at the alignment of fused sums.
    pub alignment: Dyadic,
    /// Subnormal operands and results flushed to zero.
    pub flush: Dyadic,
    /// Rounding of sums and products.
    pub rounding: Dyadic,
    /// Rounding to the type of the result.
    pub output: Dyadic,
}

impl Causes {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Dyadic {
        [&self.alignment, &self.flush, &self.rounding, &self.output].into_iter().cloned().sum()
    }
}

/// What first made a sum infinite or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoiler {
    /// An operand of this addend of this step was infinite or NaN already (the first NaN, else the first infinity).
    Operand {
        /// Which step.
        step: usize,
        /// Which of its terms.
        addend: usize,
    },
    /// Finite terms overflowed in this step.
    Overflow {
        /// Which step.
        step: usize,
    },
}

impl Trace {
    /// Traces an element.
    ///
    /// # Errors
    /// Where the declaration fixes no bits, or operands or slots do not fit it; and where trace and model disagree.
    pub fn new(arithmetic: &Arithmetic, question: &Question<'_>) -> Result<Trace, TraceError> {
        let mut model = Model::new(arithmetic).ok_or(TraceError::NotDeterministic)?;
        let (mut steps, bits) = walk::walk(arithmetic, question)?;
        let terms = question.terms.iter().copied();
        let scaling = (question.alpha, question.beta);
        let modelled = model.element(terms, question.slots, scaling, question.c, question.computes_zero);
        // Ranges of a tile, and zeros that would change C: the declaration does not fix the element.
        if modelled.is_none() {
            return Err(TraceError::NotFixed);
        }
        if modelled != Some(bits) {
            return Err(TraceError::Disagrees { at: "whole element", traced: bits, modelled });
        }
        weigh(&mut steps);
        Ok(Trace { steps, bits, out: arithmetic.out })
    }

    /// The result as a number.
    #[must_use]
    pub fn result(&self) -> f64 {
        decode(self.bits, self.out)
    }

    /// The error by causes; `None` where something is not finite.
    #[must_use]
    pub fn causes(&self) -> Option<Causes> {
        let mut causes = Causes::default();
        for step in &self.steps {
            let weight = step.weight.as_ref()?;
            let (cut, rounded) = (weight * &step.cut()?, weight * &step.rounded()?);
            let of_cut = match step.frame {
                Some(_) => &mut causes.alignment,
                None => &mut causes.flush,
            };
            *of_cut = &*of_cut + &cut;
            let of_rounding = match step.kind {
                Kind::Output => &mut causes.output,
                _ if step.flushes && step.result() == 0.0 => &mut causes.flush,
                _ => &mut causes.rounding,
            };
            *of_rounding = &*of_rounding + &rounded;
        }
        Some(causes)
    }

    /// The first step with a result that is not finite, and why.
    #[must_use]
    pub fn spoiler(&self) -> Option<Spoiler> {
        let step = self.steps.iter().position(|step| !step.result().is_finite())?;
        let addends = &self.steps[step].addends;
        // A NaN outranks an infinity, where the result is NaN.
        let is_nan = |addend: &Addend| (addend.a * addend.b).is_nan();
        let nan = addends.iter().position(is_nan);
        let operand = nan.or_else(|| addends.iter().position(|addend| addend.exact().is_none()));
        Some(match operand {
            Some(addend) => Spoiler::Operand { step, addend },
            None => Spoiler::Overflow { step },
        })
    }
}

/// Each result goes into at most one later step; its error counts there times the other factor.
fn weigh(steps: &mut [Step]) {
    if let Some(last) = steps.last_mut() {
        last.weight = Some(Dyadic::from_int(1));
    }
    for index in (0..steps.len()).rev() {
        let Some(weight) = steps[index].weight.clone() else {
            continue;
        };
        for addend in 0..steps[index].addends.len() {
            let Addend { from, b, .. } = steps[index].addends[addend];
            if let (Some(from), Some(factor)) = (from, Dyadic::from_f64(b)) {
                steps[from].weight = Some(&weight * &factor);
            }
        }
    }
}
