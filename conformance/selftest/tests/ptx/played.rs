//! Our kernels for GPUs as backends, each on a GPU of its own that plays the texts it is given.

use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_conformance_peers::failure;
use sparse_kernels::cuda::{Gpu, GpuKernel};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::Profile;
use sparse_oracle::task::{Answer, Task};
use sparse_ptx_device::{Counted, Player, Texts};

/// Warp instructions of a launch at most: few runs of the plan take more, and a loop without an end is soon over.
const STEPS: u64 = 1 << 22;

/// One kernel.
pub(crate) struct Alone<'k> {
    kernel: &'k GpuKernel,
    architecture: Architecture,
    texts: Texts,
    counted: Option<Counted>,
}

impl<'k> Alone<'k> {
    /// On a GPU of this architecture that plays these texts.
    pub(crate) fn new(kernel: &'k GpuKernel, architecture: Architecture, texts: Texts) -> Alone<'k> {
        Alone { kernel, architecture, texts, counted: None }
    }

    /// One that notes what each launch does.
    pub(crate) fn counting(self, counted: &Counted) -> Alone<'k> {
        Alone { counted: Some(Counted::clone(counted)), ..self }
    }

    /// Each run has a GPU of its own, so that what is wrong in one is of that one.
    fn gpu(&self) -> Gpu {
        let player = Player::new(self.architecture, self.texts.clone()).steps(STEPS);
        match &self.counted {
            None => player.gpu(),
            Some(counted) => player.counting(counted).gpu(),
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
        self.kernel.run_on(&self.gpu(), task).map_err(|refusal| failure(&refusal))
    }
}
