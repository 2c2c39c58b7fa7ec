//! Our own kernels as backends, one for each engine that this machine has, as registered in `sparse-kernels`.
//!
//! ```text
//! portable         one kernel per contract
//! avx512           the first kernel of that engine for each contract
//! avx512-TECH      its other kernels, by the method in their names
//! ptx-sm90         those for GPUs, played on the CPU as this architecture runs them; ptx-sm90-TECH likewise
//! ```

use crate::kernel::failure;
use sparse_conformance_core::backend::{Backend, Determinism, Failure, Support};
use sparse_conformance_core::case::Params;
#[cfg(feature = "cuda")]
use sparse_kernels::cuda::{GpuKernel, played_kernels};
use sparse_kernels::registry::{Kernel, kernels_here};
use sparse_kernels::{Engine, KernelName};
use sparse_oracle::arithmetic::Architecture;
use sparse_oracle::contract::Contract;
use sparse_oracle::profile::Profile;
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::{Answer, Task};
#[cfg(feature = "cuda")]
use sparse_ptx_device::{Player, Texts};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// A kernel, on what it runs.
#[derive(Clone, Copy, Debug)]
enum Row {
    /// On this machine.
    Here(&'static Kernel),
    /// On a GPU of this architecture that a CPU plays.
    #[cfg(feature = "cuda")]
    Played(&'static GpuKernel, Architecture),
}

impl Row {
    const fn kernel(self) -> &'static Kernel {
        match self {
            Row::Here(kernel) => kernel,
            #[cfg(feature = "cuda")]
            Row::Played(row, _) => &row.kernel,
        }
    }

    const fn played(self) -> Option<Architecture> {
        match self {
            Row::Here(_) => None,
            #[cfg(feature = "cuda")]
            Row::Played(_, architecture) => Some(architecture),
        }
    }

    fn run(self, task: Task<'_>) -> Result<Answer, Refusal> {
        match self {
            Row::Here(kernel) => (kernel.run)(task),
            // Each run has a GPU of its own, so that what is wrong in one is of that one.
            #[cfg(feature = "cuda")]
            Row::Played(row, architecture) => {
                static TEXTS: LazyLock<Texts> = LazyLock::new(Texts::committed);
                row.run_on(&Player::new(architecture, TEXTS.clone()).gpu(), task)
            }
        }
    }
}

type Table = HashMap<Contract, Row>;

/// The kernels for GPUs as the CPU plays them.
#[cfg(feature = "cuda")]
static PLAYED: LazyLock<Vec<(Architecture, Vec<GpuKernel>)>> = LazyLock::new(|| {
    let played = [Architecture::Sm80, Architecture::Sm89, Architecture::Sm90];
    played.into_iter().map(|architecture| (architecture, played_kernels(architecture))).collect()
});

/// Every kernel that runs here.
fn rows() -> impl Iterator<Item = Row> {
    let here = kernels_here().map(Row::Here);
    #[cfg(feature = "cuda")]
    let here =
        here.chain(PLAYED.iter().flat_map(|(played, rows)| rows.iter().map(|row| Row::Played(row, *played))));
    here
}

type Key = (Engine, Option<Architecture>, String);

static BY_NAME: LazyLock<BTreeMap<Key, Table>> = LazyLock::new(|| {
    let mut tables: BTreeMap<Key, Table> = BTreeMap::new();
    for row in rows() {
        let (kernel, played) = (row.kernel(), row.played());
        // A registered name parses: a test in `registry` sees to it.
        let Ok(name) = kernel.name.parse::<KernelName>() else {
            continue;
        };
        let mut words = vec![name.engine.name().to_owned()];
        words.extend(played.map(|architecture| architecture.name().replace('_', "")));
        let first = tables.entry((name.engine, played, words.join("-"))).or_default();
        if let Entry::Vacant(free) = first.entry(kernel.contract) {
            free.insert(row);
            continue;
        }
        words.extend([name.tech, name.tile].into_iter().flatten());
        let table = tables.entry((name.engine, played, words.join("-"))).or_default();
        table.insert(kernel.contract, row);
    }
    tables
});

/// Our kernels of one engine.
#[derive(Clone, Copy, Debug)]
pub struct Ours {
    name: &'static str,
    description: &'static str,
    /// What the CPU plays, for kernels of a GPU.
    played: Option<Architecture>,
    table: &'static Table,
}

impl Ours {
    /// One for each engine, and for each further method of an engine, that runs on this machine; `portable` comes first. Those that a CPU
    /// plays come last.
    #[must_use]
    pub fn all() -> Vec<Ours> {
        let real = BY_NAME.iter().filter(|((_, played, _), _)| played.is_none());
        let played = BY_NAME.iter().filter(|((_, played, _), _)| played.is_some());
        let tables = real.chain(played).map(|((engine, played, name), table)| Ours {
            name,
            description: match engine {
                Engine::Ptx => Engine::Ptx.description(),
                _ if name != engine.name() => "other methods of our kernels on this engine",
                Engine::Portable => "our own plain kernels, one per contract",
                other => other.description(),
            },
            played: *played,
            table,
        });
        tables.collect()
    }

    /// The name of the backend that runs this kernel; none for one that is not registered.
    #[must_use]
    pub fn running(kernel: &Kernel) -> Option<&'static str> {
        let mut tables = BY_NAME.iter();
        let holds =
            |table: &Table| table.get(&kernel.contract).is_some_and(|row| row.kernel().name == kernel.name);
        tables.find(|(_, table)| holds(table)).map(|((.., name), _)| name.as_str())
    }
}

impl Backend for Ours {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn description(&self) -> &str {
        self.description
    }

    fn determinism(&self) -> Determinism {
        Determinism::Threads
    }

    fn by_name_only(&self) -> bool {
        self.played.is_some()
    }

    fn claims(&self, contract: &Contract) -> bool {
        self.table.contains_key(contract)
    }

    fn support(&self, contract: &Contract, _params: &Params) -> Support {
        match self.table.get(contract) {
            Some(row) => {
                Support::Supported { arithmetic: row.kernel().arithmetic, profile: Profile::default() }
            }
            None => Support::Excluded {
                reason: format!("no {} kernel is registered for this contract", self.name).into(),
            },
        }
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        match self.table.get(contract) {
            Some(row) => row.run(task).map_err(|refusal| failure(&refusal)),
            None => Err(format!("no {} kernel is registered for {contract}", self.name).into()),
        }
    }
}

/// The portable kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

/// The first of all: a test sees to it.
static PORTABLE: LazyLock<Ours> = LazyLock::new(|| Ours::all()[0]);

impl Backend for Portable {
    fn name(&self) -> &str {
        PORTABLE.name()
    }

    fn version(&self) -> String {
        PORTABLE.version()
    }

    fn description(&self) -> &str {
        PORTABLE.description()
    }

    fn determinism(&self) -> Determinism {
        PORTABLE.determinism()
    }

    fn claims(&self, contract: &Contract) -> bool {
        PORTABLE.claims(contract)
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        PORTABLE.support(contract, params)
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        PORTABLE.run(contract, task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_that_runs_here_is_in_one_backend() {
        let listed: usize = Ours::all().iter().map(|backend| backend.table.len()).sum();
        assert_eq!(listed, rows().count());
        assert_eq!(Ours::all()[0].name(), Portable.name());
        for row in rows() {
            let kernel = row.kernel();
            let name = Ours::running(kernel).expect("every kernel is in a backend");
            assert!(name.starts_with(kernel.engine), "{} in {name}", kernel.name);
        }
    }

    /// Whoever names nobody waits for no GPU that a CPU plays.
    #[cfg(feature = "cuda")]
    #[test]
    fn played_backends_run_by_name_only() {
        let played = |name: &str| name.starts_with("ptx-sm");
        assert!(!crate::built_in().iter().any(|backend| played(backend.name())));
        let all = crate::all();
        let named: Vec<&str> = all.iter().filter(|b| b.by_name_only()).map(|b| b.name()).collect();
        assert_eq!(named.len(), 12, "{named:?}");
        assert!(named.iter().all(|name| played(name)) && named.contains(&"ptx-sm90"));
    }
}
