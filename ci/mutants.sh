#!/usr/bin/env bash
# Mutation testing of what judges: cargo-mutants changes one expression or function at a time in a copy of the tree, and the tests
# of that part must fail. Score and survivors go to docs/mutants.json.
#
#   ci/mutants.sh [--minutes N] [--shard K/N] [--only FILE:LINE] [--list] [PART...]      parts: judge bound exact verdict arithmetic runner
#
# --only takes the mutants of a line, to see whether a new test kills a survivor; the score is left as it is.
# Without parts, all of them; without --minutes, until done (days on two cores: take a shard). A mutant that the compiler refuses does
# not count. Nothing in the tree is changed: mutants are made in a copy.
source "$(dirname "$0")/env.sh"

minutes="" shard="" only="" list="" parts=()
while [ $# -gt 0 ]; do
  case "$1" in
    --minutes) minutes="$2"; shift 2 ;;
    --shard) shard="$2"; shift 2 ;;
    --only) only="$2"; shift 2 ;;
    --list) list=1; shift ;;
    -*) say "unknown option $1"; exit 2 ;;
    *) parts+=("$1"); shift ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(judge bound exact verdict arithmetic runner)

if ! cargo mutants --version >/dev/null 2>&1; then
  say "installing cargo-mutants"
  cargo install --locked cargo-mutants
fi

export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=1

# PART -> package, files, the packages whose tests run if not its own alone, the binaries of tests that are built and must notice, what
# of them is left out, and whether the compiler optimises: compiling is most of what a mutant costs, but for the exact numbers, whose
# tests take minutes without.
describe() {
  level=0 tested=()
  case "$1" in
    judge) package=sparse-oracle; files=(oracle/src/judge/*.rs); binaries=(--test judge --test hardware_bound); left_out=(laws_ semantics_clauses) ;;
    bound) package=sparse-oracle; files=(oracle/src/bound/*.rs oracle/src/model/admissible.rs); binaries=(--lib --test judge --test hardware_bound); left_out=(laws_ semantics_clauses) ;;
    exact) package=sparse-oracle; files=(oracle/src/exact/*.rs oracle/src/exact/dyadic/*.rs); binaries=(--test arithmetic); left_out=(model_ scalar_); level=1 ;;
    verdict) package=sparse-types; tested=(sparse-types sparse-oracle); files=(oracle/types/src/verdict.rs); binaries=(--lib --test judge); left_out=(laws_ semantics_clauses) ;;
    arithmetic) package=sparse-types; tested=(sparse-types sparse-oracle); files=(oracle/types/src/arithmetic/*.rs); binaries=(--lib --test judge --test hardware_bound); left_out=(laws_ semantics_clauses) ;;
    runner) package=sparse-conformance-core; tested=(sparse-conformance-core sparse-conformance); files=(conformance/core/src/runner/*.rs conformance/core/src/{record,degenerate,execute}.rs); binaries=(--lib --test judging --test selftest); left_out=(coverage selftest_catalogue selftest_score) ;;
    *) say "unknown part $1: judge bound exact verdict arithmetic runner"; exit 2 ;;
  esac
}

out="target/mutants"
mkdir -p "$out"
# What others wrote is compiled once for all parts, though each works on a copy of the tree.
export CARGO_TARGET_DIR="$PWD/$out/build"
deadline=$((SECONDS + ${minutes:-100000} * 60))
for part in "${parts[@]}"; do
  describe "$part"
  export CARGO_PROFILE_DEV_OPT_LEVEL=$level CARGO_PROFILE_TEST_OPT_LEVEL=$level
  args=(--package "$package" --baseline skip --timeout 300 --no-times --colors never --output "$out/$part")
  # As arguments of cargo, so that nothing else is built either.
  for word in "${binaries[@]}"; do args+=("--cargo-arg=$word"); done
  for name in "${tested[@]}"; do args+=(--test-package "$name"); done
  skips=()
  for word in "${left_out[@]}"; do skips+=(--skip "$word"); done
  # Deleted fields of a struct pass --re whatever it says, so the file is named as well.
  if [ -n "$only" ]; then files=("${only%:*}"); args+=(--re ":${only##*:}:"); fi
  for file in "${files[@]}"; do args+=(--file "$file"); done
  [ -z "$shard" ] || args+=(--shard "$shard" --sharding round-robin)
  if [ -n "$list" ]; then cargo mutants --list "${args[@]}"; continue; fi
  left=$((deadline - SECONDS))
  [ "$left" -gt 0 ] || { say "no time left for $part"; continue; }
  mkdir -p "$out/$part"
  # Exit codes 2 and 3 say that mutants survived or timed out; interrupted by the budget, what was done counts.
  timeout --signal=INT "$left" cargo mutants "${args[@]}" -- -- "${skips[@]}" || say "$part: exit code $?"
done
[ -z "$list" ] || exit 0
if [ -n "$only" ]; then
  for part in "${parts[@]}"; do
    folder="$out/$part/mutants.out"
    say "$part: $(cat "$folder"/{caught,timeout}.txt | wc -l) killed, $(wc -l <"$folder/missed.txt") survive"
    cat "$folder/missed.txt"
  done
  exit 0
fi

python3 - "$out" "${shard:-1/1}" "${parts[@]}" <<'PY'
import json, pathlib, sys
out, shard, parts = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
target = pathlib.Path("docs/mutants.json")
score = json.loads(target.read_text()) if target.exists() else {}
for part in parts:
    folder = out / part / "mutants.out"
    lines = lambda name: [l for l in (folder / name).read_text().splitlines() if l] if (folder / name).exists() else []
    caught, timeout, missed = lines("caught.txt"), lines("timeout.txt"), lines("missed.txt")
    if not caught and not timeout and not missed:
        continue
    total = json.loads((folder / "mutants.json").read_text()) if (folder / "mutants.json").exists() else []
    explained = {s["mutant"]: s["why"] for s in score.get(part, {}).get("survivors", []) if s.get("why")}
    score[part] = {
        "shard": shard,
        "mutants": len(total),
        "judged": len(caught) + len(timeout) + len(missed),
        "killed": len(caught) + len(timeout),
        "unviable": len(lines("unviable.txt")),
        "survivors": [{"mutant": m, "why": explained.get(m, "")} for m in missed],
    }
    print(f"ci: {part}: {score[part]['killed']} of {score[part]['judged']} killed")
target.write_text(json.dumps(score, indent=1) + "\n")
PY
