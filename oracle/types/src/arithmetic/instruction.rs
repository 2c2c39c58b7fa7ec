//! Names of matrix instructions and of the architectures that have them: data only.
//!
//! ```text
//! mma.m16n8k16.f32.f16          engine . shape . accumulator . input
//! mma.sp.m16n8k32.f32.bf16      k counts the columns of A before compression
//! wgmma.m64n8k16.f32.f16        n is any multiple of 8
//! ```
//!
//! Source: PTX ISA 9.1, sections 9.7.14 (mma), 9.7.15 (wgmma) and 9.7.16 (tcgen05).

use crate::scalar::Precision;
use std::fmt;
use std::str::FromStr;

/// An NVIDIA architecture, by compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Architecture {
    /// Volta (V100).
    Sm70,
    /// Turing (T4).
    Sm75,
    /// Ampere (A100).
    Sm80,
    /// Ampere (A2, RTX 30).
    Sm86,
    /// Ada (L40S, RTX 40).
    Sm89,
    /// Hopper (H100, H200).
    Sm90,
    /// Blackwell (B200).
    Sm100,
    /// RTX Blackwell (RTX 50).
    Sm120,
}

impl Architecture {
    /// All, oldest first.
    pub const ALL: [Architecture; 8] = [
        Architecture::Sm70,
        Architecture::Sm75,
        Architecture::Sm80,
        Architecture::Sm86,
        Architecture::Sm89,
        Architecture::Sm90,
        Architecture::Sm100,
        Architecture::Sm120,
    ];

    /// `sm_90` and so on.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Architecture::Sm70 => "sm_70",
            Architecture::Sm75 => "sm_75",
            Architecture::Sm80 => "sm_80",
            Architecture::Sm86 => "sm_86",
            Architecture::Sm89 => "sm_89",
            Architecture::Sm90 => "sm_90",
            Architecture::Sm100 => "sm_100",
            Architecture::Sm120 => "sm_120",
        }
    }

    /// The architecture with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Architecture> {
        Architecture::ALL.into_iter().find(|a| a.name() == name)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The instruction family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// `mma.sync`: one warp.
    Mma,
    /// `mma.sp.sync`: one warp, A with 2:4 (tf32 1:2) metadata.
    MmaSparse,
    /// `wgmma.mma_async`: four warps.
    Wgmma,
    /// `wgmma.mma_async.sp`.
    WgmmaSparse,
    /// `tcgen05.mma`.
    Tcgen05,
}

impl Engine {
    /// All.
    pub const ALL: [Engine; 5] =
        [Engine::Mma, Engine::MmaSparse, Engine::Wgmma, Engine::WgmmaSparse, Engine::Tcgen05];

    /// `mma.sp` and so on.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Mma => "mma",
            Engine::MmaSparse => "mma.sp",
            Engine::Wgmma => "wgmma",
            Engine::WgmmaSparse => "wgmma.sp",
            Engine::Tcgen05 => "tcgen05",
        }
    }

    /// True where A is compressed to half of k.
    #[must_use]
    pub const fn is_sparse(self) -> bool {
        matches!(self, Engine::MmaSparse | Engine::WgmmaSparse)
    }
}

/// One matrix instruction: D (m x n) = A (m x k) * B (k x n) + C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The family.
    pub engine: Engine,
    /// Rows of A and D.
    pub m: u16,
    /// Columns of B and D.
    pub n: u16,
    /// Rows of B; columns of A before compression.
    pub k: u16,
    /// Type of A and B.
    pub input: Precision,
    /// Type of C and D.
    pub acc: Precision,
}

impl Instruction {
    /// An `mma.sync`.
    #[must_use]
    pub const fn mma((m, n, k): (u16, u16, u16), acc: Precision, input: Precision) -> Instruction {
        Instruction { engine: Engine::Mma, m, n, k, input, acc }
    }

    /// The same with another engine.
    #[must_use]
    pub const fn engine(mut self, engine: Engine) -> Instruction {
        self.engine = engine;
        self
    }

    /// `m16n8k4` -> (16, 8, 4); digits only and no leading zero, so that each instruction has one name.
    #[must_use]
    pub fn parse_shape(text: &str) -> Option<(u16, u16, u16)> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        let number = |digits: &str| {
            let plain = digits.starts_with(|c: char| ('1'..='9').contains(&c));
            if plain { digits.parse().ok() } else { None }
        };
        Some((number(m)?, number(n)?, number(k)?))
    }

    /// Products of one output element: k, or half of it where A is compressed.
    #[must_use]
    pub const fn products(&self) -> usize {
        self.k as usize / if self.engine.is_sparse() { 2 } else { 1 }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instruction { m, n, k, .. } = self;
        write!(f, "{}.m{m}n{n}k{k}.{}.{}", self.engine.name(), self.acc, self.input)
    }
}

/// A text that is no instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}' is no instruction: {reason}; write it as mma.m16n8k16.f32.f16 (engine, shape, accumulator, input)"
)]
pub struct ParseInstructionError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for Instruction {
    type Err = ParseInstructionError;

    fn from_str(text: &str) -> Result<Instruction, ParseInstructionError> {
        let refuse = |reason| ParseInstructionError { text: text.chars().take(80).collect(), reason };
        let mut parts = text.rsplitn(4, '.');
        let mut next = |reason| parts.next().ok_or_else(|| refuse(reason));
        let input = Precision::from_name(next("no input type")?);
        let acc = Precision::from_name(next("no accumulator type")?);
        let shape = Instruction::parse_shape(next("no shape")?);
        let engine = next("no engine")?;
        let engine = Engine::ALL.into_iter().find(|e| e.name() == engine);
        let (m, n, k) = shape.ok_or_else(|| refuse("the shape is not m<M>n<N>k<K>"))?;
        Ok(Instruction {
            engine: engine.ok_or_else(|| refuse("unknown engine"))?,
            m,
            n,
            k,
            input: input.ok_or_else(|| refuse("unknown input type"))?,
            acc: acc.ok_or_else(|| refuse("unknown accumulator type"))?,
        })
    }
}
