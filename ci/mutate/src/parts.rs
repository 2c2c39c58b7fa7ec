//! The parts of what judges: which files they are, and which tests must notice a change in them.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::process::Command;

/// One part of what judges.
pub struct Part {
    /// As the score and the command line name it.
    pub name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
    /// Binaries of tests, as package and name of the target.
    pub binaries: &'static [(&'static str, &'static str)],
}

const TYPES: (&str, &str) = ("sparse-types", "sparse_types");
const ORACLE: (&str, &str) = ("sparse-oracle", "sparse_oracle");
const JUDGE: (&str, &str) = ("sparse-oracle", "judge");
const BOUND: (&str, &str) = ("sparse-oracle", "hardware_bound");
const ARITHMETIC: (&str, &str) = ("sparse-oracle", "arithmetic");
const CORE: (&str, &str) = ("sparse-conformance-core", "sparse_conformance_core");
const JUDGING: (&str, &str) = ("sparse-conformance", "judging");
const REPORTS: (&str, &str) = ("sparse-conformance", "reports");
const GOLDEN: (&str, &str) = ("sparse-golden", "tolerances");
const SELFTEST: (&str, &str) = ("sparse-conformance", "selftest");

/// All parts.
pub const PARTS: [Part; 6] = [
    Part {
        name: "judge",
        package: "sparse-oracle",
        files: &["oracle/src/judge/*.rs"],
        binaries: &[ORACLE, JUDGE, BOUND, JUDGING],
    },
    Part {
        name: "bound",
        package: "sparse-oracle",
        files: &["oracle/src/bound/*.rs", "oracle/src/model/admissible.rs"],
        binaries: &[ORACLE, JUDGE, BOUND, JUDGING, GOLDEN],
    },
    Part {
        name: "exact",
        package: "sparse-oracle",
        files: &["oracle/src/exact/*.rs", "oracle/src/exact/dyadic/*.rs"],
        binaries: &[ORACLE, ARITHMETIC, JUDGE],
    },
    Part {
        name: "verdict",
        package: "sparse-types",
        files: &["oracle/types/src/verdict.rs"],
        binaries: &[TYPES, ORACLE, JUDGE, JUDGING, REPORTS],
    },
    Part {
        name: "arithmetic",
        package: "sparse-types",
        files: &["oracle/types/src/arithmetic/*.rs"],
        binaries: &[TYPES, ORACLE, JUDGE, BOUND],
    },
    Part {
        name: "runner",
        package: "sparse-conformance-core",
        files: &[
            "conformance/core/src/runner/*.rs",
            "conformance/core/src/record.rs",
            "conformance/core/src/degenerate.rs",
            "conformance/core/src/execute.rs",
        ],
        binaries: &[CORE, JUDGING, SELFTEST],
    },
];

/// The parts with these names; all where none is named.
pub fn named(names: &[String]) -> Result<Vec<&'static Part>> {
    if names.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| {
        let found = PARTS.iter().find(|p| p.name == name);
        found.with_context(|| format!("unknown part {name}; there are {}", PARTS.map(|p| p.name).join(" ")))
    };
    names.iter().map(find).collect()
}

/// A place in a file, as cargo-mutants counts: from one, in characters.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// From where to where.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Extent {
    /// The first character.
    pub start: Place,
}

/// A mutant as cargo-mutants lists it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Mutant {
    /// File, place and change in words: what the score names it by.
    pub name: String,
    /// Relative to the root of the repository.
    pub file: String,
    /// What kind of change.
    pub genre: String,
    /// What stands there instead.
    pub replacement: String,
    /// What is replaced.
    pub span: Extent,
}

/// All mutants of a part.
pub fn list(part: &Part) -> Result<Vec<Mutant>> {
    let mut command = Command::new("cargo");
    command.args(["mutants", "--list", "--json", "--package", part.package]);
    for file in part.files {
        command.args(["--file", file]);
    }
    let output = command.output().context("cargo mutants --list")?;
    if !output.status.success() {
        bail!("cargo mutants --list: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("what cargo mutants --list --json wrote")
}
