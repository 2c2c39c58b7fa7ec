//! The order in which a system's kernel adds terms, read off the arrays of its format: one lane per row of the result.
//!
//! ```text
//! arrays of the format --> lanes     tiles: slots in blocks of the unit's k, unset ones +0, pads PAD
//!                                    rest:  stored terms, ascending, for a chain of fused multiply-adds
//! ```
//!
//! An index is a row of the dense operand. For N:M, whose sparse operand stands on the right, a lane is a column of the
//! result, and everything is transposed.

mod csr;
mod libra;
mod loops;
mod nm;
mod rs_tile;

use crate::error::GoldenError;
use crate::families::Values;
use crate::table::{Op, Row, System};
use sparse_oracle::format::{Csr, Dense, Entries, Entry, Layout};
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::Scalar;

/// A row of the dense operand (or [`PAD`](sparse_oracle::format::PAD)), and the bits of the factor that it meets.
pub type Term = (u32, u64);

/// The terms of one row of the result, the same for all of its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Row of the result (column, for N:M).
    pub index: usize,
    /// What goes through the unit of the tiles.
    pub tiles: Vec<Term>,
    /// What goes through the chain.
    pub rest: Vec<Term>,
    /// Columns of the dense operand that are asked for; all of them without.
    pub columns: Option<Vec<u32>>,
}

/// All lanes, and the dense operand, its rows along the inner dimension.
#[derive(Clone, Debug)]
pub struct Work<T> {
    /// Lanes by index; SDDMM may have two of one index, which share no column.
    pub lanes: Vec<Lane>,
    /// The dense operand, as stored.
    pub dense: Dense<T>,
    /// A lane is a column of the result.
    pub flipped: bool,
}

impl<T: Scalar> Work<T> {
    /// Encodes the pattern with these values, and reads the arrays as the system's kernel does.
    ///
    /// # Errors
    /// Operands of more than 2^24 positions; what the encoder refuses.
    pub fn new(
        row: &Row,
        pattern: &Csr<()>,
        values: Values,
        n: usize,
        seed: u64,
    ) -> Result<Work<T>, GoldenError> {
        check_size("positions of the pattern", pattern.rows, pattern.cols)?;
        check_size("dense operand", pattern.rows.max(pattern.cols), n)?;
        let entries = filled::<T>(&pattern.entries(), values, seed);
        let params = &row.params;
        let (inner, cols) = match (row.op, row.system) {
            (Op::Sddmm, _) => (n, entries.cols),
            (Op::Spmm, _) => (entries.cols, n),
        };
        let dense = values.dense(inner, cols, seed);
        let lanes = match (row.system, row.op) {
            (System::Loops, _) => loops::lanes(&entries, params)?,
            (System::Rsh, _) => rs_tile::lanes(&entries, params)?,
            (System::Libra, Op::Spmm) => libra::spmm(&entries, params)?,
            (System::Libra, Op::Sddmm) => {
                let x: Vec<T> = values.sparse(entries.rows * n, seed);
                libra::sddmm(&entries, params, &x)?
            }
            // Its rows are the inner dimension.
            (System::Nm, _) => nm::lanes(&entries.transpose(), params, row.instruction().is_some())?,
            (System::CudaCore, _) => csr::lanes(&entries)?,
        };
        Ok(Work {
            lanes,
            dense: Dense::try_new(inner, cols, cols, Layout::RowMajor, dense)?,
            flipped: row.system == System::Nm,
        })
    }

    /// Row and column of the result.
    #[must_use]
    pub const fn place(&self, lane: &Lane, column: usize) -> (usize, usize) {
        if self.flipped { (column, lane.index) } else { (lane.index, column) }
    }
}

/// The most positions of a matrix: lanes may list every slot of a row.
const LARGEST: u64 = 1 << 24;

fn check_size(field: &'static str, rows: usize, cols: usize) -> Result<(), Refusal> {
    let found = rows as u128 * cols as u128;
    if found <= u128::from(LARGEST) {
        return Ok(());
    }
    Err(RequestError::TooLarge { field, found, limit: LARGEST }.into())
}

/// The pattern with values in stored order.
fn filled<T: Scalar>(pattern: &Entries<()>, values: Values, seed: u64) -> Entries<T> {
    let drawn = values.sparse(pattern.list.len(), seed);
    let with = |(e, value): (&Entry<()>, T)| Entry { row: e.row, col: e.col, value };
    Entries {
        rows: pattern.rows,
        cols: pattern.cols,
        list: pattern.list.iter().zip(drawn).map(with).collect(),
    }
}

/// Terms of one row of a CSR part.
fn stored<T: Scalar>(col_idx: &[u32], values: &[T]) -> Vec<Term> {
    let bits = values.iter().map(|value| value.bits64());
    col_idx.iter().copied().zip(bits).collect()
}

/// The slots of one row of a bitmap block with `columns`; `bits(c)` says which stored value slot c holds.
fn slots<T: Scalar>(columns: &[u32], values: &[T], bits: impl Fn(usize) -> Option<usize>) -> Vec<Term> {
    let slot = |(c, &col): (usize, &u32)| (col, bits(c).map_or(0, |at| values[at].bits64()));
    columns.iter().enumerate().map(slot).collect()
}
