//! IOPS, an accelerator for sparse products, as an executable model: bit-exact in its results, approximate in its cycles,
//! exact in what it reads, holds and writes.
//!
//! ```text
//!        encode              multiply                           map
//! A -> RP-CSC -> buffer A -> p x p elements: every match of k -> psums by address -> sorted, added -> C    SSMM
//! B -> CP-CSR -> buffer B /  an outer product in each                                                    \
//! B, dense    -> buffer B -> the same, psums are the elements of C --------------------------------------> C    SDMM
//! ```
//!
//! "IOPS: An Unified SpMM Accelerator Based on Inner-Outer-Hybrid Product". Inner product across the array: a row
//! of elements shares groups of A, a column groups of B. Outer product inside an element: no stored entry meets a zero.
//! Arithmetic: products and sums rounded apart, in ascending k from +0; a later tile along k, and a buffer refilled after an
//! overflow, go on with the running sum. So the partition, the buffers and the array change counts, never a bit.
//!
//! | part | file |
//! |---|---|
//! | parameters, partition under buffer capacities | `machine`, `rules`, `partition` |
//! | operands as streams, encoders, tiles | `lanes`, `encoder`, `tiles` |
//! | psums and address mapping; both modes | `element`, `spilled`, `ssmm`, `sdmm` |
//! | entries of C, counted and put in order | `entries` |
//! | what is read, stages side by side, counters | `clock`, `pipeline`, `counters` |
//! | inner and outer product on the same array | `dataflow` |
//! | kernels of the registry, on the default machine | `rows` |
//!
//! **Assumed where the paper is silent**: the array works in lockstep; an encoder takes an entry per group and cycle; tiles
//! without an entry are not requested; a full psum buffer stops the array while it is mapped and its sums cross the pins; a
//! tile that does not fit is read in pieces.
//!
//! **Not modelled**: in SDMM the paper merges idle buffers of an element with its value buffers (figure 9d); here an element holds as many
//! psums in both modes. The four buffers of an element are one number, the shift registers that sort have no end, and area and power are
//! not computed.

mod clock;
mod counters;
mod dataflow;
mod element;
mod encoder;
mod entries;
mod lanes;
mod machine;
mod partition;
mod pipeline;
mod rows;
mod rules;
mod sdmm;
mod spilled;
mod ssmm;
mod tiles;
mod value;

pub use counters::{Counters, Cycles, HighWater, Overflows, Traffic};
pub use machine::Machine;
pub use partition::{Mode, OperandSize, Partition, Problem, Reuse, partition};
pub(crate) use rows::kernels;
pub use value::Value;

use crate::portable::request::same;
use dataflow::Second;
use lanes::MatrixLanes;
use sparse_types::format::{CpCsr, Csr, CsrParts, RpCsc, SLOT_LIMIT};
use sparse_types::refusal::{Limit, Refusal, check_u32};

/// How a product is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IopsPlan {
    /// By the adaptive partition strategy. Where psums of a single element of C do not fit, as if they did: overflows do
    /// the rest.
    #[default]
    Adaptive,
    /// So. Tiles must cover the matrices; sparse ones that are fuller than the buffers overflow.
    Given(Partition),
}

/// A product and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation<C> {
    /// C.
    pub result: C,
    /// How it was cut.
    pub partition: Partition,
    /// What was counted.
    pub counters: Counters,
}

/// Counts of the two other dataflows on the same array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dataflows {
    /// Inner product.
    pub inner: Counters,
    /// The partition of operands whose zeros take room in the buffers.
    pub inner_partition: Partition,
    /// Outer product.
    pub outer: Counters,
}

/// Sparse times sparse. The pattern is structural: an element that cancels stays as an explicit zero.
///
/// # Errors
/// Extents that do not fit together; what [`Machine::check`], [`partition`] or [`Partition::check_cover`] refuse; a product
/// of more than [`SLOT_LIMIT`] entries, which are counted before they are made.
pub fn ssmm<T: Value>(
    a: &Csr<T>,
    b: &Csr<T>,
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<CsrParts<T>>, Refusal> {
    same(("columns of A", a.cols), ("rows of B", b.rows))?;
    sparse_product(&MatrixLanes::of_csr(a).turned()?, &MatrixLanes::of_csr(b), machine, plan)
}

/// The same of operands that are encoded, in any number of groups: multiplied from these arrays, which are cut again for
/// the machine's groups and tiles.
///
/// # Errors
/// As [`ssmm`].
pub fn ssmm_encoded<T: Value>(
    a: &RpCsc<T>,
    b: &CpCsr<T>,
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<CsrParts<T>>, Refusal> {
    same(("columns of A", a.cols), ("rows of B", b.rows))?;
    sparse_product(&MatrixLanes::of_rp_csc(a), &MatrixLanes::of_cp_csr(b), machine, plan)
}

fn sparse_product<T: Value>(
    columns: &MatrixLanes<'_, T>,
    rows: &MatrixLanes<'_, T>,
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<CsrParts<T>>, Refusal> {
    let partition = planned(&ssmm::problem(columns, rows), machine, plan)?;
    let (tiles, counters) = ssmm::run(columns, rows, machine, &partition)?;
    let (row_ptr, col_idx, values) = entries::by_rows(tiles, columns.extent);
    Ok(Simulation {
        result: CsrParts { rows: columns.extent, cols: rows.extent, row_ptr, col_idx, values },
        partition,
        counters,
    })
}

/// Sparse times dense: `b` is row-major with `n` columns, and so is the result.
///
/// # Errors
/// As [`ssmm`]; a length of `b` that is not `a.cols * n`; a given partition whose dense tiles do not fit.
pub fn sdmm<T: Value>(
    a: &Csr<T>,
    (b, n): (&[T], usize),
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<Vec<T>>, Refusal> {
    check_dense_extents((a.rows, a.cols), b.len(), n)?;
    dense_product(&MatrixLanes::of_csr(a).turned()?, (b, n), machine, plan)
}

/// The same of an encoded A, as [`ssmm_encoded`].
///
/// # Errors
/// As [`sdmm`].
pub fn sdmm_encoded<T: Value>(
    a: &RpCsc<T>,
    (b, n): (&[T], usize),
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<Vec<T>>, Refusal> {
    check_dense_extents((a.rows, a.cols), b.len(), n)?;
    dense_product(&MatrixLanes::of_rp_csc(a), (b, n), machine, plan)
}

fn check_dense_extents((rows, cols): (usize, usize), b: usize, n: usize) -> Result<(), Refusal> {
    same(("columns of A * columns of B", cols.saturating_mul(n)), ("elements of B", b))?;
    let found = rows as u128 * n as u128;
    if found > u128::from(SLOT_LIMIT) {
        return Err(Limit { field: "elements of C", found, limit: SLOT_LIMIT }.into());
    }
    Ok(())
}

fn dense_product<T: Value>(
    columns: &MatrixLanes<'_, T>,
    (b, n): (&[T], usize),
    machine: &Machine,
    plan: IopsPlan,
) -> Result<Simulation<Vec<T>>, Refusal> {
    let problem = sdmm::problem(columns, n);
    let partition = planned(&problem, machine, plan)?;
    sdmm::check_dense(&problem, machine, &partition)?;
    let (result, counters) = sdmm::run(columns, (b, n), machine, &partition);
    Ok(Simulation { result, partition, counters })
}

fn planned(problem: &Problem, machine: &Machine, plan: IopsPlan) -> Result<Partition, Refusal> {
    machine.check()?;
    match plan {
        IopsPlan::Adaptive => partition::plan(problem, machine),
        IopsPlan::Given(given) => given.check_cover(problem, machine).map(|()| given),
    }
}

/// The product that [`ssmm`] would compute, as the partition sees it.
#[must_use]
pub fn ssmm_problem<T: Value>(a: &Csr<T>, b: &Csr<T>) -> Problem {
    let nnz = |m: &Csr<T>| m.values.len() as u64;
    Problem::ssmm((a.rows, a.cols, b.cols), (nnz(a), nnz(b)), T::BYTES)
}

/// The product that [`sdmm`] would compute, as the partition sees it.
#[must_use]
pub fn sdmm_problem<T: Value>(a: &Csr<T>, n: usize) -> Problem {
    Problem::sdmm((a.rows, a.cols, n), a.values.len() as u64, T::BYTES)
}

/// Inner and outer product of two sparse matrices, whose product has `outputs` entries.
///
/// # Errors
/// As [`ssmm`], for the dense tiles of the inner product.
pub fn ssmm_dataflows<T: Value>(
    a: &Csr<T>,
    b: &Csr<T>,
    outputs: u64,
    machine: &Machine,
) -> Result<Dataflows, Refusal> {
    same(("columns of A", a.cols), ("rows of B", b.rows))?;
    dataflows(&MatrixLanes::of_csr(a).turned()?, &Second::Sparse(&MatrixLanes::of_csr(b)), outputs, machine)
}

/// Inner and outer product with a dense matrix of `n` columns.
///
/// # Errors
/// As [`sdmm`], for the dense tiles of the inner product.
pub fn sdmm_dataflows<T: Value>(a: &Csr<T>, n: usize, machine: &Machine) -> Result<Dataflows, Refusal> {
    check_u32("columns of B", n as u128)?;
    let outputs = a.rows as u64 * n as u64;
    dataflows(&MatrixLanes::of_csr(a).turned()?, &Second::Dense(n), outputs, machine)
}

fn dataflows<T: Value>(
    a: &MatrixLanes<'_, T>,
    b: &Second<'_, T>,
    outputs: u64,
    machine: &Machine,
) -> Result<Dataflows, Refusal> {
    machine.check()?;
    let (inner_partition, inner) = dataflow::inner(a, b, outputs, machine)?;
    Ok(Dataflows { inner, inner_partition, outer: dataflow::outer(a, b, outputs, machine) })
}
