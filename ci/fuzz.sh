#!/usr/bin/env bash
# Every fuzz target is built, and runs from its seed corpus for a few seconds without a finding and without idling; as many at once as
# there are cores, since each is a process with one thread.
#   ci/fuzz.sh                     all targets of fuzz, 5 seconds each
#   ci/fuzz.sh SECONDS [TARGET..]  some targets, so many seconds each; of fuzz/judge too, which take minutes to build
source "$(dirname "$0")/env.sh"
in_readme "cargo fuzz run bitmap_decode"
seconds="${1:-5}"
shift || true
if ! command -v c++ >/dev/null; then
  skip "fuzz targets: no C++ compiler, which libFuzzer is built with"
  exit 0
fi
if ! command -v cargo-fuzz >/dev/null; then
  say "installing cargo-fuzz"
  # Outside the repository, so that its toolchain file and .cargo/config.toml play no part. Not optimised: it starts compilers and targets.
  (cd / && cargo install cargo-fuzz --debug --locked --version '^0.13') || {
    skip "fuzz targets: cargo-fuzz is not installed and can't be (cargo install cargo-fuzz)"
    exit 0
  }
fi
root="$PWD"
# Seeds and dictionaries. In CI the tests' build has what writes them; elsewhere it is compiled for this alone, which takes a second of it:
# not optimised.
if [ "${CI:-}" = true ]; then
  conformance_for quick
  "$(dirname "$conformance")/examples/fuzz_corpus"
else
  unoptimised=()
  for crate in sparse-types sparse-oracle sparse-ptx sparse-plugin sparse-kernels sparse-conformance-core sparse-fuzz-targets; do
    unoptimised+=(--config "profile.dev.package.$crate.opt-level=0")
  done
  cargo run --quiet --locked "${unoptimised[@]}" -p sparse-fuzz-targets --example fuzz_corpus
fi
# Some seconds a target: compiling is what this costs, so CI compiles quickly, on all cores. The lines of code that cargo-fuzz asks for are
# for profilers; a finding says where it is without them.
profile="$PWD" quickly=() flags="${RUSTFLAGS:-}"
# What several targets share is compiled once (fuzz/rustc).
if [ "$#" -ne 1 ]; then flags+=" --cfg fuzz_all"; fi
if [ "${CI:-}" = true ]; then
  profile="$PWD/ci/fuzz-profile" quickly=(--no-trace-compares "--codegen-units=$CARGO_PROFILE_DEV_CODEGEN_UNITS") flags+=" -Cdebuginfo=0"
fi
# cargo_fuzz PACKAGE COMMAND ARGUMENTS..
cargo_fuzz() {
  local package="$1" command="$2" options=("${quickly[@]}")
  shift 2
  if [ "$command" = list ]; then options=(); fi
  (cd "$profile" && RUSTFLAGS="$flags" cargo fuzz "$command" --fuzz-dir "$root/$package" "${options[@]}" "$@")
}
# The package of a target.
package_of() { if [ -f "fuzz/judge/fuzz_targets/$1.rs" ]; then echo fuzz/judge; else echo fuzz; fi; }
if [ "$#" -eq 0 ]; then
  targets="$(cargo_fuzz fuzz list)"
  # shellcheck disable=SC2086
  set -- $targets
  cargo_fuzz fuzz build
else
  for target in "$@"; do
    if [ "$(package_of "$target")" = fuzz/judge ] && [ ! -d "fuzz/judge/corpus/$target" ]; then
      cargo run --quiet --locked -p sparse-fuzz-judge-targets --example judge_corpus
    fi
    cargo_fuzz "$(package_of "$target")" build "$target"
  done
fi
if git rev-parse --git-dir >/dev/null 2>&1 && ! git diff --quiet -- fuzz/Cargo.lock fuzz/judge/Cargo.lock; then
  say "fuzz/Cargo.lock or fuzz/judge/Cargo.lock is out of date: commit what the build has written"
  exit 1
fi
found="$(mktemp -d)"
trap 'rm -rf "$found"' EXIT
# run_target TARGET OPTIONS..: says what it found, if anything.
run_target() {
  local target="$1" package options=(-timeout=60 -print_final_stats=1)
  shift
  package="$(package_of "$target")"
  if [ -f "$package/dict/$target.dict" ]; then options+=("-dict=$root/$package/dict/$target.dict"); fi
  mkdir -p "$found/$target"
  # New inputs go to the first folder, the seeds are only read.
  cargo_fuzz "$package" run "$target" "$found/$target" "$root/$package/corpus/$target" -- "${options[@]}" "$@" >"$found/$target.log" 2>&1 && return
  tail -n 100 "$found/$target.log"
  say "$target found something; the input is in $package/artifacts/$target"
  return 1
}
# judge_target TARGET: runs it, and fails if it found something or idles.
judge_target() {
  local target="$1" log="$found/$1.log" counts speed share floor
  run_target "$target" "-max_total_time=$seconds" || return 1
  # fuzz: TARGET accepted A of N inputs, P %, wanted F %
  counts="$(grep "^fuzz: $target accepted" "$log" | tail -n 1)" || true
  if [ -z "$counts" ]; then
    # A slow machine: as many inputs as the first count needs, however long they take.
    run_target "$target" -runs=1024 || return 1
    counts="$(grep "^fuzz: $target accepted" "$log" | tail -n 1)" || true
  fi
  speed="$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")"
  if [ -z "$counts" ]; then
    tail -n 30 "$log"
    say "$target does not say how many inputs it accepted"
    return 1
  fi
  share="$(printf '%s' "$counts" | sed 's/.*inputs, \([0-9]*\) %.*/\1/')"
  floor="$(printf '%s' "$counts" | sed 's/.*wanted \([0-9]*\) %.*/\1/')"
  say "$counts; $speed inputs/s"
  if [ "$share" -lt "$floor" ]; then
    say "$target idles: it refuses too many of its inputs"
    return 1
  fi
}
# What a target says comes in one piece, when it has ended.
one_piece() {
  local status=0
  judge_target "$1" >"$found/$1.said" 2>&1 || status=1
  cat "$found/$1.said"
  return "$status"
}
cores="$(nproc 2>/dev/null || echo 2)" running=0 failed=0
for target in "$@"; do
  if [ "$running" -ge "$cores" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
  one_piece "$target" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
if [ "$failed" -ne 0 ]; then exit 1; fi
say "no finding"
