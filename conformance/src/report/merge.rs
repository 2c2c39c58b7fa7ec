//! Reports of all shards of one plan, brought together into the report that the unsharded run would have written.
//!
//! ```text
//! same suite, plan, backends, expectations?  ->  every shard once?  ->  cases are those of the plan?  ->  one report
//! ```
//! Only `environment` and `timings` differ from the unsharded report. They say what each machine was.

use crate::report::environment::{Environment, Timings};
use crate::report::evidence::DeterminismGrade;
use crate::report::expectation::Expectation;
use crate::report::model::{Backend, Contract, Plan, Report, Source};
use crate::report::outcome::Thin;
use crate::shard::Shard;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// Why reports can't be brought together. Each names the report that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("no report was given")]
    Nothing,
    /// A report is of a whole plan.
    #[error("{path} is no shard's report: it was run without --shard")]
    NotAShard {
        /// The report.
        path: PathBuf,
    },
    /// Two reports are not of one plan.
    #[error(
        "{path} and {other} are not shards of one plan: {what} is {theirs} in the one, {ours} in the other"
    )]
    Different {
        /// The report.
        path: PathBuf,
        /// The first report, which it was compared with.
        other: PathBuf,
        /// What differs.
        what: &'static str,
        /// Its value in `path`.
        theirs: String,
        /// Its value in `other`.
        ours: String,
    },
    /// One shard was given twice.
    #[error("{path} and {other} are both shard {shard}")]
    Twice {
        /// The report.
        path: PathBuf,
        /// An earlier one.
        other: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// Shards are missing.
    #[error("of {count} shards, {} missing: {}", plural(.missing), list(.missing))]
    Missing {
        /// How many there are.
        count: u64,
        /// Which are missing.
        missing: Vec<u64>,
    },
    /// A case stands in a report whose shard it is not in.
    #[error("{path} is shard {shard}, but holds a case of another: {case}")]
    Foreign {
        /// The report.
        path: PathBuf,
        /// Its shard.
        shard: Shard,
        /// The case line.
        case: String,
    },
    /// Two machines saw different matrices under one name.
    #[error("{path} saw another matrix than an earlier shard under the name {source_name}")]
    OtherMatrix {
        /// The report.
        path: PathBuf,
        /// The matrix.
        source_name: String,
    },
    /// A report does not say what its plan owes to each contract.
    #[error(
        "{path} does not say what its plan owes to each contract: it was changed, or is of another version"
    )]
    Owed {
        /// The report.
        path: PathBuf,
    },
    /// A case line does not parse.
    #[error("{reason}")]
    Line {
        /// What is wrong with it.
        reason: String,
    },
    /// The cases of all shards are not those of the plan.
    #[error(
        "the shards hold {found} cases, and these are not those of the plan: a report was changed or cut off"
    )]
    Incomplete {
        /// Case lines found.
        found: u64,
    },
}

fn plural(missing: &[u64]) -> &'static str {
    if missing.len() == 1 { "one is" } else { "some are" }
}

fn list(missing: &[u64]) -> String {
    missing.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Brings the shards' reports together, in whatever order they are given.
///
/// # Errors
/// When they are not all shards of one plan, each exactly once.
pub fn merge(mut parts: Vec<(PathBuf, Report)>) -> Result<Report, MergeError> {
    let shards = check(&parts)?;
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&part| shards[part]);
    let (_, first) = parts.first().ok_or(MergeError::Nothing)?;
    let mut whole = Report::new(
        Plan {
            shard: None,
            distinct_cases: parts.iter().map(|(_, p)| p.plan.distinct_cases).fold(0, u64::saturating_add),
            ..first.plan.clone()
        },
        environment(order.iter().map(|&part| (shards[part], &parts[part].1.environment))),
    );
    whole.plan.allow_thin = parts.iter().all(|(_, part)| part.plan.allow_thin);
    whole.thin = thin(&parts);
    whole.suite_version.clone_from(&first.suite_version);
    whole.backends.clone_from(&first.backends);
    whole.contracts = contracts(&parts);
    whole.expectations = expectations(&parts);
    whole.worth.clone_from(&first.worth);
    whole.sources = sources(&parts)?;
    whole.timings = timings(parts.iter().map(|(_, part)| &part.timings));
    whole.cases = parts.iter_mut().flat_map(|(_, part)| part.cases.drain(..)).collect();
    let lines: HashSet<&str> = whole.cases.iter().map(|c| c.case.as_str()).collect();
    let found = lines.len() as u64;
    if found != whole.plan.distinct_cases
        || !is_whole(&whole)
        || crate::report::plan_digest(lines) != whole.plan.digest
    {
        return Err(MergeError::Incomplete { found });
    }
    whole.seal();
    Ok(whole)
}

/// True where each case has a record of every backend that claims its contract; of every backend, where the report does not say who does.
fn is_whole(report: &Report) -> bool {
    let distinct: HashSet<&str> = report.cases.iter().map(|c| c.case.as_str()).collect();
    if report.worth.is_empty() {
        return report.cases.len() == distinct.len() * report.backends.len();
    }
    let mut claims: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &report.worth {
        *claims.entry(&row.contract).or_default() += 1;
    }
    let mut records: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for record in &report.cases {
        records.entry(&record.case).or_insert((&record.contract, 0)).1 += 1;
    }
    let complete = |(contract, count): &(&str, u64)| claims.get(contract) == Some(count);
    records.values().all(complete)
}

/// The shard of each report, where all are of one plan and none is missing.
fn check(parts: &[(PathBuf, Report)]) -> Result<Vec<Shard>, MergeError> {
    let (first_path, first) = parts.first().ok_or(MergeError::Nothing)?;
    let mut shards: Vec<Shard> = Vec::new();
    for (path, part) in parts {
        let shard = part.plan.shard.ok_or_else(|| MergeError::NotAShard { path: path.clone() })?;
        if let Some((what, theirs, ours)) = difference(part, first) {
            let (path, other) = (path.clone(), first_path.clone());
            return Err(MergeError::Different { path, other, what, theirs, ours });
        }
        if let Some(earlier) = shards.iter().position(|&s| s == shard) {
            return Err(MergeError::Twice { path: path.clone(), other: parts[earlier].0.clone(), shard });
        }
        if let Some(record) = part.cases.iter().find(|c| !shard.takes(&c.case)) {
            return Err(MergeError::Foreign { path: path.clone(), shard, case: record.case.clone() });
        }
        shards.push(shard);
    }
    let count = shards[0].count();
    // There are at most as many as were given, but for a report that claims a huge number of shards.
    let missing: Vec<u64> =
        (1..=count).filter(|&i| !shards.iter().any(|s| s.index() == i)).take(32).collect();
    if missing.is_empty() { Ok(shards) } else { Err(MergeError::Missing { count, missing }) }
}

/// The first thing in which two reports can't be of one plan, with both values.
fn difference(theirs: &Report, ours: &Report) -> Option<(&'static str, String, String)> {
    type Show = fn(&Report) -> String;
    let facts: [(&'static str, Show); 11] = [
        ("the suite's version", |r| r.suite_version.clone()),
        ("the number of shards", |r| r.plan.shard.map_or(0, Shard::count).to_string()),
        ("the tier", |r| r.plan.tier.clone()),
        ("the seed", |r| r.plan.seed.to_string()),
        ("the list of operations", |r| r.plan.operations.join(",")),
        ("the list of element types", |r| r.plan.precisions.join(",")),
        ("the list of matrices", |r| r.plan.matrices.join(",")),
        ("the list of backends", |r| {
            let versions = r.backends.iter().map(|b| format!("{} {}", b.name, b.version));
            versions.collect::<Vec<_>>().join(", ")
        }),
        ("the plan", |r| format!("{} (digest)", r.plan.digest)),
        ("what backends declare", |r| format!("{:?}", declared(&r.backends))),
        ("the list of expectations", |r| {
            let in_force = |e: &Expectation| Expectation { expired: false, ..e.clone() };
            format!("{:?}", r.expectations.iter().map(in_force).collect::<Vec<_>>())
        }),
    ];
    facts.into_iter().map(|(what, show)| (what, show(theirs), show(ours))).find(|(_, a, b)| a != b)
}

/// What backends said beforehand: grades are made of the cases, and differ; a machine may have its backends elsewhere.
fn declared(backends: &[Backend]) -> Vec<Backend> {
    let declared = |backend: &Backend| Backend {
        determinism: DeterminismGrade { claimed: backend.determinism.claimed, ..DeterminismGrade::default() },
        selection: None,
        ..backend.clone()
    };
    backends.iter().map(declared).collect()
}

/// The rows of the contract table, which every shard lists in full, with the cases of all.
fn contracts(parts: &[(PathBuf, Report)]) -> Vec<Contract> {
    let mut planned: BTreeMap<&str, u64> = BTreeMap::new();
    for contract in parts.iter().flat_map(|(_, part)| &part.contracts) {
        let planned = planned.entry(&contract.name).or_default();
        *planned = planned.saturating_add(contract.cases_planned);
    }
    let first = parts.first().map(|(_, part)| part.contracts.as_slice());
    let total = |contract: &Contract| Contract {
        name: contract.name.clone(),
        cases_planned: planned[contract.name.as_str()],
    };
    first.unwrap_or_default().iter().map(total).collect()
}

/// What some shard says was judged on too little, once. A plan says it of the whole, so that all shards say the same.
fn thin(parts: &[(PathBuf, Report)]) -> Vec<Thin> {
    let mut seen = HashSet::new();
    let all = parts.iter().flat_map(|(_, part)| &part.thin);
    all.filter(|thin| seen.insert(*thin)).cloned().collect()
}

/// Where shards ran on the two sides of an expiry, it counts as expired.
fn expectations(parts: &[(PathBuf, Report)]) -> Vec<Expectation> {
    let mut all: Vec<Expectation> = Vec::new();
    for (_, part) in parts {
        if all.is_empty() {
            all.clone_from(&part.expectations);
        }
        for (mine, theirs) in all.iter_mut().zip(&part.expectations) {
            mine.expired |= theirs.expired;
        }
    }
    all
}

/// Every matrix that some shard made, once.
fn sources(parts: &[(PathBuf, Report)]) -> Result<Vec<Source>, MergeError> {
    let mut all: BTreeMap<(&str, &str), &Source> = BTreeMap::new();
    for (path, part) in parts {
        for source in &part.sources {
            let known = all.entry((&source.family, &source.spec)).or_insert(source);
            if *known != source {
                return Err(MergeError::OtherMatrix { path: path.clone(), source_name: source.spec.clone() });
            }
        }
    }
    Ok(all.into_values().cloned().collect())
}

/// The first shard's machine, with a note on each.
fn environment<'a>(parts: impl Iterator<Item = (Shard, &'a Environment)>) -> Environment {
    let mut whole: Option<Environment> = None;
    let mut notes = BTreeMap::new();
    for (shard, here) in parts {
        let note = format!(
            "{} {}, {}, {} threads, started {}",
            here.os, here.arch, here.cpu, here.threads, here.started
        );
        notes.insert(format!("shard {shard}"), note);
        let whole = whole.get_or_insert_with(|| here.clone());
        if here.started < whole.started {
            whole.started.clone_from(&here.started);
        }
        whole.notes.extend(here.notes.clone());
    }
    let mut whole = whole.unwrap_or_default();
    whole.notes.extend(notes);
    whole
}

/// Sums, but for the whole run, as long as its longest shard, and the slowest cases.
fn timings<'a>(parts: impl Iterator<Item = &'a Timings>) -> Timings {
    let mut whole = Timings::default();
    for part in parts {
        whole.total_seconds = whole.total_seconds.max(part.total_seconds);
        whole.oracle_seconds += part.oracle_seconds;
        whole.source_seconds += part.source_seconds;
        for (backend, seconds) in &part.backend_seconds {
            *whole.backend_seconds.entry(backend.clone()).or_default() += seconds;
        }
        for (backend, slow) in &part.slowest {
            whole.note(backend, slow.seconds, || slow.case.clone());
        }
    }
    whole
}
