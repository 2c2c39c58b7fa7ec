//! Finding and loading `libmkl_rt`, and how it uses threads.
//!
//! Where Intel's OpenMP runtime lies beside it (it does in the `PyPI` package), it is loaded first and made MKL's thread
//! layer; otherwise MKL runs in one thread. `MKL_THREADING_LAYER` in the environment wins over this choice.

use crate::abi::{Create, Export, GetInt, Layer, Mm, MmHint, OfHandle, SetInt, Spmm, Typed, VersionText};
use crate::error::MklError;
use libloading::Library;
use std::ffi::{CStr, c_char};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// MKL, loaded.
#[derive(Debug)]
pub struct Mkl {
    pub(crate) single: Typed<f32>,
    pub(crate) double: Typed<f64>,
    pub(crate) mm_hint: MmHint,
    pub(crate) spmm: Spmm,
    pub(crate) optimize: OfHandle,
    pub(crate) order: OfHandle,
    pub(crate) destroy: OfHandle,
    set_threads: SetInt,
    max_threads: GetInt,
    set_dynamic: SetInt,
    version_text: VersionText,
    block_time: Option<SetInt>,
    layer: &'static str,
    path: PathBuf,
    /// Never unloaded: it has threads and exit handlers of its own.
    _libraries: ManuallyDrop<Vec<Library>>,
}

/// `mkl_service.h`: the thread layers, by number.
const LAYERS: [&str; 5] = ["Intel OpenMP", "sequential", "PGI OpenMP", "GNU OpenMP", "TBB"];
const INTEL: i32 = 0;
const SEQUENTIAL: i32 = 1;
/// `MKL_INTERFACE_LP64`.
const LP64: i32 = 0;

/// The library's file: as given, else where `MKL_RT` says, else in a virtual environment that is active or in the usual
/// folders.
///
/// # Errors
/// [`MklError::NotFound`] with the places.
pub fn find(given: Option<&Path>) -> Result<PathBuf, MklError> {
    let named = given.map(Path::to_owned).or_else(|| std::env::var_os("MKL_RT").map(PathBuf::from));
    if let Some(path) = named {
        return in_place(&path).ok_or_else(|| MklError::NotFound { tried: path.display().to_string() });
    }
    let variable =
        |name: &str, below: &str| std::env::var_os(name).map(|root| PathBuf::from(root).join(below));
    let places: Vec<PathBuf> = [
        variable("VIRTUAL_ENV", "lib"),
        variable("CONDA_PREFIX", "lib"),
        variable("MKLROOT", "lib"),
        variable("MKLROOT", "lib/intel64"),
        Some(PathBuf::from("/opt/intel/oneapi/mkl/latest/lib")),
        Some(PathBuf::from("/usr/lib/x86_64-linux-gnu")),
        Some(PathBuf::from("/usr/local/lib")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let found = places.iter().find_map(|place| in_place(place));
    found.ok_or_else(|| {
        let tried: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
        MklError::NotFound { tried: format!("MKL_RT, {}", tried.join(", ")) }
    })
}

/// A file as it is; of a folder, its `libmkl_rt.so` with the highest version, or that of its `lib`.
fn in_place(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let newest = |folder: PathBuf| -> Option<PathBuf> {
        let names = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
        let fits = |file: &PathBuf| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with("libmkl_rt.so"))
        };
        names.filter(fits).max()
    };
    newest(path.to_owned()).or_else(|| newest(path.join("lib")))
}

impl Mkl {
    /// Loads it.
    ///
    /// # Errors
    /// The loader's, or a missing function.
    pub fn open(path: &Path) -> Result<Mkl, MklError> {
        let file = path
            .canonicalize()
            .map_err(|error| MklError::Load { path: path.to_owned(), reason: error.to_string() })?;
        // Intel's OpenMP first, for all to see: MKL looks for it by its bare name.
        let openmp = beside(&file, "libiomp5.so").and_then(|at| global(&at).ok());
        let library = global(&file)?;
        let symbol = Symbols { path: &file };
        // SAFETY: the types are those of MKL's headers for the function of that name.
        let (interface, layers): (Layer, Layer) = unsafe {
            (symbol.of(&library, "MKL_Set_Interface_Layer")?, symbol.of(&library, "MKL_Set_Threading_Layer")?)
        };
        let wanted = if openmp.is_some() { INTEL } else { SEQUENTIAL };
        // SAFETY: declared without a condition but that they precede all other calls, as they do.
        let layer = unsafe {
            interface(LP64);
            layers(wanted)
        };
        // SAFETY: the LLVM OpenMP runtime declares it as `void kmp_set_blocktime(int)`.
        let block_time = openmp
            .as_ref()
            .and_then(|library| unsafe { symbol.of::<SetInt>(library, "kmp_set_blocktime") }.ok());
        // SAFETY: the types are those of MKL's headers for the functions of these names.
        unsafe {
            Ok(Mkl {
                single: Typed {
                    create: symbol.of::<Create<f32>>(&library, "mkl_sparse_s_create_csr")?,
                    export: symbol.of::<Export<f32>>(&library, "mkl_sparse_s_export_csr")?,
                    mm: symbol.of::<Mm<f32>>(&library, "mkl_sparse_s_mm")?,
                },
                double: Typed {
                    create: symbol.of::<Create<f64>>(&library, "mkl_sparse_d_create_csr")?,
                    export: symbol.of::<Export<f64>>(&library, "mkl_sparse_d_export_csr")?,
                    mm: symbol.of::<Mm<f64>>(&library, "mkl_sparse_d_mm")?,
                },
                mm_hint: symbol.of(&library, "mkl_sparse_set_mm_hint")?,
                spmm: symbol.of(&library, "mkl_sparse_spmm")?,
                optimize: symbol.of(&library, "mkl_sparse_optimize")?,
                order: symbol.of(&library, "mkl_sparse_order")?,
                destroy: symbol.of(&library, "mkl_sparse_destroy")?,
                set_threads: symbol.of(&library, "MKL_Set_Num_Threads")?,
                max_threads: symbol.of(&library, "MKL_Get_Max_Threads")?,
                set_dynamic: symbol.of(&library, "MKL_Set_Dynamic")?,
                version_text: symbol.of(&library, "MKL_Get_Version_String")?,
                block_time,
                layer: usize::try_from(layer)
                    .ok()
                    .and_then(|at| LAYERS.get(at))
                    .copied()
                    .unwrap_or("unknown"),
                path: file.clone(),
                _libraries: ManuallyDrop::new(openmp.into_iter().chain([library]).collect()),
            })
        }
    }

    /// Makes MKL use so many threads, no fewer at its own discretion. Its idle threads, of products that this thread calls,
    /// spin for `idle_ms` milliseconds only: by default they take the processor from whoever runs next for 200.
    pub fn use_threads(&self, threads: usize, idle_ms: u32) {
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: declared without a condition.
        unsafe {
            (self.set_dynamic)(0);
            (self.set_threads)(threads);
            if let Some(block_time) = self.block_time {
                block_time(i32::try_from(idle_ms).unwrap_or(i32::MAX));
            }
        }
    }

    /// How many threads it says that it uses.
    #[must_use]
    pub fn threads(&self) -> usize {
        // SAFETY: declared without a condition.
        usize::try_from(unsafe { (self.max_threads)() }).unwrap_or(0)
    }

    /// Its thread layer, in words.
    #[must_use]
    pub fn layer(&self) -> &'static str {
        self.layer
    }

    /// Where it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says about itself.
    #[must_use]
    pub fn version(&self) -> String {
        let mut text: [c_char; 256] = [0; 256];
        // SAFETY: it writes at most the given number of characters into the buffer, which has one more.
        unsafe { (self.version_text)(text.as_mut_ptr(), 255) };
        // SAFETY: the last character is zero whatever was written before it.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        text.to_string_lossy().trim().to_owned()
    }
}

/// A file in the same folder.
fn beside(library: &Path, name: &str) -> Option<PathBuf> {
    let file = library.parent()?.join(name);
    file.is_file().then_some(file)
}

/// Loads a library whose symbols those loaded later can see: MKL's layers expect it.
#[cfg(unix)]
fn global(path: &Path) -> Result<Library, MklError> {
    use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: initialisers of the library run. What they do is MKL's business; whoever names a file vouches for it.
    let library = unsafe { Unix::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    library.map(Library::from).map_err(|error| load_error(path, &error))
}

#[cfg(not(unix))]
fn global(path: &Path) -> Result<Library, MklError> {
    // SAFETY: initialisers of the library run. What they do is MKL's business; whoever names a file vouches for it.
    unsafe { Library::new(path) }.map_err(|error| load_error(path, &error))
}

fn load_error(path: &Path, error: &libloading::Error) -> MklError {
    MklError::Load { path: path.to_owned(), reason: error.to_string() }
}

struct Symbols<'a> {
    path: &'a Path,
}

impl Symbols<'_> {
    /// A function by name.
    ///
    /// # Safety
    /// `F` is the type that the library's header gives to the function.
    unsafe fn of<F: Copy>(&self, library: &Library, name: &'static str) -> Result<F, MklError> {
        // SAFETY: the caller promises that `F` is the type of the function of this name.
        let symbol = unsafe { library.get::<F>(name.as_bytes()) };
        symbol.map(|symbol| *symbol).map_err(|_| MklError::Symbol { path: self.path.to_owned(), name })
    }
}
