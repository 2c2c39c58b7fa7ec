#!/usr/bin/env bash
# What crates.io would be given can be put together: metadata, versions beside paths, every file that the manifests name. Nothing is
# compiled (`cargo package --workspace` without --no-verify does that) and nothing is ever published from here.
source "$(dirname "$0")/env.sh"
# crates.io takes 10 MB, compressed.
limit=10000000
packages="${CARGO_TARGET_DIR:-target}/package"
rm -f "$packages"/*.crate
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
cargo package --locked --workspace --exclude own-backend --exclude sparse-golden --exclude sparse-fuzz-targets --exclude sparse-fuzz-judge-targets --no-verify --allow-dirty >"$log" 2>&1 || { cat "$log"; exit 1; }
# Targets that are tests, benchmarks or subjects of tests are left out on purpose; a repository is not known.
grep '^warning' "$log" | grep -v 'ignoring \(test\|benchmark\|binary\|example\) \|no documentation, homepage or repository' && {
  say "cargo warns about a package"
  exit 1
}
count=0
for file in "$packages"/*.crate; do
  size="$(wc -c <"$file")"
  say "$(basename "$file"): $size bytes of $limit"
  if [ "$size" -gt "$limit" ]; then exit 1; fi
  count=$((count + 1))
done
if [ "$count" -ne 15 ]; then say "15 crates are for publication, $count packages were made"; exit 1; fi
