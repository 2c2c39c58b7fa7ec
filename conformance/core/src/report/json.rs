//! `report.json`: the complete report. Each part and each finding has a line of its own, so that other files can point at it.
//!
//! ```text
//! {"schema":"sparse-conformance-report-2",
//! "suite_version":"0.1.0",
//! "environment":{...},          <- only these two lines may differ
//! "timings":{...},              <- between runs of one seed
//! ...
//! "cases":{"stamps":[
//! {"backend":"portable","verdict":{"kind":"within"},"tiers":["T0","T1"]}
//! ],
//! "inputs":"XvOb...","outputs":"kKs0...","packed":"eJy0...",
//! "whole":[
//! {"case":"spmm.csr.f32_f32_f32_f32/rmat:scale=8,seed=7/n=33","backend":"mine","verdict":{"kind":"wrong",...}}
//! ]},
//! ```
//! The module `stored` says what stamps are, and what is packed.

use super::expectation::Waivers;
use super::finding::Finding;
use super::model::{Report, SCHEMA_NAME};
use super::stored::{Stamp, StoredCases};
use serde::{Deserialize, Serialize};
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
    let (mut text, after) = frame(report)?;
    let StoredCases { stamps, inputs, outputs, packed, whole } = StoredCases::of(&report.cases)?;
    text.push_str(&first_of_cases(&stamps)?);
    text.push_str(&format!("\"inputs\":\"{inputs}\",\"outputs\":\"{outputs}\",\"packed\":\"{packed}\",\n"));
    text.push_str(&format!("\"whole\":{}}}{after}", lines(&whole)?));
    Ok(text)
}

/// Number of the line of [`to_json`], from 1, that holds each record of the report's cases: its own if it is written whole, else that of
/// the columns.
///
/// # Errors
/// Those of [`to_json`].
pub fn record_lines(report: &Report) -> Result<Vec<usize>, serde_json::Error> {
    let (mut text, _) = frame(report)?;
    let (stamps, are_whole) = StoredCases::outline(&report.cases);
    text.push_str(&first_of_cases(&stamps)?);
    let columns = 1 + text.matches('\n').count();
    let mut own = columns + 2..;
    let line = |is_whole| if is_whole { own.next() } else { None };
    Ok(are_whole.into_iter().map(line).map(|own| own.unwrap_or(columns)).collect())
}

/// What stands before the cases and behind them.
fn frame(report: &Report) -> Result<(String, String), serde_json::Error> {
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
        cases: _,
        findings,
        thin,
        worth,
    } = report;
    let before = [
        ("schema", serde_json::to_string(schema)?),
        ("suite_version", serde_json::to_string(suite_version)?),
        ("environment", serde_json::to_string(environment)?),
        ("timings", serde_json::to_string(timings)?),
        ("plan", serde_json::to_string(plan)?),
        ("backends", lines(backends)?),
        ("contracts", lines(contracts)?),
        ("sources", lines(sources)?),
        ("expectations", lines(expectations)?),
    ];
    let mut after = vec![("findings", lines(findings)?)];
    if !thin.is_empty() {
        after.push(("thin", lines(thin)?));
    }
    if !worth.is_empty() {
        after.push(("worth", lines(worth)?));
    }
    let before: String = before.iter().map(|(name, value)| format!("\"{name}\":{value},\n")).collect();
    let after: String = after.iter().map(|(name, value)| format!(",\n\"{name}\":{value}")).collect();
    Ok((format!("{{{before}\"cases\":"), format!("{after}}}\n")))
}

/// The first lines of the cases.
fn first_of_cases(stamps: &[Stamp]) -> Result<String, serde_json::Error> {
    Ok(format!("{{\"stamps\":{},\n", lines(stamps)?))
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
        let report = serde_json::from_str(text)
            .map_err(|error| other_schema(text).unwrap_or_else(|| error.to_string()));
        let report = report.and_then(|report: Report| report.contradiction().map_or(Ok(report), Err));
        report.map_err(|reason| ReadError::Parse { path: path.to_owned(), reason })
    }

    /// What the types cannot rule out.
    fn contradiction(&self) -> Option<String> {
        if self.schema != SCHEMA_NAME {
            return Some(named(&self.schema));
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

/// What a text of another schema is, where it says so.
fn other_schema(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        schema: String,
    }
    let found: Named = serde_json::from_str(text).ok()?;
    (found.schema != SCHEMA_NAME).then(|| named(&found.schema))
}

/// What a report of another schema is, and what to do with it.
fn named(schema: &str) -> String {
    let number = |name: &str| name.rsplit_once('-').and_then(|(_, number)| number.parse::<u32>().ok());
    let advice = match number(schema).zip(number(SCHEMA_NAME)) {
        Some((theirs, ours)) if theirs < ours => {
            "; an older version of the suite wrote it: read it with that version, or run the plan again"
        }
        Some((theirs, ours)) if theirs > ours => "; a newer version of the suite wrote it",
        _ => "",
    };
    format!("its schema is {schema:?}{advice}")
}
