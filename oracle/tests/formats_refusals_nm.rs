//! Every defect by name, for every field of N:M, V:N:M and 2:4: the constructor finds it and says which, where and why.

use crate::defects;
use sparse_oracle::prelude::*;

use defects::{PAST_U32, duplicate, length, out_of_range, past_u32, refuses, too_large, unsorted};
use sparse_oracle::format::{Nm, NmParts, TwoFour, TwoFourParts, Vnm, VnmParts};
use sparse_oracle::{EncodingError, F16, Refusal, RequestError, Scalar, Tf32};

fn dirty(field: &'static str, at: usize, row: usize) -> Refusal {
    Refusal::Encoding(EncodingError::DirtyPad { field, at, row })
}

fn zero(field: &'static str) -> Refusal {
    Refusal::Request(RequestError::Zero { field })
}

#[test]
#[rustfmt::skip]
fn nm() {
    // 5 x 3, windows of 4 x 2 that keep 2: the second row of windows has one real row, the second group one real column.
    let valid = NmParts {
        rows: 5,
        cols: 3,
        n: 2,
        m: 4,
        l: 2,
        index: vec![0, 1, 3, 2, 0, 0, 1, 1],
        values: vec![
            1.0f32, 0.0, 0.0, 0.0,
            3.0, 4.0, 5.0, 0.0,
            6.0, 0.0, 7.0, 0.0,
            0.0, 0.0, 0.0, 0.0,
        ],
    };
    refuses(
        &valid,
        Nm::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("n of 0", |p| p.n = 0, zero("n")),
            ("m of 0", |p| p.m = 0, zero("m")),
            ("l of 0", |p| p.l = 0, zero("l")),
            ("n past u32", |p| p.n = usize::MAX, past_u32("n", usize::MAX as u128)),
            ("m past u32", |p| p.m = PAST_U32, past_u32("m", 1 << 32)),
            ("l past u32", |p| p.l = PAST_U32, past_u32("l", 1 << 32)),
            ("n above m", |p| p.n = 5, too_large("n", 5, 4)),
            ("m below n", |p| p.m = 1, too_large("n", 2, 1)),
            ("slots past u32", |p| (p.rows, p.l) = (1 << 31, 1 << 31), past_u32("slots", 1 << 61)),
            ("as many slots as there can be", |p| {
                (p.rows, p.cols, p.n, p.m, p.l) = (u32::MAX as usize, 1, u32::MAX as usize, u32::MAX as usize, u32::MAX as usize);
            }, past_u32("slots", u128::from(u32::MAX).pow(2))),
            ("a window too many", |p| p.rows = 9, length("index", 12, 8)),
            ("other windows", |p| p.m = 5, length("index", 4, 8)),
            ("another n", |p| p.n = 1, length("index", 4, 8)),
            ("other groups", |p| p.l = 1, length("index", 12, 8)),
            ("longer vectors", |p| p.l = 3, length("index", 4, 8)),
            ("a column too many", |p| p.cols = 5, length("index", 12, 8)),
            ("an offset missing", |p| p.index.truncate(7), length("index", 8, 7)),
            ("a value missing", |p| p.values.truncate(15), length("values", 16, 15)),
            ("a value too many", |p| p.values.push(0.0), length("values", 16, 17)),
            ("offset outside the window", |p| p.index[3] = 4, out_of_range("index", 3, 0, 4, 4)),
            ("offset outside a lower window", |p| p.index[4] = u32::MAX, out_of_range("index", 4, 4, u32::MAX.into(), 4)),
            ("offsets swapped", |p| p.index.swap(0, 2), unsorted("index", 2, 0, 3, 0)),
            ("offset repeated", |p| p.index[3] = 1, duplicate("index", 3, 1, 2)),
            ("right of the matrix", |p| p.values[11] = 8.0, dirty("values", 11, 4)),
            ("minus zero right of the matrix", |p| p.values[3] = -0.0, dirty("values", 3, 1)),
            ("below the matrix", |p| p.values[12] = 8.0, dirty("values", 12, 5)),
            ("a value in a row past the end", |p| (p.index[6], p.values[12]) = (3, 1.0), dirty("values", 12, 7)),
            ("rows cut off", |p| p.rows = 3, length("index", 4, 8)),
        ],
    );
    // Not canonical, but unambiguous: a free slot may name any row.
    for (at, offset) in [(1, 0), (6, 3)] {
        let mut parts = valid.clone();
        parts.index[at] = offset;
        assert!(Nm::try_new(parts).is_ok(), "{at}");
    }
}

#[test]
#[rustfmt::skip]
fn vnm() {
    // 3 x 6 in blocks of 2 x 5 that keep 4 columns and 2 of each row: the last block row and block column hang over.
    let valid = VnmParts {
        rows: 3,
        cols: 6,
        v: 2,
        n: 2,
        m: 5,
        column: vec![0, 1, 2, 4, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
        index: vec![0b1101, 0b0100, 0b1100, 0b0100, 0b0100, 0b0100, 0b0100, 0b0100],
        values: vec![1.0f32, 2.0, 0.0, 0.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    };
    refuses(
        &valid,
        Vnm::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("v of 0", |p| p.v = 0, zero("v")),
            ("n of 0", |p| p.n = 0, zero("n")),
            ("m of 0", |p| p.m = 0, zero("m")),
            ("v past u32", |p| p.v = usize::MAX, past_u32("v", usize::MAX as u128)),
            ("n past u32", |p| p.n = PAST_U32, past_u32("n", 1 << 32)),
            ("m past u32", |p| p.m = PAST_U32, past_u32("m", 1 << 32)),
            ("n above 4", |p| p.n = 5, too_large("n", 5, 4)),
            ("m below 4", |p| p.m = 3, Refusal::Request(RequestError::Parameter { field: "m", expected: "at least 4", found: 3 })),
            ("columns past u32", |p| (p.rows, p.v) = (1 << 31, 1), past_u32("column", 1 << 34)),
            ("slots past u32", |p| p.v = 1 << 31, past_u32("slots", 1 << 33)),
            ("a block row too many", |p| p.rows = 5, length("column", 24, 16)),
            ("other blocks", |p| p.m = 6, length("column", 8, 16)),
            ("lower blocks", |p| p.v = 1, length("column", 24, 16)),
            ("taller blocks", |p| (p.rows, p.v) = (4, 3), length("index", 12, 8)),
            ("another n", |p| p.n = 1, length("values", 8, 16)),
            ("a column missing", |p| p.column.truncate(15), length("column", 16, 15)),
            ("an index missing", |p| p.index.truncate(7), length("index", 8, 7)),
            ("a value missing", |p| p.values.truncate(15), length("values", 16, 15)),
            ("column outside the block", |p| p.column[3] = 5, out_of_range("column", 3, 0, 5, 5)),
            ("column outside a lower block", |p| p.column[15] = u32::MAX, out_of_range("column", 15, 2, u32::MAX.into(), 5)),
            ("columns swapped", |p| p.column.swap(0, 1), unsorted("column", 1, 0, 1, 0)),
            ("column repeated", |p| p.column[2] = 1, unsorted("column", 2, 0, 1, 1)),
            ("positions swapped", |p| p.index[0] = 0b0111, unsorted("index", 0, 0, 3, 1)),
            ("position repeated", |p| p.index[2] = 0b0000, unsorted("index", 2, 1, 0, 0)),
            ("a bit above the positions", |p| p.index[1] |= 1 << 6, Refusal::Encoding(EncodingError::StrayBit { field: "index", at: 1, bit: 6 })),
            ("right of the matrix", |p| p.values[7] = 1.0, dirty("values", 7, 1)),
            ("a value named right of the matrix", |p| p.column[4] = 4, unsorted("column", 5, 0, 4, 1)),
            ("an entry moved right of the matrix", |p| p.index[3] = 0b1001, dirty("values", 6, 1)),
            ("below the matrix", |p| p.values[13] = 1.0, dirty("values", 13, 3)),
            ("minus zero below the matrix", |p| p.values[12] = -0.0, dirty("values", 12, 3)),
            ("an index below the matrix", |p| p.index[7] = 0b1000, dirty("index", 7, 3)),
        ],
    );
    // Not canonical, but unambiguous: what holds nothing may name any column.
    let mut parts = valid.clone();
    (parts.column[8], parts.column[9], parts.index[4]) = (1, 2, 0b1110);
    parts.column[10] = 3;
    parts.column[11] = 4;
    assert!(Vnm::try_new(parts).is_ok());
}

/// A tile of 16 rows with these metadata words and first values.
fn tile<T: Scalar>(
    rows: usize,
    cols: usize,
    first_word: u32,
    first: &[f64],
    slots: usize,
) -> TwoFourParts<T> {
    let mut metadata = vec![0x4444_4444; 8];
    metadata[0] = first_word;
    let mut values: Vec<T> = first.iter().map(|&v| T::from_f64(v)).collect();
    values.resize(slots, T::from_f64(0.0));
    TwoFourParts { rows, cols, short_k: true, metadata, values }
}

#[test]
#[rustfmt::skip]
fn two_four() {
    // 3 x 6 in f16, one instruction of k = 16. Row 0: . 1 . 2 | 3 .
    let valid = tile::<F16>(3, 6, 0x4444_444d, &[1.0, 2.0, 3.0], 128);
    refuses(
        &valid,
        TwoFour::try_new,
        vec![
            ("rows past u32", |p| p.rows = PAST_U32, past_u32("rows", 1 << 32)),
            ("cols past u32", |p| p.cols = PAST_U32, past_u32("cols", 1 << 32)),
            ("slots past u32", |p| p.rows = u32::MAX as usize, past_u32("slots", 1 << 35)),
            ("the longer instruction", |p| p.short_k = false, length("metadata", 16, 8)),
            ("16 rows too many", |p| p.rows = 17, length("metadata", 16, 8)),
            ("an instruction too many", |p| p.cols = 17, length("metadata", 16, 8)),
            ("no columns", |p| p.cols = 0, length("metadata", 0, 8)),
            ("a word missing", |p| p.metadata.truncate(7), length("metadata", 8, 7)),
            ("a value missing", |p| p.values.truncate(127), length("values", 128, 127)),
            ("indices equal", |p| p.metadata[0] = 0x4444_444f, unsorted("metadata", 0, 0, 3, 3)),
            ("indices descending", |p| p.metadata[2] = 0x4444_4144, unsorted("metadata", 2, 2, 1, 0)),
            ("indices of row 8 + 2", |p| p.metadata[2] = 0x0444_4444, unsorted("metadata", 2, 10, 0, 0)),
            ("a chunk right of the matrix", |p| p.metadata[1] = 0x4444_8444, dirty("metadata", 1, 1)),
            ("a chunk below the matrix", |p| p.metadata[3] = 0x4444_4448, dirty("metadata", 3, 3)),
            ("a chunk below the matrix, upper half", |p| p.metadata[0] = 0x4448_444d, dirty("metadata", 0, 8)),
            ("an index right of the matrix", |p| p.metadata[0] = 0x4444_44ed, dirty("values", 2, 0)),
            ("a value right of the matrix", |p| p.values[4] = F16::from_f64(1.0), dirty("values", 4, 0)),
            ("a value below the matrix", |p| p.values[24] = F16::from_f64(1.0), dirty("values", 24, 3)),
            ("minus zero below the matrix", |p| p.values[127] = F16::from_f64(-0.0), dirty("values", 127, 15)),
        ],
    );
    // Not canonical, but unambiguous: a free slot of a chunk inside the matrix names column 3 instead of 1.
    let mut parts = valid;
    parts.metadata[0] = 0x4444_44cd;
    assert!(TwoFour::try_new(parts).is_ok());
}

#[test]
#[rustfmt::skip]
fn two_four_in_tf32() {
    // 1 x 3, one instruction of k = 8: . 5 | 6
    refuses(
        &tile::<Tf32>(1, 3, 0x4444_444e, &[5.0, 6.0], 64),
        TwoFour::try_new,
        vec![
            ("halves of two elements", |p| p.metadata[0] = 0x4444_448e, Refusal::Encoding(EncodingError::Unequal { field: "metadata", at: 0, expected: 0x4444_44ee, found: 0x4444_448e })),
            ("halves of two elements below", |p| p.metadata[5] = 0xc444_4444, Refusal::Encoding(EncodingError::Unequal { field: "metadata", at: 5, expected: 0xe444_4444, found: 0xc444_4444 })),
            ("halves descending", |p| p.metadata[0] = 0x4444_4441, unsorted("metadata", 0, 0, 1, 0)),
            ("an element right of the matrix", |p| p.metadata[0] = 0x4444_44ee, dirty("values", 1, 0)),
            ("a pair right of the matrix", |p| p.metadata[0] = 0x4444_4e4e, dirty("metadata", 0, 0)),
            ("a value right of the matrix", |p| p.values[2] = Tf32::from_f64(1.0), dirty("values", 2, 0)),
            ("a value below the matrix", |p| p.values[4] = Tf32::from_f64(1.0), dirty("values", 4, 1)),
        ],
    );
}

#[test]
fn two_four_is_for_three_element_types() {
    fn refused<T: Scalar>() {
        let expected = Refusal::Request(RequestError::Kind {
            field: "values",
            expected: "tf32, f16 or bf16".to_owned(),
            found: T::PRECISION.name().to_owned(),
        });
        assert_eq!(TwoFour::<T>::try_new(TwoFourParts::default()), Err(expected));
    }
    refused::<f64>();
    refused::<f32>();
    refused::<sparse_oracle::E4m3>();
    refused::<sparse_oracle::E5m2>();
    assert!(TwoFour::<sparse_oracle::Bf16>::try_new(TwoFourParts::default()).is_ok());
}
