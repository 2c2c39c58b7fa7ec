//! NVIDIA's libraries behind the entry points of kernels, to be judged and timed like ours: they are no kernels of ours and
//! not in the registry.
//!
//! ```text
//! cusparse           SpMM (its default algorithm), SDDMM, SpGEMM
//! cusparse-alg1..3   SpMM by CUSPARSE_SPMM_CSR_ALG1..3
//! cublas             SpMM of N:M as a dense product
//! ```
//!
//! What NVIDIA says about orders of summation is no promise: each declares sums in any order in the type of the computation.
//! B and C are row-major, as for ours; a transposed A is turned on the host, as for ours.

mod cublas;
mod cusparse;
mod sddmm;
mod spgemm;
mod spmm;

use super::CudaError;
use crate::cuda::buffer::GpuBuffer;
use crate::engine::Engine;
use crate::feature::Feature;
use crate::kernel::{Kernel, Run};
use crate::name::KernelName;
use sparse_types::Precision;
use sparse_types::arithmetic::Arithmetic;
use sparse_types::contract::{Contract, Op, Types};
use sparse_types::format::FormatKind;
use std::ffi::c_void;
use std::fmt::Debug;
use std::sync::LazyLock;

/// One library, or one algorithm of it.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// Name of its backend.
    pub name: &'static str,
    /// In words.
    pub description: &'static str,
    /// What it can do.
    pub kernels: Vec<Kernel>,
}

impl Baseline {
    /// True where the library, a driver and a GPU are here.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.kernels.iter().all(|kernel| kernel.needs.iter().all(|&feature| super::detected(feature)))
    }
}

static TABLE: LazyLock<Vec<Baseline>> = LazyLock::new(|| {
    let mut default = spmm::rows("cusparse", spmm::DEFAULT);
    default.extend(sddmm::rows());
    default.extend(spgemm::rows());
    let mut table = vec![Baseline {
        name: "cusparse",
        description: "cuSPARSE: SpMM by its default algorithm, SDDMM, SpGEMM",
        kernels: default,
    }];
    for (name, tech, run) in spmm::ALGORITHMS {
        table.push(Baseline {
            name,
            description: "cuSPARSE: SpMM by one algorithm of CSR",
            kernels: spmm::rows(tech, run),
        });
    }
    table.push(Baseline {
        name: "cublas",
        description: "cuBLAS: the matrix as a dense one, TF32 off",
        kernels: cublas::rows(),
    });
    table
});

/// All of them, whether or not they are here.
#[must_use]
pub fn baselines() -> &'static [Baseline] {
    &TABLE
}

/// A row that sums in any order.
fn row(
    (op, format, tech): (Op, FormatKind, &str),
    (input, acc, out): (Precision, Precision, Precision),
    needs: &'static [Feature],
    run: Run,
) -> Kernel {
    let types = Types { a: input, b: input, acc, out };
    let contract = Contract { op, format, to: None, types };
    let name = KernelName::of_method(contract, Engine::Cuda, tech);
    Kernel { needs, ..Kernel::named(&name, Arithmetic::any(acc, out), run) }
}

/// A device address, for the libraries.
fn pointer<T>(buffer: &GpuBuffer<T>) -> *mut c_void {
    buffer.address() as *mut c_void
}

/// A failed call of a library.
fn refused<S: Debug>(library: &'static str, what: &'static str) -> impl Fn(S) -> CudaError {
    move |status| CudaError::Library { library, what, reason: format!("{status:?}") }
}

pub(super) use cublas::is_here as cublas_is_here;
pub(super) use cusparse::is_here as cusparse_is_here;
