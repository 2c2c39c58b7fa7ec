#!/usr/bin/env bash
# Lints of the workspace, every target, warnings denied; and no wildcard arm on the enums that grow (ci/wildcards.py).
source "$(dirname "$0")/env.sh"
component clippy clippy || { skip "lints: clippy is not installed and can't be"; exit 0; }
if command -v python3 >/dev/null; then
  cargo clippy --locked --workspace --all-targets --message-format=json -- \
    -D warnings --force-warn clippy::wildcard_enum_match_arm 2>&1 | python3 ci/wildcards.py
else
  skip "wildcard arms: no python3"
  cargo clippy --locked --workspace --all-targets -- -D warnings
fi
say "no lint fires"
