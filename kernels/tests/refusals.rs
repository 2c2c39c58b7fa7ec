//! Everything that a product kernel must refuse: typed, before the output is touched, never a panic.

use crate::support;
use sparse_oracle::prelude::*;

use sparse_kernels::{Kernel, kernels_here};
use sparse_oracle::contract::{Contract, Extent, Op, Operand, Returned};
use sparse_oracle::format::{AnySparse, FormatKind, FormatParams, Layout};
use sparse_oracle::refusal::{Refusal, RequestError};
use sparse_oracle::scalar::{Precision, Values};
use sparse_oracle::task::{Inputs, SddmmMode, Task};
use support::{Dense, Rng, coo, encode, entries, fitting};

const M: usize = 3;
const K: usize = 4;
const N: usize = 2;

/// A legal request of every kind, to be broken in one place.
struct Operands {
    a: AnySparse,
    b: Dense,
    y: Dense,
    c: Dense,
    sparse_b: AnySparse,
    alpha: f64,
    beta: f64,
    transpose_a: bool,
    mode: SddmmMode,
}

/// What an operation does not have is as in others, whose tasks are asked of its kernels too.
fn operands(kernel: &Kernel, rng: &mut Rng) -> Operands {
    let Contract { op, format, types, .. } = kernel.contract;
    let signature = op.signature();
    let mut sparse = |operand: &Operand| {
        let e = entries(rng, extent(operand.rows), extent(operand.cols), 100, Rng::integer);
        encode(rng, operand.slot.of(&types), format, FormatParams::default(), &e)
    };
    let a = sparse(&signature.sparse[0]);
    let sparse_b = sparse(signature.sparse.get(1).unwrap_or(&Op::Spgemm.signature().sparse[1]));
    let dense = |at: usize, other: Op| {
        let operand = signature.dense.get(at).unwrap_or(&other.signature().dense[at]);
        let shape = (extent(operand.rows), extent(operand.cols));
        Dense::new(operand.slot.of(&types), shape, Layout::RowMajor, 0, || 1.0)
    };
    let (b, y) = (dense(0, Op::Spmm), dense(1, Op::Sddmm));
    let shape = match signature.returned {
        Returned::Sampled => (1, a.nnz()),
        Returned::Vector => (M, 1),
        Returned::Matrix | Returned::Product | Returned::Moved => (M, N),
    };
    let c = Dense::new(types.out, shape, Layout::RowMajor, 0, || 1.0);
    Operands { a, b, y, c, sparse_b, alpha: 1.0, beta: 1.0, transpose_a: false, mode: SddmmMode::Pattern }
}

fn extent(of: Extent) -> usize {
    match of {
        Extent::M => M,
        Extent::K => K,
        Extent::N => N,
        Extent::One => 1,
    }
}

fn run(kernel: &Kernel, op: Op, o: &mut Operands) -> Result<(), Refusal> {
    let inputs = Inputs {
        b_sparse: Some(&o.sparse_b),
        b: Some(o.b.as_ref()),
        y: Some(o.y.as_ref()),
        transpose_a: o.transpose_a,
        alpha: o.alpha,
        beta: o.beta,
        mode: o.mode,
        to: Some(FormatKind::Csr),
        ..Inputs::plain(op, &o.a)
    };
    let task = Task::new(inputs, Some(o.c.as_mut())).expect("every operand is there");
    (kernel.run)(task).map(|_| ())
}

/// Breaks legal operands of every kernel of the given operations and checks the refusal.
#[track_caller]
fn refused(
    ops: &[Op],
    what: &str,
    change: impl Fn(&Kernel, &mut Operands),
    right: impl Fn(&Refusal) -> bool,
) {
    let mut rng = Rng(31);
    let mut tried = 0;
    for kernel in kernels_here().filter(|k| ops.contains(&k.contract.op)) {
        let mut o = operands(kernel, &mut rng);
        assert_eq!(
            run(kernel, kernel.contract.op, &mut o),
            Ok(()),
            "{} must take legal operands",
            kernel.name
        );
        let mut o = operands(kernel, &mut rng);
        change(kernel, &mut o);
        let before = o.c.data.clone();
        let refusal = run(kernel, kernel.contract.op, &mut o).expect_err(&kernel.name);
        assert!(right(&refusal), "{} {what}: {refusal:?}", kernel.name);
        assert_eq!(o.c.data, before, "{} wrote before it refused {what}", kernel.name);
        tried += 1;
    }
    assert!(tried > 0, "no kernel for {ops:?}");
}

/// The operations of which this holds.
fn all(what: fn(Op) -> bool) -> Vec<Op> {
    Op::ALL.into_iter().filter(|op| what(*op)).collect()
}

fn other(precision: Precision) -> Precision {
    if precision == Precision::E5m2 { Precision::E4m3 } else { Precision::E5m2 }
}

fn shorter(values: &Values, by: usize) -> Values {
    Values::from_f64(values.precision(), &vec![1.0; values.len() - by])
}

#[test]
fn factors() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(
            &all(Op::is_dense),
            "alpha",
            |_, o| o.alpha = value,
            |r| matches!(r, Refusal::Request(RequestError::NotFinite { field: "alpha", .. })),
        );
        refused(
            &all(|op| op.updates() || op.signature().has_mode),
            "beta",
            |_, o| o.beta = value,
            |r| matches!(r, Refusal::Request(RequestError::NotFinite { field: "beta", .. })),
        );
    }
    // Where S multiplies the product, alpha is 1 (SEMANTICS, clause 1.13): both used to be applied.
    refused(
        &[Op::Sddmm],
        "alpha where S multiplies",
        |_, o| (o.alpha, o.mode) = (2.0, SddmmMode::Scale),
        |r| matches!(r, Refusal::Request(RequestError::Kind { field: "alpha", .. })),
    );
    let mut rng = Rng(32);
    for kernel in kernels_here().filter(|k| k.contract.op.is_dense()) {
        let mut o = operands(kernel, &mut rng);
        o.alpha = 0.1;
        let found = run(kernel, kernel.contract.op, &mut o);
        let exact = kernel.contract.types.acc == Precision::F64;
        assert!(exact == found.is_ok(), "{}: {found:?}", kernel.name);
        assert!(
            exact || matches!(found, Err(Refusal::Request(RequestError::Kind { field: "alpha", .. }))),
            "{}: {found:?}",
            kernel.name
        );
    }
}

#[test]
fn shapes() {
    let shape = |r: &Refusal| matches!(r, Refusal::Request(RequestError::Shape { .. }));
    refused(&[Op::Spmm, Op::Spmv], "op(A)", |_, o| o.transpose_a = true, shape);
    let taller = |_: &Kernel, o: &mut Operands| {
        o.b = Dense::new(o.b.data.precision(), (o.b.rows + 1, o.b.cols), Layout::RowMajor, 0, || 1.0);
    };
    refused(&all(Op::is_dense), "a row of B too many", taller, shape);
    let wider = |_: &Kernel, o: &mut Operands| {
        o.b = Dense::new(o.b.data.precision(), (o.b.rows, o.b.cols + 1), Layout::RowMajor, 0, || 1.0);
    };
    refused(&[Op::Spmm, Op::Sddmm], "a column of B too many", wider, shape);
    let more = |_: &Kernel, o: &mut Operands| {
        o.y = Dense::new(o.y.data.precision(), (o.y.rows + 1, o.y.cols), Layout::RowMajor, 0, || 1.0);
    };
    refused(&[Op::Sddmm], "a row of Y too many", more, shape);
    let flatter = |_: &Kernel, o: &mut Operands| {
        o.c = Dense::new(o.c.data.precision(), (o.c.rows - 1, o.c.cols), Layout::RowMajor, 0, || 1.0);
    };
    refused(&[Op::Spmm, Op::Spmv], "a row of C too few", flatter, shape);
    refused(&[Op::Spgemm], "inner dimensions", |_, o| o.sparse_b = o.a.clone(), shape);
}

#[test]
fn lengths_and_leading_dimensions() {
    let length = |r: &Refusal| matches!(r, Refusal::Request(RequestError::Length { .. }));
    refused(&[Op::Spmm, Op::Sddmm], "short B", |_, o| o.b.data = shorter(&o.b.data, 1), length);
    refused(&[Op::Spmm, Op::Sddmm], "short C", |_, o| o.c.data = shorter(&o.c.data, 1), length);
    refused(&[Op::Sddmm], "short Y", |_, o| o.y.data = shorter(&o.y.data, 1), length);
    let shape = |r: &Refusal| matches!(r, Refusal::Request(RequestError::Shape { .. }));
    refused(&[Op::Spmv], "short x", |_, o| o.b.data = shorter(&o.b.data, 1), shape);
    refused(&[Op::Spmv], "short y", |_, o| o.c.data = shorter(&o.c.data, 1), shape);
    let leading = |field: &'static str| move |r: &Refusal| matches!(r, Refusal::Request(RequestError::LeadingDimension { field: found, .. }) if *found == field);
    refused(&[Op::Spmm], "ldb", |_, o| o.b.ld -= 1, leading("ldb"));
    refused(&[Op::Spmm], "ldc", |_, o| o.c.ld -= 1, leading("ldc"));
    refused(
        &[Op::Spmm],
        "ldc by columns",
        |_, o| (o.c.layout, o.c.ld) = (Layout::ColMajor, M - 1),
        leading("ldc"),
    );
    refused(&[Op::Sddmm], "ldx", |_, o| o.b.ld -= 1, leading("ldx"));
    refused(&[Op::Sddmm], "ldy", |_, o| o.y.ld -= 1, leading("ldy"));
    refused(&[Op::Spmm], "an ldb that overflows", |_, o| o.b.ld = usize::MAX, length);
    let large = |r: &Refusal| matches!(r, Refusal::Request(RequestError::TooLarge { .. }));
    refused(&[Op::Spmm], "2^32 columns", |_, o| (o.b.cols, o.b.ld) = (1 << 32, 1 << 32), large);
}

#[test]
fn kinds_and_element_types() {
    let kind = |field: &'static str| move |r: &Refusal| matches!(r, Refusal::Request(RequestError::Kind { field: found, .. }) if *found == field);
    let retyped =
        |d: &mut Dense| d.data = Values::from_f64(other(d.data.precision()), &vec![1.0; d.data.len()]);
    refused(&[Op::Spmm], "type of B", |_, o| retyped(&mut o.b), kind("B"));
    refused(&[Op::Spmv], "type of x", |_, o| retyped(&mut o.b), kind("x"));
    refused(&[Op::Sddmm], "type of X", |_, o| retyped(&mut o.b), kind("X"));
    refused(&[Op::Sddmm], "type of Y", |_, o| retyped(&mut o.y), kind("Y"));
    refused(&[Op::Spmm], "type of C", |_, o| retyped(&mut o.c), kind("C"));
    refused(&[Op::Spmv], "type of y", |_, o| retyped(&mut o.c), kind("y"));
    refused(&[Op::Sddmm], "type of out", |_, o| retyped(&mut o.c), kind("out"));
    let reformatted = |kernel: &Kernel, o: &mut Operands| {
        let next =
            FormatKind::GENERAL.into_iter().find(|f| *f != kernel.contract.format).unwrap_or(FormatKind::Csr);
        o.a = o.a.convert(next, FormatParams::default()).expect("converts");
    };
    refused(&[Op::Spmm, Op::Spmv, Op::Spgemm], "format of A", reformatted, kind("A"));
    refused(&[Op::Sddmm], "format of S", reformatted, kind("S"));
    let recast = |matrix: &AnySparse| {
        let (e, kind) = (matrix.entries_f64(), matrix.kind());
        let to = other(matrix.precision());
        // 2:4 is not defined for every type.
        let mut defined = kind.precisions().iter().copied();
        let to = defined.clone().find(|p| *p == to).or_else(|| defined.find(|p| *p != matrix.precision()));
        let to = to.expect("two types at least");
        let e = fitting(to, kind, &FormatParams::DEFAULT, &e);
        AnySparse::from_f64(to, kind, FormatParams::DEFAULT, &e).expect("encodes")
    };
    refused(&[Op::Spmm, Op::Spmv, Op::Spgemm], "type of A", |_, o| o.a = recast(&o.a), kind("A"));
    refused(&[Op::Sddmm], "type of S", |_, o| o.a = recast(&o.a), kind("S"));
    refused(&[Op::Spgemm], "type of sparse B", |_, o| o.sparse_b = recast(&o.sparse_b), kind("B"));
}

#[test]
fn tasks_of_another_operation() {
    let mut rng = Rng(33);
    for kernel in kernels_here().filter(|k| !k.contract.op.is_exact()) {
        let mut o = operands(kernel, &mut rng);
        for op in Op::ALL.into_iter().filter(|op| *op != kernel.contract.op) {
            let found = run(kernel, op, &mut o);
            assert!(
                matches!(found, Err(Refusal::Request(RequestError::Kind { field: "task", .. }))),
                "{} {op:?}: {found:?}",
                kernel.name
            );
        }
    }
}

#[test]
fn extents_that_no_operand_backs_up_cost_nothing() {
    // No column in B and C: 2^32 - 1 rows of A need no work, and no memory.
    let tall = u32::MAX as usize;
    let a = coo(Precision::F32, 3, tall, &[]);
    let kernel = sparse_kernels::registry::kernel("spmm_coo_f32_f32_f32_f32__portable").expect("registered");
    for (transpose_a, m, k) in [(false, 3, tall), (true, tall, 3)] {
        let b = Dense { rows: k, cols: 0, ld: 0, layout: Layout::RowMajor, data: Values::F32(Vec::new()) };
        let mut c =
            Dense { rows: m, cols: 0, ld: 0, layout: Layout::RowMajor, data: Values::F32(Vec::new()) };
        let task = Task::Spmm {
            a: &a,
            transpose_a,
            b: b.as_ref(),
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: c.as_mut(),
        };
        assert!((kernel.run)(task).is_ok());
    }
}
