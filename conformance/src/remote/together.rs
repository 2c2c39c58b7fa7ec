//! A plug-in called by four threads at once, where its manifest says that it may be.
//!
//! ```text
//! threads 0 and 2: the request itself        threads 1 and 3: the same with every value of A negated
//! answer: that of thread 0; that of thread 2 where it is another, for the judge to look at
//! ```
//!
//! Other operands beside, or a buffer that all calls share would hold what is right for each of them.

use crate::sequence::negated_matrix;
use sparse_oracle::each_precision;
use sparse_oracle::scalar::{Element, Values};
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use sparse_plugin::{Plugin, RunError};
use std::sync::Barrier;

/// Threads that call.
const THREADS: usize = 4;

/// Runs a task by several threads at once and gives one of the answers: the one that differs, if there is one.
///
/// # Errors
/// As [`Plugin::run`], and whatever a call on other operands breaks; that it may refuse those says nothing.
pub(crate) fn together(plugin: &Plugin, contract: &str, task: Task<'_>) -> Result<Answer, RunError> {
    let (inputs, mut output) = task.into_parts();
    let other = negated_matrix(inputs.a).unwrap_or_else(|| inputs.a.clone());
    let held =
        output.as_ref().map(|out| each_precision!(AnySliceMut, &out.data, v => Element::wrap(v.to_vec())));
    let mut outputs = vec![held; THREADS];
    let ready = Barrier::new(THREADS);
    let shape = output.as_ref().map(|out| (out.rows, out.cols, out.ld, out.layout));
    let mut answers: Vec<Option<Result<Answer, RunError>>> = std::thread::scope(|scope| {
        let calls = outputs.iter_mut().enumerate().map(|(number, out)| {
            let a = if number.is_multiple_of(2) { inputs.a } else { &other };
            let output = shape.zip(out.as_mut()).map(|((rows, cols, ld, layout), values)| DenseMut {
                rows,
                cols,
                ld,
                layout,
                data: values.as_mut_slice(),
            });
            let (ready, twin) = (&ready, Task::new(Inputs { a, ..inputs }, output));
            scope.spawn(move || {
                ready.wait();
                twin.ok().map(|twin| plugin.run_at_once(contract, twin))
            })
        });
        let calls: Vec<_> = calls.collect();
        // A thread of ours can't panic; if it did, it has no answer, and the call is made again below.
        calls.into_iter().map(|call| call.join().ok().flatten()).collect()
    });
    for beside in [1, 3] {
        match answers.get_mut(beside).and_then(Option::take) {
            None | Some(Ok(_) | Err(RunError::Refused(_))) => {}
            Some(Err(error)) => return Err(error),
        }
    }
    let (Some(first), Some(second)) = (take(&mut answers, 0), take(&mut answers, 2)) else {
        let task = Task::new(inputs, output).map_err(|refusal| RunError::Refused(refusal.to_string()))?;
        return plugin.run(contract, task);
    };
    let (first, second) = (first?, second?);
    // Printed, NaN are alike whatever their bits: these are for the judge of a single call.
    let same = format!("{first:?} {:?}", outputs[0]) == format!("{second:?} {:?}", outputs[2]);
    let (answer, chosen) = if same { (first, 0) } else { (second, 2) };
    if let (Some(out), Some(values)) = (&mut output, &outputs[chosen]) {
        each_precision!(AnySliceMut, &mut out.data, v => deliver(values, v));
    }
    Ok(answer)
}

fn take(answers: &mut [Option<Result<Answer, RunError>>], at: usize) -> Option<Result<Answer, RunError>> {
    answers.get_mut(at).and_then(Option::take)
}

/// Copies what a call wrote to where the task wants it.
fn deliver<T: Element>(values: &Values, to: &mut [T]) {
    if let Some(values) = T::unwrap_slice(values.as_slice()) {
        to.copy_from_slice(values);
    }
}
