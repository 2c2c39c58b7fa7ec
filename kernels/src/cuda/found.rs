//! The first GPU of this machine, asked what it is without being opened: tables of kernels and the declared arithmetic of tensor
//! cores need its architecture on every start, and a context costs a tenth of a second and hundreds of megabytes.
//!
//! Source: CUDA driver API 13.0, device management, which needs `cuInit` and no context.

#![expect(unsafe_code, reason = "asking the driver for an attribute and a version has no safe form")]

use super::{CudaError, library};
use cudarc::driver::{DriverError, result, sys};
use sparse_types::arithmetic::Architecture;
use std::sync::OnceLock;

/// What there is.
#[derive(Debug)]
pub struct Found {
    device: sys::CUdevice,
    name: String,
    capability: (i32, i32),
}

impl Found {
    /// The first GPU, the same at every call.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with what is missing.
    pub fn first() -> Result<&'static Found, &'static CudaError> {
        static FOUND: OnceLock<Result<Found, CudaError>> = OnceLock::new();
        FOUND.get_or_init(Found::look).as_ref()
    }

    fn look() -> Result<Found, CudaError> {
        use sys::CUdevice_attribute as Attribute;
        library::driver()?;
        let absent =
            |error: DriverError| CudaError::Absent { reason: format!("the driver found no device: {error}") };
        result::init().map_err(absent)?;
        let device = result::device::get(0).map_err(absent)?;
        let mut found =
            Found { device, name: result::device::get_name(device).map_err(absent)?, capability: (0, 0) };
        found.capability = (
            found.number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            found.number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        Ok(found)
    }

    /// The product's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compute capability, major and minor.
    #[must_use]
    pub const fn capability(&self) -> (i32, i32) {
        self.capability
    }

    /// The architecture that the models know, or none.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        let (major, minor) = self.capability;
        Architecture::from_name(&format!("sm_{major}{minor}"))
    }

    /// A property of the device, such as its number of multiprocessors.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the driver does not say.
    pub fn attribute(&self, which: sys::CUdevice_attribute) -> Result<usize, CudaError> {
        Ok(usize::try_from(self.number(which)?).unwrap_or(0))
    }

    fn number(&self, which: sys::CUdevice_attribute) -> Result<i32, CudaError> {
        // SAFETY: the device was given by the driver, which was initialised before.
        unsafe { result::device::get_attribute(self.device, which) }.map_err(failed("read an attribute"))
    }

    /// Multiprocessors.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the driver does not say.
    pub fn multiprocessors(&self) -> Result<usize, CudaError> {
        self.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    }

    /// Most bytes of shared memory that a block may ask for.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the driver does not say.
    pub(super) fn shared_limit(&self) -> Result<usize, CudaError> {
        self.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    }

    /// CUDA version that the driver supports: 13000 for 13.0.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the driver does not say.
    pub fn driver_version(&self) -> Result<i32, CudaError> {
        let mut version = 0;
        // SAFETY: cuDriverGetVersion writes one int through a pointer to a live local.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(failed("tell its version"))?;
        Ok(version)
    }
}

/// An error of the driver, with what was tried.
pub(super) fn failed(what: &'static str) -> impl Fn(DriverError) -> CudaError {
    move |error| CudaError::Driver { what, reason: error.to_string() }
}
