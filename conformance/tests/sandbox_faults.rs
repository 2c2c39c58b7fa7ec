//! What goes wrong on the judge's machine, and is no finding against a program: no room for its folder, a standard error that is full.

use crate::remote_hostile::left;
use crate::remote_python::python;
use crate::sandbox::Scene;
use crate::sandbox_layers::older_kernel;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A run of this program over the scene's one matrix, with a report.
fn judge(program: &Path, before: &[&str], scene: &Scene, subject: &str) -> Command {
    let what =
        ["run", "--matrix", "m.mtx", "--contracts", "spmv.csr.f32_f32_f32_f32", "--no-shrink", "-j", "1"];
    let mut judge = Command::new(program);
    judge.args(before).args(what).args(["--allow-thin", "--report", "report", "--exec", subject]);
    judge.current_dir(scene.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    judge
}

/// Story: where `/tmp` was full, no folder could be made for a program that had to be started again, and each case from there on was a
/// crash of the backend's.
#[test]
fn a_temporary_folder_that_can_t_be_made_is_no_finding() {
    let scene = Scene::new("no-room");
    let temporary = scene.path("temporary");
    std::fs::create_dir(&temporary).expect("made");
    let subject = format!("{} spin-always mark-no-room", env!("CARGO_BIN_EXE_hostile_subject"));
    let mut judge = judge(Path::new(env!("CARGO_BIN_EXE_conformance")), &[], &scene, &subject);
    let mut judge =
        judge.args(["--sandbox", "--timeout", "0.2"]).env("TMPDIR", &temporary).spawn().expect("it starts");
    let began = Instant::now();
    // Judge, warden and program, which spins in its first case until it is killed.
    while began.elapsed() < Duration::from_secs(60) && left("mark-no-room").len() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::rename(&temporary, scene.path("away")).expect("renamed");
    let status = judge.wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "the first case had no answer in time");
    let report = scene.report();
    let of = |kind: &str| {
        let all = report["cases"].as_array().expect("cases").iter();
        all.filter(|case| case["verdict"]["kind"] == kind).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of("crashed").len(), 0, "{:?}", of("crashed"));
    assert_eq!(of("timed_out").len(), 1, "{report}");
    let others = of("not_run");
    assert!(!others.is_empty(), "{report}");
    for case in others {
        let reason = case["verdict"]["reason"].as_str().expect("a reason");
        assert!(reason.contains("no fault of its own") && reason.contains("set TMPDIR"), "{reason}");
    }
}

/// Story: where limits can't be set, the judge said so by `eprintln!`, which panics on a standard error that is full: the command ended
/// with a panic, or where a case started the program again, the backend had crashed.
#[test]
fn a_full_standard_error_changes_no_verdict_where_no_limit_can_be_set() {
    let place = tempfile::tempdir().expect("a folder");
    let older = older_kernel(place.path());
    for (mode, code) in [("honest", 0), ("grandchild-always", 1)] {
        let scene = Scene::new("full");
        let subject = format!("{} {mode} mark-full", env!("CARGO_BIN_EXE_hostile_subject"));
        let full = std::fs::File::options().write(true).open("/dev/full").expect("there");
        let before = ["prlimit", env!("CARGO_BIN_EXE_conformance")];
        let status = judge(&older, &before, &scene, &subject).stderr(full).status().expect("it starts");
        assert_eq!(status.code(), Some(code), "{mode}");
        assert!(!scene.report().to_string().contains("failed printing"), "{mode}");
    }
}

/// Story: `multiprocessing.Lock()` is a semaphore by name, a file in `/dev/shm`, and a program that made one ended in the sandbox.
#[test]
fn a_python_program_has_a_lock_of_multiprocessing_in_a_sandbox() {
    let Some(python) = python() else { return };
    let scene = Scene::new("lock");
    let honest = include_str!("../python/examples/numpy_backend.py");
    let locked = format!("import multiprocessing\nLOCK = multiprocessing.Lock()\n{honest}");
    let module = include_str!("../python/sparse_conformance/protocol.py");
    for (name, text) in [("sparse_conformance.py", module), ("locked.py", &locked)] {
        std::fs::write(scene.path(name), text).expect("written");
    }
    let subject = format!("{python} {}", scene.path("locked.py").display());
    let program = Path::new(env!("CARGO_BIN_EXE_conformance"));
    let run = |options: &[&str]| {
        judge(program, &[], &scene, &subject).args(options).status().expect("it starts").code()
    };
    let plain = run(&[]);
    assert_eq!(plain, Some(0));
    let sandboxed = run(&["--sandbox"]);
    if sandboxed == Some(0) {
        assert!(scene.has_own_shm());
    } else {
        // Nothing may be mounted here: it can't be started, as docs/sandbox.md says.
        eprintln!("SKIPPED: part of a test of the sandbox: no /dev/shm of its own");
        assert_eq!(sandboxed, Some(2));
    }
}
