//! Values and sources that reach where bugs live: no honest backend is accused on them, and they show what they are made to show.

use sparse_conformance::backend::{Backend, built_in};
use sparse_conformance::case::{Case, Filling, Params};
use sparse_conformance::operands::{OperandError, build};
use sparse_conformance::origin::Origin;
use sparse_conformance::right::Right;
use sparse_conformance::runner::run_case;
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::format::{AnySparse, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Precision;
use sparse_oracle::source::generator::quick_specs;
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::{VALUE_FAMILIES, ValueFamily};

fn case(line: &str) -> Case {
    line.parse().unwrap_or_else(|e| panic!("{line}: {e}"))
}

/// Runs a case on every backend; returns how many ran it.
fn innocent(case: &Case, backends: &[Box<dyn Backend>]) -> usize {
    let loaded = case.origin.load().expect("a generator");
    let records = run_case(case, &loaded, backends).records;
    for record in &records {
        assert!(!record.verdict.is_finding(), "{}: {case}: {}", record.backend, record.verdict);
    }
    records.iter().filter(|record| record.verdict.kind().ran()).count()
}

/// Every arithmetic contract with each of the families that came after the first ten.
#[test]
fn honest_backends_are_not_accused_on_the_newer_values() {
    let backends = built_in();
    let families = quick_specs(0).len() as u64;
    let mut ran = 0;
    let contracts = all_contracts().iter().filter(|c| !c.op.is_exact());
    for (i, &contract) in (0u64..).zip(contracts) {
        for (f, info) in VALUE_FAMILIES.iter().enumerate().skip(10) {
            let mut random = Random::new(i * 32 + f as u64, "newer values");
            let spec = quick_specs(random.below(1000))[random.below(families) as usize];
            let (alpha, beta) = *random.pick(&[(1.0, 0.0), (1.0, 1.0), (-2.0, 0.5)]);
            let scaled = matches!(contract.op, Op::Spmm | Op::Spmv);
            let case = Case {
                contract,
                origin: Origin::Spec(spec),
                filling: Filling::Drawn(info.family, random.below(1000)),
                params: Params {
                    n: random.between(1, 12) as usize,
                    alpha: if scaled { alpha } else { 1.0 },
                    beta: if scaled { beta } else { 0.0 },
                    transpose_a: scaled && random.below(4) == 0,
                    right: if contract.op == Op::Spgemm { random.pick(&Right::ALL).0 } else { Right::Thin },
                    ..Params::default()
                },
            };
            let is_square = spec.shape().is_ok_and(|shape| shape.rows == shape.cols);
            if case.params.right != Right::Same || is_square {
                ran += innocent(&case, &backends);
            }
        }
    }
    println!("{ran} cases ran");
    assert!(ran > 1500, "{ran}");
}

/// SpGEMM with each kind of B, on sources made for it.
#[test]
fn honest_backends_are_not_accused_on_any_b_of_spgemm() {
    let backends = built_in();
    let mut ran = 0;
    for contract in all_contracts().iter().filter(|c| c.op == Op::Spgemm) {
        for rest in [
            "uniform:rows=40,cols=40,density=0.1,seed=2/values=coded,1/b=same",
            "longrows:rows=40,cols=120,count=2,length=100,seed=1/values=small-int,2/n=1500/b=long",
            "collide:rows=20,cols=300,seed=1/values=ones-a,3/n=3000/b=collide",
            "pairs:rows=30,cols=80,pairs=5,seed=1/values=cancelling,4/n=50/b=cancel",
            "borders:rows=129,cols=65,entries=1025,seed=1/values=placed-special,5/n=257/b=collide",
        ] {
            ran += innocent(&case(&format!("{contract}/{rest}")), &backends);
        }
    }
    println!("{ran} cases ran");
    assert!(ran > 30, "{ran}");
}

fn entries(sparse: &AnySparse) -> Vec<(u32, u32, f64)> {
    sparse_oracle::each_sparse!(sparse, m => {
        let list = match m {
            Sparse::Coo(_) => Vec::new(),
            other => other.entries().list,
        };
        list.iter().map(|e| (e.row, e.col, sparse_oracle::scalar::Scalar::to_f64(e.value))).collect()
    })
}

/// Two of three rows of A * B cancel in every place, and the third kind does not.
#[test]
fn rows_of_a_product_cancel_wholly() {
    let case = case(
        "spgemm.csr.f64_f64_f64_f64/pairs:rows=30,cols=40,pairs=4,seed=3/values=cancelling,7/n=60/b=cancel",
    );
    let operands = build(&case, &case.origin.load().expect("a generator")).expect("operands");
    let (a, b) = (entries(&operands.a), entries(operands.b_sparse.as_ref().expect("B")));
    let mut c = vec![vec![0.0; 60]; 30];
    let mut terms = 0;
    for &(i, k, x) in &a {
        for &(_, j, y) in b.iter().filter(|e| e.0 == k) {
            c[i as usize][j as usize] += x * y;
            terms += 1;
        }
    }
    assert!(terms > 300, "{terms}");
    for (i, row) in c.iter().enumerate() {
        assert_eq!(row.iter().any(|&x| x != 0.0), i % 3 == 2, "row {i}");
    }
}

#[test]
fn a_times_a_asks_for_a_square_matrix_of_one_type() {
    let refused = |line: &str| {
        let case = case(line);
        let built = build(&case, &case.origin.load().expect("a generator"));
        matches!(built, Err(OperandError::Combination(_)))
    };
    assert!(refused("spgemm.csr.f64_f64_f64_f64/uniform:rows=4,cols=5,seed=1/values=ones,1/b=same"));
    assert!(refused(
        "spgemm.csr.f64_f64_f64_f64/uniform:rows=5,cols=5,seed=1/values=ones,1/b=same/fault=inner-shape"
    ));
    assert!(!refused("spgemm.csr.f64_f64_f64_f64/uniform:rows=5,cols=5,seed=1/values=ones,1/b=same"));
    assert!("spmm.csr.f64_f64_f64_f64/uniform:seed=1/values=ones,1/b=same".parse::<Case>().is_err());
}

/// Older lines draw the same bits as ever, but for those of NaN, which were all alike: each operand from a stream of its own, counted from 2
/// on, of the one family.
#[test]
fn operands_of_older_lines_keep_their_bits() {
    let operands = |line: &str| {
        let case = case(line);
        build(&case, &case.origin.load().expect("a generator")).expect("operands")
    };
    let stream = |family: &str, count: usize, stream: u64, precision: Precision| {
        let seed = 7u64.wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let family = ValueFamily::from_name(family).expect("a family");
        family.fill(count, seed, precision)
    };
    let alike = |x: f64| if x.is_nan() { f64::NAN } else { x };
    let bits = |values: &[f64]| values.iter().map(|&x| alike(x).to_bits()).collect::<Vec<_>>();
    let found = operands(
        "spmm.csr.f16_f16_f32_f32/uniform:rows=40,cols=30,seed=1/values=cancelling,7/n=5/beta=1/lb=col",
    );
    let family = ValueFamily::Cancelling;
    let a: Vec<f64> = entries(&found.a).iter().map(|e| e.2).collect();
    assert_eq!(bits(&a), bits(&family.fill(120, 7, Precision::F16)));
    let b = found.b.expect("B").data.to_f64();
    assert_eq!(bits(&b), bits(&stream("cancelling", 150, 2, Precision::F16)));
    assert_eq!(bits(&found.c[0]), bits(&stream("cancelling", 200, 3, Precision::F32)));
    assert_eq!(bits(&found.c[1]), bits(&stream("cancelling", 200, 4, Precision::F32)));
    let found =
        operands("sddmm.csr.f32_f32_f32_f32/uniform:rows=40,cols=30,seed=1/values=special,7/n=5/mode=scale");
    let (x, y) = (found.b.expect("X").data.to_f64(), found.y.expect("Y").data.to_f64());
    assert_eq!(bits(&x), bits(&stream("special", 200, 2, Precision::F32)));
    assert_eq!(bits(&y), bits(&stream("special", 150, 3, Precision::F32)));
    let found = operands("spgemm.csr.f32_f32_f32_f32/uniform:rows=40,cols=30,seed=1/values=wide,7/n=19");
    let b: Vec<f64> = entries(&found.b_sparse.expect("B")).iter().map(|e| e.2).collect();
    assert_eq!(bits(&b), bits(&stream("wide", b.len(), 2, Precision::F32)));
}
