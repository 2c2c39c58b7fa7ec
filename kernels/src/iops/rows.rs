//! The model as kernels of the registry: SSMM as SpGEMM, SDMM as SpMM, the encoders as conversions, on the default machine with
//! the adaptive partition.
//!
//! A contract for SpGEMM is of one format for A, B and C. SSMM takes RP-CSC and CP-CSR and makes CSR, which none can say: its rows
//! take CSR or CSC and encode them. `ssmm_encoded` multiplies from arrays that are encoded already.

use super::lanes::{MatrixLanes, lanes};
use super::machine::Machine;
use super::partition::plan;
use super::value::Value;
use super::{encoder, entries, sdmm, ssmm};
use crate::engine::Engine;
use crate::kernel::{Kernel, Run};
use crate::portable::element::{Operand, Output, Stored, contract};
use crate::portable::move_row;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request;
use crate::portable::unit::Unit;
use sparse_types::arithmetic::{Arithmetic, Reduction};
use sparse_types::contract::Op;
use sparse_types::format::{FormatKind, FormatParams, Parts, Sparse};
use sparse_types::refusal::Refusal;
use sparse_types::task::{Answer, Task};

/// What an element of the array multiplies.
trait Number: Value + Unit + Operand<Self> + Output<Self> {}
impl Number for f64 {}
impl Number for f32 {}

/// All of them.
pub(crate) fn kernels() -> Vec<Kernel> {
    let mut table = of::<f64>();
    table.extend(of::<f32>());
    table
}

fn of<T: Number>() -> Vec<Kernel> {
    vec![
        arithmetic::<T>(Op::Spgemm, FormatKind::Csr, spgemm::<T, true>),
        arithmetic::<T>(Op::Spgemm, FormatKind::Csc, spgemm::<T, false>),
        arithmetic::<T>(Op::Spmm, FormatKind::Csr, |task| spmm::<T>(task, FormatKind::Csr)),
        arithmetic::<T>(Op::Spmm, FormatKind::Csc, |task| spmm::<T>(task, FormatKind::Csc)),
        arithmetic::<T>(Op::Spmm, FormatKind::RpCsc, |task| spmm::<T>(task, FormatKind::RpCsc)),
        arithmetic::<T>(Op::Spmm, FormatKind::CpCsr, |task| spmm::<T>(task, FormatKind::CpCsr)),
        move_row::<ToRpCsc, T>(Engine::Iops),
        move_row::<ToCpCsr, T>(Engine::Iops),
        move_row::<FromRpCsc, T>(Engine::Iops),
        move_row::<FromCpCsr, T>(Engine::Iops),
    ]
}

fn arithmetic<T: Number>(op: Op, format: FormatKind, run: Run) -> Kernel {
    let chain = Arithmetic::chain(Reduction::MulAddChain, <T as Unit>::PRECISION, <T as Unit>::PRECISION);
    Kernel::new(contract::<T, T, T>(op, format), Engine::Iops, chain, run)
}

/// C = A * B, all in CSR (by rows) or all in CSC.
#[expect(clippy::needless_pass_by_value, reason = "the signature that the registry calls")]
fn spgemm<T: Number, const BY_ROWS: bool>(task: Task<'_>) -> Result<Answer, Refusal> {
    let Task::Spgemm { a, b } = task else {
        return Err(request::wrong_task(Op::Spgemm, &task));
    };
    let kind = if BY_ROWS { FormatKind::Csr } else { FormatKind::Csc };
    let (a, b) = (request::sparse::<T>("A", a, kind)?, request::sparse::<T>("B", b, kind)?);
    let ((rows, inner), (inner_b, cols)) = (a.shape(), b.shape());
    request::same(("columns of A", inner), ("rows of B", inner_b))?;
    let (columns, lanes_b) = (lanes(a, false)?, lanes(b, true)?);
    let machine = Machine::default();
    let partition = plan(&ssmm::problem(&columns, &lanes_b), &machine)?;
    let (tiles, _) = ssmm::run(&columns, &lanes_b, &machine, &partition)?;
    let arrays = if BY_ROWS { entries::by_rows(tiles, rows) } else { entries::by_columns(tiles, cols) };
    Ok(compressed(kind, (rows, cols), arrays))
}

/// C = alpha * op(A) * op(B) + beta * C: the machine makes the product, the host scales and adds.
fn spmm<T: Number>(task: Task<'_>, kind: FormatKind) -> Result<Answer, Refusal> {
    let request = request::spmm::<T, T, T>(task, kind)?;
    let (scaling, mut c) = (request.scaling, request.c);
    let (m, n) = (c.rows, c.cols);
    if m == 0 || n == 0 {
        return Ok(Answer::Written);
    }
    let product = if scaling.reads_product() {
        // By columns of op(A): by rows of A where it is transposed.
        let columns = lanes(request.a, request.transpose_a)?;
        Some(product::<T>(&columns, &request.b.pack(), n)?)
    } else {
        None
    };
    for i in 0..m {
        for j in 0..n {
            c.update(i, j, |old| match &product {
                Some(product) => scaling.finish(product[i * n + j], old),
                None => scaling.without_product(old),
            });
        }
    }
    Ok(Answer::Written)
}

fn product<T: Number>(columns: &MatrixLanes<'_, T>, b: &[T], n: usize) -> Result<Vec<T>, Refusal> {
    let machine = Machine::default();
    let partition = plan(&sdmm::problem(columns, n), &machine)?;
    Ok(sdmm::run(columns, (b, n), &machine, &partition).0)
}

/// CSR through the encoder of A.
struct ToRpCsc;
/// CSR through the encoder of B.
struct ToCpCsr;
/// RP-CSC as the DMA reads it back.
struct FromRpCsc;
/// CP-CSR as the DMA reads it back.
struct FromCpCsr;

impl Move for ToRpCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::RpCsc);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let shape = matrix.shape();
        // Extents first: turning a matrix costs memory for every column.
        encoder::check(params.groups, shape, true)?;
        let columns = lanes(matrix, false)?;
        let parts = encoder::rp_csc(params.groups, shape, |k| columns.lane(k))?;
        encoded(Parts::RpCsc(parts))
    }
}

impl Move for ToCpCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::CpCsr);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let rows = lanes(matrix, true)?;
        let parts = encoder::cp_csr(params.groups, matrix.shape(), |k| rows.lane(k))?;
        encoded(Parts::CpCsr(parts))
    }
}

impl Move for FromRpCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::RpCsc;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        decoded(matrix)
    }
}

impl Move for FromCpCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::CpCsr;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        decoded(matrix)
    }
}

fn decoded<T: Stored>(matrix: &Sparse<T>) -> Result<Answer, Refusal> {
    let (rows, cols) = matrix.shape();
    check_slots("row_ptr", rows as u128 + 1)?;
    let by_rows = lanes(matrix, true)?.into_arrays();
    Ok(compressed(FormatKind::Csr, (rows, cols), by_rows))
}
