//! A check: which kernel, how much, and how it rounds; then its cases are run and judged.

use crate::closure::Closure;
use crate::failed::{CASE, Failed, Found};
use crate::smallest::Smallest;
use crate::written::{REPORT, write};
use rayon::prelude::*;
use sparse_conformance_core::backend::Backend;
use sparse_conformance_core::case::Case;
use sparse_conformance_core::declaration;
use sparse_conformance_core::determinism::Repeats;
use sparse_conformance_core::origin::Loaded;
use sparse_conformance_core::plan::{Demand, Group, Options, Plan, Tier, by_matrix, plan};
use sparse_conformance_core::record::unasked;
use sparse_conformance_core::report::{CaseRecord, Reason, show};
use sparse_conformance_core::runner::run_case_on;
use sparse_conformance_core::shrink::ShrinkBudget;
use sparse_oracle::verdict::VerdictKind;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Who is judged.
pub(crate) enum Chosen {
    Closure(Closure),
    Backend {
        backend: Box<dyn Backend>,
        contracts: String,
    },
    /// A closure of types that no contract has.
    Nothing {
        asked: String,
    },
}

/// A kernel and how it is to be judged. Nothing runs before [`assert`](Self::assert) or [`run`](Self::run).
#[must_use = "nothing is judged before `assert` or `run`"]
pub struct Check {
    chosen: Chosen,
    tier: Tier,
    seed: u64,
    declared: Option<String>,
    threads: usize,
    case: Option<String>,
    report: Option<PathBuf>,
}

/// What was judged, and how near to what is allowed the results came.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    /// Names of the contracts.
    pub contracts: Vec<String>,
    /// Cases that were judged.
    pub cases: usize,
    /// Those in which every element equalled the exact result.
    pub exact: usize,
    /// The largest error as a share of what was allowed there, 0 to 1.
    pub worst_share: f64,
}

impl fmt::Display for Passed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cases, exact) = (show::counted(self.cases as u64, "case"), show::count(self.exact as u64));
        write!(f, "{}: {cases} judged, {exact} exact", self.contracts.join(", "))?;
        match self.exact == self.cases {
            true => Ok(()),
            false => write!(f, ", the others within the bounds ({})", show::used(self.worst_share)),
        }
    }
}

/// The cases that were asked, each with what came of it.
type Judged = Vec<(Case, CaseRecord)>;

impl Check {
    pub(crate) fn new(chosen: Chosen) -> Check {
        Check { chosen, tier: Tier::Quick, seed: 0, declared: None, threads: 0, case: None, report: None }
    }

    /// More cases: at least 1,500 of a contract for [`Tier::Full`], 10,000 for [`Tier::Extensive`].
    pub fn tier(mut self, tier: Tier) -> Check {
        self.tier = tier;
        self
    }

    /// Draws other cases.
    pub fn seed(mut self, seed: u64) -> Check {
        self.seed = seed;
        self
    }

    /// How the kernel rounds, in the words of the command's `--arithmetic`: `fma` or `muladd` for a sum from left to right, the name of a
    /// unit such as `sm_90:mma.m16n8k16.f32.f16`. Its bits are judged then. Without it any order of additions in the accumulator type is
    /// allowed. A [`backend`](crate::backend()) declares its own, and fails with this.
    pub fn declares(mut self, arithmetic: &str) -> Check {
        self.declared = Some(arithmetic.to_owned());
        self
    }

    /// How many threads ask at once: 1 for a kernel that must not be called twice at a time. Without it, all.
    pub fn threads(mut self, threads: usize) -> Check {
        self.threads = threads;
        self
    }

    /// One case instead of the plan: its line, as a failure gives it. The environment variable `SPARSE_CASE` does the same for all checks;
    /// those of another contract fail, because they judge nothing.
    pub fn case(mut self, line: &str) -> Check {
        self.case = Some(line.to_owned());
        self
    }

    /// A folder for a Markdown file of what was judged and of every finding, whose names are those of the test and the contract. The
    /// environment variable `SPARSE_REPORT` does the same for all checks.
    pub fn report(mut self, folder: impl Into<PathBuf>) -> Check {
        self.report = Some(folder.into());
        self
    }

    /// Judges the kernel and panics with what is wrong, which makes the test fail. What passed is printed.
    ///
    /// # Panics
    /// Where [`run`](Self::run) fails.
    #[expect(clippy::print_stdout, reason = "what a test prints is shown on request")]
    pub fn assert(self) {
        match self.run() {
            Ok(passed) => println!("{passed}"),
            Err(failed) => panic!("{failed}"),
        }
    }

    /// Judges the kernel.
    ///
    /// # Errors
    /// What is wrong with the kernel, or why it can't be judged.
    pub fn run(self) -> Result<Passed, Failed> {
        let Check { chosen, tier, seed, declared, threads, case, report } = self;
        let (backend, contracts) = match chosen {
            Chosen::Nothing { asked } => return Err(Failed::NoContract { asked }),
            Chosen::Backend { .. } if declared.is_some() => {
                return Err(Failed::Declaration("a backend says how it rounds in its `support`".to_owned()));
            }
            Chosen::Backend { backend, contracts } => (backend, contracts),
            Chosen::Closure(mut closure) => {
                if let Some(text) = &declared {
                    let read = declaration::parse(text, &closure.contract, (1.0, 0.0));
                    closure.arithmetic = read.map_err(|error| Failed::Declaration(error.to_string()))?;
                }
                let contracts = closure.contract.to_string();
                (Box::new(closure) as Box<dyn Backend>, contracts)
            }
        };
        let options = Options { tier, seed, contracts: vec![contracts], ..Options::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Failed::Threads(error.to_string()))?;
        let case = case.or_else(|| std::env::var(CASE).ok());
        let test = test_name();
        let report = report.or_else(|| std::env::var_os(REPORT).map(PathBuf::from));
        // A case alone leaves the file of all cases as it is.
        let report = report.filter(|_| case.is_none());
        let ways = Ways { line: case.as_deref(), report: report.as_deref(), test };
        pool.install(|| judge(backend.as_ref(), &options, ways))
    }
}

/// What is asked for beside the plan, and who asks.
struct Ways<'a> {
    /// One case instead.
    line: Option<&'a str>,
    /// Where a file is written.
    report: Option<&'a Path>,
    test: Option<String>,
}

/// Runs the plan, or the one case that is asked for.
fn judge(
    backend: &dyn Backend,
    options: &Options,
    Ways { line, report, test }: Ways<'_>,
) -> Result<Passed, Failed> {
    let Plan { groups, demands } = plan(options, &[backend]);
    if demands.is_empty() {
        return Err(Failed::NoContract { asked: options.contracts.join(", ") });
    }
    let groups = match line {
        Some(line) => alone(line, &demands)?,
        None => groups,
    };
    let records: Judged = groups.par_iter().flat_map(|group| records(group, backend)).collect();
    let written = report.map_or(Ok(()), |folder| written(folder, test.as_deref(), (&records, &demands)));
    let findings: Vec<&(Case, CaseRecord)> = records.iter().filter(|(_, r)| r.verdict.is_finding()).collect();
    if !findings.is_empty() {
        // What is wrong matters more than a file that can't be written.
        return Err(Failed::Kernel(Box::new(found(&findings, records.len(), (backend, test)))));
    }
    written?;
    match line {
        Some(line) => was_judged(line, &records)?,
        None => thin(&records, &demands, backend)?,
    }
    Ok(passed(&records, &demands))
}

/// Writes the file that is asked for.
fn written(
    folder: &Path,
    test: Option<&str>,
    (records, demands): (&Judged, &[Demand]),
) -> Result<(), Failed> {
    let contracts = names(demands);
    let records: Vec<&CaseRecord> = records.iter().map(|(_, record)| record).collect();
    let failed = |reason| Failed::Report { folder: folder.to_owned(), reason };
    write(folder, (test, &contracts), &records).map_err(failed)
}

/// The test that this is, from the name that libtest gives its thread.
fn test_name() -> Option<String> {
    let name = std::thread::current().name()?.to_owned();
    let part = |part: &str| !part.is_empty() && part.chars().all(|c| c == '_' || c.is_alphanumeric());
    (name != "main" && name.split("::").all(part)).then_some(name)
}

/// The case of this line, which is one of the contracts that are judged.
fn alone(line: &str, demands: &[Demand]) -> Result<Vec<Group>, Failed> {
    let case: Result<Case, _> = line.parse();
    let case = case.map_err(|error| Failed::Case { line: line.to_owned(), reason: error.to_string() })?;
    if !demands.iter().any(|demand| demand.contract == case.contract) {
        let ours = names(demands).join(", ");
        let reason = format!("it is a case of {}, and this check is of {ours}", case.contract);
        let help = "run the test alone that printed the line: cargo test NAME -- --exact";
        return Err(Failed::NothingJudged { line: line.to_owned(), reason: format!("{reason}; {help}") });
    }
    Ok(by_matrix(vec![case]))
}

/// A case that was refused or could not be built says nothing of the kernel.
fn was_judged(line: &str, records: &Judged) -> Result<(), Failed> {
    let idle = records.iter().find(|(_, record)| !record.verdict.kind().ran());
    idle.map_or(Ok(()), |(_, record)| {
        let reason = show::one_line(&record.verdict.to_string());
        Err(Failed::NothingJudged { line: line.to_owned(), reason })
    })
}

fn records(group: &Group, backend: &dyn Backend) -> Judged {
    let loaded = match group.origin.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            let unread = |case: &Case| (case.clone(), unasked(case, backend, error.to_string()));
            return group.cases.iter().map(unread).collect();
        }
    };
    let judged = |case: &Case| {
        let mut ran = run_case_on(case, &loaded, &[backend], Repeats::default());
        (case.clone(), ran.records.remove(0))
    };
    group.cases.par_iter().map(judged).collect()
}

/// What is said of findings: how many, the smallest case of the first, and the line that runs it again.
fn found(
    findings: &[&(Case, CaseRecord)],
    judged: usize,
    (backend, test): (&dyn Backend, Option<String>),
) -> Found {
    // The case with the shortest line differs least from a plain one.
    let simplest = findings.iter().min_by_key(|(_, record)| record.case.len());
    let (case, record) = simplest.unwrap_or(&findings[0]);
    let loaded: Option<Loaded> = case.origin.load().ok();
    let reason = Reason::of_record(record);
    let budget = ShrinkBudget { time: Some(Duration::from_secs(5)), ..ShrinkBudget::default() };
    let smallest =
        loaded.zip(reason).and_then(|(loaded, reason)| Smallest::of(case, &loaded, backend, &reason, budget));
    Found {
        contract: record.contract.clone(),
        findings: findings.len(),
        judged,
        case: record.case.clone(),
        verdict: show::one_line(&record.verdict.to_string()),
        test,
        smallest,
    }
}

/// Too little was judged for "right" to mean anything.
fn thin(records: &Judged, demands: &[Demand], backend: &dyn Backend) -> Result<(), Failed> {
    for demand in demands {
        let ran = |(case, record): &&(Case, CaseRecord)| {
            case.contract == demand.contract && record.verdict.kind().ran()
        };
        let judged: Vec<&Case> = records.iter().filter(ran).map(|(case, _)| case).collect();
        let worth = demand.tuples.worth((backend.name(), &demand.contract), demand.floor, &judged);
        if let Some(reason) = worth.thin() {
            return Err(Failed::Thin { contract: demand.contract.to_string(), reason });
        }
    }
    Ok(())
}

fn names(demands: &[Demand]) -> Vec<String> {
    demands.iter().map(|demand| demand.contract.to_string()).collect()
}

fn passed(records: &Judged, demands: &[Demand]) -> Passed {
    let shares = records.iter().filter_map(|(_, record)| record.share_of_bound());
    let ran = records.iter().filter(|(_, record)| record.verdict.kind().ran());
    Passed {
        contracts: names(demands),
        cases: ran.clone().count(),
        exact: ran.filter(|(_, r)| r.verdict.kind() == VerdictKind::Exact).count(),
        worst_share: shares.fold(0.0, f64::max),
    }
}
