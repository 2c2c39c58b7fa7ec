//! One GPU: found or not, named, and asked to run probe kernels over checked buffers.

#![expect(unsafe_code, reason = "launching a kernel and asking for libraries have no safe form")]

use super::found::{Found, failed};
use super::probe::{Probe, Words};
use super::{CudaError, library};
use cudarc::driver::{CudaContext, CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};
use std::sync::Arc;

/// An opened GPU.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    found: &'static Found,
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
        let found = Found::first().map_err(CudaError::clone)?;
        nvrtc_version()?;
        let context = CudaContext::new(0).map_err(failed("open the device"))?;
        let stream = context.default_stream();
        Ok(Device { context, stream, found })
    }

    /// Which GPU it is.
    #[must_use]
    pub const fn found(&self) -> &Found {
        self.found
    }

    /// Compiles one probe kernel for this device and loads it.
    ///
    /// # Errors
    /// [`CudaError::Compile`] with the compiler's log, [`CudaError::Driver`].
    pub fn load(&self, probe: Probe) -> Result<Loaded, CudaError> {
        let capability = self.found.capability();
        let target = target(capability).ok_or(CudaError::TooOld {
            kernel: "probe",
            needed: (7, 5),
            found: capability,
        })?;
        let ptx = compile(&probe, target)?;
        let module = self.context.load_module(ptx).map_err(failed("load a module"))?;
        let function = module.load_function(&probe.symbol()).map_err(failed("find a kernel"))?;
        Ok(Loaded { probe, function, stream: Arc::clone(&self.stream), buffers: [const { None }; 5] })
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
        .map_err(|e| CudaError::Driver { what: "tell NVRTC's version", reason: e.to_string() })?;
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

/// The target with architecture-specific instructions (`wgmma`) where there is one; none for what NVRTC 13 does not know.
fn target(capability: (i32, i32)) -> Option<&'static str> {
    match capability {
        (7, 5..) => Some("compute_75"),
        (8, 0) => Some("compute_80"),
        (8, 9) => Some("compute_89"),
        (8, _) => Some("compute_86"),
        (9, _) => Some("compute_90a"),
        (10, 3) => Some("compute_103a"),
        (10, _) => Some("compute_100a"),
        (11, _) => Some("compute_110a"),
        (12, 1) => Some("compute_121a"),
        (12, _) => Some("compute_120a"),
        _ => None,
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
            stream.memcpy_htod(host, buffer).map_err(failed("upload"))?;
        }
        self.launch(groups, count, words)?;
        let Some(result) = &self.buffers[4] else {
            return Ok(());
        };
        let stream = Arc::clone(&self.stream);
        stream.synchronize().map_err(failed("finish a kernel"))?;
        stream.memcpy_dtoh(&result.slice(..d.len()), d).map_err(failed("download"))?;
        stream.synchronize().map_err(failed("download"))
    }

    /// Every length, and the number of groups as the kernel takes it.
    fn check(&self, groups: usize, given: [&[u32]; 4], d: &[u32]) -> Result<u32, CudaError> {
        let words = self.probe.words();
        let lanes = words.lanes;
        let each = [words.a * lanes, words.b_group, words.c * lanes, lanes, words.c * lanes];
        let limit = i32::MAX as usize / 4;
        if groups > limit {
            return Err(CudaError::TooMany { kernel: self.probe.name(), groups, limit });
        }
        let lengths = [given[0].len(), given[1].len(), given[2].len(), given[3].len(), d.len()];
        for ((actual, each), operand) in lengths.into_iter().zip(each).zip(["A", "B", "C", "metadata", "D"]) {
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
        u32::try_from(groups).map_err(|_| CudaError::TooMany { kernel: self.probe.name(), groups, limit })
    }

    /// Buffer `i` with at least `len` words.
    fn reserve(&mut self, i: usize, len: usize) -> Result<&mut CudaSlice<u32>, CudaError> {
        let buffer = match self.buffers[i].take() {
            Some(old) if old.len() >= len => old,
            _ => self.stream.alloc_zeros::<u32>(len).map_err(failed("allocate memory"))?,
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
        arguments.arg(&*a).arg(&*b).arg(&*c).arg(&*meta).arg(d).arg(&count);
        // SAFETY: the kernel takes five pointers and a u32, in this order (both frames in kernels/cuda/probe). `check`
        // asserted that every buffer holds `groups` times the words of `Probe::words`, `reserve` allocated at least
        // that; the frames are compiled with the same numbers (A_WORDS, B_WORDS, C_WORDS in source.rs), touch only
        // indices below `groups * words * lanes`, and return for groups from `count` on.
        unsafe { arguments.launch(config) }.map_err(failed("launch a kernel"))?;
        Ok(())
    }
}
