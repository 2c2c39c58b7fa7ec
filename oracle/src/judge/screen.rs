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
//! 4. Every element where T0 applies must be exact, and x is a float there: its terms are multiples of one power of two and 53 bits hold the
//!    sum. Whether it applies is told for a whole row by its finest product and its largest gauge, or by one product of each column that is
//!    too fine; where neither tells, by the finest product of each column.

use super::load::Counting;
use super::problem::lsb;
use super::rows::SpmmRow;
use super::rule::Rule;
use crate::bound::{OrderFree, SubnormalThresholds, Tolerance};
use crate::exact::{Panel, two_sum};
use crate::verdict::Criterion;
use pulp::{Arch, NullaryFnOnce};

/// Where `1 + r` stands for a factor, on the safe side by more than all roundings of a comparison.
const CLEAR: f64 = 1e-9;

/// Gauges below this are left open: rests of products may underflow.
const TINY: f64 = 1e-250;

/// Terms that are tried as the one that is too fine for T0.
const TRIED: usize = 4;

/// What is known of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// To be judged by the rule.
    Open,
    /// The exact value.
    Exact,
    /// Off by no more than the largest share so far.
    Within,
    /// Wrong by this tier. T0: not the exact value where only that is right. T1: further off than allowed, or not finite where it must be.
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
}

/// What is judged, one number a column.
#[derive(Clone, Copy)]
pub(super) struct RowResult<'r> {
    /// The result.
    pub(super) found: &'r [f64],
    /// What C held; zeros where it is not read.
    pub(super) held: &'r [f64],
    /// What a model returns, where the declaration fixes the bits.
    pub(super) modelled: Option<&'r [f64]>,
}

/// What has been seen of a result so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoFar {
    /// The largest share.
    pub(super) worst: f64,
    /// T0 has applied to some element.
    pub(super) order_free: bool,
}

/// How the elements of one declaration are screened.
#[derive(Debug)]
pub(super) struct Screen {
    arch: Arch,
    alpha: f64,
    beta: f64,
    limits: OrderFree,
    /// Significand bits of the narrower of accumulator and output.
    significand: i32,
    /// Operands below this are counted otherwise.
    least_normal: f64,
    /// The number of terms says all about their counts.
    plain: bool,
    /// Not 0 for a column where T0 does not apply.
    fine: Vec<f64>,
    /// Not 0 for a column where it does.
    free: Vec<f64>,
}

/// Where T0 applies in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum T0 {
    /// To every element.
    Everywhere,
    /// To none.
    Nowhere,
    /// As the two lists of columns say, and unknown in columns of neither.
    Listed,
}

impl Screen {
    /// `None` where a declaration, or its use of alpha and beta, is left to the rule.
    pub(super) fn new(rule: &Rule<'_>) -> Option<Screen> {
        let (arithmetic, (alpha, beta)) = (rule.arithmetic(), rule.scalars());
        let part = arithmetic.part();
        let thresholds = SubnormalThresholds::new(arithmetic, part);
        let moderate = |factor: f64| (1e-20..1e20).contains(&factor.abs());
        let folds = arithmetic.epilogue.folds_alpha() && alpha.abs() != 1.0;
        let one_part = arithmetic.parts.second().is_none();
        let scales = moderate(alpha) && (beta == 0.0 || moderate(beta));
        if !one_part
            || folds
            || !scales
            || thresholds.flushes()
            || arithmetic.flush.is_any()
            || rule.reads_c_anyway()
        {
            return None;
        }
        let significand = part.acc.spec().significand.min(arithmetic.out.spec().significand) as i32;
        Some(Screen {
            arch: Arch::new(),
            alpha,
            beta,
            limits: OrderFree::new(arithmetic),
            significand,
            least_normal: thresholds.aligned(),
            plain: Counting::new(arithmetic).is_plain(),
            fine: Vec::new(),
            free: Vec::new(),
        })
    }

    /// True where the number of terms says all about their counts.
    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    /// True where every element of the row has the same counts of terms, and none of its operands is counted as a subnormal one.
    pub(super) fn is_uniform(&self, row: &SpmmRow<'_, '_>) -> bool {
        let normal = |v: f64| v.abs() >= self.least_normal;
        let of_term = |(&k, &a): (&u32, &f64)| {
            a == 0.0 || normal(a) && row.row_of_b(k).iter().all(|&b| b != 0.0 && normal(b))
        };
        row.pads.is_empty() && row.cols.iter().zip(row.values).all(of_term)
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
        ScreenedRow { all_pass, inexact, order_free, nan_is_wrong: !row.faces_special(), lanes }
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
        if gauge < TINY && row.panel.gauge_lo().iter().any(|&lo| lo != 0.0) || gauge > 0.0 && gauge < TINY {
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
        self.arch.dispatch(FindFree {
            row,
            held,
            alpha: self.alpha,
            beta: self.beta,
            limits: FloatLimits { floor, bits, largest },
            free: &mut self.free,
            fine: &mut self.fine,
        });
    }

    /// Looks for a product of each column that is too fine for T0; true where every column has one.
    fn find_fine(&mut self, row: &SpmmRow<'_, '_>) -> bool {
        let n = row.panel.width();
        self.fine.clear();
        self.fine.resize(n, 0.0);
        let terms = row.cols.iter().zip(row.values).filter(|(_, a)| **a != 0.0).take(TRIED);
        for (&k, &a) in terms {
            let (b, gauge) = (&row.row_of_b(k)[..n], row.panel.gauge_hi());
            let found =
                self.arch.dispatch(Fine { a, b, gauge, significand: self.significand, fine: &mut self.fine });
            if found {
                return true;
            }
        }
        false
    }
}

/// Exponents and totals as floats: multiples of a power of two, up to a total.
#[derive(Clone, Copy)]
struct FloatLimits {
    floor: f64,
    /// 2^p.
    bits: f64,
    largest: f64,
}

/// Finds the columns where T0 applies, and more where it does not, as a task for the vector unit.
struct FindFree<'r, 'a> {
    row: &'r SpmmRow<'r, 'a>,
    held: &'r [f64],
    alpha: f64,
    beta: f64,
    limits: FloatLimits,
    /// The lowest set bit of all products of a column, then whether T0 applies.
    free: &'r mut [f64],
    fine: &'r mut [f64],
}

impl NullaryFnOnce for FindFree<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let FindFree { row, held, alpha, beta, limits: FloatLimits { floor, bits, largest }, free, fine } =
            self;
        let n = free.len();
        for (&k, &a) in row.cols.iter().zip(row.values) {
            let (b, of_a) = (&row.row_of_b(k)[..n], lowest_bit(a));
            for j in 0..n {
                let bit = of_a * lowest_bit(b[j]);
                free[j] = if bit < free[j] { bit } else { free[j] };
            }
        }
        let (gauge, gauge_lo) = (&row.panel.gauge_hi()[..n], &row.panel.gauge_lo()[..n]);
        let (of_alpha, of_beta) = (lowest_bit(alpha), lowest_bit(beta));
        let (held, fine) = (&held[..n], &mut fine[..n]);
        // Zeros have no lowest bit.
        let no_products = row.lsb() > 10_000;
        for j in 0..n {
            let (g, bit) = (gauge[j], free[j]);
            let addend = of_beta * lowest_bit(held[j]);
            let scaled_bit = if addend < bit * of_alpha { addend } else { bit * of_alpha };
            let scaled = alpha.abs() * g + (beta * held[j]).abs();
            let room = if bit * bits < largest { bit * bits } else { largest };
            let scaled_room = if scaled_bit * bits < largest { scaled_bit * bits } else { largest };
            // Powers of two are exact where they did not underflow.
            let exact = (bit > 1e-290) & (scaled_bit > 1e-290);
            let no_sum = (g == 0.0) & (gauge_lo[j] == 0.0);
            let plain = no_products & no_sum | (bit >= floor) & (g * (1.0 + CLEAR) <= room) & (g > 0.0);
            let whole = (scaled_bit >= floor) & (scaled * (1.0 + CLEAR) <= scaled_room);
            let too_wide = g * (1.0 - CLEAR) > room;
            // A column of zeros beside others is left to the rule, which takes the finest product of the row there.
            let nothing = no_sum & ((beta == 0.0) | (held[j] == 0.0));
            let large = (scaled > TINY) & (no_sum | (g > TINY));
            free[j] = if nothing | exact & large & plain & whole { 1.0 } else { 0.0 };
            fine[j] = if exact & too_wide & (g > TINY) & (g < 1e290) { 1.0 } else { fine[j] };
        }
    }
}

/// The lowest set bit, as a number; infinite of 0, which binds nothing. Of NaN and infinities it is NaN or 0.
#[inline(always)]
fn lowest_bit(x: f64) -> f64 {
    let bits = x.to_bits();
    let without = f64::from_bits(bits & bits.wrapping_sub(1));
    let bit = if bits & ((1 << 52) - 1) == 0 { x.abs() } else { (x - without).abs() };
    if x == 0.0 { f64::INFINITY } else { bit }
}

/// An allowance in floats.
#[derive(Clone, Copy)]
struct Allowed {
    relative: f64,
    absolute: f64,
    /// Gauges up to here overflow nothing.
    safe: f64,
}

impl Allowed {
    fn new(tolerance: &Tolerance) -> Allowed {
        let relative = tolerance.relative();
        let safe = tolerance.limit() / (1.0 + relative) * (1.0 - CLEAR);
        Allowed { relative, absolute: tolerance.absolute(), safe: safe.min(1e300) }
    }
}

/// The largest gauge and the largest |c| of a row, infinite where one is not finite.
struct Largest {
    gauge: f64,
    held: f64,
}

/// Finds them, as a task for the vector unit.
struct FindLargest<'r> {
    gauge: &'r [f64],
    held: &'r [f64],
}

impl NullaryFnOnce for FindLargest<'_> {
    type Output = Largest;

    #[inline(always)]
    fn call(self) -> Largest {
        Largest { gauge: largest(self.gauge), held: largest(self.held) }
    }
}

#[inline(always)]
fn largest(values: &[f64]) -> f64 {
    let (mut most, mut special) = (0.0f64, 0.0f64);
    for &v in values {
        most = if v.abs() > most { v.abs() } else { most };
        special += v * 0.0;
    }
    if special == 0.0 { most } else { f64::INFINITY }
}

/// One row with all that its elements are compared with.
#[derive(Clone, Copy)]
struct Lanes<'r> {
    panel: &'r Panel,
    result: RowResult<'r>,
    /// Not 0 where T0 does not apply, and where it does, if it is listed.
    fine: &'r [f64],
    free: &'r [f64],
    t0: T0,
    alpha: f64,
    beta: f64,
    allowed: Allowed,
}

/// True where the rest of this product is none if it is said to be none.
#[inline(always)]
fn whole(product: f64) -> bool {
    (product == 0.0) | (product.abs() > 1e-280)
}

/// One element, compared.
#[derive(Clone, Copy)]
struct Compared {
    /// y is x.
    equal: bool,
    /// x is certainly a float, and y is another one.
    differs: bool,
    /// Certainly not x.
    inexact: bool,
    /// Certainly not beyond the bound, certainly beyond it.
    within: bool,
    beyond: bool,
    /// The largest share that it can have, times the bound, and that bound.
    most: f64,
    bound: f64,
    /// Nothing overflows, and nothing underflows that matters.
    sane: bool,
}

impl Lanes<'_> {
    /// Compares the sum `hi + lo + tail` with gauge `g`, C = `c`, and the result `y`.
    #[inline(always)]
    fn compare(&self, [hi, lo, tail, g, c, y]: [f64; 6]) -> Compared {
        let Allowed { relative, absolute, safe } = self.allowed;
        let p = self.alpha * hi;
        let pe = self.alpha.mul_add(hi, -p);
        let q = self.beta * c;
        let qe = self.beta.mul_add(c, -q);
        let (s, se) = two_sum(p, q);
        let rest = (pe + qe) + (se + self.alpha * (lo + tail));
        let gauge = self.alpha.abs() * g + q.abs();
        let error = ((y - s) - rest).abs();
        let slack = gauge * (1.0 / (1u128 << 98) as f64);
        let bound = relative * gauge + absolute;
        let most = error * (1.0 + CLEAR) + slack;
        let least = error * (1.0 - CLEAR) - slack;
        let is_float = (pe == 0.0) & (qe == 0.0) & (se == 0.0) & (lo == 0.0) & whole(p) & whole(q);
        Compared {
            equal: is_float & (y == s),
            differs: is_float & (y != s),
            inexact: least > 0.0,
            within: most < bound * (1.0 - CLEAR),
            beyond: least > bound * (1.0 + CLEAR),
            most,
            bound: bound * (1.0 - CLEAR),
            sane: (gauge > TINY) & (gauge < safe) & (g < safe),
        }
    }

    #[inline(always)]
    fn numbers(&self, j: usize) -> [f64; 6] {
        let panel = self.panel;
        let (hi, lo, tail, g) = (panel.hi()[j], panel.lo()[j], panel.tail()[j], panel.gauge_hi()[j]);
        [hi, lo, tail, g, self.result.held[j], self.result.found[j]]
    }
}

impl Compared {
    /// Certainly not above the largest share so far.
    #[inline(always)]
    fn is_small(&self, so_far: SoFar) -> bool {
        self.most <= so_far.worst * self.bound
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
                Class::Wrong(_) => return Some(true),
                Class::Open => open = true,
                Class::Exact | Class::Within => {}
            }
        }
        (!open).then_some(false)
    }

    /// What is known of column `j` after what has been seen.
    pub(super) fn class(&self, j: usize, so_far: SoFar) -> Class {
        let lanes = &self.lanes;
        let y = lanes.result.found[j];
        let compared = lanes.compare(lanes.numbers(j));
        let Compared { equal, differs, inexact, within, beyond, sane, .. } = compared;
        let fine = self.is_fine(j);
        let knows_order_free = self.knows_order_free(j, so_far);
        if sane && knows_order_free && self.nan_is_wrong && !y.is_finite()
            || sane && fine && beyond && y.is_finite()
        {
            return Class::Wrong(Criterion::T1);
        }
        if sane && self.is_free(j) && differs && y.is_finite() {
            return Class::Wrong(Criterion::T0);
        }
        let exact = equal && knows_order_free;
        let near = sane && fine && inexact && within;
        if !exact && !near {
            return Class::Open;
        }
        match lanes.result.modelled.map(|modelled| modelled[j]) {
            Some(m) if m.to_bits() == y.to_bits() => {}
            Some(m) if m == y || m.is_nan() => return Class::Open,
            Some(_) => return Class::Wrong(Criterion::T2),
            None => {}
        }
        if exact {
            Class::Exact
        } else if compared.is_small(so_far) {
            Class::Within
        } else {
            Class::Open
        }
    }

    /// The same of a column that was not written.
    pub(super) fn poison(&self, j: usize, so_far: SoFar) -> Class {
        if self.knows_order_free(j, so_far) { Class::Wrong(Criterion::T0) } else { Class::Open }
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

/// Asks whether every element of a row passes, as a task for the vector unit.
struct AllPass<'r> {
    lanes: Lanes<'r>,
    so_far: SoFar,
}

impl NullaryFnOnce for AllPass<'_> {
    /// Whether all pass, and whether some are not exact.
    type Output = (bool, bool);

    #[inline(always)]
    fn call(self) -> (bool, bool) {
        let (failed, inexact) = match self.lanes.t0 {
            T0::Everywhere => self.elements::<false, false>(),
            T0::Nowhere => self.elements::<true, false>(),
            T0::Listed => self.elements::<false, true>(),
        };
        (failed == 0, inexact != 0)
    }
}

impl AllPass<'_> {
    #[inline(always)]
    fn elements<const NOWHERE: bool, const LISTED: bool>(&self) -> (u64, u64) {
        let AllPass { lanes, so_far } = self;
        let n = lanes.panel.width();
        let RowResult { found, held, modelled } = lanes.result;
        let panel = lanes.panel;
        let (hi, lo, tail, g) =
            (&panel.hi()[..n], &panel.lo()[..n], &panel.tail()[..n], &panel.gauge_hi()[..n]);
        let (found, held) = (&found[..n], &held[..n]);
        let (fine, free) =
            if LISTED { (&lanes.fine[..n], &lanes.free[..n]) } else { (&found[..n], &found[..n]) };
        let (mut failed, mut inexact) = (0u64, 0u64);
        for j in 0..n {
            let c = lanes.compare([hi[j], lo[j], tail[j], g[j], held[j], found[j]]);
            let is_fine = NOWHERE | (LISTED & (fine[j] != 0.0));
            let is_known = !LISTED | (fine[j] != 0.0) | (free[j] != 0.0) | so_far.order_free;
            let near = c.sane & c.inexact & c.within & c.is_small(*so_far) & is_fine;
            failed |= u64::from(!((c.equal & is_known) | near));
            inexact |= u64::from(!c.equal);
        }
        if let Some(modelled) = modelled {
            for (m, y) in modelled[..n].iter().zip(found) {
                failed |= m.to_bits() ^ y.to_bits();
            }
        }
        (failed, inexact)
    }
}

/// Looks for products `a * b` with a set bit below the last one that T0 allows at their gauge, as a task for the vector unit.
///
/// With 2^top the power of two at or below the gauge, T0 needs all products to be multiples of 2^(top - p). The nearest multiple is found by
/// adding and subtracting 1.5 * 2^(52 + top - p), which is exact for products below 2^(51 + top - p); p is at most 24 there.
struct Fine<'r> {
    a: f64,
    b: &'r [f64],
    gauge: &'r [f64],
    significand: i32,
    fine: &'r mut [f64],
}

impl NullaryFnOnce for Fine<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Fine { a, b, gauge, significand, fine } = self;
        let n = fine.len();
        let (b, gauge) = (&b[..n], &gauge[..n]);
        // 2^-p, and 1.5 * 2^(52 - p): of no use where the sum would lose bits of its own.
        let unit = f64::from_bits(((1023 - significand) as u64) << 52);
        let shift = if significand <= 24 {
            1.5 * f64::from_bits(((1023 + 52 - significand) as u64) << 52)
        } else {
            0.0
        };
        let mut missing = 0u64;
        for j in 0..n {
            // The gauge may be half an ulp more: one bit less, where that reaches the next power of two, is on the safe side.
            let top = f64::from_bits(gauge[j].to_bits() & 0x7ff0_0000_0000_0000);
            let product = a * b[j];
            let rest = a.mul_add(b[j], -product);
            let sigma = top * shift;
            let off = product - ((product + sigma) - sigma);
            let below = if rest.abs() < top * unit { rest.abs() } else { 0.0 };
            let usable = (product.abs() > 1e-200) & (gauge[j] < 1e250);
            let found = (if shift > 0.0 { off.abs() } else { 0.0 }) + below;
            let found = if usable { found } else { 0.0 };
            fine[j] += found;
            missing |= u64::from(!(fine[j] > 0.0));
        }
        missing == 0
    }
}
