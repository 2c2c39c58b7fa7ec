//! Which declarations a contract admits, and which contradict themselves.
//!
//! A contract names the types of operands, accumulator and result, and admits any order of additions in the accumulator type. A
//! matrix unit is another arithmetic than that: it cuts bits at alignment and may round toward zero, so that one of its steps
//! can be worse than an IEEE addition. It is admitted all the same where its operands are of the contract's own type and it
//! accumulates in the contract's accumulator type: the row with f16 operands exists because such units do, nothing narrower
//! than the row's types is stored, and its bound is derived from the unit rather than chosen by who declares it. Hence
//!
//! - an instruction on f16, bf16 or tf32 is refused where the contract's operands are wider (f32 rounded to tf32 is a tf32
//!   contract, never an f32 one), or narrower (fp8 widened to f16 is the emulation that the fp8 rows describe by name);
//! - an accumulator of 14 bits (fp8 on Ada and on Hopper's wgmma) is admitted with fp8 operands alone, which are the only
//!   instructions that have it;
//! - an fp8 instruction must name its architecture, since only some of them have such accumulators;
//! - what a named unit flushes by its definition is part of that unit. Anything else that flushes must say so ([`Flush`](crate::arithmetic::Flush)):
//!   libraries that run with FTZ exist, what they may return is derived from what they say, and the report repeats it. The weakest
//!   arithmetic that stands for a backend that says nothing flushes nothing.

use super::tensor_core::TensorCore;
use crate::arithmetic::{
    Along, Architecture, Arithmetic, Combine, Epilogue, Init, Input, Order, Pads, Part, Parts, Reduction,
};
use crate::contract::{Contract, Op};
use crate::scalar::Precision;

/// Whether a contract admits a declaration.
pub trait Admits {
    /// The reason why a backend may not declare `arithmetic` for this contract, if there is one.
    #[must_use]
    fn refuses(&self, arithmetic: &Arithmetic) -> Option<String>;
}

impl Admits for Contract {
    fn refuses(&self, arithmetic: &Arithmetic) -> Option<String> {
        let weakest = self.weakest();
        if arithmetic.out != weakest.out {
            return Some(format!("returns {}, the contract asks for {}", arithmetic.out, weakest.out));
        }
        let is_told = matches!(self.op, Op::Spmm | Op::Spmv) && self.format.has_two_parts();
        if arithmetic.input_of_rest().is_some() && !is_told {
            return Some(format!(
                "rounds the operands of its two parts differently, and {} does not tell which term is of which part",
                self.format.name()
            ));
        }
        arithmetic.parts.iter().find_map(|part| weaker_part(part, weakest.part(), self.types.a))
    }
}

/// Whether a declaration holds together.
pub trait Contradicts {
    /// What makes the declaration contradict itself, or the factors it is used with.
    #[must_use]
    fn contradiction(&self, alpha: f64, beta: f64) -> Option<&'static str>;
}

impl Contradicts for Arithmetic {
    fn contradiction(&self, alpha: f64, beta: f64) -> Option<&'static str> {
        let from_c = self.part().init == Init::C;
        let scaling = match self.epilogue {
            Epilogue::MulThenAdd | Epilogue::MulThenFma if from_c => {
                Some("adds beta * C at the end and starts from it as well")
            }
            Epilogue::AlphaIntoA | Epilogue::AlphaIntoB if !from_c => {
                Some("folds alpha into an operand, but never adds beta * C")
            }
            Epilogue::None if alpha != 1.0 => Some("has no place for an alpha other than 1"),
            Epilogue::None if beta != 0.0 && !from_c => Some("never adds beta * C"),
            _ => None,
        };
        let folds = self.epilogue.folds_alpha();
        scaling
            .or_else(|| self.parts.iter().find_map(|part| part_contradiction(part, folds)))
            .or_else(|| second_contradiction(self))
    }
}

/// What two parts cannot both say.
fn second_contradiction(declared: &Arithmetic) -> Option<&'static str> {
    let Parts::Two(first, second) = declared.parts else {
        return None;
    };
    if first.acc != second.acc || first.pads != second.pads {
        return Some("has parts of different accumulators or pads");
    }
    match declared.combine {
        Combine::Disjoint if first.init != second.init => {
            Some("starts from C in one part, and not in the other one, of disjoint parts")
        }
        Combine::Ordered | Combine::Free if second.init == Init::C => {
            Some("starts its second part from C, which the first one adds")
        }
        _ => None,
    }
}

/// What makes one part contradict itself.
fn part_contradiction(part: &Part, folds_alpha: bool) -> Option<&'static str> {
    let of_nothing = match part.along {
        Along::Chain => false,
        Along::SplitK { parts } => parts == 0,
        Along::TwoPass { blocks } => blocks == 0,
        Along::ThreePass { blocks, segments } => blocks == 0 || segments == 0,
    };
    if of_nothing {
        return Some("splits k into ranges of nothing");
    }
    let (input, acc) = match part.reduction {
        // What any order may do includes all ranges; counted on top of one another they would widen the bound.
        Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any
            if part.along != Along::Chain
                && (part.order == Order::Free || part.reduction == Reduction::Any) =>
        {
            return Some("fixes ranges along k of terms that come in any order");
        }
        Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any => return None,
        Reduction::Mma { architecture, instruction } => {
            let mut known = Architecture::ALL.into_iter();
            let has = |a: Architecture| TensorCore::new(a, instruction).is_ok();
            if !known.any(|a| architecture.is_none_or(|named| named == a) && has(a)) {
                return Some("names an instruction that its architecture does not have");
            }
            (instruction.input, instruction.acc)
        }
        Reduction::Cpu(unit) => (unit.input(), unit.acc()),
    };
    if acc != part.acc {
        return Some("accumulates in another type than its instruction");
    }
    if (input == Precision::Tf32) != (part.input != Input::AsStored) {
        return Some(
            "rounds operands to tf32 without a tf32 instruction, or has one that is given unrounded f32",
        );
    }
    if folds_alpha {
        return Some("folds alpha into operands of a matrix unit, which rounds them once more");
    }
    if !part.nearest {
        return Some("gives a rounding direction to a unit that has its own");
    }
    None
}

/// The reason why a part is weaker than `limit`, for operands stored as `stored`, if it is.
fn weaker_part(part: &Part, limit: &Part, stored: Precision) -> Option<String> {
    if !part.acc.spec().holds(limit.acc.spec()) {
        return Some(format!("accumulates in {}, the contract asks for {}", part.acc, limit.acc));
    }
    if part.pads == Pads::Multiplied && limit.pads == Pads::Skipped {
        return Some("multiplies pads, but the format marks them by column".to_owned());
    }
    if part.input != Input::AsStored && limit.input == Input::AsStored {
        return Some(format!("rounds its inputs ({:?}), the contract uses them as stored", part.input));
    }
    if !part.nearest && limit.nearest {
        return Some("rounds in one direction, the contract asks for nearest".to_owned());
    }
    if let Reduction::Mma { architecture: None, instruction } = part.reduction
        && instruction.input.bytes() == 1
    {
        return Some(format!(
            "multiplies by {instruction} of no named architecture; fp8 sums have 14 bits on some and 24 on others"
        ));
    }
    let (unit, input) = match part.reduction {
        Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any => return None,
        Reduction::Mma { instruction, .. } => (instruction.to_string(), instruction.input),
        Reduction::Cpu(unit) => (unit.to_string(), unit.input()),
    };
    (input != stored)
        .then(|| format!("multiplies by {unit}, which takes {input}; the contract's operands are {stored}"))
}
