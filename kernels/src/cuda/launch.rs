//! A kernel with its grid and its arguments.
//!
//! ```text
//! GpuCall::new(source, symbol, grid)  .arg(&matrix)  .arg(&n)  ..  .launch(gpu)
//!                                     |             |
//!                            bytes as the kernel's parameters have them: silicon copies them one by one, a machine lays them out
//! ```

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::gpu::Gpu;
use super::source::Source;
use sparse_types::refusal::{Refusal, RequestError};

/// How many blocks, of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks along x and y.
    pub blocks: [u32; 2],
    /// Threads of a block, along x.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
}

impl Grid {
    /// Blocks along x.
    ///
    /// # Errors
    /// [`RequestError::TooLarge`] for more than a launch can number; `field` is what there are too many of.
    pub(super) fn new(field: &'static str, blocks: u128, threads: u32, shared: u32) -> Result<Grid, Refusal> {
        let limit = u128::from(i32::MAX as u32);
        if blocks > limit {
            return Err(RequestError::TooLarge { field, found: blocks, limit: limit as u64 }.into());
        }
        Ok(Grid { blocks: [blocks as u32, 1], threads, shared })
    }
}

/// Most bytes of one argument.
const MOST: usize = 256;

/// One argument: its bytes as the kernel takes them.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Argument {
    /// In words, so that they are aligned for every type.
    pub(super) words: [u64; MOST / 8],
    bytes: usize,
    align: usize,
}

impl Argument {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    /// Its place among the parameters is a multiple of this.
    #[must_use]
    pub const fn align(&self) -> usize {
        self.align
    }
}

/// What a kernel takes by value.
pub(super) trait Parameter {
    /// Bytes.
    const BYTES: usize;
    /// Its place is a multiple of this.
    const ALIGN: usize;

    /// Writes the bytes; `to` has as many, zeros. Bytes between fields stay zeros.
    fn write(&self, to: &mut [u8]);
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Parameter for $number {
            const BYTES: usize = size_of::<$number>();
            const ALIGN: usize = align_of::<$number>();

            fn write(&self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
numbers!(u32, i32, u64, f32, f64);

/// A kernel, ready to launch.
#[derive(Clone, Debug)]
pub struct GpuCall {
    /// The file that it is in.
    pub source: Source,
    /// Its name there.
    pub symbol: String,
    /// Blocks and threads.
    pub grid: Grid,
    /// In the order of its parameters.
    pub arguments: Vec<Argument>,
}

impl GpuCall {
    /// Without arguments.
    pub(super) fn new(source: Source, symbol: &str, grid: Grid) -> GpuCall {
        GpuCall { source, symbol: symbol.to_owned(), grid, arguments: Vec::new() }
    }

    /// With one argument more.
    pub(super) fn arg<P: Parameter>(mut self, value: &P) -> GpuCall {
        const { assert!(P::BYTES <= MOST) };
        let mut words = [0; MOST / 8];
        value.write(&mut bytemuck::cast_slice_mut(&mut words)[..P::BYTES]);
        self.arguments.push(Argument { words, bytes: P::BYTES, align: P::ALIGN });
        self
    }

    /// The parameters, one behind another where each is aligned: as PTX lays out those of an entry.
    #[must_use]
    pub fn parameters(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for argument in &self.arguments {
            bytes.resize(bytes.len().next_multiple_of(argument.align), 0);
            bytes.extend_from_slice(argument.bytes());
        }
        bytes
    }

    /// Queues it; without blocks there is nothing to do.
    ///
    /// # Safety
    /// The kernel takes arguments of these types in this order, and with this grid and these arguments it touches only memory of live
    /// buffers.
    ///
    /// # Errors
    /// [`EngineError::Device`](sparse_types::refusal::EngineError::Device) where the driver fails.
    pub(super) unsafe fn launch(&self, gpu: &Gpu) -> Result<(), Refusal> {
        if self.grid.blocks.contains(&0) {
            return Ok(());
        }
        // SAFETY: the caller promises what `Gpu::launch` asks for.
        unsafe { gpu.launch(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_where_each_is_aligned() {
        let grid = Grid { blocks: [1, 1], threads: 32, shared: 0 };
        let call = GpuCall::new(Source::Measure, "ffma", grid).arg(&1u32).arg(&2u64).arg(&1.0f32);
        let mut wanted = [0; 20];
        wanted[0] = 1;
        wanted[8] = 2;
        wanted[16..].copy_from_slice(&1.0f32.to_ne_bytes());
        assert_eq!(call.parameters(), wanted);
    }
}
