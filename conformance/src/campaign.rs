//! A whole run: a plan's groups spread over threads, records collected into one report.

use crate::backend::{Backend, Support};
use crate::case::{Case, CaseError, Params};
use crate::content;
use crate::determinism::Repeats;
use crate::groups::{GroupDone, Shared};
use crate::journal::Header;
use crate::late::ask_again;
use crate::memory::MemoryBudget;
use crate::origin::Origin;
use crate::plan::{Group, Options, Plan, by_matrix, plan, selected, shard};
use crate::report::{self, Report, Waivers};
use crate::worth::{self, Owed};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sparse_oracle::contract::{Op, all_contracts};
use sparse_oracle::scalar::Precision;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use crate::described::source_record;
pub use crate::groups::{Extras, Progress};

/// Runs the plan on the backends and reports. A matrix that can't be read is reported and costs only its own cases.
#[must_use]
pub fn run(
    options: &Options,
    backends: &[Box<dyn Backend>],
    environment: report::Environment,
    progress: &dyn Progress,
) -> Report {
    run_with(Planned::new(options, backends), backends, environment, progress, &Extras::default())
}

/// A run before its first case: what will be done, and a report that says so.
#[derive(Debug)]
pub struct Planned {
    start: Instant,
    groups: Vec<Group>,
    /// Matrices that keep their picture.
    pictured: HashSet<String>,
    repeats: Repeats,
    plan: report::Plan,
    backends: Vec<report::Backend>,
    contracts: Vec<report::Contract>,
    /// What the run owes to whom.
    owed: Vec<Owed>,
}

impl Planned {
    /// Plans a run.
    #[must_use]
    pub fn new(options: &Options, backends: &[Box<dyn Backend>]) -> Planned {
        let start = Instant::now();
        let asked: Vec<&dyn Backend> = backends.iter().map(AsRef::as_ref).collect();
        let Plan { groups: whole, demands } = plan(options, &asked);
        let digest = report::plan_digest(whole.iter().flat_map(|g| &g.cases).map(ToString::to_string));
        let pictured = pictured(&whole);
        let owed = Owed::all(demands, &whole, backends, options.seed);
        let groups = shard(whole, options.shard);
        let mut records: Vec<report::Backend> = backends.iter().map(|b| backend_record(b.as_ref())).collect();
        records.iter_mut().for_each(|backend| backend.required = !options.optional);
        let cases = groups.iter().map(|g| g.cases.len()).sum();
        Planned {
            start,
            repeats: options.repeats,
            plan: plan_record(options, backends, cases, digest),
            backends: records,
            contracts: contract_records(options, &groups),
            pictured,
            groups,
            owed,
        }
    }

    /// What will be asked.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.groups.iter().flat_map(|group| &group.cases)
    }

    /// Whose results these will be, for a journal.
    #[must_use]
    pub fn header(&self, backends: &[Box<dyn Backend>]) -> Header {
        let program =
            std::env::current_exe().map_or_else(|error| error.to_string(), |p| content::of_file(&p));
        let own = std::iter::once(("this program".to_owned(), program));
        Header {
            journal: crate::journal::SCHEMA_NAME.to_owned(),
            suite_version: env!("CARGO_PKG_VERSION").to_owned(),
            plan: self.plan.clone(),
            repeats: format!("{} times, one case in {}", self.repeats.times, self.repeats.one_in),
            backends: self.backends.clone(),
            content: own.chain(backends.iter().flat_map(|b| b.content())).collect(),
        }
    }
}

/// Threads of the judge's own, unless the caller has it run in a pool. Else they were those of rayon's global one, in which kernels
/// compute: all of them could wait here for calls that wait for one of them.
fn own_threads() -> Option<ThreadPool> {
    let is_outside = rayon::current_thread_index().is_none();
    is_outside.then(|| ThreadPoolBuilder::new().build().ok()).flatten()
}

/// Runs what was planned, but for what is already done.
#[must_use]
pub fn run_with(
    planned: Planned,
    backends: &[Box<dyn Backend>],
    environment: report::Environment,
    progress: &dyn Progress,
    extras: &Extras,
) -> Report {
    let Planned { start, groups, pictured, repeats, plan, backends: records, contracts, owed } = planned;
    progress.planned(groups.iter().map(|g| g.cases.len()).sum(), groups.len());
    let shared = Shared {
        backends,
        progress,
        repeats,
        extras,
        claimed: owed.iter().map(Owed::of).collect(),
        waivers: Waivers::new(&extras.expectations),
        budget: MemoryBudget::process(),
    };
    let all = || groups.par_iter().map(|group| shared.group(group)).collect();
    let mut done: Vec<GroupDone> = match own_threads() {
        Some(pool) => pool.install(all),
        None => all(),
    };
    groups.iter().zip(&mut done).for_each(|(group, done)| shared.put_off(group, done));
    let mut silent = HashMap::new();
    for (group, done) in groups.iter().zip(&mut done) {
        ask_again(group, &mut done.records, backends, (repeats, extras.journal.as_ref()), &mut silent);
    }

    let mut report = Report::new(plan, environment);
    report.backends = records;
    report.contracts = contracts;
    report.expectations.clone_from(&extras.expectations);
    let mut inside = vec![Duration::ZERO; backends.len()];
    for (Group { cases, .. }, mut group) in groups.iter().zip(done) {
        if let Some(mut source) = group.source {
            if !pictured.contains(&source.spec) {
                source.spy = None;
            }
            report.sources.push(source);
        }
        report.cases.append(&mut group.records);
        for ((backend, total), spent) in backends.iter().zip(&mut inside).zip(group.inside) {
            *total += spent.total;
            if let Some((time, place)) = spent.slowest {
                report.timings.note(backend.name(), time.as_secs_f64(), || cases[place].to_string());
            }
        }
        report.timings.oracle_seconds += group.judging.as_secs_f64();
        report.timings.source_seconds += group.loading.as_secs_f64();
    }
    report.sources.sort_by(|a, b| (&a.family, &a.spec).cmp(&(&b.family, &b.spec)));
    // Several groups may use one matrix.
    report.sources.dedup_by(|a, b| a.spec == b.spec);
    let names = backends.iter().map(|b| b.name().to_owned());
    report.timings.backend_seconds = names.zip(inside.iter().map(Duration::as_secs_f64)).collect();
    report.seal();
    worth::measure(&mut report, &owed, &groups, progress);
    report.timings.total_seconds = start.elapsed().as_secs_f64();
    report
}

/// Brings the shards of a plan together, and measures what the whole is worth.
///
/// # Errors
/// As [`report::merge()`].
pub fn merge(parts: Vec<(PathBuf, Report)>, progress: &dyn Progress) -> Result<Report, report::MergeError> {
    let first = parts.first().map(|(path, part)| (path.clone(), part.worth.clone()));
    let (path, rows) = first.unwrap_or_default();
    let mut whole = report::merge(parts)?;
    let owed = Owed::of_shard(&rows).ok_or(report::MergeError::Owed { path })?;
    let mut lines: Vec<&str> = whole.cases.iter().map(|record| record.case.as_str()).collect();
    lines.sort_unstable();
    lines.dedup();
    let cases: Result<Vec<Case>, CaseError> = lines.into_iter().map(str::parse).collect();
    let cases = cases.map_err(|error| report::MergeError::Line { reason: error.to_string() })?;
    worth::measure(&mut whole, &owed, &by_matrix(cases), progress);
    Ok(whole)
}

/// Matrices whose picture the report keeps: the plan's first one of each generator, and the first files and embedded
/// matrices. A function of the whole plan, so that shards agree on it.
fn pictured(whole: &[Group]) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut kept: HashMap<String, usize> = HashMap::new();
    for origin in whole.iter().map(|group| &group.origin) {
        let family = origin.family();
        let limit = if matches!(family.as_str(), "file" | "embedded") { 64 } else { 1 };
        let kept = kept.entry(family).or_default();
        if *kept < limit && names.insert(origin.to_string()) {
            *kept += 1;
        }
    }
    names
}

fn plan_record(
    options: &Options,
    backends: &[Box<dyn Backend>],
    cases: usize,
    digest: String,
) -> report::Plan {
    let all = |chosen: Vec<String>, every: Vec<String>| if chosen.is_empty() { every } else { chosen };
    let names = |ops: &[Op]| ops.iter().map(|op| op.name().to_owned()).collect::<Vec<_>>();
    let types = |list: &[Precision]| list.iter().map(|p| p.name().to_owned()).collect::<Vec<_>>();
    report::Plan {
        tier: options.tier.name().to_owned(),
        seed: options.seed,
        backends: backends.iter().map(|b| b.name().to_owned()).collect(),
        operations: all(names(&options.ops), names(&Op::ALL)),
        precisions: all(types(&options.precisions), types(&Precision::ALL)),
        contracts: options.contracts.clone(),
        matrices: options.matrices.iter().map(named).collect(),
        distinct_cases: cases as u64,
        digest,
        filtered: options.are_filtered(),
        allow_thin: false,
        shard: options.shard,
    }
}

/// A matrix as it was asked for.
fn named(matrix: &Origin) -> String {
    match matrix {
        Origin::File(path) => path.display().to_string(),
        source => source.to_string(),
    }
}

fn contract_records(options: &Options, groups: &[Group]) -> Vec<report::Contract> {
    let mut planned: HashMap<String, u64> = HashMap::new();
    for case in groups.iter().flat_map(|g| &g.cases) {
        *planned.entry(case.contract.to_string()).or_default() += 1;
    }
    let row =
        |name: String| report::Contract { cases_planned: planned.get(&name).copied().unwrap_or(0), name };
    selected(options).into_iter().map(|(_, c)| row(c.to_string())).collect()
}

/// What a backend declares away from the default, and what it excludes, gathered over the whole contract table.
#[must_use]
pub fn backend_record(backend: &dyn Backend) -> report::Backend {
    let mut deviations: BTreeMap<(String, String), (String, Vec<String>)> = BTreeMap::new();
    let mut excluded: BTreeMap<Cow<'static, str>, Vec<String>> = BTreeMap::new();
    for contract in all_contracts() {
        match backend.support(
            contract,
            &Params { layout_c: sparse_oracle::format::Layout::ColMajor, ..Params::default() },
        ) {
            Support::Excluded { reason } => excluded.entry(reason).or_default().push(contract.to_string()),
            Support::Supported { profile, .. } => {
                for (choice, reason) in profile.choices() {
                    let key = (choice.point().to_owned(), choice.meaning().to_owned());
                    let row = deviations.entry(key).or_insert_with(|| (reason.clone(), Vec::new()));
                    row.1.push(format!("{}.{}", contract.op.name(), contract.format.name()));
                }
            }
        }
    }
    let deviations = deviations.into_iter().map(|((point, choice), (reason, _))| report::Deviation {
        point,
        choice,
        reason,
    });
    let exclusions = excluded.into_iter().map(|(reason, contracts)| report::Exclusion {
        pattern: summarise(&contracts),
        reason: reason.into_owned(),
    });
    report::Backend {
        name: backend.name().to_owned(),
        version: backend.version(),
        description: backend.description().to_owned(),
        selection: None,
        required: true,
        determinism: report::DeterminismGrade {
            claimed: backend.determinism().into(),
            ..report::DeterminismGrade::default()
        },
        deviations: deviations.collect(),
        excluded: exclusions.collect(),
    }
}

/// `spmm.coo.* spmm.ell.* (60 contracts)`.
fn summarise(contracts: &[String]) -> String {
    let mut heads: Vec<String> =
        contracts.iter().map(|c| format!("{}.*", c.rsplit_once('.').map_or("", |s| s.0))).collect();
    heads.dedup();
    format!("{} ({} contracts)", heads.join(" "), contracts.len())
}
