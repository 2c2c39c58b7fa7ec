//! Badges and SARIF say what the report says.

use super::expected::{expectation, expected_sample};
use super::{few_wrong, only};
use sparse_conformance::report::{
    CaseRecord, Expectation, Expected, Finding, Report, Thin, VerdictKind, badge, json, sarif,
};
use std::collections::BTreeSet;

#[test]
fn badges_say_what_the_report_says() {
    let read =
        |report: &Report| -> serde_json::Value { serde_json::from_str(&badge::to_json(report)).unwrap() };
    let dirty = expected_sample(8);
    let found = dirty.find().len();
    let badge = read(&dirty);
    assert_eq!(badge["message"], format!("{found} findings"));
    assert_eq!((badge["schemaVersion"].as_u64(), badge["isError"].as_bool()), (Some(1), Some(true)));
    let waived = only(few_wrong, vec![expectation(1, Expected::Wrong, None)]);
    assert_eq!(read(&waived)["message"], "clean, 3 waived");
    let clean = only(|c| c.verdict.kind() == VerdictKind::Exact, Vec::new());
    assert_eq!(read(&clean)["message"], "clean");
    for report in [&dirty, &waived, &clean] {
        let svg = badge::to_svg(report);
        let message = read(report)["message"].as_str().unwrap().to_owned();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(svg.contains(&format!("aria-label=\"sparse conformance: {message}\"")), "{svg}");
        assert!(
            !svg.contains("href") && svg.matches("http").count() == 1,
            "only the namespace is an address"
        );
    }
}

/// What SARIF 2.1.0 asks of the parts that we write (OASIS, sections 3.13 to 3.35), by hand.
fn sarif_schema() -> serde_json::Value {
    serde_json::json!({
        "type": "object", "required": ["version", "runs"], "additionalProperties": false,
        "properties": {
            "$schema": { "type": "string", "format": "uri" },
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "items": {
                "type": "object", "required": ["tool"], "additionalProperties": false,
                "properties": {
                    "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                    "invocations": { "type": "array", "items": {
                        "type": "object", "required": ["executionSuccessful"],
                        "properties": { "executionSuccessful": { "type": "boolean" }, "exitCode": { "type": "integer" } } } },
                    "tool": { "type": "object", "required": ["driver"], "properties": { "driver": {
                        "type": "object", "required": ["name"], "properties": {
                            "name": { "type": "string", "minLength": 1 },
                            "rules": { "type": "array", "uniqueItems": true, "items": {
                                "type": "object", "required": ["id"], "additionalProperties": false,
                                "properties": {
                                    "id": { "type": "string", "pattern": "^[a-z-]+$" },
                                    "shortDescription": { "$ref": "#/$defs/message" } } } } } } } },
                    "results": { "type": "array", "items": {
                        "type": "object", "required": ["message"], "additionalProperties": false,
                        "properties": {
                            "ruleId": { "type": "string" },
                            "level": { "enum": ["none", "note", "warning", "error"] },
                            "message": { "$ref": "#/$defs/message" },
                            "locations": { "type": "array", "minItems": 1, "items": {
                                "type": "object", "required": ["physicalLocation"], "properties": {
                                    "physicalLocation": { "type": "object", "required": ["artifactLocation"], "properties": {
                                        "artifactLocation": { "type": "object", "required": ["uri"] },
                                        "region": { "type": "object", "properties": {
                                            "startLine": { "type": "integer", "minimum": 1 } } } } } } } },
                            "partialFingerprints": { "type": "object", "additionalProperties": { "type": "string" } },
                            "suppressions": { "type": "array", "items": {
                                "type": "object", "required": ["kind"], "properties": {
                                    "kind": { "enum": ["inSource", "external"] },
                                    "status": { "enum": ["accepted", "underReview", "rejected"] } } } } } } } } } }
        },
        "$defs": { "message": { "type": "object", "required": ["text"],
            "properties": { "text": { "type": "string", "minLength": 1 } } } }
    })
}

#[test]
fn sarif_has_one_result_per_finding_that_points_at_its_line() {
    let report = expected_sample(8);
    let sarif: serde_json::Value = serde_json::from_str(&sarif::to_sarif(&report).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&sarif_schema()).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&sarif).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
    let mut broken = sarif.clone();
    broken["runs"][0]["results"][0]["message"] = serde_json::json!({});
    assert!(!validator.is_valid(&broken), "the check sees nothing");

    let run = &sarif["runs"][0];
    let rules: Vec<&str> = run["tool"]["driver"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["id"].as_str().unwrap())
        .collect();
    let results = run["results"].as_array().unwrap();
    let (live, waived): (Vec<_>, Vec<_>) = results.iter().partition(|r| r.get("suppressions").is_none());
    assert_eq!((live.len(), waived.len()), (report.find().len(), 5));
    let text = json::to_json(&report).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut prints = BTreeSet::new();
    for result in results {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{result}");
        prints.insert(result["partialFingerprints"]["caseAndBackend/v1"].as_str().unwrap().to_owned());
        let message = result["message"]["text"].as_str().unwrap();
        let line = result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().unwrap();
        let Some((_, replay)) = message.split_once("\nreplay: ") else {
            assert_eq!(line, 1);
            continue;
        };
        let found = lines[line as usize - 1];
        let mut values = serde_json::Deserializer::from_str(found).into_iter::<CaseRecord>();
        match values.next().expect("a value") {
            Ok(record) => assert_eq!(report.replay(&record), replay),
            // A pass that should not be stands in the columns.
            Err(_) => {
                assert_eq!(result["ruleId"], "unexpected-pass");
                assert!(found.starts_with("\"inputs\":"), "{found}");
            }
        }
    }
    assert_eq!(prints.len(), results.len(), "fingerprints tell results apart");
}

/// GitHub shows 5,000 results of a run; thin contracts stood first, and with many of them no finding was left.
#[test]
fn what_fails_a_run_stands_before_what_is_only_thin() {
    let mut report = expected_sample(4);
    let thin = |number| Thin {
        backend: "my-kernel".to_owned(),
        contract: format!("spmv.csr.{number}"),
        reason: "8 of 150 cases".to_owned(),
    };
    report.thin = (0..sarif::RESULTS).map(thin).collect();
    let sarif: serde_json::Value = serde_json::from_str(&sarif::to_sarif(&report).unwrap()).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), sarif::RESULTS);
    let (findings, others) = results.split_at(report.find().len());
    assert!(findings.iter().all(|result| result["level"] == "error"));
    assert!(others.iter().all(|result| result["ruleId"] == "thin"));
}

/// Two entries that the same case passes were one result for GitHub, and two elements of the page with one name.
#[test]
fn two_expectations_that_one_case_passes_are_told_apart() {
    let mut report = expected_sample(8);
    let twin = Expectation { from: "my-kernel.toml entry 9".to_owned(), ..report.expectations[2].clone() };
    report.expectations.push(twin);
    report.seal();
    let findings = report.find();
    let passes: Vec<_> = findings.iter().filter(|f| matches!(f, Finding::UnexpectedPass { .. })).collect();
    assert_eq!(passes.len(), 2);
    let described = passes.iter().map(|finding| report.describe(finding));
    let (cases, prints): (BTreeSet<_>, BTreeSet<_>) =
        described.map(|d| (d.record.unwrap().case.clone(), d.fingerprint())).unzip();
    assert_eq!((cases.len(), prints.len()), (1, 2));
}
