//! Whole output elements: the blocks of a declared unit, one after another along k, then alpha, beta and C.
//!
//! ```text
//! terms --slots--> blocks of the unit --step--> ranges --IEEE add--> parts --IEEE add--> epilogue --> output type
//! ```
//!
//! A term's slot is its number where no layout gives another. A block without any term is all zeros: a step of it returns its
//! accumulator, but for the sign of a zero and for an initial C in fp8 sums of 14 bits, and a second one changes nothing more; so
//! one such step stands for any number of them.

use super::chain::Unit;
use super::cpu::CpuStep;
use super::tensor_core::TensorCore;
use crate::arithmetic::{Along, Arithmetic, Combine, Epilogue, Init, Part, Reduction, Selects, Slot};
use crate::scalar::{Precision, Rounding, decode, encode, encode_exact};

/// A term: both operands, rounded as declared.
type RoundedTerm = (f64, f64);

/// The model of a declared arithmetic.
#[derive(Clone, Debug)]
pub struct Model {
    arithmetic: Arithmetic,
    first: PartModel,
    second: Option<PartModel>,
    terms: Vec<RoundedTerm>,
}

#[derive(Clone, Debug)]
struct PartModel {
    part: Part,
    unit: Unit,
    step: BlockStep,
    /// A product of a zero and a number does here what a slot without a term does: 0 * 0.
    drops_zeros: bool,
    /// The terms of this part by slot, less those dropped.
    placed: Vec<(u32, RoundedTerm)>,
    /// The first and the last slot of a term, dropped or not.
    span: Option<(u32, u32)>,
    /// Operands of one block, in bits.
    a: Vec<u64>,
    b: Vec<u64>,
}

/// What takes a block of terms.
#[derive(Clone, Copy, Debug)]
enum BlockStep {
    Fma,
    MulAdd,
    Core(TensorCore),
    Cpu(CpuStep),
}

impl Model {
    /// The model, where the declaration fixes the bits.
    #[must_use]
    pub fn new(arithmetic: &Arithmetic) -> Option<Model> {
        if !arithmetic.is_deterministic() {
            return None;
        }
        let second = match arithmetic.parts.second() {
            Some(part) => Some(PartModel::new(part)?),
            None => None,
        };
        Some(Model {
            arithmetic: *arithmetic,
            first: PartModel::new(arithmetic.part())?,
            second,
            terms: Vec::new(),
        })
    }

    /// The bits, in the output type, of one element whose terms come in ascending order, or in any order with their `slots`.
    /// `c` is read only where beta is not 0. With alpha = 0 the terms are not read, unless `computes_zero` says that the kernel
    /// multiplies by 0 all the same.
    ///
    /// `None` for a hybrid without slots, for slots that disagree with the declaration, and for operands that are
    /// not of the type of the unit (the other factor of a zero need not be).
    #[must_use]
    pub fn element(
        &mut self,
        terms: impl Iterator<Item = RoundedTerm>,
        slots: Option<&[Slot]>,
        (alpha, beta): (f64, f64),
        c: f64,
        computes_zero: bool,
    ) -> Option<u64> {
        let arithmetic = self.arithmetic;
        let unit = self.first.unit;
        if alpha == 0.0 && !computes_zero {
            // A and B are not read: nothing is added to beta * C.
            let result = if beta == 0.0 { 0.0 } else { scaled(unit, beta, c) };
            return Some(encode(result, arithmetic.out, Rounding::NearestEven));
        }
        let start = |part: &Part| start_of(part, unit, (beta, c));
        let fold = |v: f64| if alpha == 1.0 { v } else { unit.mul(alpha, v) };
        let terms = terms.map(|term| arithmetic.epilogue.folded(term, fold));
        let acc = match slots {
            None if self.second.is_none() && self.first.is_plain() => {
                let start = start(&self.first.part);
                self.first.plain(start, terms)
            }
            _ => {
                self.terms.clear();
                self.terms.extend(terms);
                self.placed_sum(slots, start)?
            }
        };
        Some(self.finish(acc, (alpha, beta), c))
    }

    /// What the accumulator of a part starts from.
    pub(crate) fn start(&self, part: &Part, beta: f64, c: f64) -> f64 {
        start_of(part, self.first.unit, (beta, c))
    }

    /// The bits, in the output type, of what alpha, beta and C make of the sum.
    pub(crate) fn finish(&self, acc: f64, (alpha, beta): (f64, f64), c: f64) -> u64 {
        let unit = self.first.unit;
        let scale = |acc: f64| if alpha == 1.0 { acc } else { unit.mul(alpha, acc) };
        let result = match self.arithmetic.epilogue {
            Epilogue::None | Epilogue::AlphaIntoA | Epilogue::AlphaIntoB => acc,
            Epilogue::MulThenFma if beta == 0.0 => scale(acc),
            Epilogue::MulThenFma => unit.fma(beta, c, scale(acc)),
            Epilogue::MulThenAdd if beta == 0.0 => scale(acc),
            Epilogue::MulThenAdd => unit.add(scale(acc), scaled(unit, beta, c)),
        };
        encode(result, self.arithmetic.out, Rounding::NearestEven)
    }

    /// The sums of all parts, by slots.
    fn placed_sum(&mut self, slots: Option<&[Slot]>, start: impl Fn(&Part) -> f64) -> Option<f64> {
        let terms = &self.terms;
        if slots.is_some_and(|slots| slots.len() != terms.len()) {
            return None;
        }
        // Ranges are cut from all blocks of a tile, which the slots of one element do not tell.
        let cut = |part: &Part| matches!(part.along, Along::SplitK { .. });
        if slots.is_some() && self.arithmetic.parts.iter().any(cut) {
            return None;
        }
        let Some(second) = &mut self.second else {
            self.first.place(terms, slots)?;
            return self.first.sum(start(&self.first.part));
        };
        slots?;
        self.first.place(terms, slots)?;
        second.place(terms, slots)?;
        match self.arithmetic.combine {
            Combine::Disjoint if second.span.is_none() => self.first.sum(start(&self.first.part)),
            Combine::Disjoint if self.first.span.is_none() => second.sum(start(&second.part)),
            Combine::Disjoint | Combine::Free => None,
            Combine::Ordered => {
                let sums = (self.first.sum(start(&self.first.part))?, second.sum(start(&second.part))?);
                Some(self.first.unit.add(sums.0, sums.1))
            }
        }
    }
}

/// beta * c; a beta of 1 multiplies nothing.
fn scaled(unit: Unit, beta: f64, c: f64) -> f64 {
    if beta == 1.0 { c } else { unit.mul(beta, c) }
}

/// How the blocks of an element are cut into ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    /// Blocks of one range.
    pub(crate) length: u32,
    /// Ranges.
    pub(crate) count: u32,
    /// Ranges whose sums are added to one before those are added; all of them where there is one pass over the sums.
    pub(crate) together: u32,
}

/// The ranges of an element whose last term is in block `extent - 1`.
pub(crate) fn ranges(along: Along, extent: u32) -> Ranges {
    let passes = |blocks: u32, together: u32| {
        let length = blocks.max(1);
        Ranges { length, count: extent.div_ceil(length).max(1), together: together.max(1) }
    };
    match along {
        Along::Chain => Ranges { length: u32::MAX, count: 1, together: u32::MAX },
        Along::SplitK { parts } => {
            let count = u32::from(parts.max(1));
            Ranges { length: extent.div_ceil(count).max(1), count, together: u32::MAX }
        }
        Along::TwoPass { blocks } => passes(blocks, u32::MAX),
        Along::ThreePass { blocks, segments } => passes(blocks, segments),
    }
}

/// What the accumulator of a part starts from.
fn start_of(part: &Part, unit: Unit, (beta, c): (f64, f64)) -> f64 {
    match part.init {
        Init::C if beta != 0.0 => scaled(unit, beta, c),
        _ => 0.0,
    }
}

impl PartModel {
    fn new(part: &Part) -> Option<PartModel> {
        let step = match part.reduction {
            Reduction::FmaChain => BlockStep::Fma,
            Reduction::MulAddChain => BlockStep::MulAdd,
            Reduction::Any => return None,
            Reduction::Mma { architecture, instruction } => {
                BlockStep::Core(TensorCore::new(architecture?, instruction).ok()?)
            }
            Reduction::Cpu(unit) => BlockStep::Cpu(CpuStep::new(unit)),
        };
        Some(PartModel {
            part: *part,
            unit: Unit { precision: part.acc },
            step,
            drops_zeros: matches!(step, BlockStep::Core(core) if core.fused_sum().is_some()),
            placed: Vec::new(),
            span: None,
            a: Vec::new(),
            b: Vec::new(),
        })
    }

    /// One IEEE operation a term, in one chain: nothing to gather.
    fn is_plain(&self) -> bool {
        matches!(self.step, BlockStep::Fma | BlockStep::MulAdd) && self.part.along == Along::Chain
    }

    fn plain(&self, start: f64, terms: impl Iterator<Item = RoundedTerm>) -> f64 {
        terms.fold(start, |acc, term| self.one(acc, term))
    }

    fn one(&self, acc: f64, (a, b): RoundedTerm) -> f64 {
        // A zero of either sign, added to anything but a zero, leaves it: both are of the unit's type. Most terms of a padded row are such.
        if acc != 0.0 && (a == 0.0 || b == 0.0) && a.is_finite() && b.is_finite() {
            return acc;
        }
        match self.step {
            BlockStep::MulAdd => self.unit.add(acc, self.unit.mul(a, b)),
            _ => self.unit.fma(a, b, acc),
        }
    }

    /// Takes the terms of this part, in the order of their slots. `None` if two share one.
    fn place(&mut self, terms: &[RoundedTerm], slots: Option<&[Slot]>) -> Option<()> {
        self.placed.clear();
        match slots {
            None => self.placed.extend((0..).zip(terms.iter().copied())),
            Some(slots) => {
                let here = |slot: &Slot| self.part.selects == Selects::All || slot.is_of(self.part.selects);
                let of_part = slots.iter().zip(terms).filter(|(slot, _)| here(slot));
                self.placed.extend(of_part.map(|(slot, &term)| (slot.at, term)));
                let ascending =
                    |placed: &[(u32, RoundedTerm)]| placed.windows(2).all(|pair| pair[0].0 < pair[1].0);
                if !ascending(&self.placed) {
                    self.placed.sort_by_key(|placed| placed.0);
                    ascending(&self.placed).then_some(())?;
                }
            }
        }
        self.span = self.placed.first().zip(self.placed.last()).map(|(first, last)| (first.0, last.0));
        if self.drops_zeros {
            let is_zero = |(a, b): RoundedTerm| (a == 0.0 || b == 0.0) && a.is_finite() && b.is_finite();
            self.placed.retain(|placed| !is_zero(placed.1));
        }
        Some(())
    }

    /// The sum of the placed terms: ranges of blocks, then their sums in ascending order.
    fn sum(&mut self, start: f64) -> Option<f64> {
        let block = self.part.block() as u32;
        let (first, extent) =
            self.span.map_or((u32::MAX, 0), |(first, last)| (first / block, last / block + 1));
        let Ranges { length, count, together } = ranges(self.part.along, extent);
        let placed = std::mem::take(&mut self.placed);
        let range_of = |placed: &(u32, RoundedTerm)| placed.0 / block / length;
        // The first range starts from the initial value, whether it has terms or not.
        let (in_first, mut rest) = match self.part.along {
            Along::Chain => (&placed[..], &[][..]),
            _ => placed.split_at(placed.iter().take_while(|&p| range_of(p) == 0).count()),
        };
        let mut acc = start;
        if in_first.is_empty() && block > 1 {
            acc = self.block(start, &[])?;
            // Whether an instruction of zeros alone is run, say for a row without terms beside others of its tile, nobody
            // declares: no bits are fixed where that makes a difference to the initial value.
            if first >= length && acc.to_bits() != start.to_bits() {
                return None;
            }
        }
        acc = self.range(acc, in_first, 0)?;
        // The sum of the groups before, once there is one; `acc` is the sum of the group that is added up.
        let (mut before, mut group, mut added) = (None, 0, 1);
        while let Some(next) = rest.first().map(range_of) {
            let range;
            (range, rest) = rest.split_at(rest.iter().take_while(|&p| range_of(p) == next).count());
            let sum = self.range(0.0, range, next * length)?;
            if next / together == group {
                acc = self.unit.add(acc, sum);
            } else {
                before = Some(before.map_or(acc, |before| self.unit.add(before, acc)));
                (acc, group) = (sum, next / together);
            }
            added += 1;
        }
        acc = before.map_or(acc, |before| self.unit.add(before, acc));
        self.placed = placed;
        // Empty ranges add +0.
        Some(if added < count { self.unit.add(acc, 0.0) } else { acc })
    }

    /// One chain over the blocks of a range, which begins at block `base`.
    fn range(&mut self, start: f64, mut terms: &[(u32, RoundedTerm)], base: u32) -> Option<f64> {
        let block = self.part.block() as u32;
        let (mut acc, mut next) = (start, base);
        while let Some(first) = terms.first() {
            let index = first.0 / block;
            let end = u64::from(index + 1) * u64::from(block);
            let (group, rest) =
                terms.split_at(terms.iter().take_while(|term| u64::from(term.0) < end).count());
            terms = rest;
            if index > next && block > 1 {
                acc = self.block(acc, &[])?;
            }
            acc = match self.step {
                BlockStep::Fma | BlockStep::MulAdd => {
                    group.iter().fold(acc, |acc, placed| self.one(acc, placed.1))
                }
                BlockStep::Core(_) | BlockStep::Cpu(_) => self.block(acc, group)?,
            };
            next = index + 1;
        }
        Some(acc)
    }

    /// One instruction.
    fn block(&mut self, acc: f64, group: &[(u32, RoundedTerm)]) -> Option<f64> {
        let block = self.part.block();
        let (input, acc_type) = match self.step {
            BlockStep::Core(core) => (core.instruction().input, core.instruction().acc),
            BlockStep::Cpu(step) => (step.unit().input(), step.unit().acc()),
            BlockStep::Fma | BlockStep::MulAdd => return None,
        };
        self.a.clear();
        self.a.resize(block, 0);
        self.b.clear();
        self.b.resize(block, 0);
        for &(at, (a, b)) in group {
            self.a[at as usize % block] = exact_bits(a, input)?;
            self.b[at as usize % block] = exact_bits(b, input)?;
        }
        let acc = exact_bits(acc, acc_type)?;
        let bits = match self.step {
            BlockStep::Core(core) => core.apply(acc, &self.a, &self.b).ok()?,
            BlockStep::Cpu(step) => step.apply(acc, &self.a, &self.b).ok()?,
            BlockStep::Fma | BlockStep::MulAdd => return None,
        };
        Some(decode(bits, acc_type))
    }
}

/// The bits of a number of the type; `None` if it is not one.
pub(crate) fn exact_bits(value: f64, precision: Precision) -> Option<u64> {
    if value.is_nan() {
        return Some(encode(value, precision, Rounding::NearestEven));
    }
    encode_exact(value, precision)
}

/// [`Model::element`] for one element without slots.
#[must_use]
pub fn element(
    arithmetic: &Arithmetic,
    terms: impl Iterator<Item = (f64, f64)>,
    scaling: (f64, f64),
    c: f64,
    computes_zero: bool,
) -> Option<u64> {
    Model::new(arithmetic)?.element(terms, None, scaling, c, computes_zero)
}
