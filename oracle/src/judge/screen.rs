//! Which elements of a row certainly pass, or certainly fail, found without big numbers.
//!
//! ```text
//! exact sums (hi + lo + tail, gauge), result, C, bits of a model --one pass over the columns--> all pass | a class for each column
//!                                                              what stays open: Rule, in exact arithmetic
//! ```
//!
//! Everything here is f64 arithmetic with an error bound of its own, on the safe side: what it decides, [`Rule`] decides in the same way,
//! and what it can't decide it leaves open. With `x = alpha * S + beta * c`, M its gauge, and u = 2^-53:
//!
//! 1. `p = RN(alpha * hi)`, `q = RN(beta * c)` and `s = RN(p + q)` have rests `pe`, `qe`, `se` that are floats (fused multiplication,
//!    two-sum), each at most u of what it is left of. So `x = s + (pe + qe + se + alpha * (lo + tail))`, and the sum in parentheses is formed
//!    of five numbers below 2u * M, hence off by less than 2^-98 * M, if nothing underflows: M is above 1e-250.
//! 2. `RN(y - s) - rest` is the error of y up to that, and up to 2^-51 of itself.
//! 3. The share of an element only matters if it is the largest. One that is certainly not above the largest so far is not worked out.
//! 4. Every element where T0 applies must be exact, but for one rounding to a narrower output, and x is a float there: its terms are
//!    multiples of one power of two and 53 bits hold the sum. Whether it applies is told for a whole row by its finest product and its largest gauge, or by one product of each column that is
//!    too fine; where neither tells, by the finest product of each column.

use super::exact_dense::each_width;
use super::finest::{FindFree, FindLargest, Fine, FloatLimits, Largest};
use super::lanes::{AllPass, Allowed, CLEAR, Compared, Lanes, RowResult, SoFar, T0, TINY};
use super::problem::lsb;
use super::rows::SpmmRow;
use super::rule::Rule;
use crate::bound::{OrderFree, SubnormalThresholds, Tolerance, sum_significand};
use crate::scalar::{Precision, nearest_in};
use crate::verdict::Criterion;
use pulp::Arch;

/// Terms that are tried as the one that is too fine for T0.
const TRIED: usize = 4;

/// What is known of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementClass {
    /// To be judged by the rule.
    Open,
    /// The exact value.
    Exact,
    /// Off by no more than the largest share so far.
    Within,
    /// Wrong by this tier. T0: not the exact value (rounded once) where only that is right. T1: further off than allowed, or not finite where it must be.
    /// T2: within the bound, with other bits than the model has.
    Wrong(Criterion),
}

/// What one row gave.
pub(super) struct ScreenedRow<'r> {
    /// True where no element is open or wrong.
    pub(super) all_pass: bool,
    /// True where some element is not exact; of a row that passes.
    pub(super) inexact: bool,
    /// True where T0 applies to every element.
    pub(super) order_free: bool,
    /// NaN is right nowhere but where the exact value is one.
    nan_is_wrong: bool,
    lanes: Lanes<'r>,
    out: Precision,
}

/// How the elements of one declaration are screened.
#[derive(Debug)]
pub(super) struct Screen {
    arch: Arch,
    alpha: f64,
    beta: f64,
    limits: OrderFree,
    /// Significand bits of the narrowest accumulator.
    significand: i32,
    out: Precision,
    /// Not 0 for a column where T0 does not apply.
    fine: Vec<f64>,
    /// Not 0 for a column where it does.
    free: Vec<f64>,
}

impl Screen {
    /// `None` where a declaration, or its use of alpha and beta, is left to the rule.
    pub(super) fn new(rule: &Rule<'_>) -> Option<Screen> {
        let (arithmetic, (alpha, beta)) = (rule.arithmetic(), rule.scalars());
        let moderate = |factor: f64| (1e-20..1e20).contains(&factor.abs());
        let folds = arithmetic.epilogue.folds_alpha() && alpha.abs() != 1.0;
        let flushes = |part| SubnormalThresholds::new(arithmetic, part).flushes();
        let scales = moderate(alpha) && (beta == 0.0 || moderate(beta));
        if folds
            || !scales
            || arithmetic.parts.iter().any(flushes)
            || arithmetic.flush.is_any()
            || rule.reads_c_anyway()
        {
            return None;
        }
        let of_parts = arithmetic.parts.iter().map(|part| sum_significand(arithmetic, part));
        let significand = of_parts.fold(u32::MAX, u32::min) as i32;
        Some(Screen {
            arch: Arch::new(),
            alpha,
            beta,
            limits: OrderFree::new(arithmetic),
            significand,
            out: arithmetic.out,
            fine: Vec::new(),
            free: Vec::new(),
        })
    }

    /// True where some element is certainly wrong, whether T0 applies to it or not: it is not the exact value, and beyond the bound.
    pub(super) fn is_beyond(
        &self,
        row: &SpmmRow<'_, '_>,
        tolerance: &Tolerance,
        result: RowResult<'_>,
    ) -> bool {
        let (alpha, beta, allowed) = (self.alpha, self.beta, Allowed::new(tolerance));
        let (fine, free, t0) = (&[][..], &[][..], T0::Nowhere);
        let lanes = Lanes { panel: row.panel, result, fine, free, t0, alpha, beta, allowed };
        let beyond = |j: usize| {
            let compared = lanes.compare(lanes.numbers(j));
            compared.sane && compared.beyond && result.found[j].is_finite()
        };
        (0..row.panel.width()).any(beyond)
    }

    /// Screens one row.
    pub(super) fn row<'r>(
        &'r mut self,
        row: &SpmmRow<'r, '_>,
        tolerance: &Tolerance,
        result: RowResult<'r>,
        so_far: SoFar,
    ) -> ScreenedRow<'r> {
        let t0 = if self.is_order_free(row, result.held) {
            T0::Everywhere
        } else if self.find_fine(row) {
            T0::Nowhere
        } else {
            self.find_free(row, result.held);
            T0::Listed
        };
        let (alpha, beta) = (self.alpha, self.beta);
        let allowed = Allowed::new(tolerance);
        let (fine, free) = (&self.fine[..], &self.free[..]);
        let lanes = Lanes { panel: row.panel, result, fine, free, t0, alpha, beta, allowed };
        let order_free = match t0 {
            T0::Everywhere => true,
            T0::Nowhere => false,
            T0::Listed => free.iter().any(|&free| free != 0.0),
        };
        let (all_pass, inexact) = self.arch.dispatch(AllPass { lanes, so_far });
        ScreenedRow {
            all_pass,
            inexact,
            order_free,
            nan_is_wrong: !row.faces_special(),
            lanes,
            out: self.out,
        }
    }

    /// T0 for the whole row: by its finest product and its largest gauge.
    fn is_order_free(&self, row: &SpmmRow<'_, '_>, held: &[f64]) -> bool {
        let own = row.lsb();
        let of_products = own.saturating_add(lsb(self.alpha));
        if self.limits.largest_total(own.min(of_products)) == 0.0 {
            return false;
        }
        let reads_c = self.beta != 0.0;
        let held = if reads_c { held } else { &[] };
        let Largest { gauge, held: c } =
            self.arch.dispatch(FindLargest { gauge: row.panel.gauge_hi(), held });
        // A gauge below all floats is no zero.
        if gauge < TINY && (gauge > 0.0 || row.panel.gauge_lo().iter().any(|&lo| lo != 0.0)) {
            return false;
        }
        let free = |lsb: i64, total: f64| total == 0.0 || self.limits.holds(lsb, total * (1.0 + CLEAR));
        let scaled = self.alpha.abs() * gauge + self.beta.abs() * c;
        let lost = scaled < TINY && (scaled > 0.0 || c > 0.0);
        if lost || !free(own, gauge) || !free(of_products, scaled) {
            return false;
        }
        let addend =
            held.iter().map(|&c| lsb(c)).min().map_or(i64::MAX, |c| c.saturating_add(lsb(self.beta)));
        free(of_products.min(addend), scaled)
    }

    /// Lists where T0 applies, column by column.
    fn find_free(&mut self, row: &SpmmRow<'_, '_>, held: &[f64]) {
        self.free.clear();
        self.free.resize(row.panel.width(), f64::INFINITY);
        let (floor, bits, largest) = self.limits.as_floats();
        let (alpha, beta, limits) = (self.alpha, self.beta, FloatLimits { floor, bits, largest });
        let (free, fine) = (&mut self.free, &mut self.fine);
        each_width!(row.b(), b => {
            self.arch.dispatch(FindFree { row, b, held, alpha, beta, limits, free, fine });
        });
    }

    /// Looks for a product of each column that is too fine for T0; true where every column has one.
    fn find_fine(&mut self, row: &SpmmRow<'_, '_>) -> bool {
        let n = row.panel.width();
        self.fine.clear();
        self.fine.resize(n, 0.0);
        let terms = row.cols.iter().zip(row.values).filter(|(_, a)| **a != 0.0).take(TRIED);
        for (&k, &a) in terms {
            let (gauge, significand, fine) = (row.panel.gauge_hi(), self.significand, &mut self.fine);
            let found = each_width!(row.b(), b => {
                self.arch.dispatch(Fine { a, b: &b.row(k as usize)[..n], gauge, significand, fine })
            });
            if found {
                return true;
            }
        }
        false
    }
}

impl ScreenedRow<'_> {
    /// Whether some element is wrong, if that is known.
    pub(super) fn any_wrong(&self) -> Option<bool> {
        let so_far = SoFar { worst: f64::INFINITY, order_free: true };
        if self.all_pass {
            return Some(false);
        }
        let mut open = false;
        for j in 0..self.lanes.panel.width() {
            match self.class(j, so_far) {
                ElementClass::Wrong(_) => return Some(true),
                ElementClass::Open => open = true,
                ElementClass::Exact | ElementClass::Within => {}
            }
        }
        (!open).then_some(false)
    }

    /// What is known of column `j` after what has been seen.
    pub(super) fn class(&self, j: usize, so_far: SoFar) -> ElementClass {
        let lanes = &self.lanes;
        let y = lanes.result.found[j];
        let compared = lanes.compare(lanes.numbers(j));
        let Compared { equal, differs, inexact, within, beyond, sane, value, .. } = compared;
        let fine = self.is_fine(j);
        let knows_order_free = self.knows_order_free(j, so_far);
        if sane && knows_order_free && self.nan_is_wrong && !y.is_finite()
            || sane && fine && beyond && y.is_finite()
        {
            return ElementClass::Wrong(Criterion::T1);
        }
        let must_be_nearest = sane && self.is_free(j) && differs && y.is_finite();
        let is_nearest = must_be_nearest && y == nearest_in(value, self.out);
        if must_be_nearest && !is_nearest {
            return ElementClass::Wrong(Criterion::T0);
        }
        let exact = equal && knows_order_free;
        let near = sane && (fine || is_nearest) && inexact && within;
        if !exact && !near {
            return ElementClass::Open;
        }
        match lanes.result.modelled.map(|modelled| modelled[j]) {
            Some(m) if m.to_bits() == y.to_bits() => {}
            Some(m) if m == y || m.is_nan() => return ElementClass::Open,
            Some(_) => return ElementClass::Wrong(Criterion::T2),
            None => {}
        }
        if exact {
            ElementClass::Exact
        } else if compared.is_small(so_far) {
            ElementClass::Within
        } else {
            ElementClass::Open
        }
    }

    /// The same of a column that was not written.
    pub(super) fn poison(&self, j: usize, so_far: SoFar) -> ElementClass {
        if self.knows_order_free(j, so_far) { ElementClass::Wrong(Criterion::T0) } else { ElementClass::Open }
    }

    /// T0 does not apply.
    fn is_fine(&self, j: usize) -> bool {
        self.lanes.t0 == T0::Nowhere || self.lanes.t0 == T0::Listed && self.lanes.fine[j] != 0.0
    }

    /// T0 applies.
    fn is_free(&self, j: usize) -> bool {
        self.lanes.t0 == T0::Everywhere || self.lanes.t0 == T0::Listed && self.lanes.free[j] != 0.0
    }

    /// Whether T0 applies to the column is known, or makes no difference any more.
    fn knows_order_free(&self, j: usize, so_far: SoFar) -> bool {
        so_far.order_free || self.is_free(j) || self.is_fine(j)
    }
}

#[cfg(test)]
mod tests;
