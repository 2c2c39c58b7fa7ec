//! Whether NVIDIA's libraries can be used, found out before cudarc is asked: it panics where a library is missing, and where
//! one is older than its table of functions, or another library of that name.
//!
//! ```text
//! libcuda    open, find cuDriverGetVersion, call it (it needs no device): 13.0 or later has every function
//! others     asked under catch_unwind; a panic counts as absent
//! ```

#![expect(unsafe_code, reason = "opening libraries and asking for a version have no safe form")]

use super::CudaError;
use libloading::{Library, Symbol};
use std::ffi::c_int;
use std::panic::{UnwindSafe, catch_unwind};

/// What cudarc's table of functions needs, as `cuDriverGetVersion` counts: 13.0.
const DRIVER: c_int = 13_000;

/// The driver's names, in the order in which cudarc tries them.
const DRIVER_NAMES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so", "libcuda.so.1"] };

/// Looks for a driver that is new enough.
///
/// # Errors
/// [`CudaError::Absent`] with what is missing and what to do.
pub(super) fn driver() -> Result<(), CudaError> {
    let absent = |reason: String| Err(CudaError::Absent { reason });
    // SAFETY: NVIDIA's driver has no initialisers that must not run here; cudarc opens the same library a moment later.
    let opened = DRIVER_NAMES.iter().find_map(|name| unsafe { Library::new(name) }.ok());
    let Some(library) = opened else {
        return absent("the driver library libcuda.so is not installed".to_owned());
    };
    // SAFETY: the type is the one that the driver's API documents for this function.
    let version: Result<Symbol<'_, unsafe extern "C" fn(*mut c_int) -> c_int>, _> =
        unsafe { library.get(b"cuDriverGetVersion\0") };
    let Ok(version) = version else {
        return absent("libcuda.so is not NVIDIA's driver: it has no cuDriverGetVersion".to_owned());
    };
    let mut found = 0;
    // SAFETY: it writes one int through the pointer to a live local, and may be called before cuInit.
    let status = unsafe { version(&raw mut found) };
    if status != 0 || found < DRIVER {
        let (major, minor) = (found / 1000, found % 1000 / 10);
        return absent(format!(
            "the driver supports CUDA {major}.{minor}, 13.0 is needed: update it to 580 or later"
        ));
    }
    Ok(())
}

/// What `ask` says of a library's presence; no where it panics.
pub(super) fn present(ask: impl FnOnce() -> bool + UnwindSafe) -> bool {
    catch_unwind(ask).unwrap_or(false)
}
