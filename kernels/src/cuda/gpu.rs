//! The GPU of this process: opened once, its modules loaded once, one stream for everything.
//!
//! ```text
//! Gpu::get -> function(source, symbol): committed PTX -> driver | source -> NVRTC -> driver     (cached)
//!          -> upload, zeros, download: typed buffers          one stream: launches and copies are in program order
//! ```
//!
//! Device memory that is asked for and not there is a refusal, as is anything else that the driver says no to.

#![expect(unsafe_code, reason = "asking for libraries and turning off cudarc's events between streams")]

use super::found::Found;
pub(super) use super::found::failed;
use super::source::Source;
use super::{CudaError, device};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DeviceRepr, DriverError, ValidAsZeroBits,
    sys,
};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use sparse_types::refusal::{EngineError, Refusal, RequestError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The first GPU, opened.
#[derive(Debug)]
pub struct Gpu {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    found: &'static Found,
    modules: Mutex<HashMap<Source, Arc<CudaModule>>>,
    functions: Mutex<HashMap<(Source, String), CudaFunction>>,
    /// Twice the size of L2, made when first written.
    scratch: Mutex<Option<CudaSlice<u8>>>,
}

impl Gpu {
    /// The GPU of this process, the same at every call.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where there is no driver or no GPU.
    pub fn get() -> Result<&'static Gpu, EngineError> {
        Gpu::probe().map_err(|error| EngineError::from(error.clone()))
    }

    /// As [`Gpu::get`], with the reason in full.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with what is missing.
    pub fn probe() -> Result<&'static Gpu, &'static CudaError> {
        static GPU: OnceLock<Result<Gpu, CudaError>> = OnceLock::new();
        GPU.get_or_init(Gpu::open).as_ref()
    }

    fn open() -> Result<Gpu, CudaError> {
        let found = Found::first().map_err(CudaError::clone)?;
        let absent =
            |error: DriverError| CudaError::Absent { reason: format!("the driver found no device: {error}") };
        let context = CudaContext::new(0).map_err(absent)?;
        // SAFETY: every buffer of this module is allocated, used and freed in the one stream made below, which orders
        // all of it; no other stream ever sees one (the field is private, and `stream` lends this same stream).
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(absent)?;
        Ok(Gpu {
            context,
            stream,
            found,
            modules: Mutex::default(),
            functions: Mutex::default(),
            scratch: Mutex::default(),
        })
    }

    /// Which GPU it is.
    #[must_use]
    pub const fn found(&self) -> &Found {
        self.found
    }

    /// The stream of all work. cudarc's launches and copies take it; wait with `synchronize`.
    #[must_use]
    pub(crate) const fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// A kernel, ready to launch; the module is loaded at the first call.
    ///
    /// # Errors
    /// [`EngineError::Device`] where the GPU is too old for the source, the driver does not take the PTX and NVRTC is missing or
    /// does not compile it, or the source has no such kernel.
    pub(crate) fn function(&self, source: Source, symbol: &str) -> Result<CudaFunction, Refusal> {
        let key = (source, symbol.to_owned());
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = functions.get(&key) {
            return Ok(found.clone());
        }
        let module = self.module(source)?;
        let function = module.load_function(symbol).map_err(failed("find a kernel in its module"))?;
        functions.insert(key, function.clone());
        Ok(function)
    }

    fn module(&self, source: Source) -> Result<Arc<CudaModule>, CudaError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = modules.get(&source) {
            return Ok(Arc::clone(found));
        }
        let row = source.row();
        if self.found.capability() < row.capability {
            return Err(CudaError::TooOld {
                kernel: row.name,
                needed: row.capability,
                found: self.found.capability(),
            });
        }
        let committed = source.precompiled().map(|ptx| self.context.load_module(Ptx::from_src(ptx)));
        let module = match committed {
            Some(Ok(module)) => module,
            // A driver older than the PTX, or PTX older than its source.
            refused => {
                let reason = match refused {
                    Some(Err(error)) => error.to_string(),
                    _ => "none fits its source".to_owned(),
                };
                let ptx = compile(source, self.found.capability()).map_err(|error| match error {
                    CudaError::Absent { reason: nvrtc } => {
                        CudaError::NoPtx { kernel: row.name, reason, nvrtc }
                    }
                    other => other,
                })?;
                self.context.load_module(Ptx::from_src(ptx)).map_err(failed("load a module"))?
            }
        };
        modules.insert(source, Arc::clone(&module));
        Ok(module)
    }

    /// A buffer with these elements. Device buffers have at least one element, which the driver insists on.
    ///
    /// # Errors
    /// [`EngineError::Device`] where memory is short or the driver fails.
    pub(crate) fn upload<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        elements: &[T],
    ) -> Result<CudaSlice<T>, Refusal> {
        if elements.is_empty() {
            return self.zeros(0);
        }
        let bytes = size_of_val(elements);
        Ok(self.stream.clone_htod(elements).map_err(memory(bytes))?)
    }

    /// A buffer of `len` zeros (one, where `len` is 0).
    ///
    /// # Errors
    /// [`EngineError::Device`] where memory is short or the driver fails.
    pub(crate) fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, len: usize) -> Result<CudaSlice<T>, Refusal> {
        let len = len.max(1);
        let bytes = len.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
        let bytes = bytes.ok_or(CudaError::Memory { bytes: usize::MAX })?;
        Ok(self.stream.alloc_zeros(len).map_err(memory(bytes))?)
    }

    /// Copies the first elements of a buffer into a slice, and waits for that and for all work before it.
    ///
    /// # Errors
    /// [`RequestError::Length`] where the buffer is shorter; [`EngineError::Device`] where a kernel before it failed.
    pub(crate) fn download<T: DeviceRepr>(
        &self,
        buffer: &CudaSlice<T>,
        into: &mut [T],
    ) -> Result<(), Refusal> {
        if into.is_empty() {
            return self.wait();
        }
        let Some(view) = buffer.try_slice(..into.len()) else {
            return Err(Refusal::Request(RequestError::Length {
                field: "device buffer",
                expected: into.len(),
                found: buffer.len(),
            }));
        };
        self.stream.memcpy_dtoh(&view, into).map_err(failed("download a result"))?;
        self.wait()
    }

    /// Makes the context current on this thread, for libraries that do not do so themselves.
    pub(super) fn bind(&self) -> Result<(), Refusal> {
        Ok(self.context.bind_to_thread().map_err(failed("take a thread"))?)
    }

    /// Queues a write of twice the size of L2, so that nothing of before is left in it.
    pub(super) fn flush(&self) -> Result<(), Refusal> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match scratch.take() {
            Some(buffer) => scratch.insert(buffer),
            None => {
                let bytes =
                    self.found.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
                scratch.insert(self.zeros(2 * bytes)?)
            }
        };
        Ok(self.stream.memset_zeros(buffer).map_err(failed("write memory"))?)
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// [`EngineError::Device`] where a kernel failed.
    pub(crate) fn wait(&self) -> Result<(), Refusal> {
        Ok(self.stream.synchronize().map_err(failed("finish a kernel"))?)
    }
}

/// Compiles a source for a device of this capability. Needs NVRTC, no GPU.
fn compile(source: Source, (major, minor): (i32, i32)) -> Result<String, CudaError> {
    device::nvrtc_version()?;
    let row = source.row();
    let target = format!("compute_{major}{minor}");
    let options = CompileOptions {
        // As in `ci/ptx.sh`, but for the device at hand.
        options: vec![format!("--gpu-architecture={target}"), "--std=c++17".to_owned()],
        name: Some(format!("{}.cu", row.name)),
        ..CompileOptions::default()
    };
    let ptx = compile_ptx_with_opts(source.unit(), options).map_err(|error| CudaError::Compile {
        kernel: row.name.to_owned(),
        target,
        log: match error {
            CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            other => other.to_string(),
        },
    })?;
    Ok(ptx.to_src())
}

fn memory(bytes: usize) -> impl Fn(DriverError) -> CudaError {
    move |error| match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => CudaError::Memory { bytes },
        _ => failed("allocate and fill memory")(error),
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
        assert!(!gpu.found().name().is_empty());
        for len in [1 << 50, usize::MAX] {
            let refused = gpu.zeros::<u64>(len).map(|_| ()).expect_err("no GPU has so much");
            assert!(matches!(refused, Refusal::Engine(EngineError::Device { .. })), "{refused}");
        }
    }
}
