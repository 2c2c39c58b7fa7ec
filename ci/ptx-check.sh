#!/usr/bin/env bash
# The committed PTX of the CUDA kernels is what the pinned NVRTC makes of their sources, for every architecture (ci/ptx.sh).
exec bash "$(dirname "$0")/ptx.sh" --check
