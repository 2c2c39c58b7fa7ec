//! The LOOPS scheduler at work on this machine: plans for LOOPS kernels of the registry, timed with the very kernel that will follow them.
//!
//! ```text
//! A (CSR) -> some of its rows -> as LOOPS, cut as a plan says -> Kernel::run_split with the plan's workers, against the clock
//! ```

use crate::engine::Engine;
use crate::kernel::{Kernel, RunSplit};
use crate::schedule::{Plan, ScheduleError, timed_plan};
use crate::workers::Split;
use sparse_types::format::{AnySparse, FormatParams, Layout};
use sparse_types::refusal::{Refusal, RequestError, check_u32};
use sparse_types::scalar::{Precision, Values};
use sparse_types::task::{DenseMut, DenseRef, Task};

/// Rows of a matrix that a plan is timed on, unless one sixteenth is more.
const SAMPLE: usize = 1 << 14;

impl From<Plan> for Split {
    fn from(plan: Plan) -> Split {
        Split { csr: plan.choice.csr_threads as usize, tiles: plan.choice.tile_threads as usize }
    }
}

/// Rows of a tile. For SME as many as a streaming vector of the thread that asks has elements, so that an outer product has no idle rows
/// (`cntd`, `cntf` and `cnth` in the paper). Elsewhere no vector lies along a tile's rows, and higher tiles have more pads: the format's
/// default.
#[must_use]
pub fn tile_rows(kernel: &Kernel) -> u32 {
    match crate::machine::streaming_vector_bits() / kernel.contract.types.a.spec().storage_bits {
        lanes if lanes > 0 && kernel.engine == Engine::Sme.name() => lanes,
        _ => FormatParams::DEFAULT.br,
    }
}

/// The bits of 1.0: its exponent's field is the bias, which is all ones but the topmost.
fn one(precision: Precision) -> u64 {
    let spec = precision.spec();
    let bias = u64::from(1u32.wrapping_sub_signed(spec.emin));
    bias << (spec.storage_bits - 2 - bias.count_ones())
}

fn splitting(kernel: &Kernel) -> Result<RunSplit, Refusal> {
    kernel.run_split.ok_or_else(|| {
        Refusal::Request(RequestError::Kind {
            field: "kernel",
            expected: "one of SpMM on LOOPS that takes a number of workers for each part".to_owned(),
            found: kernel.name.clone(),
        })
    })
}

/// How `A * B` with `n` columns of B is best computed by the threads of the pool that this is called in: some rows of A, a
/// CSR matrix of the kernel's type, are encoded as LOOPS in several ways and multiplied, against the clock.
///
/// [`Plan::params`] is what the encoder takes, and `plan.into()` the [`Split`] for [`Kernel::run_split`]. Timing decides: the
/// plan may differ from call to call, results never do.
///
/// # Errors
/// A matrix that is not CSR of the kernel's type, a kernel that takes no split or that this machine can't run, operands past
/// 2^32 rows, columns or elements.
pub fn plan_loops(kernel: &Kernel, a: &AnySparse, n: usize) -> Result<Plan, ScheduleError> {
    let (rows, cols) = a.shape();
    check_u32("columns of B", n as u128).map_err(Refusal::from)?;
    let wanted = SAMPLE.max(rows / 16);
    for count in [cols.saturating_mul(n), wanted.min(rows).saturating_mul(n)] {
        check_u32("elements of B or C", count as u128).map_err(Refusal::from)?;
    }
    let precision = kernel.contract.types.b;
    let b = Values::filled(precision, cols * n, one(precision));
    let b = DenseRef { rows: cols, cols: n, ld: n, layout: Layout::RowMajor, data: b.as_slice() };
    plan_with(kernel, a, b, (wanted, tile_rows(kernel)))
}

/// The same on a B that is at hand, not transposed: timed on `wanted` rows of A, in tiles of `br` rows.
///
/// # Errors
/// As [`plan_loops`].
pub fn plan_with(
    kernel: &Kernel,
    a: &AnySparse,
    b: DenseRef<'_>,
    (wanted, br): (usize, u32),
) -> Result<Plan, ScheduleError> {
    let run = splitting(kernel)?;
    let (rows, n) = (a.shape().0, b.cols);
    let mut c = Values::filled(kernel.contract.types.out, wanted.min(rows) * n, 0);
    let threads = rayon::current_num_threads() as u32;
    timed_plan(a, wanted, br, threads, |loops, plan| {
        let task = Task::Spmm {
            a: loops,
            transpose_a: false,
            b,
            transpose_b: false,
            alpha: 1.0,
            beta: 0.0,
            c: DenseMut {
                rows: loops.shape().0,
                cols: n,
                ld: n,
                layout: Layout::RowMajor,
                data: c.as_mut_slice(),
            },
        };
        run(task, (*plan).into()).map(|_| ())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_types::each_precision;
    use sparse_types::scalar::Scalar;

    #[test]
    fn one_is_one_in_every_type() {
        for precision in Precision::ALL {
            let found =
                each_precision!(Values, Values::filled(precision, 1, one(precision)), v => v[0].to_f64());
            assert!(found == 1.0, "{precision}: {found}");
        }
    }
}
