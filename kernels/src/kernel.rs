//! One implementation of one contract, as the registry lists it.

#[cfg(feature = "cuda")]
use crate::cuda::{Gpu, GpuRun};
use crate::engine::Engine;
use crate::feature::Feature;
use crate::name::KernelName;
use sparse_types::arithmetic::Arithmetic;
use sparse_types::contract::Contract;
#[cfg(feature = "cuda")]
use sparse_types::refusal::EngineError;
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

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
    pub(crate) entry: Entry,
}

/// The function, by what it is told beside the task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    Host(Run),
    #[cfg(feature = "cuda")]
    Gpu(GpuRun),
}

impl Kernel {
    pub(crate) fn new(contract: Contract, engine: Engine, arithmetic: Arithmetic, run: Run) -> Kernel {
        Kernel::named(&KernelName::plain(contract, engine), arithmetic, run)
    }

    /// A row whose name says more than contract and engine.
    pub(crate) fn named(name: &KernelName, arithmetic: Arithmetic, run: Run) -> Kernel {
        Kernel::row(name, arithmetic, Entry::Host(run))
    }

    /// A row for a GPU.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_gpu(name: &KernelName, arithmetic: Arithmetic, run: GpuRun) -> Kernel {
        Kernel::row(name, arithmetic, Entry::Gpu(run))
    }

    fn row(name: &KernelName, arithmetic: Arithmetic, entry: Entry) -> Kernel {
        Kernel {
            name: name.to_string(),
            contract: name.contract,
            arithmetic,
            engine: name.engine.name(),
            needs: &[],
            entry,
        }
    }

    /// The same row with another function, as tests of a judge want it.
    #[must_use]
    pub fn with_run(self, run: Run) -> Kernel {
        Kernel { entry: Entry::Host(run), ..self }
    }

    /// Runs it; one for a GPU runs on the first of this machine.
    ///
    /// # Errors
    /// Whatever is wrong with the task or missing on the machine; nothing is written then.
    pub fn run(&self, task: Task<'_>) -> Result<Answer, Refusal> {
        match self.entry {
            Entry::Host(run) => run(task),
            #[cfg(feature = "cuda")]
            Entry::Gpu(_) if self.engine == Engine::Ptx.name() => {
                Err(EngineError::Unavailable { feature: "a played GPU, which Kernel::run_on is given" }
                    .into())
            }
            #[cfg(feature = "cuda")]
            Entry::Gpu(run) => run(None, task),
        }
    }

    /// Runs it on this GPU; one that needs none runs without.
    ///
    /// # Errors
    /// As [`run`](Kernel::run).
    #[cfg(feature = "cuda")]
    pub fn run_on(&self, gpu: &Gpu, task: Task<'_>) -> Result<Answer, Refusal> {
        match self.entry {
            Entry::Host(run) => run(task),
            Entry::Gpu(run) => run(Some(gpu), task),
        }
    }
}
