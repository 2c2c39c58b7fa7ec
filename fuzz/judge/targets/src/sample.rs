//! A small report of two contracts and two backends with every verdict, of which reports and journals are drafted.

use sparse_conformance::report::{
    Backend, CaseRecord, Contract, Criterion, Defect, Deviation, Environment, Exclusion, Expectation,
    Expected, Mismatch, Occurs, Place, Plan, Repeated, Report, Reproducer, RowStatistics, Same, Seeded,
    Since, Source, SpyGrid, Thin, VerdictRecord, Worth, plan_digest,
};

/// The contracts of its cases.
const CONTRACTS: [&str; 2] = ["spmm.csr.f32_f32_f32_f32", "convert.csr.coo.f16"];

/// The two backends.
pub(super) const BACKENDS: [&str; 2] = ["one", "two"];

fn text(text: &str) -> String {
    text.to_owned()
}

fn backend(name: &str) -> Backend {
    Backend {
        name: text(name),
        version: text("1"),
        description: text("a backend"),
        selection: (name == "two").then(|| text("--exec ./two")),
        deviations: vec![Deviation {
            point: text("duplicates"),
            choice: text("last-wins"),
            reason: text("why"),
        }],
        excluded: vec![Exclusion { pattern: text("*.e4m3*"), reason: text("no fp8") }],
        ..Backend::default()
    }
}

/// What was planned, and of whom.
pub(super) fn plan() -> (Plan, Vec<Backend>) {
    let plan = Plan {
        tier: text("quick"),
        seed: 7,
        backends: BACKENDS.map(text).to_vec(),
        operations: ["spmm", "convert"].map(text).to_vec(),
        precisions: ["f32", "f16"].map(text).to_vec(),
        ..Plan::default()
    };
    (plan, BACKENDS.map(backend).to_vec())
}

/// A matrix, with a picture.
pub(super) fn source() -> Source {
    Source {
        spec: text("banded:rows=4,cols=5"),
        family: text("banded"),
        rows: 4,
        cols: 5,
        nnz: 9,
        row_nnz: Some(RowStatistics { min: 1, max: 3, mean: 2.25, std: 0.5, empty: 0 }),
        spy: Some(SpyGrid { width: 2, height: 2, cells: vec![255, 1, 0, 200] }),
    }
}

/// Every verdict once.
fn verdicts() -> Vec<VerdictRecord> {
    let wrong = Mismatch {
        at: Some(Place { row: 1, column: 2 }),
        expected: Some(text("0.5")),
        expected_bits: Some(text("0x3f000000")),
        found: Some(text("inf")),
        found_bits: Some(text("0x7f800000")),
        error: Some(text("inf")),
        bound: Some(text("3.5e-8")),
        ..Mismatch::new(Criterion::T1, Defect::Value, "C[1][2] is <inf> & not 0.5 | `0x7f800000`")
    };
    vec![
        VerdictRecord::Exact,
        VerdictRecord::Within { share: 0.25 },
        VerdictRecord::Wrong(wrong),
        VerdictRecord::AgreedRefusal { refusal: text("lda is 2") },
        VerdictRecord::LoneRefusal { refusal: text("not today") },
        VerdictRecord::LoneAcceptance { expected: text("row_ptr[4] is 3") },
        VerdictRecord::Crashed { message: text("signal 11\n at 0x0") },
        VerdictRecord::TimedOut {
            seconds: 10.0,
            idle: true,
            call: Some(text("in a second call")),
            tail: Some(text("still thinking")),
        },
        VerdictRecord::Unsupported { reason: text("no fp8") },
        VerdictRecord::NotRun { reason: text("stopped after the first crash") },
    ]
}

/// A case's records on both backends: two verdicts in turn.
pub(super) fn records(number: usize) -> Vec<CaseRecord> {
    let verdicts = verdicts();
    let contract = CONTRACTS[number % CONTRACTS.len()];
    let record = |(at, backend): (usize, &&str)| {
        let verdict = verdicts[(number + at * 3) % verdicts.len()].clone();
        let ran = verdict.kind().ran();
        let share = if let VerdictRecord::Within { share } = verdict { Some(share) } else { None };
        CaseRecord {
            case: format!("{contract}/banded:rows=4,cols=5/n={}", number + 1),
            contract: text(contract),
            family: text("banded"),
            backend: text(backend),
            tiers: if ran { vec![Criterion::T0, Criterion::T1] } else { Vec::new() },
            share,
            degenerate: if number == 0 { vec![text("n=1")] } else { Vec::new() },
            inputs: ran.then(|| format!("{number:032x}")),
            output: ran.then(|| format!("{:032x}", number + at)),
            selection: (verdict.is_finding() && at == 1).then(|| text("--exec ./two")),
            waived: None,
            asked_again: number == 5,
            repeated: ran.then_some(Repeated {
                runs: Same::of(number.is_multiple_of(2)),
                threads: Some(Same::of(true)),
            }),
            reproducer: verdict.is_finding().then(|| Reproducer {
                path: Some(text("reproducers/one-wrong")),
                case: Some(format!("{contract}/banded:rows=1,cols=1/n=1")),
                summary: text("shrunk"),
                candidates: 12,
                rows: 1,
                cols: 1,
                nnz: 1,
                n: 1,
            }),
            verdict,
        }
    };
    BACKENDS.iter().enumerate().map(record).collect()
}

/// Known deviations: one that is met, one that is not, one that has expired.
pub(super) fn expectations() -> Vec<Expectation> {
    let met = Expectation {
        from: text("one.toml entry 1"),
        backend: text("one"),
        case: None,
        contract: Some(text("spmm.csr.*")),
        verdict: Expected::Wrong,
        defect: Some(Defect::Value),
        occurs: Occurs::Sometimes,
        tier: Since::Quick,
        reason: text("known"),
        link: Some(text("https://example.org/issue/7")),
        expires: text("2027-01-31"),
        expired: false,
    };
    let stale = Expectation { case: Some(text("*/n=77*")), occurs: Occurs::Always, ..met.clone() };
    let expired = Expectation { expired: true, expires: text("2020-01-31"), defect: None, ..met.clone() };
    vec![met, stale, expired]
}

/// The report of so many cases, sealed.
pub(super) fn report(cases: usize) -> Report {
    let (mut plan, backends) = plan();
    let cases: Vec<CaseRecord> = (0..cases).flat_map(records).collect();
    let lines = || cases.iter().step_by(BACKENDS.len()).map(|record| record.case.as_str());
    plan.distinct_cases = lines().count() as u64;
    plan.digest = plan_digest(lines());
    let mut report = Report::new(
        plan,
        Environment { os: text("linux"), started: text("2026-05-04T09:30:00Z"), ..Environment::default() },
    );
    report.timings.backend_seconds = BACKENDS.map(|name| (text(name), 0.5)).into();
    report.backends = backends;
    report.contracts = CONTRACTS.map(|name| Contract { name: text(name), cases_planned: 5 }).to_vec();
    report.sources = vec![source()];
    report.cases = cases;
    if let Some(first) = report.cases.first() {
        report.timings.note(&first.backend, 0.25, || first.case.clone());
    }
    report.seal();
    report
}

/// A row of what a run is worth, and a line that says too little was judged.
pub(super) fn worth() -> (Vec<Worth>, Vec<Thin>) {
    let row = |backend: &str, contract: &str| Worth {
        backend: text(backend),
        contract: text(contract),
        judged: 3,
        floor: 5,
        pairs: 10,
        pairs_missing: 1,
        missing: Some(text("n=1 with beta=1")),
        seeded: Some(Seeded { concern: 3, caught: 2, missed: vec![text("row: only the first")] }),
        measured: true,
        ..Worth::default()
    };
    let rows = BACKENDS.iter().flat_map(|backend| CONTRACTS.map(|contract| row(backend, contract)));
    let thin = Thin { backend: text("one"), contract: text("spmm.csr.*"), reason: text("3 of 5 cases") };
    (rows.collect(), vec![thin])
}
