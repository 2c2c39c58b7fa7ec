//! The elements of one row compared with their exact values, side by side in floats.
//!
//! ```text
//! hi, lo, tail, gauge | C | result  ->  x = alpha * S + beta * c as a float and its rest  ->  equal? within? beyond?
//! ```
//!
//! Why each comparison is on the safe side: [`screen`](super::screen).

use crate::bound::Tolerance;
use crate::exact::{Panel, two_sum};
use pulp::NullaryFnOnce;

/// Where `1 + r` stands for a factor, on the safe side by more than all roundings of a comparison.
pub(super) const CLEAR: f64 = 1e-9;

/// Gauges below this are left open: rests of products may underflow.
pub(super) const TINY: f64 = 1e-250;

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

/// Where T0 applies in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum T0 {
    /// To every element.
    Everywhere,
    /// To none.
    Nowhere,
    /// As the two lists of columns say, and unknown in columns of neither.
    Listed,
}

/// An allowance in floats.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    pub(super) relative: f64,
    pub(super) absolute: f64,
    /// Gauges up to here overflow nothing.
    pub(super) safe: f64,
}

impl Allowed {
    pub(super) fn new(tolerance: &Tolerance) -> Allowed {
        let relative = tolerance.relative();
        let safe = tolerance.limit() / (1.0 + relative) * (1.0 - CLEAR);
        Allowed { relative, absolute: tolerance.absolute(), safe: safe.min(1e300) }
    }
}

/// One row with all that its elements are compared with.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'r> {
    pub(super) panel: &'r Panel,
    pub(super) result: RowResult<'r>,
    /// Not 0 where T0 does not apply, and where it does, if it is listed.
    pub(super) fine: &'r [f64],
    pub(super) free: &'r [f64],
    pub(super) t0: T0,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) allowed: Allowed,
}

/// True where the rest of this product is none if it is said to be none.
#[inline(always)]
fn whole(product: f64) -> bool {
    (product == 0.0) | (product.abs() > 1e-280)
}

/// One element, compared.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    /// y is x.
    pub(super) equal: bool,
    /// x is certainly a float, and y is another one.
    pub(super) differs: bool,
    /// Certainly not x.
    pub(super) inexact: bool,
    /// Certainly not beyond the bound, certainly beyond it.
    pub(super) within: bool,
    pub(super) beyond: bool,
    /// The largest share that it can have, times the bound, and that bound.
    pub(super) most: f64,
    pub(super) bound: f64,
    /// Nothing overflows, and nothing underflows that matters.
    pub(super) sane: bool,
}

impl Lanes<'_> {
    /// Compares the sum `hi + lo + tail` with gauge `g`, C = `c`, and the result `y`.
    #[inline(always)]
    pub(super) fn compare(&self, [hi, lo, tail, g, c, y]: [f64; 6]) -> Compared {
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
    pub(super) fn numbers(&self, j: usize) -> [f64; 6] {
        let panel = self.panel;
        let (hi, lo, tail, g) = (panel.hi()[j], panel.lo()[j], panel.tail()[j], panel.gauge_hi()[j]);
        [hi, lo, tail, g, self.result.held[j], self.result.found[j]]
    }
}

impl Compared {
    /// Certainly not above the largest share so far.
    #[inline(always)]
    pub(super) fn is_small(&self, so_far: SoFar) -> bool {
        self.most <= so_far.worst * self.bound
    }
}

/// Asks whether every element of a row passes, as a task for the vector unit.
pub(super) struct AllPass<'r> {
    pub(super) lanes: Lanes<'r>,
    pub(super) so_far: SoFar,
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
