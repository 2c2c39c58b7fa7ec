#!/usr/bin/env bash
# Every fuzz target is built, and runs from its seed corpus for a few seconds without a finding and without idling.
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
  # Outside the repository, so that its toolchain file and wrapper play no part.
  (cd / && cargo install cargo-fuzz --locked --version '^0.13') || {
    skip "fuzz targets: cargo-fuzz is not installed and can't be (cargo install cargo-fuzz)"
    exit 0
  }
fi
root="$PWD"
# Seeds and dictionaries.
cargo run --quiet --locked -p sparse-fuzz-targets --example fuzz_corpus
# Some seconds a target: compiling is what this costs, so CI compiles quickly, on all cores.
profile="$PWD" quickly=()
if [ "${CI:-}" = true ]; then
  profile="$PWD/ci/fuzz-profile" quickly=(--no-trace-compares --codegen-units=16)
fi
# cargo_fuzz PACKAGE COMMAND ARGUMENTS..
cargo_fuzz() {
  local package="$1" command="$2" flags=("${quickly[@]}")
  shift 2
  if [ "$command" = list ]; then flags=(); fi
  (cd "$profile" && cargo fuzz "$command" --fuzz-dir "$root/$package" "${flags[@]}" "$@")
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
for target in "$@"; do
  options=(-timeout=60 -print_final_stats=1)
  package="$(package_of "$target")"
  if [ -f "$package/dict/$target.dict" ]; then options+=("-dict=$root/$package/dict/$target.dict"); fi
  mkdir -p "$found/$target"
  # New inputs go to the first folder, the seeds are only read.
  run_target() {
    cargo_fuzz "$package" run "$target" "$found/$target" "$root/$package/corpus/$target" -- "${options[@]}" "$@" >"$found/log" 2>&1 && return
    tail -n 100 "$found/log"
    say "$target found something; the input is in $package/artifacts/$target"
    exit 1
  }
  run_target "-max_total_time=$seconds"
  # fuzz: TARGET accepted A of N inputs, P %, wanted F %
  counts="$(grep "^fuzz: $target accepted" "$found/log" | tail -n 1)" || true
  if [ -z "$counts" ]; then
    # A slow machine: as many inputs as the first count needs, however long they take.
    run_target -runs=1024
    counts="$(grep "^fuzz: $target accepted" "$found/log" | tail -n 1)" || true
  fi
  speed="$(sed -n 's/^stat::average_exec_per_sec: *//p' "$found/log")"
  if [ -z "$counts" ]; then
    tail -n 30 "$found/log"
    say "$target does not say how many inputs it accepted"
    exit 1
  fi
  share="$(printf '%s' "$counts" | sed 's/.*inputs, \([0-9]*\) %.*/\1/')"
  floor="$(printf '%s' "$counts" | sed 's/.*wanted \([0-9]*\) %.*/\1/')"
  say "$counts; $speed inputs/s"
  if [ "$share" -lt "$floor" ]; then
    say "$target idles: it refuses too many of its inputs"
    exit 1
  fi
done
say "no finding"
