#!/usr/bin/env bash
# Formatting, as rustfmt.toml says. Repair with `cargo fmt --all`.
source "$(dirname "$0")/env.sh"
component rustfmt fmt || { skip "formatting: rustfmt is not installed and can't be"; exit 0; }
cargo fmt --all --check
for package in fuzz fuzz/judge ci/mutate; do cargo fmt --manifest-path "$package/Cargo.toml" --check; done
say "formatting is right"
