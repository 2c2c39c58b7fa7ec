#!/usr/bin/env bash
# Fuzzes for hours, and says what came of it.
#
#   ci/fuzz-long.sh HOURS [TARGET..]                        builds the targets (all of them), and gives them so many CPU-hours together
#   ci/fuzz-long.sh --build FOLDER [TARGET..]               only builds: binaries, seeds and dictionaries, for a machine without cargo
#   FUZZ_BINARIES=FOLDER ci/fuzz-long.sh HOURS [TARGET..]   runs what was built so; needs bash and coreutils
#
# Targets take turns, each on all cores for its share of the time (HOURS may be 0.5). One that finds something goes on from its corpus,
# and holds up no other; the exit status is 1 then. FUZZ_OUT (./fuzz-long, or beside the binaries) is where it all goes:
#
#   fuzz-long.tsv      a line per target
#   findings/TARGET    inputs of findings, what a run began with not among them
#   corpus/TARGET      what was found, merged and minimised; the next run goes on from it
#   log/TARGET         what each process said
set -euo pipefail

# Restarts of one process of a target after findings; then it has found enough.
RESTARTS=20

say() { printf 'fuzz-long: %s\n' "$*"; }
usage() {
  say "$*; usage: ci/fuzz-long.sh HOURS [TARGET..], or ci/fuzz-long.sh --build FOLDER [TARGET..]" >&2
  exit 2
}

# build FOLDER [TARGET..]
build() {
  local folder="$1" named=" ${*:2} " root package target host line
  mkdir -p "$folder"
  folder="$(realpath "$folder")"
  # shellcheck source=ci/env.sh
  source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
  command -v cargo-fuzz >/dev/null || usage "cargo-fuzz is not installed (cargo install cargo-fuzz)"
  # fuzz/rustc tells by the folder which crates a target is about.
  unset CARGO_TARGET_DIR
  root="$PWD"
  while read -r line; do
    case "$line" in "host: "*) host="${line#host: }" ;; esac
  done < <(rustc -vV)
  cargo run --quiet --locked -p sparse-fuzz-targets --example fuzz_corpus -- "$folder"
  cargo run --quiet --locked -p sparse-fuzz-judge-targets --example judge_corpus -- "$folder"
  for package in fuzz fuzz/judge; do
    for target in $(cargo fuzz list --fuzz-dir "$root/$package"); do
      case "$named" in "  " | *" $target "*) ;; *) continue ;; esac
      # Built one after the other, all of them share what is compiled once (fuzz/rustc).
      RUSTFLAGS="${RUSTFLAGS:-} --cfg fuzz_all" cargo fuzz build --fuzz-dir "$root/$package" "$target"
      cp "$root/$package/target/$host/release/$target" "$folder/$target"
      # Lines of code take most of 130 MB, and a machine without cargo has no use for them.
      if command -v strip >/dev/null; then strip -g "$folder/$target"; fi
      if [ -d "$root/$package/corpus/$target" ]; then cp -n "$root/$package/corpus/$target"/* "$folder/corpus/$target/" || true; fi
    done
  done
}

# sum_of FILE..: adds what processes say at their ends to `inputs`, `accepted` and `counted`.
sum_of() {
  local file line ran took
  for file in "$@"; do
    ran=0 took=0
    while read -r line; do
      if [[ "$line" =~ ^stat::number_of_executed_units:\ *([0-9]+) ]]; then inputs=$((inputs + BASH_REMATCH[1])); fi
      if [[ "$line" =~ ^fuzz:\ .*\ accepted\ ([0-9]+)\ of\ ([0-9]+)\ inputs ]]; then took="${BASH_REMATCH[1]}" ran="${BASH_REMATCH[2]}"; fi
    done <"$file"
    accepted=$((accepted + took)) counted=$((counted + ran))
  done
}

# milliseconds FILE..: adds the processor time in them ("1.234 0.567" a line) to `spent`.
milliseconds() {
  local user system
  while read -r user system; do
    if [[ "$user $system" =~ ^[0-9]+\.[0-9]{3}\ [0-9]+\.[0-9]{3}$ ]]; then
      spent=$((spent + 10#${user/./} + 10#${system/./}))
    fi
  done < <(cat "$@")
}

# worker TARGET NUMBER SECONDS: one process after the other until the time is over.
worker() {
  local target="$1" number="$2" end=$((SECONDS + $3)) turn left
  local TIMEFORMAT='%3U %3S'
  for ((turn = 0; turn <= RESTARTS; turn++)); do
    left=$((end - SECONDS))
    if [ "$left" -le 0 ]; then return; fi
    local log="$out/log/$target/$number-$turn"
    local options=(-max_total_time="$left" -timeout=60 -reload=1 -print_final_stats=1 -seed="$((RANDOM * 32768 + RANDOM + 1))")
    options+=(-artifact_prefix="$out/log/$target/findings/")
    if [ -f "$binaries/dict/$target.dict" ]; then options+=("-dict=$binaries/dict/$target.dict"); fi
    # New inputs go to the first folder, which all processes read again now and then; the seeds are only read.
    { time "$binaries/$target" "$out/corpus/$target" "$seeds" "${options[@]}" >"$log.log" 2>&1; } 2>"$log.time" && return
  done
}

# fuzz TARGET SECONDS: on all cores.
fuzz() {
  local target="$1" seconds="$2" number seeds="$binaries/corpus/$1"
  # What this run finds lies apart from the findings of earlier runs until it is counted: the same input has the same name.
  rm -rf "$out/log/$target"
  mkdir -p "$seeds" "$out/corpus/$target" "$out/findings/$target" "$out/log/$target/findings"
  for ((number = 0; number < cores; number++)); do
    worker "$target" "$number" "$seconds" &
    workers+=($!)
  done
  # A process that failed to the end has left its log, and what it found; the other targets have their turn all the same.
  wait "${workers[@]}" || true
  workers=()
}

# account TARGET: minimises its corpus and writes its line of the table, on one core, while the next target has its turn.
account() {
  local target="$1" file new="$out/log/$1/findings"
  local spent=0 inputs=0 accepted=0 counted=0 found=0 size=0 cov=- ft=- share=- speed=- line
  sum_of "$out/log/$target"/*.log
  milliseconds "$out/log/$target"/*.time
  minimise "$target"
  for file in "$out/corpus/$target"/*; do if [ -f "$file" ]; then size=$((size + 1)); fi; done
  "$binaries/$target" "$out/corpus/$target" -runs=0 >"$out/log/$target/coverage" 2>&1 || true
  while read -r line; do
    if [[ "$line" =~ INITED\ +cov:\ ([0-9]+)\ ft:\ ([0-9]+) ]]; then cov="${BASH_REMATCH[1]}" ft="${BASH_REMATCH[2]}"; fi
  done <"$out/log/$target/coverage"
  # An input that is merely slow is none.
  for file in "$new"/{crash,timeout,oom,leak}-*; do if [ -f "$file" ]; then found=$((found + 1)); fi; done
  for file in "$new"/*; do if [ -f "$file" ]; then mv "$file" "$out/findings/$target/"; fi; done
  if [ "$counted" -gt 0 ]; then share="$((accepted * 100 / counted))"; fi
  if [ "$spent" -gt 0 ]; then speed="$((inputs * 1000 / spent))"; fi
  # 3,600,000 ms an hour, with four digits after the point.
  printf '%s\t%d.%04d\t%d\t%s\t%s\t%s\t%d\t%s\t%d\n' "$target" "$((spent / 3600000))" "$((spent / 360 % 10000))" "$inputs" "$speed" \
    "$cov" "$ft" "$size" "$share" "$found" >"$out/log/$target/line"
  say "$target: $((spent / 1000)) CPU-seconds, $inputs inputs, $speed a second, cov $cov, ft $ft, corpus $size, accepted $share %, findings $found"
  if [ "$inputs" -eq 0 ]; then
    say "$target ran no input: see $out/log/$target"
    failed=1
  fi
  if [ "$found" -gt 0 ]; then failed=1; fi
  return "$failed"
}

# minimise TARGET: of corpus and seeds together, the fewest inputs that cover the same.
minimise() {
  local old="$out/corpus/$1" new="$out/corpus/.$1.new"
  rm -rf "$new"
  mkdir -p "$new"
  if "$binaries/$1" -merge=1 -timeout=60 -artifact_prefix="$out/log/$1/findings/" "$new" "$old" "$binaries/corpus/$1" >"$out/log/$1/merge" 2>&1; then
    rm -rf "$old"
    mv "$new" "$old"
  else
    rm -rf "$new"
    say "$1: the corpus could not be minimised: see $out/log/$1/merge"
    failed=1
  fi
}

if [ "$#" -eq 0 ]; then usage "no HOURS"; fi
if [ "$1" = --build ]; then
  if [ "$#" -lt 2 ]; then usage "no FOLDER"; fi
  build "${@:2}"
  say "built; elsewhere: FUZZ_BINARIES=$2 ci/fuzz-long.sh HOURS"
  exit 0
fi
[[ "$1" =~ ^([0-9]{1,6})(\.([0-9]{1,3}))?$ ]] || usage "HOURS is $1, and must be a number such as 8 or 0.5"
fraction="${BASH_REMATCH[3]:-0}000"
total=$((10#${BASH_REMATCH[1]} * 3600 + 10#${fraction:0:3} * 36 / 10))
shift
if [ -n "${FUZZ_BINARIES:-}" ]; then
  binaries="$(realpath "$FUZZ_BINARIES")"
  out="$(realpath -m "${FUZZ_OUT:-$binaries/fuzz-long}")"
else
  out="$(realpath -m "${FUZZ_OUT:-fuzz-long}")"
  binaries="$out/binaries"
  # In a process of its own: it changes folder and compiler.
  (build "$binaries" "$@")
fi
mkdir -p "$out"
table="$out/fuzz-long.tsv" failed=0 cores="$(nproc)"
if [ "$#" -eq 0 ]; then
  for file in "$binaries"/*; do
    if [ -f "$file" ] && [ -x "$file" ]; then set -- "$@" "${file##*/}"; fi
  done
fi
if [ "$#" -eq 0 ]; then usage "no targets in $binaries"; fi
for target in "$@"; do [ -x "$binaries/$target" ] || usage "there is no target $target in $binaries"; done
seconds=$((total / $# / cores))
if [ "$seconds" -eq 0 ]; then seconds=1; fi
say "$# targets, each $seconds s on $cores cores"
printf 'target\tCPU-hours\tinputs\tinputs/s\tcov\tft\tcorpus\taccepted %%\tfindings\n' >"$table"
workers=() accounts=()
for target in "$@"; do
  fuzz "$target" "$seconds"
  account "$target" &
  accounts+=($!)
done
for account in "${accounts[@]}"; do wait "$account" || failed=1; done
for target in "$@"; do if [ -f "$out/log/$target/line" ]; then cat "$out/log/$target/line" >>"$table"; fi; done
say "the table is $table"
if [ "$failed" -ne 0 ]; then say "something was found: see $out/findings" >&2; fi
exit "$failed"
