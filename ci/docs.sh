#!/usr/bin/env bash
# Documentation builds without a warning: no broken link, no undocumented public item.
source "$(dirname "$0")/env.sh"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps
say "documentation is in target/doc"
