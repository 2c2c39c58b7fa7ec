//! The one table of kernels: which contract each fulfils, how it says that it rounds, and the function to call.

use crate::engine::Engine;
use crate::feature::Feature;
use crate::name::KernelName;
use crate::portable;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::FormatKind;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use std::sync::LazyLock;

/// The entry point of a kernel: takes a task of the kernel's contract, writes its output or returns arrays.
///
/// Whatever is wrong with the task (another operation, format or element type, shapes, lengths, leading dimensions,
/// factors) is a typed refusal; nothing is written then.
pub type Run = fn(Task<'_>) -> Result<Answer, Refusal>;

/// One implementation of one contract.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name by the grammar of [`crate::name`]; unique.
    pub name: String,
    /// What it computes.
    pub contract: Contract,
    /// How it rounds; never weaker than [`Contract::weakest`].
    pub arithmetic: Arithmetic,
    /// What it runs on, e.g. `portable`; see [`Engine`].
    pub engine: &'static str,
    /// What the machine must have; [`run`](Kernel::run) refuses where it lacks that.
    pub needs: &'static [Feature],
    /// The function.
    pub run: Run,
}

impl Kernel {
    pub(crate) fn new(contract: Contract, engine: Engine, arithmetic: Arithmetic, run: Run) -> Kernel {
        Kernel::named(&KernelName::plain(contract, engine), arithmetic, run)
    }

    /// A row whose name says more than contract and engine.
    pub(crate) fn named(name: &KernelName, arithmetic: Arithmetic, run: Run) -> Kernel {
        Kernel {
            name: name.to_string(),
            contract: name.contract,
            arithmetic,
            engine: name.engine.name(),
            needs: &[],
            run,
        }
    }

    /// What this machine lacks to run it.
    #[must_use]
    pub fn missing(&self) -> Option<Feature> {
        Feature::missing(self.needs)
    }
}

static TABLE: LazyLock<Vec<Kernel>> = LazyLock::new(|| {
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
});

/// The kernels that this machine can run, in the order of [`all_kernels`].
pub fn kernels_here() -> impl Iterator<Item = &'static Kernel> + Clone {
    all_kernels().iter().filter(|kernel| kernel.missing().is_none())
}

/// Every kernel for this architecture, whatever the machine has: the portable ones in the order of the contracts' table, then
/// engine by engine.
#[must_use]
pub fn all_kernels() -> &'static [Kernel] {
    &TABLE
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
