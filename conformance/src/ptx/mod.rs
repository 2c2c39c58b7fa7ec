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
pub struct Ran {
    /// Findings and counters.
    pub outcome: Outcome,
    /// The buffers in the order of the parameters, with what they hold.
    pub buffers: Vec<(Buffer, Checked)>,
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
    pub fn run(&self, program: &Program, order: u64) -> Result<Ran, RunError> {
        let mut device = Device::new(Limits::default());
        let mut launch = self.launch();
        launch.schedule = Schedule::number(order);
        launch.symbols = device.load(&program.globals)?;
        let mut buffers = Vec::new();
        launch.params = self.lay_out(program, &mut |buffer: &Buffer| {
            let address = device.alloc(buffer.bytes(), 256)?;
            if let Some(content) = &buffer.content {
                device.write(address, content)?;
            }
            buffers.push((buffer.clone(), address));
            Ok(address)
        })?;
        let outcome = run(program, &launch, &mut device)?;
        let read = |(buffer, address): (Buffer, u64)| {
            let bytes = buffer.bytes() as usize;
            device.read_checked(address, bytes).map(|found| (buffer, found))
        };
        let buffers: Result<Vec<_>, MemoryError> = buffers.into_iter().map(read).collect();
        Ok(Ran { outcome, buffers: buffers? })
    }
}

impl Ran {
    /// The first element in which a buffer differs from what another order left: the buffer's name, and the element's number.
    #[must_use]
    pub fn difference(&self, other: &Ran) -> Option<(String, usize)> {
        self.buffers.iter().zip(&other.buffers).find_map(|((buffer, a), (_, b))| {
            let bytes = a.bytes.iter().zip(&b.bytes).position(|(a, b)| a != b);
            let defined = a.undefined.iter().zip(&b.undefined).find(|(a, b)| a != b);
            let more = a.undefined.len() != b.undefined.len();
            let first = a.undefined.iter().chain(&b.undefined).map(|range| range.0).min().unwrap_or(0);
            let at = bytes.or_else(|| defined.map(|(a, b)| a.0.min(b.0))).or(more.then_some(first))?;
            Some((buffer.name.clone(), at / buffer.width()))
        })
    }
}
