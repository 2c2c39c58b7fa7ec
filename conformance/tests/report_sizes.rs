//! No file of a report is too large for who reads it, however much was run and however much failed.

use crate::report_sample::sample;
use sparse_conformance::report::{
    CaseRecord, Criterion, Defect, Deviation, Mismatch, Place, Report, VerdictKind, VerdictRecord,
    WrongElements, junit, plan_digest, write_all,
};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Case lines of each contract: with the contracts that there are, those of the quick tier.
const LINES: usize = 198;

/// A report as that of the quick tier, which was measured: as many case lines, as long and with seeds that cannot be guessed; two or three
/// records on each, of kernels that mostly leave the same bits; hashes as if of what was computed; a fifth of the requests refused.
fn large() -> Report {
    let mut report = sample(LINES);
    // The sample has few lines, each many times.
    let mut turns: HashMap<(String, String), usize> = HashMap::new();
    let mut first: HashMap<String, CaseRecord> = HashMap::new();
    for record in &mut report.cases {
        let turn = turns.entry((record.case.clone(), record.backend.clone())).or_default();
        *turn += 1;
        let draw = plan_digest([format!("{turn}{}", record.case)]);
        let digits: String = draw.chars().filter(char::is_ascii_digit).take(12).collect();
        record.case += &format!("/values=near-one,{digits}/alpha=-1.7/lb=col/ldb=+8/ldc=+29/after=contents");
        record.inputs = record.inputs.as_ref().map(|_| plan_digest([&record.case]));
        record.output = record.output.as_ref().map(|_| plan_digest([record.case.clone() + &record.backend]));
        if draw.starts_with(['0', '1', '2']) && record.verdict.kind().ran() && !record.is_finding() {
            record.verdict = VerdictRecord::AgreedRefusal { refusal: "k is 8 in A and 9 in B".to_owned() };
            (record.share, record.output) = (None, None);
        }
        match first.get(&record.case) {
            Some(portable) if record.backend == "my-kernel" && !record.is_finding() => {
                *record = CaseRecord { backend: record.backend.clone(), ..portable.clone() };
            }
            _ if record.backend == "portable" => drop(first.insert(record.case.clone(), record.clone())),
            _ => {}
        }
    }
    // Who claims no such contract has no record of it.
    report.cases.retain(|record| record.verdict.kind() != VerdictKind::Unsupported);
    report
}

/// A finding as long as those of a kernel that returns zeros.
fn zero(row: u64) -> VerdictRecord {
    VerdictRecord::Wrong(Mismatch {
        at: Some(Place { row, column: row % 33 }),
        expected: Some(format!("{}.{row}5333343267", row % 90)),
        expected_bits: Some(format!("0x3eaa{row:04x}")),
        found: Some("0".to_owned()),
        found_bits: Some("0x0".to_owned()),
        error: Some(format!("{row}.2093333374023437e-3")),
        bound: Some("3.5762786865234375e-7".to_owned()),
        elements: Some(WrongElements {
            count: 3_000 + row,
            within: format!("rows {} to {row} of {row} and columns 0 to 32 of 33", row % 7),
            rows: row,
            columns: 33,
            cells: format!("{:x} {}*ffffffff", row % 977, row.clamp(2, 32) - 1),
        }),
        ..Mismatch::new(
            Criterion::T1,
            Defect::Value,
            format!("C[{row}][{}] is {row}71 times farther from the exact result than its bound", row % 33),
        )
    })
}

/// Bytes of each file of a report.
fn sizes(report: &Report, folder: &Path) -> BTreeMap<String, u64> {
    let paths = write_all(report, folder).expect("written");
    let size = |path: &Path| std::fs::metadata(path).expect("a file").len();
    paths.iter().map(|p| (p.file_name().expect("a name").to_string_lossy().into_owned(), size(p))).collect()
}

fn assert_whole(sizes: &BTreeMap<String, u64>, most: u64) {
    let all: u64 = sizes.values().sum();
    assert!(all < most, "{all} bytes in the folder: {sizes:?}");
    assert!(sizes["report.junit.xml"] < junit::MOST_BYTES as u64, "{sizes:?}");
}

/// A quick tier was a file of 110 MB.
#[test]
fn a_quarter_of_a_million_records_are_ten_megabytes() {
    let mut report = large();
    report.cases.retain(|record| !record.is_finding());
    report.seal();
    assert!(report.cases.len() > 250_000, "{}", report.cases.len());
    let folder = tempfile::tempdir().expect("a folder");
    let sizes = sizes(&report, folder.path());
    assert!(sizes["report.json"] < 10_000_000, "{sizes:?}");
    assert_whole(&sizes, 15_000_000);
    let again = Report::read(&folder.path().join("report.json")).expect("reads");
    assert!(again == report, "every record comes back as it was");
}

/// A kernel that is wrong everywhere.
#[test]
fn eighteen_thousand_findings_are_forty_megabytes() {
    let mut report = large();
    let ran = |record: &&mut CaseRecord| record.backend == "my-kernel" && record.verdict.kind().ran();
    for (row, record) in report.cases.iter_mut().filter(ran).take(18_000).enumerate() {
        (record.verdict, record.share) = (zero(row as u64), Some(row as f64 * 71.1234567));
    }
    report.seal();
    assert!(report.findings.len() >= 18_000, "{}", report.findings.len());
    let folder = tempfile::tempdir().expect("a folder");
    let sizes = sizes(&report, folder.path());
    assert_whole(&sizes, 40_000_000);
    let again = Report::read(&folder.path().join("report.json")).expect("reads");
    assert!(again == report, "every record comes back as it was");
}

/// Findings for which there is no room are counted where they would stand, and the file says where they are.
#[test]
fn junit_counts_the_failures_that_it_has_no_room_for() {
    let mut report = large();
    for (row, record) in report.cases.iter_mut().enumerate().filter(|(_, r)| r.verdict.kind().ran()) {
        record.verdict = match row % 3 {
            0 => VerdictRecord::Crashed { message: "killed by signal 11 & \"<more>\"".repeat(20) },
            _ => zero(row as u64),
        };
        record.share = None;
    }
    report.thin = (0..20_000).map(thin).collect();
    report.seal();
    assert!(report.findings.len() > 50_000);
    let text = junit::to_junit(&report).expect("writes");
    assert!(text.len() < junit::MOST_BYTES && text.len() > junit::MOST_BYTES / 2, "{}", text.len());
    let read = quick_junit::Report::deserialize_from_str(&text).expect("valid");
    let counts = report.summary().total.counts;
    let died = counts.get(VerdictKind::Crashed) + counts.get(VerdictKind::TimedOut);
    assert_eq!(read.errors as u64, died);
    assert_eq!(read.failures + read.errors, report.findings.len() + report.thin.len());
    assert_eq!(read.tests as u64, counts.total() + (read.failures as u64 - (counts.findings() - died)));
    let elements = read.test_suites.iter().flat_map(|suite| &suite.test_cases);
    let left_out = elements.filter(|case| case.name.as_str() == "left out");
    assert!(left_out.count() > 100 && text.contains("all are in report.json and report.html"));
}

/// The choices that a manifest declares, and letters that XML writes as six, were not counted.
#[test]
fn junit_has_room_for_what_a_manifest_says() {
    let mut report = sample(1);
    let deviation = |number: usize| Deviation {
        point: format!("point {number}"),
        choice: "other".to_owned(),
        reason: "\r".repeat(1000),
    };
    for backend in &mut report.backends {
        backend.deviations = (0..2_000).map(deviation).collect();
    }
    report.seal();
    let text = junit::to_junit(&report).expect("writes");
    assert!(text.len() < junit::MOST_BYTES, "{}", text.len());
    assert_eq!(text.matches("\"further properties\"").count(), report.backends.len());
    quick_junit::Report::deserialize_from_str(&text).expect("valid");
}

fn thin(number: usize) -> sparse_conformance::report::Thin {
    sparse_conformance::report::Thin {
        backend: "my-kernel".to_owned(),
        contract: format!("spmv.csr.{number}"),
        reason: "8 of 150 cases, and no more fit its manifest".to_owned(),
    }
}
