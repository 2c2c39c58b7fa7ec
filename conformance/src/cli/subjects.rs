//! Who is judged: the options that `run`, `replay` and `explain` share.

use crate::backend::{Backend, check_declarations};
use anyhow::{Result, bail};
use clap::Args as ClapArgs;

/// The backends to judge.
#[derive(Debug, ClapArgs)]
pub(super) struct Subjects {
    /// Backends, comma-separated; all built-in ones by default (`conformance list backends`).
    #[arg(
        long = "backend",
        alias = "backends",
        value_delimiter = ',',
        value_name = "NAME"
    )]
    backends: Vec<String>,
}

impl Subjects {
    /// True when the choice was left to the suite.
    pub(super) fn named_none(&self) -> bool {
        self.backends.is_empty()
    }

    /// Opens the backends, each with its declarations checked.
    pub(super) fn open(&self, built_in: Vec<Box<dyn Backend>>) -> Result<Vec<Box<dyn Backend>>> {
        let known: Vec<&str> = built_in.iter().map(|b| b.name()).collect();
        if let Some(name) = self.backends.iter().find(|n| !known.contains(&n.as_str())) {
            bail!("unknown backend {name:?}; there are {}", known.join(", "));
        }
        let chosen: Vec<_> = built_in
            .into_iter()
            .filter(|b| self.named_none() || self.backends.iter().any(|n| n == b.name()))
            .collect();
        for backend in &chosen {
            check_declarations(backend.as_ref())?;
        }
        Ok(chosen)
    }
}
