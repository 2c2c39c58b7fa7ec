//! Duplicates of COO as terms of their own (`duplicates-are-terms`): the same product, with operands in which no position is stored
//! twice.
//!
//! ```text
//! op(A) stores (0,2,a') (0,2,a'') (1,2,c)         columns  2 2      rows of B  b2      C[0] = a' * b2 + a'' * b2
//!                                                 row 0    a' a''              b2      C[1] = c * b2
//!                                                 row 1    c  .
//! ```
//!
//! Column k is repeated as often as the most crowded position in it is stored, and so is row k of B: a row meets `b_k` once for each
//! of its duplicates, and no other row meets more than it stores. Every term is there, with its own product and its own place in
//! the sum, so that bound, exactness and model of the judge hold as they are. Order along k: by column, then as stored.

use super::exact_dense::ExactDense;
use crate::format::{AnySparse, Csr, Entries, Entry, Sparse, in_order};
use crate::prelude::*;
use crate::refusal::Refusal;
use crate::scalar::Scalar;

/// A product's operands with every duplicate in a column of its own.
#[derive(Debug)]
pub(super) struct Apart {
    /// op(A), m x k', k' the number of `columns`.
    pub(super) a: Csr<f64>,
    /// Column of op(A) (row of op(B)) that each column stands for, ascending.
    pub(super) columns: Vec<u32>,
}

impl Apart {
    /// Spreads op(A); `None` where no position is stored twice, or the format can't.
    ///
    /// # Errors
    /// More columns than an index can count.
    pub(super) fn of(a: &AnySparse, transposed: bool) -> Result<Option<Apart>, Refusal> {
        let (rows, cols) = a.shape();
        let (rows, cols) = if transposed { (cols, rows) } else { (rows, cols) };
        let stored: Vec<Entry<f64>> = crate::each_sparse!(a, m => match m {
            Sparse::Coo(m) => m.row_idx.iter().zip(&m.col_idx).zip(&m.values).map(|((&row, &col), v)| {
                let (row, col) = if transposed { (col, row) } else { (row, col) };
                Entry { row, col, value: v.to_f64() }
            }).collect(),
            _ => return Ok(None),
        });
        spread(rows, cols, &stored)
    }

    /// op(B) with a row for each column of A; `None` if it does not fit op(A).
    pub(super) fn rows_of(&self, b: &ExactDense<'_>) -> Option<ExactDense<'static>> {
        let inner = self.columns.last().map_or(0, |&last| last as usize + 1);
        (b.rows() == inner).then(|| b.rows_at(&self.columns, |_, value| value))
    }
}

fn spread(rows: usize, cols: usize, stored: &[Entry<f64>]) -> Result<Option<Apart>, Refusal> {
    // Duplicates stay in stored order.
    let stored = in_order(stored);
    let mut most = vec![1u32; cols];
    let mut twice = false;
    for group in stored.chunk_by(|x, y| (x.row, x.col) == (y.row, y.col)) {
        let most = &mut most[group[0].col as usize];
        *most = (*most).max(group.len() as u32);
        twice |= group.len() > 1;
    }
    if !twice {
        return Ok(None);
    }
    let columns: Vec<u32> =
        (0u32..).zip(&most).flat_map(|(col, &times)| std::iter::repeat_n(col, times as usize)).collect();
    let firsts: Vec<u32> = most
        .iter()
        .scan(0u32, |next, &times| {
            let first = *next;
            *next = next.saturating_add(times);
            Some(first)
        })
        .collect();
    let mut list = Vec::with_capacity(stored.len());
    for group in stored.chunk_by(|x, y| (x.row, x.col) == (y.row, y.col)) {
        list.extend((firsts[group[0].col as usize]..).zip(group).map(|(col, e)| Entry {
            row: e.row,
            col,
            value: e.value,
        }));
    }
    let entries = Entries { rows, cols: columns.len(), list };
    let a = Csr::from_entries(&entries)?;
    Ok(Some(Apart { a, columns }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Dense;

    fn entry(row: u32, col: u32, value: f64) -> Entry<f64> {
        Entry { row, col, value }
    }

    #[test]
    fn every_duplicate_meets_the_same_row_of_b_in_stored_order() {
        let stored = vec![
            entry(1, 2, 5.0),
            entry(0, 2, 1.0),
            entry(0, 0, 9.0),
            entry(0, 2, 2.0),
            entry(0, 2, 3.0),
            entry(1, 3, 7.0),
        ];
        let apart = spread(2, 4, &stored).expect("small").expect("one is stored thrice");
        assert_eq!(apart.columns, [0, 1, 2, 2, 2, 3]);
        assert_eq!(apart.a.row(0), (&[0, 2, 3, 4][..], &[9.0, 1.0, 2.0, 3.0][..]));
        assert_eq!(apart.a.row(1), (&[2, 5][..], &[5.0, 7.0][..]));
        let b = Dense::from_fn(4, 2, |k, j| (10 * k + j) as f64).into();
        let b = apart.rows_of(&b).expect("it fits");
        let rows = (0..b.rows()).flat_map(|i| [b.at(i, 0), b.at(i, 1)]);
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [0.0, 1.0, 10.0, 11.0, 20.0, 21.0, 20.0, 21.0, 20.0, 21.0, 30.0, 31.0]
        );
        assert!(apart.rows_of(&Dense::from_fn(5, 2, |_, _| 1.0).into()).is_none(), "one row too many");
    }

    #[test]
    fn without_duplicates_nothing_is_spread() {
        let stored = vec![entry(1, 0, 5.0), entry(0, 1, -0.0)];
        assert!(spread(2, 2, &stored).expect("small").is_none());
        assert!(spread(0, 0, &[]).expect("small").is_none());
    }
}
