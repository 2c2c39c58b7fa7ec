#!/usr/bin/env bash
# The fuzz targets compile. They are a workspace of their own and need a nightly compiler.
source "$(dirname "$0")/env.sh"
[ -f fuzz/Cargo.toml ] || { skip "fuzz targets: there is no fuzz/Cargo.toml"; exit 0; }
if ! command -v rustup >/dev/null || ! rustup toolchain list | grep -q '^nightly'; then
  skip "fuzz targets: no nightly toolchain (rustup toolchain install nightly)"
  exit 0
fi
cargo +nightly check --manifest-path fuzz/Cargo.toml --all-targets
say "fuzz targets compile"
