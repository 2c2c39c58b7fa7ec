#!/usr/bin/env bash
# The Arm kernels (NEON and SME): their tests, and the quick tier of the conformance suite, under QEMU at streaming vector lengths of
# 128, 512 and 2048 bits; on an Arm machine natively, at the lengths that it has.
#   ci/sme-qemu.sh             everything: what runs at which length is printed
#   ci/sme-qemu.sh --tests     only the tests
#   ci/sme-qemu.sh --length N  only this length
#   ci/sme-qemu.sh --compiler  nothing is run: only Debian's compiler is fetched, for `ci/wheel.sh --aarch64`
#
# Compiler: an installed rustup target (aarch64-unknown-linux-musl; or -gnu with aarch64-linux-gnu-gcc), else on Debian the packages of
# rustc-web, else `rustup target add`. Emulator: qemu-aarch64 of the system if it has SME, else the distribution's. What is fetched is
# unpacked in .a64 only: no package is installed, and the system's sources and ~/.rustup stay as they are (but for that last resort).
# A64_QEMU_SUITES: where Debian's qemu comes from, first that has it. SME without SVE, as on Apple's M4, needs qemu 10.1 or later; with
# it, an SVE instruction outside of streaming mode, or an Advanced SIMD one inside, is an illegal instruction here too.
source "$(dirname "$0")/env.sh"
lengths=(128 512 2048)
tests_only=
compiler_only=
while [ $# -gt 0 ]; do
  case "$1" in
    --tests) tests_only=1 ;;
    --length) lengths=("$2"); shift ;;
    --compiler) compiler_only=1 ;;
    *) say "unknown option $1; there are --tests, --length N and --compiler"; exit 2 ;;
  esac
  shift
done
D="${A64_DIR:-$PWD/.a64}"
mkdir -p "$D/bin"
export CARGO_TARGET_DIR="$D/target"
# One build of one profile: that of the tests, without what debuggers and incremental builds would need.
export CARGO_PROFILE_DEV_DEBUG=false CARGO_INCREMENTAL=0

# ---- private copies of the distribution's packages -------------------------------------------------------------------------

apt_root() { # name, sources...: an apt of its own, with arm64 as second architecture
  local root="$D/apt-$1" keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  shift
  mkdir -p "$root"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial}
  : >"$root/state/status"
  for s in "$@"; do echo "deb [signed-by=$keyring] $s"; done >"$root/etc/sources.list"
  cat >"$root/apt.conf" <<EOF
Dir::Etc "$root/etc"; Dir::Etc::sourcelist "$root/etc/sources.list"; Dir::Etc::sourceparts "-";
Dir::State "$root/state"; Dir::State::status "$root/state/status"; Dir::Cache "$root/cache";
APT::Architecture "amd64"; APT::Architectures { "amd64"; "arm64"; };
Acquire::Languages "none"; Acquire::Retries "3"; APT::Sandbox::User "$(id -un)";
EOF
  APT_CONFIG="$root/apt.conf" apt-get -qq update
}
fetch() { # apt root, packages...
  local root="$D/apt-$1"
  shift
  (cd "$D/debs" && APT_CONFIG="$root/apt.conf" apt-get -qq download "$@")
}
unpack() { # deb, paths...
  local deb="$1"
  shift
  dpkg --fsys-tarfile "$deb" | tar -x -C "$D/root" --wildcards "$@"
}
debian_site() { apt-get indextargets --format '$(SITE)' 2>/dev/null | sort -u | grep "/$1/*\$" | head -n 1; }
is_debian() {
  [ "$(uname -m)" = x86_64 ] && command -v apt-get dpkg >/dev/null &&
    grep -q '^ID=debian' /etc/os-release 2>/dev/null && [ -n "$(debian_site debian)" ]
}

debian_toolchain() {
  [ -e "$D/.toolchain" ] && return
  local base stable llvm std site security
  site="$(debian_site debian)" security="$(debian_site debian-security)"
  stable="$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)"
  rm -rf "$D/debs" "$D/root/usr/lib" "$D/root/usr/aarch64-linux-gnu"
  mkdir -p "$D/debs" "$D/root"
  apt_root tools "$site $stable main" ${security:+"$security $stable-security main"} || return 1
  std="$(APT_CONFIG="$D/apt-tools/apt.conf" apt-cache depends libstd-rust-web-dev |
    sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\)$/\1/p' | head -n 1)"
  base="$(APT_CONFIG="$D/apt-tools/apt.conf" apt-cache depends gcc-aarch64-linux-gnu |
    sed -n 's/.*Depends: gcc-\([0-9]*\)-aarch64-linux-gnu$/\1/p' | head -n 1)"
  fetch tools rustc-web libstd-rust-web-dev:amd64 libstd-rust-web-dev:arm64 "$std" libc6-dev-arm64-cross \
    libc6-arm64-cross "libgcc-$base-dev-arm64-cross" libgcc-s1-arm64-cross || return 1
  llvm="$(dpkg-deb -f "$D"/debs/libstd-rust-web-1*_amd64.deb Depends | tr ',' '\n' | sed -n 's/^ *\(libllvm[0-9]*\).*/\1/p')"
  fetch tools "$llvm" || return 1
  for deb in "$D"/debs/*.deb; do
    case "$deb" in
      */rustc-web_*) unpack "$deb" './usr/bin/rust*' ;;
      */libstd-rust-web-dev_*) unpack "$deb" './usr/lib/*' ;;
      */libstd-rust-web-1* | */libllvm*) unpack "$deb" './usr/lib/x86_64-linux-gnu/*' ;;
      */libc6-dev-arm64* | */libc6-arm64* | */libgcc-s1*) unpack "$deb" './usr/aarch64-linux-gnu/lib/*' ;;
      */libgcc-*-dev*) unpack "$deb" './usr/lib/gcc-cross/*' ;;
    esac
  done
  rm -rf "$D/debs" "$D/apt-tools"
  touch "$D/.toolchain"
}

# Debian's compiler needs its libraries. rustc calls the linker as ld.lld; glibc's start files come first, and it is static, so
# that the emulator needs no loader.
debian_wrappers() {
  local lld t
  lld="$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld 2>/dev/null | head -n 1)"
  lld="${lld:-$(command -v ld.lld || true)}"
  [ -n "$lld" ] || return 1
  for t in rustc rustdoc; do
    cat >"$D/bin/$t" <<EOF
#!/bin/sh
LD_LIBRARY_PATH=$D/root/usr/lib/x86_64-linux-gnu\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec $D/root/usr/bin/$t "\$@"
EOF
  done
  cat >"$D/bin/a64-ld" <<EOF
#!/bin/sh
[ "\$1" = -flavor ] && shift 2
unset LD_LIBRARY_PATH
L=$D/root/usr/aarch64-linux-gnu/lib
exec $lld -flavor gnu \$L/crt1.o \$L/crti.o "\$@" -L\$L -L$(echo "$D"/root/usr/lib/gcc-cross/aarch64-linux-gnu/*) \$L/crtn.o
EOF
  chmod +x "$D"/bin/*
}

# ---- compiler, linker, emulator --------------------------------------------------------------------------------------------

target=
flags=
use_rustup() { # true if an installed target can be used
  command -v rustup >/dev/null || return 1
  local installed static="-C target-feature=+crt-static -C relocation-model=static"
  installed="$(rustup target list --installed 2>/dev/null)"
  if grep -qx aarch64-unknown-linux-musl <<<"$installed"; then
    target=aarch64-unknown-linux-musl
    flags="-C linker=rust-lld -C linker-flavor=ld.lld -C link-self-contained=yes $static"
  elif grep -qx aarch64-unknown-linux-gnu <<<"$installed" && command -v aarch64-linux-gnu-gcc >/dev/null; then
    target=aarch64-unknown-linux-gnu
    flags="-C linker=aarch64-linux-gnu-gcc $static"
  else
    return 1
  fi
}
use_debian() {
  is_debian && debian_toolchain && debian_wrappers || return 1
  target=aarch64-unknown-linux-gnu
  flags="-C linker=$D/bin/a64-ld -C linker-flavor=ld.lld -C target-feature=+crt-static -C relocation-model=static"
  export RUSTC="$D/bin/rustc" RUSTDOC="$D/bin/rustdoc"
  unset RUSTUP_TOOLCHAIN
}
find_compiler() {
  if [ -n "$compiler_only" ]; then use_debian; return; fi
  use_rustup || use_debian && return
  command -v rustup >/dev/null && rustup target add aarch64-unknown-linux-musl >/dev/null 2>&1 && use_rustup
}

probe() { # emulator, -cpu: prints the streaming vector length in bits if there is SME
  "$1" -cpu "$2,sme-default-vector-length=64" "$D/probe/p" 2>/dev/null
}
build_probe() {
  mkdir -p "$D/probe"
  cat >"$D/probe/p.rs" <<'EOF'
use std::arch::naked_asm;
unsafe extern "C" { safe fn getauxval(k: u64) -> u64; }
#[unsafe(naked)]
unsafe extern "C" fn rdsvl() -> u64 { naked_asm!(".arch_extension sme", "rdsvl x0, #1", "ret") }
fn main() {
    if getauxval(26) >> 23 & 1 == 0 { std::process::exit(1) }
    println!("{}", 8 * unsafe { rdsvl() });
}
EOF
  # shellcheck disable=SC2086  # flags are words
  "${RUSTC:-rustc}" --edition 2024 --target "$target" $flags --out-dir "$D/probe" "$D/probe/p.rs"
}
qemu=
cpu=
try_qemu() {
  local candidate
  for candidate in "$@"; do
    for cpu in max,sve=off max,sme_fa64=off max; do
      if [ "$(probe "$candidate" "$cpu")" = 512 ]; then qemu="$candidate"; return; fi
    done
  done
  return 1
}
find_qemu() {
  local q found
  found="$(command -v qemu-aarch64 qemu-aarch64-static || true)"
  # shellcheck disable=SC2086  # paths, one a line
  [ -e "$D/root/usr/bin/qemu-aarch64" ] || try_qemu $found || fetch_qemu || true
  [ -n "$qemu" ] || try_qemu "$D"/root/usr/bin/qemu-aarch64 "$D"/root/usr/bin/qemu-aarch64-static
}
fetch_qemu() {
  local site
  command -v apt-get dpkg >/dev/null || return 1
  mkdir -p "$D/debs" "$D/root"
  if is_debian; then
    site="$(debian_site debian)"
    for q in ${A64_QEMU_SUITES:-trixie-backports trixie bookworm-backports}; do
      (apt_root qemu "$site $q main" && fetch qemu qemu-user:amd64/"$q") && break
      say "no qemu-user from $q"
    done
  else
    (cd "$D/debs" && apt-get -qq download qemu-user-static || apt-get -qq download qemu-user)
  fi
  for deb in "$D"/debs/qemu-user*; do unpack "$deb" './usr/bin/qemu-aarch64*'; done
  rm -rf "$D/debs" "$D/apt-qemu"
}

# ---- what is run -----------------------------------------------------------------------------------------------------------

# A build script in the tree (alloca's, of criterion, for benches) wants a C compiler for the target. Nothing that runs here links what it
# would compile, so where there is none each object is an empty one; whoever did link it would miss its symbols.
c_stand_in() {
  local name="${target//-/_}"
  command -v aarch64-linux-gnu-gcc aarch64-linux-musl-gcc >/dev/null && return
  : >"$D/empty.rs"
  cat >"$D/bin/a64-cc" <<EOF
#!/bin/sh
for argument do
  # The crate cc asks this, and '-?', which must fail: the options are those of gcc.
  [ "\$argument" = -E ] && exec echo '#pragma message "gcc"'
  [ "\$last" = -o ] && exec "${RUSTC:-rustc}" --target $target --crate-type lib --emit obj -o "\$argument" "$D/empty.rs"
  last="\$argument"
done
exit 1
EOF
  chmod +x "$D/bin/a64-cc"
  export "CC_$name=$D/bin/a64-cc" "AR_$name=ar"
}
# build NAME...: binaries of tests. All packages are named each time, so that dependencies get the same features and are compiled once;
# `judging` brings the command with it.
build() {
  local log="$D/build.log" since=$SECONDS name selected=()
  for name in "$@"; do selected+=(--test "$name"); done
  if ! cargo test --no-run --no-default-features -p sparse-kernels -p sparse-conformance -p sparse-fuzz-targets "${selected[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    say "the Arm build failed"
    exit 1
  fi
  for name in "$@"; do
    sed -n "s,^ *Executable tests/$name\.rs (\(.*\))\$,\1,p" "$log" >"$D/$name.path"
    [ -s "$D/$name.path" ] || { cat "$log"; say "no binary of the tests '$name'"; exit 1; }
  done
  say "$* built in $((SECONDS - since)) s"
}
emulated() { # streaming vector length in bits, command...
  local svl="$1"
  shift
  if [ -n "$qemu" ]; then
    "$qemu" -cpu "$cpu,sme-default-vector-length=$((svl / 8))" "$@"
  else
    "$@"
  fi
}
# tests PACKAGE BINARY WHAT LENGTH [FILTER...]: prints counts; fails unless all pass and some ran.
tests() {
  local package="$1" binary what="$3" length="$4" log="$D/tests.log" since=$SECONDS
  binary="$(realpath "$(cat "$D/$2.path")")"
  shift 4
  if ! (cd "$package" && emulated "$length" "$binary" --nocapture "$@") >"$log" 2>&1; then
    grep -aE -B 2 -A 12 'panicked|FAILED|SIG|uncaught' "$log" | head -n 100 || tail -n 60 "$log"
    say "failed: $what"
    exit 1
  fi
  # What the tests counted, and what they could not do.
  grep -aoE '[a-z0-9_]+: .* (elements|products|seeds accepted|cases).*|[0-9]+ (products|refusals|kernels|cases) .*|SKIPPED.*' "$log" | sort -u || true
  awk -v what="$what" -v took=$((SECONDS - since)) \
    '/^test result: ok/ { n += $4 } END { print "ci: tests: " n + 0 " passed in " took " s (" what ")"; exit n == 0 }' "$log"
}

began=$SECONDS
if [ "$(uname -m)" = aarch64 ] || [ "$(uname -m)" = arm64 ]; then
  [ -z "$compiler_only" ] || { say "this machine's own compiler is one for aarch64"; exit 3; }
  lengths=(native)
  program="$CARGO_TARGET_DIR/debug/conformance"
else
  find_compiler || { skip "Arm kernels: no compiler with a standard library for aarch64 (rustup target, or Debian's rustc-web)"; [ -z "$compiler_only" ] || exit 3; exit 0; }
  [ -z "$compiler_only" ] || { say "$("${RUSTC:-rustc}" -V) for $target"; exit 0; }
  build_probe || { skip "Arm kernels: $target does not link"; exit 0; }
  find_qemu || { skip "Arm kernels: no qemu-aarch64 with SME (7.2 or later)"; exit 0; }
  program="$CARGO_TARGET_DIR/$target/debug/conformance"
  export CARGO_BUILD_TARGET="$target"
  t="CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<<"$target")"
  export "${t}_RUSTFLAGS=$flags"
  unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS
  c_stand_in
  say "$("${RUSTC:-rustc}" -V) for $target; $("$qemu" --version | head -n 1), -cpu $cpu"
  [ "$cpu" = max,sve=off ] || say "this qemu has no SME without SVE: an SVE instruction outside of streaming mode would go unseen"
fi

# The tests of the Arm kernels set each length themselves, in one process. The others judge every kernel of this machine.
build arm tasks
tests kernels arm "Arm kernels at every length" 512
for length in "${lengths[@]}"; do
  tests kernels tasks "all kernels at $length bits" "$length"
done
if [ -n "$qemu" ]; then
  # A CPU without SME: the NEON kernels run, the SME ones refuse.
  (cpu=cortex-a76 && emulated() { shift; "$qemu" -cpu cortex-a76 "$@"; } && tests kernels arm "Arm kernels without SME" 0)
fi
# The seeds of the fuzz targets.
build fuzz_replay judging
for length in "${lengths[@]}"; do
  tests fuzz/targets fuzz_replay "fuzz seeds at $length bits" "$length"
done
[ -z "$tests_only" ] || exit 0
for length in "${lengths[@]}"; do
  # NEON knows no streaming vectors: once is enough.
  backends=sme
  case "$length" in 512 | native) backends=neon,sme ;; esac
  say "== conformance, quick tier, $backends at $length bits"
  since=$SECONDS
  emulated "$length" "$program" run --backend "$backends" --ops spmm --no-shrink --report "$D/report-$length"
  say "== $length bits took $((SECONDS - since)) s"
done
say "Arm kernels: all passed in $((SECONDS - began)) s"
