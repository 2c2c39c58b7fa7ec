//! The made-up report with known deviations of every fate.

use crate::report_sample::sample;
use sparse_conformance::report::{
    Claim, Defect, Expectation, Expected, Occurs, Repeated, Report, Reproducer, Same, Since,
};

/// An expectation about `my-kernel` that waives what it names until 2027.
pub(crate) fn expectation(number: usize, verdict: Expected, defect: Option<Defect>) -> Expectation {
    Expectation {
        from: format!("my-kernel.toml entry {number}"),
        backend: "my-kernel".to_owned(),
        case: None,
        contract: Some("*".to_owned()),
        verdict,
        defect,
        occurs: Occurs::Sometimes,
        tier: Since::Quick,
        reason: format!("reason {number}: <b>known</b> | since *May*"),
        link: Some("https://example.org/issue/7".to_owned()),
        expires: "2027-01-31".to_owned(),
        expired: false,
    }
}

/// A sealed report in which two expectations waive findings, and three are findings themselves.
pub(crate) fn expected_sample(per_contract: usize) -> Report {
    let mut report = sample(per_contract);
    report.expectations = vec![
        expectation(1, Expected::Wrong, Some(Defect::Value)),
        expectation(2, Expected::Crashed, None),
        Expectation {
            occurs: Occurs::Always,
            contract: Some("spmv.*".to_owned()),
            ..expectation(3, Expected::LoneRefusal, None)
        },
        Expectation {
            expired: true,
            expires: "2025-12-31".to_owned(),
            ..expectation(4, Expected::TimedOut, None)
        },
        Expectation {
            contract: Some("no-such-contract".to_owned()),
            ..expectation(5, Expected::Wrong, None)
        },
        Expectation { backend: "elsewhere".to_owned(), ..expectation(6, Expected::Wrong, None) },
    ];
    // Some cases were run again; one backend is not as deterministic as the others.
    for (number, record) in report.cases.iter_mut().enumerate().filter(|(_, c)| c.verdict.kind().ran()) {
        let differs = record.backend == "my-kernel" && number.is_multiple_of(7);
        record.repeated = number.is_multiple_of(5).then_some(Repeated {
            runs: Same::of(!differs),
            threads: number.is_multiple_of(10).then_some(Same::of(true)),
        });
    }
    report.backends[3].determinism.claimed = Claim::Runs;
    report.seal();
    if let Some(record) = report.cases.iter_mut().find(|c| c.is_finding()) {
        record.reproducer = Some(Reproducer {
            path: Some("reproducers/my-kernel-spmm.csr.f64-wrong-unwritten".to_owned()),
            case: Some(
                "spmm.csr.f64_f64_f64_f64/file:[reproducers/my-kernel/matrix.mtx]/values=own,1/n=1"
                    .to_owned(),
            ),
            summary: "shrunk from 96 x 80 with 500 entries and n=33 to 1 x 1 with 1 entry and n=1".to_owned(),
            candidates: 84,
            rows: 1,
            cols: 1,
            nnz: 1,
            n: 1,
        });
    }
    report
}
