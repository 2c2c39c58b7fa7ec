//! Anything that can be asked to run contracts.
//!
//! A backend says beforehand what it supports, how it settles choice points (its profile) and how it rounds (its
//! declared arithmetic); then it is handed tasks. It never sees expected values and never judges itself.
//!
//! ```text
//! support(contract, params) -> Supported { arithmetic, profile } | Excluded { reason }     before anything runs
//! run(contract, task)       -> Answer | Failure                                            then, once or more a case
//! prepare(contract, inputs) -> Prepared: compute, compute, ..                              the same in two steps, for the clock
//! ```

mod failure;
mod prepared;

use crate::case::Params;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::format::Layout;
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::task::{Answer, Inputs, Task};
use std::borrow::Cow;

pub use self::failure::Failure;
pub use self::prepared::Prepared;

/// What a backend says about a request before it runs.
#[derive(Clone, Debug)]
pub enum Support {
    /// It will answer (or refuse a request that must be refused).
    Supported {
        /// How it rounds. Ignored for conversions and transposes, which must be exact.
        arithmetic: Arithmetic,
        /// How it settles choice points.
        profile: Profile,
    },
    /// Its manifest excludes the request, for this reason.
    Excluded {
        /// Why.
        reason: Cow<'static, str>,
    },
}

/// How far a backend says that the bits of its results are always the same for the same operands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Determinism {
    /// It claims nothing.
    #[default]
    #[serde(rename = "none")]
    Unclaimed,
    /// From run to run with the same number of threads.
    Runs,
    /// Whatever the number of threads.
    Threads,
}

/// How the judge can set the number of threads that a run uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadControl {
    /// The backend uses the rayon pool that it is called in.
    #[default]
    Pool,
    /// It is told, by [`Backend::run_threaded`].
    Told,
    /// It can't.
    None,
}

/// Values that a rule of a manifest names; empty where it restricts nothing.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    /// Values of alpha.
    pub alpha: &'a [f64],
    /// Values of beta.
    pub beta: &'a [f64],
    /// Parameters by name, with their values; `None` where it is not given.
    pub params: Vec<(&'a str, &'a [Option<u32>])>,
}

/// Something that runs contracts.
pub trait Backend: Send + Sync {
    /// Name on the command line and in reports.
    fn name(&self) -> &str;

    /// Version of what is being judged.
    fn version(&self) -> String;

    /// One line about it.
    fn description(&self) -> &str;

    /// What it says about a contract with these parameters. Must depend on nothing else.
    fn support(&self, contract: &Contract, params: &Params) -> Support;

    /// True if it takes any case of the contract: plans draw cases that it takes, and a run owes a verdict on them. By default, if it takes
    /// one of the common requests; a backend that takes only unusual ones (alpha = 3 alone) says so here.
    fn claims(&self, contract: &Contract) -> bool {
        let common = common_requests();
        common.iter().any(|params| matches!(self.support(contract, params), Support::Supported { .. }))
    }

    /// Values that it names in what it takes of a contract, a rule each, so that plans can draw them.
    fn named(&self, _contract: &Contract) -> Vec<Named<'_>> {
        Vec::new()
    }

    /// What it claims about its bits from run to run.
    fn determinism(&self) -> Determinism {
        Determinism::Unclaimed
    }

    /// How its number of threads is set.
    fn thread_control(&self) -> ThreadControl {
        ThreadControl::Pool
    }

    /// Runs a task with so many threads; called for backends that are told.
    ///
    /// # Errors
    /// As [`run`](Backend::run).
    fn run_threaded(&self, contract: &Contract, task: Task<'_>, _threads: usize) -> Result<Answer, Failure> {
        self.run(contract, task)
    }

    /// True where it may be called by several threads at once. Backends of this process are: the judge's threads call them so
    /// anyway.
    fn thread_safe(&self) -> bool {
        true
    }

    /// True where it runs only when it is named, because it takes long.
    fn by_name_only(&self) -> bool {
        false
    }

    /// The options that select it on the command line, quoted for a POSIX shell; empty where none do.
    fn selection(&self) -> String {
        format!("--backend {}", self.name())
    }

    /// Files and variables that it consists of besides this program, each with a word for its content: a run that is resumed must find
    /// them as they were.
    fn content(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Sees to it that the next task is answered by a fresh process; false where there is none to renew.
    fn renew(&self) -> bool {
        false
    }

    /// True for libraries that refuse bad requests by panicking, as their documentation says.
    fn refuses_by_panic(&self) -> bool {
        false
    }

    /// Takes in a task's inputs, to compute on them again and again. By default each computation is a whole [`run`](Self::run).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    fn prepare<'a>(
        &'a self,
        contract: &'a Contract,
        inputs: Inputs<'a>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        Ok(Box::new(prepared::Unprepared::new(self, contract, inputs)))
    }

    /// Runs a task. By default it is prepared and computed once; a backend defines this or [`prepare`](Self::prepare), since each
    /// rests on the other.
    ///
    /// # Errors
    /// The backend's own words for refusing it, or what happened instead of an answer.
    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let (inputs, output) = task.into_parts();
        let mut prepared = self.prepare(contract, inputs)?;
        prepared.compute(output)?;
        prepared.answer()
    }
}

/// Requests of every combination of layouts, transposes, padding, one or more columns, and two values of beta.
fn common_requests() -> [Params; 128] {
    std::array::from_fn(|at| {
        let bit = |of: usize| at >> of & 1 == 1;
        let layout = |of: usize| {
            if bit(of) { Layout::ColMajor } else { Layout::RowMajor }
        };
        let pad = usize::from(bit(4));
        Params {
            n: if bit(6) { 1 } else { 8 },
            layout_c: layout(0),
            layout_b: layout(1),
            transpose_a: bit(2),
            transpose_b: bit(3),
            pad_b: pad,
            pad_c: pad,
            beta: f64::from(u8::from(bit(5))),
            ..Params::default()
        }
    })
}

/// A backend whose manifest breaks the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "backend {backend} declares a weaker arithmetic for {contract} than the contract admits: it {reason}"
)]
pub struct WeakDeclaration {
    /// Its name.
    pub backend: String,
    /// The contract.
    pub contract: String,
    /// What is weaker.
    pub reason: String,
}

/// Checks every declaration of a backend against the weakest that each contract admits.
///
/// # Errors
/// The first contract for which the backend declares something weaker.
pub fn check_declarations(backend: &dyn Backend) -> Result<(), WeakDeclaration> {
    for contract in all_contracts() {
        for params in [Params::default(), Params { transpose_a: true, ..Params::default() }] {
            check_declaration(backend, contract, &params)?;
        }
    }
    Ok(())
}

/// Checks one declaration.
///
/// # Errors
/// When it is weaker than the contract admits.
pub fn check_declaration(
    backend: &dyn Backend,
    contract: &Contract,
    params: &Params,
) -> Result<(), WeakDeclaration> {
    let Support::Supported { arithmetic, .. } = backend.support(contract, params) else {
        return Ok(());
    };
    if contract.op.is_exact() {
        return Ok(());
    }
    match contract.refuses(&arithmetic) {
        Some(reason) => Err(WeakDeclaration {
            backend: backend.name().to_owned(),
            contract: contract.to_string(),
            reason,
        }),
        None => Ok(()),
    }
}
