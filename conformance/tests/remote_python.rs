//! The Python module, judged by the judge that it talks to. Needs `python3` (or `PYTHON`) with `NumPy`; skipped loudly without.

use crate::cli::run_in;
use sparse_conformance::backend::Backend;
use sparse_conformance::case::Case;
use sparse_conformance::remote::{Limits, Remote};
use sparse_conformance::report::{Defect, VerdictRecord};
use sparse_conformance::runner::run_case;
use std::process::Command;

/// A Python with `NumPy`, or `None`, said aloud.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if numpy.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("SKIPPED: {python} has no NumPy; 1 test of the Python module was not run (set PYTHON)");
    None
}

/// A program in Python, or `None` where there is no `NumPy`.
fn subject(script: &str) -> Option<Vec<Box<dyn Backend>>> {
    let python = python()?;
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
        (format!("spmm.csr.f64_f64_f64_f64/{tail}/n=3/alpha=-2/beta=3/tb/lb=col/ldb=+2"), false),
        (format!("spmm.csr.f16_f16_f32_f16/{tail}/n=3/beta=-1/ta/lc=col/ldc=+3"), false),
        (format!("spmm.coo.bf16_bf16_f32_bf16/{tail}/n=2/beta=2"), false),
        (format!("spmm.csr.e4m3_e4m3_f32_f32/{tail}/n=2"), false),
        (format!("spmm.csr.e5m2_e5m2_f32_f32/{tail}/n=2/lb=col"), false),
        (format!("spmv.csr.f16_f16_f16_f16/{tail}/alpha=0/beta=1"), false),
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=alpha-nan"), true),
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=beta-inf"), true),
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=inner-shape"), true),
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/fault=short-output"), true),
        (format!("spmm.csr.f32_f32_f32_f32/{tail}/n=3/ldc=+2/fault=small-ldc"), true),
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
    for (n, needles) in
        // Story: an exception ended the interpreter, and starting a new one for each case cost a user ten minutes.
        [
            (7, ["it raised RuntimeError: lost a column\n", "raise RuntimeError"]),
            (9, ["SIGSEGV", "without an answer"]),
        ]
    {
        match wrong(n) {
            VerdictRecord::Crashed { message } => {
                assert!(needles.iter().all(|needle| message.contains(needle)), "{n}: {message}");
            }
            other => panic!("{n}: {other}"),
        }
    }
    assert!(matches!(wrong(1), VerdictRecord::Exact));
}

/// Where the module is, as a variable for a child.
const MODULE: &str = concat!("PYTHONPATH=", env!("CARGO_MANIFEST_DIR"), "/python");

/// The first Python snippet of README, as a user would copy it.
fn readme_snippet() -> &'static str {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```python\n").expect("a Python snippet");
    rest.split_once("```").expect("its end").0
}

/// It lacked `backend.serve()`: whoever copied it got "exited with status 0 without an answer".
#[test]
fn the_snippet_of_the_readme_runs_as_it_stands() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("my_backend.py");
    std::fs::write(&script, readme_snippet()).expect("written");
    let (name, value) = MODULE.split_once('=').expect("a variable");
    let environment = vec![(name.to_owned(), value.to_owned())];
    let command = vec![python, script.to_str().expect("UTF-8").to_owned()];
    let remote = Remote::open_in(command, environment, Limits::default()).expect("it serves");
    let backends: Vec<Box<dyn Backend>> = vec![Box::new(remote)];
    for tail in ["n=3", "n=5/alpha=2/beta=-0.5/tb/lb=col", "n=0"] {
        let line = format!("spmm.csr.f32_f32_f32_f32/rmat:scale=4,seed=1/values=wide,1/{tail}");
        let verdict = verdict(&backends, &line);
        assert!(matches!(verdict, VerdictRecord::Exact | VerdictRecord::Within { .. }), "{line}: {verdict}");
    }
}

/// `--backend` names a program that was given by `--exec`, and `--env` reaches it and stands in the replay line.
#[test]
fn programs_are_chosen_by_name_and_given_variables() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = readme_snippet()
        .replace("\"mine\"", "\"wrong\"")
        .replace("task.update(product)", "task.update(product + 1)");
    for (file, text) in [("mine.py", readme_snippet()), ("wrong.py", &wrong)] {
        std::fs::write(folder.path().join(file), text).expect("written");
    }
    let program = |file: &str| format!("{python} {file}");
    let (mine, bad) = (program("mine.py"), program("wrong.py"));
    let line = "spmm.csr.f32_f32_f32_f32/rmat:scale=4,seed=1/values=ones,1/n=3";
    let both = ["--exec", &mine, "--exec", &bad, "--env", MODULE];
    let replay = |more: &[&str]| {
        let args: Vec<&str> = ["replay", line].iter().chain(&both).chain(more).copied().collect();
        run_in(folder.path(), &args)
    };
    let all = replay(&[]);
    assert!(
        all.code == 1 && all.out.contains("  mine ") && all.out.contains("  wrong "),
        "{}{}",
        all.out,
        all.err
    );
    let one = replay(&["--backend", "mine"]);
    assert!(
        one.code == 0 && one.out.contains("  mine ") && !one.out.contains("  wrong "),
        "{}{}",
        one.out,
        one.err
    );
    let built_in = replay(&["--backend", "portable,mine"]);
    assert!(
        built_in.code == 0 && built_in.out.contains("  portable ") && !built_in.out.contains("  wrong "),
        "{}{}",
        built_in.out,
        built_in.err
    );
    let nobody = replay(&["--backend", "miine"]);
    assert!(nobody.code == 2 && nobody.err.contains("from outside mine, wrong"), "{}", nobody.err);

    let args = [
        "run",
        "--exec",
        &bad,
        "--env",
        MODULE,
        "--contracts",
        "spmm.csr.f32_f32_f32_f32",
        "--shrink",
        "3",
        "--report",
        "report",
    ];
    let found = run_in(folder.path(), &args);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    let option = format!("--env '{MODULE}'");
    assert!(found.out.contains(&option), "{}", found.out);
    // The reproducer without the suite names the variable before the command, and its program starts.
    let reproducers = std::fs::read_dir(folder.path().join("report/reproducers")).expect("reproducers");
    let reproducer = reproducers.map(|entry| entry.expect("an entry").path()).next().expect("one");
    let about = std::fs::read_to_string(reproducer.join("case.txt")).expect("text");
    assert!(about.contains("; fails in a fresh process"), "{about}");
    assert!(about.contains(&format!("{MODULE} python3 main.py")), "{about}");
    let program = Command::new(&python)
        .args(["main.py", &python, "../../../wrong.py"])
        .env("PYTHONPATH", &MODULE["PYTHONPATH=".len()..])
        .current_dir(&reproducer)
        .output()
        .expect("it starts");
    assert_eq!(program.status.code(), Some(1), "{}", String::from_utf8_lossy(&program.stderr));
}

#[test]
fn variables_need_a_name_and_a_program() {
    let folder = std::env::temp_dir();
    let line = "spmm.csr.f32_f32_f32_f32/rmat:scale=3,seed=1/values=ones,1";
    for bad in ["NAME", "=1", "1A=2", "A B=2"] {
        let ran = run_in(&folder, &["replay", line, "--env", bad]);
        assert!(ran.code == 2 && ran.err.contains("NAME=VALUE"), "{bad}: {}", ran.err);
    }
    let ran = run_in(&folder, &["replay", line, "--env", "A=1", "--backend", "portable"]);
    assert!(ran.code == 2 && ran.err.contains("--exec or --plugin"), "{}", ran.err);
}
