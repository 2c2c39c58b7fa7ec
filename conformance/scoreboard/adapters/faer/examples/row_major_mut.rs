//! faer 0.24.4: `MatMut::from_row_major_slice_with_stride_mut` checks a slice as rows, then takes it as columns.
//! No sparse product is involved; ../src/lib.rs makes its results by rows another way.
//!
//!     cargo run --release --example row_major_mut
//!
//! Its documentation says "interpreted in a row-major format". In its source the last line passes 1 as the row stride and
//! `row_stride` as the column stride (src/mat/matmut.rs). The function for a `MatRef` has no such fault. Known to its authors:
//! <https://github.com/sarah-quinones/faer-rs/pull/267>.

use faer::{MatMut, MatRef};

fn main() {
    // Rows (0, 1) and (2, 3).
    let mut memory = [0.0, 1.0, 2.0, 3.0];
    let read = MatRef::from_row_major_slice_with_stride(&memory, 2, 2, 2)[(0, 1)];
    let written = MatMut::from_row_major_slice_with_stride_mut(&mut memory, 2, 2, 2)[(0, 1)];
    println!("element (0, 1) of rows (0, 1), (2, 3): {read} as MatRef, {written} as MatMut");

    // One row of 3 in 3 elements: the check passes, and column 2 would begin at element 6. Only addresses are compared here.
    let mut memory = [0.0; 3];
    let first = memory.as_ptr();
    let row = MatMut::from_row_major_slice_with_stride_mut(&mut memory, 1, 3, 3);
    println!("one row of 3 elements: column 2 lies {} elements after the first", 2 * row.col_stride());
    assert_eq!(row.as_ptr(), first);
}
