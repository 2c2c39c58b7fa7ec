//! The one table of what is pinned: system x operation x type x unit, and the architectures each runs on.
//!
//! ```text
//! libra.spmm.f16.m16n8k8.sm_90        system . operation . type of A and B . unit . architecture
//! loops.spmm.f16.fmopa.sme
//! ```
//!
//! The systems are those of the papers, with the unit that their kernels name: LOOPS section 3.3 and algorithm 3, RSH-SpMM
//! section 3.3.2 and algorithm 2, Libra section 4.4.2, NM-SpMM section III (f32 in the paper; tf32 and f16 are what its
//! order gives on tensor cores). Sums and results are f32 in all of them.

use sparse_oracle::arithmetic::{Architecture, Arithmetic, Combine, CpuUnit, Input, Instruction, Reduction};
use sparse_oracle::format::FormatParams;
use sparse_oracle::scalar::Precision;
use std::fmt;

/// Who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum System {
    /// LOOPS: CSR rows on NEON, tiles on SME.
    Loops,
    /// RSH-SpMM: RS-Tile windows on tensor cores, residual rows on CUDA cores.
    Rsh,
    /// Libra: bitmap blocks on tensor cores, the rest on CUDA cores.
    Libra,
    /// NM-SpMM: vector-wise N:M.
    Nm,
    /// CSR on CUDA cores.
    CudaCore,
}

impl System {
    /// All.
    pub const ALL: [System; 5] = [System::Loops, System::Rsh, System::Libra, System::Nm, System::CudaCore];

    /// The name in lines and of the snapshot.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            System::Loops => "loops",
            System::Rsh => "rsh",
            System::Libra => "libra",
            System::Nm => "nm",
            System::CudaCore => "cuda-core",
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Sparse times dense; for N:M, dense times sparse.
    Spmm,
    /// Sampled dense times dense.
    Sddmm,
}

impl Op {
    /// The name in lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Spmm => "spmm",
            Op::Sddmm => "sddmm",
        }
    }
}

/// What multiplies. Terms outside of tiles always go through a chain of fused multiply-adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unit {
    /// Fused multiply-adds alone.
    Fma,
    /// Tiles in pairs, by SME's two-way outer product.
    Fmopa,
    /// Tiles by `mma.sync` of this shape.
    Mma(u16, u16, u16),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Fma => f.write_str("fma"),
            Unit::Fmopa => f.write_str("fmopa"),
            Unit::Mma(m, n, k) => write!(f, "m{m}n{n}k{k}"),
        }
    }
}

/// Where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Arm with SME.
    Sme,
    /// An NVIDIA GPU.
    Gpu(Architecture),
}

impl Target {
    /// The name in lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Target::Sme => "sme",
            Target::Gpu(architecture) => architecture.name(),
        }
    }
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Who.
    pub system: System,
    /// What.
    pub op: Op,
    /// Type of A and B, as stored.
    pub input: Precision,
    /// The unit that takes tiles.
    pub unit: Unit,
    /// Where.
    pub targets: &'static [Target],
    /// Parameters of the format.
    pub params: FormatParams,
}

const SM80: Target = Target::Gpu(Architecture::Sm80);
const SM86: Target = Target::Gpu(Architecture::Sm86);
const SM89: Target = Target::Gpu(Architecture::Sm89);
const SM90: Target = Target::Gpu(Architecture::Sm90);

/// A100, RTX 3090, RTX 4090 and H100: those of the papers, and what runs them today.
pub const GPUS: [Target; 4] = [SM80, SM86, SM89, SM90];

/// M4 Pro: 512-bit vectors, 32 lanes of f16.
const LOOPS: FormatParams = FormatParams { br: 32, ..FormatParams::DEFAULT };

/// Half of the vectors of 32 rows by 4 columns, the least sparse of the paper's ratios: the longest sums.
const NM: FormatParams = FormatParams { n: 16, m: 32, l: 4, ..FormatParams::DEFAULT };

const fn gpu(system: System, op: Op, input: Precision, unit: Unit, params: FormatParams) -> Row {
    Row { system, op, input, unit, targets: &GPUS, params }
}

const fn libra(op: Op, input: Precision, k: u16) -> Row {
    let params = FormatParams {
        // SpMM: columns of a block; SDDMM does not read it.
        kb: if k < 16 { k as u32 } else { 16 },
        ..FormatParams::DEFAULT
    };
    gpu(System::Libra, op, input, Unit::Mma(16, 8, k), params)
}

const DEFAULT: FormatParams = FormatParams::DEFAULT;
const K8: Unit = Unit::Mma(16, 8, 8);

/// Everything that is pinned.
pub const ROWS: [Row; 15] = [
    Row {
        system: System::Loops,
        op: Op::Spmm,
        input: Precision::F16,
        unit: Unit::Fmopa,
        targets: &[Target::Sme],
        params: LOOPS,
    },
    gpu(System::Rsh, Op::Spmm, Precision::F16, K8, DEFAULT),
    gpu(System::Rsh, Op::Spmm, Precision::Tf32, K8, DEFAULT),
    libra(Op::Spmm, Precision::F16, 8),
    libra(Op::Spmm, Precision::F16, 16),
    libra(Op::Spmm, Precision::Tf32, 4),
    libra(Op::Spmm, Precision::Tf32, 8),
    libra(Op::Sddmm, Precision::F16, 8),
    libra(Op::Sddmm, Precision::F16, 16),
    libra(Op::Sddmm, Precision::Tf32, 4),
    libra(Op::Sddmm, Precision::Tf32, 8),
    gpu(System::Nm, Op::Spmm, Precision::F16, Unit::Mma(16, 8, 16), NM),
    gpu(System::Nm, Op::Spmm, Precision::Tf32, K8, NM),
    gpu(System::Nm, Op::Spmm, Precision::F32, Unit::Fma, NM),
    gpu(System::CudaCore, Op::Spmm, Precision::F32, Unit::Fma, DEFAULT),
];

impl Row {
    /// `libra.spmm.f16.m16n8k8.sm_90`.
    #[must_use]
    pub fn name(&self, target: Target) -> String {
        let (system, op) = (self.system.name(), self.op.name());
        format!("{system}.{op}.{}.{}.{}", self.input, self.unit, target.name())
    }

    /// The row and target of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<(&'static Row, Target)> {
        static TABLE: [Row; ROWS.len()] = ROWS;
        let all = TABLE.iter().flat_map(|row| row.targets.iter().map(move |&target| (row, target)));
        all.into_iter().find(|(row, target)| row.name(*target) == name)
    }

    /// The instruction, where tiles go through a tensor core.
    #[must_use]
    pub const fn instruction(&self) -> Option<Instruction> {
        match self.unit {
            Unit::Mma(m, n, k) => Some(Instruction::mma((m, n, k), Precision::F32, self.input)),
            Unit::Fma | Unit::Fmopa => None,
        }
    }

    /// What a kernel of this system declares: the part of the tiles first.
    #[must_use]
    pub fn arithmetic(&self, target: Target) -> Arithmetic {
        let chain = Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32);
        let tiles = match (self.unit, self.instruction(), target) {
            (Unit::Fmopa, ..) => Arithmetic::cpu(CpuUnit::Fmopa2Way, Precision::F32).multiplies_pads(),
            (_, Some(instruction), Target::Gpu(architecture)) => {
                Arithmetic::mma(Some(architecture), instruction, Precision::F32)
            }
            _ => return chain,
        };
        let tiles = match self.input {
            Precision::Tf32 => tiles.input(Input::Tf32Rna),
            _ => tiles,
        };
        match (self.system, self.op) {
            (System::Nm | System::CudaCore, _) => tiles,
            (System::Libra, Op::Spmm) => Arithmetic::hybrid(tiles, *chain.part(), Combine::Ordered),
            (System::Loops | System::Rsh | System::Libra, _) => {
                Arithmetic::hybrid(tiles, *chain.part(), Combine::Disjoint)
            }
        }
    }
}
