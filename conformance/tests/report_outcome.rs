//! What a run is worth, in every file alike: a thin run and one in which nothing was judged are never clean and never green.

use crate::report_sample::{clean, sample};
use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::Value;
use sparse_conformance::report::{
    Colour, Outcome, Report, Thin, VerdictRecord, badge, html, json, junit, markdown, merge, plan_digest,
    sarif, to_text,
};
use sparse_conformance::shard::Shard;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn thin(reasons: usize) -> Report {
    let mut report = clean();
    report.thin = (0..reasons)
        .map(|number| Thin {
            backend: "my-kernel".to_owned(),
            contract: format!("spmv.csr.<{number}>"),
            reason: format!("{number} of 150 cases | no more fit"),
        })
        .collect();
    report
}

/// Nothing could be run, for two reasons; no backend had to run anything.
fn nothing() -> Report {
    let mut report = clean();
    for (number, record) in report.cases.iter_mut().enumerate() {
        record.share = None;
        record.verdict =
            VerdictRecord::NotRun { reason: format!("broken{}.mtx: line 1: no header", number % 2) };
    }
    for backend in &mut report.backends {
        backend.required = false;
    }
    report.seal();
    report
}

struct Files {
    text: String,
    coloured: String,
    markdown: String,
    page: String,
    junit: quick_junit::Report,
    sarif: Vec<Value>,
    svg: String,
    badge: Value,
}

fn files(report: &Report) -> Files {
    let read = |text: String| serde_json::from_str::<Value>(&text).expect("valid JSON");
    let sarif = read(sarif::to_sarif(report).expect("writes"));
    let about_the_run =
        |result: &Value| ["thin", "nothing-judged"].contains(&result["ruleId"].as_str().unwrap_or_default());
    Files {
        text: to_text(report, &[], Colour::Plain),
        coloured: to_text(report, &[], Colour::Ansi),
        markdown: markdown::to_markdown(report),
        page: html::to_html(report, Path::new("")),
        junit: quick_junit::Report::deserialize_from_str(&junit::to_junit(report).expect("writes"))
            .expect("valid"),
        sarif: sarif["runs"][0]["results"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|result| about_the_run(result))
            .cloned()
            .collect(),
        svg: badge::to_svg(report),
        badge: read(badge::to_json(report)),
    }
}

/// Nothing in any file calls the run clean or paints it green.
fn assert_not_green(files: &Files) {
    let last = files.text.lines().last().expect("a last line");
    assert!(!last.contains("clean"), "{last}");
    assert!(!files.coloured.contains("\u{1b}[32m"));
    let heading = files.markdown.lines().next().expect("a heading");
    assert!(!heading.contains("clean"), "{heading}");
    for green in ["<header class=\"clean\"", "<title>clean", ">Clean", "✓</span>Clean"] {
        assert!(!files.page.contains(green), "the page holds {green}");
    }
    assert!(!files.svg.contains("clean") && !files.svg.contains(Outcome::Clean.colour().1));
    let colour = files.badge["color"].as_str().expect("a colour");
    assert!(!colour.contains("green") && !files.badge["message"].as_str().expect("text").contains("clean"));
}

#[test]
fn outcomes_have_words_colours_and_exit_codes_of_their_own() {
    let codes = [&clean(), &sample(3), &thin(2), &nothing()].map(|r| (r.outcome(), r.exit_code()));
    assert_eq!(
        codes,
        [(Outcome::Clean, 0), (Outcome::Findings, 1), (Outcome::Thin, 1), (Outcome::NothingJudged, 2)]
    );
    assert_eq!(codes.map(|(outcome, _)| outcome), Outcome::ALL);
    let headlines = [&clean(), &sample(3), &thin(1), &thin(2), &nothing()].map(Report::headline);
    assert_eq!(
        headlines,
        [
            "clean",
            "18 findings",
            "thin: 1 contract was judged on too little",
            "thin: 2 contracts were judged on too little",
            "nothing judged"
        ]
    );
    // A finding is the stronger word, and what is thin is still listed.
    let mut both = sample(3);
    both.thin = thin(1).thin;
    assert_eq!((both.outcome(), both.exit_code()), (Outcome::Findings, 1));
    assert!(files(&both).text.contains("thin: 1 contract was judged on too little"));
    // An idle backend beside nothing at all: nothing was judged.
    let mut idle = nothing();
    idle.backends[0].required = true;
    idle.seal();
    assert!(!idle.findings.is_empty());
    assert_eq!((idle.outcome(), idle.exit_code()), (Outcome::NothingJudged, 2));
    assert_not_green(&files(&idle));
}

#[test]
fn a_run_without_a_judged_case_is_nowhere_green_and_says_why() {
    let report = nothing();
    let files = files(&report);
    assert_not_green(&files);
    let cases = report.cases.len() as u64;
    assert!(files.text.contains("\nnothing judged: 0 cases run"), "{}", files.text);
    for number in 0..2 {
        let reason = format!("broken{number}.mtx: line 1: no header");
        assert!(
            files.text.contains(&reason) && files.markdown.contains(&reason) && files.page.contains(&reason)
        );
    }
    let reasons = report.summary();
    let reasons = reasons.not_run();
    assert_eq!(reasons.len(), 2, "grouped");
    assert_eq!(reasons.iter().map(|r| r.cases).sum::<u64>(), cases, "and counted");
    assert!(files.markdown.starts_with("# Sparse conformance: nothing judged\n"));
    assert!(files.page.contains("<header class=\"unjudged\"") && files.page.contains("Nothing judged</h1>"));
    assert_eq!((files.junit.failures, files.junit.errors), (0, 1));
    assert_eq!((files.sarif.len(), files.sarif[0]["level"].as_str()), (1, Some("error")));
    assert_eq!(files.badge["message"], "nothing judged");
    assert_eq!(files.badge["isError"], true);
}

/// A shard may hold no case that its backends take. The merged report decides; the shard does not call itself clean.
#[test]
fn a_shard_without_a_judged_case_does_not_fail_and_is_not_clean() {
    let mut report = nothing();
    report.plan.shard = Some("2/3".parse::<Shard>().expect("a shard"));
    assert_eq!((report.outcome(), report.exit_code()), (Outcome::NothingJudged, 0));
    let files = files(&report);
    assert_not_green(&files);
    assert_eq!((files.junit.failures, files.junit.errors), (0, 0));
    assert_eq!(files.sarif[0]["level"], "note");
    assert_eq!(files.badge["message"], "nothing judged (shard 2/3)");
}

#[test]
fn a_thin_run_is_nowhere_green_and_lists_its_reasons() {
    let mut report = thin(30);
    let shown = files(&report);
    assert_not_green(&shown);
    assert!(
        shown
            .text
            .contains("thin: 30 contracts were judged on too little\n  my-kernel, spmv.csr.<0>: 0 of 150"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("<19>") && !shown.text.contains("<20>"));
    assert!(shown.text.contains("  ... and 10 more, all in report.json\n"));
    let last = shown.text.lines().last().expect("a last line");
    assert!(last.starts_with("thin: 30 contracts were judged on too little, no finding: "), "{last}");
    assert!(
        shown.markdown.starts_with("# Sparse conformance: thin: 30 contracts were judged on too little\n")
    );
    assert!(shown.markdown.contains("| spmv.csr.&lt;19&gt; | 19 of 150 cases \\| no more fit |"));
    assert!(!shown.markdown.contains("&lt;20&gt;") && shown.markdown.contains("10 more in `report.json`"));
    assert!(shown.page.contains("<header class=\"thin\"") && shown.page.contains("id=\"thin\""));
    assert!((0..30).all(|number| shown.page.contains(&format!("spmv.csr.&lt;{number}&gt;"))));
    assert_eq!(shown.badge["message"], "thin");
    assert_eq!(shown.badge["color"], "yellow");
    let suite = shown.junit.test_suites.last().expect("a suite");
    assert_eq!((suite.name.as_str(), suite.failures), ("thin", 30));
    let status = &suite.test_cases[0].status;
    assert!(matches!(status, TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. }));
    assert_eq!(shown.sarif.len(), 30);
    assert!(shown.sarif.iter().all(|result| result["level"] == "warning"));

    report.plan.allow_thin = true;
    assert_eq!((report.outcome(), report.exit_code()), (Outcome::Thin, 0));
    let allowed = files(&report);
    assert_not_green(&allowed);
    assert_eq!((allowed.junit.failures, allowed.junit.errors), (0, 0));
    assert!(allowed.sarif.iter().all(|result| result["level"] == "note"));
    assert_eq!(allowed.badge["message"], "thin");
}

/// A report of before has neither field, and one without reasons has none either.
#[test]
fn the_new_fields_are_left_out_where_they_say_nothing() {
    let text = json::to_json(&clean()).expect("writes");
    assert!(!text.contains("\"thin\"") && !text.contains("allow_thin"));
    let text = json::to_json(&thin(1)).expect("writes");
    assert!(text.contains("\"thin\":"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.json");
    let mut report = thin(2);
    report.plan.allow_thin = true;
    std::fs::write(&path, json::to_json(&report).expect("writes")).expect("writes");
    assert_eq!(Report::read(&path).expect("reads"), report);
}

#[test]
fn shards_agree_on_what_is_thin() {
    let mut whole = thin(2);
    let lines: HashSet<String> = whole.cases.iter().map(|c| c.case.clone()).collect();
    whole.plan.digest = plan_digest(&lines);
    let part = |name: &str| {
        let shard = name.parse::<Shard>().expect("a shard");
        let mut part = whole.clone();
        part.cases.retain(|c| shard.takes(&c.case));
        part.plan.distinct_cases = lines.iter().filter(|line| shard.takes(line)).count() as u64;
        part.plan.shard = Some(shard);
        part.plan.allow_thin = shard.index() == 1;
        part.seal();
        (PathBuf::from(name), part)
    };
    let merged = merge(vec![part("1/2"), part("2/2")]).expect("all shards of one plan");
    assert_eq!(merged.thin, whole.thin, "said once");
    assert!(!merged.plan.allow_thin, "one shard was not told to allow it");
    assert_eq!(merged.exit_code(), 1);
}
