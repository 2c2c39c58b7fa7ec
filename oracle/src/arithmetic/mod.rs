//! How a kernel declares that it rounds: data, per part of the work.
//!
//! A declaration is what turns a result into a verdict: tier T1 derives its bound from it (see [`crate::bound`]),
//! tier T2 computes the very bits where it fixes them (see [`crate::model`]). The contract fixes the weakest
//! declaration it admits, so nobody sets their own tolerance.
//!
//! ```text
//! a, b --input--> products --reduction, order--> acc --epilogue(alpha, beta, C)--> out
//! ```

mod cpu_unit;
mod instruction;

pub use cpu_unit::CpuUnit;
pub use instruction::{Architecture, Engine, Instruction, ParseInstructionError};

use crate::scalar::Precision;

/// What happens to an operand before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Used exactly as stored.
    AsStored,
    /// f32 rounded to tf32, nearest, ties away (`cvt.rna.tf32.f32`).
    Tf32Rna,
    /// f32 with the low 13 bits dropped.
    Tf32Truncate,
}

/// How products become one sum in the accumulator type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// `acc = fma(a, b, acc)`: one rounding a term.
    FmaChain,
    /// `acc = acc + round(a * b)`: two roundings a term.
    MulAddChain,
    /// Any tree over rounded products, or fused steps: at most one rounding of each product and `n - 1` additions
    /// above any one term.
    Any,
}

/// The order of terms inside one output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Ascending inner index (column of A).
    Ascending,
    /// Not fixed: no T2.
    Free,
}

/// What the accumulator starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Init {
    /// +0.
    Zero,
    /// `beta * C`, rounded to the accumulator type (+0 when beta = 0, C itself when beta = 1).
    C,
}

/// Where alpha and beta enter. Multiplications by exactly 1 do not round; with beta = 0, C is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Epilogue {
    /// `acc -> t = round(alpha * acc) -> y = fma(beta, c, t)`.
    MulThenFma,
    /// `acc -> y = round(alpha * acc) + round(beta * c)`.
    MulThenAdd,
    /// alpha multiplies each a (rounded) before its product; `beta * C` is the initial value.
    AlphaIntoA,
    /// Only alpha = 1 is supported; with [`Init::C`], beta goes into the initial value, else beta = 0.
    None,
}

/// Which pads of a padded layout are multiplied as `0 * b` (SEMANTICS section 1, `padded`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pads {
    /// Pads are skipped.
    Skipped,
    /// Every pad slot of the layout is multiplied.
    Multiplied,
}

/// One part of the work and its reduction. Hybrids reduce differently per row; the formats here have one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Input rounding of both operands.
    pub input: Input,
    /// Shape of the sum.
    pub reduction: Reduction,
    /// Order of the terms.
    pub order: Order,
    /// Initial value.
    pub init: Init,
    /// Type in which products and sums are rounded.
    pub acc: Precision,
    /// What happens to pads.
    pub pads: Pads,
}

/// A kernel's declared arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    /// The one part (more when hybrids arrive).
    pub part: Part,
    /// Where alpha and beta enter.
    pub epilogue: Epilogue,
    /// Type of the result; one more rounding when narrower than the accumulator.
    pub out: Precision,
    /// Subnormal operands, intermediates and results may be flushed to zero.
    pub flush: bool,
}

impl Arithmetic {
    /// A chain from +0 in ascending order, scaled at the end, nothing flushed.
    #[must_use]
    pub const fn chain(reduction: Reduction, acc: Precision, out: Precision) -> Arithmetic {
        let part = Part {
            input: Input::AsStored,
            reduction,
            order: Order::Ascending,
            init: Init::Zero,
            acc,
            pads: Pads::Skipped,
        };
        Arithmetic {
            part,
            epilogue: Epilogue::MulThenAdd,
            out,
            flush: false,
        }
    }

    /// Sums in any order.
    #[must_use]
    pub const fn any(acc: Precision, out: Precision) -> Arithmetic {
        let mut free = Arithmetic::chain(Reduction::Any, acc, out);
        free.part.order = Order::Free;
        free
    }

    /// With an input rounding.
    #[must_use]
    pub const fn input(mut self, input: Input) -> Arithmetic {
        self.part.input = input;
        self
    }

    /// With pads multiplied.
    #[must_use]
    pub const fn multiplies_pads(mut self) -> Arithmetic {
        self.part.pads = Pads::Multiplied;
        self
    }

    /// With an epilogue; [`Epilogue::AlphaIntoA`] also starts from `beta * C`.
    #[must_use]
    pub const fn epilogue(mut self, epilogue: Epilogue) -> Arithmetic {
        self.epilogue = epilogue;
        if matches!(epilogue, Epilogue::AlphaIntoA) {
            self.part.init = Init::C;
        }
        self
    }

    /// True when the declaration fixes every bit of a finite result, so that T2 applies.
    #[must_use]
    pub const fn is_deterministic(&self) -> bool {
        matches!(self.part.reduction, Reduction::FmaChain | Reduction::MulAddChain)
            && matches!(self.part.order, Order::Ascending)
            && !self.flush
    }

    /// What makes the declaration contradict itself, or the factors it is used with.
    #[must_use]
    pub fn contradiction(&self, alpha: f64, beta: f64) -> Option<&'static str> {
        let from_c = self.part.init == Init::C;
        match self.epilogue {
            Epilogue::MulThenAdd | Epilogue::MulThenFma if from_c => {
                Some("adds beta * C at the end and starts from it as well")
            }
            Epilogue::AlphaIntoA if !from_c => Some("folds alpha into A, but never adds beta * C"),
            Epilogue::None if alpha != 1.0 => Some("has no place for an alpha other than 1"),
            Epilogue::None if beta != 0.0 && !from_c => Some("never adds beta * C"),
            _ => None,
        }
    }

    /// The reason why this declaration is weaker than `weakest` allows, if it is.
    #[must_use]
    pub fn weaker_than(&self, weakest: &Arithmetic) -> Option<String> {
        let significand = |p: Precision| p.spec().significand;
        if significand(self.part.acc) < significand(weakest.part.acc)
            || !range_covers(self.part.acc, weakest.part.acc)
        {
            return Some(format!(
                "accumulates in {}, the contract asks for {}",
                self.part.acc, weakest.part.acc
            ));
        }
        if self.out != weakest.out {
            return Some(format!(
                "returns {}, the contract asks for {}",
                self.out, weakest.out
            ));
        }
        if self.flush && !weakest.flush {
            return Some("flushes subnormals, the contract does not allow it".to_owned());
        }
        if self.part.pads == Pads::Multiplied && weakest.part.pads == Pads::Skipped {
            return Some("multiplies pads, but the format marks them by column".to_owned());
        }
        if self.part.input != Input::AsStored && weakest.part.input == Input::AsStored {
            return Some(format!(
                "rounds its inputs ({:?}), the contract uses them as stored",
                self.part.input
            ));
        }
        None
    }
}

/// True when every exponent of `narrow` is one of `wide`.
fn range_covers(wide: Precision, narrow: Precision) -> bool {
    wide.spec().emax >= narrow.spec().emax && wide.spec().min_exponent() <= narrow.spec().min_exponent()
}
