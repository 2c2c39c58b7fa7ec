//! A kernel and its test, in a crate of one's own. In a repository of yours, the path dependency becomes a git dependency.
//!
//! ```sh
//! cargo test --manifest-path conformance/examples/own-test/Cargo.toml
//! ```

/// `y = A x`, A in CSR.
pub fn my_spmv(row_ptr: &[u32], col_idx: &[u32], values: &[f32], x: &[f32], y: &mut [f32]) {
    for (i, y) in y.iter_mut().enumerate() {
        let row = row_ptr[i] as usize..row_ptr[i + 1] as usize;
        *y = row.map(|at| values[at] * x[col_idx[at] as usize]).sum();
    }
}

#[test]
fn my_spmv_is_right() {
    sparse_check::spmv(|a: &sparse_check::Csr<f32>, x, y| my_spmv(&a.row_ptr, &a.col_idx, &a.values, x, y)).assert();
}

/// What a failure looks like: a launch that is one block short leaves the last rows as they were.
#[test]
#[should_panic(expected = "again: SPARSE_CASE=")]
fn a_kernel_that_leaves_rows_out_fails() {
    sparse_check::spmv(|a: &sparse_check::Csr<f32>, x, y| {
        let rows = a.rows / 16 * 16;
        my_spmv(&a.row_ptr[..=rows], &a.col_idx, &a.values, x, &mut y[..rows]);
    })
    .case("spmv.csr.f32_f32_f32_f32/dense:rows=17,cols=4,seed=1/values=ones,1")
    .assert();
}
