//! Published matrices, rebuilt from their row statistics (lengths being written: see the table).

mod table;

pub use table::{COUNT, PUBLISHED, Published};

use super::generator::{Pattern, Shape, SourceError, SourceSpec};
use super::random::Random;

/// Name of a row of the table.
pub(crate) fn name_at(index: i64) -> &'static str {
    usize::try_from(index)
        .ok()
        .and_then(|at| PUBLISHED.get(at))
        .map_or("", |published| published.name)
}

/// Row of the table with this name.
pub(crate) fn index_of(name: &str) -> Result<i64, SourceError> {
    let at = PUBLISHED.iter().position(|published| published.name == name);
    at.map(|at| at as i64).ok_or_else(|| SourceError::UnknownMatrix {
        found: name.to_owned(),
        known: PUBLISHED
            .iter()
            .map(|published| published.name)
            .collect::<Vec<_>>()
            .join(", "),
    })
}

fn published(spec: &SourceSpec) -> &'static Published {
    &PUBLISHED[(spec.size("matrix") as usize).min(COUNT - 1)]
}

fn rows_of(spec: &SourceSpec) -> u64 {
    let full = u64::from(published(spec).rows);
    match spec.size("rows") {
        0 => full,
        rows => rows.min(full),
    }
}

/// Shape of a published matrix.
pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (published, rows) = (published(spec), rows_of(spec));
    let nnz = u128::from(published.nnz) * u128::from(rows) / u128::from(published.rows);
    Ok(Shape {
        rows,
        cols: rows,
        nnz_at_most: nnz.min(u128::from(rows) * u128::from(rows)),
        scratch: 0,
    })
}

/// Evenly long rows, evenly spread columns.
pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (published, rows) = (published(spec), rows_of(spec));
    let nnz = (u128::from(published.nnz) * u128::from(rows) / u128::from(published.rows)) as u64;
    for row in 0..rows {
        let end = |row: u64| (u128::from(nnz) * u128::from(row) / u128::from(rows)) as u64;
        random.stratified(0, rows, end(row + 1) - end(row), pattern.columns());
        pattern.end_row();
    }
}
