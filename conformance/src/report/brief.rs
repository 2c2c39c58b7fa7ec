//! What came of a run as one JSON object, for scripts: `run --json` and `merge --json` print it. Everything else is in report.json.
//!
//! ```text
//! { "outcome": "findings", "exit_code": 1, "backends": [{ "name", "cases", "verdicts": { "wrong": 2, .. }, .. }],
//!   "findings": 2, "first_findings": [{ "rule", "backend", "message", "replay", .. }], "thin": [..], "files": [..] }
//! ```

use super::text::FINDINGS_SHOWN;
use super::write::folder_of;
use crate::report::model::Report;
use crate::report::show::shrunk_first;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The object; `written` are the files of the report. Of the findings it has the first ones, in the order of the terminal.
#[must_use]
pub fn to_brief(report: &Report, written: &[PathBuf]) -> Value {
    let summary = report.summary();
    let backend = |backend: &super::BackendSummary| {
        let counts = &backend.cell.counts;
        let verdicts = counts.present().map(|(kind, number)| (kind.label().to_owned(), json!(number)));
        json!({
            "name": backend.name,
            "cases": counts.total(),
            "verdicts": verdicts.collect::<Map<_, _>>(),
            "largest_share_of_bound": backend.cell.worst.map(|worst| worst.share),
        })
    };
    let findings = shrunk_first(report);
    let finding = |finding| {
        let described = report.describe(finding);
        json!({
            "rule": described.rule,
            "backend": described.backend,
            "fingerprint": described.fingerprint(),
            "case": described.record.map(|record| &record.case),
            "message": described.message,
            "replay": described.replay,
            "replay_shrunk": described.record.and_then(|record| report.replay_shrunk(record, folder_of(written))),
        })
    };
    json!({
        "outcome": report.outcome().word(),
        "exit_code": report.exit_code(),
        "case_lines": summary.planned,
        "backends": summary.backends.iter().map(backend).collect::<Vec<_>>(),
        "findings": findings.len(),
        "first_findings": findings.iter().take(FINDINGS_SHOWN).map(finding).collect::<Vec<_>>(),
        "thin": report.thin,
        "files": written,
    })
}
