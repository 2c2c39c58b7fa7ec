#!/usr/bin/env bash
# Memory errors in the kernels for CPUs, looked for by tools that see every access:
#
#   ci/sanitize.sh [asan] [valgrind] [miri]      without arguments, all three
#
# asan      AddressSanitizer: the kernels compiled with it, all engines of this machine (AVX-512 included)
# valgrind  memcheck: portable and AVX2 kernels (it does not know AVX-512, so that dispatch at run time leaves it out)
# miri      the interpreter of Rust's rules: portable kernels, where that component is installed
#
# What ran is counted, what was left out and what a tool is missing for is said. Some minutes each; not a part of .ci/run.
source "$(dirname "$0")/env.sh"
target=x86_64-unknown-linux-gnu
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(asan valgrind miri)
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  skip "sanitizers: written for Linux on x86-64, this is $(uname -sm)"
  exit 0
fi
log="$(mktemp)"
trap 'rm -f "$log"' EXIT

# counted NAME COVERED COMMAND..: the command's tests pass and are not none.
counted() {
  local name="$1" covered="$2" since=$SECONDS
  shift 2
  if ! "$@" >"$log" 2>&1; then
    grep -aE -A 40 'ERROR|== |panicked|^error' "$log" | head -n 120 || tail -n 60 "$log"
    say "$name: found something, or did not build"
    exit 1
  fi
  grep -aE '^SKIPPED' "$log" | sort -u || true
  say "$name covers $covered"
  awk -v what="$name" -v took=$((SECONDS - since)) '/^test result: ok/ { n += $4; out += $12 }
    END { print "ci: " what ": " n + 0 " tests, no finding; " out + 0 " filtered out; " took " s"; exit n == 0 }' "$log"
}

# Not the guard pages: they have an allocator of their own, which the sanitizer's would replace. Not what models, scans sources or
# times: no kernel runs there. Kernels for GPUs have ci/gpu.sh.
untouched=(--skip boundary --skip schedule_loops --skip x86_instructions)

asan() {
  # fuzz/rustc lets this flag through on the pinned compiler, which has the sanitizers.
  export RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes" ASAN_OPTIONS=detect_leaks=1
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/asan"
  counted "AddressSanitizer" "every kernel of this CPU: products, declared bits, refusals, moves, SpGEMM, SDDMM, threads, addresses" \
    cargo test --locked --target "$target" --no-default-features -p sparse-kernels --test tasks --test x86 -- "${untouched[@]}"
}

valgrind_part() {
  command -v valgrind >/dev/null || { [ "${CI:-}" = true ] && apt-get install -y -qq valgrind >/dev/null 2>&1; } || true
  command -v valgrind >/dev/null || { skip "valgrind is not installed: apt-get install valgrind"; return 0; }
  # The runner gets each test binary; one thread at a time, as memcheck runs them anyway.
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=9 --leak-check=no"
  # C beyond the caches (x86_memory) is AddressSanitizer's.
  counted "valgrind" "portable and AVX2 kernels: products, declared bits, refusals, moves, SpGEMM, SDDMM, threads" \
    cargo test --locked -p sparse-kernels --test tasks --test x86 -- --test-threads 1 --skip x86_memory "${untouched[@]}"
}

miri() {
  if ! cargo miri --version >/dev/null 2>&1; then
    skip "Miri is not installed: rustup +nightly component add miri, then RUSTUP_TOOLCHAIN=nightly ci/sanitize.sh miri"
    return 0
  fi
  export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/miri" MIRIFLAGS=-Zmiri-disable-isolation
  RUSTC_WRAPPER='' counted "Miri" "portable kernels: products" \
    cargo miri test -p sparse-kernels --no-default-features --test tasks -- products
}

for part in "${parts[@]}"; do
  case "$part" in
    asan) (asan) ;;
    valgrind) (valgrind_part) ;;
    miri) (miri) ;;
    *) say "unknown part $part: asan valgrind miri"; exit 2 ;;
  esac
done
