#!/usr/bin/env bash
# All tests, documentation tests among them: the command of README. Its output is shown as it is.
source "$(dirname "$0")/env.sh"
in_readme "cargo test --workspace"
cargo test --workspace
