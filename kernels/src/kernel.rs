//! One implementation of one contract, as the registry lists it.

use crate::engine::Engine;
use crate::feature::Feature;
use crate::name::KernelName;
use crate::workers::Split;
use sparse_types::arithmetic::Arithmetic;
use sparse_types::contract::Contract;
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

/// The entry point of a kernel: takes a task of the kernel's contract, writes its output or returns arrays.
///
/// Whatever is wrong with the task (another operation, format or element type, shapes, lengths, leading dimensions,
/// factors) is a typed refusal; nothing is written then. Only a machine may refuse later: SME on a thread whose ZA storage is a caller's.
pub type Run = fn(Task<'_>) -> Result<Answer, Refusal>;

/// The entry point of a LOOPS kernel that takes a number of workers for each part, as a [`Plan`](crate::schedule::Plan) names them.
///
/// A part with rows needs a worker; workers beyond the threads of the pool wait their turn, and those beyond the work are not started. A
/// transposed matrix has no tiles, and on Arm all threads compute it. No result depends on the split.
///
/// Refused beside what [`Run`] refuses: a split that leaves a part with rows without a worker.
pub type RunSplit = fn(Task<'_>, Split) -> Result<Answer, Refusal>;

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
    /// The same with a number of workers for each part; only SpMM of LOOPS on AVX-512, AVX2, NEON and SME takes one.
    pub run_split: Option<RunSplit>,
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
            run_split: None,
        }
    }
}
