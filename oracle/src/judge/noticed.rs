//! Which wrong kernels are noticed: by the rule, element by element, or of an SpMM row by row, on the screen.
//!
//! ```text
//! row -> exact sums of its first columns --a skipped row is beyond a bound--> noticed
//!                                       \--else--> all columns: screen, and the rule where it does not tell
//! ```
//!
//! One element that notices is enough for a row, and nearly always there is one among the first few. Whether T0 applies to an element
//! may depend on all columns of its row; being beyond the bound does not.

use super::accepted::ElementVerdict;
use super::by_rows::decode_held;
use super::lanes::{RowResult, SoFar};
use super::output::Place;
use super::problem::{ElementInput, Problem};
use super::row_allowance::RowAllowances;
use super::rows::{Scratch, SpmmRow, SpmmRows};
use super::rule::Rule;
use super::screen::Screen;
use crate::arithmetic::Arithmetic;
use crate::bound::Tolerance;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::scalar::{AnySlice, Precision, Rounding, decode, encode};
use rayon::prelude::*;
use std::ops::Range;

/// Columns that are looked at first.
const FIRST: usize = 8;

/// Rows that a thread looks at again at a time.
const LEFT: usize = 64;

/// What is noticed of a case.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    /// A kernel that returns +0 everywhere.
    pub(super) zeros: bool,
    /// One that leaves C alone.
    pub(super) stale: bool,
    /// Rows that have entries.
    pub(super) with_entries: usize,
    /// Those of them whose disappearance nothing notices.
    pub(super) unnoticed: Vec<usize>,
}

impl Noticed {
    /// With what is noticed in later rows.
    fn then(mut self, mut next: Noticed) -> Noticed {
        self.zeros |= next.zeros;
        self.stale |= next.stale;
        self.with_entries += next.with_entries;
        self.unnoticed.append(&mut next.unnoticed);
        self
    }

    /// Counts a row with entries.
    fn row(&mut self, index: usize, noticed: bool) {
        self.with_entries += 1;
        if !noticed {
            self.unnoticed.push(index);
        }
    }
}

/// What a case is: how its elements are judged, and what C holds.
pub(super) struct Search<'a> {
    rule: Rule<'a>,
    beta: f64,
    out: Precision,
    before: Option<(AnySlice<'a>, Place)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        problem: &Problem<'_>,
        arithmetic: &'a Arithmetic,
        (alpha, beta): (f64, f64),
        before: Option<(AnySlice<'a>, Place)>,
    ) -> Search<'a> {
        let rule = Rule::of(problem, (arithmetic, &Profile::default()), (alpha, beta));
        Search { rule, beta, out: arithmetic.out, before }
    }

    /// One element, by the rule; `true` if a row that is skipped is noticed here.
    fn element(&mut self, site: &ElementInput<'_>, c: f64, noticed: &mut Noticed) -> bool {
        let accepted = self.rule.accepts(site, c);
        let wrong = |y: f64| {
            let bits = encode(y, self.out, Rounding::NearestEven);
            matches!(accepted.judge(bits), ElementVerdict::Wrong(..))
        };
        noticed.zeros |= wrong(0.0);
        noticed.stale |= self.beta != 0.0 && wrong(c);
        wrong(self.of_skipped(c))
    }

    /// What a row that is skipped holds.
    fn of_skipped(&self, c: f64) -> f64 {
        if self.beta == 0.0 { 0.0 } else { self.beta * c }
    }

    /// Whether some element of a row with this result is wrong, if the screen tells; `all`: the row has all its columns.
    fn is_wrong(
        &self,
        row: &SpmmRow<'_, '_>,
        (screen, allowance): (&mut Screen, &Tolerance),
        result: RowResult<'_>,
        all: bool,
    ) -> Option<bool> {
        if screen.is_beyond(row, allowance, result) {
            return Some(true);
        }
        if !all {
            return None;
        }
        screen.row(row, allowance, result, SoFar { worst: f64::INFINITY, order_free: true }).any_wrong()
    }
}

/// Every element by the rule.
fn in_elements(problem: &Problem<'_>, mut search: Search<'_>) -> Result<Noticed, Refusal> {
    let (mut noticed, mut visited) = (Noticed::default(), 0);
    // The row that is visited: its number, whether it has entries, whether its disappearance is noticed.
    let mut row = (usize::MAX, false, false);
    problem.for_each(&mut |site| {
        let held = |(data, place): (AnySlice<'_>, Place)| {
            decode(data.bits(place.offset(site.at, visited)), data.precision())
        };
        let c = search.before.map_or(0.0, held);
        visited += 1;
        if site.at.0 != row.0 {
            if row.1 {
                noticed.row(row.0, row.2);
            }
            row = (site.at.0, site.has_entries(), false);
        }
        let stale = noticed.stale || search.beta == 0.0;
        if !(noticed.zeros && stale && (row.2 || !row.1)) {
            row.2 |= search.element(site, c, &mut noticed);
        }
    })?;
    if row.1 {
        noticed.row(row.0, row.2);
    }
    Ok(noticed)
}

/// Row by row, of what is screened; every element by the rule, of what is not.
pub(super) fn search_all<'s>(
    problem: &Problem<'_>,
    search: &(impl Fn() -> Search<'s> + Sync),
) -> Result<Noticed, Refusal> {
    let first = search();
    let is_screened = !first.rule.has_model() && Screen::new(&first.rule).is_some();
    match *problem {
        Problem::Spmm { a, pads, b, slots } if is_screened => {
            let rows = |cols| SpmmRows::of_columns(a, (pads, slots), b, cols);
            let allowances = RowAllowances::new(&first.rule, b);
            let row_search = |cols| RowSearch::new(search(), &allowances, cols);
            in_rows(rows, (b.cols(), first.beta), &row_search)
        }
        _ => in_elements(problem, first),
    }
}

/// The first columns of all rows; all columns of the rows where these do not tell, and of all rows where zeros or C left alone have not
/// been noticed.
fn in_rows<'s, 'p>(
    rows: impl Fn(usize) -> Result<SpmmRows<'p>, Refusal>,
    (cols, beta): (usize, f64),
    search: &(impl Fn(usize) -> RowSearch<'s> + Sync),
) -> Result<Noticed, Refusal> {
    let seen = if cols > FIRST { all_rows(&rows(FIRST)?, search, false) } else { Noticed::default() };
    let rows = || rows(cols);
    if !seen.zeros || !seen.stale && beta != 0.0 {
        return Ok(all_rows(&rows()?, search, true));
    }
    if seen.unnoticed.is_empty() {
        return Ok(seen);
    }
    let rows = rows()?;
    let memory = || search(rows.cols);
    let again = seen.unnoticed.par_chunks(LEFT).map_init(memory, |search, left| {
        some_rows(&rows, search, left.iter().map(|&i| i..i + 1), true).unnoticed
    });
    let again: Vec<Vec<usize>> = again.collect();
    Ok(Noticed { unnoticed: again.concat(), ..seen })
}

/// All rows, side by side.
fn all_rows<'s>(
    rows: &SpmmRows<'_>,
    search: &(impl Fn(usize) -> RowSearch<'s> + Sync),
    last: bool,
) -> Noticed {
    let memory = || search(rows.cols);
    let pieces = rows.pieces().into_par_iter();
    let seen = pieces.map_init(memory, |search, piece| some_rows(rows, search, std::iter::once(piece), last));
    let seen: Vec<Noticed> = seen.collect();
    seen.into_iter().fold(Noticed::default(), Noticed::then)
}

/// Some rows, in order. `last`: nobody looks again, so that the rule is asked where the screen does not tell.
fn some_rows(
    rows: &SpmmRows<'_>,
    search: &mut RowSearch<'_>,
    which: impl Iterator<Item = Range<usize>>,
    last: bool,
) -> Noticed {
    which.for_each(|range| rows.visit(range, &mut |row| search.row(row, last)));
    std::mem::take(&mut search.noticed)
}

/// A search with its memory, used for row after row.
struct RowSearch<'a> {
    search: Search<'a>,
    allowances: &'a RowAllowances,
    screen: Option<Screen>,
    noticed: Noticed,
    zeros: Vec<f64>,
    held: Vec<f64>,
    skipped: Vec<f64>,
    scratch: Scratch,
}

impl<'a> RowSearch<'a> {
    fn new(search: Search<'a>, allowances: &'a RowAllowances, n: usize) -> RowSearch<'a> {
        let screen = Screen::new(&search.rule);
        let [zeros, held, skipped] = [(); 3].map(|()| vec![0.0; n]);
        let (noticed, scratch) = (Noticed::default(), Scratch::default());
        RowSearch { search, allowances, screen, noticed, zeros, held, skipped, scratch }
    }

    fn row(&mut self, row: &SpmmRow<'_, '_>, last: bool) {
        let RowSearch { search, allowances, screen, noticed, zeros, held, skipped, scratch } = self;
        let has_entries = row.panel.terms() > 0;
        let reads_c = search.beta != 0.0;
        let no_stale = noticed.stale || !reads_c;
        if held.is_empty() || noticed.zeros && no_stale && !has_entries {
            return;
        }
        if reads_c {
            decode_held(search.before, (row.index, row.b().cols()), held);
            let rounded = |y: f64| decode(encode(y, search.out, Rounding::NearestEven), search.out);
            for (skipped, &c) in skipped.iter_mut().zip(&*held) {
                *skipped = rounded(search.of_skipped(c));
            }
        }
        let allowance = allowances.of(&mut search.rule, row, scratch);
        let mut known = true;
        let mut is_wrong = |done: bool, found: &[f64]| {
            let result = RowResult { found, held, modelled: None };
            let mut screened = || search.is_wrong(row, (screen.as_mut()?, allowance.as_ref()?), result, last);
            let wrong = if done { Some(true) } else { screened() };
            known &= wrong.is_some();
            wrong == Some(true)
        };
        let zeros_wrong = is_wrong(noticed.zeros, zeros);
        let stale_wrong = is_wrong(no_stale, held);
        let mut row_noticed = is_wrong(!has_entries, skipped);
        noticed.zeros = zeros_wrong;
        noticed.stale |= stale_wrong && reads_c;
        for (j, &c) in held.iter().enumerate().filter(|_| last && !known) {
            if noticed.zeros && (noticed.stale || !reads_c) && (row_noticed || !has_entries) {
                break;
            }
            row.element(j, scratch, &mut |site| row_noticed |= search.element(site, c, noticed));
        }
        if has_entries {
            noticed.row(row.index, row_noticed);
        }
    }
}
