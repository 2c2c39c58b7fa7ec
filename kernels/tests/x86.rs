//! Kernels for x86-64.
//! One binary: each file of tests is a module, listed here.

#[cfg(target_arch = "x86_64")]
mod support;
#[cfg(target_arch = "x86_64")]
mod x86_support;

mod x86_instructions;
mod x86_memory;
mod x86_refusals;
mod x86_sddmm;
mod x86_threads;
