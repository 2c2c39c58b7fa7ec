//! One GPU: found or not, named, and asked to run probe kernels over checked buffers.

#![expect(
    unsafe_code,
    reason = "launching a kernel and asking for libraries have no safe form"
)]

use super::probe::{Probe, Words};
use super::{CudaError, library};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use sparse_oracle::arithmetic::Architecture;
use std::sync::Arc;

/// An opened GPU.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    name: String,
    capability: (i32, i32),
}

/// A compiled probe kernel with device buffers that grow as needed.
#[derive(Debug)]
pub struct Loaded {
    probe: Probe,
    function: CudaFunction,
    stream: Arc<CudaStream>,
    /// A, B, C, metadata, D.
    buffers: [Option<CudaSlice<u32>>; 5],
}

/// Threads of a block: four warps, or one warpgroup.
const BLOCK: usize = 128;

impl Device {
    /// The first GPU.
    ///
    /// # Errors
    /// [`CudaError::Absent`] with the reason where there is no driver, no NVRTC or no GPU.
    pub fn open() -> Result<Device, CudaError> {
        let absent = |reason: String| CudaError::Absent { reason };
        library::driver()?;
        nvrtc_version()?;
        let failed = |e: DriverError| absent(format!("the driver found no device: {e}"));
        let context = CudaContext::new(0).map_err(failed)?;
        let name = context.name().map_err(failed)?;
        let capability = context.compute_capability().map_err(failed)?;
        let stream = context.default_stream();
        Ok(Device {
            context,
            stream,
            name,
            capability,
        })
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

    /// Multiprocessors.
    ///
    /// # Errors
    /// Where the driver does not say.
    pub fn multiprocessors(&self) -> Result<i32, CudaError> {
        use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        self.context
            .attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(driver("count multiprocessors"))
    }

    /// CUDA version that the driver supports: 13000 for 13.0.
    ///
    /// # Errors
    /// Where the driver does not say.
    pub fn driver_version(&self) -> Result<i32, CudaError> {
        let mut version = 0;
        // SAFETY: cuDriverGetVersion writes one int through a pointer to a live local, and needs no context.
        unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version) }
            .result()
            .map_err(driver("tell its version"))?;
        Ok(version)
    }

    /// Compiles one probe kernel for this device and loads it.
    ///
    /// # Errors
    /// [`CudaError::Compile`] with the compiler's log, [`CudaError::Driver`].
    pub fn load(&self, probe: Probe) -> Result<Loaded, CudaError> {
        let (major, minor) = self.capability;
        let ptx = compile(&probe, target(major, minor))?;
        let module = self.context.load_module(ptx).map_err(driver("load a module"))?;
        let function = module
            .load_function(&probe.symbol())
            .map_err(driver("find a kernel"))?;
        Ok(Loaded {
            probe,
            function,
            stream: Arc::clone(&self.stream),
            buffers: [const { None }; 5],
        })
    }
}

/// NVRTC's version, or why it cannot be asked. Needs no GPU.
///
/// # Errors
/// [`CudaError::Absent`] where the library is missing.
pub fn nvrtc_version() -> Result<(i32, i32), CudaError> {
    // SAFETY: only tries to open a shared library by name.
    if !library::present(|| unsafe { cudarc::nvrtc::sys::is_culib_present() }) {
        return Err(CudaError::Absent {
            reason: "libnvrtc.so of CUDA 13 is not found; put its folder into LD_LIBRARY_PATH".to_owned(),
        });
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: nvrtcVersion writes two ints through pointers to live locals.
    unsafe { cudarc::nvrtc::sys::nvrtcVersion(&raw mut major, &raw mut minor) }
        .result()
        .map_err(|e| CudaError::Driver {
            what: "tell NVRTC's version",
            reason: e.to_string(),
        })?;
    Ok((major, minor))
}

/// PTX of one probe kernel for a virtual architecture such as `compute_90a`. Needs NVRTC, no GPU.
///
/// # Errors
/// [`CudaError::Absent`] without NVRTC, [`CudaError::Compile`] with its log.
pub fn compile_text(probe: &Probe, target: &'static str) -> Result<String, CudaError> {
    nvrtc_version()?;
    Ok(compile(probe, target)?.to_src())
}

fn compile(probe: &Probe, target: &'static str) -> Result<Ptx, CudaError> {
    let options = CompileOptions {
        arch: Some(target),
        name: Some(format!("{}.cu", probe.symbol())),
        ..CompileOptions::default()
    };
    compile_ptx_with_opts(probe.source(), options).map_err(|error| CudaError::Compile {
        kernel: probe.name(),
        target: target.to_owned(),
        log: match error {
            CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            other => other.to_string(),
        },
    })
}

/// The target with architecture-specific instructions (`wgmma`) where there is one.
fn target(major: i32, minor: i32) -> &'static str {
    match (major, minor) {
        (7, 0) => "compute_70",
        (7, _) => "compute_75",
        (8, 0) => "compute_80",
        (8, 9) => "compute_89",
        (8, _) => "compute_86",
        (9, _) => "compute_90a",
        (10, _) => "compute_100a",
        _ => "compute_120a",
    }
}

fn driver(what: &'static str) -> impl Fn(DriverError) -> CudaError {
    move |error| CudaError::Driver {
        what,
        reason: error.to_string(),
    }
}

impl Loaded {
    /// What it runs.
    #[must_use]
    pub const fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Runs `groups` groups; word `(group * words + i) * lanes + lane` is word i of that lane's registers, and B of a
    /// warpgroup is its tile in shared memory, contiguous. `d` is uploaded first, so that a word that the kernel leaves alone
    /// keeps its value. Returns when `d` is written.
    ///
    /// # Errors
    /// [`CudaError::Length`] where a slice is not exactly as long as the kernel reads or writes, [`CudaError::Driver`].
    pub fn run(
        &mut self,
        groups: usize,
        [a, b, c, meta]: [&[u32]; 4],
        d: &mut [u32],
    ) -> Result<(), CudaError> {
        let words = self.probe.words();
        let count = self.check(groups, [a, b, c, meta], d)?;
        if groups == 0 {
            return Ok(());
        }
        for (i, host) in [a, b, c, meta, &*d].into_iter().enumerate() {
            let stream = Arc::clone(&self.stream);
            let buffer = self.reserve(i, host.len())?;
            stream.memcpy_htod(host, buffer).map_err(driver("upload"))?;
        }
        self.launch(groups, count, words)?;
        let Some(result) = &self.buffers[4] else {
            return Ok(());
        };
        let stream = Arc::clone(&self.stream);
        stream.synchronize().map_err(driver("finish a kernel"))?;
        stream
            .memcpy_dtoh(&result.slice(..d.len()), d)
            .map_err(driver("download"))?;
        stream.synchronize().map_err(driver("download"))
    }

    /// Every length, and the number of groups as the kernel takes it.
    fn check(&self, groups: usize, given: [&[u32]; 4], d: &[u32]) -> Result<u32, CudaError> {
        let words = self.probe.words();
        let lanes = words.lanes;
        let each = [
            words.a * lanes,
            words.b_group,
            words.c * lanes,
            lanes,
            words.c * lanes,
        ];
        let limit = i32::MAX as usize / 4;
        if groups > limit {
            return Err(CudaError::TooMany {
                kernel: self.probe.name(),
                groups,
                limit,
            });
        }
        let lengths = [
            given[0].len(),
            given[1].len(),
            given[2].len(),
            given[3].len(),
            d.len(),
        ];
        for ((actual, each), operand) in lengths
            .into_iter()
            .zip(each)
            .zip(["A", "B", "C", "metadata", "D"])
        {
            if actual != groups * each {
                return Err(CudaError::Length {
                    kernel: self.probe.name(),
                    operand,
                    groups,
                    expected: groups * each,
                    actual,
                });
            }
        }
        u32::try_from(groups).map_err(|_| CudaError::TooMany {
            kernel: self.probe.name(),
            groups,
            limit,
        })
    }

    /// Buffer `i` with at least `len` words.
    fn reserve(&mut self, i: usize, len: usize) -> Result<&mut CudaSlice<u32>, CudaError> {
        let buffer = match self.buffers[i].take() {
            Some(old) if old.len() >= len => old,
            _ => self
                .stream
                .alloc_zeros::<u32>(len)
                .map_err(driver("allocate memory"))?,
        };
        Ok(self.buffers[i].insert(buffer))
    }

    fn launch(&mut self, groups: usize, count: u32, words: Words) -> Result<(), CudaError> {
        let [Some(a), Some(b), Some(c), Some(meta), Some(d)] = &mut self.buffers else {
            return Ok(());
        };
        let blocks = (groups * words.lanes).div_ceil(BLOCK);
        let config = LaunchConfig {
            grid_dim: (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1),
            block_dim: (BLOCK as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut arguments = self.stream.launch_builder(&self.function);
        arguments
            .arg(&*a)
            .arg(&*b)
            .arg(&*c)
            .arg(&*meta)
            .arg(d)
            .arg(&count);
        // SAFETY: the kernel takes five pointers and a u32, in this order (both frames in kernels/cuda/probe). `check`
        // asserted that every buffer holds `groups` times the words of `Probe::words`, `reserve` allocated at least
        // that; the frames are compiled with the same numbers (A_WORDS, B_WORDS, C_WORDS in source.rs), touch only
        // indices below `groups * words * lanes`, and return for groups from `count` on.
        unsafe { arguments.launch(config) }.map_err(driver("launch a kernel"))?;
        Ok(())
    }
}
