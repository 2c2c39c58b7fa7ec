//! A closure as a backend, which is asked for the plain requests of one contract.

use sparse_conformance_core::backend::{Backend, Failure, Support};
use sparse_conformance_core::case::Params;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::Contract;
use sparse_oracle::format::Layout;
use sparse_oracle::profile::Profile;
use sparse_oracle::task::{Answer, SddmmMode, Task};

/// What a closure does with a task; none where the task is not of its types, which the contract rules out.
pub(crate) type Run = Box<dyn Fn(Task<'_>) -> Option<Answer> + Send + Sync>;

/// A closure as a backend.
pub(crate) struct Closure {
    pub(crate) contract: Contract,
    pub(crate) arithmetic: Arithmetic,
    /// It takes any alpha and beta.
    pub(crate) updates: bool,
    pub(crate) run: Run,
}

impl Backend for Closure {
    fn name(&self) -> &'static str {
        "closure"
    }

    fn version(&self) -> String {
        String::new()
    }

    fn description(&self) -> &'static str {
        "a closure"
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        let plain = Params::default();
        let factors = self.updates || (params.alpha, params.beta) == (plain.alpha, plain.beta);
        let by_rows = [params.layout_b, params.layout_c, params.layout_y.unwrap_or_default()];
        let unpadded = [params.pad_b, params.pad_c, params.pad_y.unwrap_or_default()];
        let takes = *contract == self.contract
            && factors
            && !(params.transpose_a || params.transpose_b || params.duplicates || params.unpruned)
            && by_rows == [Layout::RowMajor; 3]
            && unpadded == [0; 3]
            && params.mode == SddmmMode::Pattern
            && params.fault.is_none();
        if takes {
            Support::Supported { arithmetic: self.arithmetic, profile: Profile::default() }
        } else {
            Support::Excluded { reason: "a closure is asked for plain requests".into() }
        }
    }

    fn run(&self, _contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        (self.run)(task).ok_or_else(|| "the operands are not of the closure's types".into())
    }
}
