//! Somebody's PTX on the machine that plays a GPU: a launch that a TOML file describes, what came of it, and in which orders.
//!
//! ```text
//! FILE.ptx -> entry ----------------------------\
//! LAUNCH.toml -> launch, parameters -> buffers --+-- order 0 -> findings, counters, buffers -\
//!                                                \-- order 1 -> ..  --------------------------+-> the same in every order?
//! ```

mod launch;
mod parameter;

pub use launch::{Described, LaunchFileError};
pub use parameter::{Buffer, ParameterFault};

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
            if let Some(content) = &buffer.content {
                device.write(address, content)?;
            }
            placed.push((buffer, address));
            Ok(address)
        })?;
        let outcome = run(program, &launch, &mut device)?;
        let read = placed.into_iter().map(|(buffer, address)| {
            device.read_checked(address, buffer.bytes() as usize).map(|found| (buffer, found))
        });
        let buffers = read.collect::<Result<_, MemoryError>>()?;
        Ok(Ran { outcome, buffers })
    }
}

impl Ran<'_> {
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
            Ran { outcome, buffers: vec![(&buffer, Checked { bytes, undefined: undefined.to_vec() })] }
        };
        let plain = left(0, &[(4, 2)]);
        let at = |other: &Ran<'_>| plain.difference(other).map(|(name, element)| format!("{name} {element}"));
        assert_eq!(at(&left(0, &[(4, 2)])), None);
        assert_eq!(at(&left(0, &[(4, 2), (13, 1)])).as_deref(), Some("y 3"));
        assert_eq!(at(&left(0, &[(4, 8)])).as_deref(), Some("y 1"));
        assert_eq!(at(&left(9, &[(4, 2)])).as_deref(), Some("y 0"));
    }
}
