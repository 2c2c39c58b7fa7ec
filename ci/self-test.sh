#!/usr/bin/env bash
# Does the judge judge? Every seeded bug, schedule and broken comparator in the quick tier: the command of README.
# The scorecard and the tables of docs/self-test.md must be what it writes.
source "$(dirname "$0")/env.sh"
in_readme "cargo run --release -p sparse-conformance -- self-test"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
cargo run --release -p sparse-conformance -- self-test --json "$out/score.json" --markdown "$out/tables.md" | tail -n 12
diff -u conformance/selftest/score.json "$out/score.json" || { say "conformance/selftest/score.json is out of date"; exit 1; }
sed -n '/^<!-- tables -->$/,$p' docs/self-test.md | tail -n +2 | diff -u - "$out/tables.md" || { say "docs/self-test.md is out of date"; exit 1; }
