#!/usr/bin/env bash
# The full tier over all built-in backends: what nightly runs. Arguments are passed on to `run`.
source "$(dirname "$0")/env.sh"
rm -rf report
cargo run --release --locked -p sparse-conformance -- run --tier full --report report --allow-thin "$@"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat report/report.md >>"$GITHUB_STEP_SUMMARY"; fi
