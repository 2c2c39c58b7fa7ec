//! T2 for a whole row: what a chain of IEEE operations returns, all columns side by side in the machine's own arithmetic.
//!
//! ```text
//! a[0] * b[0][j]  ->  a[1] * b[1][j]  ->  ..  ->  alpha, beta, C        one accumulator a column, f32 or f64
//! ```
//!
//! The machine's operations are those of IEEE 754 that [`Model`](crate::model::reduction::Model) carries out in wider numbers; a test holds
//! the two together.

use super::exact_dense::{ExactDense, each_width};
use super::rows::SpmmRow;
use super::rule::Rule;
use crate::arithmetic::{Epilogue, Init, Reduction};
use crate::exact::Lane;
use crate::op::DenseRows;
use crate::scalar::{Precision, nearest_in};
use pulp::{Arch, NullaryFnOnce};

/// A chain of a declaration whose operands the accumulator's type holds.
#[derive(Debug)]
pub(super) struct ChainRows {
    arch: Arch,
    chain: Chain,
    out: Precision,
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

impl ChainRows {
    /// `None` where the declaration is none such, or B is not of the accumulator's type.
    pub(super) fn new(rule: &Rule<'_>, b: &ExactDense<'_>) -> Option<ChainRows> {
        let chain = Chain::new(rule)?;
        let fits = chain.acc == Precision::F64 || matches!(b, ExactDense::Narrow(_));
        let out = rule.arithmetic().out;
        let (arch, row, narrow) = (Arch::new(), Vec::new(), Vec::new());
        fits.then_some(ChainRows { arch, chain, out, row, narrow })
    }

    /// The results of one row, as f64; `held` is what C held. `None` where an operand of A is not of the accumulator's type.
    pub(super) fn row(&mut self, row: &SpmmRow<'_, '_>, held: &[f64]) -> Option<&[f64]> {
        let (n, chain) = (held.len(), self.chain);
        self.row.clear();
        if chain.acc == Precision::F64 {
            self.row.resize(n, 0.0);
            let to = &mut self.row[..];
            each_width!(row.b(), b => self.arch.dispatch(Run { chain, row, b, held, to }));
        } else {
            if !row.values.iter().all(|&a| is_f32(a)) {
                return None;
            }
            self.narrow.clear();
            self.narrow.resize(n, 0.0);
            let to = &mut self.narrow[..];
            each_width!(row.b(), b => self.arch.dispatch(Run { chain, row, b, held, to }));
            self.row.extend(self.narrow.iter().map(|&v| f64::from(v)));
        }
        if chain.acc != self.out {
            for v in &mut self.row {
                *v = nearest_in(*v, self.out);
            }
        }
        Some(&self.row)
    }
}

impl Chain {
    fn new(rule: &Rule<'_>) -> Option<Chain> {
        let (arithmetic, (alpha, beta)) = (rule.arithmetic(), rule.scalars());
        let part = arithmetic.part();
        let fused = fuses(part.reduction)?;
        if !rule.is_one_chain() {
            return None;
        }
        let holds_c = part.acc.spec().holds(arithmetic.out.spec());
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

/// Whether a chain of IEEE operations fuses them; `None` of another reduction.
pub(super) fn fuses(reduction: Reduction) -> Option<bool> {
    match reduction {
        Reduction::FmaChain => Some(true),
        Reduction::MulAddChain => Some(false),
        Reduction::Any | Reduction::Mma { .. } | Reduction::Cpu(_) => None,
    }
}

/// True for a number of f32, NaN and infinities among them.
pub(super) fn is_f32(v: f64) -> bool {
    f64::from(v as f32) == v || v.is_nan()
}

/// The operations of a type.
pub(super) trait Number: Copy {
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

/// Adds products to one accumulator a column, one term (row of B, element of A) after another.
#[inline(always)]
pub(super) fn add_terms<T: Number, L: Lane>(
    fused: bool,
    terms: impl Iterator<Item = (u32, f64)>,
    b: &DenseRows<'_, L>,
    to: &mut [T],
) {
    for (k, a) in terms {
        let (a, b) = (T::of(a), b.row(k as usize));
        if fused {
            for (acc, &b) in to.iter_mut().zip(b) {
                *acc = a.fma(T::of(b.widen()), *acc);
            }
        } else {
            for (acc, &b) in to.iter_mut().zip(b) {
                *acc = acc.plus(a.times(T::of(b.widen())));
            }
        }
    }
}

/// One row, as a task for the vector unit.
struct Run<'r, 'a, T, L: Lane> {
    chain: Chain,
    row: &'r SpmmRow<'r, 'a>,
    b: &'r DenseRows<'r, L>,
    held: &'r [f64],
    to: &'r mut [T],
}

impl<T: Number, L: Lane> NullaryFnOnce for Run<'_, '_, T, L> {
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
        add_terms(chain.fused, row.cols.iter().copied().zip(row.values.iter().copied()), b, to);
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
