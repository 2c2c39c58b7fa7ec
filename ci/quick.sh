#!/usr/bin/env bash
# The main command of README: the quick tier over all built-in backends, and the files that it must leave; GPU kernels without a GPU.
source "$(dirname "$0")/env.sh"
in_readme "cargo run --release -p sparse-conformance -- run --report report"
rm -rf report
# A run that was worth too little says so in its report; what fails here is a finding.
conformance_for quick
"$conformance" run --report report --allow-thin
for name in report.json report.junit.xml report.md report.html; do
  [ -s "report/$name" ] || { say "report/$name is missing or empty"; exit 1; }
done
# With all backends of x86-64 it has a quarter of a million records, and no CI keeps files that grow unseen.
[ "$(stat -c %s report/report.json)" -le 10000000 ] || { say "report/report.json has more than 10 MB"; exit 1; }
say "report: $(du -h report/* | tr '\t\n' '  ')"
# Our kernels for GPUs as a CPU plays them: a part of their quick tier.
"$conformance" run --backend ptx-sm80,ptx-sm89,ptx-sm90 --shard 1/16 --allow-thin
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat report/report.md >>"$GITHUB_STEP_SUMMARY"; fi
