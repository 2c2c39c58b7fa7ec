//! What a check judged as a file, where one is asked for: every finding, where a failing test tells of one.
//!
//! ```text
//! SPARSE_REPORT=DIR cargo test      DIR/my_spmv_is_right-spmv.csr.f32_f32_f32_f32.md
//!
//! # my_spmv_is_right: 12 of 162 cases failed
//! | contract | cases | exact | within the bound | refused as agreed | failed | not judged | most of the bound |
//! ## Findings
//! 1. wrong value (T1): element (3, 0): ..        SPARSE_CASE='..' cargo test my_spmv_is_right -- --exact
//! ```

use crate::failed::again;
use sparse_conformance_core::report::{CaseRecord, VerdictKind, show};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The environment variable that names the folder.
pub(crate) const REPORT: &str = "SPARSE_REPORT";

/// Writes the file, in a folder that is made if need be; `test` is the test, `contracts` what was judged.
pub(crate) fn write(
    folder: &Path,
    (test, contracts): (Option<&str>, &[String]),
    records: &[&CaseRecord],
) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(file_name(test, contracts)), text(test, contracts, records))
}

/// Test and contract; a number where one test of this process has judged that before, so that no file replaces another of this run.
fn file_name(test: Option<&str>, contracts: &[String]) -> String {
    static TAKEN: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let what = match contracts {
        [one] => one.clone(),
        several => format!("{}-contracts", several.len()),
    };
    let name = test.map_or_else(|| what.clone(), |test| format!("{}-{what}", test.replace("::", ".")));
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let times = taken.entry(name.clone()).or_insert(0);
    *times += 1;
    if *times == 1 { format!("{name}.md") } else { format!("{name}-{times}.md") }
}

fn text(test: Option<&str>, contracts: &[String], records: &[&CaseRecord]) -> String {
    let findings: Vec<_> = records.iter().filter(|record| record.is_finding()).collect();
    let ran = records.iter().filter(|record| record.verdict.kind().ran()).count();
    let outcome = match findings.len() {
        0 => format!("{} judged, nothing wrong was found", show::counted(ran as u64, "case")),
        failed => format!("{} of {} failed", show::count(failed as u64), show::counted(ran as u64, "case")),
    };
    let name = test.map_or_else(|| contracts.join(", "), str::to_owned);
    let mut text = format!("# {name}: {outcome}\n\n{}", table(records));
    if !findings.is_empty() {
        text += "\n## Findings\n\n";
    }
    for (number, record) in (1..).zip(findings) {
        let verdict = show::one_line(&record.verdict.to_string());
        let _ = writeln!(text, "{number}. {verdict}\n\n   ```sh\n   {}\n   ```\n", again(&record.case, test));
    }
    text
}

/// A row a contract.
fn table(records: &[&CaseRecord]) -> String {
    let mut rows: BTreeMap<&str, Vec<&CaseRecord>> = BTreeMap::new();
    records.iter().for_each(|record| rows.entry(&record.contract).or_default().push(record));
    let mut text = "| contract | cases | exact | within the bound | refused as agreed | failed | not judged | most of the bound |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for (contract, records) in rows {
        let of = |is: &dyn Fn(VerdictKind) -> bool| records.iter().filter(|r| is(r.verdict.kind())).count();
        let kind = |kind: VerdictKind| of(&|other| other == kind);
        let counts = [
            records.len(),
            kind(VerdictKind::Exact),
            kind(VerdictKind::Within),
            kind(VerdictKind::AgreedRefusal),
            of(&VerdictKind::is_finding),
            of(&|kind| !kind.ran()),
        ];
        let counts = counts.map(|count| show::count(count as u64)).join(" | ");
        let worst = records.iter().filter_map(|record| record.share_of_bound()).fold(0.0, f64::max);
        let _ = writeln!(text, "| {contract} | {counts} | {} |", show::share(worst));
    }
    text
}
