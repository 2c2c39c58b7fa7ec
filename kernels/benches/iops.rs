//! How fast the model of the IOPS accelerator simulates: time of this machine, not of that one.
//!
//! Cora's SSMM (graph by features: 2,708 x 2,708 with 10,556 entries, 2,708 x 1,433 with 49,216) and its SDMM, a product of
//! 10^6 entries by itself, uniform and banded; a skewed one of 120,000 entries by itself (R-MAT: 1.7 * 10^7 products, psum buffers
//! overflow 32,000 times); and the search for a partition. A run that is refused fails the bench.
//!
//! Run: `cargo bench -p sparse-kernels --bench iops`.

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use sparse_kernels::iops::{IopsPlan, Machine, partition, sdmm, ssmm, ssmm_problem};
use sparse_oracle::format::Csr;
use sparse_oracle::source::generator::SourceSpec;
use std::hint::black_box;
use std::time::Duration;

/// A generated pattern with values that are all 1.
fn generated(line: &str) -> Csr<f64> {
    let spec: SourceSpec = line.parse().expect("a source");
    spec.generate().expect("generated").map(|()| 1.0)
}

const GRAPH: &str = "uniform:rows=2708,cols=2708,density=0.00144,seed=1";
const FEATURES: &str = "uniform:rows=2708,cols=1433,density=0.01268,seed=2";
const SKEWED: &str = "rmat:scale=14,edges=8,seed=5";
const MILLION: [(&str, &str); 2] = [
    ("uniform", "uniform:rows=100000,cols=100000,density=0.0001,seed=3"),
    ("banded", "banded:rows=111112,cols=111112,lower=4,upper=4,seed=4"),
];

fn cora(c: &mut Criterion) {
    let (graph, features, machine) = (generated(GRAPH), generated(FEATURES), Machine::default());
    let mut group = c.benchmark_group("cora");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function("ssmm", |b| {
        b.iter(|| ssmm(black_box(&graph), &features, &machine, IopsPlan::Adaptive).expect("runs").counters);
    });
    let dense = vec![1.0; 1433 * 16];
    group.bench_function("sdmm", |b| {
        b.iter(|| {
            sdmm(black_box(&features), (&dense, 16), &machine, IopsPlan::Adaptive).expect("runs").counters
        });
    });
    let problem = ssmm_problem(&graph, &features);
    group.bench_function("partition", |b| {
        b.iter(|| partition(black_box(&problem), &machine).expect("fits"));
    });
    group.finish();
}

fn million(c: &mut Criterion) {
    let mut group = c.benchmark_group("million");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(1));
    for (name, line) in MILLION {
        by_itself(&mut group, name, &generated(line));
    }
    group.finish();
}

fn skewed(c: &mut Criterion) {
    let mut group = c.benchmark_group("skewed");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    by_itself(&mut group, "rmat", &generated(SKEWED));
    group.finish();
}

fn by_itself(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, a: &Csr<f64>) {
    let machine = Machine::default();
    group.throughput(Throughput::Elements(a.nnz() as u64));
    group.bench_function(name, |b| {
        b.iter(|| ssmm(black_box(a), a, &machine, IopsPlan::Adaptive).expect("runs").counters);
    });
}

criterion_group!(benches, cora, million, skewed);
criterion_main!(benches);
