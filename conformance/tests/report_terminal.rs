//! What the terminal says of findings: the easiest to follow first, what its words mean, then what the run is worth.

use crate::report_sample::{clean, sample};
use sparse_conformance::report::{
    CaseRecord, Colour, Criterion, Defect, Mismatch, Report, Seeded, VerdictRecord, Worth, show, to_text,
};

/// Three wrong results of one backend, in the order of the report: with a bound, to be exact, and not written.
fn three_findings() -> Report {
    let mut report = sample(1);
    report.backends.retain(|backend| backend.name == "my-kernel");
    report.cases.retain(|case| case.backend == "my-kernel");
    report.cases.truncate(3);
    let wrong = |tier, what, expected: &str| {
        let plain = Mismatch::new(tier, what, "wrong");
        VerdictRecord::Wrong(Mismatch { expected: Some(expected.to_owned()), ..plain })
    };
    report.cases[0].verdict = wrong(Criterion::T1, Defect::Value, "0.333251953125");
    report.cases[1].verdict = wrong(Criterion::T0, Defect::Value, "12");
    report.cases[2].verdict = wrong(Criterion::T0, Defect::Unwritten, "-17.25");
    report.seal();
    report
}

/// The first one shown was an error of a few units in the last place, and an element without a value came tenth.
#[test]
fn the_findings_that_are_easiest_to_follow_come_first() {
    let report = three_findings();
    let lines: Vec<&str> = report.cases.iter().map(|case| case.case.as_str()).collect();
    let order = show::shrunk_first(&report);
    let shown: Vec<&CaseRecord> = order.iter().filter_map(|f| report.describe(f).record).collect();
    let shown: Vec<&str> = shown.iter().map(|record| record.case.as_str()).collect();
    assert_eq!(shown, [lines[2], lines[1], lines[0]]);
}

#[test]
fn findings_are_followed_by_what_their_words_mean_and_that_by_what_the_run_is_worth() {
    let mut report = three_findings();
    report.worth = vec![Worth {
        backend: "my-kernel".to_owned(),
        contract: report.cases[0].contract.clone(),
        judged: 1500,
        seeded: Some(Seeded { concern: 1200, caught: 1100, missed: vec!["a bug".to_owned()] }),
        ..Worth::default()
    }];
    let text = to_text(&report, &[], Colour::Plain);
    let places = [
        "\nfinding: ",
        show::CRITERIA,
        "conformance explain",
        "seeded bugs are",
        "1,500 cases",
        "1,100 of 1,200",
    ]
    .map(|words| text.rfind(words));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}: {text}");
    let text = to_text(&clean(), &[], Colour::Plain);
    assert!(!text.contains("T0") && !text.contains("explain") && !text.contains("worth"), "{text}");
}
