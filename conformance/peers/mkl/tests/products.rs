//! Products by hand, where MKL is there, and what is refused before MKL sees it.

use sparse_mkl::{Csr, Mkl, MklError, find};
use std::path::Path;

/// MKL, or a loud note that it is not there.
fn mkl() -> Option<Mkl> {
    match find(None) {
        Ok(path) => Some(Mkl::open(&path).expect("it loads")),
        Err(error) => {
            println!("SKIPPED: 1 test without MKL: {error}");
            None
        }
    }
}

#[test]
fn a_missing_library_is_an_error_that_names_it() {
    let error = find(Some(Path::new("/nowhere/libmkl_rt.so"))).expect_err("there is none");
    assert!(error.to_string().contains("/nowhere/libmkl_rt.so"), "{error}");
    assert!(matches!(Mkl::open(Path::new("/nowhere/libmkl_rt.so")), Err(MklError::Load { .. })));
}

/// 1 0 2
/// 0 0 3
const ROW_PTR: [u32; 3] = [0, 2, 3];
const COL_IDX: [u32; 3] = [0, 2, 2];

#[test]
fn products_are_those_by_hand() {
    let Some(mkl) = mkl() else { return };
    mkl.use_threads(1, 0);
    assert_eq!(mkl.threads(), 1);
    let mut a = Csr::new(&mkl, (2, 3), &ROW_PTR, &COL_IDX, &[1.0f64, 2.0, 3.0]).expect("valid");
    a.optimize(2, 10).expect("optimize");
    let mut c = [f64::NAN; 4];
    a.mm(&[1.0, 10.0, 2.0, 20.0, 3.0, 30.0], 2, &mut c).expect("mm");
    assert_eq!(c, [7.0, 70.0, 9.0, 90.0]);

    let b = Csr::new(&mkl, (3, 2), &[0, 1, 1, 3], &[1, 0, 1], &[4.0f64, 5.0, 6.0]).expect("valid");
    let product = a.multiply(&b).expect("spmm").sorted().expect("export");
    assert_eq!(product.shape, (2, 2));
    assert_eq!((product.row_ptr, product.col_idx), (vec![0, 2, 4], vec![0, 1, 0, 1]));
    assert_eq!(product.values, [10.0, 16.0, 15.0, 18.0]);
}

#[test]
fn what_is_no_matrix_never_reaches_mkl() {
    let Some(mkl) = mkl() else { return };
    let new = |shape, row_ptr: &[u32], col_idx: &[u32], values: &[f32]| {
        Csr::new(&mkl, shape, row_ptr, col_idx, values).map(|_| ())
    };
    let ones = [1.0f32; 3];
    for (refused, what) in [
        (new((2, 2), &ROW_PTR, &COL_IDX, &ones), "column"),
        (new((3, 3), &ROW_PTR, &COL_IDX, &ones), "offsets"),
        (new((2, 3), &[0, 3, 2], &COL_IDX, &ones), "offsets"),
        (new((2, 3), &[0, 2, 4], &COL_IDX, &ones), "offsets"),
        (new((2, 3), &ROW_PTR, &COL_IDX, &ones[..2]), "values"),
    ] {
        let error = refused.expect_err(what);
        assert!(matches!(error, MklError::Argument { what: found, .. } if found == what), "{error}");
    }
    let a = Csr::new(&mkl, (2, 3), &ROW_PTR, &COL_IDX, &ones).expect("valid");
    assert!(a.mm(&[0.0; 5], 2, &mut [0.0; 4]).is_err());
    assert!(a.mm(&[0.0; 6], 2, &mut [0.0; 3]).is_err());
    assert!(a.multiply(&a).is_err());
}
