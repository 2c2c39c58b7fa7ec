//! Small operands, read and laid out. Found by mutation: slower tests of whole cases saw these, none of this file's own did.

use super::*;
use crate::arithmetic::{Architecture, Instruction, Reduction};
use crate::format::{Coo, CooParts};
use crate::scalar::Precision::{F32, Tf32};

/// 2 x 3 with entries at (0, 1), (1, 0) and (1, 2).
fn csr() -> CsrParts<f64> {
    CsrParts { rows: 2, cols: 3, row_ptr: vec![0, 1, 3], col_idx: vec![1, 0, 2], values: vec![1.0, 2.0, 3.0] }
}

fn spmm(columns: Option<Vec<u32>>) -> ExactOperands<'static> {
    let a = Cow::Owned(Csr::try_new(csr()).expect("legal"));
    let b = Dense::from_fn(3, 2, |i, j| (2 * i + j) as f64);
    ExactOperands::Spmm { a, pads: None, b: b.into(), slots: None, columns }
}

#[test]
fn the_order_is_free_only_where_a_unit_of_several_terms_has_untold_slots() {
    let order = |format, declared: &Arithmetic| spmm(None).as_laid_out(format, declared).part().order;
    let instruction = Instruction::mma((16, 8, 8), F32, Tf32);
    let blocks = Arithmetic::mma(Some(Architecture::Sm90), instruction, F32);
    let chain = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    assert!(blocks.part().block() > 1 && blocks.parts.second().is_none());
    assert_eq!(order(FormatKind::Bcsr, &blocks), Order::Free);
    assert_eq!(order(FormatKind::Bcsr, &chain), chain.part().order);
    assert_ne!(chain.part().order, Order::Free);
    // Without pads, or without gaps between them, terms follow one another.
    for format in [FormatKind::Csr, FormatKind::Nm] {
        assert_eq!(order(format, &blocks), blocks.part().order, "{}", format.name());
    }
}

#[test]
fn a_column_stands_for_itself_unless_duplicates_are_apart() {
    assert_eq!(spmm(None).column(3), 3);
    let apart = spmm(Some(vec![4, 7]));
    assert_eq!((apart.column(0), apart.column(1), apart.column(2)), (4, 7, 2));
}

#[test]
fn every_element_is_visited_with_its_number_and_what_c_held() {
    let declared = Arithmetic::chain(Reduction::FmaChain, F32, F32);
    let mut seen = Vec::new();
    let held = [10.0, 20.0, 30.0, 40.0];
    spmm(None)
        .for_each_accepted(
            (&declared, &Profile::default()),
            (1.0, 1.0),
            (Some(&held), None),
            &mut |site, context, _| seen.push((site.at, context.number, context.held)),
        )
        .expect("they fit");
    assert_eq!(seen, [((0, 0), 0, 10.0), ((0, 1), 1, 20.0), ((1, 0), 2, 30.0), ((1, 1), 3, 40.0)]);
}

#[test]
fn positions_are_those_that_are_stored_duplicates_included() {
    let a = AnySparse::from(Sparse::Csr(Csr::try_new(csr()).expect("legal")));
    assert_eq!(positions(&a), [(0, 1), (1, 0), (1, 2)]);
    let is_borrowed = |found| matches!(found, Some(Cow::Borrowed(_)));
    assert_eq!(as_csr(&a).as_deref(), Some(&Csr::try_new(csr()).expect("legal")));
    assert!(is_borrowed(as_csr(&a)), "numbers of f64 are read where they are");
    let coo = CooParts {
        rows: 2,
        cols: 3,
        row_idx: vec![1, 0, 1],
        col_idx: vec![2, 1, 2],
        values: vec![1.0, 2.0, 3.0],
    };
    let a = AnySparse::from(Sparse::Coo(Coo::try_new(coo).expect("legal")));
    assert_eq!(positions(&a), [(1, 2), (0, 1), (1, 2)]);
    assert_eq!(as_csr(&a), None);
}

/// B is read where it lies, or copied, by type, layout, transpose and rounding; its numbers are those of the operation either way.
#[test]
fn b_is_copied_only_where_it_is_not_read_as_it_lies() {
    // Rows, or columns, of three elements, one of them no element of B.
    let (narrow, wide) = ([1.0f32, -0.0, f32::NAN, 3.0, 4.1], [1.0f64, -0.0, f64::NAN, 3.0, 4.1]);
    let of = |data, layout| DenseRef { rows: 2, cols: 2, ld: 3, layout, data };
    let (by_row, by_col) = (Layout::RowMajor, Layout::ColMajor);
    let is_in = |found: &ExactDense<'_>| match found {
        ExactDense::Narrow(b) => std::ptr::eq(b.row(0).as_ptr(), narrow.as_ptr()),
        ExactDense::Wide(b) => std::ptr::eq(b.row(0).as_ptr(), wide.as_ptr()),
    };
    let tf32 = Input::Tf32Rne;
    for data in [AnySlice::F32(&narrow), AnySlice::F64(&wide)] {
        for (layout, transpose, rounding, is_read) in [
            (by_row, false, Input::AsStored, true),
            (by_col, true, Input::AsStored, true),
            (by_row, true, Input::AsStored, false),
            (by_col, false, Input::AsStored, false),
            (by_row, false, tf32, false),
        ] {
            let stored = of(data, layout);
            let b = exact_dense(stored, transpose, rounding).expect("small");
            assert_eq!(is_in(&b), is_read, "{layout:?} {transpose} {rounding:?}");
            let last = if data.precision() == F32 { f64::from(4.1f32) } else { 4.1 };
            let numbers = [1.0, -0.0, 3.0, input(last, rounding)];
            let turned = layout == by_col;
            for (at, number) in numbers.into_iter().enumerate() {
                let (i, j) = if turned != transpose { (at % 2, at / 2) } else { (at / 2, at % 2) };
                assert_eq!(b.at(i, j).to_bits(), number.to_bits(), "{layout:?} {transpose} {rounding:?}");
            }
        }
    }
}
