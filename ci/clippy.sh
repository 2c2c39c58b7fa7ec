#!/usr/bin/env bash
# Lints of the workspace, every target, warnings denied.
source "$(dirname "$0")/env.sh"
component clippy clippy || { skip "lints: clippy is not installed and can't be"; exit 0; }
cargo clippy --locked --workspace --all-targets -- -D warnings
say "no lint fires"
