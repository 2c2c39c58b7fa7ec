//! Launching a kernel whose one parameter is a struct of addresses and numbers, by value.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::gpu::{Gpu, failed};
use super::source::Source;
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, LaunchConfig, PushKernelArg, sys};
use sparse_types::refusal::{Refusal, RequestError};
use std::sync::{Mutex, PoisonError};

/// How many blocks, of what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    blocks: u32,
    threads: u32,
    /// Bytes of dynamic shared memory.
    shared: u32,
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
        Ok(Grid { blocks: blocks as u32, threads, shared })
    }
}

/// Most bytes of shared memory that a block may ask for.
pub(super) fn shared_limit(gpu: &Gpu) -> Result<usize, Refusal> {
    let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    Ok(gpu.found().attribute(most)?)
}

/// Where a buffer is on the device, for work in the GPU's one stream.
pub(super) fn address<T>(gpu: &Gpu, buffer: &CudaSlice<T>) -> u64 {
    buffer.device_ptr(gpu.stream()).0
}

/// Where a buffer that is written is on the device.
pub(super) fn address_mut<T>(gpu: &Gpu, buffer: &mut CudaSlice<T>) -> u64 {
    buffer.device_ptr_mut(gpu.stream()).0
}

/// Queues a kernel; without blocks there is nothing to do.
///
/// # Safety
/// The kernel's one parameter is a struct of the layout of `T`, and with these blocks, threads, shared memory and arguments it
/// touches only memory of live buffers.
///
/// # Errors
/// [`EngineError::Device`](sparse_types::refusal::EngineError::Device) where the driver fails.
pub(super) unsafe fn by_value<T: DeviceRepr>(
    gpu: &Gpu,
    source: Source,
    symbol: &str,
    grid: Grid,
    arguments: &T,
) -> Result<(), Refusal> {
    if grid.blocks == 0 {
        return Ok(());
    }
    let function = gpu.function(source, symbol)?;
    // 48 KiB are allowed without asking. What is asked for holds until the next call asks for other: no launch of another thread
    // may come between.
    static ASKED: Mutex<()> = Mutex::new(());
    let mut asked = None;
    if grid.shared > 48 << 10 {
        asked = Some(ASKED.lock().unwrap_or_else(PoisonError::into_inner));
        use sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        function
            .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, grid.shared as i32)
            .map_err(failed("give a kernel its shared memory"))?;
    }
    let config = LaunchConfig {
        grid_dim: (grid.blocks, 1, 1),
        block_dim: (grid.threads, 1, 1),
        shared_mem_bytes: grid.shared,
    };
    let mut builder = gpu.stream().launch_builder(&function);
    builder.arg(arguments);
    // SAFETY: the caller of `by_value` promises that the kernel takes one struct of T's layout, and that with this grid and these
    // arguments it touches only memory of live buffers.
    unsafe { builder.launch(config) }.map_err(failed("launch a kernel"))?;
    drop(asked);
    Ok(())
}
