//! The layers of `--sandbox`, each alone, as kernels have them; and the folder of a sandboxed program, which nothing leaves behind.

use crate::plugin_hostile::library;
use crate::remote_hostile::left;
use crate::sandbox::{PRYING, Scene};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names of the folders that sandboxed programs have now.
fn folders(temporary: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(temporary).expect("a folder").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_folder_goes_with_its_program_and_with_a_judge_that_is_killed() {
    let scene = Scene::new("folders");
    let temporary = scene.path("temporary");
    std::fs::create_dir(&temporary).expect("made");
    let program = format!("{} spin-always mark-folders", env!("CARGO_BIN_EXE_hostile_subject"));
    let judge = |timeout: &str| {
        let what = [
            "run",
            "--matrix",
            "m.mtx",
            "--contracts",
            "spmv.csr.f32_f32_f32_f32",
            "--no-shrink",
            "--sandbox",
        ];
        let mut judge = Command::new(env!("CARGO_BIN_EXE_conformance"));
        judge.args(what).args(["--exec", &program, "--timeout", timeout]);
        judge.current_dir(scene.folder.path()).env("TMPDIR", &temporary);
        judge.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let status = judge("0.02").wait().expect("it ends");
    assert_eq!(status.code(), Some(1), "time-outs are findings");
    assert_eq!(folders(&temporary), Vec::<String>::new(), "after a whole run");

    let mut killed = judge("600");
    let began = Instant::now();
    // The first is the trial's; the next two are of programs, and stay.
    while began.elapsed() < Duration::from_secs(60) && left("mark-folders").len() < 4 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_ne!(folders(&temporary), Vec::<String>::new(), "while it runs");
    killed.kill().expect("a signal");
    killed.wait().expect("it ends");
    let ended = Instant::now();
    while ended.elapsed() < Duration::from_secs(10) && !folders(&temporary).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(folders(&temporary), Vec::<String>::new(), "after the judge was killed");
}

/// Runs the plug-in in a sandbox as a kernel without `lacking` would: exit code, standard error.
fn on_an_older_kernel(older: &Path, lacking: &str, scene: &Scene, library: &Path) -> (i32, String) {
    let what = ["run", "--matrix", "m.mtx", "--no-shrink", "--allow-thin", "--report", "report", "--sandbox"];
    let secret = scene.path("report/old.txt");
    let output = Command::new(older)
        .args([lacking, env!("CARGO_BIN_EXE_conformance")])
        .args(what)
        .arg("--plugin")
        .arg(library)
        .args(["--env", &format!("SECRET={}", secret.display())])
        .current_dir(scene.folder.path())
        .output()
        .expect("it starts");
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The program that runs a command as an older kernel would, compiled in this folder.
pub(crate) fn older_kernel(folder: &Path) -> PathBuf {
    let older = folder.join("older_kernel");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/subjects/older_kernel.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let built =
        Command::new(compiler).arg(source).arg("-o").arg(&older).status().expect("the compiler starts");
    assert!(built.success());
    older
}

#[test]
fn what_an_older_kernel_lacks_is_said_and_where_there_is_nothing_no_run_is_called_sandboxed() {
    let place = tempfile::tempdir().expect("a folder");
    let Some(library) = library(place.path(), "prying.c", PRYING) else { return };
    let older = older_kernel(place.path());
    // Without landlock another user comes to what others may read only.
    let open = |path: &Path| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("changed");
    };
    open(place.path());
    let root = rustix::process::geteuid().is_root();
    for (lacking, words) in [
        ("landlock", "NOT ENFORCED: no landlock in this kernel"),
        ("seccomp", "NOT ENFORCED: no seccomp ("),
        ("both", "no landlock in this kernel"),
    ] {
        let scene = Scene::new("older");
        open(scene.folder.path());
        let (code, said) = on_an_older_kernel(&older, lacking, &scene, &library);
        assert!(said.contains(words), "{lacking}: {said}");
        if lacking == "both" && !root {
            assert!(code == 2 && said.contains("nothing can be enforced"), "{said}");
            continue;
        }
        assert_eq!(code, 1, "{lacking}: {said}");
        assert!(said.contains(&scene.missing().split("; ").next().expect("words").to_owned()), "{said}");
        let could = scene.could().0;
        let has = |name: &str| could.iter().any(|done| done == name);
        // Each layer alone: landlock closes files, seccomp sockets; judge and warden close their memory.
        assert!(has("read-secret") == (lacking != "seccomp"), "{lacking}: {could:?}");
        assert!(has("udp") == (lacking != "landlock"), "{lacking}: {could:?}");
        let judge = ["memory", "warden-memory", "copy", "trace", "environ", "descriptors"];
        assert!(!judge.into_iter().any(has), "{lacking}: {could:?}");
    }
}
