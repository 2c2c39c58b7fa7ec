//! One call of a backend, guarded: a poisoned output between canaries, inputs hashed before and after, panics caught.

use crate::backend::{Backend, Failure, Prepared, ThreadControl};
use crate::case::{Case, Fault};
use crate::digest::fingerprint;
use crate::operands::{DenseOperand, Operands};
use crate::placed::Placed;
use crate::response::{DenseResult, Response, poison};
use rayon::ThreadPool;
use sparse_oracle::contract::Returned;
use sparse_oracle::each_precision;
use sparse_oracle::format::Layout;
use sparse_oracle::judge::Place;
use sparse_oracle::prelude::*;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::scalar::{AnySliceMut, Precision, Scalar};
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use sparse_oracle::verdict::{Defect, Mismatch};
use sparse_plugin::Environment;
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Elements of guard on either side of an output.
const GUARD: usize = 16;

/// What the output holds in a second run of a case whose output must not be read; one seed in four has such a run. It is a huge
/// number of either sign, zero, or infinity: a kernel that reads the output, but ignores NaN, gets the first run right, which
/// starts from NaN.
#[must_use]
pub(crate) fn other_filling(precision: Precision, seed: u64) -> Option<u64> {
    // Sign, largest exponent and most of a significand.
    let (sign, infinite, huge) = match precision {
        Precision::F64 => (1 << 63, 0x7ff0_0000_0000_0000, 0x7fef_0bad_5eed_dead),
        Precision::F32 | Precision::Tf32 => (1 << 31, 0x7f80_0000, 0x7f7b_adde),
        Precision::F16 => (1 << 15, 0x7c00, 0x7bad),
        Precision::Bf16 => (1 << 15, 0x7f80, 0x7f7d),
        // Never outputs.
        Precision::E4m3 | Precision::E5m2 => return None,
    };
    match seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60 {
        0 => Some(huge),
        1 => Some(sign | huge),
        2 => Some(0),
        3 => Some(infinite),
        _ => None,
    }
}

/// What pads and guards of an output hold, in every type: three times the smallest subnormal. Adding anything but zero changes
/// it; a NaN would swallow what a kernel adds behind a row (`c[j] += ..` with `j` past the last column).
pub const CANARY: u64 = 3;

/// What an output holds before the call.
#[derive(Clone, Copy, Debug)]
pub enum Before<'a> {
    /// Poison everywhere.
    Poison,
    /// These values, rounded to the output type, row by row.
    Values(&'a [f64]),
    /// This bit pattern everywhere.
    Bits(u64),
}

impl<'a> Before<'a> {
    /// What C holds before a call of this case, from the `c` that it is judged with: poison where the call does not update C in place.
    #[must_use]
    pub fn of(case: &Case, c: Option<&'a [f64]>) -> Self {
        c.filter(|_| case.contract.op.updates()).map_or(Before::Poison, Before::Values)
    }
}

/// Shape of a dense output in memory.
#[derive(Clone, Copy, Debug)]
struct Frame {
    rows: usize,
    cols: usize,
    ld: usize,
    layout: Layout,
    /// Elements past a multiple of 64 bytes.
    shift: usize,
}

impl Frame {
    fn of(case: &Case, operands: &Operands) -> Frame {
        let (rows, cols) = operands.result;
        let flat = case.contract.op.signature().returned != Returned::Matrix;
        let layout = if flat { Layout::ColMajor } else { case.params.layout_c };
        let inner = if layout == Layout::RowMajor { cols } else { rows };
        Frame {
            rows,
            cols,
            ld: inner + if flat { 0 } else { case.params.pad_c },
            layout,
            shift: case.params.align,
        }
    }

    fn len(&self) -> usize {
        self.ld * if self.layout == Layout::RowMajor { self.rows } else { self.cols }
    }

    /// Elements and nothing between them.
    fn is_gapless(&self) -> bool {
        self.ld == self.inner()
    }

    /// Elements that are used of each row, or column, as it lies in memory.
    fn inner(&self) -> usize {
        if self.layout == Layout::RowMajor { self.cols } else { self.rows }
    }

    fn place(&self) -> Place {
        if self.layout == Layout::RowMajor { Place::Strides(self.ld, 1) } else { Place::Strides(1, self.ld) }
    }

    /// Offsets of the elements, row by row.
    fn offsets(self) -> impl Iterator<Item = usize> {
        let place = self.place();
        (0..self.rows).flat_map(move |i| (0..self.cols).map(move |j| place.offset((i, j), 0)))
    }

    fn fill(&self, precision: Precision, before: Before<'_>) -> Placed {
        let (bits, values) = match before {
            Before::Poison => (poison(precision), None),
            Before::Bits(bits) => (bits, None),
            Before::Values(c) => (CANARY, Some(c)),
        };
        let inside = if self.is_gapless() { bits } else { CANARY };
        let mut buffer = Placed::filled(precision, self.len(), (GUARD, self.shift), (inside, CANARY));
        each_precision!(AnySliceMut, buffer.as_mut_slice(), elements => match values {
            Some(c) => self.offsets().zip(c).for_each(|(at, &c)| elements[at] = FromF64::from_f64(c)),
            None if self.is_gapless() => {}
            None => self.offsets().for_each(|at| elements[at] = Scalar::from_bits64(bits)),
        });
        buffer
    }

    /// The first canary that changed, as an offset from the first element (negative: before it).
    fn broken_canary(&self, buffer: &Placed) -> Option<i64> {
        if let Some(at) = buffer.changed_outside(CANARY) {
            return Some(at);
        }
        let slice = buffer.as_slice();
        if self.is_gapless() {
            return None;
        }
        let mut pads = (0..slice.len()).filter(|at| at % self.ld.max(1) >= self.inner());
        Some(pads.find(|&at| slice.bits(at) != CANARY)? as i64)
    }
}

/// The output of a case as it is before the call, without the guards around it.
pub fn output(case: &Case, operands: &Operands, before: Before<'_>) -> DenseOperand {
    let frame = Frame::of(case, operands);
    let buffer = frame.fill(case.contract.types.out, before);
    DenseOperand { rows: frame.rows, cols: frame.cols, ld: frame.ld, layout: frame.layout, data: buffer }
}

/// True where the case's fault applies to these operands. A short output cannot be made from an empty one.
#[must_use]
pub fn fault_applies(case: &Case, operands: &Operands) -> bool {
    let frame = Frame::of(case, operands);
    match case.params.fault {
        None => false,
        Some(Fault::ShortOutput) => frame.len() > 0,
        Some(Fault::SmallLdc) => frame.inner() > 0,
        Some(Fault::AlphaNan | Fault::BetaInfinite | Fault::InnerShape) => true,
    }
}

/// Calls the backend once. Time inside it is added to `spent`.
pub fn execute(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    before: Before<'_>,
    spent: &mut Duration,
) -> Response {
    let run = |task: Task<'_>| observed(|| backend.run(&case.contract, task));
    execute_by(case, operands, backend, before, spent, run)
}

/// As [`execute`], by inputs that the backend has taken in: `prepared` was made of these operands.
pub fn execute_prepared(
    case: &Case,
    operands: &Operands,
    (backend, prepared): (&dyn Backend, &mut dyn Prepared),
    before: Before<'_>,
    spent: &mut Duration,
) -> Response {
    let run = |task: Task<'_>| {
        observed(|| {
            prepared.compute(task.into_parts().1)?;
            prepared.answer()
        })
    };
    execute_by(case, operands, backend, before, spent, run)
}

/// Calls the backend once with so many threads; `None` where there is no way to.
pub(crate) fn execute_threaded(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    (before, threads): (Before<'_>, usize),
    spent: &mut Duration,
) -> Option<Response> {
    let control = backend.thread_control();
    let pool = match control {
        ThreadControl::None => return None,
        ThreadControl::Told => None,
        ThreadControl::Pool => Some(pool(threads)?),
    };
    let run = |task: Task<'_>| match pool {
        None => observed(|| backend.run_threaded(&case.contract, task, threads)),
        Some(pool) => within(pool, || observed(|| backend.run(&case.contract, task))),
    };
    Some(execute_by(case, operands, backend, before, spent, run))
}

/// A pool of so many threads, made on first use; none where the system gives no threads.
fn pool(threads: usize) -> Option<&'static ThreadPool> {
    static POOLS: Mutex<BTreeMap<usize, &'static ThreadPool>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Some(pool);
    }
    let made = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    let pool: &'static ThreadPool = Box::leak(Box::new(made));
    pools.insert(threads, pool);
    Some(pool)
}

/// Runs in a pool, waited for by a thread that is in no pool: a waiting worker would take up other cases meanwhile.
fn within(pool: &ThreadPool, run: impl FnOnce() -> Observed + Send) -> Observed {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pool.install(run)).join();
        waiting.unwrap_or_else(|payload| Observed {
            result: Err(panic_message(payload.as_ref())),
            environment: None,
        })
    })
}

/// Calls that each thread makes where several call at once.
const ROUNDS: usize = 4;

/// Calls the backend from so many threads at once, each with an output of its own; every second thread works on `others`. Returns what
/// `look` first makes of a response in each thread: it is asked of all responses on `operands`, and of those on `others` that are
/// crashes, timeouts or broken rules. No response is kept, as there would be as many large results as calls.
pub(crate) fn execute_together<T: Send>(
    case: &Case,
    (operands, others): (&Operands, &Operands),
    backend: &dyn Backend,
    (before, threads): (Before<'_>, usize),
    (look, spent): (&(impl Fn(Response) -> Option<T> + Sync), &mut Duration),
) -> Vec<T> {
    let ready = Barrier::new(threads);
    let ready = &ready;
    let calls = |mine: bool| {
        move || {
            ready.wait();
            let on = if mine { operands } else { others };
            let (mut spent, mut seen) = (Duration::ZERO, None);
            let broken = |response: &Response| {
                matches!(response, Response::Panicked(_) | Response::TimedOut { .. } | Response::Broke(_))
            };
            for _ in 0..ROUNDS {
                let response = execute(case, on, backend, before, &mut spent);
                if seen.is_none() && (mine || broken(&response)) {
                    seen = look(response);
                }
            }
            (seen, spent)
        }
    };
    std::thread::scope(|scope| {
        let spawn = |number: usize| scope.spawn(calls(number.is_multiple_of(2)));
        let waiting: Vec<_> = (0..threads).map(spawn).collect();
        let mut all = Vec::new();
        for thread in waiting {
            match thread.join() {
                Ok((seen, took)) => {
                    all.extend(seen);
                    *spent += took;
                }
                Err(payload) => all.extend(look(Response::Panicked(panic_message(payload.as_ref())))),
            }
        }
        all
    })
}

/// What a call gave, and what it did to the floating-point environment of its thread.
struct Observed {
    result: Result<Result<Answer, Failure>, String>,
    environment: Option<String>,
}

/// Runs a backend quietly; its thread's environment is afterwards as it was before, whatever the backend did.
fn observed(run: impl FnOnce() -> Result<Answer, Failure>) -> Observed {
    let found = Environment::now();
    let result = quietly(run);
    let left = Environment::now();
    found.restore();
    Observed { result, environment: found.change(left) }
}

fn execute_by(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    before: Before<'_>,
    spent: &mut Duration,
    run: impl FnOnce(Task<'_>) -> Observed,
) -> Response {
    let precision = case.contract.types.out;
    let frame = Frame::of(case, operands);
    let dense = case.contract.op.is_dense();
    let mut buffer =
        if dense { frame.fill(precision, before) } else { Placed::filled(precision, 0, (GUARD, 0), (0, 0)) };
    let hashed = fingerprint(operands);
    let len = if dense { frame.len() } else { 0 };
    let given = len - usize::from(case.params.fault == Some(Fault::ShortOutput) && len > 0);
    let task = match task(case, operands, frame, buffer.first_mut(given)) {
        Ok(task) => task,
        // Operands are always built for their operation.
        Err(refusal) => return Response::Panicked(format!("the request can't be made: {refusal}")),
    };
    let start = Instant::now();
    let Observed { result, environment } = run(task);
    *spent += start.elapsed();
    if fingerprint(operands) != hashed {
        return Response::Broke(Mismatch::plain(
            Defect::InputModified,
            "an input operand changed during the call".to_owned(),
        ));
    }
    if dense && let Some(at) = frame.broken_canary(&buffer) {
        let message = format!("offset {at} lies outside the result (padding or guard), and was written");
        return Response::Broke(Mismatch::plain(Defect::Canary, message));
    }
    if let (Ok(_), Some(change)) = (&result, environment) {
        let message = format!("left another floating-point environment than it found: {change}");
        return Response::Broke(Mismatch::plain(Defect::Environment, message));
    }
    match result {
        Err(message) if backend.refuses_by_panic() && case.params.fault.is_some() => {
            Response::Refused(message)
        }
        Err(message) => Response::Panicked(message),
        Ok(Err(Failure::Refused(refusal))) => Response::Refused(refusal),
        Ok(Err(Failure::Crashed(message))) => Response::Panicked(message),
        Ok(Err(Failure::TimedOut { seconds, idle, tail })) => Response::TimedOut { seconds, idle, tail },
        Ok(Err(Failure::Broke(mismatch))) => Response::Broke(*mismatch),
        Ok(Err(Failure::NotAsked(reason))) => Response::NotAsked(reason),
        Ok(Ok(Answer::Sparse(raw))) if !dense => Response::Sparse(raw),
        Ok(Ok(Answer::Parts(parts))) if !dense => Response::Parts(parts),
        Ok(Ok(Answer::Written)) if dense => Response::Dense(DenseResult { buffer, place: frame.place() }),
        Ok(Ok(_)) => Response::Broke(Mismatch::plain(
            Defect::Shape,
            format!(
                "{} must {}",
                case.contract,
                if dense { "write its output" } else { "return a sparse matrix" }
            ),
        )),
    }
}

fn task<'a>(
    case: &Case,
    operands: &'a Operands,
    frame: Frame,
    data: AnySliceMut<'a>,
) -> Result<Task<'a>, Refusal> {
    let p = &case.params;
    let asked = operands.inputs(case);
    let inputs = Inputs {
        alpha: if p.fault == Some(Fault::AlphaNan) { f64::NAN } else { asked.alpha },
        beta: if p.fault == Some(Fault::BetaInfinite) { f64::INFINITY } else { asked.beta },
        ..asked
    };
    let Frame { rows, cols, ld, layout, .. } = frame;
    let small = usize::from(p.fault == Some(Fault::SmallLdc));
    let ld = ld.saturating_sub(small * (p.pad_c + 1));
    Task::new(inputs, Some(DenseMut { rows, cols, ld, layout, data }))
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a backend; a panic becomes its message, and is not printed.
pub fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(false);
    result.map_err(|payload| panic_message(payload.as_ref()))
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by mutation: the huge numbers of either sign could be one, so that a kernel that adds what the output held to a sum of the
    /// same sign was asked the same twice.
    #[test]
    fn other_fillings_are_huge_of_either_sign_zero_or_infinite() {
        let drawn = |precision| {
            let mut bits: Vec<u64> = (0..4000).filter_map(|seed| other_filling(precision, seed)).collect();
            bits.sort_unstable();
            bits.dedup();
            bits
        };
        let (huge, infinite) = (0x7f7b_adde, 0x7f80_0000);
        assert_eq!(drawn(Precision::F32), [0, huge, infinite, (1 << 31) | huge]);
        assert_eq!(drawn(Precision::F16), [0, 0x7bad, 0x7c00, 0xfbad]);
        assert_eq!(drawn(Precision::Bf16), [0, 0x7f7d, 0x7f80, 0xff7d]);
        assert!(drawn(Precision::E4m3).is_empty());
        let asked = (0..4000).filter(|&seed| other_filling(Precision::F64, seed).is_some()).count();
        assert!((800..1200).contains(&asked), "one seed in four, not {asked} of 4000");
    }

    /// Found by mutation: a fault that has nothing to break counted as one, and the other way round.
    #[test]
    fn a_fault_needs_something_to_break() {
        let applies = |shape: &str, n: usize, fault: &str| {
            let line =
                format!("spmm.csr.f32_f32_f32_f32/dense:{shape},seed=1/values=ones,1/n={n}/fault={fault}");
            let case: Case = line.parse().expect(&line);
            let loaded = case.origin.load().expect("a generator");
            fault_applies(&case, &crate::operands::build(&case, &loaded).expect("operands"))
        };
        for (shape, n, short, small) in [
            ("rows=3,cols=4", 2, true, true),
            ("rows=0,cols=4", 2, false, true),
            ("rows=3,cols=4", 0, false, false),
        ] {
            assert_eq!(applies(shape, n, Fault::ShortOutput.name()), short, "{shape}, n={n}");
            assert_eq!(applies(shape, n, Fault::SmallLdc.name()), small, "{shape}, n={n}");
            assert!(applies(shape, n, Fault::AlphaNan.name()), "{shape}, n={n}");
        }
    }
}
