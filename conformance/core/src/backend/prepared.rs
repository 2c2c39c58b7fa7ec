//! A backend that holds what it computes on, so that computing can be asked for, and timed, by itself.
//!
//! ```text
//! prepare(inputs)  encode, copy, upload, inspect     once
//! compute(output)  the product                       again and again: what a clock times is what the judge judged
//! answer()         into the suite's form             not timed
//! ```

use super::{Backend, Failure};
use sparse_oracle::contract::Contract;
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use std::time::Duration;

/// Inputs as a backend wants them, ready to be computed on.
pub trait Prepared: Send {
    /// Computes once, into the output where the operation has a dense one. A sparse result may stay in a form of the backend's own
    /// until [`answer`](Self::answer) is called.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure>;

    /// How long the kernel itself took in the last call, where [`compute`](Self::compute) does more than it: copies between guards.
    fn took(&self) -> Option<Duration> {
        None
    }

    /// What the last call computed, in the suite's form; called at most once for each.
    ///
    /// # Errors
    /// As [`Backend::run`].
    fn answer(&mut self) -> Result<Answer, Failure>;

    /// Drops what the last call computed, if it was not asked for.
    fn clear(&mut self);
}

/// A backend that keeps nothing: each computation is a whole run.
pub(super) struct Unprepared<'a, B: ?Sized> {
    backend: &'a B,
    contract: &'a Contract,
    inputs: Inputs<'a>,
    answer: Option<Answer>,
}

impl<'a, B: ?Sized> Unprepared<'a, B> {
    pub(super) fn new(backend: &'a B, contract: &'a Contract, inputs: Inputs<'a>) -> Unprepared<'a, B> {
        Unprepared { backend, contract, inputs, answer: None }
    }
}

impl<B: Backend + ?Sized> Prepared for Unprepared<'_, B> {
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        let task = Task::new(self.inputs, output).map_err(|refusal| refusal.to_string())?;
        self.answer = Some(self.backend.run(self.contract, task)?);
        Ok(())
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        self.answer.take().ok_or_else(|| "nothing was computed".into())
    }

    fn clear(&mut self) {
        self.answer = None;
    }
}
