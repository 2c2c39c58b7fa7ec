//! The tensor-core model of a whole product beside the exact reference, on one thread, N = 128, 1 million entries.
//!
//! Both prepare B in their time. The exact reference returns value, gauge and number of terms; the model returns the bits that a
//! chain of the named instruction over each row's entries returns.
//!
//! Run: `cargo bench -p sparse-oracle --bench model_spmm`. The last table has the best of some turns taken in rotation.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use sparse_oracle::arithmetic::{Architecture, Instruction};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::model::tensor_core::{ModelSpmm, TensorCore};
use sparse_oracle::op::{ReferenceSpmm, SpmmReference};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::source::random::Random;
use sparse_oracle::{Bf16, E4m3, F16, Precision, Rounding, Scalar, Tf32};
use std::hint::black_box;
use std::time::{Duration, Instant};

const N: usize = 128;
const ROWS: usize = 60_000;
const TURNS: usize = 7;

type Run<'a> = Box<dyn FnMut() + 'a>;

/// About 1 million entries, rows of 1 to 33, uniform columns, values in +-[2^-6, 2^6).
fn operands() -> (Csr<f64>, Dense<f64>) {
    let mut random = Random::new(1, "model_spmm");
    let value = |random: &mut Random| {
        let fraction = 1.0 + random.below(1 << 10) as f64 / 1024.0;
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        sign * fraction * 2.0f64.powi(random.between(-6, 5) as i32)
    };
    let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row = Vec::new();
    for _ in 0..ROWS {
        row.clear();
        let length = random.between(1, 33);
        row.extend((0..length).map(|_| random.below(ROWS as u64) as u32));
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|_| value(&mut random)));
        col_idx.extend_from_slice(&row);
        row_ptr.push(col_idx.len() as u32);
    }
    let parts = CsrParts { rows: ROWS, cols: ROWS, row_ptr, col_idx, values };
    let a = Csr::try_new(parts).expect("generated canonically");
    (a, Dense::from_fn(ROWS, N, |_, _| value(&mut random)))
}

fn exact<'a, T: Element>(a: &'a Csr<T>, b: &'a Dense<T>) -> Run<'a> {
    let mut out = SpmmReference::<f32>::default();
    Box::new(move || {
        let prepared = ReferenceSpmm::new(b);
        prepared.product_into(a, Rounding::NearestEven, &mut out).expect("shapes fit");
        black_box(&out);
    })
}

fn model<'a, T: Element>(a: &'a Csr<T>, b: &'a Dense<T>, core: TensorCore) -> Run<'a> {
    let mut out = vec![0; a.rows * N];
    Box::new(move || {
        let prepared = ModelSpmm::new(core, b).expect("types fit");
        let mut store = |row: usize, bits: &[u64]| {
            out[row * N..][..N].iter_mut().zip(bits).for_each(|(to, &from)| *to = from as u32);
        };
        prepared.for_each_row(a, &mut store).expect("shapes fit");
        black_box(&out);
    })
}

fn mma(architecture: Architecture, k: u16, acc: Precision, input: Precision) -> TensorCore {
    TensorCore::new(architecture, Instruction::mma((16, 8, k), acc, input)).expect("in the table")
}

fn typed<T: Scalar>(a: &Csr<f64>, b: &Dense<f64>) -> (Csr<T>, Dense<T>) {
    (a.map(|&x| T::from_f64(x)), b.map(|&x| T::from_f64(x)))
}

fn all(criterion: &mut Criterion) {
    use Architecture::{Sm80, Sm90};
    use Precision::F32;
    let (a, b) = operands();
    let (f16, bf16) = (typed::<F16>(&a, &b), typed::<Bf16>(&a, &b));
    let (tf32, e4m3) = (typed::<Tf32>(&a, &b), typed::<E4m3>(&a, &b));
    let mut contenders: Vec<(&str, Run<'_>)> = vec![
        ("exact f16", exact(&f16.0, &f16.1)),
        ("sm_90 m16n8k16 f16", model(&f16.0, &f16.1, mma(Sm90, 16, F32, Precision::F16))),
        ("sm_80 m16n8k16 f16", model(&f16.0, &f16.1, mma(Sm80, 16, F32, Precision::F16))),
        ("sm_90 f16 acc", model(&f16.0, &f16.1, mma(Sm90, 16, Precision::F16, Precision::F16))),
        ("sm_90 m16n8k16 bf16", model(&bf16.0, &bf16.1, mma(Sm90, 16, F32, Precision::Bf16))),
        ("sm_90 m16n8k8 tf32", model(&tf32.0, &tf32.1, mma(Sm90, 8, F32, Precision::Tf32))),
        ("sm_90 m16n8k32 e4m3", model(&e4m3.0, &e4m3.1, mma(Sm90, 32, F32, Precision::E4m3))),
    ];
    let mut group = criterion.benchmark_group(format!("{} entries, N = {N}", a.nnz()));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(300));
    group.throughput(Throughput::Elements((a.nnz() * N) as u64));
    for (name, run) in &mut contenders {
        group.bench_function(*name, |bencher| bencher.iter(&mut *run));
    }
    group.finish();
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..TURNS {
        for ((_, run), best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    println!("{:<24} {:>9} {:>14} {:>14}", "", "ms", "ns / product", "time / exact");
    for ((name, _), seconds) in contenders.iter().zip(&best) {
        let products = (a.nnz() * N) as f64;
        println!(
            "{name:<24} {:>9.1} {:>14.3} {:>14.2}",
            seconds * 1e3,
            seconds * 1e9 / products,
            seconds / best[0]
        );
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
