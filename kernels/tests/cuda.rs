//! Kernels for NVIDIA GPUs.
//! One binary: each file of tests is a module, listed here.

mod cuda_probe;
