//! Kernels for x86-64 with AVX2 and FMA, and with AVX-512.

mod sddmm;

use crate::registry::Kernel;

/// All of them.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut table = Vec::new();
    sddmm::rows(&mut table);
    table
}
