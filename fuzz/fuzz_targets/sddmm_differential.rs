//! SDDMM kernels, judged by the oracle.

#![no_main]

sparse_fuzz::target!(sddmm_differential);
