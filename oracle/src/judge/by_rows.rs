//! The result of an SpMM, row by row: screened first, and by the rule where that leaves something open.
//!
//! ```text
//! rows 0 .. | .. | .. m     pieces of about the same work, side by side; their tallies are added up in the order of the rows
//!      |
//!   exact sums -> allowance -> model -> screen --passes--> counted
//!                                             \--open----> rule
//! ```
//!
//! The verdict does not depend on the number of threads: pieces are cut by the matrix alone, and what a tally says is a largest share, a first
//! element and counts.

use super::lanes::RowResult;
use super::output::{Output, Place};
use super::part_rows::{Accumulate, instruction, typed};
use super::problem::Problem;
use super::row_allowance::RowAllowances;
use super::row_model::RowModel;
use super::rows::{Scratch, SpmmRow, SpmmRows};
use super::rule::Rule;
use super::screen::{ElementClass, Screen};
use super::tally::Tally;
use crate::each_precision;
use crate::model::tensor_core::ModelSpmm;
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Scalar, decode};
use rayon::prelude::*;
use std::ops::Range;

/// An SpMM whose rows are screened.
pub(super) struct Screened<'a> {
    rows: SpmmRows<'a>,
    allowances: RowAllowances,
    output: &'a Output<'a>,
    /// Where element (i, j) is in the result.
    place: (usize, usize),
}

impl<'a> Screened<'a> {
    /// False where no element would be screened: another operation, a declaration that is left to the rule.
    pub(super) fn takes(problem: &Problem<'_>, rule: &Rule<'_>, output: &Output<'_>) -> bool {
        let is_placed = |place| matches!(place, Place::Strides(..));
        let held_by_number = output.before.is_some() && !is_placed(output.before_place);
        // A poison that is a number could pass.
        let finite_poison =
            output.poison.is_some_and(|bits| !decode(bits, output.found.precision()).is_nan());
        matches!(problem, Problem::Spmm { .. })
            && is_placed(output.place)
            && !held_by_number
            && !finite_poison
            && output.found.precision() == rule.arithmetic().out
            && (!rule.has_model() || RowModel::takes(rule, problem.shape().1))
            && Screen::new(rule).is_some()
    }

    /// `None` where no element would be screened.
    pub(super) fn new(
        problem: &Problem<'a>,
        rule: &Rule<'_>,
        output: &'a Output<'a>,
    ) -> Option<Result<Screened<'a>, Refusal>> {
        if !Screened::takes(problem, rule, output) {
            return None;
        }
        let &Problem::Spmm { a, pads, b, slots } = problem else { return None };
        let Place::Strides(by_row, by_col) = output.place else { return None };
        let rows = SpmmRows::new(a, (pads, slots), b);
        let allowances = RowAllowances::new(rule, b);
        Some(rows.map(|rows| Screened { rows, allowances, output, place: (by_row, by_col) }))
    }

    /// Judges all rows.
    pub(super) fn judge<'r>(&self, rule: &(impl Fn() -> Rule<'r> + Sync)) -> Result<Tally, Refusal> {
        let Some(core) = instruction(&rule(), self.rows.cols) else { return self.judge_on(rule, None) };
        let is_multiplied = self.rows.multiplied_by(rule().arithmetic().part());
        crate::with_scalar!(core.instruction().input, T => {
            let b = typed::<T>(self.rows.b, |row| is_multiplied[row]);
            let prepared = b.as_ref().and_then(|b| ModelSpmm::new(core, b).ok());
            self.judge_on(rule, prepared.as_ref().map(|prepared| prepared as &dyn Accumulate))
        })
    }

    fn judge_on<'r>(
        &self,
        rule: &(impl Fn() -> Rule<'r> + Sync),
        prepared: Option<&dyn Accumulate>,
    ) -> Result<Tally, Refusal> {
        let pieces = self.rows.pieces();
        let memory = || Memory::new(rule(), &self.rows, prepared);
        let judged = |memory: &mut Memory<'_>, piece| self.piece(memory, piece);
        let tallies: Vec<Tally> = match pieces.len() {
            1 => pieces.into_iter().map(|piece| judged(&mut memory(), piece)).collect(),
            _ => pieces.into_par_iter().map_init(memory, judged).collect(),
        };
        let start = Tally::new(self.extent(), rule().arithmetic().out, self.output.poison);
        Ok(tallies.into_iter().fold(start, Tally::then))
    }

    /// Rows and columns of the result.
    fn extent(&self) -> (usize, usize) {
        (self.rows.a.rows, self.rows.cols)
    }

    /// Some rows.
    fn piece(&self, memory: &mut Memory<'_>, rows: Range<usize>) -> Tally {
        let mut tally = Tally::new(self.extent(), self.output.found.precision(), self.output.poison);
        self.rows.visit(rows, &mut |row| self.row(row, memory, &mut tally));
        tally
    }

    fn row(&self, row: &SpmmRow<'_, '_>, memory: &mut Memory<'_>, tally: &mut Tally) {
        let Memory { rule, screen, model, found, held, scratch } = memory;
        if found.is_empty() {
            return;
        }
        let Some(screen) = screen else {
            return row.elements(scratch, &mut |site| tally.site(rule, site, self.output));
        };
        self.fill(row.index, found, held);
        let allowance = self.allowances.of(rule, row, scratch);
        let modelled = match (rule.has_model(), model) {
            (false, _) => Some(None),
            (true, Some(model)) if allowance.is_some() => model.row(row, held, scratch).map(Some),
            (true, _) => None,
        };
        let (Some(modelled), Some(allowance)) = (modelled, allowance) else {
            row.elements(scratch, &mut |site| tally.site(rule, site, self.output));
            return;
        };
        let result = RowResult { found, held, modelled };
        let screened = screen.row(row, &allowance, result, tally.so_far());
        tally.applied(screened.order_free, true, modelled.is_some());
        if screened.all_pass {
            tally.passed(found.len(), screened.inexact);
            return;
        }
        for j in 0..found.len() {
            let class = if self.is_poison((row.index, j)) {
                screened.poison(j, tally.so_far())
            } else {
                screened.class(j, tally.so_far())
            };
            let is_done = match class {
                ElementClass::Open => false,
                ElementClass::Exact | ElementClass::Within => {
                    tally.passed(1, class == ElementClass::Within);
                    true
                }
                ElementClass::Wrong(tier) => tally.counts_wrong((row.index, j), tier),
            };
            if !is_done {
                row.element(j, scratch, &mut |site| tally.site(rule, site, self.output));
            }
        }
    }

    /// The numbers of one row: of the result, and of what C held.
    fn fill(&self, row: usize, found: &mut [f64], held: &mut [f64]) {
        decode_row(self.output.found, (row * self.place.0, self.place.1), found);
        let before = self.output.before.map(|before| (before, self.output.before_place));
        decode_held(before, (row, self.rows.cols), held);
    }

    fn is_poison(&self, (i, j): (usize, usize)) -> bool {
        let bits = || self.output.found.bits(self.output.place.offset((i, j), 0));
        self.output.poison.is_some_and(|poison| poison == bits())
    }
}

/// What C held in the first columns of a row of an SpMM with `cols` columns, as numbers; as it is where nothing is said.
pub(super) fn decode_held(
    before: Option<(AnySlice<'_>, Place)>,
    (row, cols): (usize, usize),
    to: &mut [f64],
) {
    if let Some((before, place)) = before {
        let (by_row, by_col) = place.strides(cols);
        decode_row(before, (row * by_row, by_col), to);
    }
}

/// Elements `first`, `first + step`, .. as numbers.
fn decode_row(values: AnySlice<'_>, (first, step): (usize, usize), to: &mut [f64]) {
    each_precision!(AnySlice, values, v => {
        let end = first + to.len();
        match v.get(first..end).filter(|_| step == 1) {
            Some(row) => to.iter_mut().zip(row).for_each(|(to, x)| *to = x.to_f64()),
            None => to.iter_mut().enumerate().for_each(|(j, to)| *to = v[first + j * step].to_f64()),
        }
    });
}

/// What a thread needs for rows, used again and again.
struct Memory<'m> {
    rule: Rule<'m>,
    screen: Option<Screen>,
    model: Option<RowModel<'m>>,
    found: Vec<f64>,
    held: Vec<f64>,
    scratch: Scratch,
}

impl<'m> Memory<'m> {
    fn new(rule: Rule<'m>, rows: &SpmmRows<'_>, prepared: Option<&'m dyn Accumulate>) -> Memory<'m> {
        let (screen, model) = (Screen::new(&rule), RowModel::new(&rule, rows, prepared));
        let [found, held] = [(); 2].map(|()| vec![0.0; rows.cols]);
        Memory { rule, screen, model, found, held, scratch: Scratch::default() }
    }
}

#[cfg(test)]
mod tests;
