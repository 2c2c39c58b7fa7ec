//! The made-up report with known deviations of every fate.

use super::report_sample::sample;
use sparse_conformance::report::{Defect, Expectation, Expected, Occurs, Report, Since};

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
        Expectation {
            backend: "elsewhere".to_owned(),
            ..expectation(6, Expected::Wrong, None)
        },
    ];
    report.seal();
    report
}
