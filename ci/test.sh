#!/usr/bin/env bash
# All tests, documentation tests among them: the command of README. Its output is shown as it is.
source "$(dirname "$0")/env.sh"
in_readme "cargo test --workspace"
# The Python that ci/python.sh installed, where it did: tests of the SDK need NumPy.
venv="${CARGO_TARGET_DIR:-$PWD/target}/python-venv/bin/python"
if [ -z "${PYTHON:-}" ] && [ -x "$venv" ]; then export PYTHON="$venv"; fi
cargo test --workspace
