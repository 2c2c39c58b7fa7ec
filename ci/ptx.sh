#!/usr/bin/env bash
# Precompiled PTX of the CUDA kernels: regenerated with the pinned NVRTC from PyPI, no GPU needed.
#
#   ci/ptx.sh            writes kernels/cuda/ptx/*.ptx.gz and docs/cuda-kernels.md
#   ci/ptx.sh --check    fails where what is committed is not what would be written
#
# Every source is also compiled for sm_80, sm_89 and sm_90 and assembled by ptxas for each, for registers and spills.
source "$(dirname "$0")/env.sh"
tools="${PTX_TOOLS:-${CARGO_TARGET_DIR:-target}/ptx-tools}"
if [ ! -e "$tools/13.0.88" ]; then
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --upgrade --target "$tools" --no-deps \
    nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-nvcc==13.0.88 || {
    skip "PTX of the CUDA kernels: NVRTC and ptxas 13.0.88 can't be had from PyPI"
    exit 0
  }
  touch "$tools/13.0.88"
fi
exec python3 ci/ptx.py "$tools" "$@"
