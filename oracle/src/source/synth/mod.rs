//! Published matrices, rebuilt from what is printed about their rows: `synth:scircuit,seed=1`.
//!
//! The files themselves are large and not ours to pass on. At full size (`rows=0`) rows, columns, entries, shortest
//! and longest row are those of the table exactly, and the standard deviation of the row lengths is the printed one
//! to within a few parts in a thousand; columns are placed as is typical of the class of problem. With `rows=N` the
//! lengths are N quantiles of the full ones; a row longer than a quarter of the smaller matrix shrinks in proportion
//! to the sides (to a quarter at least): mean and deviation are then approximate.
//!
//! ```text
//! table --solve--> histogram of lengths --deal, in runs of similar rows--> length of row i --class--> columns
//! ```

mod columns;
mod histogram;
mod lengths;
mod table;

pub use histogram::Histogram;
pub use table::{Body, COUNT, Class, PUBLISHED, Published, Spread};

use super::generator::{Pattern, Shape, SourceError, SourceSpec};
use super::random::Random;
use columns::Placement;

/// The row lengths of a published matrix at full size; None for a name that is not in the table.
#[must_use]
pub fn row_lengths(name: &str) -> Option<&'static Histogram> {
    PUBLISHED.iter().position(|published| published.name == name).map(lengths::of)
}

/// Name of a row of the table.
pub(crate) fn name_at(index: i64) -> &'static str {
    usize::try_from(index).ok().and_then(|at| PUBLISHED.get(at)).map_or("", |published| published.name)
}

/// Row of the table with this name.
pub(crate) fn index_of(name: &str) -> Result<i64, SourceError> {
    let at = PUBLISHED.iter().position(|published| published.name == name);
    at.map(|at| at as i64).ok_or_else(|| SourceError::UnknownMatrix {
        found: name.to_owned(),
        known: PUBLISHED.iter().map(|published| published.name).collect::<Vec<_>>().join(", "),
    })
}

/// The row of the table, its index, and the number of rows asked for.
fn asked(spec: &SourceSpec) -> (usize, &'static Published, u64) {
    let index = spec.size("matrix") as usize;
    let published = &PUBLISHED[index];
    let full = u64::from(published.rows);
    let rows = spec.size("rows");
    (index, published, if rows == 0 { full } else { rows })
}

/// Lengths of `rows` rows, ascending: all of them, or quantiles cut to a matrix of that size.
fn ascending(index: usize, rows: u64) -> impl Iterator<Item = u32> {
    let full = u64::from(PUBLISHED[index].rows);
    let cut = move |length: u32| {
        if rows == full || 4 * u64::from(length) <= rows {
            return length;
        }
        (u64::from(length) * rows / full).max(rows / 4).max(1).min(u64::from(length)) as u32
    };
    lengths::of(index).quantiles(rows).map(cut)
}

/// Shape of a published matrix; the number of entries is exact.
pub(super) fn shape(spec: &SourceSpec) -> Result<Shape, SourceError> {
    let (index, published, rows) = asked(spec);
    if rows > u64::from(published.rows) {
        let problem = format!("rows is {rows}, but {} has {}; ask for fewer", published.name, published.rows);
        return Err(SourceError::Conflict { family: "synth", problem });
    }
    let nnz = if rows == u64::from(published.rows) {
        published.nnz.into()
    } else {
        ascending(index, rows).map(u64::from).sum::<u64>()
    };
    Ok(Shape { rows, cols: rows, nnz_at_most: nnz.into(), scratch: 2 * u128::from(rows) })
}

/// Rows that are neighbours in length stay neighbours in place, this many at a time.
const fn run_of(class: Class) -> u64 {
    match class {
        Class::Structure | Class::Chemistry => 6,
        Class::Optimization => 4,
        Class::Grid | Class::Circuit | Class::Web | Class::Economy => 1,
    }
}

/// Deals the lengths to rows in shuffled runs and places the columns.
pub(super) fn fill(spec: &SourceSpec, random: &mut Random, pattern: &mut Pattern) {
    let (index, published, rows) = asked(spec);
    let sorted: Vec<u32> = ascending(index, rows).collect();
    let run = run_of(published.class);
    let mut runs: Vec<u32> = (0..rows.div_ceil(run) as u32).collect();
    random.shuffle(&mut runs);
    let placement = Placement::new(published.class, rows, random.bits());
    let mut row = 0;
    for first in runs.into_iter().map(|at| u64::from(at) * run) {
        for at in first..(first + run).min(rows) {
            placement.place(row, sorted[at as usize].into(), random, pattern.columns());
            pattern.end_row();
            row += 1;
        }
    }
}
