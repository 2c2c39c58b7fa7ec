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
    /// x, where it is one.
    pub(super) value: f64,
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
            value: s,
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

#[cfg(test)]
mod tests {
    use super::super::one_row::{one_row, wide};
    use super::*;
    use crate::exact::Dyadic;
    use crate::scalar::Rounding;
    use crate::source::random::Random;

    const ALLOWED: Allowed = Allowed { relative: 1.0 / 1024.0, absolute: 0.0, safe: 1e30 };

    fn lanes(panel: &Panel, (alpha, beta): (f64, f64), allowed: Allowed) -> Lanes<'_> {
        let result = RowResult { found: &[], held: &[], modelled: None };
        Lanes { panel, result, fine: &[], free: &[], t0: T0::Nowhere, alpha, beta, allowed }
    }

    /// Found by mutation: a comparison that tells less than it could, by a wrong rest or margin, only leaves elements to the rule.
    #[test]
    fn comparisons_say_what_exact_numbers_say() {
        let (mut random, panel) = (Random::new(1, "lanes"), Panel::new(0));
        let exact = |v: f64| Dyadic::from_f64(v).expect("finite");
        let float = |x: &Dyadic| x.to_f64(Rounding::NearestEven);
        let mut seen = [0; 6];
        for turn in 0..40_000 {
            let (alpha, beta) = *random.pick(&[(1.0, 0.0), (1.0, 1.0), (-2.0, 0.5), (1.3, 0.7)]);
            let mut number =
                |bits: u32| (random.bits() >> (64 - bits)) as f64 * 2.0_f64.powi(-(bits as i32)) - 0.4;
            let (hi, c) = (number(if turn % 2 == 0 { 20 } else { 53 }), number(20));
            let lo = if turn % 3 == 0 { hi * number(30) * 2.0_f64.powi(-53) } else { 0.0 };
            let tail = if turn % 6 == 0 { lo * number(30) * 2.0_f64.powi(-53) } else { 0.0 };
            let g = hi.abs() * (1.5 + number(20).abs() * 9.0);
            let relative = [2.0_f64.powi(-24), 2.0_f64.powi(-11), 2.0_f64.powi(-50)][turn % 3];
            let allowed = Allowed { relative, absolute: 1e-30, safe: 1e30 };
            let x =
                &(&exact(alpha) * &(&(&exact(hi) + &exact(lo)) + &exact(tail))) + &(&exact(beta) * &exact(c));
            let gauge = f64::abs(alpha) * g + f64::abs(beta * c);
            let bound = relative * gauge + 1e-30;
            let off =
                *random.pick(&[0.0, 0.0, 1e-16 * gauge, 0.9, 0.999_999, 1.000_001, 1.1, 30.0, -0.999, -1.01]);
            let y = float(&x) + if off < 1e-15 && off > 0.0 { off } else { off * bound };
            let error = float(&(&exact(y) - &x).abs());
            let compared = lanes(&panel, (alpha, beta), allowed).compare([hi, lo, tail, g, c, y]);
            let Compared { equal, differs, inexact, within, beyond, most, sane, .. } = compared;
            let context = format!("{alpha} * ({hi} + {lo} + {tail}) + {beta} * {c}, gauge {g}, found {y}");
            assert!(sane, "{context}");
            assert!(!equal || error == 0.0, "{context}");
            assert!(!differs || error != 0.0, "{context}");
            // All three roundings are exact.
            let (p, q) = (alpha * hi, beta * c);
            let products = &exact(alpha) * &exact(hi) == exact(p) && &exact(beta) * &exact(c) == exact(q);
            let is_float = lo == 0.0 && products && &exact(p) + &exact(q) == exact(p + q);
            assert_eq!((equal, differs), (is_float && error == 0.0, is_float && error != 0.0), "{context}");
            assert!(!inexact || error != 0.0, "{context}");
            assert!(inexact || error <= 2.0_f64.powi(-90) * gauge, "{context}");
            assert!(if within { error <= bound } else { error >= bound * (1.0 - 1e-7) }, "{context}");
            assert!(if beyond { error > bound } else { error <= bound * (1.0 + 1e-7) }, "{context}");
            let slack = 2.0_f64.powi(-96) * gauge;
            assert!(most >= error && most <= error * (1.0 + 1e-8) + slack, "{context}: {most}, {error}");
            let is = [equal, differs, inexact, within, beyond, !within && !beyond];
            seen.iter_mut().zip(is).for_each(|(seen, is)| *seen += usize::from(is));
        }
        assert!(seen[..5].iter().all(|&seen| seen > 1000), "{seen:?}");
    }

    /// Found by mutation: nobody asked what is left open beside the bound, where two roundings could hide the truth.
    #[test]
    fn beside_the_bound_nothing_is_said() {
        let panel = Panel::new(0);
        let lanes = lanes(&panel, (1.0, 0.0), ALLOWED);
        let at = |part: f64| lanes.compare([1.0, 0.0, 0.0, 1.0, 0.0, 1.0 + ALLOWED.relative * part]);
        let said = [1.0 - 3e-9, 1.0 - 1.5e-9, 1.0, 1.0 + 1.5e-9, 1.0 + 3e-9].map(|part| {
            let Compared { within, beyond, .. } = at(part);
            (within, beyond)
        });
        assert_eq!(said, [(true, false), (false, false), (false, false), (false, false), (false, true)]);
        // Nor where something may overflow, or underflow.
        let sane = |g: f64| lanes.compare([1.0, 0.0, 0.0, g, 0.0, 1.0]).sane;
        assert_eq!([1e-249, 1e29, 1e-251, 1e31].map(sane), [true, true, false, false]);
    }

    /// Found by mutation: products so small that their rests are lost were never compared.
    #[test]
    fn a_product_whose_rest_may_be_lost_equals_nothing() {
        assert_eq!(
            [0.0, -0.0, 1e-279, -1e300, 1e-281, -1e-281].map(whole),
            [true, true, true, true, false, false]
        );
        let panel = Panel::new(0);
        let (alpha, hi) = (1.0 + f64::EPSILON, 1e-295 * (1.0 + f64::EPSILON));
        let compared = lanes(&panel, (alpha, 0.0), ALLOWED).compare([hi, 0.0, 0.0, hi, 0.0, alpha * hi]);
        assert!(!compared.equal && !compared.differs);
    }

    /// Found by mutation: a row that passes and is said not to is only looked at again, element by element.
    #[test]
    fn a_row_passes_where_each_of_its_elements_does() {
        let allowed = ALLOWED;
        let (passes, near, far) = (1.0, 1.0 + ALLOWED.relative / 2.0, 1.5);
        let flags = [false, true];
        let listed = flags.map(|fine| flags.map(|free| (T0::Listed, fine, free)));
        let t0s =
            [(T0::Everywhere, false, false), (T0::Nowhere, false, false)].into_iter().chain(listed.concat());
        for (t0, is_fine, is_free) in t0s {
            for (order_free, worst, y) in flags
                .into_iter()
                .flat_map(|o| [0.0, 1.0].map(|w| [passes, near, far].map(|y| (o, w, y))).concat())
            {
                let is_fine_there = t0 == T0::Nowhere || is_fine;
                let expected = if y == passes {
                    t0 != T0::Listed || is_fine || is_free || order_free
                } else {
                    y == near && is_fine_there && worst > 0.5
                };
                for first in flags {
                    let pair =
                        |probed: f64, other: f64| if first { [probed, other] } else { [other, probed] };
                    let flag = |is: bool| if is { 1.0 } else { 0.0 };
                    // Beside it, an element that passes.
                    let (found, fine) = (pair(y, passes), pair(flag(is_fine), 1.0));
                    let free = pair(flag(is_free), 0.0);
                    one_row(&[1.0], &wide(&[&[1.0, 1.0]]), &mut |row| {
                        let said = |modelled: Option<&[f64]>| {
                            let result = RowResult { found: &found, held: &[0.0; 2], modelled };
                            let (alpha, beta) = (1.0, 0.0);
                            let (fine, free) = (&fine[..], &free[..]);
                            let lanes =
                                Lanes { panel: row.panel, result, fine, free, t0, alpha, beta, allowed };
                            AllPass { lanes, so_far: SoFar { worst, order_free } }.call()
                        };
                        let inexact = y != passes;
                        let context = format!("{t0:?} {is_fine} {is_free} {order_free} {worst} {y}");
                        assert_eq!(said(None), (expected, inexact), "{context}");
                        assert_eq!(said(Some(&found)), (expected, inexact), "{context}");
                        assert!(!said(Some(&pair(y, 2.0))).0, "other bits than the model has");
                    });
                }
            }
        }
    }
}
