//! The GPUs that tests of kernels run on: those that a CPU plays, with every check on, and the machine's own where there is one.

#![cfg(feature = "cuda")]

use sparse_kernels::cuda::{Gpu, GpuKernel, played_kernels};
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_ptx_device::{Player, Texts};
use std::ops::Deref;
use std::sync::LazyLock;

/// What is played: the oldest architecture that the kernels run on, with few multiprocessors, and the one whose matrix instructions were
/// measured, with as many as an H200 has. Host code chooses its tiles by that number.
const PLAYED: [(Architecture, usize); 2] = [(Architecture::Sm80, 2), (Architecture::Sm90, 132)];

static TEXTS: LazyLock<Texts> = LazyLock::new(Texts::committed);

/// A kernel, and the GPU that it runs on.
#[derive(Debug)]
pub(crate) enum OnGpu {
    Played(GpuKernel, Gpu),
    /// On the machine's own.
    Real(Kernel),
}

impl OnGpu {
    pub(crate) fn run(&self, task: Task<'_>) -> Result<Answer, Refusal> {
        match self {
            OnGpu::Played(kernel, gpu) => kernel.run_on(gpu, task),
            OnGpu::Real(kernel) => (kernel.run)(task),
        }
    }

    pub(crate) const fn is_played(&self) -> bool {
        matches!(self, OnGpu::Played(..))
    }

    /// The name, and what plays it.
    pub(crate) fn title(&self) -> String {
        match self {
            OnGpu::Played(kernel, gpu) => {
                format!("{} as {}", kernel.kernel.name, gpu.architecture().expect("a known one"))
            }
            OnGpu::Real(kernel) => kernel.name.clone(),
        }
    }
}

impl Deref for OnGpu {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        match self {
            OnGpu::Played(kernel, _) => &kernel.kernel,
            OnGpu::Real(kernel) => kernel,
        }
    }
}

/// The wanted ones on a played GPU.
pub(crate) fn played(
    architecture: Architecture,
    multiprocessors: usize,
    wanted: impl Fn(&Kernel) -> bool,
) -> impl Iterator<Item = OnGpu> {
    let gpu = Player::new(architecture, TEXTS.clone()).multiprocessors(multiprocessors).gpu();
    let rows = played_kernels(architecture).into_iter().filter(move |row| wanted(&row.kernel));
    rows.map(move |row| OnGpu::Played(row, gpu.clone()))
}

/// The kernels of the table that are wanted, on every GPU; says what is skipped without a real one.
pub(crate) fn on_gpus(wanted: impl Fn(&Kernel) -> bool) -> Vec<OnGpu> {
    let mut all = Vec::new();
    for (architecture, multiprocessors) in PLAYED {
        all.extend(played(architecture, multiprocessors, &wanted));
    }
    assert!(!all.is_empty(), "the table has no such kernel");
    let real = all_kernels().iter().filter(|kernel| kernel.engine == "cuda" && wanted(kernel));
    let (here, absent): (Vec<&Kernel>, Vec<&Kernel>) = real.partition(|kernel| kernel.missing().is_none());
    if !absent.is_empty() {
        eprintln!("SKIPPED: {} kernels on a real GPU; a CPU plays one", absent.len());
    }
    all.extend(here.into_iter().cloned().map(OnGpu::Real));
    all
}
