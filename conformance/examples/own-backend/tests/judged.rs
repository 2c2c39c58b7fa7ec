//! The command of this crate judges its kernel.

use std::process::Command;

/// A part of the quick tier: `ci/examples.sh` runs all of it.
#[test]
fn the_command_finds_nothing_in_the_kernel() {
    // Not by `env!`: a compiler behind a shell script (the suite's `fuzz/rustc`) does not see a variable with a hyphen in its name.
    let command = std::env::var_os("CARGO_BIN_EXE_own-backend").expect("set by cargo");
    let output = Command::new(command)
        .args(["run", "--shard", "1/8", "--allow-thin"])
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("clean: "), "{}\n{said}", output.status);
    assert!(said.contains("my-spmv"), "{said}");
}
