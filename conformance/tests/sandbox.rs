//! `--sandbox`: what a subject can do without it and not within it, and that nothing is judged otherwise.
//!
//! ```text
//! subjects/prying.c tries each misdeed -> its refusal lists those that it could do -> all of them without a sandbox, none within
//! ```
//!
//! Where the kernel can't enforce something, the run says so, and so does the test that then has less to show.

use crate::cli::{Ran, report_value, run_in};
use crate::plugin_hostile::library;
use crate::remote_python::python;
use serde_json::Value;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const PRYING: &str = include_str!("subjects/prying.c");

/// What the plug-in could do: every name that it has for a misdeed.
const MISDEEDS: [&str; 37] = [
    "memory",
    "warden-memory",
    "any-memory",
    "copy",
    "trace",
    "environ",
    "maps",
    "folder-of-judge",
    "descriptors",
    "signal-judge",
    "signal-warden",
    "limit-judge",
    "read-secret",
    "read-readable",
    "read-folder",
    "write-report",
    "write-folder",
    "write-tmp",
    "tcp",
    "listen",
    "udp",
    "netlink",
    "abstract",
    "socket",
    "datagrams",
    "priority",
    "priority-of-group",
    "priority-of-disk",
    "schedule",
    "schedule-parameters",
    "schedule-attributes",
    "shmctl",
    "msgctl",
    "semctl",
    "semtimedop",
    "mq_unlink",
    "others-shm",
];

/// What it may do in a sandbox, as libraries do.
const RIGHTS: [&str; 7] =
    ["write-own", "write-closed", "own-stdout", "own-stderr", "own-affinity", "own-priority", "own-schedule"];
/// What it may do where the sandbox has a `/dev/shm` of its own.
const WITH_SHM: &str = "own-semaphore";

/// Those that a system may prevent without a sandbox: by Yama, which lets only parents trace, and in containers.
const MAYBE: [&str; 8] =
    ["memory", "warden-memory", "any-memory", "copy", "trace", "folder-of-judge", "descriptors", "netlink"];

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 1.5\n3 2 -0.5\n";

/// A folder with a secret, a report with one, and listeners of every kind.
pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
    sign: String,
    tcp: TcpListener,
    _abstract: UnixListener,
    _socket: UnixListener,
}

impl Scene {
    pub(crate) fn new(name: &str) -> Scene {
        static SCENES: AtomicU32 = AtomicU32::new(0);
        let number = SCENES.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::tempdir().expect("a folder");
        let sign = format!("prying-{name}-{}-{number}", std::process::id());
        std::fs::create_dir(folder.path().join("report")).expect("made");
        for file in ["secret", "readable", "report/old.txt"] {
            std::fs::write(folder.path().join(file), "secret").expect("written");
        }
        std::fs::write(folder.path().join("m.mtx"), MATRIX).expect("written");
        std::fs::write(Path::new("/dev/shm").join(&sign), "secret").expect("written");
        let address = SocketAddr::from_abstract_name(&sign).expect("a name");
        Scene {
            tcp: TcpListener::bind("127.0.0.1:0").expect("a port"),
            _abstract: UnixListener::bind_addr(&address).expect("a name that is free"),
            _socket: UnixListener::bind(folder.path().join("socket")).expect("a socket"),
            folder,
            sign,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A run over the one matrix, with a report, of this subject with these options.
    fn run(&self, subject: &[&str], options: &[&str]) -> Ran {
        let what =
            ["run", "--matrix", "m.mtx", "--no-shrink", "--allow-thin", "-j", "1", "--report", "report"];
        let words: Vec<&str> = what.iter().chain(subject).chain(options).copied().collect();
        run_in(self.folder.path(), &words)
    }

    fn pry(&self, library: &Path, options: &[&str]) -> Ran {
        let port = self.tcp.local_addr().expect("it listens").port();
        let path = |name: &str| self.path(name).display().to_string();
        let given = [
            format!("PORT={port}"),
            format!("ABSTRACT={}", self.sign),
            format!("SOCKET={}", path("socket")),
            format!("SECRET={}", path("report/old.txt")),
            format!("READABLE={}", path("readable")),
            format!("PLANT={}", path("report")),
            format!("SIGN={}", self.sign),
        ];
        let mut subject = vec!["--plugin", library.to_str().expect("UTF-8")];
        given.iter().for_each(|variable| subject.extend(["--env", variable.as_str()]));
        self.run(&subject, options)
    }

    pub(crate) fn report(&self) -> Value {
        let text = std::fs::read_to_string(self.path("report/report.json")).expect("a report");
        report_value(&text).expect("a report")
    }

    /// What the plug-in says that it could do, its user and its home.
    pub(crate) fn could(&self) -> (Vec<String>, String, String) {
        let report = self.report().to_string();
        let (_, said) = report.split_once("could:").expect(&report);
        let said = said.split('"').next().unwrap_or_default();
        let (done, rest) = said.split_once(" user=").expect(said);
        let (user, home) = rest.split_once(" home=").expect(rest);
        (done.split_whitespace().map(str::to_owned).collect(), user.to_owned(), home.to_owned())
    }

    /// True where the machine lets a sandbox mount.
    pub(crate) fn has_own_shm(&self) -> bool {
        self.note().contains("a /dev/shm of its own")
    }

    fn note(&self) -> String {
        let report = self.report();
        report["environment"]["notes"]["sandbox"].as_str().expect("a note on the sandbox").to_owned()
    }

    pub(crate) fn missing(&self) -> String {
        self.note().split_once("NOT ENFORCED: ").map_or(String::new(), |(_, missing)| missing.to_owned())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for folder in ["/tmp", "/dev/shm"] {
            let _ = std::fs::remove_file(Path::new(folder).join(&self.sign));
        }
    }
}

/// Stories: a plug-in could change how the judge is scheduled, and reach what processes of a user share by number; as root's it could not
/// open its own `/dev/stderr`, whose pipe was the judge's; and nowhere could it have a semaphore by name, so that Python's `Lock` failed.
/// Story: a plug-in ran with all rights of its user. It could read the judge's memory and the report, and answer whatever is right.
#[test]
fn a_plug_in_can_do_without_a_sandbox_what_it_can_t_within() {
    let place = tempfile::tempdir().expect("a folder");
    let Some(library) = library(place.path(), "prying.c", PRYING) else { return };
    let scene = Scene::new("plain");
    let ran = scene.pry(&library, &[]);
    assert_eq!(ran.code, 1, "a refusal of legal cases is a finding: {}{}", ran.out, ran.err);
    let (could, ..) = scene.could();
    let all = |name: &&&str| could.iter().any(|done| done == **name) || MAYBE.contains(*name);
    let missed: Vec<&&str> = MISDEEDS.iter().filter(|name| !all(name)).collect();
    assert!(missed.is_empty(), "without a sandbox it could not: {missed:?}; it could: {could:?}");
    assert!(Path::new("/tmp").join(&scene.sign).exists() && scene.path("planted").exists());

    let scene = Scene::new("sandboxed");
    let ran = scene.pry(&library, &["--sandbox"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let (could, user, home) = scene.could();
    if scene.missing().is_empty() {
        let mut rights = RIGHTS.to_vec();
        rights.extend(Some(WITH_SHM).filter(|_| scene.has_own_shm()));
        assert_eq!(could, rights);
    } else {
        eprintln!("SKIPPED: part of a test of the sandbox: {}", scene.missing());
        assert!(could.iter().any(|done| done == "write-own"), "{could:?}");
    }
    assert!(ran.err.contains("NOT ENFORCED") != scene.missing().is_empty(), "{}", ran.err);
    assert!(!Path::new("/tmp").join(&scene.sign).exists() && !scene.path("planted").exists());
    assert!(!scene.path("report/planted").exists());
    assert!(home.contains("conformance-sandbox-"), "{home}");
    assert!(!Path::new(&home).exists(), "{home} is left");
    if rustix::process::geteuid().is_root() {
        assert_ne!(user, "0");
    }
}

#[test]
fn what_is_named_can_be_read_and_a_report_that_could_be_is_refused() {
    let place = tempfile::tempdir().expect("a folder");
    let Some(library) = library(place.path(), "prying.c", PRYING) else { return };
    let scene = Scene::new("named");
    let ran = scene.pry(&library, &["--sandbox", "--sandbox-read", "readable"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let (could, ..) = scene.could();
    assert!(could.iter().any(|done| done == "read-readable"), "{could:?}");
    assert!(!could.iter().any(|done| done == "read-secret") || !scene.missing().is_empty(), "{could:?}");
    // Whoever replays a finding does it in the same sandbox.
    let markdown = std::fs::read_to_string(scene.path("report/report.md")).expect("written");
    let readable = scene.path("readable").canonicalize().expect("there");
    let options = format!("--sandbox --sandbox-read {}", readable.display());
    assert!(markdown.contains(&options), "{options}: {markdown}");

    let ran = scene.pry(&library, &["--sandbox", "--sandbox-read", "."]);
    assert!(ran.code == 2 && ran.err.contains("the report folder report lies in"), "{}", ran.err);
    let ran = scene.pry(&library, &["--sandbox", "--sandbox-read", "nowhere"]);
    assert!(ran.code == 2 && ran.err.contains("--sandbox-read nowhere: No such file"), "{}", ran.err);
    let ran = scene.run(&[], &["--sandbox"]);
    assert!(ran.code == 2 && ran.err.contains("--sandbox is for programs and plug-ins"), "{}", ran.err);
    let ran = scene.run(&["--exec", "no-such-program"], &["--sandbox"]);
    assert!(ran.code == 2 && ran.err.contains("\"no-such-program\" can't be started"), "{}", ran.err);
}

/// A report without what differs from run to run, and without the option.
fn judged(scene: &Scene) -> String {
    let mut report = scene.report();
    for part in ["environment", "timings"] {
        report.as_object_mut().expect("an object").remove(part);
    }
    report.to_string().replace(" --sandbox", "")
}

/// Both runs of a subject: their exit code.
fn same(subject: &[&str]) -> i32 {
    let scene = Scene::new("same");
    let plain = scene.run(subject, &[]);
    let wanted = judged(&scene);
    assert!(plain.code < 2, "{subject:?}: {}{}", plain.out, plain.err);
    let sandboxed = scene.run(subject, &["--sandbox"]);
    assert_eq!(sandboxed.code, plain.code, "{subject:?}: {}{}", sandboxed.out, sandboxed.err);
    assert_eq!(judged(&scene), wanted, "{subject:?}");
    plain.code
}

#[test]
fn a_plug_in_has_the_same_verdicts_in_a_sandbox() {
    let place = tempfile::tempdir().expect("a folder");
    let honest = include_str!("../examples/c/spmm_csr.c");
    let few = ["--contracts", "spmm.csr.f32_f32_f32_f32", "--plugin"];
    // A wrong sum, and a read past the end of an operand: guards and handlers of signals do in a sandbox what they did.
    let wrong = honest.replacen("values[e] *", "values[e] * 2 *", 1);
    let outside = honest.replacen("values[e] *", "values[e + 100000] *", 1);
    assert!(wrong != honest && outside != honest, "the example has changed");
    for (name, source, code) in [("good.c", honest, 0), ("wrong.c", &wrong, 1), ("outside.c", &outside, 1)] {
        let Some(library) = library(place.path(), name, source) else { return };
        let subject = [&few[..], &[library.to_str().expect("UTF-8")]].concat();
        assert_eq!(same(&subject), code, "{name}");
    }
}

#[test]
fn a_program_has_the_same_verdicts_in_a_sandbox() {
    for (mode, code) in
        [("honest", 0), ("wrong-shape-always", 1), ("abort-always", 1), ("grandchild-always", 1)]
    {
        let program = format!("{} {mode} mark-sandbox", env!("CARGO_BIN_EXE_hostile_subject"));
        assert_eq!(same(&["--contracts", "spmv.csr.f32_f32_f32_f32", "--exec", &program]), code, "{mode}");
    }
}

#[test]
fn a_python_program_has_the_same_verdicts_in_a_sandbox() {
    let Some(python) = python() else { return };
    let honest = include_str!("../python/examples/numpy_backend.py");
    let wrong = honest.replacen("task.update(", "task.update(2 * ", 1);
    // A copy of the one file beside the backend, as the README says.
    let place = tempfile::tempdir().expect("a folder");
    let module = include_str!("../python/sparse_conformance/protocol.py");
    for (name, text) in [("sparse_conformance.py", module), ("good.py", honest), ("wrong.py", &wrong)] {
        std::fs::write(place.path().join(name), text).expect("written");
    }
    for (script, code) in [("good.py", 0), ("wrong.py", 1)] {
        let program = format!("{python} {}", place.path().join(script).display());
        assert_eq!(same(&["--contracts", "spmm.csr.f64_f64_f64_f64", "--exec", &program]), code, "{script}");
    }
}

#[test]
fn every_command_that_takes_a_plug_in_takes_it_in_a_sandbox() {
    let place = tempfile::tempdir().expect("a folder");
    let honest = include_str!("../examples/c/spmm_csr.c");
    let Some(library) = library(place.path(), "good.c", honest) else { return };
    let subject = ["--sandbox", "--plugin", library.to_str().expect("UTF-8")];
    let case = "spmm.csr.f32_f32_f32_f32/banded:rows=9,cols=9/values=small-int,1/n=3";
    let bench = ["bench", "--peers", "none", "--synth", "rmat:scale=4,seed=1", "--time", "0.01"];
    for (what, words) in [
        (&["replay", case][..], "c-spmm           exact"),
        (&["explain", case], "right"),
        (&["shrink", case], "nothing to shrink"),
        (&bench, "0 contenders wrong"),
    ] {
        let ran = run_in(place.path(), &[what, &subject].concat());
        assert!(ran.code == 0 && ran.out.contains(words), "{what:?}: {}{}", ran.out, ran.err);
        // Of the benchmark's own process nothing is given up.
        assert_eq!(ran.err.contains("is timed with its pipes"), what[0] == "bench", "{}", ran.err);
    }
}
