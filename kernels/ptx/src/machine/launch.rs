//! A launch, and whether it can be done at all.

use super::Schedule;
use super::limits::{BLOCK, GRID, THREADS, shared_limit, static_shared_limit};
use super::prepare::check_steps;
use crate::check::Checks;
use crate::memory::Device;
use crate::program::Program;
use crate::target::{Bound, TargetName};
use sparse_oracle::arithmetic::Architecture;
use std::collections::BTreeMap;
use thiserror::Error;

/// What is launched, beyond the program.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameters, laid out as the program says.
    pub params: Vec<u8>,
    /// Addresses of the module's variables: see [`Device::load`].
    pub symbols: BTreeMap<String, u64>,
    /// What is played.
    pub architecture: Architecture,
    /// What is checked.
    pub checks: Checks,
    /// Whether requests to memory are counted: sectors and bank conflicts.
    pub count: bool,
    /// In which order.
    pub schedule: Schedule,
    /// Warp instructions at most, of all blocks together; more than 2^33 are cut to that.
    pub step_limit: u64,
}

impl Launch {
    /// One dimension, no shared memory, all checks, the default schedule, at most 2^30 warp instructions.
    #[must_use]
    pub fn new(architecture: Architecture, blocks: u32, threads: u32, params: Vec<u8>) -> Launch {
        Launch {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            dynamic_shared: 0,
            params,
            symbols: BTreeMap::new(),
            architecture,
            checks: Checks::ALL,
            count: true,
            schedule: Schedule::default(),
            step_limit: 1 << 30,
        }
    }

    /// Threads of a block.
    pub(super) fn threads(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul)
    }

    /// Blocks of the grid.
    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul)
    }
}

/// Why a launch cannot be done.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LaunchError {
    /// A dimension is zero or too large.
    #[error("{what} is {given:?}, and may be 1 to {allowed:?} in x, y and z")]
    Dimension {
        /// Grid or block.
        what: &'static str,
        /// What was asked.
        given: [u32; 3],
        /// What may be.
        allowed: [u32; 3],
    },
    /// Too many threads in a block.
    #[error("a block of {given} threads is more than {allowed}, {why}; launch more and smaller blocks")]
    Threads {
        /// Asked for.
        given: u64,
        /// Allowed.
        allowed: u64,
        /// Who says so.
        why: &'static str,
    },
    /// Another block than the one that the entry asks for.
    #[error("the block is {given:?}, and entry {entry} says .reqntid: launch it with blocks of {required:?}")]
    Block {
        /// The entry.
        entry: String,
        /// What was asked.
        given: [u32; 3],
        /// What `.reqntid` says.
        required: [u32; 3],
    },
    /// A text for another architecture than the one that is played.
    #[error("the text says '.target {target}', which {architecture} does not run: {help}")]
    Target {
        /// The target of the text.
        target: String,
        /// What is played.
        architecture: String,
        /// Why not, and what to do.
        help: String,
    },
    /// Parameters of another size.
    #[error(
        "{given} bytes of parameters were given, and entry {entry} has {expected}; lay them out as the program's `params` say"
    )]
    Params {
        /// The entry.
        entry: String,
        /// Bytes given.
        given: usize,
        /// Bytes that the entry has.
        expected: u32,
    },
    /// Too much shared memory.
    #[error(
        "{given} bytes of shared memory are more than the {allowed} that {architecture} gives a block{hint}"
    )]
    Shared {
        /// Static and dynamic bytes.
        given: u64,
        /// What may be.
        allowed: u32,
        /// Name of the architecture.
        architecture: String,
        /// What to do.
        hint: &'static str,
    },
    /// Too much local memory.
    #[error(
        "{given} bytes of local memory for the threads of a block are more than the device's limit of {allowed}"
    )]
    Local {
        /// Of all threads of a block.
        given: u64,
        /// The limit of the device.
        allowed: u64,
    },
    /// A variable of the module that the launch gives no address for.
    #[error(
        "entry {entry} uses the variable {name}, and the launch gives no address for it; load the module's variables first"
    )]
    Symbol {
        /// The entry.
        entry: String,
        /// The variable.
        name: String,
    },
    /// A program that no decoder makes.
    #[error("step {step} (line {line}) of the program is not right: {what}")]
    Program {
        /// Index of the step.
        step: usize,
        /// Its line.
        line: u32,
        /// What is wrong.
        what: &'static str,
    },
}

/// Checks what can be checked before anything runs.
pub(super) fn check(program: &Program, launch: &Launch, device: &Device) -> Result<(), LaunchError> {
    for (what, given, allowed) in [("the grid", launch.grid, GRID), ("the block", launch.block, BLOCK)] {
        if given.iter().zip(allowed).any(|(&given, allowed)| given == 0 || given > allowed) {
            return Err(LaunchError::Dimension { what, given, allowed });
        }
    }
    check_target(&program.target, launch.architecture)?;
    if let Some(required) = program.required_block.filter(|required| *required != launch.block) {
        return Err(LaunchError::Block { entry: program.name.clone(), given: launch.block, required });
    }
    let given = launch.threads();
    let declared = program.max_threads.map(|max| (u64::from(max), "as .maxntid of the entry says"));
    for (allowed, why) in [(THREADS, "the most that any architecture runs")].into_iter().chain(declared) {
        if given > allowed {
            return Err(LaunchError::Threads { given, allowed, why });
        }
    }
    if launch.params.len() != program.param_bytes as usize {
        let (entry, given, expected) = (program.name.clone(), launch.params.len(), program.param_bytes);
        return Err(LaunchError::Params { entry, given, expected });
    }
    check_memory(program, launch, device)?;
    check_steps(program)
}

/// A GPU runs texts for itself and for older ones; those for `sm_90a` on `sm_90` alone, those for `sm_100f` on its family.
fn check_target(target: &str, architecture: Architecture) -> Result<(), LaunchError> {
    let (Some(TargetName { number: wanted, bound }), Some(TargetName { number: played, .. })) =
        (TargetName::of(target), TargetName::of(architecture.name()))
    else {
        return Ok(());
    };
    let (why, what) = match bound {
        _ if wanted > played => ("it is newer", "or a newer one"),
        Bound::Architecture if wanted != played => ("its 'a' binds it to one architecture", "and no other"),
        Bound::Family if wanted / 10 != played / 10 => {
            ("its 'f' binds it to a family", "or another of its family")
        }
        Bound::None | Bound::Architecture | Bound::Family => return Ok(()),
    };
    Err(LaunchError::Target {
        target: target.to_owned(),
        architecture: architecture.to_string(),
        help: format!("{why}; play sm_{wanted} {what}, or compile the text for {architecture}"),
    })
}

fn check_memory(program: &Program, launch: &Launch, device: &Device) -> Result<(), LaunchError> {
    let architecture = launch.architecture.to_string();
    if program.shared_bytes > static_shared_limit() {
        let (given, allowed) = (u64::from(program.shared_bytes), static_shared_limit());
        let hint = " as static memory; declare it extern and ask for it at the launch";
        return Err(LaunchError::Shared { given, allowed, architecture, hint });
    }
    let (given, allowed) = (
        u64::from(program.shared_bytes) + u64::from(launch.dynamic_shared),
        shared_limit(launch.architecture),
    );
    if given > u64::from(allowed) {
        return Err(LaunchError::Shared { given, allowed, architecture, hint: "" });
    }
    let (given, allowed) = (u64::from(program.local_bytes) * launch.threads(), device.limit());
    if given > allowed {
        return Err(LaunchError::Local { given, allowed });
    }
    Ok(())
}
