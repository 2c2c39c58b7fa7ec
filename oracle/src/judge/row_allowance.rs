//! The allowance that all elements of a row share, where they do: those with the same counts of terms and no subnormal operand.
//!
//! ```text
//! number of terms says all  --------------------------------->  by number
//! no zero and no subnormal in the rows of B that A names  ---->  by number and slots of the terms
//! else                                                           element by element, by the rule
//! ```

use super::exact_dense::{ExactDense, each_width};
use super::rows::{Scratch, SpmmRow};
use super::rule::Rule;
use crate::bound::{SubnormalThresholds, Tolerance};
use crate::exact::Lane;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of B that one thread looks at in one go.
const ROWS: usize = 512;

/// What the elements of a row are counted by.
pub(super) struct RowAllowances {
    /// Operands below this are counted otherwise.
    least_normal: f64,
    /// For each row of B, whether none of its elements is 0 or counted as a subnormal one; empty where the number of terms always says all.
    ordinary_rows: Vec<bool>,
}

impl RowAllowances {
    /// Looks at B, where its elements matter.
    pub(super) fn new(rule: &Rule<'_>, b: &ExactDense<'_>) -> RowAllowances {
        let arithmetic = rule.arithmetic();
        let aligned =
            arithmetic.parts.iter().map(|part| SubnormalThresholds::new(arithmetic, part).aligned());
        let least_normal = aligned.fold(0.0, f64::max);
        let ordinary = |v: f64| v.abs() >= least_normal && v != 0.0;
        let rows = 0..if rule.always_counts_by_number() { 0 } else { b.rows() as u32 };
        let rows = rows.into_par_iter().with_min_len(ROWS);
        let ordinary_rows = each_width!(b, b => rows.map(|k| b.row(k as usize).iter().all(|v| ordinary(v.widen()))).collect());
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

#[cfg(test)]
mod tests {
    use super::super::one_row::{one_row, wide};
    use super::*;
    use crate::arithmetic::{Architecture, Arithmetic, Instruction, Reduction};
    use crate::profile::Profile;
    use crate::scalar::Precision::{F16, F32};

    /// Found by mutation: a row whose elements share an allowance and are not seen to only has them all judged by the rule.
    #[test]
    fn elements_share_an_allowance_where_their_operands_are_ordinary() {
        let mma = |shape, input| {
            Arithmetic::mma(Some(Architecture::Sm90), Instruction::mma(shape, F32, input), F32)
        };
        let core = mma((16, 8, 8), F16);
        let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
        let subnormal = 3.0 / 16_777_216.0;
        let (ones, beside) = ([1.0, 2.0], [3.0, 4.0]);
        let cases = [
            (core, [1.0, 1.0], [ones, beside], true),
            (core, [1.0, 1.0], [ones, [0.0, 4.0]], false),
            (core, [1.0, 1.0], [ones, [subnormal, 4.0]], false),
            (core, [1.0, subnormal], [ones, beside], false),
            // A zero of A multiplies what it likes.
            (core, [1.0, 0.0], [ones, [0.0, subnormal]], true),
            // The least normal number is one.
            (core, [1.0, 1.0 / 16_384.0], [ones, [1.0 / 16_384.0, 1.0]], true),
            (chain, [1.0, subnormal], [ones, [0.0, subnormal]], true),
        ];
        for (arithmetic, a, [first, second], expected) in cases {
            let b = wide(&[&first, &second]);
            one_row(&a, &b, &mut |row| {
                let mut rule = Rule::new(&arithmetic, &Profile::default(), 1.0, 0.0, 0.0);
                let allowances = RowAllowances::new(&rule, &b);
                let shared = allowances.of(&mut rule, row, &mut Scratch::default());
                assert_eq!(shared.is_some(), expected, "{a:?} {first:?} {second:?}");
            });
        }
    }
}
