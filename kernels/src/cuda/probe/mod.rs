//! Kernels that run one matrix instruction a warp (or warpgroup) on given registers and return its registers.
//!
//! ```text
//! Probe (instruction, variant) -> registers a lane -> .cu frame + one line of PTX -> Device::load -> Loaded::run
//! ```

mod list;
mod ptx;
mod source;

pub use list::sm90;
use sparse_types::Precision;
use sparse_types::arithmetic::{Engine, Instruction};

/// What an instruction's text says beyond its shape and types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Nothing: `wgmma` with scale-d = 1.
    Plain,
    /// Sparse: which lanes of a quad hold the metadata.
    Selector(u8),
    /// Sparse: selector 0 of the form that does not promise ascending indices (`mma.sp` without `::ordered_metadata`).
    Unordered,
    /// `wgmma` with scale-d = 0: C is not read.
    WithoutC,
    /// `wgmma` with imm-scale-a, imm-scale-b: -1 where true.
    Negate {
        /// A is negated.
        a: bool,
        /// B is negated.
        b: bool,
    },
}

/// A scalar conversion f32 -> tf32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// `cvt.rna`: nearest, ties away from zero.
    Rna,
    /// `cvt.rna.satfinite`: the same, overflow to the largest finite number.
    RnaSatfinite,
    /// `cvt.rn`: nearest, ties to even.
    Rn,
    /// `cvt.rz`: toward zero.
    Rz,
    /// `cvt.rn.relu`: negative results become +0.
    RnRelu,
    /// `cvt.rz.relu`.
    RzRelu,
}

impl Conversion {
    /// All.
    pub const ALL: [Conversion; 6] = [
        Conversion::Rna,
        Conversion::RnaSatfinite,
        Conversion::Rn,
        Conversion::Rz,
        Conversion::RnRelu,
        Conversion::RzRelu,
    ];

    /// `rna.satfinite` and so on, as PTX writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Conversion::Rna => "rna",
            Conversion::RnaSatfinite => "rna.satfinite",
            Conversion::Rn => "rn",
            Conversion::Rz => "rz",
            Conversion::RnRelu => "rn.relu",
            Conversion::RzRelu => "rz.relu",
        }
    }
}

/// What one kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// A matrix instruction.
    Matrix {
        /// Shape and types; `input` is the type of A.
        instruction: Instruction,
        /// Type of B: another fp8 type where they are mixed.
        b: Precision,
        /// The rest of its text.
        variant: Variant,
    },
    /// A conversion to tf32: one word in (A), one out; B and C are ignored.
    Convert(Conversion),
}

/// Words (u32) that each operand of one group occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Lanes of a group: 32, or 128 for a warpgroup.
    pub lanes: usize,
    /// A, a lane.
    pub a: usize,
    /// B, a lane (for a warpgroup `b_group / lanes` need not be whole).
    pub b_group: usize,
    /// C and D, a lane.
    pub c: usize,
}

impl Probe {
    /// An instruction with equal types of A and B.
    #[must_use]
    pub const fn matrix(instruction: Instruction, variant: Variant) -> Probe {
        Probe::Matrix { instruction, b: instruction.input, variant }
    }

    /// The kernel's symbol, unique among probes: `mma_sp_m16n8k32_f32_f16_s1`.
    #[must_use]
    pub fn symbol(&self) -> String {
        self.name().replace([':', '.', '-'], "_")
    }

    /// The name in reports: `mma.sp.m16n8k32.f32.f16.s1`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Probe::Matrix { instruction, b, variant } => {
                let mixed = if *b == instruction.input { String::new() } else { format!(".{b}") };
                format!("{instruction}{mixed}{}", variant_name(*variant))
            }
            Probe::Convert(conversion) => format!("cvt.{}.tf32.f32", conversion.name()),
        }
    }

    /// How many words each operand of one group has.
    #[must_use]
    pub fn words(&self) -> Words {
        let Probe::Matrix { instruction: i, .. } = self else {
            return Words { lanes: 32, a: 1, b_group: 32, c: 1 };
        };
        let group = matches!(i.engine, Engine::Wgmma | Engine::WgmmaSparse);
        let lanes = if group { 128 } else { 32 };
        let (m, n, k) = (i.m as usize, i.n as usize, i.k as usize);
        let input = i.input.bytes();
        Words {
            lanes,
            a: m * i.products() * input / 4 / lanes,
            b_group: n * k * input / 4,
            c: m * n * i.acc.bytes() / 4 / lanes,
        }
    }

    /// CUDA C++ of the kernel.
    #[must_use]
    pub fn source(&self) -> String {
        source::source(self)
    }

    /// The instruction as PTX writes it, without operands.
    #[must_use]
    pub fn ptx(&self) -> String {
        ptx::mnemonic(self)
    }
}

fn variant_name(variant: Variant) -> String {
    match variant {
        Variant::Plain => String::new(),
        Variant::Selector(s) => format!(".s{s}"),
        Variant::Unordered => ".unordered".to_owned(),
        Variant::WithoutC => ".scale_d0".to_owned(),
        Variant::Negate { a, b } => {
            let sign = |negated: bool| if negated { 'n' } else { 'p' };
            format!(".scale_{}{}", sign(a), sign(b))
        }
    }
}
