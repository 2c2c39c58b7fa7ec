#!/usr/bin/env bash
# Every example backend is built as its first lines say and judged with the quick tier, as a user would: plug-ins in C and C++
# (Eigen among them, where its headers are), a project with CMake (ci/cmake.sh), a crate with a backend of its own, and a test in a crate
# outside the workspace. A finding fails; what is missing is said.
#   ci/examples.sh           all
#   ci/examples.sh --full    Eigen with the full tier
source "$(dirname "$0")/env.sh"
tier=quick
if [ "${1:-}" = --full ]; then tier=full; fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
out="$CARGO_TARGET_DIR/examples"
report="$out/report"
mkdir -p "$out"
examples=conformance/examples
strict=(-O2 -ffp-contract=off -Wall -Wextra -pedantic -Werror -shared -fPIC -I conformance/include)
eigen_headers="${EIGEN_INCLUDE:-/usr/include/eigen3}"

conformance_for "$tier"

# judge NAME COMMAND...: runs it; nothing may be found, and something must have been judged. What was too little is said (thin).
judge() {
  local name="$1"
  shift
  rm -rf "$report"
  if ! "$@" --allow-thin --report "$report" >"$out/$name.txt" 2>&1; then
    tail -n 60 "$out/$name.txt"
    say "$name: findings, the whole text is in $out/$name.txt"
    exit 1
  fi
  [ -s "$report/report.json" ] || { say "$name: no report"; exit 1; }
  say "$name: $(tail -n 1 "$out/$name.txt")"
}

# plugin COMPILER STANDARD SOURCE FLAGS...: builds a plug-in and judges it.
plugin() {
  local compiler="$1" standard="$2" source="$3" name
  shift 3
  name="$(basename "${source%.*}")"
  "$compiler" "-std=$standard" "${strict[@]}" "$@" "$source" -o "$out/$name.so"
  judge "$name" "$conformance" run --tier "$tier" --plugin "$out/$name.so"
}

cc="${CC:-cc}"
cxx="${CXX:-c++}"
if command -v "$cc" >/dev/null; then
  for source in "$examples"/c/*.c; do tier=quick plugin "$cc" c11 "$source"; done
else
  skip "C plug-ins: no C compiler $cc"
fi
if command -v "$cxx" >/dev/null; then
  tier=quick plugin "$cxx" c++17 "$examples/cpp/spgemm.cpp"
  if ! [ -d "$eigen_headers/Eigen" ] && [ "${CI:-}" = true ] && command -v apt-get >/dev/null; then
    { apt-get install -y -qq libeigen3-dev || { apt-get update -qq && apt-get install -y -qq libeigen3-dev; }; } >/dev/null 2>&1 || true
  fi
  if [ -d "$eigen_headers/Eigen" ]; then
    plugin "$cxx" c++17 "$examples/cpp/eigen.cpp" -DNDEBUG -isystem "$eigen_headers"
  else
    skip "Eigen: no headers in $eigen_headers (libeigen3-dev, or set EIGEN_INCLUDE)"
  fi
else
  skip "C++ plug-ins, Eigen: no C++ compiler $cxx"
fi

# The CMake package and its example project.
ci/cmake.sh "$conformance"

# The crate with a backend of its own: beside the command, where that was compiled with the tests.
built="$(dirname "$conformance")"
if [ "$(basename "$built")" = release ]; then cargo build --release --locked -p own-backend; fi
judge own-backend "$built/own-backend" run

# The test in README, in a new crate outside, compiled as its user would: what it depends on is counted; one case alone by its line.
own=(--manifest-path "$examples/own-test/Cargo.toml")
cp Cargo.lock "$examples/own-test/Cargo.lock"
in_readme "sparse_check::spmv(|a: &sparse_check::Csr<f32>, x, y| my_spmv(&a.row_ptr, &a.col_idx, &a.values, x, y)).assert();"
crates="$(cargo tree "${own[@]}" -e normal,build,dev --prefix none | sed 's/ (\*)//; /^own-test /d' | sort -u | wc -l)"
say "sparse-check: $crates crates with what it needs"
if [ "$crates" -gt 39 ]; then say "sparse-check and what it needs are to be 39 crates at most"; exit 1; fi
cargo test "${own[@]}"
alone="$(SPARSE_CASE="spmv.csr.f32_f32_f32_f32/dense:rows=17,cols=4,seed=1/values=ones,1" cargo test "${own[@]}" --lib -- --nocapture my_spmv_is_right)"
case "$alone" in
  *"spmv.csr.f32_f32_f32_f32: 1 case judged"*) ;;
  *) say "SPARSE_CASE did not run its case alone: $alone"; exit 1 ;;
esac

# The GitHub Action on a repository of somebody else: the release that it fetches is one of this build, the summary is GitHub's.
action() { env -i PATH="/usr/bin:/bin" HOME="$HOME" GITHUB_OUTPUT="$1/output" GITHUB_STEP_SUMMARY="$1/summary" CONFORMANCE_RELEASE="$1/release" "${@:2}" bash "$PWD/ci/action/judge.sh"; }
sample="$(mktemp -d)"
trap 'rm -rf "$sample"' EXIT
mkdir "$sample/release" "$sample/kernel"
cp "$out/spmm_csr.so" "$sample/kernel/kernel.so"
strip -o "$sample/conformance" "$conformance"
archive="$sample/release/conformance-$(uname -m)-linux.tar.xz"
tar -C "$sample" -c conformance | xz -1 >"$archive"
(cd "$sample/release" && sha256sum ./*.tar.xz | sed 's# \./# #' >SHA256SUMS)
for part in 1 2; do
  action "$sample" CONFORMANCE_RUN="--plugin '$sample/kernel/kernel.so' --contracts 'spmm.csr.f32*'" CONFORMANCE_SHARD="$part/2" CONFORMANCE_REPORT="$sample/part-$part" >"$out/action.txt" 2>&1 || { cat "$out/action.txt"; exit 1; }
done
action "$sample" CONFORMANCE_MERGE="$sample/part-1 $sample/part-2" CONFORMANCE_REPORT="$sample/merged" >"$out/action.txt" 2>&1 || { cat "$out/action.txt"; exit 1; }
grep -q '^# Sparse conformance' "$sample/summary" || { say "the action wrote no summary"; exit 1; }
say "the action, in two parts and merged: $(tail -n 1 "$out/action.txt")"
echo torn >>"$archive"
if action "$sample" CONFORMANCE_RUN="--backend portable" >"$out/action.txt" 2>&1; then say "the action ran what its checksum does not fit"; exit 1; fi
grep -q "is not what its SHA256SUMS says" "$out/action.txt"
