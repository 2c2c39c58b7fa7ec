#!/usr/bin/env bash
# What axe-core finds on the page of a report, with findings and without, of two that are compared, and of the scoreboard, light and dark,
# wide and narrow; and links that do not arrive. npm brings axe-core, what drives the browser and the browser itself: a Chromium without a
# window, of one version for everybody.
#   ci/axe.sh                  that Chromium
#   CHROMIUM=FILE ci/axe.sh    a browser of this machine
source "$(dirname "$0")/env.sh"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  skip "axe: node or npm is missing"
  exit 0
fi
packages=(axe-core@4.14.1 puppeteer-core@24.43.1)
if [ -z "${CHROMIUM:-}" ]; then packages+=(@sparticuz/chromium@147.0.0); fi
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
if ! npm install --silent --no-audit --no-fund --prefix "$out" "${packages[@]}" >"$out/npm.txt" 2>&1; then
  skip "axe: npm cannot install ${packages[*]}: $(tail -n 1 "$out/npm.txt")"
  exit 0
fi
# In CI both were compiled with the tests.
if [ "${CI:-}" = true ]; then
  conformance_for quick
else
  cargo build -q --locked -p sparse-conformance --bin conformance --example sample_report
  conformance="${CARGO_TARGET_DIR:-$PWD/target}/debug/conformance"
fi
"$(dirname "$conformance")/examples/sample_report" "$out/report" >"$out/report.txt"
# 1: there are findings in one that are not in the other, which is wanted.
"$conformance" diff "$out/report/clean/report.json" "$out/report/report.json" --html "$out/diff.html" >"$out/diff.txt" || [ $? = 1 ]
# The browser is unpacked into the folder of this run, and with it the libraries that it needs and a machine without a desktop lacks.
TMPDIR="$out" NODE_PATH="$out/node_modules" node ci/axe.js \
  "$out/report/report.html" "$out/report/clean/report.html" "$out/diff.html" conformance/scoreboard/scoreboard.html
