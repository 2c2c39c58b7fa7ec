#!/usr/bin/env bash
# Imports between the modules of each crate form layers, and no name of a type stands for two things within a crate; and the targets that
# ci/rustc names are there. The drawing: `python3 ci/layers.py --draw`.
source "$(dirname "$0")/env.sh"
command -v python3 >/dev/null || { skip "layers of imports: no python3"; exit 0; }
python3 ci/layers.py
say "no imports go round in a cycle"
python3 ci/names.py
say "no further name of a type stands for two things"
# A target that was renamed would be compiled without optimisation, and nobody would know why it is slow.
for name in $(grep -o 'crate-name [a-z0-9_]*' ci/rustc | cut -d' ' -f2); do
  [ -n "$(git ls-files "*/tests/$name.rs" "*/tests/$name/main.rs")" ] || { say "ci/rustc names the tests '$name', which are not there"; exit 1; }
done
