//! Runs the built `conformance` program.

use sparse_conformance::report::{ReadError, Report};
use std::path::Path;
use std::process::{Command, Output};

/// What one call gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program in `folder`. Fails on a panic or a signal, whatever was expected.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> Ran {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8 output");
    let ran = Ran { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) };
    for stream in [&ran.out, &ran.err] {
        assert!(!stream.contains("panicked") && !stream.contains("RUST_BACKTRACE"), "{args:?}: {stream}");
    }
    assert!((0..=2).contains(&ran.code), "{args:?}: code {}: {}", ran.code, ran.err);
    ran
}

/// The text of a `report.json` as a value whose `cases` are the records one by one.
pub(crate) fn report_value(text: &str) -> Result<serde_json::Value, ReadError> {
    let report = Report::parse(text, Path::new("report.json"))?;
    let mut value = serde_json::to_value(&report).expect("finite numbers");
    value["cases"] = serde_json::to_value(&report.cases).expect("finite numbers");
    Ok(value)
}
