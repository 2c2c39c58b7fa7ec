//! The LOOPS scheduler at work on this machine: plans timed with the kernels of one engine.

use super::{Split, spmm_split};
use crate::engine::Engine;
use crate::schedule::{Plan, ScheduleError, timed_plan};
use sparse_types::format::{AnySparse, Layout};
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

/// Rows of a tile: lanes of one vector of the element type.
const fn tile_rows(engine: Engine, precision: Precision) -> u32 {
    let bits = match engine {
        Engine::Avx512 => 512,
        _ => 256,
    };
    match precision {
        Precision::F64 => bits / 64,
        Precision::F32 | Precision::Tf32 => bits / 32,
        Precision::F16 | Precision::Bf16 => bits / 16,
        Precision::E4m3 | Precision::E5m2 => bits / 8,
    }
}

/// How `A * B` with `n` columns of B is best computed by the threads of the pool that this is called in: some rows of A, a
/// CSR matrix of f64, f32 or f16, are encoded as LOOPS in several ways and multiplied, against the clock.
///
/// [`Plan::params`] is what the encoder takes, and `plan.into()` the [`Split`] for [`spmm_split`]. Timing decides: the
/// plan may differ from call to call, results never do.
///
/// # Errors
/// A matrix that is not CSR of one of these types, an engine other than AVX-512 and AVX2 or one that this machine lacks,
/// operands past 2^32 rows or columns.
pub fn plan_loops(a: &AnySparse, n: usize, engine: Engine) -> Result<Plan, ScheduleError> {
    let (rows, cols) = a.shape();
    check_u32("columns of B", n as u128).map_err(Refusal::from)?;
    let wanted = SAMPLE.max(rows / 16);
    let out = match a.precision() {
        Precision::F16 => Precision::F32,
        other => other,
    };
    let numbers = |precision, count: usize| -> Result<Values, Refusal> {
        check_u32("elements of B or C", count as u128)?;
        Ok(match precision {
            Precision::F64 => Values::F64(vec![1.0; count]),
            Precision::F32 => Values::F32(vec![1.0; count]),
            Precision::F16 => Values::F16(vec![sparse_types::F16(0x3c00); count]),
            other => {
                return Err(Refusal::Request(RequestError::Kind {
                    field: "A",
                    expected: "f64, f32 or f16".to_owned(),
                    found: other.to_string(),
                }));
            }
        })
    };
    let b = numbers(a.precision(), cols.saturating_mul(n))?;
    let elements = wanted.min(rows).saturating_mul(n);
    check_u32("elements of B or C", elements as u128).map_err(Refusal::from)?;
    let b = DenseRef { rows: cols, cols: n, ld: n, layout: Layout::RowMajor, data: b.as_slice() };
    plan_with(a, b, out, (wanted, tile_rows(engine, a.precision())), engine)
}

/// The same on a B that is at hand, not transposed, with results of type `out`: timed on `wanted` rows of A, in tiles of `br` rows.
///
/// # Errors
/// As [`plan_loops`].
pub fn plan_with(
    a: &AnySparse,
    b: DenseRef<'_>,
    out: Precision,
    (wanted, br): (usize, u32),
    engine: Engine,
) -> Result<Plan, ScheduleError> {
    let (rows, n) = (a.shape().0, b.cols);
    let mut c = Values::filled(out, wanted.min(rows) * n, 0);
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
        spmm_split(task, engine, (*plan).into()).map(|_| ())
    })
}
