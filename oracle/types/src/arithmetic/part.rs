//! One part of the work: how its products become sums.
//!
//! ```text
//! stored terms --selects--> a, b --input--> blocks of the unit --reduction--> one chain per range --along--> acc
//!
//!   along k, Chain:      [block 0][block 1][block 2][block 3][block 4]      one chain from `init`
//!            SplitK 2:   [block 0][block 1][block 2] + [block 3][block 4]   each range from zero, then IEEE adds
//!            TwoPass 2:  [block 0][block 1] + [block 2][block 3] + [block 4]
//!          ThreePass 1, 2:  ([block 0] + [block 1]) + ([block 2] + [block 3]) + [block 4]
//! ```

use super::{Architecture, CpuUnit, Instruction};
use crate::scalar::Precision;

/// What happens to an operand before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Used exactly as stored.
    AsStored,
    /// f32 rounded to tf32, nearest, ties away (`cvt.rna.tf32.f32`).
    Tf32Rna,
    /// f32 rounded to tf32, nearest, ties to even (`cvt.rn.tf32.f32`).
    Tf32Rne,
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
    /// A matrix instruction of a GPU. Without an architecture (a device that is not known) no bits are fixed, and the bound is
    /// the widest over every architecture that has the instruction.
    Mma {
        /// Read from the device at run time.
        architecture: Option<Architecture>,
        /// The instruction.
        instruction: Instruction,
    },
    /// A unit of a CPU.
    Cpu(CpuUnit),
}

/// How the blocks of one element follow one another along k. What is added across ranges is added by IEEE 754, to nearest,
/// in the accumulator type; the initial value enters the first range, the others start from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Along {
    /// One chain, each block onto the one before; the last block is padded with zeros.
    Chain,
    /// `parts` contiguous ranges of `ceil(blocks / parts)` blocks (the last ones shorter or empty), added in ascending order.
    SplitK {
        /// Ranges, at least 1.
        parts: u16,
    },
    /// Segments of `blocks` blocks each, summed to partials; then the partials in ascending order.
    TwoPass {
        /// Blocks of one segment, at least 1.
        blocks: u32,
    },
    /// As `TwoPass`, but partials are first added `segments` at a time, in ascending order; then those sums in ascending order.
    ThreePass {
        /// Blocks of one segment, at least 1.
        blocks: u32,
        /// Segments whose partials are added to one, at least 1.
        segments: u32,
    },
}

/// The order of terms inside one output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Ascending inner index (column of A), or ascending place where the layout gives places.
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

/// Which pads of a padded layout are multiplied as `0 * b` (clause 2.7 of SEMANTICS.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pads {
    /// Pads are skipped.
    Skipped,
    /// Every pad slot of the layout is multiplied.
    Multiplied,
}

/// Which stored terms a part takes. The split itself comes from the arrays of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Selects {
    /// All of them.
    All,
    /// Those in tiles, for the matrix unit.
    Tiles,
    /// Those outside of tiles, for the scalar or vector unit.
    Rest,
}

/// One part of the work and its reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Which terms.
    pub selects: Selects,
    /// Input rounding of both operands.
    pub input: Input,
    /// Shape of the sum.
    pub reduction: Reduction,
    /// How blocks follow one another.
    pub along: Along,
    /// Order of the terms.
    pub order: Order,
    /// Initial value.
    pub init: Init,
    /// Type in which products and sums are rounded.
    pub acc: Precision,
    /// Steps round to nearest (ties to even); otherwise in any one directed mode, and no bits are fixed.
    pub nearest: bool,
    /// What happens to pads.
    pub pads: Pads,
}

/// The parts of the work: one, or two for a hybrid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parts {
    /// All terms are reduced alike.
    One(Part),
    /// The format's arrays give each term to one of two parts.
    Two(Part, Part),
}

/// How the sums of several parts become one element. With one part there is nothing to combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Every element takes its terms from one part only.
    Disjoint,
    /// The first part's sum plus the second's, one IEEE addition in the accumulator type.
    Ordered,
    /// The same sums, added in an order that is not fixed (atomics): no T2.
    Free,
}

impl Part {
    /// Products of one block of the reduction: k of an instruction, a pair of a 2-way unit, one otherwise.
    #[must_use]
    pub const fn block(&self) -> usize {
        match self.reduction {
            Reduction::FmaChain | Reduction::MulAddChain | Reduction::Any => 1,
            Reduction::Mma { instruction, .. } => instruction.products(),
            Reduction::Cpu(unit) => unit.products(),
        }
    }

    /// True when the part fixes every bit of a finite sum.
    #[must_use]
    pub const fn is_deterministic(&self) -> bool {
        let known = match self.reduction {
            Reduction::FmaChain | Reduction::MulAddChain | Reduction::Cpu(_) => true,
            Reduction::Any => false,
            Reduction::Mma { architecture, .. } => architecture.is_some(),
        };
        known && matches!(self.order, Order::Ascending) && self.nearest
    }
}

impl Parts {
    /// The first part, often the only one.
    #[must_use]
    pub const fn first(&self) -> &Part {
        match self {
            Parts::One(part) | Parts::Two(part, _) => part,
        }
    }

    /// The first part, to change it.
    #[must_use]
    pub const fn first_mut(&mut self) -> &mut Part {
        match self {
            Parts::One(part) | Parts::Two(part, _) => part,
        }
    }

    /// The second part of a hybrid.
    #[must_use]
    pub const fn second(&self) -> Option<&Part> {
        match self {
            Parts::One(_) => None,
            Parts::Two(_, part) => Some(part),
        }
    }

    /// All parts.
    pub fn iter(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(self.first()).chain(self.second())
    }
}
