//! One case on every backend: is it worth running, what came back, what does the oracle say.
//!
//! ```text
//! operands -> calls before (earlier) -> the judged call (runs) -> verdict, or none from values (settle) -> further runs -> record
//! ```

mod earlier;
mod runs;
mod settle;

pub use self::runs::starts;

use self::earlier::in_sequence;
use self::runs::judge_keeping;
use self::settle::{judge_move, settle};
use crate::backend::{Backend, Support};
use crate::case::Case;
use crate::degenerate::degenerate;
use crate::determinism::{Again, First, Repeats, repeat};
use crate::digest::{self, OutputHash};
use crate::execute::{Before, execute};
use crate::memory::NoRoom;
use crate::operands::{OperandError, Operands, build, initial};
use crate::origin::Loaded;
use crate::record::{record, unmade};
use crate::report::{CaseRecord, Repeated};
use crate::response::Response;
use sparse_oracle::judge::{Judged, Sheets};
use sparse_oracle::verdict::Verdict;
use sparse_plugin::Environment;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// What running one case gave.
#[derive(Debug)]
pub struct Ran {
    /// One record per backend, in their order.
    pub records: Vec<CaseRecord>,
    /// Time inside each backend.
    pub inside: Vec<Duration>,
    /// Time for everything else.
    pub judging: Duration,
    /// What the case needs and there was no memory for: nobody was asked, and the records say why.
    pub no_room: Option<NoRoom>,
}

/// Runs a case on every backend and judges what comes back. Never panics, whatever the backend does in safe code.
#[must_use]
pub fn run_case(case: &Case, loaded: &Loaded, backends: &[Box<dyn Backend>]) -> Ran {
    run_case_repeated(case, loaded, backends, Repeats::default())
}

/// [`run_case`] with a say in which cases are run again to see whether their bits stay.
#[must_use]
pub fn run_case_repeated(
    case: &Case,
    loaded: &Loaded,
    backends: &[Box<dyn Backend>],
    repeats: Repeats,
) -> Ran {
    let backends: Vec<&dyn Backend> = backends.iter().map(AsRef::as_ref).collect();
    run_case_on(case, loaded, &backends, repeats)
}

/// [`run_case_repeated`] on some of the backends.
#[must_use]
pub fn run_case_on(case: &Case, loaded: &Loaded, backends: &[&dyn Backend], repeats: Repeats) -> Ran {
    // What a kernel left behind on a thread that it was not called on is no part of this case.
    Environment::default().restore();
    let again = repeats.of(&case.to_string());
    let start = Instant::now();
    let mut inside = vec![Duration::ZERO; backends.len()];
    let mut no_room = None;
    let records = match build(case, loaded) {
        Err(error) => {
            no_room = if let OperandError::Memory(no) = &error { Some(*no) } else { None };
            backends.iter().map(|b| unmade(case, *b, error.to_string())).collect()
        }
        Ok(operands) => {
            let sheets = Sheets::new(operands.inputs(case));
            let named = || digest::hex(digest::inputs(case, &operands));
            let forgives = || degenerate(case, &operands, &sheets);
            let (degenerate, inputs) = digest::beside(digest::elements(&operands), forgives, named);
            let judged = |(backend, spent): (&dyn Backend, &mut Duration)| {
                let mut seen = RunState::new(&sheets);
                let judged = judge_seen(case, &operands, backend, again, &mut seen);
                *spent += seen.spent;
                let mut record = record(case, backend, judged, &degenerate);
                record.inputs = seen.asked.then(|| inputs.clone());
                record.output = seen.output.digest().map(digest::hex);
                record
            };
            backends.iter().copied().zip(&mut inside).map(judged).collect()
        }
    };
    let judging = start.elapsed().saturating_sub(inside.iter().sum());
    Ran { records, inside, judging, no_room }
}

/// What asking a backend for one case gave.
#[derive(Debug)]
pub struct Asked {
    /// The record, without the wrong kernels that the case forgives.
    pub record: CaseRecord,
    /// The call before the judged one that the verdict is about, numbered as `calls=` numbers them.
    pub in_call: Option<usize>,
}

/// A case to ask many backends for: what its result must be is worked out once.
#[derive(Debug)]
pub struct Ready<'a> {
    case: &'a Case,
    operands: &'a Operands,
    sheets: Sheets<'a>,
}

impl<'a> Ready<'a> {
    /// A case and its operands, as [`build`] makes them.
    #[must_use]
    pub fn new(case: &'a Case, operands: &'a Operands) -> Ready<'a> {
        Ready { case, operands, sheets: Sheets::new(operands.inputs(case)) }
    }

    /// The case.
    #[must_use]
    pub fn case(&self) -> &'a Case {
        self.case
    }

    /// Asks a backend and judges what comes back, as [`run_case`] does; which wrong kernels the case forgives is not said.
    #[must_use]
    pub fn ask(&self, backend: &dyn Backend) -> Asked {
        self.record(backend, RunState::new(&self.sheets))
    }

    /// As [`ask`](Self::ask), for a backend that remembers nothing: calls before the judged one that repeat others are left out.
    #[must_use]
    pub fn ask_once(&self, backend: &dyn Backend) -> Asked {
        let seen = RunState::new(&self.sheets);
        self.record(backend, RunState { once: true, ..seen })
    }

    fn record(&self, backend: &dyn Backend, mut seen: RunState<'_, '_>) -> Asked {
        Environment::default().restore();
        let judged = judge_seen(self.case, self.operands, backend, None, &mut seen);
        Asked { record: record(self.case, backend, judged, &[]), in_call: seen.in_call }
    }
}

/// What is seen of a backend beside its verdict.
#[derive(Debug)]
struct RunState<'s, 'a> {
    /// What the result must be.
    sheets: &'s Sheets<'a>,
    /// Time inside it.
    spent: Duration,
    /// True once it was called.
    asked: bool,
    /// The bits that came back.
    output: OutputHash,
    /// The first result, where the case is run again.
    keep: Keep,
    /// The call before the judged one that the verdict is about.
    in_call: Option<usize>,
    /// Calls before the judged one that repeat others are left out.
    once: bool,
}

impl<'s, 'a> RunState<'s, 'a> {
    fn new(sheets: &'s Sheets<'a>) -> RunState<'s, 'a> {
        RunState {
            sheets,
            spent: Duration::ZERO,
            asked: false,
            output: OutputHash::default(),
            keep: Keep::No,
            in_call: None,
            once: false,
        }
    }

    /// Calls the backend and hashes what comes back.
    fn execute(
        &mut self,
        case: &Case,
        operands: &Operands,
        backend: &dyn Backend,
        before: Before<'_>,
    ) -> Response {
        self.execute_and(case, operands, (backend, before), |_| ()).0
    }

    /// As [`execute`](Self::execute); what comes back is judged while it is hashed.
    fn execute_and<J: Send>(
        &mut self,
        case: &Case,
        operands: &Operands,
        (backend, before): (&dyn Backend, Before<'_>),
        judge: impl FnOnce(&Response) -> J + Send,
    ) -> (Response, J) {
        self.asked = true;
        let response = execute(case, operands, backend, before, &mut self.spent);
        let elements = if let Response::Dense(result) = &response { result.found().len() } else { 0 };
        let output = &mut self.output;
        let (judged, ()) = digest::beside(elements, || judge(&response), || output.add(&response));
        (response, judged)
    }
}

/// Runs a case on given operands and judges what comes back. Time inside the backend is added to `spent`.
#[must_use]
pub fn judge_operands(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    spent: &mut Duration,
) -> Judged {
    let sheets = Sheets::new(operands.inputs(case));
    let mut seen = RunState::new(&sheets);
    let (judged, _) = judge_seen(case, operands, backend, None, &mut seen);
    *spent += seen.spent;
    judged
}

/// [`judge_operands`], and further runs of a case that passed: their bits against the first, and where they differ, their
/// verdict.
#[must_use]
pub fn judge_repeated(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    again: Option<Again>,
    spent: &mut Duration,
) -> (Judged, Option<Repeated>) {
    let sheets = Sheets::new(operands.inputs(case));
    let mut seen = RunState::new(&sheets);
    let judged = judge_seen(case, operands, backend, again, &mut seen);
    *spent += seen.spent;
    judged
}

fn judge_seen(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    again: Option<Again>,
    seen: &mut RunState<'_, '_>,
) -> (Judged, Option<Repeated>) {
    match in_sequence(case, operands, backend, seen) {
        Ok(operands) => judge_placed(case, &operands, backend, again, seen),
        Err(judged) => (judged, None),
    }
}

fn judge_placed(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    again: Option<Again>,
    seen: &mut RunState<'_, '_>,
) -> (Judged, Option<Repeated>) {
    seen.keep = if again.is_some() { Keep::Wanted } else { Keep::No };
    let judged = judge_keeping(case, operands, backend, seen);
    let passed = matches!(judged.verdict, Verdict::Exact | Verdict::Within { .. });
    let first = match std::mem::replace(&mut seen.keep, Keep::No) {
        Keep::Result(first) if passed => Some(*first),
        Keep::Result(_) | Keep::Wanted | Keep::No => None,
    };
    let Some((again, first)) = again.zip(first) else {
        return (judged, None);
    };
    let others = repeat(case, operands, backend, (&first, again), &mut seen.spent);
    let of_others = others
        .others
        .into_iter()
        .map(|response| judge_response(case, operands, backend, response, (&first, seen.sheets)));
    let worse = of_others.into_iter().find(|judged| judged.verdict.is_finding());
    let claim = others.broken_claim.map(|mismatch| Judged::only(Verdict::Wrong(Box::new(mismatch))));
    (worse.or(claim).unwrap_or(judged), Some(others.record))
}

/// Judges the result of a further run.
fn judge_response(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    response: Response,
    (first, sheets): (&First, &Sheets<'_>),
) -> Judged {
    let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
        return Judged::only(settle(response));
    };
    if case.contract.op.is_exact() {
        return Judged::only(judge_move((&profile, sheets), response));
    }
    let product = sheets.product(&arithmetic, &profile);
    match (product.exact(), response) {
        (Ok(exact), Response::Dense(result)) => {
            let sampled = case.contract.op.is_sampled();
            let c =
                if sampled { initial(case, operands, 0) } else { first.before.as_deref().map(Cow::Borrowed) };
            product.judge_dense(exact, result.output(), c.as_deref())
        }
        (Ok(exact), Response::Sparse(raw)) => product.judge_spgemm(exact, raw),
        (_, other) => Judged::only(settle(other)),
    }
}

/// Whether the first result of a case is kept, to compare further runs with.
#[derive(Debug)]
enum Keep {
    No,
    /// Once there is one.
    Wanted,
    Result(Box<First>),
}
