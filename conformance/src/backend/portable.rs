//! Our own plain kernels, one per contract, as registered in `sparse-kernels`.

use super::{Backend, Determinism, Failure, Support};
use crate::case::Params;
use sparse_kernels::registry::{Kernel, all_kernels};
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::Profile;
use sparse_oracle::task::{Answer, Task};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The portable kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

static BY_CONTRACT: LazyLock<HashMap<Contract, &'static Kernel>> = LazyLock::new(|| {
    all_kernels()
        .iter()
        .filter(|k| k.engine == "portable")
        .map(|k| (k.contract, k))
        .collect()
});

impl Backend for Portable {
    fn name(&self) -> &'static str {
        "portable"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn description(&self) -> &'static str {
        "our own plain kernels, one per contract"
    }

    fn determinism(&self) -> Determinism {
        Determinism::Threads
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        match BY_CONTRACT.get(contract) {
            Some(kernel) => Support::Supported {
                arithmetic: kernel.arithmetic,
                profile: Profile::default(),
            },
            None => Support::Excluded {
                reason: "no portable kernel is registered for this contract".into(),
            },
        }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        match BY_CONTRACT.get(contract) {
            Some(kernel) => (kernel.run)(task).map_err(|refusal| refusal.to_string().into()),
            None => Err(format!("no portable kernel is registered for {contract}").into()),
        }
    }
}
