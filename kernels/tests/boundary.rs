//! The kernels share the oracle's data and none of its algorithms: a scan of this crate's source.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the oracle that hold data, and the types and macros that it exports at its root.
const DATA: [&str; 15] = [
    "scalar",
    "format",
    "contract",
    "arithmetic",
    "task",
    "refusal",
    "profile",
    "Precision",
    "Scalar",
    "Refusal",
    "Bf16",
    "E4m3",
    "E5m2",
    "F16",
    "Tf32",
];

/// The oracle's algorithms that hang on data types, as they would be called.
const ALGORITHMS: [&str; 17] = [
    ".entries(",
    ".entries_with(",
    ".entries_bits(",
    ".entries_f64(",
    "from_entries(",
    ".convert(",
    "convert(",
    "encode(",
    "encode_dyadic(",
    "nearest_in(",
    "from_f64(",
    "from_dense(",
    ".to_dense(",
    ".transpose(",
    "check_unique(",
    "without_positive_zeros(",
    "AnySparse::from",
];

/// Every way in which a source text crosses the boundary.
fn crossings(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    // Tests at the end of a file may compare with the oracle.
    let kernel = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or(source);
    let code: String =
        kernel.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    for (at, _) in code.match_indices("sparse_oracle") {
        let rest = &code[at + "sparse_oracle".len()..];
        match rest.strip_prefix("::") {
            Some(path) => found.extend(roots(path).into_iter().filter(|root| !DATA.contains(&root.as_str()))),
            None => found.push("sparse_oracle without a path".to_owned()),
        }
    }
    for call in ALGORITHMS {
        for (at, _) in code.match_indices(call) {
            let before = code[..at].chars().next_back().unwrap_or(' ');
            let own = !call.starts_with('.') && (before.is_alphanumeric() || before == '_');
            let definition = code[..at].trim_end().ends_with("fn");
            if !own && !definition {
                found.push(call.to_owned());
            }
        }
    }
    found
}

/// First names of a path, or of each path in a group.
fn roots(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '*').collect()
    };
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(name(&group[start..at]));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(name(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|root| !root.is_empty());
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn kernels_use_only_data_of_the_oracle() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 10, "only {} files found", files.len());
    let mut crossed = Vec::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("readable");
        crossed.extend(crossings(&source).into_iter().map(|what| format!("{}: {what}", file.display())));
    }
    assert!(crossed.is_empty(), "{}", crossed.join("\n"));
}

#[test]
fn the_scan_finds_what_it_looks_for() {
    for bad in [
        "use sparse_oracle::exact::dot;",
        "use sparse_oracle::{scalar::Element, model::{chain, other}, F16};",
        "let v = sparse_oracle::op::spmm::definition(a, b);",
        "use sparse_oracle as oracle;",
        "let e = matrix.entries();",
        "let m = Csr::from_entries(&e);",
        "let bits = encode(x, p, r);",
        "let y = F16::from_f64(x);",
        "use sparse_oracle::*;",
        "use sparse_oracle::convert::convert;",
    ] {
        assert!(!crossings(bad).is_empty(), "{bad}");
    }
    for good in [
        "use sparse_oracle::{\n    scalar::Element,\n    Precision,\n};",
        "// matrix.entries() would be the oracle's",
        "fn parse_convert(x: u8) { own_convert(x) }",
        "use sparse_oracle::format::{Csr, FormatKind};",
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    let e = matrix.entries();\n}",
    ] {
        assert_eq!(crossings(good), Vec::<String>::new(), "{good}");
    }
}
