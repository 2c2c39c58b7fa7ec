//! One kernel as a backend, registered or not: what a benchmark times.

use sparse_conformance_core::backend::{Backend, Determinism, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_kernels::registry::Kernel;
use sparse_kernels::{RunSplit, Split};
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::{EngineError, Refusal};
use sparse_oracle::task::{Answer, Task};

/// What a kernel of ours answers in place of a result. A device that failed is no refusal: on a request that must be refused it would be
/// taken for one.
#[must_use]
pub fn failure(refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Engine(EngineError::Device { .. }) => Failure::Crashed(refusal.to_string()),
        Refusal::Encoding(_) | Refusal::Request(_) | Refusal::Limit(_) | Refusal::Engine(_) => {
            Failure::Refused(refusal.to_string())
        }
    }
}

/// A kernel, under its own name.
#[derive(Clone, Debug)]
pub struct OneKernel {
    kernel: Kernel,
    /// Workers of both parts of a LOOPS product; absent where the kernel shares them out itself.
    split: Option<(RunSplit, Split)>,
    selection: String,
}

impl OneKernel {
    /// The kernel as a backend.
    #[must_use]
    pub fn new(kernel: Kernel) -> OneKernel {
        let selection =
            crate::Ours::running(&kernel).map_or_else(String::new, |name| format!("--backend {name}"));
        OneKernel { kernel, split: None, selection }
    }

    /// The kernel with this many workers for each part, where it takes a number.
    #[must_use]
    pub fn with_split(self, split: Option<Split>) -> OneKernel {
        OneKernel { split: self.kernel.run_split.zip(split), ..self }
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
}

impl Backend for OneKernel {
    fn name(&self) -> &str {
        &self.kernel.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn description(&self) -> &'static str {
        "one kernel"
    }

    fn determinism(&self) -> Determinism {
        Determinism::Threads
    }

    fn claims(&self, contract: &Contract) -> bool {
        *contract == self.kernel.contract
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        if *contract != self.kernel.contract {
            return Support::Excluded { reason: "it is a kernel of another contract".into() };
        }
        Support::Supported { arithmetic: self.kernel.arithmetic, profile: Profile::default() }
    }

    /// That of the backend that it is registered in; empty where there is none.
    fn selection(&self) -> String {
        self.selection.clone()
    }

    fn run(&self, _contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let answer = match self.split {
            Some((run, split)) => run(task, split),
            None => (self.kernel.run)(task),
        };
        answer.map_err(|refusal| failure(&refusal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_oracle::refusal::RequestError;

    /// Found by a reader: a played kernel that raced on a request which it must refuse would have been in agreement with the judge.
    #[test]
    fn a_device_that_failed_is_no_refusal() {
        let raced = EngineError::Device { device: "CUDA", reason: "a race".to_owned() };
        assert!(matches!(failure(&raced.into()), Failure::Crashed(why) if why.contains("a race")));
        let absent = EngineError::Unavailable { feature: "cuda" };
        assert!(matches!(failure(&absent.into()), Failure::Refused(_)));
        assert!(matches!(failure(&RequestError::Zero { field: "n" }.into()), Failure::Refused(_)));
    }
}
