//! Every conversion and transpose: kernels against the reference, bit for bit.

#![no_main]

sparse_fuzz::target!(convert_differential);
