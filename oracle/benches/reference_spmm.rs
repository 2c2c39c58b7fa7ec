//! The exact reference `SpMM` against two inexact ones, on one thread, N = 32.
//!
//! Ours returns the exact value rounded once to the output type, the exact gauge and the number of terms, all three
//! in one pass. Preparing B is part of the time; the output's memory is reused, as nalgebra-sparse's is. The peers
//! return an f64 sum in some order: `nalgebra-sparse` (`spmm_csr_dense`) and `sprs` (csr * dense), both in f64 on
//! the values before they are rounded to the narrower types.
//!
//! Run: `cargo bench -p sparse-oracle --bench reference_spmm` (about five minutes; `-- NAME` for one matrix). A last table lists the best of
//! some turns taken in rotation: GFLOP/s (2 * nnz * N / time), and the time as a share of nalgebra-sparse's.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use nalgebra::DMatrix;
use nalgebra_sparse::{CsrMatrix, ops::Op, ops::serial::spmm_csr_dense};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::op::{ReferenceSpmm, SpmmReference};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::{Bf16, F16, Rounding, Scalar, Tf32};
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const N: usize = 32;

/// Turns of each contender that the table takes the best of.
const ROUNDS: usize = 11;

/// The fastest turn of one contender on one matrix.
struct Time {
    matrix: String,
    contender: String,
    flops: f64,
    seconds: f64,
}

static TIMES: Mutex<Vec<Time>> = Mutex::new(Vec::new());

struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[derive(Clone, Copy)]
enum Spread {
    /// Uniform in ±[1, 2).
    NearOne,
    /// Standard normal.
    Normal,
    /// Standard normal times 2 to a uniform power in -10..=10.
    Wide,
}

impl Spread {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Spread::NearOne => (1.0 + random.unit()) * if random.bits() & 1 == 0 { 1.0 } else { -1.0 },
            Spread::Normal => random.normal(),
            Spread::Wide => random.normal() * 2.0f64.powi((random.bits() % 21) as i32 - 10),
        }
    }
}

/// The pattern of a matrix with the given row lengths and uniform columns.
fn pattern(cols: usize, lengths: impl Iterator<Item = usize>, random: &mut Random) -> Csr<()> {
    let (mut row_ptr, mut col_idx) = (vec![0], Vec::new());
    let mut row = Vec::new();
    for length in lengths {
        row.clear();
        row.extend((0..length).map(|_| (random.bits() % cols as u64) as u32));
        row.sort_unstable();
        row.dedup();
        col_idx.extend_from_slice(&row);
        row_ptr.push(col_idx.len() as u32);
    }
    let values = vec![(); col_idx.len()];
    let rows = row_ptr.len() - 1;
    Csr::try_new(CsrParts { rows, cols, row_ptr, col_idx, values }).expect("generated canonically")
}

/// 120,000 rows of about 10 elements.
fn uniform() -> Csr<()> {
    let mut random = Random(1);
    let lengths: Vec<usize> = (0..120_000).map(|_| 5 + (random.bits() % 11) as usize).collect();
    pattern(120_000, lengths.into_iter(), &mut random)
}

/// 60,000 rows, lengths by a power law with exponent 2: most below 10, the longest several thousand.
fn power_law() -> Csr<()> {
    let mut random = Random(2);
    let lengths: Vec<usize> = (0..60_000).map(|_| ((4.0 / random.unit()) as usize).min(6_000)).collect();
    pattern(60_000, lengths.into_iter(), &mut random)
}

/// One way to compute the product, ready to run.
struct Contender<'a> {
    name: String,
    run: Box<dyn FnMut() + 'a>,
}

/// The exact product in one type; `inputs` outlive the closure.
fn exact<'a, T: Element, O: Scalar>(a: &'a Csr<T>, b: &'a Dense<T>) -> Contender<'a> {
    let mut out = SpmmReference::<O>::default();
    let mut run = move || {
        let prepared = ReferenceSpmm::new(b);
        prepared.product_into(a, Rounding::NearestEven, &mut out).expect("shapes fit");
        black_box(out.paths)
    };
    let name = format!("exact {}", T::PRECISION);
    eprintln!("  {name}: rows per path {:?}", run());
    Contender {
        name,
        run: Box::new(move || {
            run();
        }),
    }
}

fn peers<'a>(a: &Csr<f64>, b: &Dense<f64>) -> [Contender<'a>; 2] {
    let row_ptr: Vec<usize> = a.row_ptr.iter().map(|&p| p as usize).collect();
    let col_idx: Vec<usize> = a.col_idx.iter().map(|&c| c as usize).collect();
    let left =
        CsrMatrix::try_from_csr_data(a.rows, a.cols, row_ptr.clone(), col_idx.clone(), a.values.clone());
    let left = left.expect("canonical");
    let right = DMatrix::from_row_slice(b.rows(), N, b.data());
    let mut c = DMatrix::zeros(a.rows, N);
    let nalgebra = move || {
        spmm_csr_dense(0.0, &mut c, 1.0, Op::NoOp(&left), Op::NoOp(&right));
        black_box(&c);
    };
    let left = sprs::CsMat::new((a.rows, a.cols), row_ptr, col_idx, a.values.clone());
    // An ndarray through sprs itself, which is the only one here that names that crate: zeros, then B.
    let mut right = sprs::CsMat::<f64>::zero((b.rows(), N)).to_dense();
    right.iter_mut().zip(b.data()).for_each(|(to, from)| *to = *from);
    let sprs = move || {
        black_box(&left * &right);
    };
    let contender = |name: &str, run| Contender { name: name.to_owned(), run };
    [contender("nalgebra-sparse", Box::new(nalgebra)), contender("sprs", Box::new(sprs))]
}

/// Criterion's measurement of each, then rounds in which all take turns: what disturbs the machine disturbs all.
fn compare(criterion: &mut Criterion, matrix: &str, nnz: usize, contenders: &mut [Contender<'_>]) {
    let mut group = criterion.benchmark_group(matrix);
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(300));
    group.throughput(Throughput::Elements(2 * (nnz * N) as u64));
    for contender in contenders.iter_mut() {
        group.bench_function(&contender.name, |bencher| bencher.iter(&mut contender.run));
    }
    group.finish();
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..ROUNDS {
        for (contender, best) in contenders.iter_mut().zip(&mut best) {
            let start = Instant::now();
            (contender.run)();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    let mut times = TIMES.lock().expect("no panics while locked");
    for (contender, seconds) in contenders.iter().zip(best) {
        times.push(Time {
            matrix: matrix.to_owned(),
            contender: contender.name.clone(),
            flops: 2.0 * (nnz * N) as f64,
            seconds,
        });
    }
}

fn typed<T: Scalar>(a: &Csr<f64>, b: &Dense<f64>) -> (Csr<T>, Dense<T>) {
    (a.map(|&x| T::from_f64(x)), b.map(|&x| T::from_f64(x)))
}

/// Everything that is measured: (name, pattern, how its values and B's spread).
fn cases() -> Vec<(String, Csr<()>, Spread)> {
    let mut cases = Vec::new();
    for (shape, pattern) in [("uniform", uniform()), ("power law", power_law())] {
        for (label, spread) in
            [("near one", Spread::NearOne), ("normal", Spread::Normal), ("wide", Spread::Wide)]
        {
            cases.push((format!("{shape}, {label}"), pattern.clone(), spread));
        }
    }
    for name in ["econ_fwd500", "cop20k_A", "rma10", "webbase-1M"] {
        let spec: SourceSpec = format!("synth:{name}").parse().expect("a published matrix");
        cases.push((
            format!("synth:{name}"),
            spec.generate().expect("fits the default limit"),
            Spread::Normal,
        ));
    }
    let shared =
        std::env::var_os("SPARSE_SHARED").map_or_else(|| PathBuf::from("../../shared"), PathBuf::from);
    for name in ["cnr-2000", "ogbl-ddi", "mdual"] {
        match read_path(&shared.join(format!("data/matrices/open/{name}.mtx.gz"))) {
            Ok(matrix) => {
                let pattern = Csr::from_entries(&matrix.coo.entries()).expect("a matrix from a file");
                cases.push((name.to_owned(), pattern.map(|_| ()), Spread::Normal));
            }
            Err(error) => eprintln!("SKIPPED {name}: {error} (set SPARSE_SHARED)"),
        }
    }
    cases
}

fn all(criterion: &mut Criterion) {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for (name, pattern, spread) in cases().into_iter().filter(|case| case.0.contains(&only)) {
        let mut random = Random(3);
        let a = pattern.map(|()| spread.draw(&mut random));
        let b = Dense::from_fn(a.cols, N, |_, _| spread.draw(&mut random));
        let matrix = format!("{name} ({} nnz)", a.nnz());
        eprintln!("{matrix}");
        let (f32s, tf32s) = (typed::<f32>(&a, &b), typed::<Tf32>(&a, &b));
        let (f16s, bf16s) = (typed::<F16>(&a, &b), typed::<Bf16>(&a, &b));
        let mut contenders = Vec::from(peers(&a, &b));
        contenders.push(exact::<f32, f32>(&f32s.0, &f32s.1));
        contenders.push(exact::<Tf32, f32>(&tf32s.0, &tf32s.1));
        contenders.push(exact::<F16, F16>(&f16s.0, &f16s.1));
        contenders.push(exact::<Bf16, Bf16>(&bf16s.0, &bf16s.1));
        contenders.push(exact::<f64, f64>(&a, &b));
        compare(criterion, &matrix, a.nnz(), &mut contenders);
    }
    print_table();
}

fn print_table() {
    let times = TIMES.lock().expect("no panics while locked");
    println!("{:<36} {:<16} {:>9} {:>9} {:>16}", "matrix", "contender", "ms", "GFLOP/s", "time / nalgebra");
    for Time { matrix, contender, flops, seconds } in times.iter() {
        let peer = times.iter().find(|t| t.matrix == *matrix && t.contender == "nalgebra-sparse");
        println!(
            "{matrix:<36} {contender:<16} {:>9.2} {:>9.2} {:>16.2}",
            seconds * 1e3,
            flops / seconds * 1e-9,
            seconds / peer.map_or(f64::NAN, |p| p.seconds)
        );
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
