#!/usr/bin/env bash
# What axe-core finds on the page of a report, with findings and without, light and dark, wide and narrow; links that do not arrive. By hand: it needs node, a
# browser, and npm for axe-core and what drives the browser.
source "$(dirname "$0")/env.sh"
chromium="${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}"
if ! command -v node >/dev/null || ! command -v npm >/dev/null || [ -z "$chromium" ]; then
  skip "axe: node, npm or chromium is missing"
  exit 0
fi
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
if ! npm install --silent --no-audit --no-fund --prefix "$out" axe-core@4.14.1 puppeteer-core@24.43.1 >"$out/npm.txt" 2>&1; then
  skip "axe: npm cannot install axe-core and puppeteer-core: $(tail -n 1 "$out/npm.txt")"
  exit 0
fi
choose_toolchain
cargo run -q -p sparse-conformance --example sample_report -- "$out/report" >"$out/report.txt"
CHROMIUM="$chromium" NODE_PATH="$out/node_modules" node ci/axe.js "$out/report/report.html" "$out/report/clean/report.html"
