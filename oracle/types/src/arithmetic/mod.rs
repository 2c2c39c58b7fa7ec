//! How a kernel declares that it rounds: data, per part of the work.
//!
//! A declaration is what turns a result into a verdict: tier T1 derives its bound from it (module `bound` of the oracle),
//! tier T2 computes the very bits where it fixes them (its module `model`). The contract fixes the weakest
//! declaration it admits, so nobody sets their own tolerance.
//!
//! ```text
//! part 0: a, b --input--> products --reduction, along, order--> acc \
//!                                                                    combine --epilogue(alpha, beta, C)--> out
//! part 1: (hybrids only)                                         acc /
//! ```

mod cpu_unit;
mod flush;
mod instruction;
mod part;
mod slot;

pub use cpu_unit::CpuUnit;
pub use flush::Flush;
pub use instruction::{Architecture, Engine, Instruction, ParseInstructionError};
pub use part::{Along, Combine, Init, Input, Order, Pads, Part, Parts, Reduction, Selects};
pub use slot::Slot;

use crate::scalar::Precision;

/// Where alpha and beta enter. Multiplications by exactly 1 do not round; with beta = 0, C is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Epilogue {
    /// `acc -> t = round(alpha * acc) -> y = fma(beta, c, t)`.
    MulThenFma,
    /// `acc -> y = round(alpha * acc) + round(beta * c)`.
    MulThenAdd,
    /// alpha multiplies each a (rounded) before its product; `beta * C` is the initial value.
    AlphaIntoA,
    /// The same with each b (an element of B, x or Y).
    AlphaIntoB,
    /// Only alpha = 1 is supported; with [`Init::C`], beta goes into the initial value, else beta = 0.
    None,
}

/// A kernel's declared arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// How terms become sums.
    pub parts: Parts,
    /// How the sums of two parts become one.
    pub combine: Combine,
    /// Where alpha and beta enter.
    pub epilogue: Epilogue,
    /// Type of the result; one more rounding when narrower than the accumulator.
    pub out: Precision,
    /// Which subnormal numbers may be taken for zero.
    pub flush: Flush,
}

impl Epilogue {
    /// True when alpha multiplies an operand before its product.
    #[must_use]
    pub const fn folds_alpha(self) -> bool {
        matches!(self, Epilogue::AlphaIntoA | Epilogue::AlphaIntoB)
    }

    /// A term as the reduction sees it: `fold`, a multiplication by alpha, applied to the factor that alpha goes into, if any.
    #[must_use]
    pub fn folded(self, (a, b): (f64, f64), fold: impl FnOnce(f64) -> f64) -> (f64, f64) {
        match self {
            Epilogue::AlphaIntoA => (fold(a), b),
            Epilogue::AlphaIntoB => (a, fold(b)),
            Epilogue::MulThenFma | Epilogue::MulThenAdd | Epilogue::None => (a, b),
        }
    }
}

impl Arithmetic {
    /// A chain from +0 in ascending order, scaled at the end, nothing flushed.
    #[must_use]
    pub const fn chain(reduction: Reduction, acc: Precision, out: Precision) -> Arithmetic {
        let part = Part {
            selects: Selects::All,
            input: Input::AsStored,
            reduction,
            along: Along::Chain,
            order: Order::Ascending,
            init: Init::Zero,
            acc,
            nearest: true,
            pads: Pads::Skipped,
        };
        Arithmetic {
            parts: Parts::One(part),
            combine: Combine::Disjoint,
            epilogue: Epilogue::MulThenAdd,
            out,
            flush: Flush::NONE,
        }
    }

    /// Sums in any order.
    #[must_use]
    pub const fn any(acc: Precision, out: Precision) -> Arithmetic {
        let mut free = Arithmetic::chain(Reduction::Any, acc, out);
        free.part_mut().order = Order::Free;
        free
    }

    /// A chain of a matrix instruction, from +0; tf32 operands are truncated, as the instruction does.
    #[must_use]
    pub const fn mma(
        architecture: Option<Architecture>,
        instruction: Instruction,
        out: Precision,
    ) -> Arithmetic {
        let reduction = Reduction::Mma { architecture, instruction };
        let chain = Arithmetic::chain(reduction, instruction.acc, out);
        match instruction.input {
            Precision::Tf32 => chain.input(Input::Tf32Truncate),
            _ => chain,
        }
    }

    /// A chain of a CPU unit, from +0.
    #[must_use]
    pub const fn cpu(unit: CpuUnit, out: Precision) -> Arithmetic {
        Arithmetic::chain(Reduction::Cpu(unit), unit.acc(), out)
    }

    /// A hybrid: the tiles of the format are reduced by `tiles`, the other terms by `rest`. Epilogue, output and flush are
    /// those of `tiles`.
    #[must_use]
    pub const fn hybrid(tiles: Arithmetic, rest: Part, combine: Combine) -> Arithmetic {
        let (mut first, mut second) = (*tiles.part(), rest);
        first.selects = Selects::Tiles;
        second.selects = Selects::Rest;
        Arithmetic { parts: Parts::Two(first, second), combine, ..tiles }
    }

    /// The first part, often the only one.
    #[must_use]
    pub const fn part(&self) -> &Part {
        self.parts.first()
    }

    /// The first part, to change it.
    #[must_use]
    pub const fn part_mut(&mut self) -> &mut Part {
        self.parts.first_mut()
    }

    /// With the liberty to flush.
    #[must_use]
    pub const fn flushes(mut self, flush: Flush) -> Arithmetic {
        self.flush = flush;
        self
    }

    /// The input rounding of the second part of a hybrid, where it is another one than that of the first.
    #[must_use]
    pub fn input_of_rest(&self) -> Option<Input> {
        self.parts.second().map(|part| part.input).filter(|&input| input != self.part().input)
    }

    /// With an input rounding.
    #[must_use]
    pub const fn input(mut self, input: Input) -> Arithmetic {
        self.part_mut().input = input;
        self
    }

    /// With pads multiplied.
    #[must_use]
    pub const fn multiplies_pads(mut self) -> Arithmetic {
        self.part_mut().pads = Pads::Multiplied;
        self
    }

    /// With another composition along k.
    #[must_use]
    pub const fn along(mut self, along: Along) -> Arithmetic {
        self.part_mut().along = along;
        self
    }

    /// With an epilogue; one that folds alpha into an operand also starts from `beta * C`.
    #[must_use]
    pub const fn epilogue(mut self, epilogue: Epilogue) -> Arithmetic {
        self.epilogue = epilogue;
        if epilogue.folds_alpha() {
            self.part_mut().init = Init::C;
        }
        self
    }

    /// With no scaling: alpha is 1, and `beta * C` is what the accumulator starts from.
    #[must_use]
    pub const fn from_c(mut self) -> Arithmetic {
        self.epilogue = Epilogue::None;
        self.part_mut().init = Init::C;
        self
    }

    /// True when the declaration fixes every bit of a finite result, so that T2 applies.
    #[must_use]
    pub const fn is_deterministic(&self) -> bool {
        let parts = match &self.parts {
            Parts::One(part) => part.is_deterministic(),
            Parts::Two(first, second) => {
                first.is_deterministic()
                    && second.is_deterministic()
                    && !matches!(self.combine, Combine::Free)
            }
        };
        parts && !self.flush.is_any()
    }
}
