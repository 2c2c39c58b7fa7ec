//! What an instruction may compute: the model, and those it is told apart from.
//!
//! ```text
//! subject -> model (table of the oracle, or the instruction's machine code where the table has none)
//!         -> alternatives, one clause changed each: F, links, floor, rounding, order, places of metadata
//! ```

use super::layout::{Metadata, chunks, documented};
use sparse_kernels::cuda::probe::{Conversion, Probe, Variant};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Architecture, Engine, Instruction};
use sparse_oracle::model::tensor_core::{Datapath, FinalRounding, FusedSum, TensorCore};

/// What is probed, on which architecture.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The kernel.
    pub probe: Probe,
    /// The device's architecture.
    pub architecture: Architecture,
}

/// The order of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the datapath takes them.
    Own,
    /// The second half first: of fp8 pairs, those with k % 4 in {2, 3}.
    HalvesSwapped,
    /// Backwards.
    Descending,
}

/// One way to compute the outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What it says, in words.
    pub name: String,
    /// The arithmetic; none for conversions.
    pub path: Option<Datapath>,
    /// The order in which its products come.
    pub order: Order,
    /// Places of metadata.
    pub metadata: Metadata,
}

impl Subject {
    /// The oracle's own model, if its table has the instruction with these types.
    #[must_use]
    pub fn core(&self) -> Option<TensorCore> {
        match self.probe {
            Probe::Matrix { instruction, b, .. } if b == instruction.input => {
                TensorCore::new(self.architecture, instruction).ok()
            }
            _ => None,
        }
    }

    /// True where the instruction's meaning is documented for all operands given: a mismatch is a finding.
    #[must_use]
    pub const fn is_defined(&self) -> bool {
        !matches!(self.probe, Probe::Matrix { variant: Variant::Unordered, .. })
    }

    /// True where NaN results are compared bit for bit; else only that both are NaN, and the patterns are listed.
    #[must_use]
    pub fn fixes_nan(&self) -> bool {
        match self.probe {
            Probe::Matrix { instruction, .. } => instruction.acc != Precision::F64,
            Probe::Convert(c) => matches!(c, Conversion::Rna | Conversion::RnaSatfinite),
        }
    }

    /// The model first, then the alternatives.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        let Probe::Matrix { instruction, b, .. } = self.probe else {
            return vec![Candidate {
                name: "model: scalar::Tf32 and its roundings".to_owned(),
                path: None,
                order: Order::Own,
                metadata: Metadata::HalvesAreRows,
            }];
        };
        let (path, source) = self.model(&instruction, b);
        let model = Candidate {
            name: format!("model: {} ({source})", describe(&path)),
            path: Some(path),
            order: Order::Own,
            metadata: documented(instruction.input),
        };
        let mut all = vec![model.clone()];
        let mut push = |name: String, change: &dyn Fn(&mut Candidate)| {
            let mut other = Candidate { name, ..model.clone() };
            change(&mut other);
            if all.iter().all(|c| (c.path, c.order, c.metadata) != (other.path, other.order, other.metadata))
            {
                all.push(other);
            }
        };
        for (name, path) in alternatives(&path, instruction.products()) {
            push(name, &|c| c.path = Some(path));
        }
        if let Datapath::HalfPairs(_) = path {
            push("k % 4 in {2, 3} first".to_owned(), &|c| {
                c.order = Order::HalvesSwapped;
            });
            let native = native_fp8(instruction.acc, instruction.products());
            push(format!("native fp8: {}", describe(&native)), &|c| {
                c.path = Some(native);
            });
        }
        if path == Datapath::FmaChain {
            push("descending k".to_owned(), &|c| c.order = Order::Descending);
            push("upper half of k first".to_owned(), &|c| {
                c.order = Order::HalvesSwapped;
            });
        }
        // Four chunks of a row lie in one half of one word: nothing to confuse.
        if instruction.engine.is_sparse() && chunks(&instruction) > 4 {
            let other = match documented(instruction.input) {
                Metadata::HalvesAreRows => Metadata::HalvesAreColumns,
                Metadata::HalvesAreColumns => Metadata::HalvesAreRows,
            };
            push(format!("metadata words: {other:?}"), &|c| c.metadata = other);
        }
        all
    }

    /// The expected arithmetic and who says so.
    fn model(&self, i: &Instruction, b: Precision) -> (Datapath, &'static str) {
        if let Some(core) = self.core() {
            return (core.datapath(), "the oracle's table");
        }
        // Mixed fp8 types run on the unit of equal ones.
        let equal = (b != i.input).then(|| TensorCore::new(self.architecture, *i).ok()).flatten();
        if let Some(core) = equal {
            return (core.datapath(), "as equal types");
        }
        if i.input == Precision::F64 {
            return (Datapath::FmaChain, "PTX ISA");
        }
        let fp8 = i.input.bytes() == 1;
        let warp = matches!(i.engine, Engine::Mma | Engine::MmaSparse);
        if fp8 && warp {
            // ptxas 13.0 for sm_90a: F2FP.UNPACK_B, two HMMA (HMMA.SP) from RZ, FADD or HADD2.
            return (Datapath::HalfPairs(hopper(i.acc, 16)), "its machine code for sm_90a");
        }
        let path =
            if fp8 { native_fp8(i.acc, i.products()) } else { Datapath::Fused(hopper(i.acc, i.products())) };
        (path, "hypothesis")
    }
}

fn hopper(acc: Precision, products: usize) -> FusedSum {
    let (zero_exponent, output) = match acc {
        Precision::F16 => (-21, FinalRounding::F16NearestEven),
        _ => (-133, FinalRounding::F32TowardZero),
    };
    FusedSum { fraction: 25, products, zero_exponent, output }
}

fn native_fp8(acc: Precision, products: usize) -> Datapath {
    let mut sum = hopper(acc, products);
    sum.fraction = 13;
    if acc != Precision::F16 {
        sum.output = FinalRounding::E8m13TowardZero;
    }
    Datapath::Fused(sum)
}

/// One clause changed each.
fn alternatives(path: &Datapath, products: usize) -> Vec<(String, Datapath)> {
    let (sum, wrap): (FusedSum, fn(FusedSum) -> Datapath) = match *path {
        Datapath::Fused(sum) => (sum, Datapath::Fused),
        Datapath::HalfPairs(sum) => (sum, Datapath::HalfPairs),
        Datapath::FmaChain => return Vec::new(),
    };
    let fused = sum.products.min(products);
    let mut all = Vec::new();
    let mut push = |name: String, other: FusedSum| all.push((name, wrap(other)));
    for fraction in [sum.fraction - 1, sum.fraction + 1] {
        push(format!("F = {fraction}"), FusedSum { fraction, ..sum });
    }
    if fused > 1 && matches!(path, Datapath::Fused(_)) {
        let half = FusedSum { products: fused / 2, ..sum };
        push(format!("links of {} products", fused / 2), half);
    }
    for zero_exponent in [sum.zero_exponent - 1, sum.zero_exponent + 1, -1000] {
        push(format!("e_zero = {zero_exponent}"), FusedSum { zero_exponent, ..sum });
    }
    if sum.output == FinalRounding::E8m13TowardZero {
        let output = FinalRounding::F32TowardZero;
        push("24 significant bits returned".to_owned(), FusedSum { output, ..sum });
    }
    all
}

/// The arithmetic in a few words.
pub(super) fn describe(path: &Datapath) -> String {
    let sum = |s: &FusedSum| {
        format!("F = {}, L <= {}, e_zero = {}, {:?}", s.fraction, s.products, s.zero_exponent, s.output)
    };
    match path {
        Datapath::Fused(s) => format!("fused sums, {}", sum(s)),
        Datapath::HalfPairs(s) => format!(
            "two f16 sums from +0 (k % 4 in {{0, 1}}, then {{2, 3}}), then an IEEE addition; {}",
            sum(s)
        ),
        Datapath::FmaChain => "IEEE fma, ascending k".to_owned(),
    }
}
