//! No file of tests is forgotten. The crates that group their tests into few binaries (`autotests = false`) compile what their
//! roots name and nothing else; here each file of their folders must be a root or a module of one.
//!
//! ```text
//! Cargo.toml [[test]] path = "tests/judge.rs"  ->  tests/judge.rs: mod judge_bound;  ->  tests/judge_bound.rs
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of the files of tests right in the folder, without their ending.
fn files(tests: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(tests).expect("a folder of tests");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect()
}

/// The lines `KEY = "VALUE"` or `KEY VALUE;` that start with this.
fn values<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(start)?.split(['"', ';']).next())
}

#[test]
fn every_file_of_tests_is_a_root_or_a_module_of_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut grouped, mut folders) = (0, 0);
    for member in ["oracle", "oracle/schedules", "kernels", "conformance", "golden"] {
        let folder = root.join(member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        if !manifest.contains("\nautotests = false\n") {
            continue;
        }
        grouped += 1;
        let mut known = BTreeSet::new();
        for path in values(&manifest, "path = \"").filter(|path| path.starts_with("tests/")) {
            let text = fs::read_to_string(folder.join(path)).expect("the root of a test binary");
            known.extend(values(&text, "mod ").map(str::to_owned));
            if let Some(name) = path.strip_prefix("tests/").and_then(|path| path.strip_suffix(".rs")) {
                known.insert(name.to_owned());
            }
        }
        let forgotten: Vec<String> = files(&folder.join("tests")).difference(&known).cloned().collect();
        assert!(
            forgotten.is_empty(),
            "{member}/tests: no root of a test binary has `mod` for {forgotten:?}, so that they never run"
        );
        folders += every_file_of_a_module_is_named(&folder.join("tests"));
    }
    assert_eq!(grouped, 4, "crates with autotests = false");
    assert!(folders > 1, "modules of tests that are folders");
}

/// Each file beside a `mod.rs` must be named in it, or by its path elsewhere. Returns how many such folders there are.
fn every_file_of_a_module_is_named(tests: &Path) -> usize {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("a folder of tests");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let roots: String = entries(tests).iter().map(|path| read(path)).collect();
    let folders: Vec<PathBuf> =
        entries(tests).into_iter().filter(|path| path.join("mod.rs").exists()).collect();
    for folder in &folders {
        let own = read(&folder.join("mod.rs"));
        let named =
            |name: &str| own.contains(&format!("mod {name};")) || roots.contains(&format!("/{name}.rs\"]"));
        let forgotten: Vec<String> =
            files(folder).into_iter().filter(|name| name != "mod" && !named(name)).collect();
        assert!(forgotten.is_empty(), "{}: nothing names {forgotten:?}", folder.display());
    }
    folders.len()
}
