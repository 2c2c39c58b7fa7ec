//! Bits that change from run to run or from thread count to thread count are found, and count as wrong where they were claimed.

use crate::bugs::edited;
use sparse_conformance::backend::{Backend, Determinism, Failure, Portable, Support, ThreadControl};
use sparse_conformance::campaign;
use sparse_conformance::case::{Case, Params};
use sparse_conformance::determinism::Repeats;
use sparse_conformance::plan::Options;
use sparse_conformance::report::{
    CaseRecord, Claim, Colour, Defect, Environment, Repeated, Report, Same, VerdictRecord, markdown, to_text,
};
use sparse_conformance::runner::run_case_repeated;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::scalar::{AnySliceMut, Precision, Values};
use sparse_oracle::task::{Answer, Task};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What changes when.
#[derive(Clone, Copy, PartialEq)]
enum Slip {
    /// Nothing.
    Honest,
    /// The last bit of C, at every second run.
    EverySecondRun,
    /// The last bit of C, with more than one thread.
    ManyThreads,
    /// C is far off, at every second run.
    WrongEverySecondRun,
    /// A panic, at every second run.
    CrashEverySecondRun,
    /// The order of a sparse result's columns, which its profile leaves open, at every second run.
    OrderEverySecondRun,
}

/// The portable kernels, declared as loosely as contracts admit, with a slip.
struct Slipping {
    slip: Slip,
    claim: Determinism,
    control: ThreadControl,
    runs: AtomicUsize,
}

fn slipping(slip: Slip, claim: Determinism) -> Slipping {
    Slipping { slip, claim, control: ThreadControl::Pool, runs: AtomicUsize::new(0) }
}

impl Backend for Slipping {
    fn name(&self) -> &'static str {
        "slipping"
    }

    fn version(&self) -> String {
        "0".to_owned()
    }

    fn description(&self) -> &'static str {
        "the portable kernels with a slip"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        match Portable.support(contract, params) {
            Support::Supported { .. } => Support::Supported {
                arithmetic: contract.weakest(),
                profile: Profile::default().with(Choice::Unsorted, "to test orders"),
            },
            excluded @ Support::Excluded { .. } => excluded,
        }
    }

    fn determinism(&self) -> Determinism {
        self.claim
    }

    fn thread_control(&self) -> ThreadControl {
        self.control
    }

    fn run_threaded(&self, contract: &Contract, task: Task<'_>, threads: usize) -> Result<Answer, Failure> {
        let slips = self.slip == Slip::ManyThreads && threads > 1;
        nudged(contract, task, if slips { 1 } else { 0 })
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let second = self.runs.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        match self.slip {
            Slip::EverySecondRun if second => nudged(contract, task, 1),
            Slip::ManyThreads if rayon::current_num_threads() > 1 => nudged(contract, task, 1),
            Slip::WrongEverySecondRun if second => nudged(contract, task, 1 << 20),
            Slip::CrashEverySecondRun if second => panic!("the second run"),
            Slip::OrderEverySecondRun if second => reversed(contract, task),
            _ => Portable.run(contract, task),
        }
    }
}

/// Moves the bits of the first element.
fn nudged(contract: &Contract, task: Task<'_>, by: u32) -> Result<Answer, Failure> {
    let nudge = |x: &mut f32| *x = f32::from_bits(x.to_bits() ^ by);
    match task {
        task @ Task::Spmm { .. } => edited(contract, task, |c| nudge(&mut c.data[c.at(0, 0)])),
        Task::Spmv { a, transpose_a, x, alpha, beta, y: AnySliceMut::F32(y) } => {
            let lent = AnySliceMut::F32(&mut *y);
            let answer = Portable.run(contract, Task::Spmv { a, transpose_a, x, alpha, beta, y: lent })?;
            y.first_mut().into_iter().for_each(nudge);
            Ok(answer)
        }
        other => Portable.run(contract, other),
    }
}

/// The first row of a product, last column first.
fn reversed(contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
    let mut answer = Portable.run(contract, task)?;
    if let Answer::Sparse(raw) = &mut answer
        && let Values::F32(values) = &mut raw.values
    {
        let end = raw.offsets[1] as usize;
        raw.indices[..end].reverse();
        values[..end].reverse();
    }
    Ok(answer)
}

const SPMM: &str = "spmm.csr.f32_f32_f32_f32/uniform:rows=9,cols=20,density=0.5,seed=1/values=near-one,4/n=5/beta=1/lc=col/ldc=+1";
const SPGEMM: &str =
    "spgemm.csr.f32_f32_f32_f32/uniform:rows=9,cols=20,density=0.5,seed=1/values=near-one,4/n=33";

fn run(line: &str, backend: Slipping, repeats: Repeats) -> CaseRecord {
    let case: Case = line.parse().expect("a line");
    let loaded = case.origin.load().expect("a matrix");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(backend)];
    run_case_repeated(&case, &loaded, &backends, repeats).records.remove(0)
}

fn all(line: &str, slip: Slip, claim: Determinism) -> CaseRecord {
    run(line, slipping(slip, claim), Repeats::all(2))
}

fn seen(runs: Same, threads: Same) -> Option<Repeated> {
    Some(Repeated { runs, threads: Some(threads) })
}

#[test]
fn an_honest_backend_keeps_its_claims() {
    for line in [SPMM, SPGEMM] {
        for claim in [Determinism::Unclaimed, Determinism::Runs, Determinism::Threads] {
            let record = all(line, Slip::Honest, claim);
            assert!(!record.verdict.is_finding(), "{}", record.verdict);
            assert_eq!(record.repeated, seen(Same::Same, Same::Same));
        }
    }
}

#[test]
fn other_bits_are_a_grade_where_nothing_is_claimed_and_wrong_where_it_is() {
    let record = all(SPMM, Slip::EverySecondRun, Determinism::Unclaimed);
    assert!(!record.verdict.is_finding(), "{}", record.verdict);
    assert_eq!(record.repeated.expect("repeated").runs, Same::Different);
    for claim in [Determinism::Runs, Determinism::Threads] {
        let record = all(SPMM, Slip::EverySecondRun, claim);
        let VerdictRecord::Wrong(mismatch) = &record.verdict else {
            panic!("{}", record.verdict);
        };
        assert_eq!(mismatch.what, Defect::Nondeterministic);
        let at = mismatch.at.expect("a place");
        assert_eq!((at.row, at.column), (0, 0));
        // Both bits, one apart in the last place.
        let bits = [&mismatch.expected_bits, &mismatch.found_bits].map(|bits| {
            let text = bits.as_deref().and_then(|t| t.strip_prefix("0x")).expect("bits");
            u32::from_str_radix(text, 16).expect("hexadecimal")
        });
        assert_eq!(bits[0] ^ bits[1], 1, "{bits:x?}");
    }
}

#[test]
fn threads_are_compared_in_pools_of_their_own() {
    let record = all(SPMM, Slip::ManyThreads, Determinism::Runs);
    assert!(!record.verdict.is_finding(), "{}", record.verdict);
    assert_eq!(record.repeated, seen(Same::Same, Same::Different));
    let record = all(SPMM, Slip::ManyThreads, Determinism::Threads);
    assert!(matches!(&record.verdict, VerdictRecord::Wrong(m) if m.what == Defect::Nondeterministic));
    // A backend that is told its number of threads, and one that can't be.
    let told = |control| Slipping { control, ..slipping(Slip::ManyThreads, Determinism::Unclaimed) };
    let record = run(SPMM, told(ThreadControl::Told), Repeats::all(1));
    assert_eq!(record.repeated.expect("repeated").threads, Some(Same::Different));
    let record = run(SPMM, told(ThreadControl::None), Repeats::all(1));
    assert_eq!(record.repeated.expect("repeated").threads, None);
}

/// The first run passes; that must not hide what the second does, whatever is claimed.
#[test]
fn what_differs_is_judged_as_well() {
    let record = all(SPMM, Slip::WrongEverySecondRun, Determinism::Unclaimed);
    assert!(
        matches!(&record.verdict, VerdictRecord::Wrong(m) if m.what == Defect::Value),
        "{}",
        record.verdict
    );
    let record = all(SPMM, Slip::CrashEverySecondRun, Determinism::Unclaimed);
    let crash = "in a second call, from another C (nothing was found in the first): the second run";
    assert!(
        matches!(&record.verdict, VerdictRecord::Crashed { message } if *message == crash),
        "{}",
        record.verdict
    );
}

#[test]
fn orders_of_sparse_results_are_bits_too() {
    let record = all(SPGEMM, Slip::OrderEverySecondRun, Determinism::Unclaimed);
    assert!(!record.verdict.is_finding(), "{}", record.verdict);
    assert_eq!(record.repeated.expect("repeated").runs, Same::Different);
    let record = all(SPGEMM, Slip::OrderEverySecondRun, Determinism::Runs);
    let VerdictRecord::Wrong(mismatch) = &record.verdict else {
        panic!("{}", record.verdict);
    };
    assert!(mismatch.message.contains("indices[0]"), "{}", mismatch.message);
}

#[test]
fn nothing_is_repeated_where_that_is_asked_for() {
    let backend = slipping(Slip::EverySecondRun, Determinism::Runs);
    let record = run(SPMM, backend, Repeats::NONE);
    assert_eq!(record.repeated, None);
    assert!(!record.verdict.is_finding());
}

fn report(slip: Slip, repeats: Repeats) -> Report {
    let options =
        Options { ops: vec![Op::Spmv], precisions: vec![Precision::F32], repeats, ..Options::default() };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(slipping(slip, Determinism::Unclaimed))];
    campaign::run(&options, &backends, Environment::default(), &())
}

#[test]
fn a_report_grades_each_backend_and_says_so() {
    let honest = report(Slip::Honest, Repeats::default());
    let grade = &honest.backends[0].determinism;
    let ran = honest.cases.len() as u64;
    assert!(grade.repeated > ran / 8 && grade.repeated < ran / 3, "{} of {ran}", grade.repeated);
    assert!(grade.threads_compared > 0 && grade.threads_compared < grade.repeated);
    assert!(grade.held() && grade.claimed == Claim::Nothing && grade.first_differing.is_none());

    let slipping = report(Slip::ManyThreads, Repeats::all(1));
    let grade = &slipping.backends[0].determinism;
    assert!(grade.threads_differing > 0 && !grade.held());
    assert!(
        grade.threads_compared == grade.repeated && grade.repeated > honest.backends[0].determinism.repeated
    );
    let first = grade.first_differing.as_deref().expect("a case line");
    assert!(slipping.cases.iter().any(|record| record.case == first));
    let words = "claims nothing";
    assert!(to_text(&slipping, &[], Colour::Plain).contains(words));
    assert!(markdown::to_markdown(&slipping).contains("## Determinism"));
}
