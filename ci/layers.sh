#!/usr/bin/env bash
# Imports between the modules of each crate form layers, and no name of a type stands for two things within a crate. The drawing:
# `python3 ci/layers.py --draw`.
source "$(dirname "$0")/env.sh"
command -v python3 >/dev/null || { skip "layers of imports: no python3"; exit 0; }
python3 ci/layers.py
say "no imports go round in a cycle"
python3 ci/names.py
say "no further name of a type stands for two things"
