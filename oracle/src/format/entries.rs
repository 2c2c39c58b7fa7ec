//! Entries: the common ground of all formats.
//!
//! ```text
//! . a . b      (0, 1, a) (0, 3, b) (2, 0, c)      sorted by (row, column), no position twice
//! . . . .
//! c . . .
//! ```

use crate::refusal::{EncodingError, Refusal, check_u32};
use crate::scalar::Scalar;

/// One stored entry: row, column, value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry<T> {
    /// Row, 0-based.
    pub row: u32,
    /// Column, 0-based.
    pub col: u32,
    /// Stored value; may be an explicit zero.
    pub value: T,
}

/// A matrix as its entries: rows in order, columns ascending inside a row, no position twice; explicit zeros
/// allowed. The fields are plain data; [`check`](Self::check) says whether they keep that promise, and every
/// encoder calls it first.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The entries, sorted by (row, column).
    pub list: Vec<Entry<T>>,
}

impl<T> Entries<T> {
    /// Checked construction.
    ///
    /// # Errors
    /// See [`check`](Self::check).
    pub fn try_new(rows: usize, cols: usize, list: Vec<Entry<T>>) -> Result<Self, Refusal> {
        let entries = Entries { rows, cols, list };
        entries.check()?;
        Ok(entries)
    }

    /// Checks shape, range, order and uniqueness. Offsets in refusals count entries.
    ///
    /// # Errors
    /// The first defect: a dimension or count past u32, an index out of range, an unsorted or repeated position.
    pub fn check(&self) -> Result<(), Refusal> {
        check_u32("rows", self.rows as u128)?;
        check_u32("cols", self.cols as u128)?;
        check_u32("nnz", self.list.len() as u128)?;
        for (at, entry) in self.list.iter().enumerate() {
            let row = entry.row as usize;
            for (field, index, limit) in
                [("entries.row", entry.row, self.rows), ("entries.col", entry.col, self.cols)]
            {
                if index as usize >= limit {
                    let (found, limit) = (u64::from(index), limit as u64);
                    return Err(EncodingError::IndexOutOfRange { field, at, row, found, limit }.into());
                }
            }
            if at > 0 {
                check_order(&self.list[at - 1], entry, at)?;
            }
        }
        Ok(())
    }

    /// Number of entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.list.len()
    }

    /// The same pattern with other values.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Entries<U> {
        let list = self.list.iter().map(|e| Entry { row: e.row, col: e.col, value: f(&e.value) });
        Entries { rows: self.rows, cols: self.cols, list: list.collect() }
    }

    /// The positions alone.
    pub fn pattern(&self) -> Entries<()> {
        self.map(|_| ())
    }
}

/// Refuses `entry` at offset `at` unless its position is after that of `before`.
fn check_order<T>(before: &Entry<T>, entry: &Entry<T>, at: usize) -> Result<(), Refusal> {
    let row = entry.row as usize;
    if (before.row, before.col) == (entry.row, entry.col) {
        return Err(EncodingError::Duplicate { field: "entries", at, row, column: entry.col as usize }.into());
    }
    let (field, previous, found) = if before.row > entry.row {
        ("entries.row", before.row, entry.row)
    } else if before.row == entry.row && before.col > entry.col {
        ("entries.col", before.col, entry.col)
    } else {
        return Ok(());
    };
    Err(Refusal::Encoding(EncodingError::Unsorted {
        field,
        at,
        row,
        previous: u64::from(previous),
        found: u64::from(found),
    }))
}

impl<T: Copy> Entries<T> {
    /// The transposed matrix: rows and columns exchanged, sorted again.
    pub fn transpose(&self) -> Entries<T> {
        let swapped = self.list.iter().map(|e| Entry { row: e.col, col: e.row, value: e.value });
        Entries::sorted(self.cols, self.rows, &swapped.collect::<Vec<_>>())
    }

    /// Entries in any order, whose indices are in range and no position twice.
    pub fn sorted(rows: usize, cols: usize, list: &[Entry<T>]) -> Entries<T> {
        let places = list.iter().map(|e| (e.row, e.col));
        // A counter for each row is cheap where most rows hold something, and much memory where hardly any does.
        let order = if rows / 4 <= list.len() {
            by_rows(rows, &places.collect::<Vec<_>>())
        } else {
            ascending(places)
        };
        Entries { rows, cols, list: order.into_iter().map(|at| list[at]).collect() }
    }
}

/// The entries by (row, column); those of one position stay in the order in which they come.
#[must_use]
pub fn in_order<T: Copy>(list: &[Entry<T>]) -> Vec<Entry<T>> {
    ascending(list.iter().map(|e| (e.row, e.col))).into_iter().map(|at| list[at]).collect()
}

/// Offsets of pairs in ascending order; equal ones stay in the order in which they come. It sees no element type, so that sorting is
/// compiled once and not for each.
pub(crate) fn ascending(pairs: impl Iterator<Item = (u32, u32)>) -> Vec<usize> {
    let key = |(at, (first, second))| (u64::from(first) << 32 | u64::from(second), at);
    let mut keys: Vec<(u64, usize)> = pairs.enumerate().map(key).collect();
    if !keys.is_sorted() {
        keys.sort_unstable();
    }
    keys.into_iter().map(|(_, at)| at).collect()
}

/// The same for positions that are all different: they are counted into their rows, in the order in which they come, and the rows whose
/// columns do not ascend then are sorted.
fn by_rows(rows: usize, places: &[(u32, u32)]) -> Vec<usize> {
    let mut next = vec![0; rows];
    places.iter().for_each(|&(row, _)| next[row as usize] += 1);
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    let mut order = vec![0; places.len()];
    for (at, &(row, _)) in places.iter().enumerate() {
        let slot = &mut next[row as usize];
        order[*slot] = at;
        *slot += 1;
    }
    let col = |&at: &usize| places[at].1;
    for row in order.chunk_by_mut(|&a, &b| places[a].0 == places[b].0) {
        if !row.is_sorted_by_key(col) {
            row.sort_unstable_by_key(col);
        }
    }
    order
}

impl<T: Scalar> Entries<T> {
    /// The bit patterns of the values: what "the same matrix, bit for bit" compares (NaN payloads and signs of
    /// zeros included).
    pub fn bits(&self) -> Entries<u64> {
        self.map(|value| value.bits64())
    }

    /// The entries that a format with +0.0 pads can carry: all but those that are bitwise +0.0.
    pub fn without_positive_zeros(&self) -> Entries<T> {
        let kept = self.list.iter().filter(|e| !e.value.is_positive_zero());
        Entries { rows: self.rows, cols: self.cols, list: kept.copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of six entries, in a matrix with a row for each and in one of far more rows than entries.
    #[test]
    fn entries_in_any_order_are_sorted() {
        let places = [(0, 1), (0, 5), (2, 0), (2, 3), (2, 4), (5, 0)];
        let entry = |at: usize| Entry { row: places[at].0, col: places[at].1, value: at };
        for rows in [6, 1_000_000] {
            for number in 0..720 {
                let (mut left, mut rest) = ((0..6).collect::<Vec<usize>>(), number);
                let mut list = Vec::new();
                while !left.is_empty() {
                    list.push(entry(left.remove(rest % left.len())));
                    rest /= left.len() + 1;
                }
                let sorted = Entries::sorted(rows, 6, &list);
                assert_eq!(sorted.list, (0..6).map(entry).collect::<Vec<_>>(), "{rows} {number}");
            }
        }
    }
}
