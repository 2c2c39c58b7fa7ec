//! Chains of fused or separate multiply and add, as IEEE 754 units do them (section 5.4.1, round to nearest even).
//!
//! ```text
//! acc <- init;  for each term in order: acc <- fma(a, b, acc)  |  acc <- acc + round(a * b);  then the epilogue
//! ```
//!
//! Values of every accumulator type are carried as the f64 that embeds them; each step rounds to the type.

use crate::arithmetic::{Arithmetic, Epilogue, Init, Reduction};
use crate::exact::Dyadic;
use crate::scalar::{Precision, Rounding, decode, encode, encode_dyadic};

/// The operations of one unit of type `precision`, each correctly rounded (nearest, ties to even).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The type that every result is rounded to.
    pub precision: Precision,
}

impl Unit {
    /// `a * b`, rounded once.
    #[must_use]
    pub fn mul(self, a: f64, b: f64) -> f64 {
        match self.precision {
            Precision::F64 => a * b,
            Precision::F32 => f64::from(a as f32 * b as f32),
            // Operands of at most 24 bits: the f64 product is exact.
            narrow => decode(encode(a * b, narrow, Rounding::NearestEven), narrow),
        }
    }

    /// `a + b`, rounded once.
    #[must_use]
    pub fn add(self, a: f64, b: f64) -> f64 {
        match self.precision {
            Precision::F64 => a + b,
            Precision::F32 => f64::from(a as f32 + b as f32),
            narrow => self.exactly(narrow, a + b, || sum(&[(a, 1.0), (b, 1.0)])),
        }
    }

    /// `a * b + c`, rounded once.
    #[must_use]
    pub fn fma(self, a: f64, b: f64, c: f64) -> f64 {
        match self.precision {
            Precision::F64 => a.mul_add(b, c),
            Precision::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            narrow => self.exactly(narrow, a.mul_add(b, c), || sum(&[(a, b), (c, 1.0)])),
        }
    }

    /// Rounds an exact sum to a narrow type; f64 already knows the answer for zeros, infinities and NaN, signs of
    /// zeros included.
    fn exactly(self, narrow: Precision, near: f64, exact: impl Fn() -> Dyadic) -> f64 {
        if near == 0.0 || !near.is_finite() {
            return near;
        }
        decode(encode_dyadic(&exact(), narrow, Rounding::NearestEven), narrow)
    }
}

fn sum(products: &[(f64, f64)]) -> Dyadic {
    let number = |v: f64| Dyadic::from_f64(v).unwrap_or_else(Dyadic::zero);
    products
        .iter()
        .fold(Dyadic::zero(), |acc, &(a, b)| &acc + &(&number(a) * &number(b)))
}

/// The bits, in the output type, of one element whose terms come in the given order. `None` when the declaration
/// does not fix them. `c` is read only where beta is not 0. With alpha = 0 the terms are not read, unless `computes_zero`
/// says that the kernel multiplies by 0 all the same.
#[must_use]
pub fn element(
    arithmetic: &Arithmetic,
    terms: impl Iterator<Item = (f64, f64)>,
    (alpha, beta): (f64, f64),
    c: f64,
    computes_zero: bool,
) -> Option<u64> {
    if !arithmetic.is_deterministic() {
        return None;
    }
    let unit = Unit {
        precision: arithmetic.part().acc,
    };
    let scaled_c = || if beta == 1.0 { c } else { unit.mul(beta, c) };
    if alpha == 0.0 && !computes_zero {
        // A and B are not read: nothing is added to beta * C.
        let result = if beta == 0.0 { 0.0 } else { scaled_c() };
        return Some(encode(result, arithmetic.out, Rounding::NearestEven));
    }
    let mut acc = match arithmetic.part().init {
        Init::C if beta != 0.0 => scaled_c(),
        _ => 0.0,
    };
    let fold_alpha = arithmetic.epilogue == Epilogue::AlphaIntoA && alpha != 1.0;
    for (a, b) in terms {
        let a = if fold_alpha { unit.mul(alpha, a) } else { a };
        acc = match arithmetic.part().reduction {
            Reduction::FmaChain => unit.fma(a, b, acc),
            Reduction::MulAddChain => unit.add(acc, unit.mul(a, b)),
            Reduction::Any => return None,
        };
    }
    let scale = |acc: f64| if alpha == 1.0 { acc } else { unit.mul(alpha, acc) };
    let result = match arithmetic.epilogue {
        Epilogue::None | Epilogue::AlphaIntoA => acc,
        Epilogue::MulThenFma if beta == 0.0 => scale(acc),
        Epilogue::MulThenFma => unit.fma(beta, c, scale(acc)),
        Epilogue::MulThenAdd if beta == 0.0 => scale(acc),
        Epilogue::MulThenAdd => unit.add(scale(acc), scaled_c()),
    };
    Some(encode(result, arithmetic.out, Rounding::NearestEven))
}
