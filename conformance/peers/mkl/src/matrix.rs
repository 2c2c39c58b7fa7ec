//! A CSR matrix that MKL holds a handle to, and its product with a dense matrix.

use crate::abi::{GENERAL, Handle, Number, PLAIN, ROW_MAJOR, Typed, ZERO_BASED, check};
use crate::error::MklError;
use crate::library::Mkl;
use std::ptr::null_mut;

/// A CSR matrix: checked arrays, and MKL's handle that points into them.
#[derive(Debug)]
pub struct Csr<'m, T: Number> {
    pub(crate) mkl: &'m Mkl,
    pub(crate) handle: Handle,
    functions: Typed<T>,
    pub(crate) rows: i32,
    pub(crate) cols: i32,
    /// Kept in place for the handle.
    _arrays: (Vec<i32>, Vec<i32>, Vec<T>),
}

// SAFETY: a handle is not bound to the thread that made it; MKL documents its sparse routines as thread-safe.
unsafe impl<T: Number> Send for Csr<'_, T> {}

impl<'m, T: Number> Csr<'m, T> {
    /// Takes `rows + 1` offsets, and a column and a value for each entry.
    ///
    /// # Errors
    /// [`MklError::Argument`] for a shape past i32 or arrays that are no CSR matrix; MKL's own status.
    pub fn new(
        mkl: &'m Mkl,
        (rows, cols): (usize, usize),
        row_ptr: &[u32],
        col_idx: &[u32],
        values: &[T],
    ) -> Result<Csr<'m, T>, MklError> {
        let (rows, cols) = (int("rows", rows)?, int("columns", cols)?);
        check_arrays((rows, cols), row_ptr, col_idx, values.len())?;
        let signed = |list: &[u32]| -> Vec<i32> { list.iter().map(|&v| v as i32).collect() };
        let (mut offsets, mut columns, mut values) = (signed(row_ptr), signed(col_idx), values.to_vec());
        let functions = T::functions(mkl);
        let mut handle: Handle = null_mut();
        let starts = offsets.as_mut_ptr();
        // SAFETY: `starts` has rows + 1 elements (checked above), so row i ends at element i + 1 of it; columns and values have
        // as many as the last offset says. The heap blocks stay where they are: the vectors move into the value
        // returned, which nobody can change, and outlive the handle.
        let status = unsafe {
            (functions.create)(
                &mut handle,
                ZERO_BASED,
                rows,
                cols,
                starts,
                starts.add(1),
                columns.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        check("mkl_sparse_create_csr", status)?;
        Ok(Csr { mkl, handle, functions, rows, cols, _arrays: (offsets, columns, values) })
    }

    /// Announces products with `n` columns, row-major, `calls` times, and lets MKL prepare for them.
    ///
    /// # Errors
    /// MKL's own status.
    pub fn optimize(&mut self, n: usize, calls: usize) -> Result<(), MklError> {
        let (n, calls) = (int("columns of B", n)?, int("calls", calls)?);
        // SAFETY: the handle is live; the constants are the header's.
        let hint = unsafe { (self.mkl.mm_hint)(self.handle, PLAIN, GENERAL, ROW_MAJOR, n, calls) };
        check("mkl_sparse_set_mm_hint", hint)?;
        // SAFETY: the handle is live, and `&mut self` excludes other uses of it.
        check("mkl_sparse_optimize", unsafe { (self.mkl.optimize)(self.handle) })
    }

    /// `C = A * B`, both row-major without padding: B has `cols * n` elements, C `rows * n`.
    ///
    /// # Errors
    /// [`MklError::Argument`] for other lengths; MKL's own status.
    pub fn mm(&self, b: &[T], n: usize, c: &mut [T]) -> Result<(), MklError> {
        let columns = int("columns of B", n)?;
        length("elements of B", self.cols, n, b.len())?;
        length("elements of C", self.rows, n, c.len())?;
        // SAFETY: every column index is below `cols` (checked when made), so MKL reads rows of B below that, n elements
        // each, and writes `rows` rows of C: the lengths were checked just now.
        let status = unsafe {
            (self.functions.mm)(
                PLAIN,
                T::ONE,
                self.handle,
                GENERAL,
                ROW_MAJOR,
                b.as_ptr(),
                columns,
                columns.max(1),
                T::default(),
                c.as_mut_ptr(),
                columns.max(1),
            )
        };
        check("mkl_sparse_mm", status)
    }
}

impl<T: Number> Drop for Csr<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used after this. Arrays that the user gave are not freed by MKL.
        unsafe { (self.mkl.destroy)(self.handle) };
    }
}

pub(crate) fn int(what: &'static str, value: usize) -> Result<i32, MklError> {
    i32::try_from(value).map_err(|_| MklError::argument(what, &"at most 2147483647", &value))
}

fn length(what: &'static str, rows: i32, n: usize, found: usize) -> Result<(), MklError> {
    let expected = rows as u128 * n as u128;
    if expected == found as u128 { Ok(()) } else { Err(MklError::argument(what, &expected, &found)) }
}

fn check_arrays(
    (rows, cols): (i32, i32),
    row_ptr: &[u32],
    col_idx: &[u32],
    values: usize,
) -> Result<(), MklError> {
    let entries = int("entries", col_idx.len())?;
    if row_ptr.len() != rows as usize + 1 {
        return Err(MklError::argument("offsets", &(rows as usize + 1), &row_ptr.len()));
    }
    if values != col_idx.len() {
        return Err(MklError::argument("values", &col_idx.len(), &values));
    }
    let ends = (row_ptr[0], row_ptr[rows as usize]);
    if ends != (0, entries as u32) || !row_ptr.is_sorted() {
        let expected = format!("ascending from 0 to {entries}");
        return Err(MklError::argument("offsets", &expected, &format!("{} to {}", ends.0, ends.1)));
    }
    match col_idx.iter().find(|&&col| i64::from(col) >= i64::from(cols)) {
        Some(col) => Err(MklError::argument("column", &format!("below {cols}"), col)),
        None => Ok(()),
    }
}
