//! The epilogue, `MulThenAdd`: `y = round(alpha * acc) + round(beta * c)`, each step in the accumulator's unit.
//!
//! Factors that are exactly 1 multiply nothing; with beta = 0, c is not read, and with alpha = 0 there is no sum.

use super::unit::Unit;
use sparse_types::refusal::{Refusal, RequestError};

/// alpha and beta in the accumulator's type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaling<A> {
    alpha: A,
    beta: A,
}

impl<A: Unit> Scaling<A> {
    /// Checks that both factors are finite and exact in the accumulator's type.
    pub(crate) fn try_new(alpha: f64, beta: f64) -> Result<Scaling<A>, Refusal> {
        Ok(Scaling { alpha: factor("alpha", alpha)?, beta: factor("beta", beta)? })
    }

    /// alpha and beta.
    #[cfg_attr(
        not(any(target_arch = "x86_64", feature = "cuda")),
        expect(dead_code, reason = "kernels for x86 and GPUs use them")
    )]
    pub(crate) fn factors(&self) -> (A, A) {
        (self.alpha, self.beta)
    }

    /// `alpha = 1, beta = 0`: the sum itself.
    #[cfg_attr(not(target_arch = "aarch64"), expect(dead_code, reason = "kernels for Arm use it"))]
    pub(crate) fn none() -> Scaling<A> {
        Scaling { alpha: A::ONE, beta: A::ZERO }
    }

    /// True where the result is the sum itself.
    #[cfg_attr(not(target_arch = "aarch64"), expect(dead_code, reason = "kernels for Arm use it"))]
    pub(crate) fn is_none(&self) -> bool {
        self.alpha == A::ONE && self.beta == A::ZERO
    }

    /// False when alpha = 0, so that A and B must not be read.
    pub(crate) fn reads_product(&self) -> bool {
        self.alpha != A::ZERO
    }

    /// `alpha * acc`.
    #[inline]
    pub(crate) fn scaled(&self, acc: A) -> A {
        if self.alpha == A::ONE { acc } else { self.alpha.mul(acc) }
    }

    /// `alpha * acc + beta * c`, for alpha not 0.
    #[inline]
    pub(crate) fn finish(&self, acc: A, c: impl FnOnce() -> A) -> A {
        let scaled = self.scaled(acc);
        if self.beta == A::ZERO { scaled } else { scaled.add(self.addend(c)) }
    }

    /// `beta * c` alone.
    #[inline]
    pub(crate) fn without_product(&self, c: impl FnOnce() -> A) -> A {
        if self.beta == A::ZERO { A::ZERO } else { self.addend(c) }
    }

    #[inline]
    fn addend(&self, c: impl FnOnce() -> A) -> A {
        if self.beta == A::ONE { c() } else { self.beta.mul(c()) }
    }
}

fn factor<A: Unit>(field: &'static str, value: f64) -> Result<A, Refusal> {
    if !value.is_finite() {
        return Err(RequestError::NotFinite { field, value: value.to_string() }.into());
    }
    A::exactly(value).ok_or_else(|| {
        Refusal::Request(RequestError::Kind {
            field,
            expected: format!("a number that {} holds exactly", A::PRECISION),
            found: value.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread() -> f32 {
        unreachable!("c must not be read")
    }

    #[test]
    fn beta_zero_does_not_read_c() {
        let scaling = Scaling::<f32>::try_new(2.0, -0.0).expect("legal");
        assert_eq!(scaling.finish(3.0, unread), 6.0);
        assert_eq!(scaling.without_product(unread), 0.0);
    }

    #[test]
    fn two_roundings_not_one() {
        let beta = 1.0 + 3.0 * f64::from(f32::EPSILON);
        let scaling = Scaling::<f32>::try_new(1.0, beta).expect("legal");
        let c = 1.0 + 3.0 * f32::EPSILON;
        let product = beta as f32 * c;
        assert_eq!(scaling.finish(-1.0, || c), -1.0 + product);
        assert_ne!(scaling.finish(-1.0, || c), (beta as f32).mul_add(c, -1.0));
    }

    #[test]
    fn factors_are_checked() {
        let not_finite = Scaling::<f32>::try_new(1.0, f64::INFINITY).expect_err("infinite");
        assert!(matches!(not_finite, Refusal::Request(RequestError::NotFinite { field: "beta", .. })));
        let inexact = Scaling::<f32>::try_new(0.1, 0.0).expect_err("0.1 is no f32");
        assert!(matches!(inexact, Refusal::Request(RequestError::Kind { field: "alpha", .. })));
    }
}
