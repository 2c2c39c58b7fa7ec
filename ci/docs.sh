#!/usr/bin/env bash
# Documentation builds without a warning: no broken link, no undocumented public item, those behind features included.
source "$(dirname "$0")/env.sh"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --features sparse-oracle/strategies,sparse-oracle/approx
say "documentation is in target/doc"
