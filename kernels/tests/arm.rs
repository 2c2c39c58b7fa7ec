//! Kernels for Arm.
//! One binary: each file of tests is a module, listed here.

#[cfg(target_arch = "aarch64")]
mod arm_support;
#[cfg(target_arch = "aarch64")]
mod support;

mod arm_loops;
mod arm_sme;
