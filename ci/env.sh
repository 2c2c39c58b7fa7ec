# Sourced by every script here: strict mode, the repository root, and the compiler.
#
# The compiler is the one that rust-toolchain.toml pins. Where that exact name is not installed but the default
# toolchain is the same minor version, the default is used instead of a download; failing both, rustup installs it.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || export PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
export CARGO_TERM_PROGRESS_WHEN="${CARGO_TERM_PROGRESS_WHEN:-never}"
export CARGO_NET_RETRY="${CARGO_NET_RETRY:-5}"
# A run on a fresh clone compiles each crate once: what incremental builds and debuggers need would only cost time and disk. A crate is
# compiled in as many units as there are cores, since more of them cost time where no core is idle.
if [ "${CI:-}" = true ]; then
  cores="$(nproc 2>/dev/null || echo 2)"
  export CARGO_PROFILE_DEV_CODEGEN_UNITS="${CARGO_PROFILE_DEV_CODEGEN_UNITS:-$((cores < 16 ? cores : 16))}"
  export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}" CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-false}"
  export CARGO_PROFILE_RELEASE_DEBUG="${CARGO_PROFILE_RELEASE_DEBUG:-false}"
  # What judges is one unit, since nothing is inlined from one unit into another: that is a tenth of the time of the tests. On a desk it
  # would be a minute for each change.
  cargo() {
    command cargo --config "profile.dev.package.sparse-oracle.codegen-units=1" \
      --config "profile.dev.package.sparse-conformance-core.codegen-units=1" "$@"
  }
fi

say() { printf '%s\n' "ci: $*"; }

# What was not checked must be seen: one line that starts with SKIPPED, which .ci/run repeats at its end.
skip() {
  say "SKIPPED: $*"
  if [ -n "${CI_SKIPPED:-}" ]; then printf '%s\n' "$*" >>"$CI_SKIPPED"; fi
}

pinned_toolchain() { sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml; }

choose_toolchain() {
  local pinned default found
  pinned="$(pinned_toolchain)"
  if [ -n "${RUSTUP_TOOLCHAIN:-}" ]; then return; fi
  if ! command -v rustup >/dev/null; then
    found="$(rustc --version 2>/dev/null || echo none)"
    case "$found" in
      "rustc ${pinned%.*}."*) return ;;
      *) say "Rust $pinned is needed, found: $found; install it with rustup"; exit 2 ;;
    esac
  fi
  # The name must be listed, because newer rustups would download what `rustup run` does not find.
  if rustup toolchain list | grep -q "^$pinned-" && rustup run "$pinned" rustc --version >/dev/null 2>&1; then
    return
  fi
  default="$(cd / && rustup default 2>/dev/null | cut -d' ' -f1)"
  if [ -n "$default" ] && RUSTUP_TOOLCHAIN="$default" rustc --version | grep -q "^rustc ${pinned%.*}\."; then
    export RUSTUP_TOOLCHAIN="$default"
    say "using the default toolchain $default: $(rustc --version)"
    return
  fi
  say "installing Rust $pinned"
  rustup toolchain install "$pinned" --profile minimal --component rustfmt,clippy
}

# component NAME COMMAND: true if `cargo COMMAND` works, after trying to install NAME.
component() {
  cargo "$2" --version >/dev/null 2>&1 && return 0
  command -v rustup >/dev/null && rustup component add "$1" >/dev/null 2>&1
  cargo "$2" --version >/dev/null 2>&1
}

# README and CI must not drift apart: a command that CI runs for README stands in README, word for word (the quick tier in CI runs
# what the command runs, in the build of conformance_for).
in_readme() {
  grep -qF -- "$1" README.md || { say "README.md does not hold the command: $1"; exit 1; }
}

# conformance_for TIER: sets $conformance, the command line tool, compiled. For a quick tier in CI it is the one of the tests,
# which are compiled anyway; users and the full tier have an optimised one.
conformance_for() {
  local target="${CARGO_TARGET_DIR:-$PWD/target}"
  if [ "$1" = quick ] && [ "${CI:-}" = true ]; then
    cargo test --locked --workspace --no-run
    conformance="$target/debug/conformance"
    say "the quick tier runs the tests' build, optimised little; ci/full.sh runs the release build"
  else
    cargo build --release --locked -p sparse-conformance
    conformance="$target/release/conformance"
  fi
}

# released: compiles the command as users get it and sets $conformance. How all crates are optimised while they are linked as one is said by
# the last one, the program, whose own few lines are here optimised for speed, not for size as its crate.
released() {
  cargo rustc --profile dist --locked -p sparse-conformance --bin conformance -- -C opt-level=3
  conformance="${CARGO_TARGET_DIR:-$PWD/target}/dist/conformance"
}

choose_toolchain
