//! The machine: memory of one GPU, and launches that end before they return.

use crate::texts::Texts;
use sparse_kernels::cuda::source::Source;
use sparse_kernels::cuda::{CudaError, Gpu, GpuCall, GpuMachine};
use sparse_ptx::check::Severity;
use sparse_ptx::machine::{Counters, Launch, Outcome, Schedule, run, shared_limit};
use sparse_ptx::memory::{Device, MemoryError};
use sparse_types::arithmetic::Architecture;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Warp instructions of one launch at most, some ten seconds of work.
const STEPS: u64 = 1 << 28;

/// Launches in their order: the entry, and what it did.
pub type Counted = Arc<Mutex<Vec<(String, Counters)>>>;

/// Plays a GPU of one architecture. All checks of `sparse-ptx` are on: a launch that is not clean fails.
#[derive(Debug)]
pub struct Player {
    architecture: Architecture,
    multiprocessors: usize,
    schedule: Schedule,
    steps: u64,
    counted: Option<Counted>,
    texts: Texts,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    device: Device,
    /// Where the variables of a source lie, once they are loaded.
    variables: HashMap<Source, BTreeMap<String, u64>>,
}

impl Player {
    /// The committed PTX in the default order, on two multiprocessors: host code shares work out to them.
    #[must_use]
    pub fn new(architecture: Architecture, texts: Texts) -> Player {
        let (schedule, state) = (Schedule::default(), Mutex::default());
        Player { architecture, multiprocessors: 2, schedule, steps: STEPS, counted: None, texts, state }
    }

    /// In another order. What a kernel stores must not depend on it.
    #[must_use]
    pub fn in_order(self, schedule: Schedule) -> Player {
        Player { schedule, ..self }
    }

    /// With so many multiprocessors.
    #[must_use]
    pub fn multiprocessors(self, multiprocessors: usize) -> Player {
        Player { multiprocessors, ..self }
    }

    /// With so many warp instructions of one launch at most; who hunts faults does not wait for loops that have no end.
    #[must_use]
    pub fn steps(self, steps: u64) -> Player {
        Player { steps, ..self }
    }

    /// Notes what each launch did.
    #[must_use]
    pub fn counting(self, counted: &Counted) -> Player {
        Player { counted: Some(Arc::clone(counted)), ..self }
    }

    /// The GPU that it plays.
    #[must_use]
    pub fn gpu(self) -> Gpu {
        Gpu::played(Box::new(self))
    }

    fn with_device<T>(&self, then: impl FnOnce(&mut State) -> T) -> T {
        then(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl GpuMachine for Player {
    fn architecture(&self) -> Architecture {
        self.architecture
    }

    fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    fn shared_limit(&self) -> usize {
        shared_limit(self.architecture) as usize
    }

    fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        self.with_device(|state| state.device.alloc(bytes as u64, 256)).map_err(|error| match error {
            MemoryError::Full { .. } => CudaError::Memory { bytes },
            other => failed("allocate memory")(other),
        })
    }

    fn free(&self, address: u64) {
        // Nothing else can be wrong than an address that was never given out or is free already, which harms nobody.
        let _ = self.with_device(|state| state.device.free(address));
    }

    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CudaError> {
        self.with_device(|state| state.device.write(address, bytes)).map_err(failed("write memory"))
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), CudaError> {
        let what = "read memory";
        let read = self.with_device(|state| state.device.read_checked(address, into.len()));
        let read = read.map_err(failed(what))?;
        if let Some((first, count)) = read.undefined.first() {
            let reason = format!("{count} bytes from byte {first} on hold nothing that is defined");
            return Err(CudaError::Driver { what, reason });
        }
        into.copy_from_slice(&read.bytes);
        Ok(())
    }

    fn launch(&self, call: &GpuCall) -> Result<(), CudaError> {
        let what = "launch a kernel";
        let entries = self.texts.entries(call.source).map_err(failed(what))?;
        let program = entries.get(&call.symbol).ok_or_else(|| CudaError::Driver {
            what,
            reason: format!("{}.ptx has no entry {}", call.source.row().name, call.symbol),
        })?;
        let [x, y] = call.grid.blocks;
        let outcome = self.with_device(|state| {
            if !state.variables.contains_key(&call.source) {
                let addresses = state.device.load(&program.globals).map_err(failed(what))?;
                state.variables.insert(call.source, addresses);
            }
            let mut launch = Launch::new(self.architecture, x, call.grid.threads, call.parameters());
            launch.grid[1] = y;
            launch.dynamic_shared = call.grid.shared;
            launch.symbols = state.variables.get(&call.source).cloned().unwrap_or_default();
            launch.count = self.counted.is_some();
            launch.schedule = self.schedule;
            launch.step_limit = self.steps;
            run(program, &launch, &mut state.device).map_err(failed(what))
        })?;
        if let Some(counted) = &self.counted {
            let launch = (call.symbol.clone(), outcome.counters.clone());
            counted.lock().unwrap_or_else(PoisonError::into_inner).push(launch);
        }
        verdict(&call.symbol, &outcome)
    }
}

/// Findings fail a launch.
fn verdict(kernel: &str, outcome: &Outcome) -> Result<(), CudaError> {
    if outcome.is_clean() {
        return Ok(());
    }
    let errors: Vec<_> =
        outcome.findings.iter().filter(|finding| finding.kind.severity() == Severity::Error).collect();
    Err(CudaError::Played {
        kernel: kernel.to_owned(),
        findings: errors.len(),
        first: errors.first().map_or_else(|| "it did not end".to_owned(), ToString::to_string),
    })
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> CudaError {
    move |error| CudaError::Driver { what, reason: error.to_string() }
}
