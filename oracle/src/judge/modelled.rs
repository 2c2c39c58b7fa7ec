//! T2 for a whole row: what a chain of IEEE operations returns, all columns side by side in the machine's own arithmetic.
//!
//! ```text
//! a[0] * b[0][j]  ->  a[1] * b[1][j]  ->  ..  ->  alpha, beta, C        one accumulator a column, f32 or f64
//! ```
//!
//! The machine's operations are those of IEEE 754 that [`Model`](crate::model::reduction::Model) carries out in wider numbers; a test holds
//! the two together.

use super::rows::SpmmRow;
use super::rule::Rule;
use crate::arithmetic::{Along, Epilogue, Init, Reduction};
use crate::format::Dense;
use crate::scalar::{Precision, Rounding, decode, encode};
use pulp::{Arch, NullaryFnOnce};

/// A chain of a declaration whose operands the accumulator's type holds.
#[derive(Debug)]
pub(super) struct ChainRows<'b> {
    arch: Arch,
    chain: Chain,
    out: Precision,
    b: &'b ChainOperand,
    row: Vec<f64>,
    narrow: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    fused: bool,
    /// f32 or f64.
    acc: Precision,
    epilogue: Epilogue,
    init: Init,
    alpha: f64,
    beta: f64,
}

/// B in the accumulator's type.
#[derive(Debug)]
pub(super) enum ChainOperand {
    /// It is f64 already.
    Wide,
    /// In f32, compact.
    Narrow(Vec<f32>),
}

impl ChainOperand {
    /// B as a declaration's chain reads it; wide too where an element is not of the type.
    pub(super) fn new(rule: &Rule<'_>, b: &Dense<f64>) -> ChainOperand {
        let is_narrow = Chain::new(rule).is_some_and(|chain| chain.acc == Precision::F32);
        let narrow = if is_narrow { narrowed(b) } else { None };
        narrow.map_or(ChainOperand::Wide, ChainOperand::Narrow)
    }
}

impl<'b> ChainRows<'b> {
    /// True for a declaration of such a chain.
    pub(super) fn takes(rule: &Rule<'_>) -> bool {
        Chain::new(rule).is_some()
    }

    /// `None` where the declaration is none such, or an element of B is not of the accumulator's type.
    pub(super) fn new(rule: &Rule<'_>, b: &'b ChainOperand) -> Option<ChainRows<'b>> {
        let chain = Chain::new(rule)?;
        let fits = (chain.acc == Precision::F64) == matches!(b, ChainOperand::Wide);
        let out = rule.arithmetic().out;
        let (arch, row, narrow) = (Arch::new(), Vec::new(), Vec::new());
        fits.then_some(ChainRows { arch, chain, out, b, row, narrow })
    }

    /// The results of one row, as f64; `held` is what C held. `None` where an operand of A is not of the accumulator's type.
    pub(super) fn row(&mut self, row: &SpmmRow<'_, '_>, held: &[f64]) -> Option<&[f64]> {
        let n = held.len();
        self.row.clear();
        match self.b {
            ChainOperand::Wide => {
                self.row.resize(n, 0.0);
                let b = |k: u32| row.row_of_b(k);
                self.arch.dispatch(Run { chain: self.chain, row, b, held, to: &mut self.row });
            }
            ChainOperand::Narrow(all) => {
                if !row.values.iter().all(|&a| is_f32(a)) {
                    return None;
                }
                self.narrow.clear();
                self.narrow.resize(n, 0.0);
                let b = |k: u32| &all[k as usize * n..][..n];
                self.arch.dispatch(Run { chain: self.chain, row, b, held, to: &mut self.narrow });
                self.row.extend(self.narrow.iter().map(|&v| f64::from(v)));
            }
        }
        let is_out = matches!(
            (self.b, self.out),
            (ChainOperand::Wide, Precision::F64) | (ChainOperand::Narrow(_), Precision::F32)
        );
        if !is_out {
            for v in &mut self.row {
                *v = decode(encode(*v, self.out, Rounding::NearestEven), self.out);
            }
        }
        Some(&self.row)
    }
}

impl Chain {
    fn new(rule: &Rule<'_>) -> Option<Chain> {
        let (arithmetic, (alpha, beta)) = (rule.arithmetic(), rule.scalars());
        let part = arithmetic.part();
        let fused = match part.reduction {
            Reduction::FmaChain => true,
            Reduction::MulAddChain => false,
            Reduction::Any | Reduction::Mma { .. } | Reduction::Cpu(_) => return None,
        };
        let folds = arithmetic.epilogue.folds_alpha() && alpha != 1.0;
        if part.along != Along::Chain || arithmetic.parts.second().is_some() || folds {
            return None;
        }
        let (acc, out) = (part.acc.spec(), arithmetic.out.spec());
        let holds_c = out.significand <= acc.significand
            && out.min_exponent() >= acc.min_exponent()
            && out.emax <= acc.emax;
        let holds_factors = match part.acc {
            Precision::F64 => true,
            Precision::F32 => is_f32(alpha) && is_f32(beta),
            _ => false,
        };
        let chain =
            Chain { fused, acc: part.acc, epilogue: arithmetic.epilogue, init: part.init, alpha, beta };
        (holds_c && holds_factors).then_some(chain)
    }
}

/// True for a number of f32, NaN and infinities among them.
fn is_f32(v: f64) -> bool {
    f64::from(v as f32) == v || v.is_nan()
}

/// B in f32, compact; `None` if that rounds something.
fn narrowed(b: &Dense<f64>) -> Option<Vec<f32>> {
    let mut all = Vec::with_capacity(b.rows() * b.cols());
    let mut exact = true;
    for k in 0..b.rows() {
        let row = &b.data()[k * b.ld()..][..b.cols()];
        all.extend(row.iter().map(|&v| v as f32));
        exact &= row.iter().all(|&v| is_f32(v));
    }
    exact.then_some(all)
}

/// The operations of a type.
trait Number: Copy {
    fn of(v: f64) -> Self;
    fn fma(self, b: Self, acc: Self) -> Self;
    fn times(self, b: Self) -> Self;
    fn plus(self, b: Self) -> Self;
}

macro_rules! numbers {
    ($($t:ty),*) => {$(
        impl Number for $t {
            #[inline(always)]
            fn of(v: f64) -> $t {
                v as $t
            }
            #[inline(always)]
            fn fma(self, b: $t, acc: $t) -> $t {
                self.mul_add(b, acc)
            }
            #[inline(always)]
            fn times(self, b: $t) -> $t {
                self * b
            }
            #[inline(always)]
            fn plus(self, b: $t) -> $t {
                self + b
            }
        }
    )*};
}

numbers!(f32, f64);

/// One row, as a task for the vector unit.
struct Run<'r, 'a, T, B> {
    chain: Chain,
    row: &'r SpmmRow<'r, 'a>,
    b: B,
    held: &'r [f64],
    to: &'r mut [T],
}

impl<'b, T: Number + 'b, B: Fn(u32) -> &'b [T]> NullaryFnOnce for Run<'_, '_, T, B> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Run { chain, row, b, held, to } = self;
        let (alpha, beta) = (T::of(chain.alpha), T::of(chain.beta));
        let (reads_c, scales_c) = (chain.beta != 0.0, chain.beta != 1.0);
        if chain.init == Init::C && reads_c {
            for (acc, &c) in to.iter_mut().zip(held) {
                *acc = if scales_c { beta.times(T::of(c)) } else { T::of(c) };
            }
        }
        for (&k, &a) in row.cols.iter().zip(row.values) {
            let (a, b) = (T::of(a), b(k));
            if chain.fused {
                for (acc, &b) in to.iter_mut().zip(b) {
                    *acc = a.fma(b, *acc);
                }
            } else {
                for (acc, &b) in to.iter_mut().zip(b) {
                    *acc = acc.plus(a.times(b));
                }
            }
        }
        let fuses_c = match chain.epilogue {
            Epilogue::None | Epilogue::AlphaIntoA | Epilogue::AlphaIntoB => return,
            Epilogue::MulThenFma => true,
            Epilogue::MulThenAdd => false,
        };
        if chain.alpha != 1.0 {
            for acc in &mut *to {
                *acc = alpha.times(*acc);
            }
        }
        if reads_c {
            for (acc, &c) in to.iter_mut().zip(held) {
                let c = T::of(c);
                *acc = match (fuses_c, scales_c) {
                    (true, _) => beta.fma(c, *acc),
                    (false, true) => acc.plus(beta.times(c)),
                    (false, false) => acc.plus(c),
                };
            }
        }
    }
}
