//! Kernels for NVIDIA GPUs.
//! One binary: each file of tests is a module, listed here.

mod gpus;
mod support;

mod cuda_csr;
mod cuda_nm;
mod cuda_preprocess;
mod cuda_probe;
mod cuda_rsh_libra;
