//! The Python module, judged by the judge that it talks to. Needs `python3` (or `PYTHON`) with `NumPy`; skipped loudly without.

use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::remote::{Limits, Remote};
use sparse_conformance::report::{Defect, VerdictRecord};
use sparse_conformance::runner::run_case;
use std::process::Command;

/// A program in Python, or `None` where there is no `NumPy`.
fn subject(script: &str) -> Option<Vec<Box<dyn Backend>>> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: {python} has no NumPy; 1 test of the Python module was not run (set PYTHON)");
        return None;
    }
    let script = format!("{}/{script}", env!("CARGO_MANIFEST_DIR"));
    let remote = Remote::open(vec![python, script], Limits::default()).expect("it starts");
    Some(vec![Box::new(remote)])
}

fn verdict(backends: &[Box<dyn Backend>], line: &str) -> VerdictRecord {
    let case: Case = line.parse().expect(line);
    let loaded = case.origin.load().expect("generated");
    run_case(&case, &loaded, backends).records.remove(0).verdict
}

#[test]
fn numpy_is_right_in_every_layout_and_type() {
    let Some(backends) = subject("python/examples/numpy_backend.py") else {
        return;
    };
    let tail = "banded:rows=9,cols=12/values=small-int,1";
    for (line, refused) in [
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3"), false),
        (
            format!("spmm.csr.f64_f64_f64_f64/{tail}/n=3/alpha=-2/beta=3/tb/lb=col/ldb=+2"),
            false,
        ),
        (
            format!("spmm.csr.f16_f16_f32_f16/{tail}/n=3/beta=-1/ta/lc=col/ldc=+3"),
            false,
        ),
        (format!("spmm.coo.bf16_bf16_f32_bf16/{tail}/n=2/beta=2"), false),
        (format!("spmm.csr.e4m3_e4m3_f32_f32/{tail}/n=2"), false),
        (format!("spmm.csr.e5m2_e5m2_f32_f32/{tail}/n=2/lb=col"), false),
        (format!("spmv.csr.f16_f16_f16_f16/{tail}/alpha=0/beta=1"), false),
        (
            format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=alpha-nan"),
            true,
        ),
        (
            format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=beta-inf"),
            true,
        ),
        (
            format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=inner-shape"),
            true,
        ),
        (
            format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=short-output"),
            true,
        ),
        (
            format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/ldc=+2/fault=small-ldc"),
            true,
        ),
    ] {
        let verdict = verdict(&backends, &line);
        let wanted = match verdict {
            VerdictRecord::Exact | VerdictRecord::Within { .. } => !refused,
            VerdictRecord::AgreedRefusal { .. } => refused,
            _ => false,
        };
        assert!(wanted, "{line}: {verdict}");
    }
}

#[test]
fn what_a_python_kernel_does_wrong_is_seen() {
    let Some(backends) = subject("tests/subjects/misbehaving.py") else {
        return;
    };
    let wrong = |n: usize| {
        verdict(
            &backends,
            &format!("spmm.csr.f64_f64_f64_f64/banded:rows=9,cols=12/values=small-int,1/n={n}"),
        )
    };
    let defect = |n: usize, wanted: Defect, needle: &str| match wrong(n) {
        VerdictRecord::Wrong(m) => assert!(m.what == wanted && m.message.contains(needle), "{n}: {m:?}"),
        other => panic!("{n}: {other}"),
    };
    // What is printed to standard output, by Python or by a child of it, does no harm.
    assert!(matches!(wrong(1), VerdictRecord::Exact), "{}", wrong(1));
    defect(2, Defect::InputModified, "input operand");
    defect(3, Defect::InputModified, "input operand");
    defect(4, Defect::Canary, "offset 36 ");
    defect(5, Defect::Canary, "offset -1 ");
    let refused = wrong(6);
    assert!(
        matches!(&refused, VerdictRecord::LoneRefusal { refusal } if refusal.contains("six columns")),
        "{refused}"
    );
    for (n, needles) in [
        (7, ["status 70", "RuntimeError: lost a column"]),
        (9, ["SIGSEGV", "without an answer"]),
    ] {
        match wrong(n) {
            VerdictRecord::Crashed { message } => {
                assert!(
                    needles.iter().all(|needle| message.contains(needle)),
                    "{n}: {message}"
                );
            }
            other => panic!("{n}: {other}"),
        }
    }
    assert!(matches!(wrong(1), VerdictRecord::Exact));
}
