//! What a program needs to read: itself, what it is made of, and the system's libraries.
//!
//! ```text
//! /venv/bin/python  backend.py      /venv/{bin,lib,...}, and those of the Python that it is a link to
//!                   |               backend.py; beside it *.py, *.so* and packages (their names can be listed)
//! --sandbox-read PATH               whatever else
//! ```

use crate::content;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders and files of the system: programs, libraries, what dynamic linkers and C libraries look up. Of `/proc`, what belongs to other
/// processes stays closed (restrict.rs).
const SYSTEM: [&str; 30] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/opengl-driver",
    "/proc",
    "/sys",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/os-release",
    "/etc/ssl/openssl.cnf",
    "/etc/OpenCL",
    "/etc/vulkan",
    "/etc/julia",
    "/etc/R",
    "/etc/mime.types",
];

/// Of the folder above a program's `bin`: what interpreters and libraries read there, and no one's keys or mail.
const PARTS: [&str; 13] = [
    "bin",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "include",
    "shims",
    "versions",
    "version",
    "plugins",
    "pyenv.d",
    "pyvenv.cfg",
    "conda-meta",
];

/// Variables that name code by paths, separated by colons.
const CODE: [&str; 12] = [
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CUDA_HOME",
    "CUDA_PATH",
    "MKLROOT",
    "ROCM_PATH",
    "JULIA_DEPOT_PATH",
    "R_LIBS",
];

/// Scripts of scripts: how many interpreters are followed.
const DEPTH: u32 = 4;

/// What a command may read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reads {
    /// Files, and folders with all that is in them; also to be executed.
    pub(super) whole: BTreeSet<PathBuf>,
    /// Folders of which names may be listed, with those of folders in them, but nothing read.
    pub(super) listed: BTreeSet<PathBuf>,
    /// Where Python has the user's own packages: it would look for them in the home folder, which is another one now.
    pub(super) python_base: Option<PathBuf>,
}

impl Reads {
    /// What this command needs, and `extra`; `variable` is its environment.
    pub(super) fn of(
        command: &[String],
        extra: &[String],
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Reads {
        let mut reads = Reads::default();
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let Some((program, arguments)) = command.split_first() else { return reads };
        reads.program(&content::program(program), home.as_deref(), DEPTH);
        for word in arguments {
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            for path in [word.as_str(), value].map(Path::new) {
                if path.is_file() {
                    // As it was named and as it is: Python imports from beside the target of a link.
                    let target = path.canonicalize().ok();
                    [Some(path.to_owned()), target].into_iter().flatten().for_each(|file| reads.code(&file));
                }
            }
        }
        for paths in CODE.iter().filter_map(|name| variable(name)) {
            // An empty path would be this folder.
            let named = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
            reads.whole.extend(named.filter_map(|path| path.canonicalize().ok()));
        }
        let base = variable("PYTHONUSERBASE").map(PathBuf::from);
        let base = base.or_else(|| Some(home?.join(".local"))).filter(|base| base.join("lib").is_dir());
        reads.whole.extend(base.iter().map(|base| base.join("lib")));
        reads.python_base = base;
        reads.whole.extend(extra.iter().map(PathBuf::from));
        reads
    }

    /// A program, the folders that it was installed with, and the interpreter that its first line names.
    fn program(&mut self, path: &Path, home: Option<&Path>, depth: u32) {
        // As it was named and as it is: an environment's `python` is a link to another one's.
        let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        for place in [Some(named), path.canonicalize().ok()].into_iter().flatten() {
            self.installed_with(&place, home);
            self.code(&place);
        }
        if let Some(interpreter) = interpreter(path).filter(|_| depth > 0) {
            self.program(&interpreter, home, depth - 1);
        }
    }

    fn installed_with(&mut self, program: &Path, home: Option<&Path>) {
        let Some(folder) = program.parent() else { return };
        let kind = folder.file_name().and_then(|name| name.to_str());
        let (Some("bin" | "sbin" | "shims" | "libexec"), Some(prefix)) = (kind, folder.parent()) else {
            return;
        };
        if kind == Some("shims") {
            self.whole.extend(pinned_version());
        }
        if home.is_some_and(|home| home.starts_with(prefix)) {
            return;
        }
        self.whole.extend(PARTS.iter().map(|part| prefix.join(part)).filter(|path| path.exists()));
        // Julia's library and R's, but not the user's own: keys lie there.
        if home.is_none_or(|home| prefix != home.join(".local")) {
            self.whole.extend(Some(prefix.join("share")).filter(|path| path.is_dir()));
        }
    }

    /// A file of code with what it loads from beside it: shared libraries; scripts of its language; packages of Python's.
    fn code(&mut self, file: &Path) {
        let Ok(file) = std::path::absolute(file) else { return };
        let language = file.extension().filter(|_| is_script(&file)).map(ToOwned::to_owned);
        let python = language.as_deref().is_some_and(|l| l == "py");
        let folder = file.parent().map(Path::to_owned);
        self.whole.insert(file);
        let Some(folder) = folder else { return };
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let library = name.ends_with(".so") || name.contains(".so.");
            let same = language.is_some() && path.extension() == language.as_deref();
            let package = python && (path.join("__init__.py").is_file() || name == "__pycache__");
            if package || (library || same) && path.is_file() {
                self.whole.insert(path);
            }
        }
        // Python imports by the list of names in a folder.
        self.listed.extend(Some(folder).filter(|_| python));
    }

    /// What of it holds this folder: a program that may read it may read what is written there.
    pub(super) fn holding(&self, folder: &Path) -> Option<PathBuf> {
        let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = absolute(folder);
        let own = self.whole.iter().map(|path| absolute(path));
        own.chain(Reads::system().map(absolute)).find(|path| folder.starts_with(path))
    }

    /// What every program may read.
    pub(super) fn system() -> impl Iterator<Item = &'static Path> {
        SYSTEM.iter().map(Path::new)
    }

    /// True where another user than root would not come to what it may read.
    pub(super) fn are_closed_to_others(&self) -> bool {
        let files = self.whole.iter().chain(&self.listed);
        files.into_iter().any(|path| lacks(path, 0o004) || Reads::closes(path))
    }

    /// True for a path that another user than root can't reach.
    pub(super) fn closes(path: &Path) -> bool {
        path.ancestors().skip(1).any(|folder| lacks(folder, 0o001))
    }
}

/// True for what has none of these bits of the mode.
fn lacks(path: &Path, bits: u32) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.permissions().mode() & bits == 0)
}

/// A file by whose name its language is told.
fn is_script(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("py" | "jl" | "R" | "r" | "js" | "mjs" | "rb" | "lua" | "m" | "pl" | "sh"))
}

/// The interpreter that the first line of a script names: `#!/usr/bin/env python3`, `#!/venv/bin/python -u`.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(script).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    if Path::new(first).file_name()? != "env" {
        return Some(PathBuf::from(first));
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).map(content::program)
}

/// The file by which pyenv, whose programs are in a folder `shims`, chooses a version.
fn pinned_version() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(".python-version")).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    /// A home with an environment, a backend and things that are no backend's business.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("it is there");
        for (name, text) in [
            ("venv/bin/python", "#!/bin/sh\n"),
            ("venv/lib/numpy.py", ""),
            ("venv/secret", ""),
            ("work/backend.py", "#!/usr/bin/env -S python3 -u\n"),
            ("work/helper.py", ""),
            ("work/libfast.so.1", ""),
            ("work/notes.txt", ""),
            ("work/package/__init__.py", ""),
            ("work/report/report.json", ""),
            ("bin/tool", ""),
            (".local/bin/tool", ""),
            (".local/lib/x.py", ""),
            (".local/share/keyrings/key", ""),
        ] {
            touch(&home.join(name), text);
        }
        (folder, home)
    }

    fn reads(home: &Path, command: &[&str]) -> Vec<String> {
        let command: Vec<String> = command.iter().map(|word| home.join(word).display().to_string()).collect();
        let variable = |name: &str| (name == "HOME").then(|| OsString::from(home));
        let found = Reads::of(&command, &[], &variable);
        let below = found.whole.iter().filter_map(|path| path.strip_prefix(home).ok());
        below.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn a_program_reads_what_it_was_installed_with_and_a_script_what_it_imports() {
        let (_folder, home) = home();
        let found = reads(&home, &["venv/bin/python", "work/backend.py"]);
        let wanted = [
            ".local/lib",
            "venv/bin",
            "venv/bin/python",
            "venv/lib",
            "work/backend.py",
            "work/helper.py",
            "work/libfast.so.1",
            "work/package",
        ];
        assert_eq!(found, wanted);
    }

    /// Story: a script in a folder of links (as `~/bin`, or a build's) was found, and what it imports was not: Python looks for it beside
    /// the target of the link, where nothing else could be read.
    #[test]
    fn a_script_named_by_a_link_reads_what_is_beside_the_link_and_beside_its_target() {
        let (_folder, home) = home();
        touch(&home.join("links/beside.py"), "");
        std::os::unix::fs::symlink("../work/backend.py", home.join("links/backend.py")).expect("a link");
        let found = reads(&home, &["venv/bin/python", "links/backend.py"]);
        for wanted in
            ["links/backend.py", "links/beside.py", "work/backend.py", "work/helper.py", "work/package"]
        {
            assert!(found.iter().any(|path| path == wanted), "{wanted}: {found:?}");
        }
        assert!(!found.iter().any(|path| path.contains("notes")), "{found:?}");
    }

    #[test]
    fn no_home_is_read_whole_and_no_key() {
        let (_folder, home) = home();
        assert_eq!(reads(&home, &["bin/tool"]), [".local/lib", "bin/tool"]);
        let found = reads(&home, &[".local/bin/tool"]);
        assert_eq!(found, [".local/bin", ".local/bin/tool", ".local/lib"]);
    }

    #[test]
    fn a_folder_that_may_be_read_is_named_where_it_holds_another() {
        let (_folder, home) = home();
        let report = home.join("work/report");
        let extra = |path: &Path| [path.display().to_string()];
        let found = |extra: &[String]| Reads::of(&["true".to_owned()], extra, &|_| None).holding(&report);
        assert_eq!(found(&[]), None);
        assert_eq!(found(&extra(&home.join("work/package"))), None);
        assert_eq!(found(&extra(&home.join("work"))), Some(home.join("work")));
        assert_eq!(found(&extra(&report)), Some(report.clone()));
    }

    #[test]
    fn the_interpreter_of_a_script_is_its_first_line_s() {
        let (_folder, home) = home();
        assert_eq!(interpreter(&home.join("venv/bin/python")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(interpreter(&home.join("work/backend.py")), Some(content::program("python3")));
        assert_eq!(interpreter(&home.join("work/helper.py")), None);
    }

    #[test]
    fn what_others_can_t_come_to_is_seen() {
        let (_folder, home) = home();
        let all = |path: &str| {
            Reads { whole: BTreeSet::from([home.join(path)]), ..Reads::default() }.are_closed_to_others()
        };
        let mode = |bits| std::fs::set_permissions(&home, PermissionsExt::from_mode(bits)).expect("changed");
        mode(0o755);
        assert!(!all("venv/lib"));
        mode(0o700);
        assert!(all("venv/lib"));
        let system = Reads { whole: BTreeSet::from([PathBuf::from("/usr/bin")]), ..Reads::default() };
        assert!(!system.are_closed_to_others());
    }
}
