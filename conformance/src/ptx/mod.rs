//! Somebody's PTX on the machine that plays a GPU: a launch that a TOML file describes, what came of it, and in which orders.
//!
//! ```text
//! FILE.ptx -> entry ----------------------------\
//! LAUNCH.toml -> launch, parameters -> buffers --+-- order 0 -> findings, counters, buffers -\
//!                                                \-- order 1 -> ..  --------------------------+-> the same in every order?
//! ```

mod counters;
mod explained;
mod launch;
mod parameter;
mod said;
mod source;

pub use counters::{COUNTERS, Counter};
pub use explained::{ExplainedEntry, ExplainedModule, ExplainedParameter, Inventory, Refusal, UsedRow};
pub use launch::{Described, LaunchFileError};
pub use parameter::{Buffer, ParameterFault};
pub use said::{Difference, Said, SaidFinding, SaidPartner, Shape, ShownBuffer};
pub use source::{SourceError, source};

use sparse_ptx::machine::{LaunchError, Outcome, Schedule, run};
use sparse_ptx::memory::{Checked, Device, Limits, MemoryError};
use sparse_ptx::program::Program;
use thiserror::Error;

/// What a launch left.
#[derive(Debug)]
pub struct Ran<'a> {
    /// Findings and counters.
    pub outcome: Outcome,
    /// The buffers in the order of the parameters, with what they hold.
    pub buffers: Vec<(&'a Buffer, Checked)>,
    /// Names of all allocations, in their order: variables of the module, then buffers.
    pub names: Vec<String>,
}

/// What keeps a launch from running.
#[derive(Debug, Error)]
pub enum RunError {
    /// It is no launch of this entry.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A buffer or a variable of the module has no room.
    #[error("memory of the device: {0}")]
    Memory(#[from] MemoryError),
    /// The parameters are not those of the entry.
    #[error(transparent)]
    File(#[from] LaunchFileError),
}

impl Described {
    /// Runs the entry once on a fresh device, in the order of this number: 0 is forward, 1 is backward, all others are random.
    ///
    /// # Errors
    /// Parameters of other sizes than the entry's, and what cannot be launched.
    pub fn run(&self, program: &Program, order: u64) -> Result<Ran<'_>, RunError> {
        let mut device = Device::new(Limits::default());
        let mut launch = self.launch();
        launch.schedule = Schedule::number(order);
        launch.symbols = device.load(&program.globals)?;
        let mut placed: Vec<(&Buffer, u64)> = Vec::new();
        launch.params = self.lay_out(program, &mut |buffer| {
            let address = device.alloc(buffer.bytes(), 256)?;
            device.name(address, &buffer.name);
            if let Some(content) = &buffer.content {
                device.write(address, content)?;
            }
            placed.push((buffer, address));
            Ok(address)
        })?;
        let outcome = run(program, &launch, &mut device)?;
        let variables = program.globals.iter().map(|global| global.name.clone());
        let names = variables.chain(placed.iter().map(|(buffer, _)| buffer.name.clone())).collect();
        let read = placed.into_iter().map(|(buffer, address)| {
            device.read_checked(address, buffer.bytes() as usize).map(|found| (buffer, found))
        });
        let buffers = read.collect::<Result<_, MemoryError>>()?;
        Ok(Ran { outcome, buffers, names })
    }
}

impl Ran<'_> {
    /// What the allocation with this number is called.
    #[must_use]
    pub fn name(&self, allocation: u32) -> Option<&str> {
        self.names.get(allocation as usize).map(String::as_str)
    }

    /// The first element in which a buffer differs from what another order left: the buffer's name, and the element's number.
    #[must_use]
    pub fn difference(&self, other: &Ran<'_>) -> Option<(String, usize)> {
        let mut pairs = self.buffers.iter().zip(&other.buffers);
        let ((buffer, a), (_, b)) = pairs.find(|((_, a), (_, b))| a != b)?;
        let bytes = |found: &Checked| found.bytes.iter().copied().zip(found.defined()).collect::<Vec<_>>();
        let at = bytes(a).iter().zip(&bytes(b)).position(|(a, b)| a != b)?;
        Some((buffer.name.clone(), at / buffer.width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparse_ptx::machine::Counters;
    use sparse_ptx::text::Type;

    /// Story: where one order left more bytes unwritten than another, the element named was the first that both had left so.
    #[test]
    fn the_first_element_that_differs_is_named() {
        let buffer = Buffer { name: "y".to_owned(), ty: Type::U32, count: 4, content: None };
        let left = |changed: usize, undefined: &[(usize, usize)]| {
            let mut bytes = vec![0; 16];
            bytes[changed] += 1;
            let outcome = Outcome { findings: Vec::new(), counters: Counters::default(), complete: true };
            let buffers = vec![(&buffer, Checked { bytes, undefined: undefined.to_vec() })];
            Ran { outcome, buffers, names: vec!["y".to_owned()] }
        };
        let plain = left(0, &[(4, 2)]);
        let at = |other: &Ran<'_>| plain.difference(other).map(|(name, element)| format!("{name} {element}"));
        assert_eq!(at(&left(0, &[(4, 2)])), None);
        assert_eq!(at(&left(0, &[(4, 2), (13, 1)])).as_deref(), Some("y 3"));
        assert_eq!(at(&left(0, &[(4, 8)])).as_deref(), Some("y 1"));
        assert_eq!(at(&left(9, &[(4, 2)])).as_deref(), Some("y 0"));
    }
}
