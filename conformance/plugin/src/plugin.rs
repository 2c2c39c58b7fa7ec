//! A shared library that exports the header's three functions, and one call of it.

use crate::abi::{ABI_VERSION, AbiVersion, Manifest, Run, ScResult, ScTask};
use crate::dense::{DenseInput, DenseOutput};
use crate::element::{code, mode, op};
use crate::environment::Environment;
use crate::error::{PluginError, RunError};
use crate::guarded;
use crate::host::{CALLS, Call, c_bytes};
use crate::sparse::{Numbers, SparseOperand, c_name, struct_size};
use libloading::Library;
use sparse_oracle::contract::{Contract, Op, Returned};
use sparse_oracle::task::{Answer, Task};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest manifest, in bytes.
const MANIFEST: usize = 1 << 20;

/// A loaded plug-in.
#[derive(Debug)]
pub struct Plugin {
    path: PathBuf,
    manifest: String,
    run: Run,
    /// One call at a time, so that a library need not be ready for more.
    turn: Mutex<()>,
    /// Never unloaded: it may have threads (OpenMP keeps its own) and exit handlers that run its code.
    _library: ManuallyDrop<Library>,
}

impl Plugin {
    /// Loads a library and asks for its version and manifest.
    ///
    /// That runs code of the library, as starting a program would, but in this process: call it only in one that may be
    /// lost.
    ///
    /// # Errors
    /// No such file, no library, a missing function, another version of the header, no manifest.
    pub fn open(path: &Path) -> Result<Plugin, PluginError> {
        let named = || path.to_owned();
        // An absolute path, since the loader would look for a bare name among the system's libraries.
        let file = path
            .canonicalize()
            .map_err(|error| PluginError::NoFile { path: named(), reason: error.to_string() })?;
        // SAFETY: initialisers of the library run. Nobody can check what they do; that it is loaded only where the process
        // may be lost is this function's contract, and the reason why `conformance` loads it in a child.
        let library = unsafe { Library::new(&file) }
            .map_err(|error| PluginError::Load { path: named(), reason: error.to_string() })?;
        let library = ManuallyDrop::new(library);
        // SAFETY: the header declares these names with these types, and the version says that it was this header; the
        // version itself has had this type from the first.
        let version = unsafe { symbol::<AbiVersion>(&library, path, "sc_abi_version") }?;
        // SAFETY: declared in the header without a condition.
        let found = unsafe { version() };
        if found != ABI_VERSION {
            let expected = ABI_VERSION;
            return Err(PluginError::Version { path: named(), found, expected });
        }
        // SAFETY: the version, which is right by now, says that the header declares this name with this type.
        let manifest = unsafe { symbol::<Manifest>(&library, path, "sc_manifest") }?;
        // SAFETY: the version, which is right by now, says that the header declares this name with this type.
        let run = unsafe { symbol::<Run>(&library, path, "sc_run") }?;
        // SAFETY: declared in the header without a condition; it returns NULL or a C string, by the header.
        let manifest = unsafe { c_bytes(manifest(), MANIFEST) };
        Ok(Plugin {
            manifest: text(manifest, path)?,
            path: file,
            run,
            turn: Mutex::new(()),
            _library: library,
        })
    }

    /// Where it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says about itself: JSON, not yet looked at.
    #[must_use]
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// Runs a task of a contract, by the contract's name.
    ///
    /// The library sees copies between guards; a dense result is copied to the task's output when all is well, and else the
    /// output is as before.
    ///
    /// # Errors
    /// A refusal in the library's words, or what it did wrong.
    pub fn run(&self, contract: &str, task: Task<'_>) -> Result<Answer, RunError> {
        self.run_timed(contract, task).map(|(answer, _)| answer)
    }

    /// [`run`](Self::run), with the time that the library's function took: copies and checks are not in it.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_timed(&self, contract: &str, task: Task<'_>) -> Result<(Answer, Duration), RunError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.asked(contract, task)
    }

    /// [`run`](Self::run) whoever else is calling: for a library whose manifest says that it may be called so.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_at_once(&self, contract: &str, task: Task<'_>) -> Result<Answer, RunError> {
        self.asked(contract, task).map(|(answer, _)| answer)
    }

    fn asked(&self, contract: &str, task: Task<'_>) -> Result<(Answer, Duration), RunError> {
        let unknown = || RunError::Contract { name: contract.to_owned() };
        let contract = Contract::from_name(contract).ok_or_else(unknown)?;
        let inputs = task.inputs();
        let dense = inputs.b.map(|b| (b.rows, b.cols, b.ld));
        guarded::turn((contract.to_string(), inputs.a.shape(), inputs.a.nnz(), dense));
        let request = Request::new(&contract, task)?;
        self.call(&contract, request)
    }

    fn call(&self, contract: &Contract, request: Request<'_>) -> Result<(Answer, Duration), RunError> {
        let Request { a, b_sparse, b, y, c, factors, transpose, mode, params } = request;
        let name = c_name(&contract.to_string());
        let (a_view, b_sparse_view) = (a.view(), b_sparse.as_ref().map(SparseOperand::view));
        let (b_view, y_view) = (b.as_ref().map(DenseInput::view), y.as_ref().map(DenseInput::view));
        let c_view = c.as_ref().map(DenseOutput::view);
        let target = contract.to.map(|kind| c_name(kind.name()));
        let has_params = contract.op.signature().has_params;
        let task = ScTask {
            struct_size: struct_size::<ScTask>(),
            op: op(contract.op)?,
            contract: name.as_ptr(),
            a: &raw const a_view,
            b_sparse: pointer(b_sparse_view.as_ref()),
            b: pointer(b_view.as_ref()),
            y: pointer(y_view.as_ref()),
            alpha: factors.0,
            beta: factors.1,
            transpose_a: i32::from(transpose.0),
            transpose_b: i32::from(transpose.1),
            mode,
            param_count: params.len(),
            to: target.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()),
            params: if has_params { params.as_ptr() } else { std::ptr::null() },
        };
        let (new_array, set_extent, refuse) = CALLS;
        let mut result = ScResult {
            struct_size: struct_size::<ScResult>(),
            dtype: code(contract.types.out),
            c: pointer(c_view.as_ref()),
            host: std::ptr::null_mut(),
            new_array,
            set_extent,
            refuse,
        };
        let call = match &c {
            Some(_) => Call::dense(),
            None => Call::sparse(contract, shape(contract, &a, b_sparse.as_ref())),
        };
        let found = Environment::now();
        let start = Instant::now();
        let (status, call) = {
            let run = self.run;
            // SAFETY: `task` and `result` are what the header says: every pointer in them is NULL where the header allows
            // it, or points into `a` to `params`, `name` and `target`, all alive until the end of this function; all arrays are
            // copies that no Rust reference covers during the call. What the library does with them is its own affair.
            call.during(|| unsafe { run(&raw const task, &raw mut result) })
        };
        let took = start.elapsed();
        let left = Environment::now();
        found.restore();
        a.check()?;
        [&b_sparse].into_iter().flatten().try_for_each(SparseOperand::check)?;
        [&b, &y].into_iter().flatten().try_for_each(DenseInput::check)?;
        c.iter().try_for_each(DenseOutput::check)?;
        if let Some(change) = found.change(left) {
            return Err(RunError::Environment { change });
        }
        // The call is where `during` put it: nothing else takes it away.
        let answer = call.unwrap_or_else(Call::dense).settle(status)?.answer()?;
        c.into_iter().for_each(DenseOutput::deliver);
        Ok((answer, took))
    }
}

/// What a task consists of, copied.
struct Request<'a> {
    a: SparseOperand<'a>,
    b_sparse: Option<SparseOperand<'a>>,
    b: Option<DenseInput<'a>>,
    y: Option<DenseInput<'a>>,
    c: Option<DenseOutput<'a>>,
    factors: (f64, f64),
    transpose: (bool, bool),
    mode: i32,
    params: Numbers,
}

impl<'a> Request<'a> {
    fn new(contract: &Contract, task: Task<'a>) -> Result<Request<'a>, RunError> {
        let (inputs, output) = task.into_parts();
        let signature = inputs.op.signature();
        let b_sparse = inputs.sparse().nth(1);
        let mut dense = inputs.dense().map(|(operand, matrix)| {
            if operand.is_vector() {
                DenseInput::vector(operand.label, matrix.data)
            } else {
                DenseInput::new(operand.label, matrix)
            }
        });
        let is_matrix = signature.returned == Returned::Matrix;
        let c = output.map(|c| if is_matrix { DenseOutput::new(c) } else { DenseOutput::vector(c.data) });
        Ok(Request {
            a: SparseOperand::new(signature.sparse[0].label, inputs.a)?,
            b_sparse: b_sparse.map(|(operand, b)| SparseOperand::new(operand.label, b)).transpose()?,
            b: dense.next().transpose()?,
            y: dense.next().transpose()?,
            c: c.transpose()?,
            factors: (inputs.alpha, inputs.beta),
            transpose: (inputs.transpose_a, inputs.transpose_b),
            mode: mode(inputs.mode),
            params: Numbers::params(contract, &inputs.params),
        })
    }
}

/// Shape of a sparse result.
fn shape(contract: &Contract, a: &SparseOperand<'_>, b: Option<&SparseOperand<'_>>) -> (usize, usize) {
    let (rows, cols) = a.shape();
    match b {
        Some(b) => (rows, b.shape().1),
        None if contract.op == Op::Transpose => (cols, rows),
        None => (rows, cols),
    }
}

/// A pointer to a view, or NULL.
fn pointer<T>(view: Option<&T>) -> *const T {
    view.map_or(std::ptr::null(), std::ptr::from_ref)
}

/// An exported function.
///
/// # Safety
/// The library exports `name` with the type `T`, a function pointer, or not at all.
unsafe fn symbol<T: Copy>(library: &Library, path: &Path, name: &'static str) -> Result<T, PluginError> {
    // SAFETY: the caller promises that an export of this name has the type `T`. The copy stays valid because `open` never unloads the library.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found
        .map(|symbol| *symbol)
        .map_err(|_| PluginError::MissingSymbol { path: path.to_owned(), symbol: name })
}

fn text(manifest: Option<Vec<u8>>, path: &Path) -> Result<String, PluginError> {
    let path = path.to_owned();
    let Some(bytes) = manifest else {
        return Err(PluginError::NullManifest { path });
    };
    if bytes.len() > MANIFEST {
        let limit = MANIFEST;
        return Err(PluginError::LongManifest { path, limit });
    }
    String::from_utf8(bytes)
        .map_err(|error| PluginError::ManifestText { path, at: error.utf8_error().valid_up_to() })
}
