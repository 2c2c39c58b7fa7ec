//! TF32 tiles beside an FP32 rest, as Libra has them: what each part multiplies, and that the judge tells one from the other.

use super::*;
use crate::arithmetic::{Along, Architecture, Arithmetic, Combine, Instruction, Reduction};
use crate::contract::Op;
use crate::format::{AnySparse, Dense, Entries, Entry, FormatKind, FormatParams, Layout, Sparse};
use crate::judge::{Found, Judged, judge};
use crate::model::reduction::Model;
use crate::prelude::*;
use crate::profile::Profile;
use crate::scalar::Precision::{F32, Tf32};
use crate::scalar::{AnySlice, Scalar, decode};
use crate::task::{DenseRef, Inputs};
use crate::verdict::{Criterion, Verdict};

const ROWS: usize = 11;
const COLS: usize = 7;
const N: usize = 9;

fn slots(rows: [&[(u32, bool)]; 2], cols: usize) -> Csr<Slot> {
    let parts = |rows: [&[(u32, bool)]; 2]| CsrParts {
        rows: 2,
        cols,
        row_ptr: vec![0, rows[0].len() as u32, (rows[0].len() + rows[1].len()) as u32],
        col_idx: rows.concat().iter().map(|at| at.0).collect(),
        values: (0..).zip(rows.concat()).map(|(at, (_, in_tile))| Slot { in_tile, at }).collect(),
    };
    Csr::try_new(parts(rows)).expect("ascending")
}

/// The matrix of the picture.
#[test]
fn the_rest_has_columns_of_its_own_and_every_operand_is_rounded_as_its_part_does() {
    let fine = 1.0 + 2f64.powi(-13);
    let all =
        slots([&[(0, true), (1, true), (2, true), (3, false)], &[(1, false), (2, true), (3, false)]], 4);
    let a = CsrParts {
        rows: 2,
        cols: 4,
        row_ptr: vec![0, 3, 6],
        col_idx: vec![0, 2, 3, 1, 2, 3],
        values: vec![fine; 6],
    };
    let pads = CsrParts { rows: 2, cols: 4, row_ptr: vec![0, 1, 1], col_idx: vec![1], values: vec![()] };
    let (a, pads) = (Csr::try_new(a).expect("legal"), Csr::try_new(pads).expect("legal"));
    let b = ExactDense::from(Dense::from_fn(4, 1, |i, _| fine + i as f64));
    let apart = InputsApart::of((&a, Some(&pads), &all), &b, (Input::Tf32Rna, Input::AsStored));
    let apart = apart.expect("few columns");
    assert_eq!(apart.columns, [0, 1, 2, 3, 1, 3]);
    assert_eq!(apart.a.row(0), (&[0, 2, 5][..], &[1.0, 1.0, fine][..]));
    assert_eq!(apart.a.row(1), (&[2, 4, 5][..], &[1.0, fine, fine][..]));
    let pads = apart.pads.expect("given");
    assert_eq!([pads.row(0).0, pads.row(1).0], [&[1][..], &[]]);
    assert_eq!(apart.slots.row(1).0, [2, 4, 5]);
    let at: Vec<u32> = apart.slots.row(1).1.iter().map(|slot| slot.at).collect();
    assert_eq!(at, [5, 4, 6], "places move with their terms");
    let found: Vec<f64> = (0..6).map(|i| apart.b.at(i, 0)).collect();
    assert_eq!(found, [1.0, 2.0, 3.0, 4.0, fine + 1.0, fine + 3.0]);
}

/// Two windows of eight rows in Libra's format; vectors of two and more entries are in tiles.
fn matrix() -> AnySparse {
    let at = [(0, 1), (0, 4), (1, 1), (1, 3), (2, 1), (3, 6), (5, 4), (8, 0), (8, 3), (8, 5), (10, 5)];
    let value = |at: usize| 1.0 + (at as f32) / 8.0 + 2f32.powi(-11) + 2f32.powi(-20);
    let list = at.into_iter().enumerate();
    let list =
        list.map(|(at, (row, col))| Entry { row, col, value: crate::Tf32(value(at).to_bits()) }).collect();
    let entries = Entries { rows: ROWS, cols: COLS, list };
    let params = FormatParams { eta: Some(25), kb: 8, fill: false, ..FormatParams::DEFAULT };
    AnySparse::from(Sparse::from_entries(FormatKind::LibraSpmm, params, &entries).expect("small"))
}

fn declared(of_rest: Input) -> Arithmetic {
    let instruction = Instruction::mma((16, 8, 8), F32, Tf32);
    let tiles =
        Arithmetic::mma(Some(Architecture::Sm90), instruction, F32).input(Input::Tf32Rna).multiplies_pads();
    let rest = Arithmetic::chain(Reduction::FmaChain, F32, F32).input(of_rest).multiplies_pads();
    Arithmetic::hybrid(tiles, *rest.along(Along::TwoPass { blocks: 2 }).part(), Combine::Ordered)
}

struct Case {
    a: AnySparse,
    b: Vec<crate::Tf32>,
}

impl Case {
    fn new() -> Case {
        let b = |at: usize| 1.0 + (at % 13) as f32 / 16.0 + 2f32.powi(-12) + 2f32.powi(-21);
        Case { a: matrix(), b: (0..COLS.max(ROWS) * N).map(|at| crate::Tf32(b(at).to_bits())).collect() }
    }

    fn inputs(&self, transpose_a: bool) -> Inputs<'_> {
        let rows = if transpose_a { ROWS } else { COLS };
        let data = AnySlice::Tf32(&self.b[..rows * N]);
        let b = DenseRef { rows, cols: N, ld: N, layout: Layout::RowMajor, data };
        Inputs { b: Some(b), transpose_a, ..Inputs::plain(Op::Spmm, &self.a) }
    }

    fn entries(&self) -> Entries<f64> {
        crate::each_sparse!(&self.a, m => m.entries().map(|v| v.to_f64()))
    }

    /// The operands of term (i, k, j): a and b.
    fn operands(&self, (i, k, j): (usize, usize, usize), rounding: Input) -> (f64, f64) {
        let entries = self.entries();
        let held = entries.list.iter().find(|e| (e.row as usize, e.col as usize) == (i, k));
        (input(held.map_or(0.0, |e| e.value), rounding), input(self.b[k * N + j].to_f64(), rounding))
    }

    /// The result whose terms in tiles and outside of them are rounded so, added up in the declared order.
    fn result(&self, of_tiles: Input, of_rest: Input) -> Vec<f32> {
        // Window 0: columns 1 and 4 have two entries or more. Window 1: column 5 does.
        let in_tile = |i: usize, k: usize| if i < 8 { k == 1 || k == 4 } else { k == 5 };
        let place = |i: usize, k: usize| if i < 8 { u32::from(k == 4) } else { 0 };
        let stored = self.entries();
        let mut model = Model::new(&declared(Input::AsStored)).expect("bits are fixed");
        let mut result = Vec::new();
        for i in 0..ROWS {
            let of_row: Vec<usize> =
                stored.list.iter().filter(|e| e.row as usize == i).map(|e| e.col as usize).collect();
            let rest: Vec<usize> = of_row.iter().copied().filter(|&k| !in_tile(i, k)).collect();
            for j in 0..N {
                let tiles = (0..COLS).filter(|&k| in_tile(i, k));
                let of_tiles = tiles.map(|k| (self.operands((i, k, j), of_tiles), true, place(i, k)));
                let of_rest = (0..).zip(&rest).map(|(at, &k)| (self.operands((i, k, j), of_rest), false, at));
                let all: Vec<_> = of_tiles.chain(of_rest).collect();
                let slots: Vec<Slot> = all.iter().map(|&(_, in_tile, at)| Slot { in_tile, at }).collect();
                let terms = || all.iter().map(|term| term.0);
                // The instruction has no bits for what is no tf32: about the sum, then.
                let bits = model.element(terms(), Some(&slots), (1.0, 0.0), 0.0, false);
                let about = || terms().map(|(a, b)| a * b).sum::<f64>() as f32;
                result.push(bits.map_or_else(about, |bits| decode(bits, F32) as f32));
            }
        }
        result
    }

    fn judged(&self, arithmetic: &Arithmetic, found: &[f32], transpose_a: bool) -> Judged {
        let found = Found::row_major(AnySlice::F32(found), N);
        judge(&self.inputs(transpose_a), (arithmetic, &Profile::default()), found)
    }
}

fn is_right(judged: &Judged) -> bool {
    !judged.verdict.is_finding()
}

/// An honest kernel of the paper's arithmetic could only be declared with tiles and rest rounded alike, and was called wrong.
#[test]
fn who_rounds_the_tiles_alone_is_right_to_the_bit_and_whoever_rounds_otherwise_is_wrong() {
    let case = Case::new();
    let (mixed, alike) = (declared(Input::AsStored), declared(Input::Tf32Rna));
    let honest = case.result(Input::Tf32Rna, Input::AsStored);
    let rounds_all = case.result(Input::Tf32Rna, Input::Tf32Rna);
    let judged = case.judged(&mixed, &honest, false);
    assert!(is_right(&judged) && judged.tiers.contains(&Criterion::T2), "{judged:?}");
    // The rows are modelled side by side: few of their elements are looked at one by one.
    assert!(judged.in_big_numbers < judged.elements / 10, "{judged:?}");
    assert!(is_right(&case.judged(&alike, &rounds_all, false)));
    for (name, declared, found) in [
        ("a rest that is rounded", &mixed, &rounds_all),
        ("tiles that are not", &mixed, &case.result(Input::AsStored, Input::AsStored)),
        ("tiles that are cut", &mixed, &case.result(Input::Tf32Truncate, Input::AsStored)),
        ("both the other way round", &mixed, &case.result(Input::AsStored, Input::Tf32Rna)),
        ("honest, and declared to round all", &alike, &honest),
    ] {
        let judged = case.judged(declared, found, false);
        assert!(matches!(judged.verdict, Verdict::Wrong(_)), "{name}: {judged:?}");
    }
    // The last bit of one element of the rest, and of one that has terms of both.
    for at in [3 * N, N + 2] {
        let mut off = honest.clone();
        off[at] = f32::from_bits(off[at].to_bits() ^ 1);
        assert!(!is_right(&case.judged(&mixed, &off, false)), "{at}");
    }
}

#[test]
fn of_a_transposed_matrix_everything_is_of_the_rest() {
    let case = Case::new();
    let entries = case.entries();
    let product = |rounding| {
        let mut sums = vec![0.0; COLS * N];
        for e in &entries.list {
            for j in 0..N {
                let b = input(case.b[e.row as usize * N + j].to_f64(), rounding);
                sums[e.col as usize * N + j] += input(e.value, rounding) * b;
            }
        }
        sums.iter().map(|&sum| sum as f32).collect::<Vec<f32>>()
    };
    let mixed = declared(Input::AsStored);
    assert!(is_right(&case.judged(&mixed, &product(Input::AsStored), true)));
    assert!(!is_right(&case.judged(&mixed, &product(Input::Tf32Rna), true)));
}

/// The largest number of f32 is none of tf32: rounded, it is infinite. B was asked for infinities before the tiles rounded it.
#[test]
fn a_pad_meets_the_infinity_that_rounding_makes() {
    let mut case = Case::new();
    case.b[N..2 * N].fill(crate::Tf32(f32::MAX.to_bits()));
    let tiles = Arithmetic::any(F32, F32).input(Input::Tf32Rna).multiplies_pads();
    let rest = Arithmetic::chain(Reduction::FmaChain, F32, F32).multiplies_pads();
    let mixed = Arithmetic::hybrid(tiles, *rest.part(), Combine::Ordered);
    let mut found = case.result(Input::Tf32Rna, Input::AsStored);
    // Column 1 is in a tile of rows 0 to 7, three of which store something there.
    found[..3 * N].fill(f32::INFINITY);
    found[3 * N..8 * N].fill(f32::NAN);
    let judged = case.judged(&mixed, &found, false);
    assert!(is_right(&judged), "{judged:?}");
}
