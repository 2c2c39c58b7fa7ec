//! The GPUs that tests of kernels run on: those that a CPU plays, with every check on, and the machine's own where there is one.

#![cfg(feature = "cuda")]

use sparse_kernels::cuda::{Gpu, played_kernels};
use sparse_kernels::{Kernel, all_kernels};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
use sparse_ptx_device::{Player, Texts};
use std::ops::Deref;
use std::sync::LazyLock;

/// What is played: the oldest architecture that the kernels run on, and the one whose matrix instructions were measured.
const PLAYED: [Architecture; 2] = [Architecture::Sm80, Architecture::Sm90];

static TEXTS: LazyLock<Texts> = LazyLock::new(Texts::committed);

/// A kernel, and the GPU that it runs on.
#[derive(Debug)]
pub(crate) struct OnGpu {
    kernel: Kernel,
    /// None for the machine's own.
    gpu: Option<Gpu>,
}

impl OnGpu {
    pub(crate) fn run(&self, task: Task<'_>) -> Result<Answer, Refusal> {
        match &self.gpu {
            Some(gpu) => self.kernel.run_on(gpu, task),
            None => self.kernel.run(task),
        }
    }

    pub(crate) const fn is_played(&self) -> bool {
        self.gpu.is_some()
    }

    /// The name, and what plays it.
    pub(crate) fn title(&self) -> String {
        match self.gpu.as_ref().and_then(Gpu::architecture) {
            Some(played) => format!("{} as {played}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Deref for OnGpu {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

/// The kernels of the table that are wanted, on every GPU; says what is skipped without a real one.
pub(crate) fn on_gpus(wanted: impl Fn(&Kernel) -> bool) -> Vec<OnGpu> {
    let mut all = Vec::new();
    for architecture in PLAYED {
        let gpu = Player::new(architecture, TEXTS.clone()).gpu();
        let kernels = played_kernels(architecture).into_iter().filter(|kernel| wanted(kernel));
        all.extend(kernels.map(|kernel| OnGpu { kernel, gpu: Some(gpu.clone()) }));
    }
    assert!(!all.is_empty(), "the table has no such kernel");
    let real = all_kernels().iter().filter(|kernel| kernel.engine == "cuda" && wanted(kernel));
    let (here, absent): (Vec<&Kernel>, Vec<&Kernel>) = real.partition(|kernel| kernel.missing().is_none());
    if !absent.is_empty() {
        eprintln!("SKIPPED: {} kernels on a real GPU; a CPU plays one", absent.len());
    }
    all.extend(here.into_iter().map(|kernel| OnGpu { kernel: kernel.clone(), gpu: None }));
    all
}
