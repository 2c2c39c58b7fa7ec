//! SpGEMM kernels, judged by the oracle.

#![no_main]

sparse_fuzz::target!(spgemm_differential);
