#!/usr/bin/env bash
# Formatting, as rustfmt.toml says. Repair with `cargo fmt --all`.
source "$(dirname "$0")/env.sh"
component rustfmt fmt || { skip "formatting: rustfmt is not installed and can't be"; exit 0; }
cargo fmt --all --check
if [ -f fuzz/Cargo.toml ]; then cargo fmt --manifest-path fuzz/Cargo.toml --check; fi
say "formatting is right"
