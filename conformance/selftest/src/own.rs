//! A plain SpMM and SpMV of the catalogue's own, each step a function that a bug can take the place of.
//!
//! ```text
//! op(A) --gather--> rows of (k, a) --input--> terms a * b of one element --sum--> acc --finish--> y --round--> bits
//! ```
//!
//! Declared: a fused chain in ascending order from +0, `MulThenAdd`, tf32 operands rounded as `rna`. [`HONEST`] does just
//! that, bit for bit, in every format; a bug is `StepKernel { sum: wrong, ..HONEST }`.

use super::dense::offset;
use super::request::left_of;
use sparse_conformance_core::backend::Failure;
use sparse_oracle::arithmetic::{Arithmetic, Input, Reduction};
use sparse_oracle::contract::{Contract, Types};
use sparse_oracle::each_precision;
use sparse_oracle::format::AnySparse;
use sparse_oracle::model::chain::Unit;
use sparse_oracle::op;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Precision, Rounding, Scalar, decode, encode};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, Task};

/// Rows of op(A): (inner index, value) in the order of summation.
pub type Lanes = Vec<Vec<(u32, f64)>>;

/// What one step is told about the element that it works on.
#[derive(Clone, Copy, Debug)]
pub struct StepInput {
    /// Operations of the accumulator.
    pub unit: Unit,
    /// Element types of the contract.
    pub types: Types,
    /// Row and column.
    pub at: (usize, usize),
    /// Rows and columns of C.
    pub shape: (usize, usize),
    /// Factors.
    pub factors: (f64, f64),
    /// What C holds there (decoded, whatever beta is).
    pub c: f64,
}

/// A product by steps.
#[derive(Clone, Copy, Debug)]
pub struct StepKernel {
    /// Type of the accumulator.
    pub acc: fn(Types) -> Precision,
    /// Rows of op(A), from the stored matrix.
    pub gather: fn(&AnySparse, bool) -> Lanes,
    /// What becomes of an operand before it is multiplied: told whether it is of A.
    pub input: fn(Types, bool, f64) -> f64,
    /// The sum of an element's terms.
    pub sum: fn(&StepInput, &[(f64, f64)]) -> f64,
    /// alpha, beta and C.
    pub finish: fn(&StepInput, f64) -> f64,
    /// The result in the output type.
    pub round: fn(f64, Types) -> u64,
}

/// As declared.
pub(super) const HONEST: StepKernel = StepKernel {
    acc: |types| types.acc,
    gather: rows,
    input: |types, _, value| op::input(value, input_of(types)),
    sum: fused,
    finish: mul_then_add,
    round: |y, types| encode(y, types.out, Rounding::NearestEven),
};

fn input_of(types: Types) -> Input {
    if types.a == Precision::Tf32 { Input::Tf32Rna } else { Input::AsStored }
}

/// What [`HONEST`] declares.
pub(super) fn declared(contract: &Contract) -> Arithmetic {
    let types = contract.types;
    Arithmetic::chain(Reduction::FmaChain, types.acc, types.out).input(input_of(types))
}

/// Rows of op(A), columns ascending, duplicates summed.
pub(super) fn rows(a: &AnySparse, transposed: bool) -> Lanes {
    let (rows, cols) = a.shape();
    let mut lanes: Lanes = vec![Vec::new(); if transposed { cols } else { rows }];
    sparse_oracle::each_sparse!(a, m => for e in &m.entries().list {
        let (row, k) = if transposed { (e.col, e.row) } else { (e.row, e.col) };
        lanes[row as usize].push((k, e.value.to_f64()));
    });
    lanes
}

/// `fma(a, b, acc)` from +0.
pub(super) fn fused(site: &StepInput, terms: &[(f64, f64)]) -> f64 {
    terms.iter().fold(0.0, |acc, &(a, b)| site.unit.fma(a, b, acc))
}

/// `round(alpha * s) + round(beta * c)`; C is not read where beta is 0.
pub(super) fn mul_then_add(site: &StepInput, s: f64) -> f64 {
    let (alpha, beta) = site.factors;
    let scaled = |factor: f64, v: f64| {
        if factor == 1.0 { v } else { site.unit.mul(factor, v) }
    };
    match (alpha == 0.0, beta == 0.0) {
        (true, true) => 0.0,
        (true, false) => scaled(beta, site.c),
        (false, true) => scaled(alpha, s),
        (false, false) => site.unit.add(scaled(alpha, s), scaled(beta, site.c)),
    }
}

/// Element (k, j) of op(B).
fn element(b: &DenseRef<'_>, transposed: bool, k: usize, j: usize) -> f64 {
    let (k, j) = if transposed { (j, k) } else { (k, j) };
    let bits = b.data.bits(offset(b.layout, b.ld, k, j));
    decode(bits, b.data.precision())
}

impl StepKernel {
    /// Computes a legal SpMM or SpMV.
    ///
    /// # Errors
    /// Any other request.
    pub(super) fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let (a, transposed) = left_of(&task);
        let lanes = (self.gather)(a, transposed);
        self.run_over(contract, task, &lanes)
    }

    /// As [`run`](Self::run), over these rows of op(A).
    ///
    /// # Errors
    /// Any other request.
    pub(super) fn run_over(
        &self,
        contract: &Contract,
        task: Task<'_>,
        lanes: &Lanes,
    ) -> Result<Answer, Failure> {
        let (inputs, output) = task.into_parts();
        let (Some(b), Some(c), true) = (inputs.b, output, inputs.op.updates()) else {
            return Err("this kernel computes SpMM and SpMV".into());
        };
        self.product(contract.types, lanes, (b, inputs.transpose_b), (inputs.alpha, inputs.beta), c);
        Ok(Answer::Written)
    }

    fn product(
        &self,
        types: Types,
        lanes: &Lanes,
        (b, transpose_b): (DenseRef<'_>, bool),
        factors: (f64, f64),
        mut c: DenseMut<'_>,
    ) {
        let unit = Unit { precision: (self.acc)(types) };
        let inner = if transpose_b { b.cols } else { b.rows };
        let mut terms = Vec::new();
        for (i, lane) in lanes.iter().enumerate().take(c.rows) {
            for j in 0..c.cols {
                terms.clear();
                // An index that a wrong step made up may lie outside; it reads nothing.
                terms.extend(lane.iter().filter(|(k, _)| (*k as usize) < inner).map(|&(k, value)| {
                    let b = element(&b, transpose_b, k as usize, j);
                    ((self.input)(types, true, value), (self.input)(types, false, b))
                }));
                let at = offset(c.layout, c.ld, i, j);
                let held = each_precision!(AnySliceMut, &c.data, s => s[at].to_f64());
                let site = StepInput { unit, types, at: (i, j), shape: (c.rows, c.cols), factors, c: held };
                let y = (self.finish)(&site, (self.sum)(&site, &terms));
                let bits = (self.round)(y, types);
                each_precision!(AnySliceMut, &mut c.data, s => s[at] = Scalar::from_bits64(bits));
            }
        }
    }
}
