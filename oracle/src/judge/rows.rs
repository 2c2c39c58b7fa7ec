//! An SpMM, row by row: the exact sums of a row, and its elements one by one for who has to look closer.
//!
//! ```text
//! once:     B -> extents of its rows                                            SpmmRows
//! a row:    A's entries, pads, exact sums of all columns                        SpmmRow
//! an element of it:  its terms, pads among them, gathered from a column of B    ElementInput
//! ```

use super::exact_dense::{ExactDense, each_width};
use super::problem::{ElementInput, Terms, lsb, same};
use super::row::{Gathered, MergedRow};
use crate::arithmetic::{Part, Slot};
use crate::exact::{Lane, Panel};
use crate::format::Csr;
use crate::op::ReferenceSpmm;
use crate::refusal::Refusal;
use std::cell::OnceCell;
use std::ops::Range;

/// Products and results of one piece.
const PIECE: usize = 1 << 18;

/// A product, ready to be visited.
pub(super) struct SpmmRows<'a> {
    pub(super) a: &'a Csr<f64>,
    pub(super) b: &'a ExactDense<'a>,
    /// Columns of B that are looked at, the first ones.
    pub(super) cols: usize,
    pads: Option<&'a Csr<()>>,
    slots: Option<&'a Csr<Slot>>,
    product: ReferenceSpmm<'a>,
}

/// One row of a product.
pub(super) struct SpmmRow<'r, 'a> {
    pub(super) index: usize,
    /// Columns of the stored entries, ascending.
    pub(super) cols: &'a [u32],
    /// Values of the stored entries.
    pub(super) values: &'a [f64],
    /// Columns of the multiplied pads, ascending.
    pub(super) pads: &'a [u32],
    /// The exact sums.
    pub(super) panel: &'r Panel,
    lsb: OnceCell<i64>,
    rows: &'r SpmmRows<'a>,
}

/// Memory of the terms of a row, used again and again, for rows of one product only.
#[derive(Default)]
pub(super) struct Scratch {
    merged: MergedRow,
    /// The row that is merged.
    of: Option<usize>,
    gathered: Gathered,
}

impl Scratch {
    /// The terms of a row, pads among them.
    pub(super) fn merged(&mut self, row: &SpmmRow<'_, '_>) -> &MergedRow {
        if self.of != Some(row.index) {
            self.merged.fill((row.cols, row.values), row.pads);
            self.of = Some(row.index);
        }
        &self.merged
    }
}

impl<'a> SpmmRows<'a> {
    /// Prepares B.
    pub(super) fn new(
        a: &'a Csr<f64>,
        (pads, slots): (Option<&'a Csr<()>>, Option<&'a Csr<Slot>>),
        b: &'a ExactDense<'a>,
    ) -> Result<SpmmRows<'a>, Refusal> {
        SpmmRows::of_columns(a, (pads, slots), b, b.cols())
    }

    /// Prepares the first `cols` columns of B; there are as many.
    pub(super) fn of_columns(
        a: &'a Csr<f64>,
        (pads, slots): (Option<&'a Csr<()>>, Option<&'a Csr<Slot>>),
        b: &'a ExactDense<'a>,
        cols: usize,
    ) -> Result<SpmmRows<'a>, Refusal> {
        same("columns of A", a.cols, "rows of B", b.rows())?;
        if let Some(slots) = slots {
            slots_fit(a, pads, slots)?;
        }
        Ok(SpmmRows { a, b, cols, pads, slots, product: b.product(cols) })
    }

    /// Which rows of B a part has terms in; all of them where no places are given.
    pub(super) fn multiplied_by(&self, part: &Part) -> Vec<bool> {
        let Some(slots) = self.slots else { return vec![true; self.b.rows()] };
        let mut is_multiplied = vec![false; self.b.rows()];
        for i in 0..slots.rows {
            let (columns, placed) = slots.row(i);
            for (&column, slot) in columns.iter().zip(placed) {
                is_multiplied[column as usize] |= slot.is_of(part.selects);
            }
        }
        is_multiplied
    }

    /// Ranges of rows of about the same work.
    pub(super) fn pieces(&self) -> Vec<Range<usize>> {
        let (a, n) = (self.a, self.cols);
        let (mut pieces, mut first, mut work) = (Vec::new(), 0, 0);
        for i in 0..a.rows {
            work += (a.row(i).0.len() + 4) * n;
            if work >= PIECE {
                pieces.push(first..i + 1);
                (first, work) = (i + 1, 0);
            }
        }
        if first < a.rows || pieces.is_empty() {
            pieces.push(first..a.rows);
        }
        pieces
    }

    /// Shows some rows, in order.
    pub(super) fn visit(&self, rows: Range<usize>, visit: &mut impl FnMut(&SpmmRow<'_, 'a>)) {
        self.product.for_some_rows(self.a, rows, &mut |index, panel: &Panel| {
            let (cols, values) = self.a.row(index);
            let pads = pads_of(self.pads, index);
            visit(&SpmmRow { index, cols, values, pads, panel, lsb: OnceCell::new(), rows: self });
        });
    }

    /// Exponent of a power of two that divides the finite elements of row `k` of B; of zeros alone as [`lsb`] says it.
    fn lsb_of_b(&self, k: u32) -> i64 {
        let extent = self.product.extent(k as usize);
        if extent.is_special() {
            let lowest = each_width!(self.b, b => b.row(k as usize).iter().map(|v| lsb(v.widen())).min());
            return lowest.unwrap_or(lsb(0.0));
        }
        extent.lowest_bit().unwrap_or(lsb(0.0))
    }
}

impl SpmmRow<'_, '_> {
    /// Every product of the row is a multiple of 2^lsb.
    pub(super) fn lsb(&self) -> i64 {
        let product = |(&k, &v): (&u32, &f64)| lsb(v).saturating_add(self.rows.lsb_of_b(k));
        let lowest = || self.cols.iter().zip(self.values).map(product).min().unwrap_or(i64::MAX);
        *self.lsb.get_or_init(lowest)
    }

    /// True where a multiplied pad faces a NaN or an infinity somewhere in the row.
    pub(super) fn faces_special(&self) -> bool {
        self.pads.iter().any(|&k| self.is_special(k))
    }

    /// True where row `k` of B holds a NaN or an infinity.
    pub(super) fn is_special(&self, k: u32) -> bool {
        self.rows.product.extent(k as usize).is_special()
    }

    /// Shows all elements, in order.
    pub(super) fn elements(&self, scratch: &mut Scratch, visit: &mut dyn FnMut(&ElementInput<'_>)) {
        let n = self.rows.cols;
        let width = Gathered::width(self.cols.len() + self.pads.len());
        for first in (0..n).step_by(width) {
            self.some(first..n.min(first + width), scratch, visit);
        }
    }

    /// Shows one element.
    pub(super) fn element(&self, j: usize, scratch: &mut Scratch, visit: &mut dyn FnMut(&ElementInput<'_>)) {
        self.some(j..j + 1, scratch, visit);
    }

    fn some(&self, columns: Range<usize>, scratch: &mut Scratch, visit: &mut dyn FnMut(&ElementInput<'_>)) {
        scratch.merged(self);
        let Scratch { merged, gathered, .. } = scratch;
        let (cols, values) = (&merged.cols[..], &merged.values[..]);
        gathered.fill(self.rows.b, cols, columns.start, columns.len());
        let (lsb, faces_special) = (self.lsb(), self.faces_special());
        for j in columns.clone() {
            let sum = self.panel.element(j);
            let is_special = |&k: &u32| !self.rows.b.at(k as usize, j).is_finite();
            visit(&ElementInput {
                at: (self.index, j),
                sum: &sum,
                lsb,
                terms: Terms::Row { cols, values, b: gathered.column(j - columns.start) },
                slots: self.slots(),
                factor: None,
                poisoned: faces_special && self.pads.iter().any(is_special),
            });
        }
    }

    /// The slot of each term, pads among them, where a layout gives them.
    pub(super) fn slots(&self) -> Option<&[Slot]> {
        self.rows.slots.map(|slots| slots.row(self.index).1)
    }

    /// B.
    pub(super) fn b(&self) -> &ExactDense<'_> {
        self.rows.b
    }
}

fn pads_of(pads: Option<&Csr<()>>, row: usize) -> &[u32] {
    pads.map_or(&[][..], |pads| pads.row(row).0)
}

/// A slot for every entry and every pad.
fn slots_fit(a: &Csr<f64>, pads: Option<&Csr<()>>, slots: &Csr<Slot>) -> Result<(), Refusal> {
    same("rows of A", a.rows, "rows of slots", slots.rows)?;
    let mut merged = MergedRow::default();
    for i in 0..a.rows {
        merged.fill(a.row(i), pads_of(pads, i));
        let (terms, given) = (&merged.cols, slots.row(i).0);
        let matching = terms.iter().zip(given).filter(|(term, slot)| term == slot).count();
        let more = if given.len() > terms.len() { given.len() } else { 0 };
        same("terms of a row of A", terms.len(), "slots at their columns", matching.max(more))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{CsrParts, Dense};

    /// Found by mutation: pieces of other sizes, and an empty one at the end, give the same verdict, only not as fast.
    #[test]
    fn pieces_are_as_large_as_the_work_says() {
        // A row of 12 entries and 1024 columns is work for one sixteenth of a piece.
        let pieces = |rows: usize| {
            let row_ptr = (0..=rows as u32).map(|i| 12 * i).collect();
            let col_idx = (0..rows).flat_map(|_| 0..12).collect();
            let values = vec![1.0; 12 * rows];
            let a = Csr::try_new(CsrParts { rows, cols: 12, row_ptr, col_idx, values }).expect("legal");
            let b = Dense::from_fn(12, 1024, |_, _| 1.0).into();
            SpmmRows::new(&a, (None, None), &b)
                .expect("operands fit")
                .pieces()
                .iter()
                .map(|piece| (piece.start, piece.end))
                .collect::<Vec<_>>()
        };
        assert_eq!(pieces(0), [(0, 0)]);
        assert_eq!(pieces(15), [(0, 15)]);
        assert_eq!(pieces(16), [(0, 16)]);
        assert_eq!(pieces(33), [(0, 16), (16, 32), (32, 33)]);
        // So many columns are gathered at a time.
        assert_eq!([0, 1, 3, 1 << 20, 1 << 21].map(Gathered::width), [1 << 20, 1 << 20, 349_525, 1, 1]);
    }
}
