//! A hybrid whose parts round their operands differently (TF32 tiles beside an FP32 rest): the same product, with operands that are rounded
//! before.
//!
//! ```text
//! op(A)   columns    0  1  2  3 |  1' 3'      1' and 3': columns of which the rest has terms
//!         row 0      a  .  a  . |  .  a'      a: in a tile, rounded as the tiles round it
//!         row 1      .  .  a  . |  a' a'      a': outside of them, rounded as the rest does
//!
//! B       rows       0  1  2  3 |  1' 3'      the same: row 3' is row 3, rounded as the rest rounds it
//! ```
//!
//! Every term has the operands that its part multiplies, so that bound, exactness and model of the judge hold as they are.

use super::exact_dense::ExactDense;
use crate::arithmetic::{Input, Slot};
use crate::format::{Csr, CsrParts};
use crate::op::input;
use crate::refusal::{Refusal, check_u32};

/// A product's operands, those of each part as it rounds them.
#[derive(Debug)]
pub(super) struct InputsApart {
    /// op(A), m x (k + columns of the rest).
    pub(super) a: Csr<f64>,
    /// Multiplied pads of op(A).
    pub(super) pads: Option<Csr<()>>,
    /// op(B), a row for each column of A.
    pub(super) b: ExactDense<'static>,
    /// The places of entries and pads.
    pub(super) slots: Csr<Slot>,
    /// Column of op(A) (row of op(B)) that each column stands for.
    pub(super) columns: Vec<u32>,
}

impl InputsApart {
    /// Rounds the operands of the tiles and those of the rest; `slots` has entries and pads.
    ///
    /// # Errors
    /// More columns than an index can count.
    pub(super) fn of(
        (a, pads, slots): (&Csr<f64>, Option<&Csr<()>>, &Csr<Slot>),
        b: &ExactDense<'_>,
        (of_tiles, of_rest): (Input, Input),
    ) -> Result<InputsApart, Refusal> {
        let columns = columns(slots, a.cols);
        let moves = Moves { slots, rest: &columns[a.cols..], cols: a.cols as u32 };
        let rounding = |column: usize| if column < a.cols { of_tiles } else { of_rest };
        Ok(InputsApart {
            a: moves.moved(a, |column, &value| input(value, rounding(column)))?,
            pads: pads.map(|pads| moves.moved(pads, |_, ()| ())).transpose()?,
            b: b.rows_at(&columns, |column, value| input(value, rounding(column))),
            slots: moves.moved(slots, |_, &slot| slot)?,
            columns,
        })
    }
}

/// All columns, then those in which the rest has a term.
fn columns(slots: &Csr<Slot>, cols: usize) -> Vec<u32> {
    let mut in_rest = vec![false; cols];
    for i in 0..slots.rows {
        let (at, placed) = slots.row(i);
        for (&column, _) in at.iter().zip(placed).filter(|(_, slot)| !slot.in_tile) {
            in_rest[column as usize] = true;
        }
    }
    let all = 0..cols as u32;
    all.clone().chain(all.filter(|&column| in_rest[column as usize])).collect()
}

/// Where the positions of the rest go.
struct Moves<'a> {
    slots: &'a Csr<Slot>,
    /// Columns in which the rest has a term, ascending.
    rest: &'a [u32],
    cols: u32,
}

impl Moves<'_> {
    /// What stands at some of the positions that have slots, those of the rest in the columns of the rest; values through `f`.
    fn moved<T, U>(&self, from: &Csr<T>, f: impl Fn(usize, &T) -> U) -> Result<Csr<U>, Refusal> {
        let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..from.rows {
            let (columns, held) = from.row(i);
            for of_tiles in [true, false] {
                let of_part = columns.iter().zip(held).filter(|at| self.is_in_tile(i, *at.0) == of_tiles);
                for (&column, value) in of_part {
                    let column = if of_tiles { column } else { self.in_rest(column) };
                    col_idx.push(column);
                    values.push(f(column as usize, value));
                }
            }
            row_ptr.push(check_u32("positions of entries and pads", col_idx.len() as u128)?);
        }
        let (rows, cols) = (from.rows, self.cols as usize + self.rest.len());
        Csr::try_new(CsrParts { rows, cols, row_ptr, col_idx, values })
    }

    /// What has no slot is of the rest.
    fn is_in_tile(&self, row: usize, column: u32) -> bool {
        let (columns, slots) = self.slots.row(row);
        columns.binary_search(&column).is_ok_and(|at| slots[at].in_tile)
    }

    fn in_rest(&self, column: u32) -> u32 {
        self.cols + self.rest.partition_point(|&other| other < column) as u32
    }
}

#[cfg(test)]
mod tests;
