//! Targets that compute: SpMM, SpMV, SDDMM and SpGEMM kernels on small operands, judged by the oracle.

use super::FuzzOutcome;
use super::input::Input;
use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::{Case, Filling, Params};
use sparse_conformance_core::operands::{DenseOperand, Operands};
use sparse_conformance_core::origin::Origin;
use sparse_conformance_core::runner::judge_operands;
use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::{Contract, Op, all_contracts};
use sparse_oracle::each_sparse;
use sparse_oracle::format::{AnySparse, Coo, CooParts, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{Precision, Scalar, Values, decode};
use sparse_oracle::task::{Answer, SddmmMode, Task};
use sparse_oracle::verdict::Verdict;
use sparse_oracle::with_scalar;
use std::sync::LazyLock;
use std::time::Duration;

/// Largest extent of an operand: the judge is exact, and slow.
pub(super) const EXTENT: usize = 12;

/// alpha and beta: numbers of every accumulator type.
const FACTORS: [f64; 8] = [1.0, 0.0, -1.0, 0.5, -2.0, 3.0, 0.25, -0.0];

/// The contracts of some operations, in the order of the table.
pub(super) fn contracts(ops: &[Op]) -> Vec<Contract> {
    all_contracts().iter().copied().filter(|c| ops.contains(&c.op)).collect()
}

/// Every SpMM and SpMV contract.
///
/// # Panics
/// When a kernel's result is a finding.
pub fn spmm_differential(bytes: &[u8]) -> FuzzOutcome {
    static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| contracts(&[Op::Spmm, Op::Spmv]));
    let mut input = Input::new(bytes);
    let contract = input.pick_wide(&CONTRACTS);
    let spmv = contract.op == Op::Spmv;
    let mut params = shape(&mut input, contract);
    params.alpha = input.pick(&FACTORS);
    params.beta = input.pick(&[0.0, 1.0, 0.5, -2.0, -1.0]);
    params.transpose_a = input.one_in(3);
    params.transpose_b = !spmv && input.one_in(3);
    params.layout_c = layout(&mut input);
    params.pad_c = if spmv { 0 } else { input.below(3) };
    let Ok(a) = sparse(&mut input, contract.types.a, contract.format, params.blocks) else {
        return FuzzOutcome::Refused;
    };
    let (rows, cols) = a.shape();
    let (m, k) = if params.transpose_a { (cols, rows) } else { (rows, cols) };
    let b = match (spmv, params.transpose_b) {
        (true, _) => dense(&mut input, (k, 1), &Params::default(), contract.types.b),
        (_, true) => dense(&mut input, (params.n, k), &params, contract.types.b),
        _ => dense(&mut input, (k, params.n), &params, contract.types.b),
    };
    let result = (m, if spmv { 1 } else { params.n });
    let case = case(contract, params);
    let count = result.0 * result.1;
    let c = if case.reads_c() {
        [(); 2].map(|()| numbers(&mut input, count, contract.types.out))
    } else {
        [vec![1.5; count], vec![-2.5; count]]
    };
    let operands = Operands { a, b_sparse: None, b: Some(b), y: None, result, c, earlier: Vec::new() };
    judged(&case, &operands)
}

/// Every SDDMM contract.
///
/// # Panics
/// When a kernel's result is a finding.
pub fn sddmm_differential(bytes: &[u8]) -> FuzzOutcome {
    static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| contracts(&[Op::Sddmm]));
    let mut input = Input::new(bytes);
    let contract = input.pick_wide(&CONTRACTS);
    let mut params = shape(&mut input, contract);
    params.mode = input.pick(&[SddmmMode::Pattern, SddmmMode::Scale, SddmmMode::AddS]);
    if params.mode != SddmmMode::Scale {
        params.alpha = input.pick(&FACTORS);
    }
    if params.mode == SddmmMode::AddS {
        params.beta = input.pick(&FACTORS);
    }
    let Ok(a) = sparse(&mut input, contract.types.out, contract.format, params.blocks) else {
        return FuzzOutcome::Refused;
    };
    let (rows, cols) = a.shape();
    let b = dense(&mut input, (rows, params.n), &params, contract.types.a);
    let y = dense(&mut input, (cols, params.n), &params, contract.types.b);
    let stored = each_sparse!(&a, m => match m {
        Sparse::Coo(m) => m.row_idx.len(),
        other => other.nnz(),
    });
    let operands = Operands {
        a,
        b_sparse: None,
        b: Some(b),
        y: Some(y),
        result: (stored, 1),
        c: [Vec::new(), Vec::new()],
        earlier: Vec::new(),
    };
    judged(&case(contract, params), &operands)
}

/// Every SpGEMM contract.
///
/// # Panics
/// When a kernel's result is a finding.
pub fn spgemm_differential(bytes: &[u8]) -> FuzzOutcome {
    static CONTRACTS: LazyLock<Vec<Contract>> = LazyLock::new(|| contracts(&[Op::Spgemm]));
    let mut input = Input::new(bytes);
    let contract = input.pick_wide(&CONTRACTS);
    let params = Params::default();
    let Ok(a) = sparse(&mut input, contract.types.a, contract.format, params.blocks) else {
        return FuzzOutcome::Refused;
    };
    // B's shape is drawn like A's; its rows are then those that A needs.
    let b = with_scalar!(contract.types.b, T => {
        let mut entries = input.entries::<T>(EXTENT).map(|&v| quiet(v));
        entries.rows = a.shape().1;
        entries.list.retain(|e| (e.row as usize) < entries.rows);
        Sparse::from_entries(contract.format, params.blocks, &entries).map(AnySparse::from)
    });
    let Ok(b) = b else {
        return FuzzOutcome::Refused;
    };
    let operands = Operands {
        result: (a.shape().0, b.shape().1),
        a,
        b_sparse: Some(b),
        b: None,
        y: None,
        c: [Vec::new(), Vec::new()],
        earlier: Vec::new(),
    };
    judged(&case(contract, params), &operands)
}

/// What products share: n, block shape, layout of B.
fn shape(input: &mut Input<'_>, contract: Contract) -> Params {
    Params {
        n: input.below(EXTENT - 2),
        blocks: input.params(&[contract.format]),
        layout_b: layout(input),
        pad_b: input.below(3),
        ..Params::default()
    }
}

fn layout(input: &mut Input<'_>) -> Layout {
    input.pick(&[Layout::RowMajor, Layout::ColMajor])
}

fn case(contract: Contract, mut params: Params) -> Case {
    params.duplicates = contract.format == FormatKind::Coo;
    if contract.op == Op::Spmv {
        (params.n, params.layout_b, params.pad_b) = (1, Layout::RowMajor, 0);
    }
    Case {
        contract,
        // Says where it comes from; operands are given, not loaded.
        origin: Origin::Embedded("fuzz".to_owned()),
        filling: Filling::Own(0),
        params,
    }
}

/// A sparse operand; COO in any order, with duplicates.
fn sparse(
    input: &mut Input<'_>,
    precision: Precision,
    format: FormatKind,
    blocks: FormatParams,
) -> Result<AnySparse, Refusal> {
    with_scalar!(precision, T => {
        if format == FormatKind::Coo {
            let mut parts = triples::<T>(input, EXTENT);
            parts.values.iter_mut().for_each(|v| *v = quiet(*v));
            return Ok(Sparse::Coo(Coo::try_new(parts)?).into());
        }
        let entries = input.entries::<T>(EXTENT).map(|&v| quiet(v));
        Sparse::from_entries(format, blocks, &entries).map(AnySparse::from)
    })
}

/// Any triples inside the shape.
pub(super) fn triples<T: Scalar>(input: &mut Input<'_>, side: usize) -> CooParts<T> {
    let (rows, cols) = (input.below(side + 1), input.below(side + 1));
    let count = if rows * cols == 0 { 0 } else { input.below(49) };
    let mut parts = CooParts { rows, cols, ..CooParts::default() };
    for _ in 0..count {
        if input.is_empty() {
            break;
        }
        parts.row_idx.push(input.below(rows) as u32);
        parts.col_idx.push(input.below(cols) as u32);
        parts.values.push(T::from_bits64(input.value(T::PRECISION)));
    }
    parts
}

/// The canonical NaN for every NaN: operands never carry the payload that marks what was not written.
fn quiet<T: Scalar>(value: T) -> T {
    if value.to_f64().is_nan() { T::from_f64(f64::NAN) } else { value }
}

/// A dense operand with NaN in its padding.
fn dense(
    input: &mut Input<'_>,
    (rows, cols): (usize, usize),
    params: &Params,
    precision: Precision,
) -> DenseOperand {
    let layout = params.layout_b;
    let (outer, inner) = if layout == Layout::RowMajor { (rows, cols) } else { (cols, rows) };
    let ld = inner + params.pad_b;
    let mut data = vec![f64::NAN; outer * ld];
    for lane in data.chunks_exact_mut(ld.max(1)) {
        lane[..inner].copy_from_slice(&numbers(input, inner, precision));
    }
    DenseOperand { rows, cols, ld, layout, data: Values::from_f64(precision, &data).into() }
}

/// Numbers that are elements of a type. Past the last byte they alternate, so that short inputs are no zeros.
fn numbers(input: &mut Input<'_>, count: usize, precision: Precision) -> Vec<f64> {
    let number = |i: usize| {
        if input.is_empty() { [1.0, 2.0, -1.0][i % 3] } else { decode(input.value(precision), precision) }
    };
    (0..count).map(number).collect()
}

/// Runs every kernel of the case's contract and judges what it gives.
pub(super) fn judged(case: &Case, operands: &Operands) -> FuzzOutcome {
    let (mut outcome, mut spent) = (FuzzOutcome::Refused, Duration::ZERO);
    for kernel in kernels_here().filter(|k| k.contract == case.contract) {
        let judged = judge_operands(case, operands, &OneKernel(kernel), &mut spent);
        assert!(!judged.verdict.is_finding(), "{}: {:?}\n{case}\n{operands:?}", kernel.name, judged.verdict);
        if matches!(judged.verdict, Verdict::Exact | Verdict::Within { .. }) {
            outcome = FuzzOutcome::Accepted;
        }
    }
    outcome
}

/// A kernel as a backend.
struct OneKernel(&'static Kernel);

impl Backend for OneKernel {
    fn name(&self) -> &'static str {
        &self.0.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn description(&self) -> &'static str {
        "one kernel"
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        if *contract == self.0.contract {
            Support::Supported { arithmetic: self.0.arithmetic, profile: Profile::default() }
        } else {
            Support::Excluded { reason: "another contract".into() }
        }
    }

    fn run(&self, _contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        (self.0.run)(task).map_err(|refusal| refusal.to_string().into())
    }
}
