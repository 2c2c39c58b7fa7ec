//! Known deviations: what they waive, when they are findings themselves, how every file shows them, what a file of them
//! may not say.
//!
//! ```text
//! diff   what comparing two reports makes of them      machines   badges and SARIF
//! ```

mod diff;
pub(crate) mod expected;
mod machines;

use crate::report_sample::sample;
use expected::{expectation, expected_sample};
use jiff::civil::Date;
use sparse_conformance::expectations::load;
use sparse_conformance::report::{
    Became, CaseRecord, Colour, Defect, Expectation, Expected, Finding, Occurs, Report, Since, VerdictKind,
    VerdictRecord, html, json, junit, markdown, sarif, to_text,
};
use std::path::{Path, PathBuf};

fn kinds(report: &Report) -> Vec<&'static str> {
    let name = |finding: &Finding| match finding {
        Finding::Case { .. } => "case",
        Finding::IdleBackend { .. } => "idle",
        Finding::MostlyWaived { .. } => "mostly waived",
        Finding::UnexpectedPass { .. } => "pass",
        Finding::ExpiredExpectation { .. } => "expired",
        Finding::StaleExpectation { .. } => "stale",
    };
    let mut kinds: Vec<_> = report.find().iter().map(name).collect();
    kinds.dedup();
    kinds
}

/// A report of the findings of `my-kernel` that `keep` chooses, under these expectations.
fn only(keep: impl Fn(&CaseRecord) -> bool, expectations: Vec<Expectation>) -> Report {
    let mut report = sample(8);
    report.backends.retain(|b| b.name == "my-kernel");
    report.cases.retain(|c| c.backend == "my-kernel" && keep(c));
    report.expectations = expectations;
    report.seal();
    report
}

fn wrong_value(record: &CaseRecord) -> bool {
    matches!(&record.verdict, VerdictRecord::Wrong(m) if m.what == Defect::Value)
}

/// Wrong values among many passes.
fn few_wrong(record: &CaseRecord) -> bool {
    wrong_value(record) || matches!(record.verdict.kind(), VerdictKind::Exact | VerdictKind::Within)
}

/// Story: a kernel of zeros was "clean, 37 waived".
#[test]
fn a_run_that_is_mostly_waived_is_not_clean() {
    let report = only(wrong_value, vec![expectation(1, Expected::Wrong, Some(Defect::Value))]);
    assert_eq!((report.waived().count(), report.failures().count()), (3, 0));
    assert_eq!((kinds(&report), report.exit_code()), (vec!["mostly waived"], 1));
    let text = to_text(&report, &[], Colour::Plain);
    assert!(text.contains("3 of 3 cases that my-kernel ran are waived, 100 %"), "{text}");
}

/// Story: reports from before that was a finding were refused by `merge` and `diff`: "its findings are not those of its cases".
#[test]
fn an_old_report_that_is_mostly_waived_is_read() {
    let report = only(wrong_value, vec![expectation(1, Expected::Wrong, Some(Defect::Value))]);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let old = Report { findings: Vec::new(), ..report.clone() };
    std::fs::write(&path, json::to_json(&old).unwrap()).expect("written");
    Report::read(&path).expect("an old report");
    let other = Report { findings: vec![Finding::Case { index: 0 }], ..report };
    std::fs::write(&path, json::to_json(&other).unwrap()).expect("written");
    Report::read(&path).expect_err("no case of it is a finding that is not waived");
}

#[test]
fn an_expected_finding_is_waived_and_nothing_else_is() {
    let before = sample(8);
    let report = expected_sample(8);
    let waived: Vec<&CaseRecord> = report.waived().collect();
    assert_eq!(waived.len(), 4 + 1, "four wrong values and a crash");
    assert!(waived.iter().all(|c| c.backend == "my-kernel" && c.kind() == VerdictKind::Waived));
    assert_eq!(report.failures().count() + 5, before.failures().count());
    assert_eq!(kinds(&report), ["case", "idle", "pass", "expired", "stale"]);
    let outcomes = report.outcomes();
    assert_eq!(outcomes[..2], [Became::Met, Became::Met]);
    assert!(matches!(outcomes[2], Became::UnexpectedPass(_)));
    assert_eq!(outcomes[3..5], [Became::Expired, Became::Stale]);
    assert!(matches!(outcomes[5], Became::Undecided(_)), "its backend is not in the run");
    // All kinds of findings survive writing and reading.
    let again: Report = serde_json::from_str(&json::to_json(&report).unwrap()).unwrap();
    assert_eq!(again, report);
}

#[test]
fn a_run_whose_findings_are_all_expected_is_clean() {
    let expect = || expectation(1, Expected::Wrong, Some(Defect::Value));
    let report = only(few_wrong, vec![expect()]);
    assert_eq!((report.exit_code(), report.waived().count()), (0, 3));
    assert!(to_text(&report, &[], Colour::Plain).contains("3 waived"));
    // Another defect, another verdict, another backend or contract is not what was expected.
    for other in [
        Expectation { defect: Some(Defect::Stale), ..expect() },
        Expectation { verdict: Expected::Crashed, defect: None, ..expect() },
        Expectation { backend: "sprs".to_owned(), ..expect() },
        Expectation { contract: Some("transpose.*".to_owned()), ..expect() },
        Expectation { case: Some("*/n=9999".to_owned()), ..expect() },
        Expectation { expired: true, ..expect() },
    ] {
        let report = only(wrong_value, vec![other.clone()]);
        assert_eq!((report.waived().count(), report.failures().count()), (0, 3), "{other:?}");
    }
}

#[test]
fn a_pass_that_should_fail_is_a_finding() {
    let passes = |c: &CaseRecord| c.verdict.kind() == VerdictKind::Exact;
    let always = Expectation { occurs: Occurs::Always, ..expectation(1, Expected::Wrong, None) };
    let both = |c: &CaseRecord| wrong_value(c) || passes(c);
    let report = only(both, vec![always.clone()]);
    assert_eq!(kinds(&report), ["pass"]);
    let Finding::UnexpectedPass { cases, index, .. } = report.find()[0] else { panic!() };
    assert_eq!(cases as usize, report.cases.iter().filter(|c| passes(c)).count());
    assert!(passes(&report.cases[index]));
    // "sometimes" asks for one at least.
    let sometimes = Expectation { occurs: Occurs::Sometimes, ..always };
    assert_eq!(only(both, vec![sometimes.clone()]).exit_code(), 0);
    let none = only(passes, vec![sometimes]);
    assert_eq!(kinds(&none), ["pass"]);
    // What did not run shows nothing.
    let idle = only(|c| !c.verdict.kind().ran(), vec![expectation(1, Expected::Wrong, None)]);
    assert!(!kinds(&idle).contains(&"pass"));
}

#[test]
fn less_than_the_plan_proves_nothing_stale() {
    let nothing = Expectation { contract: Some("none".to_owned()), ..expectation(1, Expected::Wrong, None) };
    let passes = |c: &CaseRecord| c.verdict.kind() == VerdictKind::Exact;
    let mut report = only(passes, vec![nothing.clone()]);
    assert_eq!(kinds(&report), ["stale"]);
    report.plan.filtered = true;
    assert_eq!(kinds(&report), Vec::<&str>::new());
    assert!(to_text(&report, &[], Colour::Plain).contains("the run was filtered"));
    report.plan.filtered = false;
    report.plan.shard = Some("1/2".parse().unwrap());
    assert_eq!(kinds(&report), Vec::<&str>::new());
    report.plan.shard = None;
    report.expectations[0].tier = Since::Full;
    assert_eq!(kinds(&report), Vec::<&str>::new(), "quick has not the case");
    report.plan.tier = "full".to_owned();
    assert_eq!(kinds(&report), ["stale"]);
}

#[test]
fn a_report_that_waives_what_it_may_not_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let read = |report: &Report| {
        std::fs::write(&path, json::to_json(report).unwrap()).unwrap();
        Report::read(&path)
    };
    let mut report = expected_sample(8);
    assert!(read(&report).is_ok());
    let index = report.cases.iter().position(|c| c.waived.is_none() && c.is_finding()).unwrap();
    report.cases[index].waived = Some(0);
    report.findings = report.find();
    let message = read(&report).unwrap_err().to_string();
    assert!(message.contains("is marked as waived"), "{message}");
}

#[test]
fn every_file_shows_waivers_apart() {
    let report = expected_sample(8);
    let page = html::to_html(&report, Path::new(""));
    for part in [
        "Known deviations",
        "unexpected pass",
        "expired",
        "reason 1: &lt;b&gt;known",
        "my-kernel.toml entry 5",
    ] {
        assert!(page.contains(part), "the page lacks {part}");
    }
    assert!(!page.contains("<b>known"), "markup of a reason is live");
    let text = markdown::to_markdown(&report);
    assert!(text.contains("## Known deviations") && text.contains("\\|"), "{text}");
    assert!(text.find("## Findings") < text.find("| backend |"), "findings stand first");
    let suites = quick_junit::Report::deserialize_from_str(&junit::to_junit(&report).unwrap()).unwrap();
    let mine = suites.test_suites.iter().filter(|suite| suite.name.as_str().starts_with("my-kernel"));
    let of_type = |name: &str| {
        let xml = junit::to_junit(&report).unwrap();
        xml.matches(&format!("type=\"{name}\"")).count()
    };
    assert_eq!(of_type("waived"), 5);
    assert_eq!(of_type("unexpected-pass") + of_type("expired-expectation") + of_type("stale-expectation"), 3);
    let failing = report.failures().filter(|c| c.backend == "my-kernel").count();
    assert_eq!(mine.map(|suite| suite.failures + suite.errors).sum::<usize>(), failing + 3);
    let plain = to_text(&report, &[], Colour::Plain);
    assert!(plain.contains("5 waived") && plain.contains("(until 2027-01-31)"), "{plain}");
    assert!(plain.contains("its backend is not in this run"), "{plain}");
    let summary = report.summary();
    assert_eq!(summary.total.counts.get(VerdictKind::Waived), 5);
    assert_eq!(summary.total.counts.findings() as usize, report.failures().count());
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn files_of_expectations_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |backend: &str, more: &str| {
        format!(
            "[[expect]]\nbackend = \"{backend}\"\nverdict = \"wrong\"\nreason = \"why\"\ncontract = \"spmm.csr.*\"\n{more}\n"
        )
    };
    let two = entry("b", "expires = 2027-01-31")
        + &entry("c", "expires = \"2027-01-30\"\ndefect = \"stale\"\ntier = \"full\"");
    std::fs::write(folder.path().join("2.toml"), two).unwrap();
    std::fs::write(folder.path().join("1.toml"), entry("a", "expires = 2027-02-01\noccurs = \"sometimes\""))
        .unwrap();
    std::fs::write(folder.path().join("note.txt"), "no expectations").unwrap();
    let all = load(&[folder.path().to_owned()], day("2027-01-31")).unwrap();
    let told: Vec<_> = all.iter().map(|e| (e.from.as_str(), e.backend.as_str(), e.expired)).collect();
    assert_eq!(
        told,
        [("1.toml entry 1", "a", false), ("2.toml entry 1", "b", false), ("2.toml entry 2", "c", true)]
    );
    assert_eq!(
        (all[0].occurs, all[2].tier, all[2].defect),
        (Occurs::Sometimes, Since::Full, Some(Defect::Stale))
    );
}

#[test]
fn what_is_no_expectation_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let good = "[[expect]]\nbackend = \"b\"\nverdict = \"wrong\"\nreason = \"why\"\ncontract = \"spmm.csr.*\"\nexpires = 2027-01-31\n";
    let path: PathBuf = folder.path().join("mine.toml");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load(std::slice::from_ref(&path), day("2026-01-01"))
    };
    assert_eq!(read(good).unwrap().len(), 1);
    assert_eq!(read("").unwrap().len(), 0);
    assert_eq!(read(&good.replace("2027-01-31", "2027-02-05")).unwrap().len(), 1);
    let of_cases = good.replace("contract = \"spmm.csr.*\"", "case = \"spm?.*/alpha=*\"");
    assert_eq!(read(&of_cases).unwrap().len(), 1);
    let cases = [
        (good.replace("\"wrong\"", "\"exact\""), "unknown variant"),
        (good.replace("reason = \"why\"\n", ""), "reason"),
        (good.replace("\"why\"", "\" \""), "reason is empty"),
        (good.replace("expires = 2027-01-31", ""), "expires"),
        (good.replace("2027-01-31", "\"soon\""), "\"soon\" is no date"),
        (good.replace("2027-01-31", "2027-02-30"), "mine.toml"),
        (good.replace("2027-01-31", "12:00:00"), "is no date"),
        (good.replace("contract = \"spmm.csr.*\"\n", ""), "neither case nor contract"),
        (
            good.replace("\"wrong\"", "\"crashed\"").replace("reason", "defect = \"value\"\nreason"),
            "only a wrong result",
        ),
        // Story: one line without an end date made a kernel of zeros "clean, 37 waived".
        (good.replace("spmm.csr.*", "*"), "whatever goes wrong"),
        (good.replace("spmm.csr.*", "spmm.*.f32*"), "whatever goes wrong"),
        (good.replace("contract = \"spmm.csr.*\"", "case = \"*/*\""), "whatever goes wrong"),
        (good.replace("2027-01-31", "2027-02-06"), "in 401 days; at most 400"),
        (format!("{good}until = 3\n"), "unknown field"),
        ("[[expect]\n".to_owned(), "TOML"),
    ];
    for (text, part) in cases {
        assert_ne!(text, good, "the damage for {part:?} did not apply");
        let message = read(&text).expect_err(part).to_string();
        assert!(message.contains(part) && message.contains("mine.toml"), "{part}: {message}");
    }
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (path, part) in [(empty, "no .toml file"), (folder.path().join("none"), "none")] {
        let message = load(&[path], day("2026-01-01")).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

/// The replay line of an unexpected pass of a plug-in named a backend that no run knows: only findings said how to select it.
#[test]
fn the_replay_line_of_an_unexpected_pass_selects_what_was_run() {
    let passes = |c: &CaseRecord| c.verdict.kind() == VerdictKind::Exact;
    let always = Expectation { occurs: Occurs::Always, ..expectation(1, Expected::Wrong, None) };
    let mut report = only(passes, vec![always]);
    report.backends[0].selection = Some("--plugin /there/my.so".to_owned());
    assert_eq!(kinds(&report), ["pass"]);
    let texts = [
        to_text(&report, &[], Colour::Plain),
        markdown::to_markdown(&report),
        html::to_html(&report, Path::new("")),
        sarif::to_sarif(&report).unwrap(),
    ];
    for text in texts {
        let line = text.lines().find(|line| line.contains("conformance replay")).unwrap();
        assert!(line.contains("--plugin /there/my.so"), "{line}");
        assert!(!text.contains("--backend my-kernel"), "{line}");
    }
}

/// An expectation of a backend that was not in the run stood under "waived".
#[test]
fn what_was_not_looked_at_is_not_called_waived() {
    let absent = Expectation { backend: "elsewhere".to_owned(), ..expectation(1, Expected::Wrong, None) };
    let text = to_text(&only(wrong_value, vec![absent]), &[], Colour::Plain);
    assert!(text.contains("\nnot looked at: my-kernel.toml entry 1"), "{text}");
    assert!(text.contains("its backend is not in this run") && !text.contains("waived:"), "{text}");
}
