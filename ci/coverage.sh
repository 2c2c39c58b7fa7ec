#!/usr/bin/env bash
# Which lines of the oracle and of the judge no test runs: docs/coverage.md. Takes half an hour on 2 cores, so CI does not run it.
# Tests of the self-test and of the probe are left out: they would take hours with counters in every line.
source "$(dirname "$0")/env.sh"
component llvm-tools llvm-cov || cargo install --locked cargo-llvm-cov
rustup component add llvm-tools >/dev/null 2>&1 || say "llvm-tools could not be installed by rustup; cargo-llvm-cov says what it needs"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/coverage" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false
eval "$(cargo llvm-cov show-env --sh)"
# One file for many processes: the tests of the command line start thousands.
export LLVM_PROFILE_FILE="$CARGO_TARGET_DIR/coverage-%8m.profraw"
cargo llvm-cov clean --workspace
failed=""
for package in sparse-types sparse-oracle sparse-conformance-core sparse-golden sparse-fuzz-targets sparse-fuzz-judge-targets; do
  cargo test --locked --no-fail-fast -p "$package" || failed="$failed $package"
done
cargo test --locked --no-fail-fast -p sparse-conformance --lib --bins --test commands --test judging --test remote --test reports ||
  failed="$failed sparse-conformance"
if [ -n "$failed" ]; then say "tests failed, and what they would have run may be missing:$failed"; fi
cargo llvm-cov report --json --output-path "$CARGO_TARGET_DIR/coverage.json"
python3 ci/coverage.py "$CARGO_TARGET_DIR/coverage.json" docs/coverage.md
