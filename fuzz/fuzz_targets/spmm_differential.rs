//! SpMM and SpMV kernels, judged by the oracle: every format, type, layout and factor.

#![no_main]

sparse_fuzz::target!(spmm_differential);
