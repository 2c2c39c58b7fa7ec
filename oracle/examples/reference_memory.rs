//! How much memory the exact reference SpMM takes beside its inputs and output (Linux: peak resident set size).
//!
//! ```sh
//! cargo run --release -p sparse-oracle --example reference_memory -- [MATRIX.mtx | SOURCE]
//! ```
//!
//! Prints bytes of the inputs (A's arrays and B), of the output (values, gauges and whether they are exact, terms), and the growth of the peak
//! while the product is computed, for f32 and f64, N = 32.

use sparse_oracle::Rounding;
use sparse_oracle::format::{Csr, Dense};
use sparse_oracle::op::ReferenceSpmm;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Element;
use sparse_oracle::source::file::read_path;
use sparse_oracle::source::generator::SourceSpec;
use sparse_oracle::source::values::ValueFamily;
use std::error::Error;
use std::path::Path;

const N: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "synth:cop20k_A".to_owned());
    let pattern: Csr<()> = if Path::new(&name).exists() {
        Csr::from_entries(&read_path(Path::new(&name))?.coo.entries())?.map(|_| ())
    } else {
        name.parse::<SourceSpec>()?.generate()?
    };
    measure::<f32>(&pattern)?;
    measure::<f64>(&pattern)
}

fn measure<T: Element>(pattern: &Csr<()>) -> Result<(), Box<dyn Error>> {
    let draw = |count, seed| ValueFamily::NearOne.fill(count, seed, T::PRECISION).into_iter();
    let mut values = draw(pattern.nnz(), 1).map(|v| T::from_f64(v));
    let a = pattern.map(|()| values.next().unwrap_or_default());
    drop(values);
    let mut values = draw(pattern.cols * N, 2).map(|v| T::from_f64(v));
    let b = Dense::from_fn(pattern.cols, N, |_, _| values.next().unwrap_or_default());
    drop(values);
    let element = T::PRECISION.bytes();
    let inputs = 4 * (a.rows + 1 + a.nnz()) + element * (a.nnz() + b.data().len());
    reset_peak();
    let before = resident("VmRSS");
    let out = ReferenceSpmm::new(&b).product::<T, T>(&a, Rounding::NearestEven)?;
    let grown = resident("VmHWM").saturating_sub(before);
    let output = (element + 9) * out.values.len() + 4 * out.terms.len();
    println!(
        "{}: {} nnz, inputs {inputs} B, output {output} B, peak grew by {grown} B = {:.2} x inputs beyond the output",
        T::PRECISION,
        a.nnz(),
        grown.saturating_sub(output) as f64 / inputs as f64
    );
    Ok(())
}

/// Sets the peak back to what is resident now, where the system lets us.
fn reset_peak() {
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        eprintln!("SKIPPED: the peak cannot be reset here, so it includes what came before");
    }
}

/// A field of /proc/self/status, in bytes; 0 where there is none.
fn resident(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kilobytes =
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}
