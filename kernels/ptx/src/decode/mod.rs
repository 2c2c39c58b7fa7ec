//! An entry of a module to a program that runs: names to slots, labels to indices, instructions to what executes them.
//!
//! ```text
//! layout   where variables and parameters lie        scopes    names and labels        builder   operands to slots
//! lower    an instruction to steps: memory, atomic, warp, matrix       types     types of its registers
//! nearest  forms that come near to an unknown one           known     what PTX has and the machine does not play
//! order    `.relaxed`, `.acquire` and the like, scopes, and what only says how caches are used
//! flow     blocks        liveness   from where to where a register is needed        allocate   registers to slots
//! ```
//!
//! # What is checked
//!
//! Each instruction must be a form of the [table](crate::isa), not younger than the module's `.version`, not beyond its `.target`,
//! with as many operands as it takes, of the right class (predicates, up to 32 bits, 64 bits) and of the right types. Modifiers of
//! loads and stores that say how caches are used are read over.
//!
//! # Registers
//!
//! Compilers give every value a register of its own: thousands in one entry. [`program`] finds out how long each is needed
//! and lets registers share slots, which is what keeps a warp's registers in the fastest cache. A register that may be read before it
//! is written has a slot of its own, so that the machine sees it.
//!
//! # Where variables lie
//!
//! Parameters, static shared and local variables lie one after another at multiples of their alignment; `.extern .shared` begins
//! behind the static ones. Of shared variables outside entries only those that the entry names are there. Variables of `.const`
//! lie in global memory with the others, where an address is a generic one as well.
//!
//! # Limits
//!
//! ```text
//! parameters 32,764 bytes      shared 16 MiB      local 512 KiB      global variables 256 MiB
//! registers and constants that an entry uses 65,536 a class      steps times registers across blocks: 512 MiB of bits
//! ```

mod allocate;
mod atomic;
mod builder;
mod complaint;
mod entry;
mod error;
mod flow;
mod group;
mod hash;
mod known;
mod layout;
mod liveness;
mod lower;
mod matrix;
mod memory;
mod nearest;
mod number;
mod order;
mod scopes;
mod types;
mod visit;
mod warp;

#[cfg(test)]
mod tests;

pub use error::{DecodeError, DecodeFault};

use crate::program::Program;
use crate::text::{Entry, Module, Place};
use entry::SharedLayout;

/// The program of one entry.
///
/// # Errors
/// What keeps it from running, with its line and column.
pub fn program(module: &Module<'_>, entry: &str) -> Result<Program, DecodeError> {
    let shared = SharedLayout::of(module)?;
    match module.entries.iter().find(|known| known.name == entry) {
        Some(found) => shared.program(found),
        None => {
            let names: Vec<String> = module
                .entries
                .iter()
                .take(8)
                .map(|entry| format!("'{}'", error::short(entry.name)))
                .collect();
            let more = module.entries.len().saturating_sub(names.len());
            let known = match (names.is_empty(), more) {
                (true, _) => "none".into(),
                (false, 0) => names.join(", "),
                (false, more) => format!("{} and {more} more", names.join(", ")),
            };
            let fault = DecodeFault::NoEntry { name: error::short(entry), known };
            Err(DecodeError { at: Place { line: 1, column: 1 }, fault })
        }
    }
}

/// All that keeps an entry from running, in the order of the text; empty where it runs. Instructions behind a faulty one are read on.
#[must_use]
pub fn refusals(module: &Module<'_>, entry: &Entry<'_>) -> Vec<DecodeError> {
    match SharedLayout::of(module) {
        Ok(shared) => shared.refusals(entry),
        Err(error) => vec![error],
    }
}

/// The programs of all entries, in the order of the text.
///
/// # Errors
/// What keeps the first that does not from running, with its line and column.
pub fn programs(module: &Module<'_>) -> Result<Vec<Program>, DecodeError> {
    let shared = SharedLayout::of(module)?;
    shared.affordable(module.entries.len())?;
    module.entries.iter().map(|entry| shared.program(entry)).collect()
}
