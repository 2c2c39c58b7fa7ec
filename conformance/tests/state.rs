//! State and environment: kernels that are right when they are called once, on aligned memory, by one thread, and wrong else.
//! Each is found by the case parameter or the further run that is there for it, and the honest kernel is not accused.

use sparse_conformance::backend::{Backend, Determinism, Failure, Portable, Support};
use sparse_conformance::case::{Case, Params};
use sparse_conformance::determinism::Repeats;
use sparse_conformance::keys;
use sparse_conformance::remote::PluginBackend;
use sparse_conformance::report::{Defect, VerdictRecord};
use sparse_conformance::runner::{run_case, run_case_repeated};
use sparse_conformance::sequence::After;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::each_precision;
use sparse_oracle::format::{AnySparse, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::{Scalar, Values};
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use sparse_plugin::Environment;
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What a kernel keeps between calls.
#[derive(Debug, Default)]
struct State {
    calls: usize,
    matrices: HashMap<usize, AnySparse>,
    room: Option<usize>,
    scratch: Vec<f64>,
}

type Run = fn(&Contract, Task<'_>, &Mutex<State>) -> Result<Answer, Failure>;

/// The honest kernel behind a wrong front.
struct Front {
    run: Run,
    state: Mutex<State>,
}

impl Front {
    fn boxed(run: Run) -> Vec<Box<dyn Backend>> {
        let state = Mutex::default();
        vec![Box::new(Front { run, state })]
    }
}

impl Backend for Front {
    fn name(&self) -> &str {
        "front"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &str {
        "an honest kernel behind a wrong front"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        Portable.support(contract, params)
    }

    fn determinism(&self) -> Determinism {
        Determinism::Unclaimed
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        (self.run)(contract, task, &self.state)
    }
}

fn with<T>(state: &Mutex<State>, change: impl FnOnce(&mut State) -> T) -> T {
    change(&mut state.lock().unwrap_or_else(PoisonError::into_inner))
}

const SPMM: &str =
    "spmm.csr.f32_f32_f32_f32/uniform:rows=24,cols=20,density=0.3,seed=5/values=near-one,3/n=9";

fn verdict(line: &str, backends: &[Box<dyn Backend>]) -> VerdictRecord {
    verdict_repeated(line, backends, Repeats::NONE)
}

fn verdict_repeated(line: &str, backends: &[Box<dyn Backend>], repeats: Repeats) -> VerdictRecord {
    let case: Case = line.parse().expect(line);
    let loaded = case.origin.load().expect(line);
    let ran = run_case_repeated(&case, &loaded, backends, repeats);
    ran.records.into_iter().next().expect("one backend").verdict
}

/// A fresh kernel passes the plain case and fails the sequence.
fn fails_only(run: Run, after: After) -> VerdictRecord {
    let plain = verdict(SPMM, &Front::boxed(run));
    assert!(plain.kind().ran() && !plain.is_finding(), "alone: {plain}");
    let line = format!("{SPMM}/after={}", after.name());
    let found = verdict(&line, &Front::boxed(run));
    assert!(found.is_finding(), "{line}: {found}");
    found
}

fn matrix<'t>(task: &Task<'t>) -> &'t AnySparse {
    task.inputs().a
}

fn with_matrix<'t>(task: Task<'t>, other: &'t AnySparse) -> Task<'t> {
    let (inputs, output) = task.into_parts();
    Task::new(Inputs { a: other, ..inputs }, output).expect("as it was, with another matrix")
}

/// Address of the values, and the row pointer.
fn keys(a: &AnySparse) -> (usize, Vec<u32>) {
    let AnySparse::F32(Sparse::Csr(m)) = a else {
        return (0, Vec::new());
    };
    (m.values.as_ptr() as usize, m.row_ptr.clone())
}

/// Multiplies with the matrix that it converted when it first saw this key.
fn converted(
    contract: &Contract,
    task: Task<'_>,
    state: &Mutex<State>,
    key: usize,
) -> Result<Answer, Failure> {
    let a = matrix(&task);
    let kept = with(state, |s| s.matrices.entry(key).or_insert_with(|| a.clone()).clone());
    let fits = kept.shape() == a.shape() && kept.kind() == a.kind();
    Portable.run(contract, with_matrix(task, if fits { &kept } else { a }))
}

/// Lets the honest kernel compute, and writes what `change` makes of (result, what C held before).
fn changed(
    contract: &Contract,
    task: Task<'_>,
    change: impl FnOnce(Vec<f64>, &[f64]) -> Vec<f64>,
) -> Result<Answer, Failure> {
    let Task::Spmm { a, transpose_a, b, transpose_b, alpha, beta, mut c } = task else {
        return Portable.run(contract, task);
    };
    let before = each_precision!(AnySliceMut, &c.data, v => v.iter().map(|x| x.to_f64()).collect::<Vec<_>>());
    let mut data = Values::from_f64(contract.types.out, &before);
    let task = Task::Spmm {
        a,
        transpose_a,
        b,
        transpose_b,
        alpha,
        beta,
        c: DenseMut { rows: c.rows, cols: c.cols, ld: c.ld, layout: c.layout, data: data.as_mut_slice() },
    };
    let answer = Portable.run(contract, task)?;
    let result = change(data.to_f64(), &before);
    each_precision!(AnySliceMut, &mut c.data, v => {
        for (to, x) in v.iter_mut().zip(result) {
            *to = FromF64::from_f64(x);
        }
    });
    Ok(answer)
}

#[test]
fn a_matrix_kept_by_the_address_of_its_values_is_found() {
    let found = fails_only(
        |contract, task, state| {
            let key = keys(matrix(&task)).0;
            converted(contract, task, state, key)
        },
        After::Contents,
    );
    assert!(matches!(&found, VerdictRecord::Wrong(m) if m.what == Defect::Value), "{found}");
}

#[test]
fn a_matrix_kept_by_its_row_lengths_is_found() {
    let by_row_pointer: Run = |contract, task, state| {
        let (_, row_ptr) = keys(matrix(&task));
        let key = row_ptr.iter().fold(7usize, |h, &x| h.wrapping_mul(31) ^ x as usize);
        converted(contract, task, state, key)
    };
    for after in [After::Contents, After::Freed] {
        fails_only(by_row_pointer, after);
    }
}

#[test]
fn room_of_the_first_call_is_found() {
    fails_only(
        |contract, task, state| {
            let Task::Spmm { c, .. } = &task else {
                return Portable.run(contract, task);
            };
            let wanted = c.rows * c.cols;
            let room = with(state, |s| *s.room.get_or_insert(wanted));
            match wanted > room {
                true => panic!("{wanted} elements in room for {room}"),
                false => Portable.run(contract, task),
            }
        },
        After::Extents,
    );
}

#[test]
fn sums_that_are_not_cleared_are_found() {
    let uncleared: Run = |contract, task, state| {
        changed(contract, task, |mut result, _| {
            let left = with(state, |s| std::mem::replace(&mut s.scratch, vec![1e6]));
            if let (Some(to), Some(left)) = (result.first_mut(), left.first()) {
                *to += left;
            }
            result
        })
    };
    for after in [After::Contents, After::Extents, After::Freed, After::Many] {
        fails_only(uncleared, after);
    }
}

#[test]
fn what_goes_wrong_after_hundreds_of_calls_is_found() {
    let after_256: Run = |contract, task, state| {
        let calls = with(state, |s| {
            s.calls += 1;
            s.calls
        });
        match calls > 256 {
            true => Err("no handle left".into()),
            false => Portable.run(contract, task),
        }
    };
    let found = fails_only(after_256, After::Many);
    let text = found.to_string();
    assert!(
        text.contains("in call 256 before the judged one (after=many)") && text.contains("no handle left"),
        "{text}"
    );
}

#[test]
fn scratch_that_another_contract_leaves_dirty_is_found() {
    fails_only(
        |contract, task, state| {
            let dirty = with(state, |s| {
                let dirty = s.room.is_some();
                if contract.op == Op::Spmv {
                    s.room = Some(1);
                }
                dirty
            });
            match dirty && contract.op == Op::Spmm {
                true => Ok(Answer::Written),
                false => Portable.run(contract, task),
            }
        },
        After::Other,
    );
}

/// Starts with the first element of C at a multiple of 64 bytes, and forgets those before it.
#[test]
fn a_kernel_that_takes_alignment_for_granted_is_found() {
    let aligned: Run = |contract, mut task, _| {
        let off = match &mut task {
            Task::Spmm { c, .. } => each_precision!(AnySliceMut, &c.data, v => v.as_ptr() as usize % 64),
            Task::Spmv { x, .. } => each_precision!(AnySlice, x, v => v.as_ptr() as usize % 64),
            _ => 0,
        };
        match off {
            0 => Portable.run(contract, task),
            _ => Ok(Answer::Written),
        }
    };
    let spmv = SPMM.replace("spmm", "spmv").replace("/n=9", "");
    for line in [SPMM, &spmv] {
        let plain = verdict(line, &Front::boxed(aligned));
        assert!(!plain.is_finding(), "{plain}");
        for shift in [1, 2, 3, 15] {
            let line = format!("{line}/align={shift}");
            let found = verdict(&line, &Front::boxed(aligned));
            assert!(
                matches!(&found, VerdictRecord::Wrong(m) if m.what == Defect::Unwritten),
                "{line}: {found}"
            );
        }
        // Sixteen f32 are 64 bytes.
        assert!(!verdict(&format!("{line}/align=16"), &Front::boxed(aligned)).is_finding());
    }
}

#[test]
fn a_changed_environment_is_found_and_put_back() {
    if Environment::default().flushing_upwards() == Environment::default() {
        return;
    }
    let found = verdict(
        SPMM,
        &Front::boxed(|contract, task, _| {
            let answer = Portable.run(contract, task);
            Environment::now().flushing_upwards().restore();
            answer
        }),
    );
    let VerdictRecord::Wrong(mismatch) = &found else { panic!("{found}") };
    assert_eq!(mismatch.what, Defect::Environment);
    assert!(mismatch.message.contains("the rounding mode"), "{found}");
    assert_eq!(Environment::now(), Environment::default());
}

/// Beside NaN it is right: fmax and its like take the number.
#[test]
fn what_is_kept_of_a_finite_output_is_found() {
    let larger: Run = |contract, task, _| {
        changed(contract, task, |result, before| result.iter().zip(before).map(|(x, &b)| x.max(b)).collect())
    };
    let (mut found, mut fillings) = (0, std::collections::BTreeSet::new());
    for seed in 0..64 {
        let line = SPMM.replace("near-one,3", &format!("wide,{seed}"));
        let honest: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
        assert!(!verdict(&line, &honest).is_finding(), "{line}");
        if let VerdictRecord::Wrong(mismatch) = verdict(&line, &Front::boxed(larger)) {
            let held = mismatch.message.split("the output held ").nth(1);
            let bits = held.and_then(|rest| rest.split_whitespace().next());
            fillings.insert(bits.expect("says what the output held").to_owned());
            found += 1;
        }
    }
    // A huge number, zero and infinity, each for one seed in sixteen.
    assert!((6..24).contains(&found), "{found} of 64");
    assert_eq!(fillings.len(), 3, "{fillings:?}");
}

/// All callers share one buffer between computing and copying out.
#[test]
fn a_buffer_that_calls_at_once_share_is_found() {
    let shared: Run = |contract, task, state| {
        changed(contract, task, |result, _| {
            with(state, |s| s.scratch = result);
            std::thread::sleep(Duration::from_millis(2));
            with(state, |s| s.scratch.clone())
        })
    };
    let alone = verdict(SPMM, &Front::boxed(shared));
    assert!(!alone.is_finding(), "{alone}");
    // Whose result stands in the buffer is chance: of sixteen cases, nearly all show it.
    let wrong = |_: &i32| {
        let found = verdict_repeated(SPMM, &Front::boxed(shared), Repeats::all(1));
        matches!(&found, VerdictRecord::Wrong(m) if m.what == Defect::Value)
    };
    assert!((0..16).filter(wrong).count() >= 4);
}

#[test]
fn the_honest_kernel_is_not_accused_after_any_call_at_any_address() {
    let honest: Vec<Box<dyn Backend>> = vec![Box::new(Portable)];
    let mut ran = 0;
    for contract in [
        "spmm.csr.f32_f32_f32_f32",
        "spmm.coo.f16_f16_f32_f16",
        "spmm.blocked_ell.f64_f64_f64_f64",
        "spmm.rp_csc.f32_f32_f32_f32",
        "spmm.nm.f16_f16_f32_f32",
        "spmv.csc.bf16_bf16_f32_bf16",
        "sddmm.csr.f32_f32_f32_f32",
        "spgemm.csr.f64_f64_f64_f64",
        "transpose.csr.f32",
        "convert.csr.nm.f16",
        "convert.csr.loops.f32",
    ] {
        for after in After::ALL.into_iter().filter(|a| *a != After::Myriad) {
            let asked = Contract::from_name(contract).expect(contract);
            let read = ["n", "align"].into_iter().filter(|key| keys::is_read(key, &asked));
            let own: String = read.map(|key| format!("/{key}=5")).collect();
            let line = format!(
                "{contract}/uniform:rows=16,cols=24,density=0.2,seed=7/values=special,9{own}/after={}",
                after.name()
            );
            let found = verdict_repeated(&line, &honest, Repeats::all(1));
            assert!(!found.is_finding(), "{line}: {found}");
            ran += usize::from(found.kind().ran());
        }
    }
    assert!(ran >= 50, "{ran} of 55 ran");
}

#[test]
fn who_does_not_support_the_case_is_not_called() {
    struct Nobody;
    impl Backend for Nobody {
        fn name(&self) -> &str {
            "nobody"
        }
        fn version(&self) -> String {
            String::new()
        }
        fn description(&self) -> &str {
            "supports nothing"
        }
        fn support(&self, _: &Contract, _: &Params) -> Support {
            Support::Excluded { reason: "nothing".into() }
        }
        fn run(&self, _: &Contract, _: Task<'_>) -> Result<Answer, Failure> {
            panic!("called")
        }
    }
    let nobody: Vec<Box<dyn Backend>> = vec![Box::new(Nobody)];
    for after in After::ALL {
        let case: Case = format!("{SPMM}/after={}", after.name()).parse().expect("legal");
        let loaded = case.origin.load().expect("small");
        let record = run_case(&case, &loaded, &nobody).records.remove(0);
        assert!(matches!(record.verdict, VerdictRecord::Unsupported { .. }), "{}", record.verdict);
    }
}

/// y = A x in f64 through a buffer that is static or not: calls that come at once meet twice, before they add to it and before they copy
/// it out.
const SHARED_C: &str = r#"
#include "sparse_conformance.h"
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
static atomic_int entered, added;
static void meet(atomic_int *count) {
    int mine = atomic_fetch_add(count, 1), all = mine - mine % 4 + 4;
    for (int waited = 0; atomic_load(count) < all && waited < 500; waited++) usleep(200);
}
uint32_t sc_abi_version(void) { return SC_ABI_VERSION; }
const char *sc_manifest(void) {
    return "{ \"protocol\": 1, \"name\": \"shared\", \"thread_safe\": true, \"supports\": [ {"
           " \"contracts\": [\"spmv.csr.f64_*\"], \"only\": { \"transpose_a\": false, \"faults\": [] } } ] }";
}
int32_t sc_run(const sc_task *task, sc_result *result) {
    BUFFER double sums[64];
    const uint32_t *row_ptr = sc_u32(task->a, "row_ptr"), *col_idx = sc_u32(task->a, "col_idx");
    const double *values = sc_f64(task->a, "values"), *x = (const double *)task->b->data;
    double *y = (double *)result->c->data;
    memset(sums, 0, sizeof sums);
    meet(&entered);
    for (uint64_t i = 0; i < result->c->rows; i++) {
        double sum = 0;
        for (uint32_t e = row_ptr[i]; e < row_ptr[i + 1]; e++) sum += values[e] * x[col_idx[e]];
        sums[i] += sum;
    }
    meet(&added);
    for (uint64_t i = 0; i < result->c->rows; i++) y[i] = task->alpha * sums[i];
    return SC_OK;
}
"#;

/// What a plug-in that says `thread_safe` is found to do, with its buffer of this storage class.
fn plugged(storage: &str) -> Vec<VerdictRecord> {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, library) = (folder.path().join("shared.c"), folder.path().join("shared.so"));
    std::fs::write(&text, SHARED_C).expect("the folder is writable");
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-D_DEFAULT_SOURCE"])
        .arg(format!("-DBUFFER={storage}"))
        .arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include"))
        .arg(&text)
        .arg("-o")
        .arg(&library)
        .status();
    let Ok(status) = compiled else {
        println!("no C compiler here: not tried");
        return Vec::new();
    };
    assert!(status.success());
    let line = "spmv.csr.f64_f64_f64_f64/uniform:rows=24,cols=20,density=0.3,seed=5/values=near-one,1";
    let opened = || PluginBackend::open(&library).expect("a plug-in");
    // The first call of each is made by several threads.
    let first = |_| verdict(line, &[Box::new(opened()) as Box<dyn Backend>]);
    (0..16).map(first).collect()
}

#[test]
fn a_plug_in_that_says_thread_safe_must_be() {
    let apart = plugged("");
    assert!(apart.iter().all(|v| v.kind().ran() && !v.is_finding()), "{apart:?}");
    let shared = plugged("static");
    let wrong = shared.iter().filter(|v| matches!(v, VerdictRecord::Wrong(m) if m.what == Defect::Value));
    assert!(shared.is_empty() || wrong.count() > 0, "{shared:?}");
}
