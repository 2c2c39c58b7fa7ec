#!/usr/bin/env bash
# The files of a release, in target/release-files: the command for this machine (stripped, at most 25 MB), the wheel that holds it, what they
# are made of (CycloneDX), and the checksums that ci/action/judge.sh compares. Crates and wheel are tried as their registries would check
# them. Nothing is published from here.
source "$(dirname "$0")/env.sh"
target="${CARGO_TARGET_DIR:-$PWD/target}"
files="$target/release-files"
limit=25000000
rm -rf "$files"
mkdir -p "$files"

released
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
strip -o "$work/conformance" "$conformance"
size="$(wc -c <"$work/conformance")"
say "the command: $size bytes of $limit"
if [ "$size" -gt "$limit" ]; then exit 1; fi
cp LICENSE-APACHE LICENSE-MIT "$work"
# The same bytes whoever makes it: no owner, no time.
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime='2020-01-01 00:00Z' -c conformance LICENSE-APACHE LICENSE-MIT |
  xz -9 >"$files/conformance-$(uname -m)-linux.tar.xz"

ci/wheel.sh --binary "$conformance"
cp "$target"/wheels/*.whl "$files"
if "$target/wheel-tools/bin/pip" install --quiet --disable-pip-version-check twine; then
  "$target/wheel-tools/bin/twine" check --strict "$files"/*.whl
else
  skip "twine: it can't be installed"
fi

if command -v cargo-cyclonedx >/dev/null || (cd / && cargo install cargo-cyclonedx --locked --quiet); then
  cargo cyclonedx --manifest-path conformance/Cargo.toml --format json --override-filename sbom --quiet
  mv conformance/sbom.json "$files/conformance.cdx.json"
  find . -name sbom.json -not -path './target/*' -delete
else
  skip "SBOM: cargo-cyclonedx can't be installed"
fi

ci/package.sh
if [ "${1:-}" = --dry-run ]; then
  cargo publish --dry-run --locked --allow-dirty --workspace --exclude own-backend --exclude sparse-golden --exclude sparse-fuzz-targets --exclude sparse-fuzz-judge-targets
fi
(cd "$files" && sha256sum -- * >SHA256SUMS)
say "made: $(cd "$files" && ls | tr '\n' ' ')"
