//! A shared library behind the C header as a backend of this process. What it breaks, it breaks here: only the process that
//! `--plugin` starts for it uses this, and `bench --plugin`, which times it without a pipe between.

use crate::backend::{Backend, Determinism, Failure, Named, Prepared, Support};
use crate::case::Params;
use crate::manifest::{Capabilities, Exclude, Manifest, ManifestError};
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::task::{Answer, DenseMut, Inputs, Task};
use sparse_oracle::verdict::{Defect, Mismatch};
use sparse_plugin::{Plugin, PluginError, RunError, is_in_header};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A plug-in with its manifest read.
#[derive(Debug)]
pub struct PluginBackend {
    plugin: Plugin,
    /// As whoever loads it named it.
    path: PathBuf,
    capabilities: Capabilities,
    calls: AtomicU64,
}

/// Of the calls of a library that may be called by several threads, one in so many is made by four at once; the first is.
const AT_ONCE: u64 = 8;

/// Why a library can't be judged.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
#[non_exhaustive]
pub enum OpenError {
    #[error(transparent)]
    Plugin(#[from] PluginError),
    #[error("{path}: sc_manifest: {source}", path = path.display())]
    Manifest { path: PathBuf, source: Box<ManifestError> },
}

impl PluginBackend {
    /// Loads a library into this process and reads its manifest.
    ///
    /// # Errors
    /// What is no plug-in; a manifest that says nothing that can be used.
    pub fn open(path: &Path) -> Result<PluginBackend, OpenError> {
        let plugin = Plugin::open(path)?;
        let read = Manifest::parse(plugin.manifest().as_bytes()).map(without_later_operations);
        let read = read.and_then(Capabilities::new);
        let capabilities =
            read.map_err(|source| OpenError::Manifest { path: path.to_owned(), source: Box::new(source) })?;
        Ok(PluginBackend { plugin, path: path.to_owned(), capabilities, calls: AtomicU64::new(0) })
    }

    /// What it says about itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        self.capabilities.manifest()
    }
}

impl Backend for PluginBackend {
    fn name(&self) -> &str {
        &self.manifest().name
    }

    fn version(&self) -> String {
        self.manifest().version.clone()
    }

    fn description(&self) -> &str {
        &self.manifest().description
    }

    fn support(&self, contract: &Contract, params: &Params) -> Support {
        self.capabilities.support(contract, params)
    }

    fn claims(&self, contract: &Contract) -> bool {
        self.capabilities.claims(contract)
    }

    fn named(&self, contract: &Contract) -> Vec<Named<'_>> {
        self.capabilities.named(contract)
    }

    fn selection(&self) -> String {
        format!("--plugin {}", shell_words::quote(&self.path.to_string_lossy()))
    }

    fn determinism(&self) -> Determinism {
        self.manifest().determinism
    }

    fn thread_safe(&self) -> bool {
        self.manifest().thread_safe
    }

    fn prepare<'a>(
        &'a self,
        contract: &'a Contract,
        inputs: Inputs<'a>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        let (name, took) = (contract.to_string(), Duration::ZERO);
        Ok(Box::new(Timed { plugin: &self.plugin, name, inputs, took, answer: None }))
    }

    fn run(&self, contract: &Contract, task: Task<'_>) -> Result<Answer, Failure> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = if self.manifest().thread_safe && number.is_multiple_of(AT_ONCE) {
            super::together::together(&self.plugin, &contract.to_string(), task)
        } else {
            self.plugin.run(&contract.to_string(), task)
        };
        answer.map_err(failure)
    }
}

/// One call at a time, by the time that the library's function takes.
struct Timed<'a> {
    plugin: &'a Plugin,
    /// Of the contract.
    name: String,
    inputs: Inputs<'a>,
    took: Duration,
    answer: Option<Answer>,
}

impl Prepared for Timed<'_> {
    fn compute(&mut self, output: Option<DenseMut<'_>>) -> Result<(), Failure> {
        let task = Task::new(self.inputs, output).map_err(|refusal| refusal.to_string())?;
        let (answer, took) = self.plugin.run_timed(&self.name, task).map_err(failure)?;
        (self.answer, self.took) = (Some(answer), took);
        Ok(())
    }

    fn took(&self) -> Option<Duration> {
        Some(self.took)
    }

    fn clear(&mut self) {
        self.answer = None;
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        self.answer.take().ok_or_else(|| "nothing was computed".into())
    }
}

/// Patterns such as `*` would claim operations that the header has no number for.
fn without_later_operations(mut manifest: Manifest) -> Manifest {
    let later = Op::ALL.into_iter().filter(|&op| !is_in_header(op));
    manifest.excludes.extend(later.map(|op| Exclude {
        contracts: vec![format!("{}.*", op.name())],
        reason: format!("version 1 of the C header has no operation {}", op.name()),
    }));
    manifest
}

/// What the judge is told. The host's own troubles are no refusal of the library's.
fn failure(error: RunError) -> Failure {
    let message = error.to_string();
    let broke = |defect| Failure::Broke(Box::new(Mismatch::plain(defect, message.clone())));
    match error {
        RunError::Refused(words) => Failure::Refused(words),
        RunError::Modified { .. } => broke(Defect::InputModified),
        RunError::Environment { .. } => broke(Defect::Environment),
        RunError::OutOfBounds { .. } | RunError::Padding { .. } => broke(Defect::Canary),
        RunError::Contract { .. } | RunError::Operation { .. } | RunError::Memory { .. } => {
            Failure::Crashed(message)
        }
        _ => broke(Defect::Protocol),
    }
}
