//! The subcommands. Each is a thin layer over the library: parse, call, print.

pub(crate) mod explain;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod progress;
pub(crate) mod replay;
pub(crate) mod run;

use anyhow::{Result, bail};
use sparse_conformance::backend::{Backend, built_in, check_declarations};

/// The built-in backends with these names, or all; each with its declarations checked.
pub(crate) fn backends(names: &[String]) -> Result<Vec<Box<dyn Backend>>> {
    let all = built_in();
    let known: Vec<&str> = all.iter().map(|b| b.name()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("unknown backend {name:?}; there are {}", known.join(", "));
    }
    let chosen: Vec<_> =
        all.into_iter().filter(|b| names.is_empty() || names.iter().any(|n| n == b.name())).collect();
    for backend in &chosen {
        check_declarations(backend.as_ref())?;
    }
    Ok(chosen)
}
