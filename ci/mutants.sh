#!/usr/bin/env bash
# Mutation testing of what judges: cargo-mutants lists changes of one expression or function; `ci/mutate` puts a random sample of them
# into a copy of the tree, compiled once, where a variable chooses one, and runs the tests that reach it. The tests of that part must
# fail. Score and survivors go to docs/mutants.json.
#
#   ci/mutants.sh [--sample N] [--seed S] [--minutes N] [--only FILE:LINE] [--again] [--list] [PART...]
#   parts: judge bound exact verdict arithmetic runner
#
# Without parts, all of them; without --sample, all mutants; --minutes is for the judging. --only takes the mutants of a line and leaves
# the score as it is; --again takes the survivors that nobody has explained, to see whether new tests kill them. --build stops before
# the judging, --judge starts there. What the compiler refuses does not count, nor what it evaluates itself (constants).
source "$(dirname "$0")/env.sh"

if ! cargo mutants --version >/dev/null 2>&1; then
  say "installing cargo-mutants"
  cargo install --locked cargo-mutants
fi
CARGO_TARGET_DIR=target/mutants/tool cargo build --quiet --locked --manifest-path ci/mutate/Cargo.toml
exec target/mutants/tool/debug/mutate "$@"
