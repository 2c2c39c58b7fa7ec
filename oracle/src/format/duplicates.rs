//! What a position that COO stores more than once stands for: a choice point of the contract (clauses 2.2 to 2.4 of SEMANTICS.md).
//!
//! ```text
//! stored order     (0,1,a') (2,0,c) (0,1,a'')
//! sum-exact        (0,1, round(a' + a'')) (2,0,c)     the exact sum, rounded once to the element type
//! sum-rounded      (0,1, ((a' + a'') + ...)) (2,0,c)  left to right in stored order, each addition rounded
//! last-wins        (0,1,a'') (2,0,c)
//! reject           refused: (0,1) is stored again
//! ```
//!
//! A position stored once keeps its exact bits, -0.0 and NaN payloads included. Sums follow IEEE: NaN and
//! infinities propagate, an exact cancellation gives an explicit +0.0, and a sum of -0.0 alone stays -0.0.

use super::{Codec, Coo, Csr, Entries, Entry, ascending};
use crate::exact;
use crate::refusal::{EncodingError, Refusal};
use crate::scalar::{FromF64, Precision, Rounding, Scalar};

/// How a repeated position is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// Summed exactly, rounded once to the element type.
    #[default]
    SumExact,
    /// Summed left to right in stored order; each addition is rounded to the element type.
    SumRounded,
    /// The value stored last.
    LastWins,
    /// Refused.
    Reject,
}

impl Duplicates {
    /// All policies, the default first.
    pub const ALL: [Duplicates; 4] =
        [Duplicates::SumExact, Duplicates::SumRounded, Duplicates::LastWins, Duplicates::Reject];

    /// The name used in profiles and case lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Duplicates::SumExact => "sum-exact",
            Duplicates::SumRounded => "sum-rounded",
            Duplicates::LastWins => "last-wins",
            Duplicates::Reject => "reject",
        }
    }

    /// The policy with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Duplicates> {
        Duplicates::ALL.into_iter().find(|p| p.name() == name)
    }

    /// The value of a position whose stored values are `terms`, in stored order, at least one.
    fn settle<T: Scalar>(self, terms: &[T]) -> T {
        match (self, terms) {
            (_, [only]) => *only,
            (Duplicates::SumExact, _) => sum_exact(terms),
            (Duplicates::SumRounded, [first, rest @ ..]) => {
                rest.iter().fold(*first, |sum, &term| add_rounded(sum, term))
            }
            (_, _) => terms[terms.len() - 1],
        }
    }
}

/// The exact sum, rounded once to nearest.
fn sum_exact<T: Scalar>(terms: &[T]) -> T {
    let numbers: Vec<f64> = terms.iter().map(|t| t.to_f64()).collect();
    // The exact number zero has no sign; IEEE gives minus zero when every term is one.
    if numbers.iter().all(|x| x.to_bits() == (-0.0f64).to_bits()) {
        return terms[0];
    }
    // tf32 values are stored as f32, unrounded (see `Tf32::from_f64`).
    let storage = match T::PRECISION {
        Precision::Tf32 => Precision::F32,
        other => other,
    };
    let sum = exact::sum(&numbers).value;
    T::from_bits64(sum.round(storage, Rounding::NearestEven))
}

/// One IEEE addition in the element type. Adding in f64 first is harmless: 53 >= 2 * 24 + 2 significand bits make
/// the second rounding innocuous, and a sum below the normal range of a narrower type is exact.
fn add_rounded<T: Scalar>(x: T, y: T) -> T {
    T::from_f64(x.to_f64() + y.to_f64())
}

/// What repeated positions stand for.
pub trait CooCodec<T> {
    /// Decodes with a policy for repeated positions.
    ///
    /// # Errors
    /// [`EncodingError::Duplicate`] under [`Duplicates::Reject`], at the first stored triple that repeats a position.
    fn entries_with(&self, policy: Duplicates) -> Result<Entries<T>, Refusal>;

    /// Where each position is stored, row by row: offsets into the triples. `None` where a position is repeated.
    fn offsets(&self) -> Option<Csr<u32>>;

    /// Refuses repeated positions.
    ///
    /// # Errors
    /// [`EncodingError::Duplicate`] at the first stored triple whose position an earlier one has.
    fn check_unique(&self) -> Result<(), Refusal>;
}

impl<T: Scalar> CooCodec<T> for Coo<T> {
    fn entries_with(&self, policy: Duplicates) -> Result<Entries<T>, Refusal> {
        if policy == Duplicates::Reject {
            self.check_unique()?;
        }
        Ok(settled(self, policy))
    }

    fn offsets(&self) -> Option<Csr<u32>> {
        let order = sorted_offsets(self);
        if order.windows(2).any(|w| position(self, w[0]) == position(self, w[1])) {
            return None;
        }
        let entry = |&at: &usize| {
            let (row, col) = position(self, at);
            Entry { row, col, value: at as u32 }
        };
        let list = order.iter().map(entry).collect();
        Csr::from_entries(&Entries { rows: self.rows, cols: self.cols, list }).ok()
    }

    fn check_unique(&self) -> Result<(), Refusal> {
        let order = sorted_offsets(self);
        let pairs = order.windows(2);
        let repeated = pairs.filter(|w| position(self, w[0]) == position(self, w[1])).map(|w| w[1]);
        let Some(at) = repeated.min() else {
            return Ok(());
        };
        let (row, column) = position(self, at);
        Err(Refusal::Encoding(EncodingError::Duplicate {
            field: "values",
            at,
            row: row as usize,
            column: column as usize,
        }))
    }
}

/// Decodes; repeated positions are settled by `policy`, of which [`Duplicates::Reject`] stands for none here.
pub(super) fn settled<T: Scalar>(matrix: &Coo<T>, policy: Duplicates) -> Entries<T> {
    let (rows, cols) = (matrix.rows, matrix.cols);
    if (1..matrix.nnz()).all(|at| position(matrix, at - 1) < position(matrix, at)) {
        // In order, and nothing is stored twice.
        let entry =
            |at: usize| Entry { row: matrix.row_idx[at], col: matrix.col_idx[at], value: matrix.values[at] };
        return Entries { rows, cols, list: (0..matrix.nnz()).map(entry).collect() };
    }
    let order = sorted_offsets(matrix);
    let mut list: Vec<Entry<T>> = Vec::with_capacity(order.len());
    for lane in order.chunk_by(|&a, &b| position(matrix, a) == position(matrix, b)) {
        let terms: Vec<T> = lane.iter().map(|&at| matrix.values[at]).collect();
        let (row, col) = position(matrix, lane[0]);
        list.push(Entry { row, col, value: policy.settle(&terms) });
    }
    Entries { rows, cols, list }
}

fn position<T>(matrix: &Coo<T>, at: usize) -> (u32, u32) {
    (matrix.row_idx[at], matrix.col_idx[at])
}

/// Offsets of all triples by position; equal positions stay in stored order.
fn sorted_offsets<T>(matrix: &Coo<T>) -> Vec<usize> {
    ascending((0..matrix.nnz()).map(|at| position(matrix, at)))
}
