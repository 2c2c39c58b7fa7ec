#!/usr/bin/env bash
# The CMake package is used as somebody else's project uses it: from this checkout, installed into a prefix, and by FetchContent. A right
# kernel passes, one with a planted bug fails, the report lies where it is said to, no test passes unjudged, and a mistake is told with
# its fix. The kernel in Fortran is skipped where there is no compiler for it; without CMake, one is installed by pip.
#   ci/cmake.sh COMMAND      the command `conformance`, which ci/examples.sh gives
source "$(dirname "$0")/env.sh"
conformance="${1:?the command conformance}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
out="$CARGO_TARGET_DIR/examples"
mkdir -p "$out"
examples=conformance/examples
cc="${CC:-cc}"
if ! command -v "$cc" >/dev/null; then skip "the CMake package: no C compiler $cc"; exit 0; fi

fits="$out/cmake-fits.cmake"
echo "cmake_minimum_required(VERSION 3.18)" >"$fits"
tools="$(dirname "$(command -v cmake || echo none)")"
if ! "$tools/cmake" -P "$fits" >/dev/null 2>&1; then
  tools="$CARGO_TARGET_DIR/cmake-venv/bin"
  { [ -x "$tools/cmake" ] || { python3 -m venv "${tools%/bin}" && "$tools/pip" install --quiet --disable-pip-version-check cmake; }; } >/dev/null 2>&1 || true
fi
"$tools/cmake" -P "$fits" >/dev/null 2>&1 || { skip "the CMake package: no cmake 3.18 or later, and pip can't install it"; exit 0; }

log="$out/cmake.txt"
cmake_failed() { cat "$log"; say "CMake: $*"; exit 1; }
# cmake_builds SOURCE BUILD OPTIONS...: configures and builds. cmake_tests BUILD OPTIONS...: runs its tests.
cmake_builds() { env -u SPARSE_CONFORMANCE CC="$cc" CFLAGS="-Wall -Wextra -pedantic -Werror" "$tools/cmake" -S "$1" -B "$2" "${@:3}" >"$log" 2>&1 && "$tools/cmake" --build "$2" >>"$log" 2>&1; }
cmake_tests() { (cd "$1" && "$tools/ctest" --output-on-failure --no-tests=error "${@:2}") >"$log" 2>&1; }

package="$PWD/conformance/cmake" build="$out/own-cmake" judge_is="-DSparseConformance_COMMAND=$conformance"
grep -qF "set(PACKAGE_VERSION $("$conformance" --version | cut -d' ' -f2))" "$package/SparseConformanceConfigVersion.cmake" || { say "the version of the CMake package is not that of the command"; exit 1; }
rm -rf "$build" "$build"-*
# The kernel in CUDA needs a GPU: that it is the one of the page is all that is looked at.
awk '/^```cpp$/ { code = 1; next } /^```$/ { code = 0 } code' docs/start-cuda.md | cmp -s - "$examples/own-cmake/my_kernel.cu" || { say "docs/start-cuda.md shows another kernel than $examples/own-cmake/my_kernel.cu"; exit 1; }
cmake_builds "$examples/own-cmake" "$build" "-DSparseConformance_DIR=$package" "$judge_is" || cmake_failed "own-cmake can't be built"
grep -q my_fortran_kernel "$log" || skip "a kernel in Fortran: no Fortran compiler"
cmake_tests "$build" || cmake_failed "own-cmake: a test fails"
say "own-cmake: $(grep "tests passed" "$log")"
cmake_builds "$examples/own-cmake" "$build" -DSHOW_THE_BUG=ON || cmake_failed "own-cmake can't be built"
if cmake_tests "$build" -R planted_bug; then cmake_failed "the test of a kernel with a bug passes"; fi
grep -q "^finding: wrong value" "$log" && grep -q "^  conformance replay '" "$log" || cmake_failed "the failing test does not show its finding"
grep -q "<failure" "$build/conformance/planted_bug/report.junit.xml" || cmake_failed "the report holds no failure"

cmake_builds "$package" "$build-install" "$judge_is" && "$tools/cmake" --install "$build-install" --prefix "$build-prefix" >"$log" 2>&1 || cmake_failed "the package can't be installed"
cmake_builds "$examples/own-cmake" "$build-installed" "-DCMAKE_PREFIX_PATH=$build-prefix" || cmake_failed "own-cmake can't be built against a prefix"
grep -q "SparseConformance: .*/own-cmake-prefix/bin/conformance, version" "$log" || cmake_failed "the command of the prefix is not found"
cmake_tests "$build-installed" -R planted_bug || cmake_failed "own-cmake against a prefix: a test fails"

# fetched ARGUMENTS OPTIONS...: configures and builds a project that takes this checkout in by FetchContent, and whose subfolder calls
# the helper with ARGUMENTS. $top is what the top folder says before that.
fetched() {
  mkdir -p "$build-fetched/own"
  printf '%s\n' "cmake_minimum_required(VERSION 3.18)" "project(fetched LANGUAGES C)" "include(FetchContent)" \
    "FetchContent_Declare(SparseConformance SOURCE_DIR \"$PWD\" SOURCE_SUBDIR conformance/cmake)" "FetchContent_MakeAvailable(SparseConformance)" \
    "$top" "add_subdirectory(own)" >"$build-fetched/CMakeLists.txt"
  printf '%s\n' "enable_testing()" "add_library(kernel MODULE \"$PWD/$examples/own-cmake/my_kernel.c\")" "sparse_conformance_test($1)" >"$build-fetched/own/CMakeLists.txt"
  cmake_builds "$build-fetched" "$build-fetched/build" "${@:2}"
}
# told TEXT: the log holds it, however CMake breaks its lines. refused ARGUMENTS TEXT OPTIONS...: such a project can't be configured.
told() { [[ "$(tr -s '[:space:]' ' ' <"$log")" == *"$1"* ]] || cmake_failed "it is not told: $1"; }
refused() {
  if fetched "$1" "${@:3}"; then cmake_failed "this is taken: sparse_conformance_test($1) ${*:3}"; fi
  told "$2"
}
top="enable_testing()" own="$build-fetched/build/own"

# A folder whose name is a pattern too: what the run before left there goes away all the same.
fetched 'kernel NAME "mine[1]" ONLY "spmv.*" ARGS --no-shrink' "$judge_is" && cmake_tests "$build-fetched/build" -R mine || cmake_failed "a project with FetchContent fails"
[ -e "$own/conformance/mine[1]/report.json" ] || cmake_failed "the report of the run is not there"
echo broken >"$own/libkernel.so"
if cmake_tests "$build-fetched/build" -R mine; then cmake_failed "the test of a library that can't be loaded passes"; fi
for file in report.json report.junit.xml report.html badge.svg; do
  if [ -e "$own/conformance/mine[1]/$file" ]; then cmake_failed "$file of the run before is still there"; fi
done

# Neither CMake nor the command may take an option for a question, answer it, and pass.
for option in --help --version; do
  fetched "kernel ARGS $option" || cmake_failed "ARGS $option can't be configured"
  if cmake_tests "$build-fetched/build"; then cmake_failed "a test with ARGS $option passes, and nothing was judged"; fi
  told "nothing was judged"
done

refused 'kernel TIER fast' "must be quick, full or extensive"
refused 'kernel TIER "${MY_TEIR}"' "behind \`TIER\` is empty"
refused 'kernel ONLY --sandbox' "Options stand behind ARGS"
refused 'kernel NAME ../mine' "no slash"
refused 'kernel TIER extensive' "TIMEOUT 86400"
refused '' "a target is missing"
top="" refused 'kernel' "Write enable_testing() in the top CMakeLists.txt"
refused 'kernel' "which is not the command \`conformance\`" -DSparseConformance_COMMAND="$fits"
printf '#!/bin/sh\necho conformance 99.0.0\n' >"$build-newer" && chmod +x "$build-newer"
refused 'kernel' "of version 99.0.0, and this package" -DSparseConformance_COMMAND="$build-newer"

# Who wants no tests builds the kernel all the same, with a warning where there is no command.
top="" fetched 'kernel' -DBUILD_TESTING=OFF || cmake_failed "the kernel can't be built without tests"
told "SparseConformance can make no tests"
say "the CMake package: judged from a checkout, a prefix and by FetchContent ($("$tools/cmake" --version | head -n 1))"
