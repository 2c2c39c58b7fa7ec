//! NVIDIA's libraries as backends, where they, a driver and a GPU are: cuSPARSE by algorithm, cuBLAS.
//!
//! What they do is in `sparse_kernels::cuda::baselines`; here they say what they support.

use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_kernels::cuda::{Baseline, baselines};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::profile::{Choice, Profile};
use sparse_oracle::task::{Answer, SddmmMode, Task};

/// One library, or one algorithm of it.
#[derive(Clone, Copy, Debug)]
pub struct Nvidia(&'static Baseline);

impl Nvidia {
    /// Those that this machine has.
    pub fn all() -> impl Iterator<Item = Nvidia> {
        baselines().iter().filter(|b| b.is_here()).map(Nvidia)
    }
}

impl Backend for Nvidia {
    fn name(&self) -> &str {
        self.0.name
    }

    fn version(&self) -> String {
        "CUDA 13".to_owned()
    }

    fn description(&self) -> &str {
        self.0.description
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let Some(kernel) = self.0.kernels.iter().find(|k| k.contract == *contract) else {
            return Support::Excluded {
                reason: format!("{} has no such product of these types", self.0.name).into(),
            };
        };
        if contract.op == Op::Sddmm && params.mode == SddmmMode::Scale {
            return Support::Excluded { reason: "it does not multiply by the values of the pattern".into() };
        }
        let mut profile = Profile::default();
        if contract.op == Op::Spgemm {
            profile = profile.with(Choice::NumericPattern, "its documentation promises no pattern");
        }
        Support::Supported { arithmetic: kernel.arithmetic, profile }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        match self.0.kernels.iter().find(|k| k.contract == *contract) {
            Some(kernel) => (kernel.run)(task).map_err(|refusal| refusal.to_string().into()),
            None => Err(format!("{} has no {contract}", self.0.name).into()),
        }
    }
}
