//! Whoever is timed: one of our kernels, or a peer, ready to run on its operands.
//!
//! ```text
//! operands (built once) -> prepare (encode, copy into its own layout, optimise: timed apart) -> call, call, ...
//! ```
//!
//! A call is the whole of what a user would call: for our kernels `(kernel.run)(task)`, checks included. What it wrote is
//! judged where it lies; nothing is copied for the clock's sake.

mod kernel;
mod mkl;
mod nalgebra;
mod number;
mod sprs;

pub(super) use kernel::{KernelContender, can_be_encoded, encoded};
pub(super) use mkl::MklContender;
pub(super) use nalgebra::NalgebraContender;
pub(super) use sprs::SprsContender;

use sparse_conformance_core::operands::Operands;
use sparse_oracle::arithmetic::Arithmetic;
use sparse_oracle::contract::{Contract, Returned};
use sparse_oracle::judge::Place;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::AnySlice;
use sparse_oracle::task::RawSparse;

/// What a contender says about itself.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// Kernel name or peer.
    pub(super) name: String,
    /// True for peers.
    pub(super) peer: bool,
    /// Parameters of its format, where they are not the default.
    pub(super) parameters: Vec<(String, u64)>,
    /// Seconds that its preparation took.
    pub(super) preparation: f64,
    /// Bytes of the sparse operands as it holds them.
    pub(super) sparse_bytes: u64,
    /// How it rounds, by its declaration.
    pub(super) arithmetic: Arithmetic,
    /// How it settles choice points.
    pub(super) profile: Profile,
    /// The options of `conformance replay` that select it, where they can.
    pub(super) selection: Option<String>,
}

/// What the last call left.
pub(super) enum Wrote<'a> {
    /// Dense elements.
    Dense(AnySlice<'a>, Place),
    /// A sparse matrix.
    Sparse(RawSparse),
}

/// Something that is timed.
pub(super) trait Contender: Send {
    /// What it is.
    fn about(&self) -> &About;

    /// Fills the output so that what is not written shows. False where the output is read even with beta = 0: then it is
    /// filled with zeros.
    fn poison(&mut self) -> bool;

    /// Drops the answer of the last call; not timed.
    fn clear(&mut self) {}

    /// One product. Timed.
    fn call(&mut self) -> Result<(), String>;

    /// What the last call left.
    fn wrote(&mut self) -> Result<Wrote<'_>, String>;
}

/// Why a peer does not take part in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// It has no such operation, or not for these numbers.
    Lacks(&'static str),
    /// It failed while it was prepared.
    Failed(String),
}

impl From<String> for Absent {
    fn from(reason: String) -> Absent {
        Absent::Failed(reason)
    }
}

/// What a peer is built from: operands in CSR.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) contract: &'a Contract,
    pub(super) operands: &'a std::sync::Arc<Operands>,
}

impl Given<'_> {
    /// Elements of the dense result.
    fn elements(&self) -> usize {
        match self.contract.op.signature().returned {
            Returned::Matrix | Returned::Vector => self.operands.result.0 * self.operands.result.1,
            Returned::Sampled | Returned::Product | Returned::Moved => 0,
        }
    }
}
