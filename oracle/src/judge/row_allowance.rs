//! The allowance that all elements of a row share, where they do: those with the same counts of terms and no subnormal operand.
//!
//! ```text
//! number of terms says all  --------------------------------->  by number
//! no zero and no subnormal in the rows of B that A names  ---->  by number and slots of the terms
//! else                                                           element by element, by the rule
//! ```

use super::exact_dense::{ExactDense, each_width, row as of_row};
use super::rows::{Scratch, SpmmRow};
use super::rule::Rule;
use crate::bound::{SubnormalThresholds, Tolerance};
use crate::exact::Lane;
use std::sync::Arc;

/// What the elements of a row are counted by.
pub(super) struct RowAllowances {
    /// Operands below this are counted otherwise.
    least_normal: f64,
    /// For each row of B, whether none of its elements is 0 or counted as a subnormal one; empty where the number of terms always says all.
    ordinary_rows: Vec<bool>,
}

impl RowAllowances {
    /// Looks at B, where its elements matter.
    pub(super) fn new(rule: &Rule<'_>, b: &ExactDense) -> RowAllowances {
        let arithmetic = rule.arithmetic();
        let aligned =
            arithmetic.parts.iter().map(|part| SubnormalThresholds::new(arithmetic, part).aligned());
        let least_normal = aligned.fold(0.0, f64::max);
        let ordinary = |v: f64| v.abs() >= least_normal && v != 0.0;
        let rows = 0..if rule.always_counts_by_number() { 0 } else { b.rows() as u32 };
        let ordinary_rows =
            each_width!(b, b => rows.map(|k| of_row(b, k).iter().all(|v| ordinary(v.widen()))).collect());
        RowAllowances { least_normal, ordinary_rows }
    }

    /// The allowance of all elements of a row; `None` where they differ, or nothing is promised.
    pub(super) fn of(
        &self,
        rule: &mut Rule<'_>,
        row: &SpmmRow<'_, '_>,
        scratch: &mut Scratch,
    ) -> Option<Arc<Tolerance>> {
        if rule.counts_by_number(row) {
            return rule.allowance(row, row.values);
        }
        if self.is_uniform(row) { rule.allowance(row, &scratch.merged(row).values) } else { None }
    }

    /// True where every element of the row has the same counts of terms, and none of its operands is counted as a subnormal one.
    fn is_uniform(&self, row: &SpmmRow<'_, '_>) -> bool {
        let is_ordinary = |k: &u32| self.ordinary_rows[*k as usize];
        let of_term = |(k, &a): (&u32, &f64)| a == 0.0 || a.abs() >= self.least_normal && is_ordinary(k);
        // What has a zero in A, a pad among it, is counted alike in all columns.
        row.cols.iter().zip(row.values).all(of_term)
    }
}
