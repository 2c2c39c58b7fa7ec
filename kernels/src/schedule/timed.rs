//! Calibration by the clock, on some rows of the user's matrix.
//!
//! ```text
//! rows of A   [##......][##......][##......][##......]     the first rows of each of 16 stretches, in order
//! sample      [##|##|##|##]                                a CSR matrix with all columns, encoded as each plan says
//! ```

use super::{Plan, ScheduleError, plan};
use crate::portable::convert::CsrToLoops;
use crate::portable::element::Stored;
use crate::portable::moves::Move;
use crate::portable::request::wrong_format;
use sparse_types::format::{AnySparse, Csr, CsrParts, FormatKind, FormatParams, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Stretches of rows that a sample is taken from.
const STRETCHES: usize = 16;
/// Runs of each plan at least, after one that is not counted.
const RUNS: usize = 3;
/// Runs go on until they took this long together.
const LONG_ENOUGH: Duration = Duration::from_millis(5);

/// The rows of a sample of about `wanted` of `rows` rows: all of them, or the first ones of evenly spaced stretches.
#[must_use]
pub fn sample_rows(rows: usize, wanted: usize) -> Vec<Range<usize>> {
    if wanted >= rows {
        return std::iter::once(0..rows).filter(|all| !all.is_empty()).collect();
    }
    let count = STRETCHES.min(wanted);
    // Rows taken and rows left out alternate, each spread evenly: no range reaches into the next one.
    let spread = |total: usize, i: usize| i * total / count;
    let start = |i| spread(wanted, i) + spread(rows - wanted, i);
    let length = |i| spread(wanted, i + 1) - spread(wanted, i);
    (0..count).map(|i| start(i)..start(i) + length(i)).collect()
}

/// Some rows of a CSR matrix, with all of its columns.
#[derive(Clone, Debug)]
pub struct RowSample {
    matrix: AnySparse,
    rows: u32,
    nnz: usize,
}

impl RowSample {
    /// The rows in these ranges, in their order.
    ///
    /// # Errors
    /// A matrix that is not CSR; a range past its last row.
    pub fn new(a: &AnySparse, ranges: &[Range<usize>]) -> Result<RowSample, Refusal> {
        macro_rules! typed {
            ($($variant:ident),*) => {
                match a {
                    $(AnySparse::$variant(m) => {
                        let csr = take(m, ranges)?;
                        Ok(RowSample {
                            rows: csr.rows as u32,
                            nnz: csr.nnz(),
                            matrix: AnySparse::$variant(Sparse::Csr(csr)),
                        })
                    })*
                }
            };
        }
        typed!(F64, F32, Tf32, F16, Bf16, E4m3, E5m2)
    }

    /// The sample as LOOPS.
    ///
    /// # Errors
    /// What the encoder refuses.
    pub fn encoded(&self, params: FormatParams) -> Result<AnySparse, Refusal> {
        fn perform<T: Stored>(m: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
            CsrToLoops::perform(m, params)
        }
        let answer = match &self.matrix {
            AnySparse::F64(m) => perform(m, params),
            AnySparse::F32(m) => perform(m, params),
            AnySparse::Tf32(m) => perform(m, params),
            AnySparse::F16(m) => perform(m, params),
            AnySparse::Bf16(m) => perform(m, params),
            AnySparse::E4m3(m) => perform(m, params),
            AnySparse::E5m2(m) => perform(m, params),
        }?;
        match answer {
            Answer::Parts(parts) => parts.check(),
            _ => Err(wrong_format("sample", FormatKind::Loops, FormatKind::Csr)),
        }
    }
}

fn take<T: Stored>(matrix: &Sparse<T>, ranges: &[Range<usize>]) -> Result<Csr<T>, Refusal> {
    let Sparse::Csr(m) = matrix else {
        return Err(wrong_format("A", FormatKind::Csr, matrix.kind()));
    };
    let mut taken =
        CsrParts { rows: 0, cols: m.cols, row_ptr: vec![0], col_idx: Vec::new(), values: Vec::new() };
    for range in ranges {
        if range.end > m.rows {
            return Err(Refusal::Request(RequestError::Shape {
                left_name: "end of a sampled range",
                left: range.end,
                right_name: "rows of A",
                right: m.rows,
            }));
        }
        for row in range.clone() {
            let (cols, values) = m.row(row);
            taken.col_idx.extend_from_slice(cols);
            taken.values.extend_from_slice(values);
            taken.row_ptr.push(taken.values.len() as u32);
        }
    }
    taken.rows = taken.row_ptr.len() - 1;
    Csr::try_new(taken)
}

/// The plan for a CSR matrix, timed on a sample of about `wanted` of its rows. `execute` multiplies a LOOPS matrix with the
/// columns of A as the plan says, and is timed while it does: what it needs is best made beforehand.
///
/// # Errors
/// A matrix that is not CSR; errors of [`plan`], of the encoder and of `execute`.
pub fn timed_plan(
    a: &AnySparse,
    wanted: usize,
    br: u32,
    threads: u32,
    mut execute: impl FnMut(&AnySparse, &Plan) -> Result<(), Refusal>,
) -> Result<Plan, ScheduleError> {
    let (rows, _) = a.shape();
    let sample = RowSample::new(a, &sample_rows(rows, wanted))?;
    plan(rows as u32, sample.rows, br, threads, |plan| {
        let loops = sample.encoded(plan.params())?;
        execute(&loops, plan)?;
        let (mut best, mut spent, mut runs) = (Duration::MAX, Duration::ZERO, 0);
        while runs < RUNS || spent < LONG_ENOUGH {
            let start = Instant::now();
            execute(&loops, plan)?;
            let took = start.elapsed();
            (best, spent, runs) = (best.min(took), spent + took, runs + 1);
        }
        // Entries a second; an empty sample or a clock without ticks must not give 0 or infinity.
        Ok(sample.nnz.max(1) as f64 / best.as_secs_f64().max(1e-9))
    })
}
