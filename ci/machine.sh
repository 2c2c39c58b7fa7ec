#!/usr/bin/env bash
# Prints what this machine is, so that a log explains itself.
source "$(dirname "$0")/env.sh"
say "system     $(uname -srm)"
say "processor  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1), $(getconf _NPROCESSORS_ONLN) cores"
say "memory     $(awk '/^MemTotal|^MemAvailable/ { printf "%s %.1f GiB  ", $1, $2 / 1048576 }' /proc/meminfo 2>/dev/null)"
say "disk       $(df -h . | awk 'NR == 2 { print $4 " free" }')"
say "compiler   $(rustc --version), $(cargo --version)"
say "linker     $(cc --version 2>/dev/null | head -n 1)"
say "commit     $(git rev-parse --short HEAD 2>/dev/null || echo 'not a git checkout')"
