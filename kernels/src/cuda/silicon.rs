//! The GPU of this process: opened once, its modules loaded once, one stream for everything.
//!
//! ```text
//! open -> launch(call): committed PTX -> driver | source -> NVRTC -> driver     (cached)
//!      -> upload, zeros, read: bytes by address         one stream: launches and copies are in program order
//! ```
//!
//! Device memory that is asked for and not there is a refusal, as is anything else that the driver says no to.

#![expect(unsafe_code, reason = "launching a kernel and turning off cudarc's events between streams")]

use super::found::Found;
pub(super) use super::found::failed;
use super::launch::{Argument, GpuCall};
use super::source::Source;
use super::{CudaError, device};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    LaunchConfig, PushKernelArg, sys,
};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use sparse_types::refusal::Refusal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The first GPU, opened.
#[derive(Debug)]
pub(super) struct Silicon {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    found: &'static Found,
    modules: Mutex<HashMap<Source, Arc<CudaModule>>>,
    functions: Mutex<HashMap<(Source, String), CudaFunction>>,
    /// Memory by its address.
    memory: Mutex<HashMap<u64, CudaSlice<u8>>>,
    /// Twice the size of L2, made when first written.
    scratch: Mutex<Option<CudaSlice<u8>>>,
}

// SAFETY: bytes from the start on are what a kernel copies; a pointer to an argument is one to all of its bytes.
unsafe impl DeviceRepr for Argument {}
const _: () = assert!(std::mem::offset_of!(Argument, words) == 0);

impl Silicon {
    /// Opens the first GPU.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with what is missing.
    pub(super) fn open() -> Result<Silicon, CudaError> {
        let found = Found::first().map_err(CudaError::clone)?;
        let absent =
            |error: DriverError| CudaError::Absent { reason: format!("the driver found no device: {error}") };
        let context = CudaContext::new(0).map_err(absent)?;
        // SAFETY: every buffer of this module is allocated, used and freed in the one stream made below, which orders
        // all of it; no other stream ever sees one (the field is private, and `stream` lends this same stream).
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(absent)?;
        Ok(Silicon {
            context,
            stream,
            found,
            modules: Mutex::default(),
            functions: Mutex::default(),
            memory: Mutex::default(),
            scratch: Mutex::default(),
        })
    }

    /// Which GPU it is.
    #[must_use]
    pub(super) const fn found(&self) -> &'static Found {
        self.found
    }

    /// The stream of all work. cudarc's launches and copies take it; wait with `synchronize`.
    #[must_use]
    pub(super) const fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// A kernel, ready to launch; the module is loaded at the first call.
    ///
    /// # Errors
    /// A device error where the GPU is too old for the source, the driver does not take the PTX and NVRTC is missing or
    /// does not compile it, or the source has no such kernel.
    fn function(&self, source: Source, symbol: &str) -> Result<CudaFunction, Refusal> {
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

    /// The address of memory with these bytes.
    ///
    /// # Errors
    /// [`CudaError::Memory`] where memory is short, [`CudaError::Driver`].
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<u64, CudaError> {
        Ok(self.keep(self.stream.clone_htod(bytes).map_err(memory(bytes.len()))?))
    }

    /// The address of so many zeros.
    ///
    /// # Errors
    /// [`CudaError::Memory`] where memory is short, [`CudaError::Driver`].
    pub(super) fn zeros(&self, bytes: usize) -> Result<u64, CudaError> {
        Ok(self.keep(self.stream.alloc_zeros(bytes).map_err(memory(bytes))?))
    }

    fn keep(&self, slice: CudaSlice<u8>) -> u64 {
        let address = slice.device_ptr(&self.stream).0;
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).insert(address, slice);
        address
    }

    /// Gives memory back, in the order of the stream.
    pub(super) fn free(&self, address: u64) {
        let slice = self.memory.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
        drop(slice);
    }

    /// Copies from the start of what [`upload`](Self::upload) or [`zeros`](Self::zeros) gave.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where a kernel before it failed, or there are not so many bytes.
    pub(super) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), CudaError> {
        let what = "download a result";
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let view = memory.get(&address).and_then(|slice| slice.try_slice(..into.len()));
        let view = view.ok_or_else(|| CudaError::Driver {
            what,
            reason: format!("no {} bytes were allocated there", into.len()),
        })?;
        self.stream.memcpy_dtoh(&view, into).map_err(failed(what))
    }

    /// Queues a copy of all that the first address has to the second, which has as much.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where these are not two allocations of one size.
    pub(super) fn copy(&self, from: u64, to: u64) -> Result<(), Refusal> {
        let what = "copy memory";
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        match memory.get_disjoint_mut([&from, &to]) {
            [Some(from), Some(to)] if from.len() == to.len() => {
                Ok(self.stream.memcpy_dtod(from, to).map_err(failed(what))?)
            }
            _ => {
                let reason = "two allocations of one size are needed".to_owned();
                Err(CudaError::Driver { what, reason }.into())
            }
        }
    }

    /// Queues a kernel.
    ///
    /// # Safety
    /// The kernel takes arguments of these sizes in this order, and with this grid and these arguments it touches only memory of live
    /// buffers.
    pub(super) unsafe fn launch(&self, call: &GpuCall) -> Result<(), Refusal> {
        let function = self.function(call.source, &call.symbol)?;
        let grid = call.grid;
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
            grid_dim: (grid.blocks[0], grid.blocks[1], 1),
            block_dim: (grid.threads, 1, 1),
            shared_mem_bytes: grid.shared,
        };
        let mut builder = self.stream.launch_builder(&function);
        for argument in &call.arguments {
            builder.arg(argument);
        }
        // SAFETY: the driver copies each argument from a pointer to all of its bytes; the caller promises that the kernel takes such
        // arguments, and that with them and this grid it touches only memory of live buffers.
        unsafe { builder.launch(config) }.map_err(failed("launch a kernel"))?;
        drop(asked);
        Ok(())
    }

    /// Makes the context current on this thread, for libraries that do not do so themselves.
    pub(super) fn bind(&self) -> Result<(), Refusal> {
        Ok(self.context.bind_to_thread().map_err(failed("take a thread"))?)
    }

    /// The address and the bytes of a buffer of zeros, twice the size of L2.
    pub(super) fn scratch(&self) -> Result<(u64, usize), Refusal> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match scratch.take() {
            Some(buffer) => scratch.insert(buffer),
            None => {
                let bytes =
                    self.found.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
                scratch.insert(self.stream.alloc_zeros(2 * bytes).map_err(memory(2 * bytes))?)
            }
        };
        let address = buffer.device_ptr(&self.stream).0;
        Ok((address, buffer.len()))
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where a kernel failed.
    pub(super) fn wait(&self) -> Result<(), Refusal> {
        Ok(self.stream.synchronize().map_err(failed("finish a kernel"))?)
    }
}

/// Compiles a source for a device of this capability. Needs NVRTC, no GPU.
fn compile(source: Source, (major, minor): (i32, i32)) -> Result<String, CudaError> {
    device::nvrtc_version()?;
    let row = source.row();
    let target = format!("compute_{major}{minor}{}", if row.is_bound() { "a" } else { "" });
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
