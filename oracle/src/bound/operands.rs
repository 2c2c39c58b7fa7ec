//! What subnormal operands change: they align like normal ones in tensor cores, and units may flush them.

use super::tolerance::flushes;
use crate::arithmetic::{Arithmetic, Part, Reduction};
use crate::exact::Dyadic;
use crate::scalar::{Precision, power_of_two};

/// Sums over the terms that have a subnormal operand.
#[derive(Clone, Debug, Default)]
pub struct SubnormalSums {
    /// g' - g: `sum of |a|'|b|' - |a||b|`, where `|v|' = max(|v|, 2^emin)`.
    pub raised: Dyadic,
    /// `sum |a||b|` over products that may be flushed away.
    pub flushed: Dyadic,
}

/// Below which magnitude an operand is subnormal to whom.
#[derive(Clone, Copy, Debug)]
pub struct SubnormalThresholds {
    /// To a multiplier that does not renormalise, in the type of its operands; 0 elsewhere.
    aligned: f64,
    /// To one that flushes what it reads, in the type of its accumulator or, by its own declaration, of the stored operands; 0 elsewhere.
    flushed: f64,
    /// The same for alpha and beta, which have the accumulator's type.
    factors: f64,
    /// The same for C, which has the type of the result.
    c: f64,
    /// To an accumulator whose results are flushed; 0 elsewhere.
    results: f64,
}

impl SubnormalThresholds {
    /// Those of one part.
    #[must_use]
    pub fn new(arithmetic: &Arithmetic, part: &Part) -> SubnormalThresholds {
        let least = |emin: i32| power_of_two(emin.max(-1022));
        let aligned = match part.reduction {
            // f64 instructions are chains of IEEE operations, which renormalise.
            Reduction::Mma { instruction, .. } if instruction.input != Precision::F64 => {
                least(instruction.input.spec().emin)
            }
            _ => 0.0,
        };
        let acc = least(part.acc.spec().emin);
        let unit = matches!(part.reduction, Reduction::Cpu(unit) if unit.always_flushes());
        let (mut flushed, mut factors, mut c) = if unit { (acc, acc, acc) } else { (0.0, 0.0, 0.0) };
        if let Some(stored) = arithmetic.flush.inputs {
            flushed = acc.max(least(stored.spec().emin));
            factors = acc;
            c = acc.max(least(arithmetic.out.spec().emin));
        }
        SubnormalThresholds {
            aligned,
            flushed,
            factors,
            c,
            results: if flushes(arithmetic, part) { acc } else { 0.0 },
        }
    }

    /// True for an alpha or beta that may be taken for zero.
    #[must_use]
    pub fn may_flush_factor(&self, v: f64) -> bool {
        v != 0.0 && v.abs() < self.factors
    }

    /// True for an element of C (or S) that may be taken for zero.
    #[must_use]
    pub fn may_flush_c(&self, v: f64) -> bool {
        v != 0.0 && v.abs() < self.c
    }

    /// True for a product that may become zero: it is subnormal, or less than the accumulator's type holds.
    #[must_use]
    pub fn may_flush_result(&self, v: f64) -> bool {
        v != 0.0 && v.abs() < self.results
    }

    /// True for an operand that may be taken for zero.
    #[must_use]
    pub fn may_flush(&self, v: f64) -> bool {
        v != 0.0 && v.abs() < self.flushed
    }

    /// Operands below this magnitude are aligned by more than it; 0 where none are.
    #[must_use]
    pub fn aligned(&self) -> f64 {
        self.aligned
    }

    /// True where something may be flushed.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.flushed.max(self.results) > 0.0
    }

    /// True where no operand can matter.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.aligned.max(self.flushed) == 0.0
    }
}

impl SubnormalSums {
    /// Takes one finite term into account.
    pub fn add(&mut self, thresholds: &SubnormalThresholds, a: f64, b: f64) {
        let (x, y) = (a.abs(), b.abs());
        let least = x.min(y);
        let counts = least > 0.0 && least < thresholds.aligned.max(thresholds.flushed);
        if !counts || !x.is_finite() || !y.is_finite() {
            return;
        }
        let product = |x: f64, y: f64| {
            let number = |v: f64| Dyadic::from_f64(v).unwrap_or_else(Dyadic::zero);
            &number(x) * &number(y)
        };
        let exact = product(x, y);
        if least < thresholds.aligned {
            let high = product(x.max(thresholds.aligned), y.max(thresholds.aligned));
            self.raised = &self.raised + &(&high - &exact);
        }
        if least < thresholds.flushed {
            self.flushed = &self.flushed + &exact;
        }
    }
}
