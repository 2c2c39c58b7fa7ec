//! A report does not depend on the number of threads, but for the blocks that say when and how long.

use sparse_conformance::backend::built_in;
use sparse_conformance::campaign::{self, Progress};
use sparse_conformance::plan::{Options, Tier};
use sparse_conformance::report::{self, CaseRecord, Environment, Report, Timings, json};
use sparse_oracle::contract::Op;
use sparse_oracle::scalar::Precision;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Default)]
struct Counted {
    planned: AtomicUsize,
    judged: AtomicUsize,
    findings: AtomicUsize,
    hunts: [AtomicUsize; 2],
}

impl Progress for Counted {
    fn planned(&self, cases: usize, _matrices: usize) {
        self.planned.store(cases, Ordering::Relaxed);
    }

    fn judged(&self, _case: &str, findings: &[&CaseRecord]) {
        self.judged.fetch_add(1, Ordering::Relaxed);
        self.findings.fetch_add(findings.len(), Ordering::Relaxed);
    }

    fn hunted(&self, over: usize, of: usize) {
        for (most, now) in self.hunts.iter().zip([over, of]) {
            most.fetch_max(now, Ordering::Relaxed);
        }
    }
}

fn report(options: &Options, threads: usize) -> Report {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    let told = Counted::default();
    let mut report =
        pool.install(|| campaign::run(options, &built_in(), Environment::detect(threads, Vec::new()), &told));
    let cases = usize::try_from(report.plan.distinct_cases).expect("small");
    assert_eq!(told.planned.into_inner(), cases);
    assert_eq!(told.judged.into_inner(), cases);
    assert_eq!(told.findings.into_inner(), report.failures().count());
    let [over, of] = told.hunts.map(AtomicUsize::into_inner);
    assert!(over == of && over > 0, "{over} of {of} hunts were told to be over");
    let claims = |contract: &str| report.worth.iter().filter(|row| row.contract == contract).count();
    let planned = |contract: &report::Contract| contract.cases_planned as usize * claims(&contract.name);
    assert_eq!(
        report.cases.len(),
        report.contracts.iter().map(planned).sum::<usize>(),
        "one record per case and backend that claims its contract"
    );
    assert!(
        report.timings.total_seconds > 0.0 && report.timings.backend_seconds.len() == report.backends.len()
    );
    for (backend, slow) in &report.timings.slowest {
        assert!(report.cases.iter().any(|c| c.case == slow.case && c.backend == *backend), "{slow:?}");
        assert!(slow.seconds <= report.timings.backend_seconds[backend], "{slow:?}");
    }
    let asked = report.timings.backend_seconds.values().filter(|seconds| **seconds > 0.0).count();
    assert!(asked > 0 && report.timings.slowest.len() == asked);
    report.environment = Environment::default();
    report.timings = Timings::default();
    report
}

fn text(report: &Report) -> String {
    json::to_json(report).expect("finite numbers only")
}

#[test]
fn threads_do_not_change_a_report() {
    let mut texts = Vec::new();
    for (seed, contracts) in [
        (0, ["spmv.c*", "transpose.csr.*", "convert.csr.*"]),
        (7, ["sddmm.csr.*", "spgemm.*", "spmm.bcsr.*"]),
    ] {
        // Every kind of operation, one element type: the test takes seconds.
        let options = Options {
            tier: Tier::Quick,
            seed,
            precisions: vec![Precision::F32],
            contracts: contracts.map(str::to_owned).into(),
            ..Options::default()
        };
        let one = text(&report(&options, 1));
        for threads in [4, 3] {
            let more = text(&report(&options, threads));
            assert!(one == more, "seed {seed}: {threads} threads wrote another report than one thread");
        }
        texts.push(one);
    }
    assert_ne!(texts[0], texts[1]);
}

#[test]
fn the_seed_is_what_changes_a_report() {
    let options = |seed| Options { seed, ops: vec![Op::Transpose], ..Options::default() };
    let (a, b) = (report(&options(1), 2), report(&options(2), 2));
    assert_ne!(a.cases, b.cases);
    assert_eq!(a.contracts.len(), b.contracts.len());
}
