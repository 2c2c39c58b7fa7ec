//! `SEMANTICS.md` is normative, so each of its clauses names the tests that check it, and those tests exist.
//!
//! ```text
//! **1.2** An explicit zero takes part ... `file.rs::test_name` ...        one clause: a number, then its tests
//! ```

use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of functions by file name, over every Rust source of the workspace's crates.
fn functions() -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let crates = [
        "oracle",
        "oracle/types",
        "oracle/schedules",
        "conformance",
        "conformance/core",
        "conformance/selftest",
        "fuzz/targets",
        "fuzz/judge/targets",
        "kernels",
        "golden",
    ];
    let mut folders: Vec<PathBuf> =
        crates.iter().flat_map(|c| ["src", "tests"].map(|f| workspace().join(c).join(f))).collect();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.expect("readable").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).expect("readable");
                let file = path.file_name().and_then(|n| n.to_str()).expect("UTF-8").to_owned();
                found.entry(file).or_default().extend(tests_of(&text));
            }
        }
    }
    found
}

/// Functions marked `#[test]`, and those inside `quickcheck!`, which marks them itself.
fn tests_of(text: &str) -> Vec<String> {
    let (mut names, mut marked, mut in_quickcheck) = (Vec::new(), false, false);
    for line in text.lines() {
        let code = line.trim_start();
        in_quickcheck = in_quickcheck && line != "}" || code.starts_with("quickcheck! {");
        marked |= code.starts_with("#[test]");
        if let Some(rest) = code.strip_prefix("fn ") {
            if marked || in_quickcheck {
                names.extend(rest.split(['(', '<']).next().map(str::to_owned));
            }
            marked = false;
        }
    }
    names
}

/// Number and text of each clause.
fn clauses(document: &str) -> Vec<(String, String)> {
    let mut clauses: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        if let Some((number, rest)) = line.strip_prefix("**").and_then(|l| l.split_once("**")) {
            clauses.push((number.to_owned(), rest.to_owned()));
            open = true;
        } else if line.starts_with('#') {
            open = false;
        } else if let Some(clause) = clauses.last_mut().filter(|_| open) {
            clause.1.push('\n');
            clause.1.push_str(line);
        }
    }
    clauses
}

/// The `file.rs::name` references of a text.
fn references(text: &str) -> Vec<(String, String)> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|q| q.split_once("::"))
        .filter(|r| r.0.ends_with(".rs"))
        .map(|r| (r.0.into(), r.1.into()))
        .collect()
}

fn document() -> String {
    std::fs::read_to_string(workspace().join("oracle/SEMANTICS.md"))
        .expect("the document is in the repository")
}

#[test]
fn every_clause_names_tests_that_exist() {
    let functions = functions();
    let mut broken = Vec::new();
    for (number, text) in clauses(&document()) {
        let named = references(&text);
        if named.is_empty() {
            broken.push(format!("{number} names no test"));
        }
        for (file, name) in named {
            if !functions.get(&file).is_some_and(|tests| tests.contains(&name)) {
                broken.push(format!("{number}: no test {name} in any {file}"));
            }
        }
    }
    assert!(broken.is_empty(), "SEMANTICS.md:\n{}", broken.join("\n"));
}

/// The name that the file of a format opens with: `SR-BCRS` of "SR-BCRS: `v` x 1 vectors, ...".
fn title(kind: FormatKind) -> String {
    let path = workspace().join(format!("oracle/types/src/format/{}.rs", kind.name()));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let first = text.strip_prefix("//! ").expect("a file opens with its one job");
    first.split(' ').next().expect("a word").trim_end_matches([':', ',']).to_lowercase()
}

#[test]
fn every_format_has_clauses() {
    let texts: Vec<String> = clauses(&document()).into_iter().map(|(_, text)| text.to_lowercase()).collect();
    for kind in FormatKind::ALL {
        let title = title(kind);
        assert!(texts.iter().any(|text| text.contains(&title)), "no clause of SEMANTICS.md is about {title}");
    }
}

/// What an operation means stands in section 1, under the name that its signature gives it: `sparse x dense matrix (SpMM)`.
#[test]
fn every_operation_has_a_clause() {
    let clauses = clauses(&document());
    for op in Op::ALL {
        let words = op.signature().words;
        let short = words.split_once('(').map_or(words, |(_, short)| short.trim_end_matches(')'));
        let named = |text: &str| text.to_lowercase().contains(&short.to_lowercase());
        let found = clauses.iter().any(|(number, text)| number.starts_with("1.") && named(text));
        assert!(found, "no clause of section 1 of SEMANTICS.md says what {short} means");
    }
}

#[test]
fn clauses_are_numbered_without_gaps() {
    let numbers: Vec<(u32, u32)> = clauses(&document())
        .iter()
        .map(|(number, _)| {
            let (section, clause) = number.split_once('.').expect("section.clause");
            (section.parse().expect("a number"), clause.parse().expect("a number"))
        })
        .collect();
    assert!(numbers.len() > 40, "{} clauses", numbers.len());
    assert_eq!(numbers[0], (1, 1));
    for pair in numbers.windows(2) {
        let next = if pair[1].0 == pair[0].0 { (pair[0].0, pair[0].1 + 1) } else { (pair[0].0 + 1, 1) };
        assert_eq!(pair[1], next, "after {:?}", pair[0]);
    }
}

#[test]
fn the_scan_tells_tests_from_other_functions() {
    let text = "fn helper() {}\n#[test]\nfn first() {}\nquickcheck! {\n    fn second(x: u8) -> bool {\n    }\n}\nfn last() {}";
    assert_eq!(tests_of(text), ["first", "second"]);
    assert_eq!(references("see `a.rs::b` and `c::d`, `e.rs`"), [("a.rs".to_owned(), "b".to_owned())]);
    let text = "# 1\n**1.1** One `x.rs::y`\nmore\n# 2\nprose\n**2.1** Two";
    let found = clauses(text);
    assert_eq!((found.len(), found[0].1.as_str()), (2, " One `x.rs::y`\nmore"));
}
