//! How fast a format is encoded and decoded, against the oracle, in f32.
//!
//! ```sh
//! cargo run --release -p sparse-kernels --example encode_speed -- FORMAT [MATRIX.mtx | SOURCE]
//! ```
//!
//! Prints million entries per second, the best of five runs of the kernels and one of the oracle.

use sparse_kernels::all_kernels;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{AnySparse, Csr, FormatKind, FormatParams, Sparse};
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::task::Task;
use sparse_oracle::{Precision, Scalar};
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let kind = args.next().and_then(|name| FormatKind::from_name(&name));
    let kind = kind.ok_or("the first argument is a format")?;
    let name = args.next().unwrap_or_else(|| "rmat:scale=17".to_owned());
    let pattern: Csr<()> = if Path::new(&name).exists() {
        Csr::from_entries(&read_path(Path::new(&name))?.coo.entries())?.map(|_| ())
    } else {
        name.parse::<SourceSpec>()?.generate()?
    };
    let mut next = 0;
    let csr = pattern.map(|()| {
        next += 1;
        f32::from_bits64(0x3f80_0000 + next % 0x1000)
    });
    let params = FormatParams::default();
    let nnz = csr.nnz() as f64;
    println!(
        "{} of {name}: {} x {}, {nnz} nnz",
        kind.name(),
        csr.rows,
        csr.cols
    );
    let entries = csr.entries();
    let (encoded, seconds) = timed(1, || Sparse::from_entries(kind, params, &entries))?;
    println!("encode, oracle: {:8.1} M/s", nnz / seconds / 1e6);
    let (_, seconds) = timed(1, || Ok::<_, Box<dyn Error>>(encoded.entries()))?;
    println!("decode, oracle: {:8.1} M/s", nnz / seconds / 1e6);
    let encoded = AnySparse::F32(encoded);
    for (word, a, to) in [
        ("encode", &AnySparse::F32(Sparse::Csr(csr)), kind),
        ("decode", &encoded, FormatKind::Csr),
    ] {
        let kernel = all_kernels().iter().find(|k| {
            let c = k.contract;
            (c.op, c.format, c.to, c.types.a) == (Op::Convert, a.kind(), Some(to), Precision::F32)
        });
        let kernel = kernel.ok_or("no kernel")?;
        let (_, seconds) = timed(5, || (kernel.run)(Task::Convert { a, to, params }))?;
        println!("{word}, kernel: {:8.1} M/s", nnz / seconds / 1e6);
    }
    Ok(())
}

/// The last result and the shortest time, in seconds.
fn timed<X, E>(runs: usize, work: impl Fn() -> Result<X, E>) -> Result<(X, f64), E> {
    let (mut result, mut best) = (None, f64::INFINITY);
    for _ in 0..runs {
        let started = Instant::now();
        result = Some(black_box(work()?));
        best = best.min(started.elapsed().as_secs_f64());
    }
    result.map_or_else(|| Ok((work()?, best)), |result| Ok((result, best)))
}
