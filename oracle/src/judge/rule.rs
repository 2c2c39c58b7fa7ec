//! What one output element may be: every tier that applies, each of which must pass.

use super::accepted::Accepted;
use super::load::{Counting, ElementCounts};
use super::problem::{ElementInput, Problem, Terms, lsb};
use super::rows::SpmmRow;
use crate::arithmetic::{Along, Arithmetic, Epilogue, Part};
use crate::bound::{OrderFree, SubnormalThresholds, TermCounts, Tolerance, sum_significand, tolerance_of};
use crate::exact::{Dyadic, Element, Value, dot};
use crate::model::chain::Unit;
use crate::model::reduction::Model;
use crate::op::{scale, times};
use crate::profile::{Choice, Profile};
use crate::scalar::Rounding;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// How a kernel computes an element, as far as judging needs it.
#[derive(Debug)]
pub struct Rule<'a> {
    arithmetic: Cow<'a, Arithmetic>,
    alpha: f64,
    beta: f64,
    /// Largest magnitude of the operand that alpha is not folded into.
    other_max: f64,
    /// An exact zero may be missing from the pattern and then reads as +0 (profile).
    numeric_pattern: bool,
    /// 0 * A * B and 0 * C are computed rather than skipped (profile).
    alpha0_reads: bool,
    beta0_reads: bool,
    /// A stored element that may be read as zero may be taken for absent, too (profile).
    drops_flushed: bool,
    /// Alpha, which is 1 beside values of S, is multiplied into an operand by a unit that may flush what comes of it.
    folds_one: Option<Epilogue>,
    counting: Counting,
    /// Where every way of summing is exact.
    limits: OrderFree,
    /// Those of the first part.
    thresholds: SubnormalThresholds,
    model: Option<Model>,
    /// The rules by which an alpha or beta that may be read as zero is zero: a kernel that flushes it may skip what it multiplies, too.
    read_as_zero: Vec<Rule<'a>>,
    /// Allowances by what they depend on besides the declaration; few counts occur, and many elements share them.
    cached: HashMap<Key, Option<Arc<Tolerance>>>,
    /// The last one asked for; neighbours in a row share it.
    last: Option<(Key, Option<Arc<Tolerance>>)>,
}

/// What an allowance depends on besides the declaration: the counts of each part, bits of alpha and of beta.
type Key = ([TermCounts; 2], u64, u64);

/// Allowances that are kept at most.
const KEPT: usize = 4096;

impl<'a> Rule<'a> {
    /// Prepares to judge elements computed as declared; `other_max` as by [`Problem::other_max`].
    #[must_use]
    pub fn new(
        arithmetic: &'a Arithmetic,
        profile: &Profile,
        alpha: f64,
        beta: f64,
        other_max: f64,
    ) -> Rule<'a> {
        Rule::declared(&Cow::Borrowed(arithmetic), profile, (alpha, beta), other_max)
    }

    fn declared(
        arithmetic: &Cow<'a, Arithmetic>,
        profile: &Profile,
        (alpha, beta): (f64, f64),
        other_max: f64,
    ) -> Rule<'a> {
        let thresholds = SubnormalThresholds::new(arithmetic, arithmetic.part());
        let read = |factor: f64| arithmetic.flush.inputs.is_some() && thresholds.may_flush_factor(factor);
        let readings = |factor: f64| [Some(factor), read(factor).then_some(0.0)].into_iter().flatten();
        let scalars = readings(alpha).flat_map(|alpha| readings(beta).map(move |beta| (alpha, beta)));
        let rule = |scalars| Rule::as_read(arithmetic.clone(), profile, scalars, other_max);
        Rule { read_as_zero: scalars.skip(1).map(rule).collect(), ..rule((alpha, beta)) }
    }

    /// The rule for these alpha and beta and no others.
    fn as_read(
        arithmetic: Cow<'a, Arithmetic>,
        profile: &Profile,
        (alpha, beta): (f64, f64),
        other_max: f64,
    ) -> Rule<'a> {
        Rule {
            alpha,
            beta,
            other_max,
            numeric_pattern: profile.has(Choice::NumericPattern),
            alpha0_reads: alpha == 0.0 && profile.has(Choice::Alpha0ReadsAb),
            beta0_reads: beta == 0.0 && profile.has(Choice::Beta0ReadsC),
            folds_one: None,
            drops_flushed: arithmetic.flush.inputs.is_some() && profile.has(Choice::StoredZerosAbsent),
            counting: Counting::new(&arithmetic),
            limits: OrderFree::new(&arithmetic),
            thresholds: SubnormalThresholds::new(&arithmetic, arithmetic.part()),
            model: Model::new(&arithmetic),
            arithmetic,
            read_as_zero: Vec::new(),
            cached: HashMap::new(),
            last: None,
        }
    }

    /// Prepares to judge the elements of a problem.
    #[must_use]
    pub fn of(
        problem: &Problem<'_>,
        (arithmetic, profile): (&'a Arithmetic, &Profile),
        (alpha, beta): (f64, f64),
    ) -> Rule<'a> {
        let declared = arithmetic;
        let arithmetic = problem.computed_by(declared);
        let folds_one = declared.epilogue.folds_alpha() && !arithmetic.epilogue.folds_alpha();
        // Asked for only where alpha is folded into an operand: a pass over all of the other one.
        let epilogue = arithmetic.epilogue;
        let other_max = if epilogue.folds_alpha() { problem.other_max(epilogue) } else { 0.0 };
        let rule = Rule::declared(&arithmetic, profile, (alpha, beta), other_max);
        Rule { folds_one: (folds_one && declared.flush.results).then_some(declared.epilogue), ..rule }
    }

    /// Works out what element `site` may be, given what C held there.
    #[must_use]
    pub fn accepts(&mut self, site: &ElementInput<'_>, c: f64) -> Accepted {
        self.accepts_by(site, c, self.drops_flushed)
    }

    /// [`accepts`](Self::accepts); `drops`: what may be read as zero may be absent, too.
    fn accepts_by(&mut self, site: &ElementInput<'_>, c: f64, drops: bool) -> Accepted {
        let alpha = site.factor.map_or(self.alpha, |factor| self.alpha * factor);
        let mut exact = match site.factor {
            Some(factor) => scale(&times(site.sum, factor), self.alpha, self.beta, c),
            None => scale(site.sum, self.alpha, self.beta, c),
        };
        // SpGEMM, SpMM and SpMV have no factor; alpha = 0 drops the sum, a stored 0 multiplies it.
        let reads_nan =
            self.alpha0_reads && !site.sum.value.is_finite() || self.beta0_reads && !c.is_finite();
        if reads_nan {
            exact.value = Value::Nan;
        }
        let load = self.counting.load(&self.arithmetic, site);
        let raised = !load.operands.raised.is_zero() && alpha != 0.0 && alpha.is_finite();
        if raised && exact.gauge.is_finite() {
            let more = Value::from_dyadic(load.operands.raised.clone()).scale(alpha.abs());
            exact.gauge = &exact.gauge + &more;
        }
        // Multiplied by 0, no term brings its roundings along.
        let counts = if alpha == 0.0 { Default::default() } else { load.census };
        let mut tolerance = self.tolerance(counts, (alpha, self.beta));
        let (flushed, flush_meets_inf) = self.flushed(site, &load, &exact, c);
        if let Some(flushed) = &flushed {
            tolerance = tolerance.map(|t| Arc::new(t.widened(flushed)));
        }
        let order_free =
            exact.value.is_finite() && flushed.is_none() && self.is_order_free(site, &load, &exact, alpha, c);
        // A sum near zero times an infinity: rounding decides between NaN and either infinity.
        let inf_or_nan = site.factor.is_some_and(f64::is_infinite) && self.is_near_zero(site, &load);
        if inf_or_nan {
            exact.value = Value::Inf { negative: false };
        }
        let overflow =
            inf_or_nan || tolerance.as_ref().is_some_and(|t| self.may_overflow(t, site, &exact, (alpha, c)));
        // 0 * x has the sign of x: where it is computed and added, only the sign of a zero result can change. At alpha = 0
        // the sum counts as +0, and a kernel may add it or not.
        let sign_free = self.alpha0_reads || self.beta0_reads || self.numeric_pattern || self.alpha == 0.0;
        let computes_zero = self.alpha0_reads || site.factor.is_some();
        let beta = self.beta;
        let modelled =
            self.model.as_mut().filter(|_| !reads_nan).and_then(|model| {
                model.element(site.terms.iter(), site.slots, (alpha, beta), c, computes_zero)
            });
        Accepted {
            exact,
            order_free,
            modelled,
            sign_free,
            nan_too: site.poisoned && (alpha != 0.0 || self.alpha0_reads)
                || self.alpha_vanishes(site)
                || flush_meets_inf,
            overflow,
            saturates: overflow && self.arithmetic.parts.iter().any(|part| !part.nearest),
            tolerance,
            out: self.arithmetic.out,
            or_as: self.or_as(site, c, drops),
        }
    }

    /// What is right besides: with an alpha or beta read as zero, and with stored elements read as zero that are then absent.
    fn or_as(&mut self, site: &ElementInput<'_>, c: f64, drops: bool) -> Vec<Accepted> {
        let mut others: Vec<Accepted> =
            self.read_as_zero.iter_mut().map(|rule| rule.accepts_by(site, c, drops)).collect();
        if drops && let Some(list) = self.without_flushed(site) {
            let (left, right): (Vec<f64>, Vec<f64>) = list.iter().copied().unzip();
            let sum = dot(&left, &right);
            // What is left has nothing more that may be absent; in a list, an element of a dense B would look as if it were stored.
            let rest = ElementInput { sum: &sum, terms: Terms::List(&list), ..*site };
            others.push(self.accepts_by(&rest, c, false));
        }
        others
    }

    /// The terms with a zero for each that may be absent beside a NaN or an infinity; what is lost of others, or not, the bound of a flush
    /// covers. None where there are none such. A zero of A is a pad: what it faces is not met by default (2.7).
    fn without_flushed(&self, site: &ElementInput<'_>) -> Option<Vec<(f64, f64)>> {
        if matches!(site.terms, Terms::Rows { .. }) {
            return None;
        }
        let shows =
            |(a, b): (f64, f64)| !(a.is_finite() && b.is_finite()) && self.may_be_absent(site, (a, b));
        let rest = |term: (f64, f64)| if shows(term) || term.0 == 0.0 { (0.0, 0.0) } else { term };
        site.terms.iter().any(shows).then(|| site.terms.iter().map(rest).collect())
    }

    /// True for a term of which a stored element may be read as zero and taken for absent: of A, and of B where that is sparse.
    fn may_be_absent(&self, site: &ElementInput<'_>, (a, b): (f64, f64)) -> bool {
        let may_flush = |v| self.thresholds.may_flush(v);
        may_flush(a) || matches!(site.terms, Terms::List(_)) && may_flush(b)
    }

    /// True for a position of a sparse result that no term reaches once elements that are read as zero are absent.
    pub(super) fn may_be_missing(&self, site: &ElementInput<'_>) -> bool {
        self.drops_flushed && site.terms.iter().all(|term| self.may_be_absent(site, term))
    }

    /// The declaration.
    pub(super) fn arithmetic(&self) -> &Arithmetic {
        &self.arithmetic
    }

    /// alpha and beta.
    pub(super) fn scalars(&self) -> (f64, f64) {
        (self.alpha, self.beta)
    }

    /// True where C is read though beta is 0.
    pub(super) fn reads_c_anyway(&self) -> bool {
        self.beta0_reads
    }

    /// True where all terms go through one chain, as they are: one part, alpha folded into neither operand.
    pub(super) fn is_one_chain(&self) -> bool {
        let one_part = self.arithmetic.parts.second().is_none();
        one_part && self.arithmetic.part().along == Along::Chain && !self.folds_alpha()
    }

    /// True where alpha is multiplied into an operand.
    pub(super) fn folds_alpha(&self) -> bool {
        self.arithmetic.epilogue.folds_alpha() && self.alpha != 1.0
    }

    /// True where bits are fixed.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// True where the number of terms of a row says all about the counts of its elements.
    pub(super) fn counts_by_number(&self, row: &SpmmRow<'_, '_>) -> bool {
        self.counting.is_by_number(row.cols.len() + row.pads.len(), row.slots().is_some())
    }

    /// The same of every row.
    pub(super) fn always_counts_by_number(&self) -> bool {
        self.counting.always_by_number()
    }

    /// The allowance of all elements of a row whose products are zero where the element of A is, and nowhere else; none of the operands is
    /// subnormal to the declaration. `values` are the elements of A, pads among them where it is not the number of terms that counts.
    pub(super) fn allowance(&mut self, row: &SpmmRow<'_, '_>, values: &[f64]) -> Option<Arc<Tolerance>> {
        let products = || values.iter().map(|&a| a != 0.0);
        let sizes = (row.panel.terms(), row.cols.len() + row.pads.len());
        let counts = self.counting.census(&self.arithmetic, sizes, products, row.slots());
        self.tolerance(counts, (self.alpha, self.beta))
    }

    fn tolerance(&mut self, counts: [TermCounts; 2], (alpha, beta): (f64, f64)) -> Option<Arc<Tolerance>> {
        let key = (counts, alpha.to_bits(), beta.to_bits());
        if let Some((_, allowance)) = self.last.as_ref().filter(|(last, _)| *last == key) {
            return allowance.clone();
        }
        if self.cached.len() >= KEPT {
            self.cached.clear();
        }
        let allowance = self.cached.entry(key).or_insert_with(|| {
            // Parts are asked for in order.
            let mut counts = counts.into_iter();
            let census = |_: &Part| counts.next().unwrap_or_default();
            tolerance_of(&self.arithmetic, census, (alpha, beta), self.other_max).map(Arc::new)
        });
        let allowance = allowance.clone();
        self.last = Some((key, allowance.clone()));
        allowance
    }

    /// What a flush of operands may take from the result, where there are any, and whether it may turn an infinity into NaN (0 * Inf).
    ///
    /// A product of a flushed operand is lost whole, and with a flushed alpha (or stored factor) the whole sum, with a flushed beta or c
    /// all of `beta * c`. Where results are flushed, `beta * c` may be lost as one, even by a beta of 1.
    fn flushed(
        &self,
        site: &ElementInput<'_>,
        load: &ElementCounts,
        exact: &Element,
        c: f64,
    ) -> (Option<Dyadic>, bool) {
        let thresholds = &self.thresholds;
        if !thresholds.flushes() {
            return (None, false);
        }
        let number = |v: f64| Dyadic::from_f64(v.abs()).unwrap_or_else(Dyadic::zero);
        let alpha = site.factor.map_or(self.alpha, |factor| self.alpha * factor);
        let mut all = &(&load.operands.flushed + &self.lost_by_one(site)) * &number(alpha);
        let mut flush_meets_inf = load.flush_meets_inf && alpha != 0.0;
        if self.beta != 0.0 {
            let read = thresholds.may_flush_factor(self.beta) || thresholds.may_flush_c(c);
            flush_meets_inf |= thresholds.may_flush_factor(self.beta) && c.is_infinite();
            if read || thresholds.may_flush_result(self.beta * c) {
                all = &all + &(&number(self.beta) * &number(c));
            }
        }
        let factor = site.factor.is_some_and(|factor| thresholds.may_flush_c(factor));
        if factor || thresholds.may_flush_factor(self.alpha) {
            all = &all + &exact.gauge.to_dyadic().unwrap_or_else(Dyadic::zero);
            flush_meets_inf |= !site.sum.value.is_finite();
        }
        ((!all.is_zero()).then_some(all), flush_meets_inf)
    }

    /// The finite products of operands that an alpha of 1 was multiplied into and that were flushed then.
    fn lost_by_one(&self, site: &ElementInput<'_>) -> Dyadic {
        let Some(epilogue) = self.folds_one else { return Dyadic::zero() };
        let number = |v: f64| Dyadic::from_f64(v.abs());
        let lost = |&(a, b): &(f64, f64)| {
            self.thresholds.may_flush_result(if epilogue == Epilogue::AlphaIntoB { b } else { a })
        };
        let products = site.terms.iter().filter(lost).filter_map(|(a, b)| Some(&number(a)? * &number(b)?));
        products.fold(Dyadic::zero(), |sum, product| &sum + &product)
    }

    /// True when alpha, folded into an operand, underflows (or is flushed) to 0 where the other one is infinite: 0 x Inf is NaN.
    fn alpha_vanishes(&self, site: &ElementInput<'_>) -> bool {
        let epilogue = self.folds_one.unwrap_or(self.arithmetic.epilogue);
        let flushes = self.arithmetic.flush.results;
        if !epilogue.folds_alpha() || self.alpha == 0.0 || self.alpha.abs() >= 1.0 && !flushes {
            return false;
        }
        let unit = Unit { precision: self.arithmetic.part().acc };
        let vanishes = |term: (f64, f64)| {
            let fold = |v: f64| {
                let product = unit.mul(self.alpha, v);
                if self.thresholds.may_flush_result(product) { 0.0 } else { product }
            };
            let (a, b) = epilogue.folded(term, fold);
            term.0 != 0.0 && term.1 != 0.0 && (a == 0.0 && b.is_infinite() || b == 0.0 && a.is_infinite())
        };
        !site.sum.value.is_finite() && site.terms.iter().any(vanishes)
    }

    /// True when rounding may bring the unscaled sum to zero, or away from it.
    fn is_near_zero(&mut self, site: &ElementInput<'_>, load: &ElementCounts) -> bool {
        let sum = site.sum;
        let allowed = self.tolerance(load.census, (1.0, 0.0));
        let allowed = allowed.map(|t| t.widened(&load.operands.flushed));
        let gauge = &sum.gauge + &Value::from_dyadic(load.operands.raised.clone());
        sum.terms > 0
            && sum.value.is_finite()
            && !(sum.value.is_zero() && sum.gauge.is_zero())
            && allowed.is_none_or(|t| t.distance(0.0, &sum.value, &gauge).within)
    }

    /// T0 (clause 4.1): the products are multiples of one power of two and sum up to no more than the significand holds of it; so are,
    /// and do, the scaled products and the addend, of a power of their own.
    ///
    /// A partial sum is of products, or of scaled ones and the addend, never of both. A folded alpha leaves only the latter, and an alpha of 0
    /// that skips the products only the addend.
    fn is_order_free(
        &self,
        site: &ElementInput<'_>,
        load: &ElementCounts,
        exact: &Element,
        alpha: f64,
        c: f64,
    ) -> bool {
        let c = if self.beta == 0.0 { 0.0 } else { c };
        let folds = self.arithmetic.epilogue.folds_alpha();
        let skipped = alpha == 0.0 && site.factor.is_none() && !self.alpha0_reads;
        let raised = load.operands.raised.to_f64(Rounding::NearestEven);
        // Aligned by more than their magnitude: one bit less.
        let total = |gauge: &Value| match raised {
            0.0 => at_least(gauge),
            raised => 2.0 * (at_least(gauge) + raised),
        };
        let (plain, scaled) = (total(&site.sum.gauge), total(&exact.gauge));
        let addend = lsb(c).saturating_add(lsb(self.beta));
        let free = |products: i64| {
            let lowest = products.saturating_add(lsb(alpha)).min(addend);
            // Nothing but zeros: any order gives zero. (A sum that is too small for f64 is no zero.)
            let none = site.sum.gauge.is_zero() || folds || skipped;
            (none || self.limits.holds(products, plain))
                && (exact.gauge.is_zero() || self.limits.holds(lowest, scaled))
        };
        // The bound of a whole row first, which costs nothing; then the element's own products, given up at the first that is finer than
        // the significand reaches from their sum.
        let own = || {
            let significand = sum_significand(&self.arithmetic, self.arithmetic.part());
            let (gauge, shift) = if folds { (scaled, lsb(alpha)) } else { (plain, 0) };
            let top = Dyadic::from_f64(gauge)?.msb_exponent()?;
            let least = top - i64::from(significand) - shift;
            site.terms.lsb(least).filter(|&own| own > site.lsb)
        };
        (free(site.lsb) || own().is_some_and(free)) && self.folds_exactly(site)
    }

    /// True where alpha, folded into an operand, is multiplied by it without rounding. (A rounded factor of 0 makes no difference, unless
    /// it overflowed.)
    ///
    /// Where the product alpha * a * b has no more than p significant bits, neither has its factor alpha * a; but it may be out of range.
    fn folds_exactly(&self, site: &ElementInput<'_>) -> bool {
        let epilogue = self.arithmetic.epilogue;
        let flushes = self.arithmetic.flush.results;
        // A factor of 1 may still flush.
        let idle = self.alpha == 0.0 || self.alpha.abs() == 1.0 && !flushes;
        if !epilogue.folds_alpha() || idle {
            return true;
        }
        let spec = self.arithmetic.part().acc.spec();
        let least = if flushes { spec.emin } else { spec.min_exponent() };
        site.terms.iter().all(|(a, b)| {
            let of_b = epilogue == Epilogue::AlphaIntoB;
            let (operand, other) = if of_b { (b, a) } else { (a, b) };
            let fits = (self.alpha * operand).abs() <= spec.max_finite();
            let whole = lsb(self.alpha).saturating_add(lsb(operand)) >= i64::from(least);
            fits && (whole || other == 0.0)
        })
    }

    fn may_overflow(
        &self,
        tolerance: &Tolerance,
        site: &ElementInput<'_>,
        exact: &Element,
        (alpha, c): (f64, f64),
    ) -> bool {
        // alpha * a (or alpha * b) is an intermediate of its own, however small the other factor is.
        let epilogue = self.arithmetic.epilogue;
        if epilogue.folds_alpha() && alpha.abs() != 1.0 && alpha != 0.0 {
            let of_b = epilogue == Epilogue::AlphaIntoB;
            let largest = site
                .terms
                .iter()
                .map(|t| if of_b { t.1.abs() } else { t.0.abs() })
                .filter(|a| a.is_finite())
                .fold(0.0, f64::max);
            if tolerance.may_overflow(&Value::from_f64(largest * alpha.abs())) {
                return true;
            }
        }
        match exact.value {
            Value::Nan => false,
            // Beside the infinite terms, finite ones may overflow to the other side and give NaN.
            Value::Inf { .. } => {
                let addend = if self.beta != 0.0 && c.is_finite() { (self.beta * c).abs() } else { 0.0 };
                // An infinite factor turns no finite sum into NaN: only overflow before it may.
                let alpha = if site.factor.is_some_and(f64::is_infinite) { self.alpha } else { alpha };
                let products = if alpha == 0.0 && !self.alpha0_reads {
                    0.0
                } else {
                    site.terms.finite_gauge() * alpha.abs().max(1.0)
                };
                tolerance.may_overflow(&Value::from_f64(products + addend))
            }
            _ => {
                let multiplied = alpha != 0.0 || self.alpha0_reads || site.factor.is_some();
                let unscaled = multiplied && tolerance.may_overflow(&site.sum.gauge);
                unscaled || tolerance.may_overflow(&exact.gauge)
            }
        }
    }
}

/// An f64 that is not below a gauge: one bit past the significand is past it.
fn at_least(gauge: &Value) -> f64 {
    match gauge {
        Value::Pair { hi, lo } if *lo <= 0.0 => *hi,
        Value::Pair { hi, .. } => hi.next_up(),
        other => match other.to_dyadic() {
            Some(exact) => exact.to_f64(Rounding::Up),
            None => f64::INFINITY,
        },
    }
}
