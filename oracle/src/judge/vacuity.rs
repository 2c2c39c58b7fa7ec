//! Is a case worth running? It must fail a kernel that returns zeros, one that leaves C alone, and one that skips any
//! row; where it would not, it is tagged degenerate by name.

use super::accepted::ElementVerdict;
use super::by_rows::decode_held;
use super::lanes::{RowResult, SoFar};
use super::problem::{ElementInput, Problem};
use super::rows::{Scratch, SpmmRow, SpmmRows};
use super::rule::Rule;
use super::screen::Screen;
use super::tally::Place;
use crate::arithmetic::Arithmetic;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Precision, Rounding, decode, encode};
use std::fmt;

/// A wrong kernel that a case should notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alternative {
    /// Returns +0 everywhere.
    Zeros,
    /// Leaves C as it was.
    StaleC,
    /// Treats a row that has entries as empty.
    SkippedRow,
}

/// Which alternatives a case does not notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vacuity {
    /// Alternatives that would pass; empty for a case at full strength.
    pub passes: Vec<Alternative>,
}

impl Alternative {
    /// All of them.
    pub const ALL: [Alternative; 3] = [Alternative::Zeros, Alternative::StaleC, Alternative::SkippedRow];

    /// Machine name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Alternative::Zeros => "zeros",
            Alternative::StaleC => "stale-c",
            Alternative::SkippedRow => "skipped-row",
        }
    }
}

impl fmt::Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Runs the three alternatives against the case, under the arithmetic that would forgive the most.
///
/// `before` is what C holds (read where beta is not 0); with beta = 0, C is poison, which is always noticed.
#[must_use]
pub fn vacuity(
    problem: &Problem<'_>,
    arithmetic: &Arithmetic,
    (alpha, beta): (f64, f64),
    before: Option<(AnySlice<'_>, Place)>,
) -> Vacuity {
    let out = arithmetic.out;
    let rule = Rule::of(problem, (arithmetic, &Profile::default()), (alpha, beta));
    let mut search =
        Search { rule, beta, out, before, zeros: false, stale: beta == 0.0 && !is_empty(problem) };
    let searched = match Screen::new(&search.rule) {
        Some(screen) if matches!(problem, Problem::Spmm { .. }) && !search.rule.has_model() => {
            search.rows(problem, screen)
        }
        _ => search.elements(problem),
    };
    let Ok(RowCounts { with_entries, unnoticed }) = searched else {
        return Vacuity { passes: Alternative::ALL.to_vec() };
    };
    let mut passes = Vec::new();
    if !search.zeros {
        passes.push(Alternative::Zeros);
    }
    if !search.stale {
        passes.push(Alternative::StaleC);
    }
    if unnoticed > 0 || with_entries == 0 {
        passes.push(Alternative::SkippedRow);
    }
    Vacuity { passes }
}

fn is_empty(problem: &Problem<'_>) -> bool {
    let (rows, cols) = problem.shape();
    rows * cols == 0
}

/// Rows that have entries, and those of them whose disappearance nothing notices.
#[derive(Default)]
struct RowCounts {
    with_entries: usize,
    unnoticed: usize,
}

/// Looks for elements that notice.
struct Search<'a> {
    rule: Rule<'a>,
    beta: f64,
    out: Precision,
    before: Option<(AnySlice<'a>, Place)>,
    /// Zeros, and a C left alone, have been noticed.
    zeros: bool,
    stale: bool,
}

impl Search<'_> {
    /// Element by element; `true` if a row that is skipped is noticed here.
    fn element(&mut self, site: &ElementInput<'_>, c: f64) -> bool {
        let accepted = self.rule.accepts(site, c);
        let wrong = |y: f64| {
            let bits = encode(y, self.out, Rounding::NearestEven);
            matches!(accepted.judge(bits), ElementVerdict::Wrong(..))
        };
        self.zeros |= wrong(0.0);
        self.stale |= self.beta != 0.0 && wrong(c);
        wrong(self.of_skipped(c))
    }

    /// What a row that is skipped holds.
    fn of_skipped(&self, c: f64) -> f64 {
        if self.beta == 0.0 { 0.0 } else { self.beta * c }
    }

    fn elements(&mut self, problem: &Problem<'_>) -> Result<RowCounts, Refusal> {
        let mut rows = RowCounts::default();
        let mut row = (usize::MAX, false, false);
        let mut visited = 0;
        problem.for_each(&mut |site| {
            let c = self.before.map_or(0.0, |(data, place)| value(data, place.offset(site.at, visited)));
            visited += 1;
            if site.at.0 != row.0 {
                rows.unnoticed += usize::from(row.1 && !row.2);
                row = (site.at.0, site.has_entries(), false);
                rows.with_entries += usize::from(row.1);
            }
            if self.zeros && self.stale && (row.2 || !row.1) {
                return;
            }
            row.2 |= self.element(site, c);
        })?;
        rows.unnoticed += usize::from(row.1 && !row.2);
        Ok(rows)
    }

    /// Whether some element of a row that holds `found` is wrong, if a screen tells.
    fn screened(
        &mut self,
        row: &SpmmRow<'_, '_>,
        screen: &mut Screen,
        (found, held): (&[f64], &[f64]),
    ) -> Option<bool> {
        if !screen.is_plain() {
            return None;
        }
        let allowance = self.rule.allowance_of(row.panel.terms())?;
        let result = RowResult { found, held, modelled: None };
        screen.row(row, &allowance, result, SoFar { worst: f64::INFINITY, order_free: true }).any_wrong()
    }

    /// Row by row; element by element where a screen does not tell.
    fn rows(&mut self, problem: &Problem<'_>, mut screen: Screen) -> Result<RowCounts, Refusal> {
        let &Problem::Spmm { a, pads, b, slots } = problem else { return self.elements(problem) };
        let product = SpmmRows::new(a, (pads, slots), b)?;
        let mut rows = RowCounts::default();
        let n = b.cols();
        let (zeros, mut held, mut skipped) = (vec![0.0; n], vec![0.0; n], Vec::with_capacity(n));
        let mut scratch = Scratch::default();
        product.visit(0..a.rows, &mut |row| {
            let has_entries = row.panel.terms() > 0;
            if n == 0 || self.zeros && self.stale && !has_entries {
                return;
            }
            decode_held(self.before, row.index, &mut held);
            let rounded = |y: f64| decode(encode(y, self.out, Rounding::NearestEven), self.out);
            skipped.clear();
            skipped.extend(held.iter().map(|&c| rounded(self.of_skipped(c))));
            let (zeros_done, stale_done) = (self.zeros, self.stale);
            let mut known = true;
            let mut screened = |done: bool, found: &[f64]| {
                let wrong = if done { Some(true) } else { self.screened(row, &mut screen, (found, &held)) };
                known &= wrong.is_some();
                wrong == Some(true)
            };
            let found = (screened(zeros_done, &zeros), screened(stale_done, &held));
            let mut noticed = screened(!has_entries, &skipped);
            (self.zeros, self.stale) = found;
            for (j, &c) in held.iter().enumerate().filter(|_| !known) {
                if self.zeros && self.stale && noticed {
                    break;
                }
                row.element(j, &mut scratch, &mut |site| noticed |= self.element(site, c));
            }
            rows.with_entries += usize::from(has_entries);
            rows.unnoticed += usize::from(!noticed);
        });
        Ok(rows)
    }
}

fn value(data: AnySlice<'_>, offset: usize) -> f64 {
    let precision: Precision = data.precision();
    decode(data.bits(offset), precision)
}
