//! One case on every backend: is it worth running, what came back, what does the oracle say.

use crate::backend::{Backend, Support};
use crate::case::{Case, Fault};
use crate::degenerate::degenerate;
use crate::determinism::{Again, First, Repeats, repeat};
use crate::digest::{self, OutputHash};
use crate::execute::{Before, Came, DenseResult, bites, execute, other_filling, poison};
use crate::expected::summed_positions;
use crate::operands::{OperandError, Operands, build, seed_of, values_in_order};
use crate::origin::Loaded;
use crate::record::{record, unmade};
use crate::report::{CaseRecord, Repeated};
use crate::sequence::{After, different, plain, prepare};
use crate::sheets::Sheets;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Op;
use sparse_oracle::judge::{Judged, judge_encoded, judge_moved};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::SddmmMode;
use sparse_oracle::verdict::{Defect, Mismatch, Verdict};
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
    // What a kernel left behind on a thread that it was not called on is no part of this case.
    Environment::default().restore();
    let again = repeats.of(&case.to_string());
    let start = Instant::now();
    let mut inside = vec![Duration::ZERO; backends.len()];
    let records = match build(case, loaded) {
        Err(error) => backends
            .iter()
            .map(|b| unmade(case, b.as_ref(), error.to_string()))
            .collect(),
        Ok(operands) => {
            let degenerate = degenerate(case, &operands);
            let inputs = digest::hex(digest::inputs(case, &operands));
            let sheets = Sheets::default();
            let judged = |(backend, spent): (&dyn Backend, &mut Duration)| {
                let mut seen = Seen::new(&sheets);
                let judged = judge_seen(case, &operands, backend, again, &mut seen);
                *spent += seen.spent;
                let mut record = record(case, backend, judged, &degenerate);
                record.inputs = seen.asked.then(|| inputs.clone());
                record.output = seen.output.digest().map(digest::hex);
                record
            };
            backends
                .iter()
                .map(AsRef::as_ref)
                .zip(&mut inside)
                .map(judged)
                .collect()
        }
    };
    let judging = start.elapsed().saturating_sub(inside.iter().sum());
    Ran {
        records,
        inside,
        judging,
    }
}

/// A case to ask many backends for: its operands are made, and what its result must be is worked out once.
#[derive(Debug)]
pub struct Ready<'a> {
    case: &'a Case,
    operands: Operands,
    sheets: Sheets,
}

impl<'a> Ready<'a> {
    /// Makes the operands.
    ///
    /// # Errors
    /// As [`build`].
    pub fn new(case: &'a Case, loaded: &Loaded) -> Result<Ready<'a>, OperandError> {
        Ok(Ready {
            case,
            operands: build(case, loaded)?,
            sheets: Sheets::default(),
        })
    }

    /// The case.
    #[must_use]
    pub fn case(&self) -> &'a Case {
        self.case
    }

    /// Asks a backend and judges what comes back, as [`run_case`] does; which wrong kernels the case forgives is not said.
    #[must_use]
    pub fn ask(&self, backend: &dyn Backend) -> CaseRecord {
        self.record(backend, Seen::new(&self.sheets))
    }

    /// As [`ask`](Self::ask), for a backend that remembers nothing: calls before the judged one that repeat others are left out.
    #[must_use]
    pub fn ask_once(&self, backend: &dyn Backend) -> CaseRecord {
        let seen = Seen::new(&self.sheets);
        self.record(backend, Seen { once: true, ..seen })
    }

    fn record(&self, backend: &dyn Backend, mut seen: Seen<'_>) -> CaseRecord {
        Environment::default().restore();
        let judged = judge_seen(self.case, &self.operands, backend, None, &mut seen);
        record(self.case, backend, judged, &[])
    }
}

/// A verdict that no tier gave.
pub(crate) fn verdict_only(verdict: Verdict) -> Judged {
    Judged {
        verdict,
        tiers: Vec::new(),
        elements: 0,
    }
}

/// What C holds before run `variant` of a case that reads it (S itself where an SDDMM adds it).
pub(crate) fn initial(case: &Case, operands: &Operands, variant: usize) -> Option<Vec<f64>> {
    match case.contract.op {
        Op::Sddmm if case.params.mode == SddmmMode::AddS => Some(values_in_order(&operands.a)),
        Op::Spmm | Op::Spmv if case.reads_c() => Some(operands.c[variant].clone()),
        _ => None,
    }
}

/// What is seen of a backend beside its verdict.
#[derive(Debug)]
struct Seen<'a> {
    /// What the result must be.
    sheets: &'a Sheets,
    /// Time inside it.
    spent: Duration,
    /// True once it was called.
    asked: bool,
    /// The bits that came back.
    output: OutputHash,
    /// The first result, where the case is run again.
    keep: Keep,
    /// Calls before the judged one that repeat others are left out.
    once: bool,
}

impl<'a> Seen<'a> {
    fn new(sheets: &'a Sheets) -> Seen<'a> {
        Seen {
            sheets,
            spent: Duration::ZERO,
            asked: false,
            output: OutputHash::default(),
            keep: None,
            once: false,
        }
    }

    fn execute(
        &mut self,
        case: &Case,
        operands: &Operands,
        backend: &dyn Backend,
        before: Before<'_>,
    ) -> Came {
        self.asked = true;
        let came = execute(case, operands, backend, before, &mut self.spent);
        self.output.add(&came);
        came
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
    let sheets = Sheets::default();
    let mut seen = Seen::new(&sheets);
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
    let sheets = Sheets::default();
    let mut seen = Seen::new(&sheets);
    let judged = judge_seen(case, operands, backend, again, &mut seen);
    *spent += seen.spent;
    judged
}

fn judge_seen(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    again: Option<Again>,
    seen: &mut Seen<'_>,
) -> (Judged, Option<Repeated>) {
    match in_sequence(case, operands, backend, seen) {
        Ok(operands) => judge_placed(case, &operands, backend, again, seen),
        Err(judged) => (judged, None),
    }
}

/// Makes the calls before the judged one, and returns the operands where it must find them.
fn in_sequence<'a>(
    case: &Case,
    operands: &'a Operands,
    backend: &dyn Backend,
    seen: &mut Seen<'_>,
) -> Result<Cow<'a, Operands>, Judged> {
    // Who is not asked for the case is not asked for what comes before it.
    if let Support::Excluded { .. } = backend.support(&case.contract, &case.params) {
        return Ok(Cow::Borrowed(operands));
    }
    let made = if seen.once {
        different(case, operands)
    } else {
        usize::MAX
    };
    let mut number = 0;
    let call = |asked: &Case, on: &Operands| {
        number += 1;
        if number > made {
            return Ok(());
        }
        let legal = plain(asked);
        let Some(verdict) = finding_of_call(&legal, on, backend, seen) else {
            return Ok(());
        };
        let after = case.params.after.map_or("", After::name);
        let words = format!("in call {number} before the judged one (after={after}): ");
        Err(verdict_only(prefixed(verdict, &words)))
    };
    let stuck = |refusal| {
        let reason = format!("the operands do not fit where those before them were: {refusal}");
        verdict_only(Verdict::NotRun { reason })
    };
    prepare(case, operands, call, stuck)
}

/// What is wrong with an earlier call besides its values, of which is only seen whether they were written.
fn finding_of_call(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    seen: &mut Seen<'_>,
) -> Option<Verdict> {
    let Support::Supported { profile, .. } = backend.support(&case.contract, &case.params) else {
        return None;
    };
    seen.asked = true;
    let in_place = matches!(case.contract.op, Op::Spmm | Op::Spmv);
    let starts = starts(case, operands, &profile);
    let c = starts.first().and_then(Option::as_deref).filter(|_| in_place);
    let before = c.map_or(Before::Poison, Before::Values);
    let unread = matches!(before, Before::Poison);
    match execute(case, operands, backend, before, &mut seen.spent) {
        Came::Dense(result) if unread => unwritten(&result, case),
        Came::Dense(_) | Came::Sparse(_) | Came::Parts(_) => None,
        // Whether it may be refused (a matrix that the format does not hold) is for the judge of that case alone.
        Came::Refused(_) => {
            let judged = judge_operands(case, operands, backend, &mut seen.spent).verdict;
            judged.is_finding().then_some(judged)
        }
        other => Some(settle(other)),
    }
}

/// A result that still holds poison somewhere.
fn unwritten(result: &DenseResult, case: &Case) -> Option<Verdict> {
    let (found, poison) = (result.found(), poison(case.contract.types.out));
    let left = (0..found.len()).filter(|&at| found.bits(at) == poison).count();
    let message = || format!("{left} elements still hold the poison the output was filled with");
    (left > 0).then(|| Verdict::Wrong(Box::new(Mismatch::plain(Defect::Unwritten, message()))))
}

/// A verdict that says first when it was.
fn prefixed(verdict: Verdict, words: &str) -> Verdict {
    let with = |text: String| format!("{words}{text}");
    match verdict {
        Verdict::Wrong(mut mismatch) => {
            mismatch.message = with(mismatch.message);
            Verdict::Wrong(mismatch)
        }
        Verdict::Crashed { message } => Verdict::Crashed {
            message: with(message),
        },
        Verdict::LoneRefusal { refusal } => Verdict::LoneRefusal {
            refusal: with(refusal),
        },
        Verdict::LoneAcceptance { expected } => Verdict::LoneAcceptance {
            expected: with(expected),
        },
        Verdict::TimedOut { seconds, tail } => Verdict::TimedOut {
            seconds,
            tail: with(tail),
        },
        other => other,
    }
}

fn judge_placed(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    again: Option<Again>,
    seen: &mut Seen<'_>,
) -> (Judged, Option<Repeated>) {
    seen.keep = again.map(|_| None);
    let judged = judge_keeping(case, operands, backend, seen);
    let passed = matches!(judged.verdict, Verdict::Exact | Verdict::Within { .. });
    let first = seen.keep.take().flatten().filter(|_| passed);
    let Some((again, first)) = again.zip(first) else {
        return (judged, None);
    };
    let others = repeat(case, operands, backend, (&first, again), &mut seen.spent);
    let of_others = others
        .others
        .into_iter()
        .map(|came| judge_came(case, operands, backend, came, (&first, seen.sheets)));
    let worse = of_others.into_iter().find(|judged| judged.verdict.is_finding());
    let claim = others
        .broken_claim
        .map(|mismatch| verdict_only(Verdict::Wrong(Box::new(mismatch))));
    (worse.or(claim).unwrap_or(judged), Some(others.record))
}

/// Judges the result of a further run.
fn judge_came(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    came: Came,
    (first, sheets): (&First, &Sheets),
) -> Judged {
    let Support::Supported { arithmetic, profile } = backend.support(&case.contract, &case.params) else {
        return verdict_only(settle(came));
    };
    if case.contract.op.is_exact() {
        return verdict_only(judge_move(case, operands, (&profile, sheets), came));
    }
    let product = sheets.product(case, operands, &arithmetic, &profile);
    match (product.exact(), came) {
        (Ok(exact), Came::Dense(result)) => {
            let c = match case.contract.op {
                Op::Sddmm => initial(case, operands, 0),
                _ => first.before.clone(),
            };
            product.judge_dense(case, exact, &result, c.as_deref())
        }
        (Ok(exact), Came::Sparse(raw)) => product.judge_spgemm(case, exact, raw),
        (_, other) => verdict_only(settle(other)),
    }
}

/// Where the first result of a case is kept: nowhere, or inside.
type Keep = Option<Option<First>>;

fn keep_sparse(keep: &mut Keep, came: &Came) {
    if let Some(kept) = keep {
        let came = match came {
            Came::Sparse(raw) => Came::Sparse(raw.clone()),
            Came::Parts(parts) => Came::Parts(parts.clone()),
            _ => return,
        };
        *kept = Some(First { came, before: None });
    }
}

fn judge_keeping(case: &Case, operands: &Operands, backend: &dyn Backend, seen: &mut Seen<'_>) -> Judged {
    let (arithmetic, profile) = match backend.support(&case.contract, &case.params) {
        Support::Supported { arithmetic, profile } => (arithmetic, profile),
        Support::Excluded { reason } => {
            return verdict_only(Verdict::Unsupported {
                reason: reason.into_owned(),
            });
        }
    };
    if let Some(fault) = case.params.fault {
        if !bites(case, operands) {
            let reason = format!(
                "fault={} leaves this request legal: there is nothing to break",
                fault.name()
            );
            return verdict_only(Verdict::NotRun { reason });
        }
        let came = seen.execute(case, operands, backend, Before::Poison);
        return verdict_only(judge_refusal(fault, came));
    }
    if !case.contract.op.is_exact()
        && let Some(reason) = inadmissible(case, &arithmetic)
    {
        let message = format!("declares an arithmetic that the contract does not admit: it {reason}");
        return verdict_only(Verdict::LoneRefusal { refusal: message });
    }
    match case.contract.op {
        Op::Transpose | Op::Convert => {
            let came = seen.execute(case, operands, backend, Before::Poison);
            keep_sparse(&mut seen.keep, &came);
            verdict_only(judge_move(case, operands, (&profile, seen.sheets), came))
        }
        Op::Spgemm => {
            let product = seen.sheets.product(case, operands, &arithmetic, &profile);
            let exact = match product.exact() {
                Ok(exact) => exact,
                Err(reason) => return verdict_only(Verdict::NotRun { reason }),
            };
            let came = seen.execute(case, operands, backend, Before::Poison);
            keep_sparse(&mut seen.keep, &came);
            match came {
                Came::Sparse(raw) => product.judge_spgemm(case, exact, raw),
                other => verdict_only(settle(other)),
            }
        }
        Op::Spmm | Op::Spmv | Op::Sddmm => {
            judge_dense_runs(case, operands, backend, (&arithmetic, &profile), seen)
        }
    }
}

/// Why a declaration can't be judged against: weaker than the contract admits, or at odds with itself.
fn inadmissible(case: &Case, arithmetic: &Arithmetic) -> Option<String> {
    let weaker = case.contract.refuses(arithmetic);
    weaker.or_else(|| {
        arithmetic
            .contradiction(case.params.alpha, case.params.beta)
            .map(str::to_owned)
    })
}

/// What C holds before each run of a dense case: one run from poison; with beta != 0, or a beta = 0 that reads C, two
/// from different C.
pub(crate) fn starts(case: &Case, operands: &Operands, profile: &Profile) -> Vec<Option<Vec<f64>>> {
    let reads_anyway = !case.reads_c() && profile.has(Choice::Beta0ReadsC);
    let variants = if case.reads_c() || reads_anyway { 2 } else { 1 };
    // A backend that computes 0 * C gets finite junk instead of poison: poison would only show what its
    // profile already says. Two different junks still tell computed from stale.
    let junk = |variant: usize| {
        let finite = |c: &f64| if c.is_finite() { *c } else { 1.0 };
        operands.c[variant].iter().map(finite).collect()
    };
    let start = |variant| {
        if reads_anyway {
            Some(junk(variant))
        } else {
            initial(case, operands, variant)
        }
    };
    (0..variants).map(start).collect()
}

/// One run from poison; with beta != 0 (or a beta = 0 that reads C), two runs from different C.
fn judge_dense_runs(
    case: &Case,
    operands: &Operands,
    backend: &dyn Backend,
    (arithmetic, profile): (&Arithmetic, &Profile),
    seen: &mut Seen<'_>,
) -> Judged {
    let product = seen.sheets.product(case, operands, arithmetic, profile);
    let exact = match product.exact() {
        Ok(exact) => exact,
        Err(reason) => return verdict_only(Verdict::NotRun { reason }),
    };
    let mut worst: Option<Judged> = None;
    for c in starts(case, operands, profile) {
        let in_place = case.contract.op != Op::Sddmm;
        let before = c
            .as_deref()
            .filter(|_| in_place)
            .map_or(Before::Poison, Before::Values);
        let came = seen.execute(case, operands, backend, before);
        let Came::Dense(result) = came else {
            return verdict_only(settle(came));
        };
        let judged = product.judge_dense(case, exact, &result, c.as_deref());
        if judged.verdict.is_finding() {
            return judged;
        }
        let unread = matches!(before, Before::Poison);
        if let Some(bits) = other_filling(case.contract.types.out, seed_of(case)).filter(|_| unread) {
            match execute(case, operands, backend, Before::Bits(bits), &mut seen.spent) {
                Came::Dense(other) if same_bits(&result, &other) => {}
                Came::Dense(other) => {
                    let judged = product.judge_dense(case, exact, &other, c.as_deref());
                    if judged.verdict.is_finding() {
                        return beside(judged, bits);
                    }
                }
                other => return verdict_only(settle(other)),
            }
        }
        if let Some(kept @ None) = &mut seen.keep {
            *kept = Some(First {
                came: Came::Dense(result),
                before: c.filter(|_| in_place),
            });
        }
        worst = Some(match worst {
            Some(before) => worse(before, judged),
            None => judged,
        });
    }
    worst.unwrap_or_else(|| {
        verdict_only(Verdict::NotRun {
            reason: "no run".to_owned(),
        })
    })
}

fn same_bits(a: &DenseResult, b: &DenseResult) -> bool {
    let (a, b) = (a.found(), b.found());
    (0..a.len().max(b.len())).all(|at| a.bits(at) == b.bits(at))
}

/// A finding that shows beside another filling of an output that may not be read.
fn beside(judged: Judged, bits: u64) -> Judged {
    let verdict = match judged.verdict {
        Verdict::Wrong(mut mismatch) => {
            mismatch.message = format!(
                "{}; the output held 0x{bits:x} before the call, and where it held NaN the result was right",
                mismatch.message
            );
            Verdict::Wrong(mismatch)
        }
        other => other,
    };
    Judged { verdict, ..judged }
}

/// Of two runs that both passed, the one with the larger share.
fn worse(a: Judged, b: Judged) -> Judged {
    let share = |j: &Judged| match j.verdict {
        Verdict::Within { share } => share,
        Verdict::Exact => 0.0,
        // Not judged beside judged: not judged.
        _ => f64::INFINITY,
    };
    if share(&a) > share(&b) { a } else { b }
}

/// The verdict where no comparable result came back.
fn settle(came: Came) -> Verdict {
    match came {
        Came::Refused(refusal) => Verdict::LoneRefusal { refusal },
        Came::Panicked(message) => Verdict::Crashed { message },
        Came::TimedOut { seconds, tail } => Verdict::TimedOut { seconds, tail },
        Came::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        // `execute` lets only the asked kind through; kept as a verdict, so that no slip there can pass.
        Came::Dense(_) | Came::Sparse(_) | Came::Parts(_) => {
            let message = "answered with another kind of result than asked for".to_owned();
            Verdict::Wrong(Box::new(Mismatch::plain(Defect::Kind, message)))
        }
    }
}

fn judge_refusal(fault: Fault, came: Came) -> Verdict {
    match came {
        Came::Refused(refusal) => Verdict::AgreedRefusal { refusal },
        Came::Panicked(message) => Verdict::Crashed { message },
        Came::TimedOut { seconds, tail } => Verdict::TimedOut { seconds, tail },
        Came::Broke(mismatch) => Verdict::Wrong(Box::new(mismatch)),
        Came::Dense(_) | Came::Sparse(_) | Came::Parts(_) => Verdict::LoneAcceptance {
            expected: fault.name().to_owned(),
        },
    }
}

/// A conversion that the oracle itself refuses is judged only where the refusal is a rule, not a limit of the suite.
fn judge_move(
    case: &Case,
    operands: &Operands,
    (profile, sheets): (&Profile, &Sheets),
    came: Came,
) -> Verdict {
    match (&sheets.moved(case, operands, profile).result, came) {
        // A limit of the suite is no rule of the contract: the case is legal, and nobody can be judged on it.
        (Err(limit), Came::Refused(_) | Came::Sparse(_) | Came::Parts(_))
            if limit.is_limit_of_the_suite() =>
        {
            Verdict::NotRun {
                reason: format!("the result is too large for the oracle: {limit}"),
            }
        }
        // A parameter that the format is not defined for, or a matrix that does not have its pattern, must be refused.
        (
            Err(
                rule @ (Refusal::TooFull { .. }
                | Refusal::TooLarge { .. }
                | Refusal::Parameter { .. }
                | Refusal::Zero { .. }),
            ),
            Came::Sparse(_) | Came::Parts(_),
        ) => Verdict::LoneAcceptance {
            expected: rule.to_string(),
        },
        (Err(_), Came::Refused(refusal)) => Verdict::AgreedRefusal { refusal },
        (Err(refusal), Came::Sparse(_) | Came::Parts(_)) => Verdict::NotRun {
            reason: format!("the oracle has no result to compare with: {refusal}"),
        },
        (Ok(expected), Came::Sparse(raw)) => {
            judge_moved(expected, raw, profile, &summed_positions(case, operands, profile))
        }
        (Ok(expected), Came::Parts(parts)) => judge_encoded(expected, parts),
        (_, other) => settle(other),
    }
}
