#!/usr/bin/env bash
# The Python SDK is installed as a user would, and its example backends are judged over the protocol. A finding fails; what is
# missing is said.
#   ci/python.sh           NumPy and SciPy, quick tier
#   ci/python.sh --full    the full tier, PyTorch (CPU) and MKL too
source "$(dirname "$0")/env.sh"
tier=quick
packages=(numpy scipy)
examples=(numpy scipy)
if [ "${1:-}" = --full ]; then
  tier=full
  packages+=(torch mkl)
  examples+=(torch mkl)
fi
target="${CARGO_TARGET_DIR:-$PWD/target}"
venv="$target/python-venv"
command -v python3 >/dev/null || { skip "Python backends: no python3"; exit 0; }
if ! { [ -x "$venv/bin/python" ] || python3 -m venv "$venv"; } ||
  ! "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" ./conformance/python; then
  skip "Python backends: ${packages[*]} can't be installed (venv, pip)"
  exit 0
fi
conformance_for "$tier"
for example in "${examples[@]}"; do
  report="$target/python-report/$example"
  rm -rf "$report"
  mkdir -p "$report"
  known=()
  if [ -f "expectations/$example.toml" ]; then known=(--expectations "expectations/$example.toml"); fi
  # --exec splits like a shell and runs none.
  if ! "$conformance" run --tier "$tier" --allow-thin --report "$report" "${known[@]}" \
    --exec "'$venv/bin/python' conformance/python/examples/${example}_backend.py" >"$report/log.txt" 2>&1; then
    tail -n 60 "$report/log.txt"
    say "$example: findings, the report is in $report"
    exit 1
  fi
  say "$example: $(tail -n 1 "$report/log.txt")"
done
say "Python $("$venv/bin/python" --version | cut -d' ' -f2), $("$venv/bin/pip" list --format freeze 2>/dev/null | grep -iE '^(numpy|scipy|torch|mkl)==' | tr '\n' ' ')"
