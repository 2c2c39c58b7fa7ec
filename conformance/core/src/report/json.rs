//! `report.json`: the complete report, one case per line so that two runs can be compared with `diff`.
//!
//! ```text
//! {"schema":"sparse-conformance-report-1",
//! "suite_version":"0.1.0",
//! "environment":{...},          <- only these two lines may differ
//! "timings":{...},              <- between runs of one seed
//! ...
//! "cases":[
//! {"case":"spmm.csr.f32_f32_f32_f32/rmat:scale=8,seed=7/n=33","contract":...},
//! ```

use super::expectation::Waivers;
use super::finding::Finding;
use super::model::{Report, SCHEMA_NAME};
use serde::Serialize;
use sparse_oracle::plain_file;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// Largest report that is read: millions of cases.
const MOST_BYTES: u64 = 2 << 30;

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is no report of this version.
    #[error("{path} is no report of schema {SCHEMA_NAME}: {reason}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line and column, or the contradiction.
        reason: String,
    },
}

/// The report as JSON text, ending in a line break.
///
/// # Errors
/// A share or a time limit that is NaN or infinite.
pub fn to_json(report: &Report) -> Result<String, serde_json::Error> {
    // Every field by name: a new one does not compile until it is written.
    let Report {
        schema,
        suite_version,
        environment,
        timings,
        plan,
        backends,
        contracts,
        sources,
        expectations,
        cases,
        findings,
        thin,
        worth,
    } = report;
    let mut fields = vec![
        ("schema", serde_json::to_string(schema)?),
        ("suite_version", serde_json::to_string(suite_version)?),
        ("environment", serde_json::to_string(environment)?),
        ("timings", serde_json::to_string(timings)?),
        ("plan", serde_json::to_string(plan)?),
        ("backends", lines(backends)?),
        ("contracts", lines(contracts)?),
        ("sources", lines(sources)?),
        ("expectations", lines(expectations)?),
        ("cases", lines(cases)?),
        ("findings", lines(findings)?),
    ];
    if !thin.is_empty() {
        fields.push(("thin", lines(thin)?));
    }
    if !worth.is_empty() {
        fields.push(("worth", lines(worth)?));
    }
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    Ok(format!("{{{}}}\n", fields.join(",\n")))
}

fn lines<T: Serialize>(items: &[T]) -> Result<String, serde_json::Error> {
    if items.is_empty() {
        return Ok("[]".to_owned());
    }
    let items: Result<Vec<String>, _> = items.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]", items?.join(",\n")))
}

impl Report {
    /// Reads a `report.json` back.
    ///
    /// # Errors
    /// [`ReadError::Read`] if the file cannot be read, [`ReadError::Parse`] if it is no report of this schema
    /// or contradicts itself.
    pub fn read(path: &Path) -> Result<Report, ReadError> {
        let text = plain_file::read_text(path, MOST_BYTES)
            .map_err(|source| ReadError::Read { path: path.to_owned(), source })?;
        Report::parse(&text, path)
    }

    /// Reads the text of a `report.json`; `path` is for the words of a refusal.
    ///
    /// # Errors
    /// [`ReadError::Parse`] if it is no report of this schema or contradicts itself.
    pub fn parse(text: &str, path: &Path) -> Result<Report, ReadError> {
        let report = serde_json::from_str(text).map_err(|error| error.to_string());
        let report = report.and_then(|report: Report| report.contradiction().map_or(Ok(report), Err));
        report.map_err(|reason| ReadError::Parse { path: path.to_owned(), reason })
    }

    /// What the types cannot rule out.
    fn contradiction(&self) -> Option<String> {
        if self.schema != SCHEMA_NAME {
            return Some(format!("its schema is {:?}", self.schema));
        }
        for source in &self.sources {
            let Some(spy) = &source.spy else { continue };
            if u64::from(spy.width) * u64::from(spy.height) != spy.cells.len() as u64 {
                let (width, height, found) = (spy.width, spy.height, spy.cells.len());
                return Some(format!(
                    "the spy plot of {} is {width} x {height} but has {found} cells",
                    source.spec
                ));
            }
        }
        if let Some(shard) = self.plan.shard.filter(|shard| !shard.is_possible()) {
            return Some(format!("there is no shard {shard}"));
        }
        let mut seen = HashSet::new();
        if let Some(record) = self.cases.iter().find(|c| !seen.insert((&c.case, &c.backend))) {
            return Some(format!("{} on {} stands in it twice", record.case, record.backend));
        }
        let waivers = Waivers::new(&self.expectations);
        if let Some(record) = self.cases.iter().find(|c| c.waived != waivers.waiver(c)) {
            let what = if record.waived.is_some() { "is" } else { "is not" };
            return Some(format!(
                "{} on {} {what} marked as waived, against its expectations",
                record.case, record.backend
            ));
        }
        let mut found = self.find();
        if self.findings != found {
            // Reports from before this was a finding do not have it.
            found.retain(|finding| !matches!(finding, Finding::MostlyWaived { .. }));
        }
        (self.findings != found).then(|| "its findings are not those of its cases".to_owned())
    }
}
