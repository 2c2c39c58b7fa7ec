//! The executor that is a GPU.

use super::driver::Executor;
use super::operands::Batch;
use sparse_kernels::cuda::probe::Probe;
use sparse_kernels::cuda::{CudaError, Device, Found, Loaded};

/// A GPU and the kernel that it has loaded.
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    loaded: Option<Loaded>,
}

impl Gpu {
    /// The first GPU.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with the reason.
    pub fn open() -> Result<Gpu, CudaError> {
        Ok(Gpu { device: Device::open()?, loaded: None })
    }

    /// Which GPU it is.
    #[must_use]
    pub const fn found(&self) -> &Found {
        self.device.found()
    }
}

impl Executor for Gpu {
    fn load(&mut self, probe: &Probe) -> Result<(), String> {
        // The last kernel's buffers are freed first.
        self.loaded = None;
        self.loaded = Some(self.device.load(*probe).map_err(|e| e.to_string())?);
        Ok(())
    }

    fn run(&mut self, batch: &mut Batch) -> Result<(), String> {
        let loaded = self.loaded.as_mut().ok_or("no kernel is loaded")?;
        let [a, b, c, metadata] = &batch.operands;
        loaded.run(batch.groups, [a, b, c, metadata], &mut batch.d).map_err(|e| e.to_string())
    }
}
