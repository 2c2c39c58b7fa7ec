//! SDDMM: several sampled positions of a row at a time, one lane each.
//!
//! ```text
//! S row i: columns 3 7 8 ..      lane 0: fma chain of X_i and Y_3 over ascending k
//!                                lane 1:              X_i and Y_7
//! out   [chunk 0][chunk 1]..     chunks of equal length, whatever the rows: one thread each
//! ```
//!
//! Every element is one chain of fused steps from +0, as in the portable kernel: lanes, tails, chunks and threads do not
//! change a bit. X and Y are used in place where they are f32 or f64 by rows, else packed (and widened to f32).

mod dots;

use super::dense::pack;
use super::element::Enter;
use super::isa::{Avx2, Avx512};
use crate::kernel::Kernel;
use crate::portable::element::{Output, contract};
use crate::portable::lanes::{AsCoo, AsCsr};
use crate::portable::sddmm::{Positions, Sampled, epilogue, open};
use crate::portable::unit::Unit;
use crate::spread::each_piece;
use dots::{Dots, LANES_LIMIT};
use sparse_types::arithmetic::{Arithmetic, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::Sparse;
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};
use sparse_types::{Bf16, E4m3, E5m2, F16, Tf32};

/// Pushes one row per element type with a vector unit.
macro_rules! push {
    ($table:ident, $isa:ty, $format:ty; $($input:ident $acc:ident $out:ident),*) => {
        $($table.push(row::<$isa, $format, $input, $acc, $out>());)*
    };
    ($table:ident, $isa:ty, $format:ty) => {
        push!($table, $isa, $format; f64 f64 f64, f32 f32 f32, Tf32 f32 f32, F16 f32 f32, F16 f32 F16,
            Bf16 f32 f32, Bf16 f32 Bf16, E4m3 f32 f32, E5m2 f32 f32)
    };
}

/// The kernels of this file.
pub(crate) fn rows(table: &mut Vec<Kernel>) {
    push!(table, Avx512, AsCsr);
    push!(table, Avx512, AsCoo);
    push!(table, Avx2, AsCsr);
    push!(table, Avx2, AsCoo);
}

fn row<V, F, I, A, O>() -> Kernel
where
    V: Dots<A>,
    F: Runs,
    I: Enter<A>,
    A: Unit,
    O: Output<A>,
{
    let contract = contract::<I, A, O>(Op::Sddmm, F::KIND);
    let arithmetic = Arithmetic::chain(Reduction::FmaChain, A::PRECISION, O::PRECISION).input(I::INPUT);
    let mut kernel = Kernel::new(contract, V::ENGINE, arithmetic, run::<V, F, I, A, O>);
    kernel.needs = V::NEEDS;
    kernel
}

/// A format whose stored positions come as runs of one row.
trait Runs: Positions {
    /// The columns and values of all positions.
    fn columns<T>(s: &Sparse<T>) -> (&[u32], &[T]);

    /// The row of position `at`, and where its run ends, at most at `end`; `at < end`, `end` at most the number of
    /// positions. `before` is the row of a run that ended at `at`.
    fn run_at<T>(s: &Sparse<T>, at: usize, end: usize, before: Option<usize>) -> (usize, usize);
}

impl Runs for AsCsr {
    fn columns<T>(s: &Sparse<T>) -> (&[u32], &[T]) {
        match s {
            Sparse::Csr(m) => (&m.col_idx, &m.values),
            _ => (&[], &[]),
        }
    }

    fn run_at<T>(s: &Sparse<T>, at: usize, end: usize, before: Option<usize>) -> (usize, usize) {
        let Sparse::Csr(m) = s else { return (0, end) };
        let ends_by = |row: usize| m.row_ptr[row + 1] as usize <= at;
        let row = match before {
            Some(before) => (before + 1..m.rows).find(|&row| !ends_by(row)).unwrap_or(0),
            None => m.row_ptr.partition_point(|&start| start as usize <= at) - 1,
        };
        (row, end.min(m.row_ptr[row + 1] as usize))
    }
}

impl Runs for AsCoo {
    fn columns<T>(s: &Sparse<T>) -> (&[u32], &[T]) {
        match s {
            Sparse::Coo(m) => (&m.col_idx, &m.values),
            _ => (&[], &[]),
        }
    }

    fn run_at<T>(s: &Sparse<T>, at: usize, end: usize, _: Option<usize>) -> (usize, usize) {
        let Sparse::Coo(m) = s else { return (0, end) };
        let row = m.row_idx[at];
        let length = m.row_idx[at..end].iter().take_while(|&&other| other == row).count();
        (row as usize, at + length)
    }
}

/// Positions of one chunk: enough for several chunks a thread, and not so few that starting one shows.
fn chunk_length(positions: usize) -> usize {
    (positions / (8 * rayon::current_num_threads())).clamp(512, 1 << 16)
}

/// The kernel for extension `V`, format `F` and element types `I` (both operands), `A` (accumulator), `O` (output and S).
fn run<V, F, I, A, O>(task: Task<'_>) -> Result<Answer, Refusal>
where
    V: Dots<A>,
    F: Runs,
    I: Enter<A>,
    A: Unit,
    O: Output<A>,
{
    let isa = V::detect()?;
    let Sampled { s, x, y, scaling, mode, out } = open::<F, I, A, O>(task)?;
    let (cols, values) = F::columns(s);
    if !scaling.reads_product() || x.cols == 0 {
        let product = scaling.reads_product().then_some(A::ZERO);
        for (out, value) in out.iter_mut().zip(values) {
            *out = O::store(epilogue(mode, scaling, product, value.widen()));
        }
        return Ok(Answer::Written);
    }
    let (x, y) = (pack(isa, &x, 0), pack(isa, &y, 0));
    let (x, y) = (x.view(), y.view());
    let length = chunk_length(out.len());
    each_piece(out, length, |index, out| {
        let (mut at, end) = (index * length, index * length + out.len());
        let mut out = out.iter_mut();
        let mut before = None;
        let mut acc = [A::ZERO; LANES_LIMIT];
        while at < end {
            let (i, run_end) = F::run_at(s, at, end, before);
            let run = cols[at..run_end].chunks(V::LANES).zip(values[at..run_end].chunks(V::LANES));
            for (cols, values) in run {
                let mut rows = [x.row(i); LANES_LIMIT];
                for (row, &j) in rows.iter_mut().zip(cols) {
                    *row = y.row(j as usize);
                }
                isa.dots(x.row(i), &rows[..cols.len()], &mut acc);
                for ((&acc, &value), out) in acc.iter().zip(values).zip(&mut out) {
                    *out = O::store(epilogue(mode, scaling, Some(acc), value.widen()));
                }
            }
            (at, before) = (run_end, Some(i));
        }
    });
    Ok(Answer::Written)
}
