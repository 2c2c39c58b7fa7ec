//! Records which compiler builds the suite, for the environment block of reports.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.map_or_else(|| "rustc (unknown)".to_owned(), |text| text.trim().to_owned());
    println!("cargo::rustc-env=SPARSE_CONFORMANCE_RUSTC={version}");
}
