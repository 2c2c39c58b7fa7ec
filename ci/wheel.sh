#!/usr/bin/env bash
# A wheel of the Python package with the `conformance` command inside, in target/wheels, so that `pip install` needs no Rust. ci/python.sh
# tries it.
#   ci/wheel.sh                    around the command that the tests have built, unoptimised: what CI tries
#   ci/wheel.sh --release          around the one of a release
#   ci/wheel.sh --binary FILE      around this command, which may be of another machine
#   ci/wheel.sh --aarch64          around one that is compiled here for aarch64, as users get it but for its size; needs
#                                  aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu); adds the target to rustup's toolchain, or takes
#                                  Debian's compiler
source "$(dirname "$0")/env.sh"
target="${CARGO_TARGET_DIR:-$PWD/target}"
python=conformance/python
wheels="$target/wheels"
tools="$target/wheel-tools"
if ! { [ -x "$tools/bin/wheel" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet --disable-pip-version-check --upgrade wheel setuptools; }; }; then
  say "wheel: its tools (wheel, setuptools) can't be installed with python3, venv and pip"
  exit 3
fi
# for_aarch64: compiles the command for aarch64 and sets $binary. It is linked by gcc, with the C library of the machine that it will run on.
for_aarch64() {
  command -v aarch64-linux-gnu-gcc >/dev/null || { say "wheel: no aarch64-linux-gnu-gcc (Debian: gcc-aarch64-linux-gnu)"; exit 3; }
  local dir="${A64_DIR:-$PWD/.a64}" triple=aarch64-unknown-linux-gnu
  # Where rustup is no help, Debian has a compiler.
  if ! rustup target add "$triple" >/dev/null 2>&1; then
    ci/sme-qemu.sh --compiler || { say "wheel: no compiler for $triple (rustup target add $triple, or Debian's rustc-web)"; exit 3; }
    export RUSTC="$dir/bin/rustc"
    unset RUSTUP_TOOLCHAIN
  fi
  unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    cargo build --release --locked -p sparse-conformance --target "$triple" --target-dir "$dir/target"
  binary="$dir/target/$triple/release/conformance"
}
case "${1:-}" in
  --aarch64) for_aarch64 ;;
  --release) released && binary="$conformance" ;;
  --binary) binary="$2" ;;
  *) conformance_for quick && binary="$conformance" ;;
esac

# The oldest C library that has what the command asks for, and the machine that it is for, give the wheel its tag.
glibc="$(LC_ALL=C readelf -W --version-info "$binary" | grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -1)"
# readelf reads what is of any machine; objdump here may know this one alone.
case "$(LC_ALL=C readelf -h "$binary" | sed -n 's/^ *Machine: *//p')" in
  *X86-64) machine=x86_64 strip="${STRIP:-strip}" ;;
  AArch64) machine=aarch64 strip="${STRIP:-aarch64-linux-gnu-strip}" ;;
  *) say "wheel: $binary is for a machine that no wheel is made for"; exit 1 ;;
esac
tag="manylinux_2_${glibc#GLIBC_2.}_$machine"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$wheels"
"$tools/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work" "$python"
"$tools/bin/wheel" unpack --dest "$work" "$work"/*.whl >/dev/null
unpacked="$(dirname "$(find "$work" -name '*.dist-info')")"
scripts="$unpacked/$(basename "$unpacked").data/scripts"
mkdir -p "$scripts"
"$strip" -o "$scripts/conformance" "$binary"
chmod +x "$scripts/conformance"
sed -i "s/^Root-Is-Purelib: true/Root-Is-Purelib: false/; s/^Tag: .*/Tag: py3-none-$tag/" "$unpacked"/*.dist-info/WHEEL
rm -f "$wheels"/*.whl
"$tools/bin/wheel" pack --dest-dir "$wheels" "$unpacked" >/dev/null
made="$(ls "$wheels"/*.whl)"
say "$(basename "$made"): $(wc -c <"$made") bytes, the command $(wc -c <"$scripts/conformance")"
