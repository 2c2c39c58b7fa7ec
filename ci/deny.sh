#!/usr/bin/env bash
# Licences, sources and duplicates of dependencies, as deny.toml says.
#   ci/deny.sh               licences, bans, sources: needs no network
#   ci/deny.sh --install     the same, installing cargo-deny where it is missing
#   ci/deny.sh --advisories  also the RustSec database, which is downloaded
source "$(dirname "$0")/env.sh"
checks=(bans licenses sources)
install=
for argument in "$@"; do
  case "$argument" in
    --install) install=yes ;;
    --advisories) checks+=(advisories) ;;
    *) say "unknown argument $argument"; exit 2 ;;
  esac
done
if ! command -v cargo-deny >/dev/null && [ -n "$install" ]; then cargo install cargo-deny --locked; fi
command -v cargo-deny >/dev/null || { skip "dependencies: cargo-deny is not installed (ci/deny.sh --install)"; exit 0; }
cargo deny --locked check "${checks[@]}"
