//! `report.sarif`: SARIF 2.1.0, one result per finding, for code scanning.
//!
//! A finding has no place in the source of a kernel that the suite knows of. Its place is the case's line in
//! `report.json`, and the case line itself as a logical location. Waived findings are results with a suppression. What was
//! judged on too little is a warning, and that nothing was judged is an error. Where there are more results than a reader is shown,
//! what fails the run stands before warnings, those before what is waived, and the first of each reason before the second of any.

use super::{Described, json};
use crate::report::finding::Finding;
use crate::report::model::Report;
use crate::report::outcome::{Outcome, Thin};
use crate::report::show::{one_line, shrunk_first};
use crate::report::verdict::{Defect, VerdictKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_128;

/// Where the format is published.
pub const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// Results at most: GitHub shows no more of a run.
pub const RESULTS: usize = 5_000;

/// Rules that are about no single case.
const OTHER_RULES: [(&str, &str); 7] = [
    ("idle-backend", "A required backend ran no case."),
    ("mostly-waived", "More than a fifth of what a backend ran is waived."),
    ("unexpected-pass", "A case passes that an expectation says fails."),
    ("expired-expectation", "The last day of an expectation has passed."),
    ("stale-expectation", "An expectation matches no case that was run."),
    ("thin", "A contract was judged on too little for a run without findings to mean anything."),
    ("nothing-judged", "No case was judged."),
];

/// The report as SARIF.
///
/// # Errors
/// Those of [`json::record_lines`], the places of results.
pub fn to_sarif(report: &Report) -> Result<String, serde_json::Error> {
    let lines = json::record_lines(report)?;
    let findings = shrunk_first(report);
    let waived: Vec<Finding> = report
        .cases
        .iter()
        .enumerate()
        .filter(|(_, c)| c.waived.is_some())
        .map(|(index, _)| Finding::Case { index })
        .collect();
    let [errors, excused] =
        [&findings, &waived].map(|list| list.iter().map(|finding| result(report, finding, &lines)));
    let thin = report.thin.iter().map(|found| thin(report, found));
    let nothing = nothing_judged(report);
    let all = usize::from(nothing.is_some()) + findings.len() + report.thin.len() + waived.len();
    // The worst first: behind the first 5,000 nobody looks.
    let results: Vec<Value> =
        nothing.into_iter().chain(errors).chain(thin).chain(excused).take(RESULTS).collect();
    let left_out = all - results.len();
    let mut invocation = json!({ "executionSuccessful": true, "exitCode": report.exit_code() });
    if left_out > 0 {
        let text = format!("{left_out} further results are in report.json only");
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "warning", "message": { "text": text } }]);
    }
    let sarif = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sparse-conformance",
                "semanticVersion": report.suite_version,
                "rules": rules(),
            } },
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    Ok(format!("{sarif}\n"))
}

/// Every rule that a result may name, whether this run breaks it or not.
fn rules() -> Vec<Value> {
    let mut rules = BTreeMap::new();
    for kind in VerdictKind::ALL.into_iter().filter(|kind| kind.is_finding()) {
        if kind == VerdictKind::Wrong {
            for defect in Defect::ALL {
                rules.insert(format!("wrong-{defect}"), format!("{}.", defect.explanation()));
            }
        } else {
            rules.insert(kind.label().replace(' ', "-"), kind.explanation().to_owned());
        }
    }
    rules.extend(OTHER_RULES.map(|(id, text)| (id.to_owned(), text.to_owned())));
    let rule = |(id, text)| json!({ "id": id, "shortDescription": { "text": text } });
    rules.into_iter().map(rule).collect()
}

fn result(report: &Report, finding: &Finding, lines: &[usize]) -> Value {
    let described = report.describe(finding);
    let index = match finding {
        Finding::Case { index } | Finding::UnexpectedPass { index, .. } => Some(*index),
        _ => None,
    };
    let mut result = json!({
        "ruleId": described.rule,
        "level": "error",
        "message": { "text": message(&described) },
        "locations": [location(&described, index.map_or(1, |index| lines[index]))],
        "partialFingerprints": { "caseAndBackend/v1": described.fingerprint() },
    });
    if let (Finding::Case { .. }, Some(number)) = (finding, described.record.and_then(|r| r.waived)) {
        let reason = &report.expectations[number].reason;
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": one_line(reason) }]);
    }
    result
}

/// That nothing was judged.
fn nothing_judged(report: &Report) -> Option<Value> {
    let level = if report.must_judge() { "error" } else { "note" };
    let outcome = report.outcome();
    (outcome == Outcome::NothingJudged)
        .then(|| about_the_run("nothing-judged", level, outcome.explanation(), "run"))
}

/// What was judged on too little.
fn thin(report: &Report, found: &Thin) -> Value {
    let level = if report.plan.allow_thin { "note" } else { "warning" };
    let text = format!("{}: {} is thin: {}", found.backend, found.contract, found.reason);
    about_the_run("thin", level, &text, &found.contract)
}

/// A result that is about no case.
fn about_the_run(rule: &str, level: &str, text: &str, name: &str) -> Value {
    let key = format!("{rule}\n{}", one_line(text));
    json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": one_line(text) },
        "locations": [{
            "physicalLocation": { "artifactLocation": { "uri": "report.json" }, "region": { "startLine": 1 } },
            "logicalLocations": [{ "fullyQualifiedName": one_line(name), "kind": "member" }],
        }],
        "partialFingerprints": { "caseAndBackend/v1": format!("{:032x}", xxh3_128(key.as_bytes())) },
    })
}

fn message(described: &Described<'_>) -> String {
    let mut text = format!("{}: {}", described.backend, one_line(&described.message));
    for (name, value) in &described.details {
        text.push_str(&format!("\n{name}: {}", one_line(value)));
    }
    if let Some(replay) = &described.replay {
        text.push_str(&format!("\nreplay: {}", one_line(replay)));
    }
    text
}

fn location(described: &Described<'_>, line: usize) -> Value {
    let name = described.record.map_or(described.backend, |record| record.case.as_str());
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": "report.json" },
            "region": { "startLine": line },
        },
        "logicalLocations": [{ "fullyQualifiedName": one_line(name), "kind": "member" }],
    })
}
