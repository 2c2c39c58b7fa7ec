//! The adapters of `sprs` and `nalgebra-sparse`: a small product and conversion by hand, so that a broken adapter is
//! not mistaken for a broken library; and proof that each declared deviation is real.

use sparse_conformance::backend::{Backend, NalgebraSparse, Sprs, Support};
use sparse_conformance::case::Params;
use sparse_oracle::contract::{Contract, all_contracts};
use sparse_oracle::format::{AnySparse, Coo, CooParts, FormatKind, FormatParams, Layout, Sparse};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Choice;
use sparse_oracle::scalar::{AnySlice, AnySliceMut, Precision};
use sparse_oracle::task::{Answer, DenseMut, DenseRef, RawSparse, Task};
use std::collections::BTreeSet;

const PEERS: [&dyn Backend; 2] = [&Sprs, &NalgebraSparse];

fn contract(name: &str) -> Contract {
    Contract::from_name(name).unwrap_or_else(|| panic!("{name} is not in the table"))
}

/// A matrix in a format from triples.
fn matrix(shape: (usize, usize), kind: FormatKind, triples: &[(u32, u32, f64)]) -> AnySparse {
    let parts = CooParts {
        rows: shape.0,
        cols: shape.1,
        row_idx: triples.iter().map(|t| t.0).collect(),
        col_idx: triples.iter().map(|t| t.1).collect(),
        values: triples.iter().map(|t| t.2).collect(),
    };
    let coo = Coo::try_new(parts).expect("valid triples");
    AnySparse::F64(if kind == FormatKind::Coo {
        Sparse::Coo(coo)
    } else {
        Sparse::from_entries(kind, FormatParams::default(), &coo.entries()).expect("small")
    })
}

/// `[[1, 0, 2], [0, 0, 3]]`, row 1 without its first two columns.
fn small(kind: FormatKind) -> AnySparse {
    matrix((2, 3), kind, &[(0, 0, 1.0), (0, 2, 2.0), (1, 2, 3.0)])
}

/// `C = alpha * A * B + beta * C` with a column-major C; B is `[[1, 2], [4, 8], [16, 32]]` in either layout.
fn product(peer: &dyn Backend, a: &AnySparse, layout: Layout, factors: (f64, f64), c: [f64; 4]) -> [f64; 4] {
    let by_rows = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let by_cols = [1.0, 4.0, 16.0, 2.0, 8.0, 32.0];
    let (data, ld) = if layout == Layout::RowMajor { (&by_rows, 2) } else { (&by_cols, 3) };
    let b = DenseRef { rows: 3, cols: 2, ld, layout, data: AnySlice::F64(data) };
    let mut out = c;
    let c = DenseMut { rows: 2, cols: 2, ld: 2, layout: Layout::ColMajor, data: AnySliceMut::F64(&mut out) };
    let (alpha, beta) = factors;
    let task = Task::Spmm { a, transpose_a: false, b, transpose_b: false, alpha, beta, c };
    let name = format!("spmm.{}.f64_f64_f64_f64", a.kind().name());
    assert_eq!(peer.run(&contract(&name), task), Ok(Answer::Written), "{}", peer.name());
    out
}

/// A * B by hand, column-major: rows `[33, 66]` and `[48, 96]`.
const BY_HAND: [f64; 4] = [33.0, 48.0, 66.0, 96.0];

#[test]
fn a_small_product_is_right() {
    for peer in PEERS {
        for kind in [FormatKind::Csr, FormatKind::Csc] {
            for layout in [Layout::RowMajor, Layout::ColMajor] {
                let name = format!("{} {} {layout:?}", peer.name(), kind.name());
                assert_eq!(product(peer, &small(kind), layout, (1.0, 0.0), [7.0; 4]), BY_HAND, "{name}");
                let added = product(peer, &small(kind), layout, (1.0, 1.0), [1.0, 2.0, 3.0, 4.0]);
                assert_eq!(added, [34.0, 50.0, 69.0, 100.0], "{name}");
            }
        }
    }
    for kind in [FormatKind::Csr, FormatKind::Csc] {
        let scaled =
            product(&NalgebraSparse, &small(kind), Layout::RowMajor, (2.0, -1.0), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(scaled, [65.0, 94.0, 129.0, 188.0]);
    }
}

#[test]
fn a_small_vector_product_is_right_transposed_too() {
    for peer in PEERS {
        for kind in [FormatKind::Csr, FormatKind::Csc] {
            let (a, name) = (small(kind), format!("spmv.{}.f64_f64_f64_f64", kind.name()));
            let run = |transpose_a: bool, x: &[f64], y: &mut [f64]| {
                let (x, y) = (AnySlice::F64(x), AnySliceMut::F64(y));
                let task = Task::Spmv { a: &a, transpose_a, x, alpha: 1.0, beta: 0.0, y };
                assert_eq!(peer.run(&contract(&name), task), Ok(Answer::Written), "{} {name}", peer.name());
            };
            let (mut y, mut turned) = ([9.0; 2], [9.0; 3]);
            run(false, &[1.0, 10.0, 100.0], &mut y);
            run(true, &[1.0, 10.0], &mut turned);
            assert_eq!((y, turned), ([201.0, 300.0], [1.0, 0.0, 32.0]), "{} {name}", peer.name());
        }
    }
}

fn sparse(peer: &dyn Backend, name: &str, task: Task<'_>) -> RawSparse {
    match peer.run(&contract(name), task) {
        Ok(Answer::Sparse(raw)) => raw,
        other => panic!("{}: {name}: {other:?}", peer.name()),
    }
}

#[test]
fn a_small_sparse_product_keeps_a_cancelled_entry() {
    // [1 1] * [[2, 5], [-2, 0]] = [0, 5]: the first entry cancels and stays.
    for peer in PEERS {
        for kind in [FormatKind::Csr, FormatKind::Csc] {
            let a = matrix((1, 2), kind, &[(0, 0, 1.0), (0, 1, 1.0)]);
            let b = matrix((2, 2), kind, &[(0, 0, 2.0), (0, 1, 5.0), (1, 0, -2.0)]);
            let name = format!("spgemm.{}.f64_f64_f64_f64", kind.name());
            let found = sparse(peer, &name, Task::Spgemm { a: &a, b: &b }).check().expect("a valid matrix");
            assert_eq!(found, matrix((1, 2), kind, &[(0, 0, 0.0), (0, 1, 5.0)]), "{} {name}", peer.name());
        }
    }
}

#[test]
fn small_conversions_and_transposes_are_right() {
    let mut ran = 0;
    for peer in PEERS {
        for contract in all_contracts().iter().filter(|c| c.op.is_exact() && c.types.a == Precision::F64) {
            let params = Params::default();
            let Support::Supported { .. } = peer.support(contract, &params) else {
                continue;
            };
            let a = small(contract.format);
            let (task, expected) = match contract.to {
                Some(to) => (Task::Convert { a: &a, to, params: params.blocks }, small(to)),
                None => {
                    let turned = [(0, 0, 1.0), (2, 0, 2.0), (2, 1, 3.0)];
                    (Task::Transpose { a: &a }, matrix((3, 2), contract.format, &turned))
                }
            };
            let found = sparse(peer, &contract.to_string(), task).check().expect("a valid matrix");
            assert_eq!(found, expected, "{} {contract}", peer.name());
            ran += 1;
        }
    }
    assert!(ran >= 12, "{ran}");
}

#[test]
fn shapes_that_do_not_fit_are_refused_by_panic_or_error() {
    for peer in PEERS {
        let a = small(FormatKind::Csr);
        let x = [1.0; 4];
        let mut y = [0.0; 2];
        let (x, y) = (AnySlice::F64(&x), AnySliceMut::F64(&mut y));
        let task = Task::Spmv { a: &a, transpose_a: false, x, alpha: 1.0, beta: 0.0, y };
        let run = std::panic::AssertUnwindSafe(|| peer.run(&contract("spmv.csr.f64_f64_f64_f64"), task));
        let refused = std::panic::catch_unwind(run).map_or(true, |result| result.is_err());
        assert!(refused && peer.refuses_by_panic(), "{}", peer.name());
    }
}

/// Every deviation that a peer declares anywhere, so that the tests below leave none out.
#[test]
fn the_declared_deviations_are_these() {
    let declared = |peer: &dyn Backend| -> BTreeSet<Choice> {
        let params = Params { layout_c: Layout::ColMajor, ..Params::default() };
        let supported = all_contracts().iter().filter_map(|c| match peer.support(c, &params) {
            Support::Supported { profile, .. } => {
                Some(profile.choices().iter().map(|c| c.0).collect::<Vec<_>>())
            }
            Support::Excluded { .. } => None,
        });
        supported.flatten().collect()
    };
    assert_eq!(declared(&Sprs), BTreeSet::from([Choice::DuplicatesSumAnyOrder]));
    let nalgebra = [Choice::Alpha0ReadsAb, Choice::Beta0ReadsC, Choice::DuplicatesSumAnyOrder];
    assert_eq!(declared(&NalgebraSparse), BTreeSet::from(nalgebra));
}

/// beta0-reads-C: a NaN in C survives beta = 0. sprs, whose adapter clears C, shows the default.
#[test]
fn nalgebra_reads_c_at_beta_zero() {
    for kind in [FormatKind::Csr, FormatKind::Csc] {
        let c = [f64::NAN, 5.0, 5.0, 5.0];
        let found = product(&NalgebraSparse, &small(kind), Layout::RowMajor, (1.0, 0.0), c);
        assert!(found[0].is_nan(), "{found:?}: by default, C is not read");
        assert_eq!(found[1..], BY_HAND[1..]);
        assert_eq!(product(&Sprs, &small(kind), Layout::RowMajor, (1.0, 0.0), c), BY_HAND);
    }
}

/// alpha0-reads-AB: a NaN in A reaches C at alpha = 0.
#[test]
fn nalgebra_reads_a_at_alpha_zero() {
    for kind in [FormatKind::Csr, FormatKind::Csc] {
        let a = matrix((2, 3), kind, &[(0, 0, f64::NAN), (1, 2, 3.0)]);
        let found = product(&NalgebraSparse, &a, Layout::RowMajor, (0.0, 1.0), [5.0; 4]);
        assert!(found[0].is_nan() && found[2].is_nan(), "{found:?}: by default, A is not read");
        assert_eq!((found[1], found[3]), (5.0, 5.0));
    }
}

/// The sum that a peer's conversion to `target` stores at (32, 32) for these duplicates, among `fill` other entries of
/// that row and column between each two of them.
fn duplicate_sum(peer: &dyn Backend, values: &[f64], target: FormatKind, fill: u32) -> f64 {
    let mut triples: Vec<(u32, u32, f64)> = Vec::new();
    for (i, &value) in values.iter().enumerate() {
        triples.push((32, 32, value));
        let other = |k: u32| ((k * 7 + i as u32 * 11) % 63 + 33) % 64;
        triples.extend((0..fill).flat_map(|k| [(32, other(k), 1.0), (other(k), 32, 1.0)]));
    }
    let a = matrix((64, 64), FormatKind::Coo, &triples);
    let params = FormatParams::default();
    let task = Task::Convert { a: &a, to: target, params };
    let raw = sparse(peer, &format!("convert.coo.{}.f64", target.name()), task);
    let AnySparse::F64(found) = raw.check().expect("a valid matrix") else { panic!("f64 in, f64 out") };
    let entries = found.entries();
    entries.list.iter().find(|e| (e.row, e.col) == (32, 32)).map_or(f64::NAN, |e| e.value)
}

/// Duplicates are added one at a time, each sum rounded: 1e16 swallows the ones that follow it. The default is the
/// exact sum, rounded once, which keeps them.
#[test]
fn peers_round_each_addition_of_duplicates() {
    let values = [1e16, 1.0, 1.0, 1.0, 1.0];
    for peer in PEERS {
        for target in [FormatKind::Csr, FormatKind::Csc] {
            let found = duplicate_sum(peer, &values, target, 0);
            assert_eq!(found, 1e16, "{}: the exact sum, rounded once, is 1e16 + 4", peer.name());
        }
    }
}

/// ... and not always in stored order, which is why their profile says `any order`: each library has a matrix whose
/// stored-order sum is another one than it returns.
#[test]
fn peers_add_duplicates_out_of_order() {
    for peer in PEERS {
        let mut tried = 0;
        let mut shown = None;
        for target in [FormatKind::Csr, FormatKind::Csc] {
            for count in [3usize, 5, 8, 13, 21, 34, 55] {
                for fill in 0..8 {
                    let values: Vec<f64> =
                        (0..count).map(|i| [1.0, 1e16, 3.0, -1e16, 7.0][i * i % 5 % 5]).collect();
                    let stored = values.iter().sum::<f64>();
                    let found = duplicate_sum(peer, &values, target, fill);
                    tried += 1;
                    if found != stored && shown.is_none() {
                        shown = Some(format!(
                            "{target:?}, {count} duplicates, {fill} between: {found}, in order {stored}"
                        ));
                    }
                }
            }
        }
        println!("{}: {shown:?} ({tried} tried)", peer.name());
        assert!(shown.is_some(), "{}: {tried} matrices were added in stored order", peer.name());
    }
}
