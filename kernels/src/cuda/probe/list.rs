//! Which instructions and variants are probed on `sm_90`.

use super::{Conversion, Probe, Variant};
use sparse_types::Precision;
use sparse_types::Precision::{Bf16, E4m3, E5m2, F16, F32, F64, Tf32};
use sparse_types::arithmetic::{Engine, Instruction};

/// (acc, a, b) of fp8 instructions, mixed ones too.
const FP8: [(Precision, Precision, Precision); 6] = [
    (F32, E4m3, E4m3),
    (F32, E5m2, E5m2),
    (F32, E4m3, E5m2),
    (F16, E4m3, E4m3),
    (F16, E5m2, E5m2),
    (F16, E5m2, E4m3),
];

/// Every probe for Hopper. Those that nobody is known to have run come last: a fault ends the context.
#[must_use]
pub fn sm90() -> Vec<Probe> {
    let mut all = dense();
    all.extend(sparse());
    all.extend(Conversion::ALL.map(Probe::Convert));
    all.extend(warpgroup());
    all.extend(warpgroup_sparse());
    all.extend(unordered());
    all
}

fn dense() -> Vec<Probe> {
    let mut all = Vec::new();
    let mut push = |k, acc, a, b, m| {
        all.push(Probe::Matrix {
            instruction: Instruction::mma((m, 8, k), acc, a),
            b,
            variant: Variant::Plain,
        });
    };
    for k in [8, 16] {
        for (acc, input) in [(F32, F16), (F16, F16), (F32, Bf16)] {
            push(k, acc, input, input, 16);
        }
    }
    for k in [4, 8] {
        push(k, F32, Tf32, Tf32, 16);
    }
    for k in [32, 16] {
        for (acc, a, b) in FP8 {
            push(k, acc, a, b, 16);
        }
    }
    push(4, F64, F64, F64, 8);
    for k in [4, 8, 16] {
        push(k, F64, F64, F64, 16);
    }
    all
}

fn sparse() -> Vec<Probe> {
    let mut all = Vec::new();
    let mut push = |k, acc, a, b, variant| {
        let instruction = Instruction::mma((16, 8, k), acc, a).engine(Engine::MmaSparse);
        all.push(Probe::Matrix { instruction, b, variant });
    };
    for (acc, input) in [(F32, F16), (F16, F16), (F32, Bf16)] {
        for selector in 0..4 {
            push(16, acc, input, input, Variant::Selector(selector));
        }
        for selector in 0..2 {
            push(32, acc, input, input, Variant::Selector(selector));
        }
    }
    for selector in 0..4 {
        push(8, F32, Tf32, Tf32, Variant::Selector(selector));
    }
    for selector in 0..2 {
        push(16, F32, Tf32, Tf32, Variant::Selector(selector));
    }
    // ptxas refuses the f16 accumulator of sparse fp8 on sm_90a.
    for (acc, a, b) in FP8.into_iter().filter(|(acc, ..)| *acc == F32) {
        push(64, acc, a, b, Variant::Selector(0));
    }
    all
}

/// Metadata that the PTX ISA does not define: equal and descending indices.
fn unordered() -> Vec<Probe> {
    let of = |k| Instruction::mma((16, 8, k), F32, F16).engine(Engine::MmaSparse);
    [16, 32].map(|k| Probe::matrix(of(k), Variant::Unordered)).to_vec()
}

/// (k, acc, a, b) of dense warpgroup instructions; sparse ones have twice the k.
const GROUP: [(u16, Precision, Precision, Precision); 10] = [
    (16, F32, F16, F16),
    (16, F16, F16, F16),
    (16, F32, Bf16, Bf16),
    (8, F32, Tf32, Tf32),
    (32, F32, E4m3, E4m3),
    (32, F32, E5m2, E5m2),
    (32, F32, E4m3, E5m2),
    (32, F16, E4m3, E4m3),
    (32, F16, E5m2, E5m2),
    (32, F16, E5m2, E4m3),
];

fn warpgroup() -> Vec<Probe> {
    let negated = |a, b| Variant::Negate { a, b };
    let mut all = Vec::new();
    for (k, acc, a, b) in GROUP {
        let instruction = Instruction::mma((64, 8, k), acc, a).engine(Engine::Wgmma);
        let mut variants = vec![Variant::Plain];
        if a == b {
            variants.extend([Variant::WithoutC, negated(true, false)]);
        }
        if a == F16 {
            variants.extend([negated(false, true), negated(true, true)]);
        }
        all.extend(variants.into_iter().map(|variant| Probe::Matrix { instruction, b, variant }));
    }
    all
}

fn warpgroup_sparse() -> Vec<Probe> {
    let mut all = Vec::new();
    for (k, acc, a, b) in GROUP {
        let instruction = Instruction::mma((64, 8, 2 * k), acc, a).engine(Engine::WgmmaSparse);
        // Two of the four lanes of a quad hold the metadata of 16- and 32-bit types, all four that of fp8.
        let selectors = if a.bytes() == 1 { 1 } else { 2 };
        all.extend((0..selectors).map(|s| Probe::Matrix { instruction, b, variant: Variant::Selector(s) }));
    }
    all
}
