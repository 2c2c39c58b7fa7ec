//! Kernels written for these tests, on the machine's own f64 and f32 and on `half`'s f16 and bf16: nothing of the
//! crate's rounding, models or bounds is used.

#![allow(dead_code, reason = "each test binary uses a part of it, some all")]

use half::{bf16, f16};
use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Epilogue, Init};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::judge::{Accepted, Problem, Rule};
use sparse_oracle::profile::Profile;
use sparse_oracle::source::random::Random;

/// A floating-point unit of one type. Operands and results travel as the f64 that embeds them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fpu(pub(crate) Precision);

/// How a simulated kernel reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Ascending, one fma per term.
    Fused,
    /// Ascending, product and sum rounded.
    Separate,
    /// Rounded products, summed by a random binary tree.
    Tree,
    /// Random order; each step fused or not at random.
    Mixed,
}

impl Way {
    pub(crate) const ALL: [Way; 4] = [Way::Fused, Way::Separate, Way::Tree, Way::Mixed];
}

/// Nearest f32 with any inexactness kept in its last bit, so that a second rounding is harmless.
fn odd_f32(v: f64) -> f32 {
    let near = v as f32;
    if f64::from(near) == v || near.is_nan() {
        return near;
    }
    let bits = if f64::from(near).abs() > v.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f32::from_bits(bits | 1)
}

/// `a + b` in f64, inexactness kept in the last bit; no overflow.
fn odd_sum(a: f64, b: f64) -> f64 {
    let s = a + b;
    let from_b = s - a;
    let rest = (a - (s - from_b)) + (b - from_b);
    if rest == 0.0 || !s.is_finite() {
        return s;
    }
    let away = (rest > 0.0) != (s > 0.0);
    f64::from_bits((s.to_bits() - u64::from(away)) | 1)
}

impl Fpu {
    fn f16(exact: f64) -> f64 {
        f64::from(f16::from_f32(odd_f32(exact)).to_f32())
    }

    fn bf16(exact: f64) -> f64 {
        f64::from(bf16::from_f32(odd_f32(exact)).to_f32())
    }

    pub(crate) fn mul(self, a: f64, b: f64) -> f64 {
        match self.0 {
            Precision::F64 => a * b,
            Precision::F32 => f64::from(a as f32 * b as f32),
            Precision::F16 => Fpu::f16(a * b),
            Precision::Bf16 => Fpu::bf16(a * b),
            other => panic!("no unit of {other}"),
        }
    }

    pub(crate) fn add(self, a: f64, b: f64) -> f64 {
        match self.0 {
            Precision::F64 => a + b,
            Precision::F32 => f64::from(a as f32 + b as f32),
            // 40 bits at most: exact in f64.
            Precision::F16 => Fpu::f16(a + b),
            Precision::Bf16 => Fpu::bf16(odd_sum(a, b)),
            other => panic!("no unit of {other}"),
        }
    }

    pub(crate) fn fma(self, a: f64, b: f64, c: f64) -> f64 {
        match self.0 {
            Precision::F64 => a.mul_add(b, c),
            Precision::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
            Precision::F16 => Fpu::f16(odd_sum(a * b, c)),
            Precision::Bf16 => Fpu::bf16(odd_sum(a * b, c)),
            other => panic!("no unit of {other}"),
        }
    }
}

/// The bits of `value` (of the accumulator's type) in the output type.
pub(crate) fn store(value: f64, out: Precision) -> u64 {
    match out {
        Precision::F64 => value.to_bits(),
        Precision::F32 => u64::from((value as f32).to_bits()),
        Precision::F16 => u64::from(f16::from_f32(odd_f32(value)).to_bits()),
        Precision::Bf16 => u64::from(bf16::from_f32(odd_f32(value)).to_bits()),
        other => panic!("no output of {other}"),
    }
}

/// What the judge accepts for one output element with these terms.
pub(crate) fn accepts(
    arithmetic: &Arithmetic,
    terms: &[(f64, f64)],
    scaling: (f64, f64),
    c: f64,
) -> Accepted {
    let n = terms.len();
    let a = Csr::try_new(CsrParts {
        rows: 1,
        cols: n,
        row_ptr: vec![0, n as u32],
        col_idx: (0..n as u32).collect(),
        values: terms.iter().map(|t| t.0).collect(),
    });
    let (a, b) = (a.expect("one row"), Dense::from_fn(n, 1, |k, _| terms[k].1));
    let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
    let (profile, other_max) = (Profile::default(), problem.other_max(arithmetic.epilogue));
    let mut rule = Rule::new(arithmetic, &profile, scaling.0, scaling.1, other_max);
    let mut accepted = None;
    let visited = problem.for_each(&mut |site| accepted = Some(rule.accepts(site, c)));
    visited.expect("the operands fit");
    accepted.expect("one element")
}

/// One output element, computed as `arithmetic` declares, its reduction by `way`.
pub(crate) fn simulate(
    arithmetic: &Arithmetic,
    way: Way,
    terms: &[(f64, f64)],
    (alpha, beta): (f64, f64),
    c: f64,
    random: &mut Random,
) -> u64 {
    let fpu = Fpu(arithmetic.part().acc);
    let addend = || if beta == 1.0 { c } else { fpu.mul(beta, c) };
    if alpha == 0.0 {
        return store(if beta == 0.0 { 0.0 } else { addend() }, arithmetic.out);
    }
    let start = if arithmetic.part().init == Init::C && beta != 0.0 { addend() } else { 0.0 };
    let fold = |v: f64| if alpha == 1.0 { v } else { fpu.mul(alpha, v) };
    let mut terms: Vec<(f64, f64)> = terms
        .iter()
        .map(|&(a, b)| match arithmetic.epilogue {
            Epilogue::AlphaIntoA => (fold(a), b),
            Epilogue::AlphaIntoB => (a, fold(b)),
            _ => (a, b),
        })
        .collect();
    let acc = match way {
        Way::Fused => terms.iter().fold(start, |acc, &(a, b)| fpu.fma(a, b, acc)),
        Way::Separate => terms.iter().fold(start, |acc, &(a, b)| fpu.add(acc, fpu.mul(a, b))),
        Way::Mixed => {
            random.shuffle(&mut terms);
            terms.iter().fold(start, |acc, &(a, b)| {
                if random.below(2) == 0 { fpu.fma(a, b, acc) } else { fpu.add(acc, fpu.mul(a, b)) }
            })
        }
        Way::Tree => {
            let mut parts: Vec<f64> = terms.iter().map(|&(a, b)| fpu.mul(a, b)).collect();
            if arithmetic.part().init == Init::C {
                parts.push(start);
            }
            while parts.len() > 1 {
                let left = parts.swap_remove(random.below(parts.len() as u64) as usize);
                let right = parts.swap_remove(random.below(parts.len() as u64) as usize);
                parts.push(fpu.add(left, right));
            }
            parts.pop().unwrap_or(start)
        }
    };
    let scaled = || if alpha == 1.0 { acc } else { fpu.mul(alpha, acc) };
    let result = match arithmetic.epilogue {
        Epilogue::None | Epilogue::AlphaIntoA | Epilogue::AlphaIntoB => acc,
        _ if beta == 0.0 => scaled(),
        Epilogue::MulThenFma => fpu.fma(beta, c, scaled()),
        Epilogue::MulThenAdd => fpu.add(scaled(), addend()),
    };
    store(result, arithmetic.out)
}
