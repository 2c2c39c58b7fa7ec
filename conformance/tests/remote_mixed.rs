//! The bar: a subject that crashes on every tenth request, hangs on every hundredth and corrupts its inputs on others.
//! The run completes, each misdeed is reported as what it is, and everything else is judged as if nothing had happened.

use sparse_conformance::backend::{Backend, Portable};
use sparse_conformance::case::Case;
use sparse_conformance::determinism::Repeats;
use sparse_conformance::plan::{Options, plan};
use sparse_conformance::remote::{Limits, Remote};
use sparse_conformance::report::VerdictRecord;
use sparse_conformance::runner::run_case_repeated;
use sparse_oracle::contract::Op;
use sparse_oracle::scalar::Precision;
use std::collections::BTreeMap;
use std::time::Duration;

/// Matrices of the plan that are looked at.
const GROUPS: usize = 120;

#[test]
fn every_misdeed_of_a_mixed_subject_is_reported_as_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("misdeeds");
    let program = env!("CARGO_BIN_EXE_hostile_subject");
    let command = [program, "mixed", "mark-mixed", log.to_str().expect("a plain path")].map(str::to_owned);
    let time = Duration::from_secs(4);
    let limits = Limits { time, first: time, ..Limits::default() };
    let hostile: Vec<Box<dyn Backend>> =
        vec![Box::new(Remote::open(command.to_vec(), limits).expect("it starts"))];
    let honest: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
    let options =
        Options { ops: vec![Op::Sddmm, Op::Spgemm], precisions: vec![Precision::Bf16], ..Options::default() };
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut same = 0;
    for group in plan(&options, &[&Portable]).groups.iter().take(GROUPS) {
        let loaded = group.origin.load().expect("generated");
        // Three hundred calls are sure to meet a misdeed.
        for case in group.cases.iter().filter(|case| case.params.after.is_none()) {
            // Not repeated: a case ends with its first misdeed, so that each has a verdict of its own.
            let [found, wanted] = [&hostile, &honest]
                .map(|b| run_case_repeated(case, &loaded, b, Repeats::NONE).records.remove(0).verdict);
            if found.kind() == wanted.kind() {
                same += 1;
            } else {
                *seen.entry(found.kind().label()).or_default() += 1;
            }
        }
    }
    let log = std::fs::read_to_string(log).expect("misdeeds");
    let mut done: BTreeMap<&str, usize> = BTreeMap::new();
    log.lines().for_each(|line| *done.entry(line).or_default() += 1);
    assert_eq!(seen, done);
    for kind in ["crashed", "timed out", "wrong"] {
        assert!(done.get(kind).is_some_and(|&n| n > 0), "{done:?}");
    }
    assert!(same > 3 * done.values().sum::<usize>(), "{same} {done:?}");
}

/// Story: the payload of a transpose was limited to four times its request. Eight rows of 32,768 columns are few bytes, and the offsets of
/// their transpose are more: an honest program was accused of a broken protocol.
#[test]
fn a_transpose_may_be_longer_than_its_operand() {
    let program = env!("CARGO_BIN_EXE_hostile_subject").to_owned();
    let command = vec![program, "portable".to_owned()];
    let honest: Vec<Box<dyn Backend>> =
        vec![Box::new(Remote::open(command, Limits::default()).expect("it starts"))];
    let line = "transpose.csr.f64/corners:rows=8,cols=32768,seed=777222/values=placed-special,101313";
    let case: Case = line.parse().expect(line);
    let loaded = case.origin.load().expect("generated");
    // The program misbehaves on odd requests in other modes.
    for _ in 0..2 {
        let verdict = run_case_repeated(&case, &loaded, &honest, Repeats::NONE).records.remove(0).verdict;
        assert_eq!(verdict, VerdictRecord::Exact);
    }
}
