//! Our kernels for GPUs as backends, each on a GPU of its own that plays the texts it is given.

use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_kernels::cuda::{CudaError, Gpu, GpuCall, GpuKernel, GpuMachine};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::{EngineError, Refusal};
use sparse_oracle::task::{Answer, Task};
use sparse_ptx_device::{Player, Texts};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What the mutants are played as.
pub(crate) const ARCHITECTURE: Architecture = Architecture::Sm80;

/// Warp instructions of a launch at most: few runs of the plan take more, and a loop without an end is soon over.
const STEPS: u64 = 1 << 22;

/// Entries that were launched, by name.
pub(crate) type Launched = Arc<Mutex<BTreeSet<String>>>;

/// One kernel.
pub(crate) struct Alone<'k> {
    kernel: &'k GpuKernel,
    texts: Texts,
    launched: Option<Launched>,
}

impl<'k> Alone<'k> {
    /// On a GPU that plays these texts.
    pub(crate) fn new(kernel: &'k GpuKernel, texts: Texts) -> Alone<'k> {
        Alone { kernel, texts, launched: None }
    }

    /// On one that notes what is launched.
    pub(crate) fn noting(kernel: &'k GpuKernel, texts: Texts, launched: &Launched) -> Alone<'k> {
        Alone { kernel, texts, launched: Some(Arc::clone(launched)) }
    }

    /// Each run has a GPU of its own, so that what is wrong in one is of that one.
    fn gpu(&self) -> Gpu {
        let player = Player::new(ARCHITECTURE, self.texts.clone()).steps(STEPS);
        match &self.launched {
            None => player.gpu(),
            Some(launched) => Gpu::played(Box::new(Noting { player, launched: Arc::clone(launched) })),
        }
    }
}

impl Backend for Alone<'_> {
    fn name(&self) -> &str {
        &self.kernel.kernel.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn description(&self) -> &str {
        "a kernel of ours with a fault, on a played GPU"
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        if self.kernel.kernel.contract == *contract {
            let arithmetic = self.kernel.kernel.arithmetic;
            return Support::Supported { arithmetic, profile: Profile::default() };
        }
        Support::Excluded { reason: "another contract".into() }
    }

    fn run(&self, _: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        self.kernel.run_on(&self.gpu(), task).map_err(|refusal| match refusal {
            Refusal::Engine(EngineError::Device { .. }) => Failure::Crashed(refusal.to_string()),
            _ => Failure::Refused(refusal.to_string()),
        })
    }
}

#[derive(Debug)]
struct Noting {
    player: Player,
    launched: Launched,
}

impl GpuMachine for Noting {
    fn architecture(&self) -> Architecture {
        self.player.architecture()
    }

    fn multiprocessors(&self) -> usize {
        GpuMachine::multiprocessors(&self.player)
    }

    fn shared_limit(&self) -> usize {
        self.player.shared_limit()
    }

    fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        self.player.allocate(bytes)
    }

    fn free(&self, address: u64) {
        self.player.free(address);
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CudaError> {
        self.player.write(address, bytes)
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), CudaError> {
        self.player.read(address, into)
    }

    fn launch(&self, call: &GpuCall) -> Result<(), CudaError> {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner).insert(call.symbol.clone());
        self.player.launch(call)
    }
}
