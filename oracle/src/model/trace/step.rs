//! One operation of a trace: exact terms, what is kept of each, and one rounding of their sum.
//!
//! ```text
//! fma       a*b + acc          product  a*b           add  x + y
//! fused     sum of a*b + acc, each cut at 2^(E - F)   output  x
//!
//! error = sum of (kept - exact) + (result - sum of kept)         first: alignment, or a flushed operand; second: rounding
//! ```

use crate::exact::Dyadic;
use crate::model::tensor_core::FusedSum;
use crate::scalar::{Precision, Rounding, decode};

/// What an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// alpha times an operand, before its product.
    FoldAlpha,
    /// The same with b.
    FoldAlphaB,
    /// beta times C.
    ScaleC,
    /// Multiply and add, one rounding.
    Fma,
    /// A product that is rounded before it is added.
    Product,
    /// A rounded product onto the accumulator.
    Accumulate,
    /// A truncated fused sum of a tensor core.
    Fused,
    /// The sum of a pair of products.
    Pair,
    /// The sums of even and odd terms.
    Halves,
    /// The sum of an instruction onto the accumulator.
    Instruction,
    /// Sums of two ranges of k.
    Ranges,
    /// Sums of the two parts of a hybrid.
    Parts,
    /// alpha times the sum.
    ScaleSum,
    /// The scaled sum plus the scaled C.
    AddC,
    /// beta * C plus the scaled sum, one rounding.
    FmaC,
    /// To the type of the result.
    Output,
}

impl Kind {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::FoldAlpha => "alpha * a",
            Kind::FoldAlphaB => "alpha * b",
            Kind::ScaleC => "beta * c",
            Kind::Fma => "fma",
            Kind::Product => "product",
            Kind::Accumulate => "add product",
            Kind::Fused => "fused sum",
            Kind::Pair => "pair sum",
            Kind::Halves => "even + odd",
            Kind::Instruction => "add to the sum",
            Kind::Ranges => "add range of k",
            Kind::Parts => "add parts",
            Kind::ScaleSum => "alpha * sum",
            Kind::AddC => "add beta * c",
            Kind::FmaC => "fma with beta * c",
            Kind::Output => "to result type",
        }
    }
}

/// Where a term of an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The product of the element's term with this number.
    Term(usize),
    /// A place of the unit that holds no term: 0 * 0.
    Pad,
    /// What was summed up before.
    Sum,
    /// C.
    C,
    /// A constant +0.
    Zero,
}

/// One exact term of an operation: `a * b`, with b = 1 for what is only added.
#[derive(Clone, Debug, PartialEq)]
pub struct Addend {
    /// What it is.
    pub source: Source,
    /// Left factor.
    pub a: f64,
    /// Right factor.
    pub b: f64,
    /// The earlier step whose result the left factor is.
    pub from: Option<usize>,
    /// What is kept of the product; `None` where it is not finite.
    pub kept: Option<Dyadic>,
    /// The product in units of the alignment, and the exponent it was aligned by.
    pub aligned: Option<(i64, Option<i32>)>,
}

impl Addend {
    /// A term of which all is kept.
    pub(super) fn whole(source: Source, a: f64, b: f64, from: Option<usize>) -> Addend {
        let mut addend = Addend { source, a, b, from, kept: None, aligned: None };
        addend.kept = addend.exact();
        addend
    }

    /// With operands below `least` in magnitude taken for zero.
    pub(super) fn flushed(mut self, least: f64) -> Addend {
        let is_subnormal = |v: f64| v != 0.0 && v.abs() < least;
        if self.kept.is_some() && (is_subnormal(self.a) || is_subnormal(self.b)) {
            self.kept = Some(Dyadic::zero());
        }
        self
    }

    /// The exact product, if finite.
    #[must_use]
    pub fn exact(&self) -> Option<Dyadic> {
        Some(&Dyadic::from_f64(self.a)? * &Dyadic::from_f64(self.b)?)
    }

    /// What was cut off: kept - exact.
    #[must_use]
    pub fn cut(&self) -> Option<Dyadic> {
        Some(self.kept.as_ref()? - &self.exact()?)
    }
}

/// The frame of a fused sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Parameters of the unit.
    pub sum: FusedSum,
    /// E.
    pub exponent: i32,
    /// True where `e_zero` is E.
    pub at_floor: bool,
    /// Exponent of the unit, E - F.
    pub unit: i32,
    /// The sum in units.
    pub total: i64,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What for.
    pub kind: Kind,
    /// Its terms.
    pub addends: Vec<Addend>,
    /// How a tensor core aligned them.
    pub frame: Option<Frame>,
    /// The type of the result.
    pub to: Precision,
    /// Significant bits of the result: those of the type, or 14 in fp8 sums.
    pub significand: u32,
    /// How the sum is rounded.
    pub rounding: Rounding,
    /// Results and operands below the least normal number become zero.
    pub flushes: bool,
    /// The result.
    pub bits: u64,
    /// The factor with which an error here enters the element, exact; `None` where that is not finite.
    pub weight: Option<Dyadic>,
}

impl Step {
    /// The result as a number.
    #[must_use]
    pub fn result(&self) -> f64 {
        decode(self.bits, self.to)
    }

    /// The exact sum of what is kept.
    #[must_use]
    pub fn sum(&self) -> Option<Dyadic> {
        let kept = self.addends.iter().map(|addend| addend.kept.clone());
        kept.sum_all()
    }

    /// Lost by cutting terms: at alignment, or by flushing operands.
    #[must_use]
    pub fn cut(&self) -> Option<Dyadic> {
        self.addends.iter().map(Addend::cut).sum_all()
    }

    /// result - sum of what is kept.
    #[must_use]
    pub fn rounded(&self) -> Option<Dyadic> {
        Some(&Dyadic::from_f64(self.result())? - &self.sum()?)
    }

    /// All of its error, not weighted.
    #[must_use]
    pub fn error(&self) -> Option<Dyadic> {
        Some(&self.cut()? + &self.rounded()?)
    }

    /// True for a step that only saw places without terms and changed nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let empty = |addend: &Addend| matches!(addend.source, Source::Pad | Source::Zero);
        let carried = self.addends.iter().filter(|addend| !empty(addend)).count();
        let pads = self.addends.iter().any(|addend| addend.source == Source::Pad);
        pads && carried <= 1
            && !self.addends.iter().any(|addend| matches!(addend.source, Source::Term(_)))
            && self.error().is_some_and(|error| error.is_zero())
    }
}

/// Sums that are `None` as soon as one term is.
trait SumAll {
    fn sum_all(self) -> Option<Dyadic>;
}

impl<I: Iterator<Item = Option<Dyadic>>> SumAll for I {
    fn sum_all(mut self) -> Option<Dyadic> {
        self.try_fold(Dyadic::zero(), |sum, term| Some(&sum + &term?))
    }
}
