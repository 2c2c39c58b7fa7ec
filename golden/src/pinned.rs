//! What is pinned: one table of text per system, which a person reviews.
//!
//! ```text
//! libra.spmm.f16.m16n8k8.sm_90                                   a row of the table and its target
//! uniform  10240  1.0312  0.9521  2.1250  0.1312  wide/..  libra.spmm...        one family of matrices, all values
//! ```

use crate::case::{Case, patterns};
use crate::error::GoldenError;
use crate::families::Values;
use crate::prepared::scores;
use crate::statistics::{Statistics, Worst};
use crate::table::{ROWS, Row, System, Target};
use rayon::prelude::*;
use sparse_oracle::model::tensor_core::{Datapath, TensorCore};
use sparse_oracle::source::generator::SourceSpec;
use std::fmt::Write as _;

/// What the columns mean; the head of every table.
const HEAD: &str = "\
ulp(g)   error in ulp of an f32 as large as the gauge g = sum |a||b|: worst, and what 99.9 % of the elements do not exceed
ulp(r)   worst error in ulp of the exact result r, over elements with |r| >= g/8 only (cancellation says nothing about arithmetic)
share    worst error as a share of the bound of tier T1
case     the element with the worst ulp(g): `cargo run -p sparse-golden -- replay CASE`; the one with the worst share differs in what `share at` says
";

/// The titles of the columns.
pub const COLUMNS: [&str; 8] =
    ["matrix", "elements", "ulp(g)", "99.9%", "ulp(r)", "share", "share at", "case"];

/// One line of a table.
#[derive(Clone, Debug)]
pub struct Line {
    /// The row and target.
    pub name: String,
    /// The family of the pattern.
    pub matrix: &'static str,
    /// The errors.
    pub statistics: Statistics<Case>,
}

/// The errors of a system on everything, in the order of the table.
///
/// # Errors
/// The first case that cannot be computed.
pub fn lines(system: System) -> Result<Vec<Line>, GoldenError> {
    static TABLE: [Row; ROWS.len()] = ROWS;
    let patterns = patterns()?;
    let rows: Vec<&'static Row> = TABLE.iter().filter(|row| row.system == system).collect();
    let jobs: Vec<(&'static Row, SourceSpec)> =
        rows.iter().flat_map(|&row| patterns.iter().map(move |&source| (row, source))).collect();
    let done: Vec<Vec<Statistics<Case>>> =
        jobs.into_par_iter().map(|(row, source)| of_family(row, source)).collect::<Result<_, _>>()?;
    let mut lines = Vec::new();
    for (row, of_row) in rows.iter().zip(done.chunks(patterns.len())) {
        for (index, &target) in row.targets.iter().enumerate() {
            for (source, of_targets) in patterns.iter().zip(of_row) {
                lines.push(Line {
                    name: row.name(target),
                    matrix: source.family().name(),
                    statistics: of_targets[index].clone(),
                });
            }
        }
    }
    Ok(lines)
}

/// The errors on one pattern with all values, for each target of the row.
fn of_family(row: &'static Row, source: SourceSpec) -> Result<Vec<Statistics<Case>>, GoldenError> {
    let pattern = source.generate()?;
    // Targets with the same unit are computed once.
    let units: Vec<Option<Datapath>> = row.targets.iter().map(|&target| datapath(row, target)).collect();
    let first = |index: usize| units.iter().position(|unit| *unit == units[index]).unwrap_or(index);
    let distinct: Vec<usize> = (0..units.len()).filter(|&index| first(index) == index).collect();
    let targets: Vec<Target> = distinct.iter().map(|&index| row.targets[index]).collect();
    let mut all = vec![Statistics::default(); row.targets.len()];
    for values in Values::ALL {
        let case = Case::pinned(row, row.targets[0], source, values);
        let scores = scores(&case, &pattern, &targets)?;
        for (index, statistics) in all.iter_mut().enumerate() {
            let case = case.on(row.targets[index]);
            let of_unit = distinct.iter().position(|&d| d == first(index)).unwrap_or(0);
            statistics.add_scores(&scores[of_unit], |score| case.at(score.row, score.col));
        }
    }
    Ok(all)
}

/// What makes bits differ between targets.
fn datapath(row: &Row, target: Target) -> Option<Datapath> {
    match (row.instruction(), target) {
        (Some(instruction), Target::Gpu(architecture)) => {
            TensorCore::new(architecture, instruction).ok().map(|core| core.datapath())
        }
        _ => None,
    }
}

/// The table of a system.
///
/// # Errors
/// As [`lines`].
pub fn table(system: System) -> Result<String, GoldenError> {
    Ok(render(system, &lines(system)?))
}

/// Lines as text, columns aligned.
#[must_use]
pub fn render(system: System, lines: &[Line]) -> String {
    let number = |worst: Option<Worst<Case>>| worst.map_or("-".to_owned(), |w| format!("{:.4}", w.error));
    let cells = |line: &Line| {
        let s = &line.statistics;
        let case = |worst: Option<Worst<Case>>| worst.map(|w| w.place);
        [
            line.matrix.to_owned(),
            s.elements().to_string(),
            number(s.worst),
            format!("{:.4}", s.most()),
            number(s.result),
            number(s.share),
            case(s.share).map_or(String::new(), |case| case.tail()),
            case(s.worst).map_or(String::new(), |case| case.to_string()),
        ]
    };
    let all: Vec<[String; 8]> = lines.iter().map(cells).collect();
    let mut widths = COLUMNS.map(str::len);
    for (width, at) in widths.iter_mut().zip(0..) {
        let longest = all.iter().map(|cells| cells[at].len()).max();
        *width = longest.unwrap_or(0).max(*width);
    }
    // Writing to a String cannot fail.
    let mut text = format!("{}: errors of what the papers' kernels compute\n\n{HEAD}\n", system.name());
    push(&mut text, &COLUMNS.map(str::to_owned), &widths);
    let mut name = "";
    for (line, cells) in lines.iter().zip(&all) {
        if line.name != name {
            let _ = write!(text, "\n{}\n", line.name);
            name = &line.name;
        }
        push(&mut text, cells, &widths);
    }
    text
}

/// One line: names to the left, numbers to the right.
fn push(text: &mut String, cells: &[String; 8], widths: &[usize; 8]) {
    let start = text.len();
    for (at, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        let _ = if (1..6).contains(&at) {
            write!(text, "{cell:>width$}  ")
        } else {
            write!(text, "{cell:width$}  ")
        };
    }
    text.truncate(start + text[start..].trim_end().len());
    text.push('\n');
}
