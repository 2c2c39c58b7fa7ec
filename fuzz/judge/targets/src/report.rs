//! A report as `merge` and `diff` read it.

use super::draft::{draft, drafts};
use super::{FuzzOutcome, sample};
use data_encoding::BASE64;
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use serde_json::Value;
use sparse_conformance::report::json::to_json;
use sparse_conformance::report::stored::StoredCases;
use sparse_conformance::report::{CaseRecord, Colour, Report, ReportError, WRITERS, diff, merge, to_text};
use sparse_conformance::shard::Shard;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Most shards of which the missing ones are made up.
const SHARDS: u64 = 3;

/// A report that is a shard of so many.
fn shard(report: &Report, index: u64, count: u64) -> Report {
    let mut part = report.clone();
    part.plan.shard = Shard::new(index, count).ok();
    part.cases.retain(|record| part.plan.shard.is_some_and(|shard| shard.takes(&record.case)));
    let lines = part.cases.chunk_by(|a, b| a.case == b.case).count();
    part.plan.distinct_cases = lines as u64;
    part.seal();
    part
}

/// Reports of which others are drafted.
fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let whole = sample::report(10);
        let mut waived = sample::report(6);
        waived.expectations = sample::expectations();
        waived.seal();
        let mut thin = sample::report(2);
        (thin.worth, thin.thin) = sample::worth();
        let reports = [
            sample::report(0),
            sample::report(1),
            shard(&whole, 1, 1),
            shard(&whole, 1, 2),
            whole,
            waived,
            thin,
        ];
        reports.iter().map(|report| one_by_one(report).to_string()).collect()
    })
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    super::draft::seeds(texts(), 40)
}

/// Words of a report that edits put elsewhere.
pub(super) fn words() -> Vec<String> {
    let words = [
        "one",
        "two",
        "spmm.csr.f32_f32_f32_f32",
        "convert.csr.coo.f16",
        "*",
        "quick",
        "full",
        "extensive",
        "2027-01-31",
        "exact",
        "within",
        "wrong",
        "lone_refusal",
        "crashed",
        "value",
        "T0",
        "T2",
        "always",
        "sometimes",
        "same",
        "different",
        "case",
        "idle_backend",
        "threads",
        "sparse-conformance-report-2",
        "none",
    ];
    words.map(str::to_owned).to_vec()
}

/// The report as a value whose cases are the records one by one, and its columns unpacked: edits of packed ones would mostly be no columns.
fn one_by_one(report: &Report) -> Value {
    let mut value = serde_json::to_value(report).expect("finite numbers");
    let packed = value["cases"]["packed"].as_str().expect("columns").to_owned();
    let mut stored = value["cases"].take();
    stored["packed"] = serde_json::from_slice(&unpacked(&packed)).expect("columns are JSON");
    value["columns"] = stored;
    value["cases"] = serde_json::to_value(&report.cases).expect("finite numbers");
    value
}

fn unpacked(packed: &str) -> Vec<u8> {
    let bytes = BASE64.decode(packed.as_bytes()).expect("base64");
    let mut text = Vec::new();
    ZlibDecoder::new(bytes.as_slice()).read_to_end(&mut text).expect("compressed");
    text
}

/// The edited report with its edited columns, whatever they say.
fn in_columns(mut value: Value) -> Option<String> {
    let mut stored = value.as_object_mut()?.remove("columns")?;
    let columns = stored.get("packed")?.to_string();
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(columns.as_bytes()).ok()?;
    stored["packed"] = Value::String(BASE64.encode(&packed.finish().ok()?));
    value["cases"] = stored;
    Some(value.to_string())
}

/// The edited report as a file, with the findings that its cases have now if it is sealed: else each edit of a case would be a
/// contradiction.
fn stored(mut value: Value, seal: bool) -> String {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("columns");
    }
    let read = || {
        let records: Vec<CaseRecord> = serde_json::from_value(value.get("cases")?.clone()).ok()?;
        let mut rest = value.clone();
        rest["cases"] = serde_json::to_value(StoredCases::of(&[]).ok()?).ok()?;
        let mut report: Report = serde_json::from_value(rest).ok()?;
        report.cases = records;
        if seal {
            report.seal();
        }
        to_json(&report).ok()
    };
    read().unwrap_or_else(|| value.to_string())
}

/// Any text is a report or a typed error; a report is written by every writer, reads as itself, differs in nothing from itself, and
/// is no second shard beside itself.
///
/// # Panics
/// When one of this is not so.
pub fn report_json(bytes: &[u8]) -> FuzzOutcome {
    let path = Path::new("a/report.json");
    let text = match drafts(bytes) {
        Some(mut input) => {
            let seal = !input.one_in(8);
            let value = draft(&mut input, texts(), &words());
            if input.one_in(3) { in_columns(value).unwrap_or_default() } else { stored(value, seal) }
        }
        None => String::from_utf8_lossy(bytes).into_owned(),
    };
    let report = match Report::parse(&text, path) {
        Ok(report) => report,
        Err(error) => {
            assert!(error.to_string().contains("a/report.json"), "{error}");
            return FuzzOutcome::Refused;
        }
    };
    written(&report, path);
    equals_itself(&report);
    merged(&report);
    FuzzOutcome::Accepted
}

fn written(report: &Report, path: &Path) {
    let text = to_json(report).expect("what was read has finite numbers only");
    let again = Report::parse(&text, path).expect("what was written can be read");
    assert!(*report == again, "{text}");
    assert_eq!(to_json(&again).ok(), Some(text));
    for writer in WRITERS {
        match writer.text(report, path) {
            Ok(text) => assert!(!text.is_empty(), "{}", writer.file),
            Err(ReportError::Encode { path: named, .. } | ReportError::Junit { path: named, .. }) => {
                panic!("{} can't be written to {}", writer.file, named.display())
            }
            Err(error) => panic!("no file was to be written, but: {error}"),
        }
    }
    assert!(!to_text(report, &[], Colour::for_output(false)).is_empty());
}

fn equals_itself(report: &Report) {
    let found = diff::diff(report, report, 2.0);
    assert!(found.setting.is_empty() && found.coverage.is_empty(), "{found:?}");
    assert!(
        found.new_findings.is_empty() && found.changed.is_empty() && found.shares.is_empty(),
        "{found:?}"
    );
    assert!(found.other_bits.is_empty() && found.other_inputs.is_empty(), "{found:?}");
    assert!(found.only_old.is_empty() && found.only_new.is_empty(), "{found:?}");
    // Of a report without a case nothing is compared.
    let (code, said) =
        if report.cases.is_empty() { (2, "nothing was compared") } else { (0, "no new finding") };
    let text = diff::to_text(&found);
    assert!(found.exit_code() == code && text.lines().last().is_some_and(|l| l.starts_with(said)), "{text}");
}

fn merged(report: &Report) {
    let named = |at: u64, part: Report| (PathBuf::from(format!("{at}/report.json")), part);
    let twice = merge(vec![named(1, report.clone()), named(2, report.clone())]);
    assert!(!twice.expect_err("nothing is two shards of a plan").to_string().is_empty());
    let Some(mine) = report.plan.shard.filter(|shard| shard.count() <= SHARDS) else {
        return;
    };
    let parts = (1..=mine.count()).map(|at| {
        let mut part = report.clone();
        if at != mine.index() {
            part = shard(&part, at, mine.count());
        }
        named(at, part)
    });
    match merge(parts.collect()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(whole) => {
            assert_eq!(whole.cases.len(), report.cases.len());
            assert_eq!(whole.plan.shard, None);
            let text = to_json(&whole).expect("a merged report can be written");
            let again = Report::parse(&text, Path::new("merged")).expect("a merged report can be read");
            assert!(whole == again, "{text}");
        }
    }
}
