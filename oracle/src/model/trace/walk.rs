//! The walk over a declaration: parts, ranges of k, blocks, then the epilogue.
//!
//! ```text
//! [fold alpha] -> part 1: range 0 | range 1 | ... -> add -\
//!                 part 2: ...                             add -> alpha, beta, C -> output
//! ```

use super::step::{Addend, Kind, Source, Step};
use super::{Question, TraceError};
use crate::arithmetic::{Arithmetic, Combine, Epilogue, Init, Part, Parts, Reduction, Selects};
use crate::model::chain::Unit;
use crate::model::reduction::{self, Ranges};
use crate::scalar::{Precision, Rounding, decode, encode};
use std::collections::BTreeMap;

/// A number on its way, and where it was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) value: f64,
    pub(super) from: Option<usize>,
    pub(super) source: Source,
}

impl Carried {
    pub(super) const ZERO: Carried = Carried { value: 0.0, from: None, source: Source::Zero };

    fn times(self, factor: f64) -> Addend {
        Addend::whole(self.source, self.value, factor, self.from)
    }

    pub(super) fn added(self) -> Addend {
        self.times(1.0)
    }
}

/// One term in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) at: u32,
    pub(super) term: usize,
    /// The left factor, alpha folded in where declared.
    pub(super) a: Carried,
    pub(super) b: f64,
}

impl Placed {
    pub(super) fn product(&self) -> Addend {
        Addend::whole(Source::Term(self.term), self.a.value, self.b, self.a.from)
    }
}

/// The steps so far.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) steps: Vec<Step>,
}

/// The steps and the result's bits.
pub(super) fn walk(arithmetic: &Arithmetic, question: &Question<'_>) -> Result<(Vec<Step>, u64), TraceError> {
    let mut walk = Walk::default();
    let result = walk.element(arithmetic, question)?;
    let bits = encode(result.value, arithmetic.out, Rounding::NearestEven);
    if arithmetic.out != arithmetic.part().acc && result.source != Source::Zero {
        walk.push(Kind::Output, vec![result.added()], arithmetic.out, bits);
    }
    Ok((walk.steps, bits))
}

impl Walk {
    /// An IEEE operation: rounded to nearest, nothing flushed.
    pub(super) fn push(&mut self, kind: Kind, addends: Vec<Addend>, to: Precision, bits: u64) -> Carried {
        self.push_step(Step {
            kind,
            addends,
            frame: None,
            to,
            significand: to.spec().significand,
            rounding: Rounding::NearestEven,
            flushes: false,
            bits,
            weight: None,
        })
    }

    pub(super) fn push_step(&mut self, step: Step) -> Carried {
        let value = decode(step.bits, step.to);
        self.steps.push(step);
        Carried { value, from: Some(self.steps.len() - 1), source: Source::Sum }
    }

    /// An IEEE operation whose result `value` is of the type.
    fn ieee(&mut self, kind: Kind, addends: Vec<Addend>, to: Precision, value: f64) -> Carried {
        let bits = encode(value, to, Rounding::NearestEven);
        self.push(kind, addends, to, bits)
    }

    fn element(&mut self, arithmetic: &Arithmetic, q: &Question<'_>) -> Result<Carried, TraceError> {
        let unit = Unit { precision: arithmetic.part().acc };
        if q.alpha == 0.0 && !q.computes_zero {
            return Ok(match q.beta {
                0.0 => Carried::ZERO,
                _ => self.scaled_c(unit, q),
            });
        }
        let sum = self.parts(arithmetic, unit, q)?;
        let to = unit.precision;
        let scaled = |walk: &mut Walk| match q.alpha {
            1.0 => sum,
            alpha => walk.ieee(Kind::ScaleSum, vec![sum.times(alpha)], to, unit.mul(alpha, sum.value)),
        };
        Ok(match arithmetic.epilogue {
            Epilogue::None | Epilogue::AlphaIntoA | Epilogue::AlphaIntoB => sum,
            Epilogue::MulThenFma | Epilogue::MulThenAdd if q.beta == 0.0 => scaled(self),
            Epilogue::MulThenFma => {
                let scaled = scaled(self);
                let of_c = Addend::whole(Source::C, q.c, q.beta, None);
                let value = unit.fma(q.beta, q.c, scaled.value);
                self.ieee(Kind::FmaC, vec![of_c, scaled.added()], to, value)
            }
            Epilogue::MulThenAdd => {
                let (scaled, of_c) = (scaled(self), self.scaled_c(unit, q));
                let value = unit.add(scaled.value, of_c.value);
                self.ieee(Kind::AddC, vec![scaled.added(), of_c.added()], to, value)
            }
        })
    }

    fn scaled_c(&mut self, unit: Unit, q: &Question<'_>) -> Carried {
        let c = Carried { value: q.c, from: None, source: Source::C };
        if q.beta == 1.0 {
            return c;
        }
        let product = unit.mul(q.beta, q.c);
        let scaled = self.ieee(Kind::ScaleC, vec![c.times(q.beta)], unit.precision, product);
        Carried { source: Source::C, ..scaled }
    }

    /// Every part's sum, joined.
    fn parts(
        &mut self,
        arithmetic: &Arithmetic,
        unit: Unit,
        q: &Question<'_>,
    ) -> Result<Carried, TraceError> {
        if q.slots.is_some_and(|slots| slots.len() != q.terms.len()) {
            return Err(TraceError::Slots("there are not as many slots as terms"));
        }
        // The factor that alpha goes into, carried, beside the other one as it is: for alpha in B these are b and a.
        let into_b = arithmetic.epilogue == Epilogue::AlphaIntoB;
        let folds = arithmetic.epilogue.folds_alpha() && q.alpha != 1.0;
        let kind = if into_b { Kind::FoldAlphaB } else { Kind::FoldAlpha };
        let factors: Vec<(Carried, f64)> = (q.terms.iter().enumerate())
            .map(|(term, &(a, b))| {
                let (value, other) = if into_b { (b, a) } else { (a, b) };
                let factor = Carried { value, from: None, source: Source::Term(term) };
                if !folds {
                    return (factor, other);
                }
                let product = unit.mul(q.alpha, value);
                let folded = self.ieee(kind, vec![factor.times(q.alpha)], unit.precision, product);
                (folded, other)
            })
            .collect();
        let Parts::Two(first, second) = arithmetic.parts else {
            return self.part(arithmetic.part(), unit, q, &factors);
        };
        let Some(slots) = q.slots else {
            return Err(TraceError::Slots("a hybrid's layout says which part takes a term"));
        };
        let has_terms =
            |part: &Part| slots.iter().any(|slot| part.selects == Selects::All || slot.is_of(part.selects));
        match (arithmetic.combine, has_terms(&first), has_terms(&second)) {
            (Combine::Free, ..) => Err(TraceError::NotDeterministic),
            (Combine::Disjoint, true, true) => Err(TraceError::Slots("disjoint parts share this element")),
            (Combine::Disjoint, false, true) => self.part(&second, unit, q, &factors),
            (Combine::Disjoint, _, false) => self.part(&first, unit, q, &factors),
            (Combine::Ordered, ..) => {
                let one = self.part(&first, unit, q, &factors)?;
                let two = self.part(&second, unit, q, &factors)?;
                let value = unit.add(one.value, two.value);
                Ok(self.ieee(Kind::Parts, vec![one.added(), two.added()], unit.precision, value))
            }
        }
    }

    /// One part's sum.
    fn part(
        &mut self,
        part: &Part,
        scaling: Unit,
        q: &Question<'_>,
        factors: &[(Carried, f64)],
    ) -> Result<Carried, TraceError> {
        let mut placed = Vec::new();
        for (term, &(a, b)) in factors.iter().enumerate() {
            let slot = q.slots.map(|slots| slots[term]);
            if slot.is_none_or(|slot| part.selects == Selects::All || slot.is_of(part.selects)) {
                let at = slot.map_or(term as u32, |slot| slot.at);
                placed.push(Placed { at, term, a, b });
            }
        }
        placed.sort_by_key(|placed| placed.at);
        if placed.windows(2).any(|pair| pair[0].at == pair[1].at) {
            return Err(TraceError::Slots("two terms share a slot"));
        }
        let start = match part.init {
            Init::C if q.beta != 0.0 => self.scaled_c(scaling, q),
            _ => Carried::ZERO,
        };
        self.ranges(part, start, &placed)
    }

    fn ranges(&mut self, part: &Part, start: Carried, placed: &[Placed]) -> Result<Carried, TraceError> {
        let block = part.block() as u32;
        let extent = placed.last().map_or(0, |last| last.at / block + 1);
        let Ranges { length, count, together } = reduction::ranges(part.along, extent);
        let mut ranges: BTreeMap<u32, Vec<Placed>> = BTreeMap::new();
        for &term in placed {
            ranges.entry(term.at / block / length).or_default().push(term);
        }
        let first = ranges.remove(&0).unwrap_or_default();
        let unit = Unit { precision: part.acc };
        let others = ranges.len() as u32;
        let add = |walk: &mut Self, x: Carried, y: Carried| {
            let value = unit.add(x.value, y.value);
            walk.ieee(Kind::Ranges, vec![x.added(), y.added()], part.acc, value)
        };
        let mut total = self.chain(part, start, &first, 0)?;
        let (mut before, mut group) = (None, 0);
        for (index, range) in ranges {
            let sum = self.chain(part, Carried::ZERO, &range, index * length)?;
            if index / together == group {
                total = add(self, total, sum);
            } else {
                before = Some(match before {
                    Some(before) => add(self, before, total),
                    None => total,
                });
                (total, group) = (sum, index / together);
            }
        }
        if let Some(before) = before {
            total = add(self, before, total);
        }
        if 1 + others < count {
            // Ranges without terms add +0, all of them together as one.
            total = add(self, total, Carried::ZERO);
        }
        Ok(total)
    }

    /// The blocks of one range, which begins at block `base`.
    fn chain(
        &mut self,
        part: &Part,
        start: Carried,
        terms: &[Placed],
        base: u32,
    ) -> Result<Carried, TraceError> {
        let block = part.block() as u32;
        let (mut acc, mut next) = (start, base);
        for group in terms.chunk_by(|x, y| x.at / block == y.at / block) {
            let index = group.first().map_or(0, |first| first.at / block);
            acc = match part.reduction {
                Reduction::FmaChain => group.iter().fold(acc, |acc, term| self.fma(part.acc, acc, term)),
                Reduction::MulAddChain => {
                    group.iter().fold(acc, |acc, term| self.mul_add(part.acc, acc, term))
                }
                Reduction::Any => return Err(TraceError::NotDeterministic),
                Reduction::Mma { .. } | Reduction::Cpu(_) => {
                    if index > next && block > 1 {
                        // Blocks without terms, all of them together as one.
                        acc = self.block(part, acc, &[])?;
                    }
                    self.block(part, acc, group)?
                }
            };
            next = index + 1;
        }
        Ok(acc)
    }

    fn fma(&mut self, to: Precision, acc: Carried, term: &Placed) -> Carried {
        let value = Unit { precision: to }.fma(term.a.value, term.b, acc.value);
        self.ieee(Kind::Fma, vec![term.product(), acc.added()], to, value)
    }

    fn mul_add(&mut self, to: Precision, acc: Carried, term: &Placed) -> Carried {
        let unit = Unit { precision: to };
        let value = unit.mul(term.a.value, term.b);
        let product = self.ieee(Kind::Product, vec![term.product()], to, value);
        let sum = unit.add(acc.value, product.value);
        self.ieee(Kind::Accumulate, vec![product.added(), acc.added()], to, sum)
    }
}
