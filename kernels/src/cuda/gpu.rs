//! A GPU that kernels are launched on: the first one of this machine, or a machine that plays one.
//!
//! ```text
//! Gpu::get          silicon: CUDA's driver through cudarc, one for the process
//! Gpu::played(m)    a `GpuMachine`: whatever stores bytes and runs PTX, as many as are made
//!       |
//!       +-- upload, zeros, download: typed buffers;  GpuCall: a kernel with its arguments
//! ```
//!
//! Host code (plans, buffers, launches) is the same on both. A [`GpuMachine`] checks every access for itself, so that launching on one is
//! safe; on silicon it is not, which is why a [`GpuCall`] is launched in an `unsafe` block that says what keeps it inside of its buffers.

#![expect(unsafe_code, reason = "launching a kernel on silicon has no safe form")]

use super::CudaError;
use super::buffer::{DeviceElement, GpuBuffer};
use super::found::Found;
use super::launch::GpuCall;
use super::silicon::Silicon;
use sparse_types::arithmetic::Architecture;
use sparse_types::refusal::{EngineError, Refusal, RequestError};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// A GPU. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Gpu(Arc<GpuKind>);

#[derive(Debug)]
enum GpuKind {
    Silicon(Box<Silicon>),
    Played(Box<dyn GpuMachine>),
}

/// What plays a GPU: memory by address, and launches of PTX.
///
/// Every method may be called from any thread. Addresses are the machine's own; an access outside of what was allocated must be
/// refused or reported by the machine, and never touch the memory of this process.
pub trait GpuMachine: Debug + Send + Sync {
    /// Which architecture it plays.
    fn architecture(&self) -> Architecture;
    /// Multiprocessors that host code shares work out to.
    fn multiprocessors(&self) -> usize;
    /// Most bytes of shared memory that a block may ask for.
    fn shared_limit(&self) -> usize;
    /// The address of so many bytes, at a multiple of 256.
    ///
    /// # Errors
    /// [`CudaError::Memory`] where there are not so many left.
    fn allocate(&self, bytes: usize) -> Result<u64, CudaError>;
    /// Gives memory back that [`allocate`](GpuMachine::allocate) gave.
    fn free(&self, address: u64);
    /// Copies from the host.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the bytes do not lie in one allocation.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), CudaError>;
    /// Copies to the host.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the bytes do not lie in one allocation.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), CudaError>;
    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the launch cannot be done.
    fn launch(&self, call: &GpuCall) -> Result<(), CudaError>;
}

impl Gpu {
    /// The first GPU of this machine, the same at every call.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where there is no driver or no GPU.
    pub fn get() -> Result<&'static Gpu, EngineError> {
        Gpu::probe().map_err(|error| EngineError::from(error.clone()))
    }

    /// This one, or where there is none the first GPU of this machine.
    ///
    /// # Errors
    /// As [`get`](Gpu::get).
    pub(super) fn or_first(given: Option<&Gpu>) -> Result<&Gpu, EngineError> {
        match given {
            Some(gpu) => Ok(gpu),
            None => Gpu::get(),
        }
    }

    /// As [`Gpu::get`], with the reason in full.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with what is missing.
    pub fn probe() -> Result<&'static Gpu, &'static CudaError> {
        static GPU: OnceLock<Result<Gpu, CudaError>> = OnceLock::new();
        GPU.get_or_init(|| Ok(Gpu(Arc::new(GpuKind::Silicon(Box::new(Silicon::open()?)))))).as_ref()
    }

    /// A GPU that a machine plays.
    #[must_use]
    pub fn played(machine: Box<dyn GpuMachine>) -> Gpu {
        Gpu(Arc::new(GpuKind::Played(machine)))
    }

    /// The driver's own view, for what no machine plays: NVIDIA's libraries, events, a flush of L2.
    ///
    /// # Errors
    /// [`EngineError::Device`] where this is a played GPU.
    pub(super) fn silicon(&self) -> Result<&Silicon, Refusal> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => Ok(silicon),
            GpuKind::Played(_) => Err(EngineError::Device {
                device: "PTX",
                reason: "a played GPU has no clock and none of NVIDIA's libraries; use a real one".to_owned(),
            }
            .into()),
        }
    }

    /// Which GPU of this machine it is; none where it is played.
    #[must_use]
    pub fn found(&self) -> Option<&'static Found> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => Some(silicon.found()),
            GpuKind::Played(_) => None,
        }
    }

    /// The architecture that the models know, or none.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.found().architecture(),
            GpuKind::Played(machine) => Some(machine.architecture()),
        }
    }

    /// Multiprocessors.
    ///
    /// # Errors
    /// [`EngineError::Device`] where the driver does not say.
    pub(super) fn multiprocessors(&self) -> Result<usize, Refusal> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => Ok(silicon.found().multiprocessors()?),
            GpuKind::Played(machine) => Ok(machine.multiprocessors()),
        }
    }

    /// Most bytes of shared memory that a block may ask for.
    ///
    /// # Errors
    /// [`EngineError::Device`] where the driver does not say.
    pub(super) fn shared_limit(&self) -> Result<usize, Refusal> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => Ok(silicon.found().shared_limit()?),
            GpuKind::Played(machine) => Ok(machine.shared_limit()),
        }
    }

    /// A buffer with these elements. Device buffers have at least one element, which the driver insists on.
    ///
    /// # Errors
    /// [`EngineError::Device`] where memory is short or the driver fails.
    pub(crate) fn upload<T: DeviceElement>(&self, elements: &[T]) -> Result<GpuBuffer<T>, Refusal> {
        if elements.is_empty() {
            return self.zeros(0);
        }
        let bytes = bytemuck::cast_slice(elements);
        let address = match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.upload(bytes)?,
            GpuKind::Played(machine) => {
                let address = machine.allocate(bytes.len())?;
                machine.write(address, bytes)?;
                address
            }
        };
        Ok(GpuBuffer::new(self.clone(), address, elements.len()))
    }

    /// A buffer of `len` zeros (one, where `len` is 0).
    ///
    /// # Errors
    /// [`EngineError::Device`] where memory is short or the driver fails.
    pub(crate) fn zeros<T: DeviceElement>(&self, len: usize) -> Result<GpuBuffer<T>, Refusal> {
        let len = len.max(1);
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or(CudaError::Memory { bytes: usize::MAX })?;
        let address = match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.zeros(bytes)?,
            GpuKind::Played(machine) => {
                let address = machine.allocate(bytes)?;
                machine.write(address, &vec![0; bytes])?;
                address
            }
        };
        Ok(GpuBuffer::new(self.clone(), address, len))
    }

    /// Copies the first elements of a buffer into a slice, and waits for that and for all work before it.
    ///
    /// # Errors
    /// [`RequestError::Length`] where the buffer is shorter; [`EngineError::Device`] where a kernel before it failed.
    pub(crate) fn download<T: DeviceElement>(
        &self,
        buffer: &GpuBuffer<T>,
        into: &mut [T],
    ) -> Result<(), Refusal> {
        if into.is_empty() {
            return self.wait();
        }
        if into.len() > buffer.len() {
            return Err(Refusal::Request(RequestError::Length {
                field: "device buffer",
                expected: into.len(),
                found: buffer.len(),
            }));
        }
        let bytes = bytemuck::cast_slice_mut(into);
        match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.read(buffer.address(), bytes)?,
            GpuKind::Played(machine) => machine.read(buffer.address(), bytes)?,
        }
        self.wait()
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// [`EngineError::Device`] where a kernel failed.
    pub(crate) fn wait(&self) -> Result<(), Refusal> {
        match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.wait(),
            GpuKind::Played(_) => Ok(()),
        }
    }

    /// Gives the memory of a buffer back.
    pub(super) fn free(&self, address: u64) {
        match &*self.0 {
            GpuKind::Silicon(silicon) => silicon.free(address),
            GpuKind::Played(machine) => machine.free(address),
        }
    }

    /// Queues a kernel.
    ///
    /// # Safety
    /// The kernel takes arguments of these sizes in this order, and with this grid and these arguments it touches only memory of live
    /// buffers. (A played GPU needs no promise: it checks every access.)
    pub(super) unsafe fn launch(&self, call: &GpuCall) -> Result<(), Refusal> {
        match &*self.0 {
            // SAFETY: the caller promises what silicon needs.
            GpuKind::Silicon(silicon) => unsafe { silicon.launch(call) },
            GpuKind::Played(machine) => Ok(machine.launch(call)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a GPU: a typed refusal, no panic. With one: a name, and an allocation past its memory is refused.
    #[test]
    fn what_is_not_there_is_refused() {
        let gpu = match Gpu::get() {
            Ok(gpu) => gpu,
            Err(refusal) => {
                assert_eq!(refusal, EngineError::Unavailable { feature: "cuda" });
                eprintln!("SKIPPED: 2 allocations on a GPU: {refusal}");
                return;
            }
        };
        assert!(gpu.found().is_some_and(|found| !found.name().is_empty()));
        for len in [1 << 50, usize::MAX] {
            let refused = gpu.zeros::<u64>(len).map(|_| ()).expect_err("no GPU has so much");
            assert!(matches!(refused, Refusal::Engine(EngineError::Device { .. })), "{refused}");
        }
    }
}
