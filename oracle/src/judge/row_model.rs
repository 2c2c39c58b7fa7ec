//! T2 for a whole row: the bits of all its columns, where a declaration fixes them.
//!
//! ```text
//! one chain of IEEE operations   terms, alpha, beta, C in one pass over the row                                 ChainRows
//! everything else                terms --slots--> parts --ranges--> sums of parts --add--> alpha, beta, C       PartRows, here
//! ```

use super::modelled::ChainRows;
use super::part_rows::{Accumulate, PartRows, instruction, is_chain};
use super::row::MergedRow;
use super::rows::{Scratch, SpmmRow, SpmmRows};
use super::rule::Rule;
use crate::arithmetic::{Combine, Part};
use crate::model::reduction::Model;
use crate::scalar::{Precision, decode};

/// What works out the bits of a row.
pub(super) struct RowModel<'b> {
    /// Of a row without pads and slots.
    chain: Option<ChainRows>,
    /// Of any row.
    parts: Option<PartsModel<'b>>,
}

/// Parts of the work and how they become elements, with memory.
pub(super) struct PartsModel<'b> {
    model: Model,
    scalars: (f64, f64),
    out: Precision,
    combine: Combine,
    first: PartRows<'b>,
    second: Option<PartRows<'b>>,
    row: Vec<f64>,
    of_second: Vec<f64>,
}

impl<'b> RowModel<'b> {
    /// True for a declaration whose bits are worked out by rows; `n` is the number of columns. alpha is not 0: such a case is not screened.
    pub(super) fn takes(rule: &Rule<'_>, n: usize) -> bool {
        let (arithmetic, first) = (rule.arithmetic(), rule.arithmetic().part());
        let takes_first = instruction(rule, n).is_some() || is_chain(first, arithmetic.out);
        // Sums of both go on as if they were of the first.
        let takes_second = |part: &Part| part.acc == first.acc && is_chain(part, arithmetic.out);
        takes_first && arithmetic.parts.second().is_none_or(takes_second) && !rule.folds_alpha()
    }

    /// `None` for another declaration; `prepared` is B for the instruction of the first part, where it is one.
    pub(super) fn new(
        rule: &Rule<'_>,
        rows: &SpmmRows<'_>,
        prepared: Option<&'b dyn Accumulate>,
    ) -> Option<RowModel<'b>> {
        if !RowModel::takes(rule, rows.cols) {
            return None;
        }
        let (chain, parts) = (ChainRows::new(rule, rows.b), PartsModel::new(rule, rows, prepared));
        Some(RowModel { chain, parts })
    }

    /// The results of one row, as f64; `held` is what C held. `None` where the rule has to look at every element.
    pub(super) fn row(
        &mut self,
        row: &SpmmRow<'_, '_>,
        held: &[f64],
        scratch: &mut Scratch,
    ) -> Option<&[f64]> {
        match &mut self.chain {
            Some(chain) if row.pads.is_empty() && row.slots().is_none() => chain.row(row, held),
            _ => self.parts.as_mut()?.row(row, held, scratch.merged(row)),
        }
    }
}

impl<'b> PartsModel<'b> {
    fn new(
        rule: &Rule<'_>,
        rows: &SpmmRows<'_>,
        prepared: Option<&'b dyn Accumulate>,
    ) -> Option<PartsModel<'b>> {
        let arithmetic = rule.arithmetic();
        let core = instruction(rule, rows.cols).zip(prepared);
        let second = match arithmetic.parts.second() {
            Some(part) => Some(PartRows::new(part, arithmetic.out, None)?),
            None => None,
        };
        Some(PartsModel {
            model: Model::new(arithmetic)?,
            scalars: rule.scalars(),
            out: arithmetic.out,
            combine: arithmetic.combine,
            first: PartRows::new(arithmetic.part(), arithmetic.out, core)?,
            second,
            row: Vec::new(),
            of_second: Vec::new(),
        })
    }

    /// `None` where the rule has to look at every element: an operand is not of a unit's type, a pad faces a NaN or an infinity, slots do
    /// not fit.
    fn row(&mut self, row: &SpmmRow<'_, '_>, held: &[f64], merged: &MergedRow) -> Option<&[f64]> {
        let slots = row.slots();
        if row.faces_special() || slots.is_some_and(|slots| slots.len() != merged.cols.len()) {
            return None;
        }
        self.first.place(row, merged)?;
        let (model, (alpha, beta)) = (&self.model, self.scalars);
        let start = |part: &PartRows<'_>, acc: &mut Vec<f64>| {
            acc.clear();
            acc.extend(held.iter().map(|&c| model.start(part.part(), beta, c)));
        };
        let b = row.b();
        start(&self.first, &mut self.row);
        match &mut self.second {
            None => self.first.sum(b, &mut self.row)?,
            Some(second) => {
                slots?;
                second.place(row, merged)?;
                match self.combine {
                    Combine::Disjoint if second.is_empty() => self.first.sum(b, &mut self.row)?,
                    Combine::Disjoint if self.first.is_empty() => {
                        start(second, &mut self.row);
                        second.sum(b, &mut self.row)?;
                    }
                    Combine::Disjoint | Combine::Free => return None,
                    Combine::Ordered => {
                        self.first.sum(b, &mut self.row)?;
                        start(second, &mut self.of_second);
                        second.sum(b, &mut self.of_second)?;
                        self.first.add(&mut self.row, &self.of_second);
                    }
                }
            }
        }
        // Nothing is left to do with sums that are the result.
        if (alpha, beta) != (1.0, 0.0) || self.out != self.first.part().acc {
            for (y, &c) in self.row.iter_mut().zip(held) {
                *y = decode(model.finish(*y, (alpha, beta), c), self.out);
            }
        }
        Some(&self.row)
    }
}
