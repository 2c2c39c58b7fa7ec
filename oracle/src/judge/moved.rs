//! What a conversion or transpose must return: the oracle's own encoding, and what is right besides.

use super::encoded::judge_encoded;
use super::moves::{Sums, judge_moved};
use super::operands::duplicates_policy;
use crate::format::{AnyParts, AnySparse, Sparse};
use crate::model::chain::Unit;
use crate::prelude::*;
use crate::profile::{Choice, Profile};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::{Precision, Rounding, Scalar, encode};
use crate::task::{Inputs, RawSparse};
use crate::verdict::Verdict;
use std::collections::BTreeMap;

/// The oracle's own result of a conversion or transpose, for one profile.
#[derive(Debug)]
pub struct Moved {
    pub(super) profile: Profile,
    result: Result<AnySparse, Refusal>,
    summed: Sums,
}

impl Moved {
    /// Works it out. Products are no moves and have no such result.
    #[must_use]
    pub fn new(inputs: &Inputs<'_>, profile: &Profile) -> Option<Moved> {
        inputs.op.is_exact().then(|| Moved::of(inputs, profile))
    }

    /// As [`new`](Self::new), of what is one.
    pub(super) fn of(inputs: &Inputs<'_>, profile: &Profile) -> Moved {
        // A move into another format is a conversion, one without is the transpose.
        let result = match inputs.to {
            None => crate::each_sparse!(inputs.a, m => crate::convert::transpose(m).map(AnySparse::from)),
            Some(to) => crate::each_sparse!(inputs.a, m => {
                let entries = match m {
                    Sparse::Coo(m) => m.entries_with(duplicates_policy(profile)),
                    other => Ok(other.entries()),
                };
                entries
                    .and_then(|entries| Sparse::from_entries(to, inputs.params, &entries))
                    .map(AnySparse::from)
            }),
        };
        let summed = summed_positions(inputs, profile);
        Moved { profile: profile.clone(), result, summed }
    }

    /// The result.
    ///
    /// # Errors
    /// When the target format can't hold the matrix, or the profile rejects duplicates.
    pub fn result(&self) -> Result<&AnySparse, &Refusal> {
        self.result.as_ref()
    }

    /// Judges unchecked arrays of a general format.
    #[must_use]
    pub fn judge(&self, found: RawSparse) -> Verdict {
        match &self.result {
            Ok(expected) => judge_moved(expected, found, &self.profile, &self.summed),
            Err(refusal) => unheld(refusal),
        }
    }

    /// Judges unchecked arrays of a format of the papers.
    #[must_use]
    pub fn judge_parts(&self, found: AnyParts) -> Verdict {
        match &self.result {
            Ok(expected) => judge_encoded(expected, found),
            Err(refusal) => unheld(refusal),
        }
    }
}

/// The verdict on a result where the oracle has none: wrong where the refusal is a rule, nothing where it is a limit of the suite.
fn unheld(refusal: &Refusal) -> Verdict {
    match refusal {
        // The case is legal, and nobody can be judged on it.
        Refusal::Limit(limit) => {
            Verdict::NotRun { reason: format!("the result is too large for the oracle: {limit}") }
        }
        // A parameter that the format is not defined for, or a matrix that does not have its pattern, must be refused.
        Refusal::Request(
            rule @ (RequestError::TooFull { .. }
            | RequestError::TooLarge { .. }
            | RequestError::Parameter { .. }
            | RequestError::Zero { .. }),
        ) => Verdict::LoneAcceptance { expected: rule.to_string() },
        // Anything else, a request that is refused for a reason of a later version among it, accuses nobody.
        Refusal::Request(_) | Refusal::Encoding(_) | Refusal::Engine(_) => {
            Verdict::NotRun { reason: format!("the oracle has no result to compare with: {refusal}") }
        }
    }
}

/// The positions of the result that the operand stores more than once, each with the bits that are right there besides the expected ones. If
/// the profile adds duplicates in any order, these are the rounded sums of up to five duplicates in every order and as every tree; else there are none.
fn summed_positions(inputs: &Inputs<'_>, profile: &Profile) -> Sums {
    let any_order = profile.has(Choice::DuplicatesSumAnyOrder);
    let transposed = inputs.to.is_none();
    let placed = |row: u32, col: u32| if transposed { (col, row) } else { (row, col) };
    let precision = inputs.a.precision();
    let orders = |group: &[f64]| {
        if any_order && group.len() <= 5 { all_orders(group, precision) } else { Vec::new() }
    };
    crate::each_sparse!(inputs.a, m => match m {
        Sparse::Coo(m) => {
            let mut groups: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
            for ((&row, &col), v) in m.row_idx.iter().zip(&m.col_idx).zip(&m.values) {
                groups.entry(placed(row, col)).or_default().push(v.to_f64());
            }
            groups.retain(|_, group| group.len() > 1);
            groups.into_iter().map(|(at, group)| (at, orders(&group))).collect()
        }
        _ => BTreeMap::new(),
    })
}

/// Rounded sums of a few values, in every way in which they can be added two by two: one after the other, or as a tree.
fn all_orders(values: &[f64], precision: Precision) -> Vec<u64> {
    fn visit(values: &[f64], unit: Unit, found: &mut Vec<u64>) {
        if let &[sum] = values {
            found.push(encode(sum, unit.precision, Rounding::NearestEven));
        }
        for second in 1..values.len() {
            for first in 0..second {
                let mut left = values.to_vec();
                left[first] = unit.add(left[first], left.swap_remove(second));
                visit(&left, unit, found);
            }
        }
    }
    let mut found = Vec::new();
    visit(values, Unit { precision }, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only sequences were right once: a kernel that adds duplicates in pairs got a finding.
    #[test]
    fn sums_in_any_order_are_trees_as_well_as_sequences() {
        let sums = |values: &[f64]| {
            let bits = all_orders(values, Precision::F32);
            let mut sums: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
            sums.sort_by(f32::total_cmp);
            sums
        };
        assert_eq!(sums(&[1.5]), [1.5]);
        assert_eq!(sums(&[3.0, -1.0]), [2.0]);
        // Only the tree ((-2^24 - 3) + (-1 - 5)) gives -2^24 - 10, where 2^24 and more are even.
        assert_eq!(sums(&[-16_777_216.0, -3.0, -1.0, -5.0]), [-16_777_226.0, -16_777_224.0]);
        assert_eq!(sums(&[-0.0, -0.0]), [-0.0]);
    }
}
