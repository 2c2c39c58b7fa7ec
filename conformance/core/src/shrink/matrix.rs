//! Fewer rows, columns and entries.

use super::search::{Candidate, Search};
use sparse_oracle::format::{Coo, CooParts};
use std::ops::Range;

/// All passes over the matrix, rows first: they take most with them.
pub(super) fn smaller(search: &mut Search<'_>) {
    let compacted = compact(&search.best.loaded.coo);
    let candidate = search.best.on(compacted);
    search.attempt(candidate);
    search.remove(1, |c| c.loaded.coo.rows, |c, gone| c.on(without_rows(&c.loaded.coo, &gone)));
    search.remove(1, |c| c.loaded.coo.cols, |c, gone| c.on(without_cols(&c.loaded.coo, &gone)));
    search.remove(0, |c| c.loaded.coo.nnz(), |c, gone| c.on(without_entries(&c.loaded.coo, &gone)));
    let candidate = search.best.on(sorted(&search.best.loaded.coo));
    search.attempt(candidate);
}

/// The first `count` entries, in a matrix of just their rows and columns.
pub(super) fn cut(coo: &Coo<f64>, count: usize) -> CooParts<f64> {
    let kept = without_entries(coo, &(count.min(coo.nnz())..coo.nnz()));
    compact(&kept)
}

/// Triples of which those are kept whose (row, column) `place` gives a new place to.
fn kept(
    coo: &CooParts<f64>,
    (rows, cols): (usize, usize),
    place: impl Fn(u32, u32) -> Option<(u32, u32)>,
) -> CooParts<f64> {
    let mut parts = CooParts { rows, cols, ..CooParts::default() };
    for ((&row, &col), &value) in coo.row_idx.iter().zip(&coo.col_idx).zip(&coo.values) {
        if let Some((row, col)) = place(row, col) {
            parts.row_idx.push(row);
            parts.col_idx.push(col);
            parts.values.push(value);
        }
    }
    parts
}

/// Where index `at` comes to lie when a range goes.
fn moved(at: u32, gone: &Range<usize>) -> Option<u32> {
    let index = at as usize;
    if gone.contains(&index) {
        None
    } else if index < gone.start {
        Some(at)
    } else {
        Some((index - gone.len()) as u32)
    }
}

fn without_rows(coo: &CooParts<f64>, gone: &Range<usize>) -> CooParts<f64> {
    let shape = (coo.rows - gone.len(), coo.cols);
    kept(coo, shape, |row, col| Some((moved(row, gone)?, col)))
}

fn without_cols(coo: &CooParts<f64>, gone: &Range<usize>) -> CooParts<f64> {
    let shape = (coo.rows, coo.cols - gone.len());
    kept(coo, shape, |row, col| Some((row, moved(col, gone)?)))
}

fn without_entries(coo: &CooParts<f64>, gone: &Range<usize>) -> CooParts<f64> {
    fn rest<T: Copy>(list: &[T], gone: &Range<usize>) -> Vec<T> {
        [&list[..gone.start], &list[gone.end..]].concat()
    }
    CooParts {
        rows: coo.rows,
        cols: coo.cols,
        row_idx: rest(&coo.row_idx, gone),
        col_idx: rest(&coo.col_idx, gone),
        values: rest(&coo.values, gone),
    }
}

/// Without empty rows and columns, but for one row and column where there was any.
fn compact(coo: &CooParts<f64>) -> CooParts<f64> {
    let rows = places(&coo.row_idx, coo.rows);
    let cols = places(&coo.col_idx, coo.cols);
    let extent = |places: &[Option<u32>], before: usize| {
        let used = places.iter().flatten().count();
        used.max(before.min(1))
    };
    let shape = (extent(&rows, coo.rows), extent(&cols, coo.cols));
    kept(coo, shape, |row, col| Some((rows[row as usize]?, cols[col as usize]?)))
}

/// The number of each used index among those used.
fn places(used: &[u32], extent: usize) -> Vec<Option<u32>> {
    let mut places = vec![None; extent];
    for &index in used {
        places[index as usize] = Some(0);
    }
    for (number, place) in places.iter_mut().flatten().enumerate() {
        *place = number as u32;
    }
    places
}

/// The triples by row and column; those of one position keep their order.
fn sorted(coo: &Coo<f64>) -> CooParts<f64> {
    let mut order: Vec<usize> = (0..coo.nnz()).collect();
    order.sort_by_key(|&at| (coo.row_idx[at], coo.col_idx[at]));
    CooParts {
        rows: coo.rows,
        cols: coo.cols,
        row_idx: order.iter().map(|&at| coo.row_idx[at]).collect(),
        col_idx: order.iter().map(|&at| coo.col_idx[at]).collect(),
        values: order.iter().map(|&at| coo.values[at]).collect(),
    }
}

/// The transposed triples, in their order.
pub(super) fn transposed(candidate: &Candidate) -> Option<Candidate> {
    let coo = &candidate.loaded.coo;
    candidate.on(CooParts {
        rows: coo.cols,
        cols: coo.rows,
        row_idx: coo.col_idx.clone(),
        col_idx: coo.row_idx.clone(),
        values: coo.values.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coo() -> Coo<f64> {
        Coo::try_new(CooParts {
            rows: 4,
            cols: 5,
            row_idx: vec![3, 1, 1],
            col_idx: vec![4, 0, 4],
            values: vec![1.0, -0.0, f64::NAN],
        })
        .expect("in range")
    }

    #[test]
    fn compacting_leaves_the_rows_and_columns_in_use() {
        let parts = compact(&coo());
        assert_eq!((parts.rows, parts.cols), (2, 2));
        assert_eq!((parts.row_idx, parts.col_idx), (vec![1, 0, 0], vec![1, 0, 1]));
        let empty = CooParts { rows: 3, cols: 0, ..CooParts::default() };
        let parts = compact(&empty);
        assert_eq!((parts.rows, parts.cols), (1, 0));
    }

    #[test]
    fn a_cut_keeps_the_first_entries() {
        let parts = cut(&coo(), 1);
        assert_eq!((parts.rows, parts.cols, parts.values), (1, 1, vec![1.0]));
    }

    #[test]
    fn later_rows_and_columns_move_up() {
        let parts = without_rows(&coo(), &(0..2));
        assert_eq!((parts.rows, parts.row_idx, parts.col_idx), (2, vec![1], vec![4]));
        let parts = without_cols(&coo(), &(1..4));
        assert_eq!((parts.cols, parts.col_idx), (2, vec![1, 0, 1]));
    }

    #[test]
    fn sorting_moves_values_with_their_places() {
        let parts = sorted(&coo());
        assert_eq!((parts.row_idx, parts.col_idx), (vec![1, 1, 3], vec![0, 4, 4]));
        assert_eq!(parts.values[2], 1.0);
    }
}
