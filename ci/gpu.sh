#!/usr/bin/env bash
# The GPU's kernels under compute-sanitizer, on a machine that has a GPU and CUDA's tools: the quick tier under each tool.
#
#   ci/gpu.sh [memcheck] [initcheck] [synccheck] [racecheck]      without arguments, all four
#
# PROGRAM: a `conformance` (from the repository's root) to use instead of building one; Rust isn't needed then. SHARDS: processes side by
# side, 8 unless told. BACKENDS: comma-separated, instead of all of the GPU's.
# One thread a process (-j 1): with several, racecheck loses track of launches, counts that as a hazard, or hangs.
[ -z "${PROGRAM:-}" ] || export RUSTUP_TOOLCHAIN="${RUSTUP_TOOLCHAIN:-none}" # env.sh then looks for no compiler
source "$(dirname "$0")/env.sh"
tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck initcheck synccheck racecheck)
command -v compute-sanitizer >/dev/null || { skip "compute-sanitizer is not installed: it comes with CUDA's toolkit"; exit 0; }
program="${PROGRAM:-}"
if [ -z "$program" ]; then
  cargo build --locked --release -p sparse-conformance
  program="${CARGO_TARGET_DIR:-target}/release/conformance"
fi
backends="${BACKENDS:-$("$program" list backends | grep -oE '^cuda[a-z0-9-]*' | paste -sd, || true)}"
[ -n "$backends" ] || { skip "no GPU: conformance list backends names none"; exit 0; }
shards="${SHARDS:-8}"
logs="$(mktemp -d)"
trap 'rm -rf "$logs"' EXIT

# shard TOOL I: prints what it counted; fails on a finding of either.
shard() {
  local log="$logs/$1.$2"
  compute-sanitizer --tool "$1" --error-exitcode 9 "$program" run --backend "$backends" --tier quick --no-shrink -j 1 \
    --shard "$2/$shards" --report "$logs/report.$1.$2" >"$log" 2>&1 || { tail -n 60 "$log"; return 1; }
  # No exit status tells of a sanitizer that lost track of a launch.
  ! grep -a -A 5 'Internal Sanitizer Error' "$log" || return 1
}
for tool in "${tools[@]}"; do
  since=$SECONDS pids=()
  for i in $(seq "$shards"); do shard "$tool" "$i" & pids+=($!); done
  failed=
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  [ -z "$failed" ] || { say "$tool: found something, or did not run"; exit 1; }
  awk -v tool="$tool" -v took=$((SECONDS - since)) '/^clean: / { gsub(",", "", $2); n += $2 }
    END { print "ci: " tool ": " n + 0 " cases run, no finding; " took " s"; exit n == 0 }' "$logs/$tool".*
done
