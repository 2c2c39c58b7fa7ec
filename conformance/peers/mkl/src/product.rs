//! The product of two sparse matrices, as MKL leaves it and as sorted CSR arrays.

use crate::abi::{Handle, Number, PLAIN, check};
use crate::error::MklError;
use crate::library::Mkl;
use crate::matrix::Csr;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// A sparse product in MKL's own memory; columns of a row are in no order.
#[derive(Debug)]
pub struct Product<'m, T: Number> {
    mkl: &'m Mkl,
    handle: Handle,
    _element: PhantomData<T>,
}

// SAFETY: a handle is not bound to the thread that made it; MKL documents its sparse routines as thread-safe.
unsafe impl<T: Number> Send for Product<'_, T> {}

/// CSR arrays with the columns of each row ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted<T> {
    /// Rows and columns.
    pub shape: (usize, usize),
    /// `rows + 1` offsets.
    pub row_ptr: Vec<u32>,
    /// Column of each entry.
    pub col_idx: Vec<u32>,
    /// Value of each entry.
    pub values: Vec<T>,
}

impl<'m, T: Number> Csr<'m, T> {
    /// `A * B`.
    ///
    /// # Errors
    /// [`MklError::Argument`] where the inner dimensions differ; MKL's own status.
    pub fn multiply(&self, b: &Csr<'m, T>) -> Result<Product<'m, T>, MklError> {
        if self.cols != b.rows {
            return Err(MklError::argument("rows of B", &self.cols, &b.rows));
        }
        let mut handle: Handle = null_mut();
        // SAFETY: both handles are live and of one element type, and the shapes fit.
        let status = unsafe { (self.mkl.spmm)(PLAIN, self.handle, b.handle, &mut handle) };
        check("mkl_sparse_spmm", status)?;
        Ok(Product { mkl: self.mkl, handle, _element: PhantomData })
    }
}

impl<T: Number> Product<'_, T> {
    /// Sorts the rows and copies the arrays out.
    ///
    /// # Errors
    /// MKL's own status; [`MklError::Argument`] for arrays that contradict each other.
    pub fn sorted(&mut self) -> Result<Sorted<T>, MklError> {
        // SAFETY: the handle is live, and `&mut self` excludes other uses of it.
        check("mkl_sparse_order", unsafe { (self.mkl.order)(self.handle) })?;
        let (mut base, mut rows, mut cols) = (0, 0, 0);
        let (mut starts, mut ends, mut columns) = (null_mut(), null_mut(), null_mut());
        let mut values: *mut T = null_mut();
        // SAFETY: the handle is live; every pointer is to a local of the type that the header asks for.
        let status = unsafe {
            (T::functions(self.mkl).export)(
                self.handle,
                &mut base,
                &mut rows,
                &mut cols,
                &mut starts,
                &mut ends,
                &mut columns,
                &mut values,
            )
        };
        check("mkl_sparse_export_csr", status)?;
        if rows < 0 || cols < 0 || base != 0 {
            return Err(MklError::argument(
                "exported shape",
                &"a zero-based matrix",
                &format!("{rows} x {cols}, base {base}"),
            ));
        }
        let mut sorted = Sorted {
            shape: (rows as usize, cols as usize),
            row_ptr: vec![0],
            col_idx: Vec::new(),
            values: Vec::new(),
        };
        for row in 0..rows as usize {
            // SAFETY: the export gives `rows` starts and ends.
            let (start, end) = unsafe { (*starts.add(row), *ends.add(row)) };
            if start < 0 || end < start {
                return Err(MklError::argument(
                    "exported row",
                    &"ascending offsets",
                    &format!("{start}..{end}"),
                ));
            }
            let range = (start as usize, (end - start) as usize);
            if range.1 > 0 {
                // SAFETY: the export gives a column and a value for every offset between a row's start and end, and they live
                // until the handle is destroyed.
                let (of_row, numbers) = unsafe {
                    (
                        std::slice::from_raw_parts(columns.add(range.0), range.1),
                        std::slice::from_raw_parts(values.add(range.0), range.1),
                    )
                };
                sorted.col_idx.extend(of_row.iter().map(|&col: &i32| col as u32));
                sorted.values.extend_from_slice(numbers);
            }
            sorted.row_ptr.push(sorted.col_idx.len() as u32);
        }
        Ok(sorted)
    }
}

impl<T: Number> Drop for Product<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used after this; MKL frees the arrays that it made.
        unsafe { (self.mkl.destroy)(self.handle) };
    }
}
