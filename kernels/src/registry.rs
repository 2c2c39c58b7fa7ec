//! The one table of kernels: which contract each fulfils, how it says that it rounds, and the function to call.

pub use crate::kernel::{Kernel, Run};

use crate::portable;
use sparse_types::format::FormatKind;
use std::sync::OnceLock;

/// Empty until somebody asks. It does not name what fills it, as a `LazyLock` would: then whoever compiles this crate compiled every
/// kernel, also fuzz targets that call four functions of it (`fuzz/rustc`).
static TABLE: OnceLock<Vec<Kernel>> = OnceLock::new();

fn table() -> Vec<Kernel> {
    let mut table = portable::kernels();
    table.extend(crate::rowwise::kernels());
    #[cfg(target_arch = "x86_64")]
    table.extend(crate::x86::kernels());
    #[cfg(target_arch = "aarch64")]
    table.extend(crate::arm::kernels());
    table.extend(crate::iops::kernels());
    #[cfg(feature = "cuda")]
    table.extend(crate::cuda::kernels());
    table
}

/// The kernels that this machine can run, in the order of [`all_kernels`].
pub fn kernels_here() -> impl Iterator<Item = &'static Kernel> + Clone {
    all_kernels().iter().filter(|kernel| kernel.missing().is_none())
}

/// Every kernel for this architecture, whatever the machine has: the portable ones in the order of the contracts' table, then
/// engine by engine.
#[must_use]
pub fn all_kernels() -> &'static [Kernel] {
    TABLE.get_or_init(table)
}

/// The kernel with this name.
#[must_use]
pub fn kernel(name: &str) -> Option<&'static Kernel> {
    all_kernels().iter().find(|kernel| kernel.name == name)
}

/// The portable conversions of the bitmap formats to CSR for f16, apart from the table: a fuzzer slows down with every
/// piece of code in its binary, and the table brings all of them.
#[must_use]
pub fn bitmap_decoders() -> [(FormatKind, Run); 4] {
    portable::bitmap_decoders()
}
