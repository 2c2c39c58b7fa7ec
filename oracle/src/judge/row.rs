//! One row of A as a kernel walks over it, pads and all, beside the elements of B that it meets.
//!
//! ```text
//! columns  2   5   9   ->  values  a2  0  a9       5 is a multiplied pad
//!                          B       b[2][j]  b[5][j]  b[9][j]      gathered, one column j after another, so that every pass over
//!                                                                 the terms of an element reads memory in order
//! ```

use super::exact_dense::ExactDense;

/// Most elements of B that are gathered at a time (8 MiB); a single column is gathered whatever its length.
const GATHERED: usize = 1 << 20;

/// A row with its multiplied pads.
#[derive(Debug, Default)]
pub(super) struct MergedRow {
    pub(super) cols: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl MergedRow {
    /// Merges two ascending, disjoint lists of columns.
    pub(super) fn fill(&mut self, (cols, values): (&[u32], &[f64]), pads: &[u32]) {
        self.cols.clear();
        self.values.clear();
        let mut pads = pads.iter().copied().peekable();
        for (&col, &value) in cols.iter().zip(values) {
            while let Some(pad) = pads.next_if(|&pad| pad < col) {
                self.push(pad, 0.0);
            }
            self.push(col, value);
        }
        for pad in pads {
            self.push(pad, 0.0);
        }
    }

    fn push(&mut self, col: u32, value: f64) {
        self.cols.push(col);
        self.values.push(value);
    }
}

/// Some columns of B at the rows that a row of A names.
#[derive(Default)]
pub(super) struct Gathered {
    elements: Vec<f64>,
    terms: usize,
}

impl Gathered {
    /// How many columns are gathered at a time for a row of so many terms.
    pub(super) fn width(terms: usize) -> usize {
        (GATHERED / terms.max(1)).max(1)
    }

    /// Gathers the columns `first .. first + width` of B at `rows`.
    pub(super) fn fill(&mut self, b: &ExactDense<'_>, rows: &[u32], first: usize, width: usize) {
        self.terms = rows.len();
        self.elements.clear();
        self.elements.resize(rows.len() * width, 0.0);
        for (t, &row) in rows.iter().enumerate() {
            for j in 0..width {
                self.elements[j * rows.len() + t] = b.at(row as usize, first + j);
            }
        }
    }

    /// The elements of the `j`-th gathered column, one a term.
    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.elements[j * self.terms..(j + 1) * self.terms]
    }
}
