//! Which instruction computes what on which architecture: one table, with the evidence for each row.
//!
//! ```text
//! architectures x engine x shapes x input -> accumulator      F   L   e_zero   rounding      evidence, source
//! ```
//!
//! A step takes "32 bytes of a row of A" on Hopper and later, 16 on Turing, Ampere and Ada, 8 on Volta: L products, or all
//! of an instruction that has fewer. Not in the table, since no element type or no evidence exists here: fp6, fp4, block-scaled
//! kinds (mxf8f6f4, mxf4, nvf4), tcgen05 with two CTAs, integers, C and D of different types. Confirmed on an H200
//! (docs/silicon/h200.md) and not yet rows: sparse fp8 `mma.sp`, fp8 m16n8k16, mixed fp8 types.
//!
//! Short names in `source`: MMA-Sim is arXiv 2511.10909 (2.1.1), Leeds is arXiv 2512.07004 and its recorded hardware outputs,
//! PTX is the PTX ISA 9.1, section 9.7.14.

use super::fused::FusedSum;
use super::term::FinalRounding::{self, E8m13TowardZero, F16NearestEven, F32TowardZero};
use crate::arithmetic::Architecture::{self, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, Sm100, Sm120};
use crate::arithmetic::{Engine, Instruction};
use crate::scalar::Precision::{self, Bf16, E4m3, E5m2, F16, F32, F64, Tf32};

/// How much a row is worth, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Every output of our own recordings is predicted.
    Measured,
    /// Every output of a published recording of that hardware is predicted.
    PublishedHardware,
    /// Two independent models agree.
    TwoModels,
    /// One publication or model says so.
    OneSource,
    /// The vendor's manual says so.
    VendorDocument,
    /// Inferred from its neighbours in the table.
    Hypothesis,
}

impl Evidence {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Evidence::Measured => "measured here",
            Evidence::PublishedHardware => "published hardware outputs",
            Evidence::TwoModels => "two models",
            Evidence::OneSource => "one source",
            Evidence::VendorDocument => "vendor document",
            Evidence::Hypothesis => "hypothesis",
        }
    }
}

/// How one instruction computes one output element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Datapath {
    /// Fused sums over ascending k, each of at most [`FusedSum::products`] products.
    Fused(FusedSum),
    /// fp8 by the f16 unit, operands converted to f16 first: from +0 a fused sum of the products with k % 4 in {0, 1}, then one of those in {2, 3}, then an
    /// IEEE addition of the accumulator.
    HalfPairs(FusedSum),
    /// One IEEE fma a product, ascending k, nearest even.
    FmaChain,
}

/// Numbers of columns that an instruction comes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// One.
    Exactly(u16),
    /// Multiples of the number, up to 256.
    MultiplesOf(u16),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Where it holds.
    pub architectures: &'static [Architecture],
    /// The family.
    pub engine: Engine,
    /// m and the values of k.
    pub m: u16,
    /// n.
    pub n: Columns,
    /// Values of k.
    pub k: &'static [u16],
    /// Types of A and B.
    pub input: &'static [Precision],
    /// Type of C and D.
    pub acc: Precision,
    /// The model.
    pub datapath: Datapath,
    /// How much it is worth.
    pub evidence: Evidence,
    /// Who says so.
    pub source: &'static str,
}

impl Row {
    /// True if the row is about this instruction.
    #[must_use]
    pub fn covers(&self, instruction: &Instruction) -> bool {
        let columns = match self.n {
            Columns::Exactly(n) => instruction.n == n,
            Columns::MultiplesOf(step) => {
                (step..=256).contains(&instruction.n) && instruction.n.is_multiple_of(step)
            }
        };
        columns
            && self.engine == instruction.engine
            && self.m == instruction.m
            && self.k.contains(&instruction.k)
            && self.input.contains(&instruction.input)
            && self.acc == instruction.acc
    }

    /// The instructions of this row, each with its smallest n.
    pub fn instructions(&self) -> impl Iterator<Item = Instruction> + '_ {
        let (Columns::Exactly(n) | Columns::MultiplesOf(n)) = self.n;
        self.k.iter().flat_map(move |&k| {
            self.input.iter().map(move |&input| Instruction {
                engine: self.engine,
                m: self.m,
                n,
                k,
                input,
                acc: self.acc,
            })
        })
    }
}

const N8: Columns = Columns::Exactly(8);
const WIDE: Columns = Columns::MultiplesOf(8);
const RECORDED: &str = "oracle/data/silicon, docs/silicon/h200.md";
const PROBED: &str = "docs/silicon/h200.md";

const fn fused(fraction: i32, products: usize, output: FinalRounding) -> Datapath {
    Datapath::Fused(unit(fraction, products, output))
}

/// `e_zero` lies as far below the least exponent that an architecture tells apart as F is wide: -108 - F is -131 for Volta, -132
/// for Ampere, -133 for Hopper; in f16 sums it is 112 more. fp8 sums (F = 13) have the `e_zero` of their architecture.
const fn unit(fraction: i32, products: usize, output: FinalRounding) -> FusedSum {
    let offset = match output {
        F16NearestEven => 4,
        _ => -108,
    };
    FusedSum { fraction, products, zero_exponent: offset - fraction, output }
}

const fn fp8(products: usize, output: FinalRounding, zero_exponent: i32) -> Datapath {
    Datapath::Fused(FusedSum { fraction: 13, products, zero_exponent, output })
}

/// A row with its fields in reading order.
macro_rules! rows {
    ($($archs:expr, $engine:ident, m $m:literal, $n:expr, k $k:expr, $input:expr => $acc:expr, $path:expr, $evidence:ident, $source:expr;)*) => {
        &[$(Row {
            architectures: &$archs,
            engine: Engine::$engine,
            m: $m,
            n: $n,
            k: &$k,
            input: &$input,
            acc: $acc,
            datapath: $path,
            evidence: Evidence::$evidence,
            source: $source,
        }),*]
    };
}

/// Every instruction that is modelled. The first row that covers an instruction on an architecture counts.
#[rustfmt::skip]
pub const ROWS: &[Row] = rows! {
    // Volta, and its instruction on Turing.
    [Sm70], Mma, m 8, N8, k [4], [F16] => F32, fused(23, 4, F32TowardZero),  PublishedHardware, "Leeds V100, MMA-Sim";
    [Sm70], Mma, m 8, N8, k [4], [F16] => F16, fused(23, 4, F16NearestEven), PublishedHardware, "Leeds V100, MMA-Sim";
    [Sm75], Mma, m 8, N8, k [4], [F16] => F32, fused(23, 4, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm75], Mma, m 8, N8, k [4], [F16] => F16, fused(23, 4, F16NearestEven), OneSource, "MMA-Sim";
    // Turing.
    [Sm75], Mma, m 16, N8, k [8], [F16] => F32, fused(24, 8, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm75], Mma, m 16, N8, k [8], [F16] => F16, fused(24, 8, F16NearestEven), OneSource, "MMA-Sim";
    // Ampere and Ada.
    [Sm80, Sm86, Sm89], Mma, m 16, N8, k [8, 16], [F16, Bf16] => F32, fused(24, 8, F32TowardZero),  PublishedHardware, "Leeds A100, A2, L40S, Ada; MMA-Sim";
    [Sm80, Sm86, Sm89], Mma, m 16, N8, k [8, 16], [F16] => F16,       fused(24, 8, F16NearestEven), PublishedHardware, "Leeds A100, A2, L40S, Ada; MMA-Sim";
    [Sm80, Sm86, Sm89], Mma, m 16, N8, k [4, 8], [Tf32] => F32,       fused(24, 4, F32TowardZero),  PublishedHardware, "Leeds A100, A2, L40S, Ada; MMA-Sim";
    [Sm89], Mma, m 16, N8, k [16, 32], [E4m3, E5m2] => F32, fp8(16, E8m13TowardZero, -132), PublishedHardware, "Leeds L40S, Ada; MMA-Sim";
    [Sm89], Mma, m 16, N8, k [16, 32], [E4m3, E5m2] => F16, fp8(16, F16NearestEven, -20),   PublishedHardware, "Leeds Ada; MMA-Sim";
    [Sm80, Sm86, Sm89], MmaSparse, m 16, N8, k [16, 32], [F16, Bf16] => F32, fused(24, 8, F32TowardZero),  Hypothesis, "as its dense mma, over the kept products";
    [Sm80, Sm86, Sm89], MmaSparse, m 16, N8, k [16, 32], [F16] => F16,       fused(24, 8, F16NearestEven), Hypothesis, "as its dense mma, over the kept products";
    [Sm80, Sm86, Sm89], MmaSparse, m 16, N8, k [8, 16], [Tf32] => F32,       fused(24, 4, F32TowardZero),  Hypothesis, "as its dense mma, over the kept products";
    // Hopper, mma.
    [Sm90], Mma, m 16, N8, k [8, 16], [F16] => F32,   fused(25, 16, F32TowardZero),  Measured, RECORDED;
    [Sm90], Mma, m 16, N8, k [16], [Bf16] => F32,     fused(25, 16, F32TowardZero),  Measured, RECORDED;
    [Sm90], Mma, m 16, N8, k [8], [Bf16] => F32,      fused(25, 16, F32TowardZero),  Measured, PROBED;
    [Sm90], Mma, m 16, N8, k [16], [F16] => F16,      fused(25, 16, F16NearestEven), Measured, RECORDED;
    [Sm90], Mma, m 16, N8, k [8], [F16] => F16,       fused(25, 16, F16NearestEven), Measured, PROBED;
    [Sm90], Mma, m 16, N8, k [4, 8], [Tf32] => F32,   fused(25, 8, F32TowardZero),   Measured, RECORDED;
    [Sm90], Mma, m 16, N8, k [32], [E4m3, E5m2] => F32, Datapath::HalfPairs(unit(25, 16, F32TowardZero)),  Measured, RECORDED;
    [Sm90], Mma, m 16, N8, k [32], [E4m3, E5m2] => F16, Datapath::HalfPairs(unit(25, 16, F16NearestEven)), Measured, PROBED;
    // Hopper, sparse: one step over the kept products.
    [Sm90], MmaSparse, m 16, N8, k [16, 32], [F16] => F32, fused(25, 16, F32TowardZero), Measured, RECORDED;
    [Sm90], MmaSparse, m 16, N8, k [32], [Bf16] => F32,    fused(25, 16, F32TowardZero), Measured, RECORDED;
    [Sm90], MmaSparse, m 16, N8, k [16], [Bf16] => F32,    fused(25, 16, F32TowardZero), Measured, PROBED;
    [Sm90], MmaSparse, m 16, N8, k [16, 32], [F16] => F16, fused(25, 16, F16NearestEven), Measured, PROBED;
    [Sm90], MmaSparse, m 16, N8, k [8, 16], [Tf32] => F32, fused(25, 8, F32TowardZero), Measured, RECORDED;
    // Hopper, warpgroups.
    [Sm90], Wgmma, m 64, WIDE, k [16], [F16, Bf16] => F32,  fused(25, 16, F32TowardZero),  Measured, "oracle/data/silicon, docs/silicon/h200.md (n = 8)";
    [Sm90], Wgmma, m 64, WIDE, k [16], [F16] => F16,        fused(25, 16, F16NearestEven), Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], Wgmma, m 64, WIDE, k [8], [Tf32] => F32,        fused(25, 8, F32TowardZero),   Measured, "oracle/data/silicon, docs/silicon/h200.md (n = 8)";
    [Sm90], Wgmma, m 64, WIDE, k [32], [E4m3, E5m2] => F32, fp8(32, E8m13TowardZero, -133), Measured, "oracle/data/silicon, docs/silicon/h200.md (n = 8)";
    [Sm90], Wgmma, m 64, WIDE, k [32], [E4m3, E5m2] => F16, fp8(32, F16NearestEven, -21),   Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], WgmmaSparse, m 64, WIDE, k [32], [F16, Bf16] => F32,  fused(25, 16, F32TowardZero),   Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], WgmmaSparse, m 64, WIDE, k [32], [F16] => F16,        fused(25, 16, F16NearestEven),  Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], WgmmaSparse, m 64, WIDE, k [16], [Tf32] => F32,       fused(25, 8, F32TowardZero),    Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], WgmmaSparse, m 64, WIDE, k [64], [E4m3, E5m2] => F32, fp8(32, E8m13TowardZero, -133), Measured, "docs/silicon/h200.md (n = 8)";
    [Sm90], WgmmaSparse, m 64, WIDE, k [64], [E4m3, E5m2] => F16, fp8(32, F16NearestEven, -21),   Measured, "docs/silicon/h200.md (n = 8)";
    // Blackwell.
    [Sm100], Mma, m 16, N8, k [8, 16], [F16, Bf16] => F32,   fused(25, 16, F32TowardZero),  PublishedHardware, "Leeds B200, MMA-Sim";
    [Sm100], Mma, m 16, N8, k [8, 16], [F16] => F16,         fused(25, 16, F16NearestEven), PublishedHardware, "Leeds B200, MMA-Sim";
    [Sm100], Mma, m 16, N8, k [4, 8], [Tf32] => F32,         fused(25, 8, F32TowardZero),   PublishedHardware, "Leeds B200, MMA-Sim";
    [Sm100], Mma, m 16, N8, k [32], [E4m3, E5m2] => F32, Datapath::HalfPairs(unit(25, 16, F32TowardZero)),  PublishedHardware, "Leeds B200 (does not tell the order of the pairs)";
    [Sm100], Mma, m 16, N8, k [32], [E4m3, E5m2] => F16, Datapath::HalfPairs(unit(25, 16, F16NearestEven)), PublishedHardware, "Leeds B200";
    [Sm100], Tcgen05, m 64, WIDE, k [16], [F16, Bf16] => F32,  fused(25, 16, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 64, WIDE, k [16], [F16] => F16,        fused(25, 16, F16NearestEven), OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 64, WIDE, k [8], [Tf32] => F32,        fused(25, 8, F32TowardZero),   OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 64, WIDE, k [32], [E4m3, E5m2] => F32, fused(25, 32, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 64, WIDE, k [32], [E4m3, E5m2] => F16, fused(25, 32, F16NearestEven), OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 128, Columns::MultiplesOf(16), k [16], [F16, Bf16] => F32,  fused(25, 16, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 128, Columns::MultiplesOf(16), k [16], [F16] => F16,        fused(25, 16, F16NearestEven), OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 128, Columns::MultiplesOf(16), k [8], [Tf32] => F32,        fused(25, 8, F32TowardZero),   OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 128, Columns::MultiplesOf(16), k [32], [E4m3, E5m2] => F32, fused(25, 32, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm100], Tcgen05, m 128, Columns::MultiplesOf(16), k [32], [E4m3, E5m2] => F16, fused(25, 32, F16NearestEven), OneSource, "MMA-Sim";
    // RTX Blackwell.
    [Sm120], Mma, m 16, N8, k [8, 16], [F16, Bf16] => F32,     fused(25, 16, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm120], Mma, m 16, N8, k [8, 16], [F16] => F16,           fused(25, 16, F16NearestEven), OneSource, "MMA-Sim";
    [Sm120], Mma, m 16, N8, k [4, 8], [Tf32] => F32,           fused(25, 8, F32TowardZero),   OneSource, "MMA-Sim";
    [Sm120], Mma, m 16, N8, k [16, 32], [E4m3, E5m2] => F32,   fused(25, 32, F32TowardZero),  OneSource, "MMA-Sim";
    [Sm120], Mma, m 16, N8, k [16, 32], [E4m3, E5m2] => F16,   fused(25, 32, F16NearestEven), OneSource, "MMA-Sim";
    // Double precision.
    [Sm90], Mma, m 8, N8, k [4], [F64] => F64,                Datapath::FmaChain, Measured, PROBED;
    [Sm80], Mma, m 8, N8, k [4], [F64] => F64,                Datapath::FmaChain, OneSource, "MMA-Sim, PTX";
    [Sm86, Sm89, Sm100, Sm120], Mma, m 8, N8, k [4], [F64] => F64, Datapath::FmaChain, VendorDocument, "PTX";
    [Sm90], Mma, m 16, N8, k [4, 8, 16], [F64] => F64,        Datapath::FmaChain, Measured, PROBED;
    [Sm100, Sm120], Mma, m 16, N8, k [4, 8, 16], [F64] => F64, Datapath::FmaChain, VendorDocument, "PTX";
};
