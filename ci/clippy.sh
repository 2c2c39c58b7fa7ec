#!/usr/bin/env bash
# Lints of the workspace, every target, warnings denied; the oracle without features too, as those who only depend on it build it; and
# no arm that takes a new variant of the enums that grow (ci/wildcards.py).
source "$(dirname "$0")/env.sh"
if command -v python3 >/dev/null; then
  python3 ci/wildcards.py
else
  skip "wildcard arms: no python3"
fi
component clippy clippy || { skip "lints: clippy is not installed and can't be"; exit 0; }
cargo clippy --locked --workspace --all-targets -- -D warnings
cargo clippy --locked -p sparse-oracle -p sparse-types -- -D warnings
say "no lint fires"
