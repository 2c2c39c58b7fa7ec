//! A sheet says of every result what the judge says that forms the exact sums anew: the first result, the next, right and wrong ones.

use sparse_oracle::Precision;
use sparse_oracle::arithmetic::{Arithmetic, Reduction};
use sparse_oracle::format::{Csr, CsrParts, Dense};
use sparse_oracle::judge::{Output, Place, Problem, Sheet, judge_problem};
use sparse_oracle::prelude::*;
use sparse_oracle::profile::Profile;
use sparse_oracle::scalar::{AnySlice, Values};
use sparse_oracle::source::random::Random;
use sparse_oracle::source::values::ValueFamily;

const ROWS: usize = 5;
const INNER: usize = 9;
const COLS: usize = 4;

fn operands(family: ValueFamily, seed: u64) -> (Csr<f64>, Dense<f64>, Vec<f64>) {
    let mut random = Random::new(seed, "judge_sheet");
    let (mut row_ptr, mut col_idx) = (vec![0u32], Vec::new());
    for length in [0, 1, 3, 9, 4u64] {
        let mut columns = Vec::new();
        random.distinct(INNER as u64, length, &mut columns);
        col_idx.extend(columns.iter().map(|&c| c as u32));
        row_ptr.push(col_idx.len() as u32);
    }
    let values = family.fill(col_idx.len(), seed, Precision::F32);
    let parts = CsrParts { rows: ROWS, cols: INNER, row_ptr, col_idx, values };
    let b = family.fill(INNER * COLS, seed + 1, Precision::F32);
    let c = family.fill(ROWS * COLS, seed + 2, Precision::F32);
    let a = Csr::try_new(parts).expect("a legal matrix");
    (a, Dense::from_fn(INNER, COLS, |i, j| b[i * COLS + j]), c)
}

/// The product as an f32 kernel would have it.
fn product(a: &Csr<f64>, b: &Dense<f64>, c: &[f64], (alpha, beta): (f64, f64)) -> Vec<f32> {
    let mut result = Vec::new();
    for i in 0..ROWS {
        for j in 0..COLS {
            let row = a.row(i);
            let terms = row.0.iter().zip(row.1);
            let sum = terms
                .fold(0f32, |sum, (&k, &v)| (v as f32).mul_add(b.data()[k as usize * COLS + j] as f32, sum));
            let added = if beta == 0.0 { 0.0 } else { beta as f32 * c[i * COLS + j] as f32 };
            result.push((alpha as f32).mul_add(sum, added));
        }
    }
    result
}

#[test]
fn a_sheet_says_what_the_judge_says() {
    let declared = [
        Arithmetic::any(Precision::F32, Precision::F32),
        Arithmetic::chain(Reduction::FmaChain, Precision::F32, Precision::F32),
    ];
    let profile = Profile::default();
    let (mut right, mut wrong) = (0, 0);
    for (seed, family) in [
        ValueFamily::SmallInt,
        ValueFamily::NearOne,
        ValueFamily::Wide,
        ValueFamily::Special,
        ValueFamily::SubnormalSums,
    ]
    .into_iter()
    .enumerate()
    {
        for (arithmetic, scalars) in declared.iter().zip([(1.0, 0.0), (-1.5, 0.75)]) {
            let (a, b, c) = operands(family, seed as u64);
            let problem = Problem::Spmm { a: &a, pads: None, b: &b.clone().into(), slots: None };
            let held = Values::from_f64(Precision::F32, &c);
            let place = Place::Strides(COLS, 1);
            let before = Some((held.as_slice(), place));
            let sheet = Sheet::new(&problem, (arithmetic, &profile), scalars, before, 1000);
            let sheet = sheet.expect("operands that fit").expect("few elements");
            let mut results = vec![product(&a, &b, &c, scalars); 4];
            results[1][7] += 1.0;
            results[2][19] = f32::from_bits(results[2][19].to_bits() ^ 1);
            results[3][12] = f32::from_bits(0x7fcb_adde);
            for result in &results {
                let output = Output {
                    found: AnySlice::F32(result),
                    place,
                    poison: Some(0x7fcb_adde),
                    before: Some(held.as_slice()),
                    before_place: place,
                };
                let mut anew = judge_problem(&problem, arithmetic, &profile, scalars, &output);
                let kept = sheet.judge(AnySlice::F32(result), place, Some(0x7fcb_adde));
                // A sheet is made of big numbers.
                anew.in_big_numbers = kept.in_big_numbers;
                assert_eq!(format!("{kept:?}"), format!("{anew:?}"), "{family}");
                match anew.verdict.is_finding() {
                    true => wrong += 1,
                    false => right += 1,
                }
            }
            let small = Sheet::new(&problem, (arithmetic, &profile), scalars, before, ROWS * COLS - 1);
            assert!(small.expect("operands that fit").is_none(), "too many elements for it");
        }
    }
    assert!(right >= 10 && wrong >= 10, "{right} right, {wrong} wrong");
}
