//! What the device can do at most, measured: bytes per second of a copy, fused multiply-adds per second. And an empty L2.

#![expect(unsafe_code, reason = "launching a kernel has no safe form")]

use super::gpu::Gpu;
use super::launch::{GpuCall, Grid};
use super::meter::clocked;
use super::source::Source;
use sparse_types::refusal::Refusal;

/// The kernels of the source.
pub(super) const SYMBOLS: &[&str] = &["ffma", "read_all"];

const REPEATS: usize = 5;
/// Bytes of each of the two buffers of a copy.
const COPIED: usize = 1 << 30;
/// Iterations, chains times steps of one, threads of a block.
const STEPS: (u32, f64, u32) = (2000, 16.0 * 8.0, 256);

/// Bytes read and written per second by a copy on the device, the best of a few.
///
/// # Errors
/// Too little memory, or the driver's.
pub fn copy_bandwidth(gpu: &Gpu) -> Result<f64, Refusal> {
    let from = gpu.zeros::<u8>(COPIED)?;
    let to = gpu.zeros::<u8>(COPIED)?;
    let silicon = gpu.silicon()?;
    let mut copy = || silicon.copy(from.address(), to.address());
    let mut best = f64::INFINITY;
    for _ in 0..=REPEATS {
        best = best.min(clocked(gpu, &mut copy, 4)?);
    }
    Ok(2.0 * COPIED as f64 / best)
}

/// Operations on f32 per second, two for each fused multiply-add, the best of a few.
///
/// # Errors
/// The driver's.
pub fn peak_f32(gpu: &Gpu) -> Result<f64, Refusal> {
    let out = gpu.zeros::<f32>(1)?;
    let (steps, each, threads) = STEPS;
    let blocks = gpu.multiprocessors()? as u32 * 8;
    let grid = Grid { blocks: [blocks, 1], threads, shared: 0 };
    let call = GpuCall::new(Source::Measure, "ffma", grid).arg(&out.address()).arg(&steps).arg(&0.5f32);
    // SAFETY: a pointer to one float, a u32 and a float, as the kernel takes them; it writes no more than that float.
    let mut launch = || unsafe { call.launch(gpu) };
    let mut best = f64::INFINITY;
    for _ in 0..=REPEATS {
        best = best.min(clocked(gpu, &mut launch, 2)?);
    }
    Ok(2.0 * each * f64::from(steps) * f64::from(threads) * f64::from(blocks) / best)
}

/// Queues a read of twice the size of L2, so that nothing of before is left in it. What is read was not written, so that the kernel
/// after it does not pay for writing it back.
pub(super) fn flush(gpu: &Gpu) -> Result<(), Refusal> {
    let (address, bytes) = gpu.silicon()?.scratch()?;
    let blocks = gpu.multiprocessors()? as u32 * 8;
    let grid = Grid { blocks: [blocks, 1], threads: STEPS.2, shared: 0 };
    let count = bytes as u64 / 16;
    let call = GpuCall::new(Source::Measure, "read_all", grid).arg(&address).arg(&count).arg(&address);
    // SAFETY: a pointer, a number of 16-byte words that lie there (the buffer is aligned to more), and where to write if one of them
    // is not zero; all of them are, since nothing else writes there.
    unsafe { call.launch(gpu) }
}
