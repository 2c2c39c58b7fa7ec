//! faer's sparse module behind C functions, two for each type of number, which `../../faer.cpp` calls. Nothing is computed here.
//!
//! Operands are read where they lie: faer's own checked constructors make matrices of them. A result goes to a function of the
//! caller. What faer answers with an error or a panic (a failed assertion about shapes or strides) is handed on as a refusal.

use faer::sparse::linalg::matmul::{sparse_dense_matmul, sparse_sparse_matmul};
use faer::sparse::{SparseColMat, SparseColMatRef, SparseRowMat, SparseRowMatRef, Triplet};
use faer::sparse::{SymbolicSparseColMatRef, SymbolicSparseRowMatRef};
use faer::traits::{ComplexField, Conjugate};
use faer::{Accum, MatMut, MatRef, Par};
use std::any::Any;
use std::error::Error;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `count` elements behind `data`, which the caller of an exported function keeps alive and unchanged until it returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array<T> {
    data: *const T,
    count: usize,
}

impl<T> Array<T> {
    fn of(slice: &[T]) -> Array<T> {
        Array { data: slice.as_ptr(), count: slice.len() }
    }

    /// # Safety
    /// `data` points to `count` elements, aligned, that nobody writes during `'a`. If `count` is 0 it may be anything.
    unsafe fn slice<'a>(self) -> &'a [T] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: what is asked of the caller of this function is what `from_raw_parts` asks.
        unsafe { std::slice::from_raw_parts(self.data, self.count) }
    }
}

/// A sparse operand. `outer` has the offsets of rows (CSR) or columns (CSC), or each entry's row (COO); `inner` has each entry's
/// column (CSR, COO) or row (CSC).
#[repr(C)]
pub struct Operand<T> {
    format: i32,
    rows: usize,
    cols: usize,
    outer: Array<u32>,
    inner: Array<u32>,
    values: Array<T>,
}

/// Values of `Operand::format`, and of the format that a result shall have.
const CSR: i32 = 0;
const CSC: i32 = 1;

/// A dense operand (which is only read) or result: `count` elements behind `data`, `ld` of them from the start of a row
/// (`by_rows`) or column to the next. `turned` asks for the transpose of what is stored.
#[repr(C)]
pub struct Dense<T> {
    by_rows: bool,
    turned: bool,
    rows: usize,
    cols: usize,
    ld: usize,
    data: *mut T,
    count: usize,
}

/// Where a sparse result goes, or the reason why there is none.
#[repr(C)]
pub struct Sink<T> {
    context: *mut c_void,
    take: extern "C" fn(*mut c_void, i32, Array<u32>, Array<u32>, Array<T>) -> i32,
    refuse: extern "C" fn(*mut c_void, *const c_char) -> i32,
}

/// f32 and f64.
pub trait Number: ComplexField + Conjugate<Canonical = Self, Conj = Self> + Copy {}
impl Number for f32 {}
impl Number for f64 {}

/// Why faer gives no result.
type Reason = Box<dyn Error>;

/// An operand as faer has it.
enum Matrix<'a, T> {
    Rows(SparseRowMatRef<'a, u32, T>),
    Columns(SparseColMatRef<'a, u32, T>),
    Triplets(Vec<Triplet<u32, u32, T>>),
}

impl<T: Number> Operand<T> {
    /// # Safety
    /// The arrays are as [`Array::slice`] asks.
    unsafe fn matrix(&self) -> Matrix<'_, T> {
        // SAFETY: asked of the caller of this function; the borrow of `self` ends before the exported function returns.
        let (outer, inner, values) = unsafe { (self.outer.slice(), self.inner.slice(), self.values.slice()) };
        match self.format {
            CSR => {
                let pattern = SymbolicSparseRowMatRef::new_checked(self.rows, self.cols, outer, None, inner);
                Matrix::Rows(SparseRowMatRef::new(pattern, values))
            }
            CSC => {
                let pattern = SymbolicSparseColMatRef::new_checked(self.rows, self.cols, outer, None, inner);
                Matrix::Columns(SparseColMatRef::new(pattern, values))
            }
            _ => {
                let entries = outer.iter().zip(inner).zip(values);
                Matrix::Triplets(entries.map(|((&i, &j), &v)| Triplet::new(i, j, v)).collect())
            }
        }
    }
}

/// `c = alpha * op(a) * op(b)`, added to `c` if `add`.
///
/// # Safety
/// The arrays of `a` and the elements of `b` are as [`Array::slice`] asks. So are those of `c`, which nobody else reads or writes.
unsafe fn dense_product<T: Number>(
    a: &Operand<T>,
    turned: bool,
    b: &Dense<T>,
    c: &Dense<T>,
    alpha: T,
    add: bool,
) -> Result<(), Reason> {
    let beta = if add { Accum::Add } else { Accum::Replace };
    // SAFETY: asked of the caller of this function.
    let (a, from) = unsafe { (a.matrix(), Array { data: b.data.cast_const(), count: b.count }.slice()) };
    let stored = if b.by_rows {
        MatRef::from_row_major_slice_with_stride(from, b.rows, b.cols, b.ld)
    } else {
        MatRef::from_column_major_slice_with_stride(from, b.rows, b.cols, b.ld)
    };
    let b = if b.turned { stored.transpose() } else { stored };
    let into = if c.count == 0 {
        &mut []
    } else {
        // SAFETY: the caller says that `count` elements lie there, aligned, and that no one else has to do with them.
        unsafe { std::slice::from_raw_parts_mut(c.data, c.count) }
    };
    // By rows: the transpose of a matrix by columns. faer's own from_row_major_slice_with_stride_mut takes rows for columns
    // (examples/row_major_mut.rs).
    let c = if c.by_rows {
        MatMut::from_column_major_slice_with_stride_mut(into, c.cols, c.rows, c.ld).transpose_mut()
    } else {
        MatMut::from_column_major_slice_with_stride_mut(into, c.rows, c.cols, c.ld)
    };
    match (a, turned) {
        (Matrix::Rows(a), false) => sparse_dense_matmul(c, beta, a, b, alpha, Par::Seq),
        (Matrix::Rows(a), true) => sparse_dense_matmul(c, beta, a.transpose(), b, alpha, Par::Seq),
        (Matrix::Columns(a), false) => sparse_dense_matmul(c, beta, a, b, alpha, Par::Seq),
        (Matrix::Columns(a), true) => sparse_dense_matmul(c, beta, a.transpose(), b, alpha, Par::Seq),
        (Matrix::Triplets(_), _) => return Err("faer has no products of triplets".into()),
    }
    Ok(())
}

/// A sparse result of faer's.
enum Made<T> {
    Rows(SparseRowMat<u32, T>),
    Columns(SparseColMat<u32, T>),
}

impl<T> Made<T> {
    fn hand_over(&self, sink: &Sink<T>) -> i32 {
        let (format, outer, inner, values) = match self {
            Made::Rows(m) => (CSR, m.symbolic().row_ptr(), m.symbolic().col_idx(), m.val()),
            Made::Columns(m) => (CSC, m.symbolic().col_ptr(), m.symbolic().row_idx(), m.val()),
        };
        (sink.take)(sink.context, format, Array::of(outer), Array::of(inner), Array::of(values))
    }
}

/// `a * b`. For CSR as faer's operator has it: the transpose of the product of the transposes.
fn sparse_product<T: Number>(a: Matrix<'_, T>, b: Matrix<'_, T>) -> Result<Made<T>, Reason> {
    let (one, par) = (T::one_impl(), Par::Seq);
    Ok(match (a, b) {
        (Matrix::Columns(a), Matrix::Columns(b)) => Made::Columns(sparse_sparse_matmul(a, b, one, par)?),
        (Matrix::Rows(a), Matrix::Rows(b)) => {
            Made::Rows(sparse_sparse_matmul(b.transpose(), a.transpose(), one, par)?.into_transpose())
        }
        _ => return Err("faer multiplies sparse matrices of one format".into()),
    })
}

/// The transpose, stored as its operand is.
fn transposed<T: Number>(a: &Matrix<'_, T>) -> Result<Made<T>, Reason> {
    Ok(match a {
        Matrix::Rows(a) => Made::Rows(a.transpose().to_row_major()?),
        Matrix::Columns(a) => Made::Columns(a.transpose().to_col_major()?),
        Matrix::Triplets(_) => return Err("faer has no transpose of triplets".into()),
    })
}

/// The same matrix as CSR or CSC.
fn converted<T: Number>(a: Matrix<'_, T>, rows: usize, cols: usize, to: i32) -> Result<Made<T>, Reason> {
    Ok(match (a, to) {
        (Matrix::Rows(a), CSC) => Made::Columns(a.to_col_major()?),
        (Matrix::Columns(a), CSR) => Made::Rows(a.to_row_major()?),
        (Matrix::Triplets(a), CSC) => Made::Columns(SparseColMat::try_new_from_triplets(rows, cols, &a)?),
        (Matrix::Triplets(a), CSR) => Made::Rows(SparseRowMat::try_new_from_triplets(rows, cols, &a)?),
        _ => return Err("faer has no such conversion".into()),
    })
}

/// Runs `work`; an error or a panic of faer's becomes a refusal.
fn guarded<T>(sink: &Sink<T>, work: impl FnOnce() -> Result<i32, Reason>) -> i32 {
    let said = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|reason| reason.to_string()),
        Err(panic) => Err(words(panic.as_ref())),
    };
    said.unwrap_or_else(|reason| {
        let reason = CString::new(reason.replace('\0', " ")).unwrap_or_default();
        (sink.refuse)(sink.context, reason.as_ptr())
    })
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("faer panics without words").to_owned()
}

/// What a call for a sparse result asks.
const PRODUCT: i32 = 0;
const TRANSPOSE: i32 = 1;

/// The two exported functions of a type of number.
macro_rules! exported {
    ($number:ty, $dense:ident, $sparse:ident) => {
        /// `c = alpha * op(a) * op(b)`, added to `c` if `add`. Returns 0, or what `refuse` returns.
        ///
        /// # Safety
        /// The references are valid, and behind each `data` lie `count` elements until this returns. None of them is written
        /// meanwhile but those of `c`, which have memory of their own.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $dense(
            a: &Operand<$number>,
            turned: bool,
            b: &Dense<$number>,
            c: &Dense<$number>,
            alpha: $number,
            add: bool,
            sink: &Sink<$number>,
        ) -> i32 {
            // SAFETY: the same is asked of the caller of this function.
            guarded(sink, || unsafe { dense_product(a, turned, b, c, alpha, add) }.map(|()| 0))
        }

        /// A product, a transpose or a conversion to the format `to`. Returns what `take` or `refuse` returns.
        ///
        /// # Safety
        /// The references are valid, and behind each `data` lie `count` elements, which are not written until this returns.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $sparse(
            what: i32,
            a: &Operand<$number>,
            b: Option<&Operand<$number>>,
            to: i32,
            sink: &Sink<$number>,
        ) -> i32 {
            guarded(sink, || {
                // SAFETY: the same is asked of the caller of this function.
                let (left, right) = unsafe { (a.matrix(), b.map(|b| b.matrix())) };
                let made = match (what, right) {
                    (PRODUCT, Some(right)) => sparse_product(left, right),
                    (TRANSPOSE, _) => transposed(&left),
                    _ => converted(left, a.rows, a.cols, to),
                };
                made.map(|made| made.hand_over(sink))
            })
        }
    };
}
exported!(f32, score_faer_dense_f32, score_faer_sparse_f32);
exported!(f64, score_faer_dense_f64, score_faer_sparse_f64);
