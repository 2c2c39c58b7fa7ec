//! Kernels that take little of their contracts are asked enough of it, or are not called clean.

use rayon::prelude::*;
use sparse_conformance::backend::{Backend, Failure, Named, Portable, Support};
use sparse_conformance::campaign;
use sparse_conformance::case::Params;
use sparse_conformance::manifest::Capabilities;
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::report::{Environment, LEAST_CAUGHT, Outcome, Report, Worth};
use sparse_conformance::runner::run_case;
use sparse_conformance::selftest::{Seeded, bugs};
use sparse_oracle::contract::Contract;
use sparse_oracle::format::Layout;
use sparse_oracle::task::{Answer, Task};

/// What most kernels take: f32 in CSR, alpha = 1, beta = 0, nothing transposed, row-major, unpadded, only good requests.
#[derive(Debug)]
struct Restricted<B> {
    kernel: B,
    contracts: &'static [&'static str],
    most_columns: usize,
}

impl<B> Restricted<B> {
    fn new(kernel: B) -> Restricted<B> {
        Restricted {
            kernel,
            contracts: &["spmm.csr.f32_f32_f32_f32", "spmv.csr.f32_f32_f32_f32"],
            most_columns: usize::MAX,
        }
    }
}

impl<B: Backend> Backend for Restricted<B> {
    fn name(&self) -> &'static str {
        "restricted"
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn description(&self) -> &'static str {
        "a kernel that takes little"
    }

    fn support(&self, contract: &Contract, p: &Params) -> Support {
        let name = contract.to_string();
        let plain = p.alpha == 1.0 && p.beta == 0.0 && !p.transpose_a && !p.transpose_b && p.fault.is_none();
        let laid = p.layout_b == Layout::RowMajor && p.layout_c == Layout::RowMajor && p.pad_b + p.pad_c == 0;
        if self.contracts.contains(&name.as_str()) && plain && laid && p.n <= self.most_columns {
            self.kernel.support(contract, p)
        } else {
            Support::Excluded { reason: "it takes the plain product only".into() }
        }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        self.kernel.run(contract, task)
    }
}

fn judged(backend: impl Backend + 'static, seed: u64) -> Report {
    let options = Options { seed, ..Options::default() };
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(backend)];
    campaign::run(&options, &backends, Environment::default(), &())
}

/// Tried as a new user would: with the bug "only the first 64 rows" such a kernel got 8 of the 122 quick cases of its contracts, and was
/// called clean.
#[test]
fn only_the_first_64_rows_is_found_at_every_seed() {
    let bug = bugs().find(|bug| bug.name == "row: only the first 64").expect("in the catalogue");
    let missed: Vec<u64> = (0..20u64)
        .into_par_iter()
        .filter(|&seed| {
            let options = Options { seed, ..Options::default() };
            let sick = Restricted::new(Seeded::sick(bug));
            let groups = plan(&options, &[&sick]).groups;
            let subject: Vec<Box<dyn Backend>> = vec![Box::new(sick)];
            let finds = |case: &sparse_conformance::case::Case| {
                let loaded = case.origin.load().expect("a planned matrix loads");
                run_case(case, &loaded, &subject)
                    .records
                    .iter()
                    .any(sparse_conformance::report::CaseRecord::is_finding)
            };
            !groups.iter().flat_map(|group| &group.cases).any(finds)
        })
        .collect();
    assert!(missed.is_empty(), "not found at seeds {missed:?}");
}

/// At seed 6 such a kernel was asked about no matrix of more than 1,024 rows: none of 40 attempts at a far shape had a single column of C,
/// none of 400 attempts at a landmark was a request that the kernel takes, and the report blamed the manifest.
#[test]
fn a_restricted_kernel_is_asked_about_far_shapes_and_landmarks() {
    for seed in 0..10 {
        let options = Options { seed, ..Options::default() };
        let plan = plan(&options, &[&Restricted::new(Portable)]);
        let cases = plan.groups.iter().flat_map(|group| &group.cases);
        let lines: Vec<String> = cases.map(ToString::to_string).collect();
        let landmarks = ["rows=65537,cols=65537", "length=65999", "rows=1281,cols=1300"];
        for wanted in landmarks {
            let has = |op: &str| lines.iter().any(|line| line.starts_with(op) && line.contains(wanted));
            assert!(has("spmm.csr.") && has("spmv.csr."), "seed {seed}: nothing on {wanted}");
        }
        let tall = |line: &&String| {
            let rows = line.split_once("rows=").and_then(|(_, rest)| rest.split(',').next());
            let is_landmark = landmarks.iter().any(|landmark| line.contains(landmark));
            !is_landmark && rows.and_then(|rows| rows.parse().ok()).is_some_and(|rows: u64| rows >= 4095)
        };
        let of_spmm = lines.iter().filter(|line| line.starts_with("spmm.csr.")).filter(tall).count();
        assert!(of_spmm > 0, "seed {seed}: no far-tall matrix");
    }
}

/// Each contract has its 150 cases inside of what the kernel takes, all combinations met, and the report says what was excluded.
#[test]
fn a_restricted_kernel_is_asked_as_much_as_any() {
    let report = judged(Restricted::new(Portable), 0);
    assert_eq!(report.worth.len(), 2);
    for row in &report.worth {
        assert!(row.judged >= 150 && row.pairs_missing == 0 && row.pairs > 100, "{row:?}");
        assert!(row.excluded.iter().any(|level| level == "beta -1"), "{:?}", row.excluded);
        let seeded = row.seeded.as_ref().expect("few contracts are all hunted on");
        println!("{}: {}", row.contract, seeded.said());
    }
    // Clean exactly where enough of the seeded bugs would have been caught.
    let enough =
        |row: &Worth| row.seeded.as_ref().is_some_and(|s| s.caught * 100 >= s.concern * LEAST_CAUGHT);
    let blind = report.worth.iter().filter(|row| !enough(row)).count();
    assert_eq!(report.thin.len(), blind, "{:?}", report.thin);
    let wanted = if blind == 0 { Outcome::Clean } else { Outcome::Thin };
    assert_eq!(report.outcome(), wanted);
    let asked = report.cases.iter().filter(|record| !record.verdict.kind().ran()).count();
    assert!(asked * 10 < report.cases.len(), "{asked} of {} cases did not run", report.cases.len());
}

/// One contract, one column: however many cases, they can't show what goes wrong from the second column on.
#[test]
fn a_kernel_of_one_column_is_thin() {
    let one =
        Restricted { contracts: &["spmm.csr.f32_f32_f32_f32"], most_columns: 1, ..Restricted::new(Portable) };
    let report = judged(one, 0);
    assert_eq!(report.outcome(), Outcome::Thin, "{:?}", report.worth);
    assert_eq!(report.exit_code(), 1);
    assert!(report.thin[0].reason.contains("seeded bugs"), "{:?}", report.thin);
}

/// A kernel with a manifest.
#[derive(Debug)]
struct Declared(Capabilities);

impl Backend for Declared {
    fn name(&self) -> &'static str {
        "declared"
    }

    fn version(&self) -> String {
        "1".to_owned()
    }

    fn description(&self) -> &'static str {
        "a kernel that says what it takes"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        self.0.support(contract, params)
    }

    fn claims(&self, contract: &Contract) -> bool {
        self.0.claims(contract)
    }

    fn named(&self, contract: &Contract) -> Vec<Named<'_>> {
        self.0.named(contract)
    }

    /// Kernels compute in rayon's global pool. The judge did, too, and waited in all of its threads for calls that waited for one: the run
    /// never ended.
    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        rayon::join(|| (), || ());
        Portable.run(contract, task)
    }
}

/// A kernel for 4:12 and 6:12 got no case, "nothing judged", since no plan draws windows of 12.
#[test]
fn a_kernel_of_patterns_that_plans_do_not_draw_is_judged_on_them() {
    let text = r#"{"protocol":1,"name":"declared","supports":[
        {"contracts":["spmm.nm.f32_f32_f32_f32"],"only":{"params":{"nm_n":[4, 6],"nm_m":[12]}}}]}"#;
    let manifest = serde_json::from_str(text).expect("a manifest");
    let report = judged(Declared(Capabilities::new(manifest).expect("it is so")), 0);
    assert_eq!(report.outcome(), Outcome::Clean, "{:?}", report.thin);
    let kept = |n: u32| {
        let pattern = format!("/nm_n={n}/nm_m=12");
        report.cases.iter().filter(|record| record.case.contains(&pattern)).count()
    };
    assert!(kept(4) >= 50 && kept(6) >= 50, "{} and {}", kept(4), kept(6));
}

/// N = 6 was drawn beside the default of M, 4, which is illegal, so that most cases were "not run".
#[test]
fn a_kernel_that_names_n_alone_is_asked_with_an_m_that_is_legal() {
    for (named, least) in [(r#""nm_n":[6]"#, "/nm_n=6/nm_m="), (r#""nm_m":[2]"#, "/nm_m=2")] {
        let text = format!(
            r#"{{"protocol":1,"name":"declared","supports":[
            {{"contracts":["spmm.nm.f32_f32_f32_f32"],"only":{{"params":{{{named}}}}}}}]}}"#
        );
        let manifest = serde_json::from_str(&text).expect("a manifest");
        let report = judged(Declared(Capabilities::new(manifest).expect("it is so")), 0);
        assert_eq!(report.outcome(), Outcome::Clean, "{named}: {:?}", report.thin);
        let kept = report.cases.iter().filter(|record| record.case.contains(least)).count();
        assert!(kept >= 100, "{named}: {kept}");
    }
}

/// Beside a rule for blocks of 7 rows, one that takes every block stands for the default: it was never drawn.
#[test]
fn a_rule_without_parameters_is_asked_about_the_default() {
    let rule = |only: &str| format!(r#"{{"contracts":["spmm.bcsr.f32_f32_f32_f32"]{only}}}"#);
    let rules = [rule(r#","only":{"params":{"block_rows":[7]},"alpha":[1]}"#), rule("")].join(",");
    let text = format!(r#"{{"protocol":1,"name":"declared","supports":[{rules}]}}"#);
    let manifest = serde_json::from_str(&text).expect("a manifest");
    let backend = Declared(Capabilities::new(manifest).expect("it is so"));
    let groups = plan(&Options::default(), &[&backend]).groups;
    let rows = || groups.iter().flat_map(|group| &group.cases).map(|case| case.params.blocks.block_rows);
    let has = |wanted| rows().filter(|&found| found == wanted).count();
    assert!(has(4) >= 20 && has(7) >= 20, "{} and {}", has(4), has(7));
}
