#!/usr/bin/env bash
# The wheel is made and installed as a user would, `check` and the pytest plugin are tried, and the example backends are judged over the
# protocol. A finding fails; what is missing is said.
#   ci/python.sh           NumPy and SciPy, quick tier
#   ci/python.sh --full    the full tier, PyTorch (CPU) and MKL too
source "$(dirname "$0")/env.sh"
# An adapter of the scoreboard declares and calls, and has no room for more.
adapters="$(sed -n 's/^source = "\(.*\)"$/\1/p' conformance/scoreboard/libraries.toml | sort -u)"
[ -n "$adapters" ] || { say "libraries.toml names no adapter"; exit 1; }
for adapter in $adapters; do
  lines="$(wc -l <"conformance/scoreboard/$adapter")"
  [ "$lines" -le 60 ] || { say "$adapter has $lines lines, and may have 60"; exit 1; }
done
tier=quick
packages=(numpy scipy pytest mypy)
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
  ! "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; then
  skip "Python backends: ${packages[*]} can't be installed (venv, pip)"
  exit 0
fi
if [ "$tier" = full ]; then ci/wheel.sh --release; else ci/wheel.sh; fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$target"/wheels/*.whl
conformance="$venv/bin/conformance"

# Nothing of the checkout is seen: not the package's folder, not the command that was built.
here="$PWD" away="$(mktemp -d)"
trap 'rm -rf "$away"' EXIT
cp -r conformance/python/tests "$away"
(cd "$away" && env -u PYTHONPATH -u SPARSE_CONFORMANCE PATH="$venv/bin:/usr/bin:/bin" python -m pytest -q -p no:cacheprovider tests)
(cd "$away" && "$venv/bin/mypy" --cache-dir "$away/mypy" --config-file "$here/conformance/python/pyproject.toml" -p sparse_conformance)
if "$venv/bin/pip" install --quiet --disable-pip-version-check pyright 2>/dev/null && "$venv/bin/pyright" --version >/dev/null 2>&1; then
  "$venv/bin/pyright" --project conformance/python --pythonpath "$venv/bin/python" conformance/python/sparse_conformance
else
  skip "pyright: it can't be installed (it needs Node.js)"
fi

# The page of the scoreboard is the one that its data make, and they say what findings.toml says (2: they do not; 1: something is not
# adjudicated, or the script broke and left no page). The data themselves are those of the day on which a library was judged.
if "$venv/bin/python" -c "import tomllib" 2>/dev/null; then
  code=0
  "$venv/bin/python" conformance/scoreboard/run.py --again --work "$away/board" --out "$away/board" >"$away/board.log" 2>&1 || code=$?
  for file in scoreboard.html scoreboard.json; do
    if [ "$code" -gt 1 ] || ! cmp "$away/board/$file" "conformance/scoreboard/$file"; then
      cat "$away/board.log"
      say "make it again: conformance/scoreboard/README.md says how"
      exit 1
    fi
  done
else
  skip "the page of the scoreboard: its script needs Python 3.11"
fi

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
