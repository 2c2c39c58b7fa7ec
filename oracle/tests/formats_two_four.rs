//! 2:4 by hand: nibbles, words and lanes as the PTX ISA draws them, and whole small matrices.

use crate::nm_support;
use sparse_oracle::prelude::*;

use nm_support::picture;
use sparse_oracle::format::{Entries, Entry, FormatParams, SparseMma, TwoFour};
use sparse_oracle::{Bf16, F16, Limit, Refusal, RequestError, Scalar, Tf32};

fn params(short_k: bool) -> FormatParams {
    FormatParams { short_k, ..FormatParams::default() }
}

fn encode<T: Scalar>(entries: &Entries<T>, short_k: bool) -> Result<TwoFour<T>, Refusal> {
    TwoFour::from_entries_with(entries, &params(short_k))
}

/// One entry of value 1.
fn one<T: Scalar>(rows: usize, cols: usize, row: u32, col: u32) -> Entries<T> {
    let value = T::from_f64(1.0);
    Entries::try_new(rows, cols, vec![Entry { row, col, value }]).expect("one entry")
}

/// The word and the nibble that differ from the empty ones, and the slot that is filled.
fn marks<T: Scalar>(matrix: &TwoFour<T>) -> (Vec<(usize, u32)>, Vec<usize>) {
    let words = matrix.metadata.iter().enumerate();
    let words = words.map(|(at, word)| (at, word ^ 0x4444_4444)).filter(|word| word.1 != 0);
    let slots = matrix.values.iter().enumerate();
    let slots = slots.filter(|(_, value)| !value.is_positive_zero());
    (words.collect(), slots.map(|(at, _)| at).collect())
}

#[test]
fn nibbles_name_two_ascending_columns() {
    let legal = [
        (0b0100, [0, 1]),
        (0b1000, [0, 2]),
        (0b1100, [0, 3]),
        (0b1001, [1, 2]),
        (0b1101, [1, 3]),
        (0b1110, [2, 3]),
    ];
    for nibble in 0..32 {
        let expected = legal.iter().find(|l| l.0 == nibble).map(|l| l.1);
        assert_eq!(SparseMma::HalfK16.offsets(nibble), expected, "{nibble:04b}");
        let expected = [(0b0100, [0, 0]), (0b1110, [1, 1])].into_iter().find(|l| l.0 == nibble);
        assert_eq!(SparseMma::Tf32K16.offsets(nibble), expected.map(|l| l.1), "{nibble:04b}");
    }
    // Every column pair of one chunk, filled, and every single column.
    for (nibble, [low, high]) in legal {
        let mut cells = [". "; 4];
        (cells[low], cells[high]) = ("1 ", "2 ");
        let full = encode::<F16>(&picture(&[&cells.concat()]), true).expect("two of four");
        assert_eq!(full.metadata[0], 0x4444_4440 | nibble, "{low}, {high}");
        assert_eq!((full.values[0].to_f64(), full.values[1].to_f64()), (1.0, 2.0));
    }
    for (col, nibble, slot) in [(0, 0b0100, 0), (1, 0b0100, 1), (2, 0b1000, 1), (3, 0b1100, 1)] {
        let single = encode::<F16>(&one(1, 4, 0, col), true).expect("one of four");
        assert_eq!((single.metadata[0] & 15, marks(&single).1), (nibble, vec![slot]), "{col}");
    }
    // All columns 0 and 2: 0x8888.
    let even: Entries<F16> = picture(&["1 . 1 . 1 . 1 . 1 . 1 . 1 . 1 ."]);
    assert_eq!(encode(&even, true).expect("two of four").metadata[0], 0x4444_8888);
}

/// An entry in column 2 of a chunk (second of a pair): (row, column) -> word and bit of its nibble, and slot.
fn check_places<T: Scalar>(
    short_k: bool,
    cols: usize,
    flipped: u32,
    places: &[(u32, u32, usize, u32, usize)],
) {
    for &(row, col, word, bit, slot) in places {
        let matrix = encode::<T>(&one(32, cols, row, col), short_k).expect("one entry");
        let expected = (vec![(word, flipped << bit)], vec![slot]);
        assert_eq!(marks(&matrix), expected, "({row}, {col}), short_k = {short_k}");
    }
}

#[test]
fn words_of_f16_k16() {
    // 8 words per instruction: word g has chunks 0..4 of row g, then of row g + 8. Two instructions across: 16 slots a row.
    let flipped = 0b1000 ^ 0b0100;
    check_places::<F16>(
        true,
        32,
        flipped,
        &[
            (0, 2, 0, 0, 1),
            (0, 6, 0, 4, 3),
            (0, 14, 0, 12, 7),
            (5, 2, 5, 0, 81),
            (7, 10, 7, 8, 117),
            (8, 2, 0, 16, 129),
            (15, 14, 7, 28, 247),
            (0, 18, 8, 0, 9),
            (9, 22, 9, 20, 155),
            (16, 2, 16, 0, 257),
            (31, 30, 31, 28, 511),
        ],
    );
    check_places::<Bf16>(true, 32, flipped, &[(9, 22, 9, 20, 155)]);
}

#[test]
fn words_of_f16_k32() {
    // 16 words per instruction: word 2g + p has chunks 4p..4p + 4 of row g, then of row g + 8.
    check_places::<F16>(
        false,
        64,
        0b1000 ^ 0b0100,
        &[
            (0, 2, 0, 0, 1),
            (0, 14, 0, 12, 7),
            (0, 18, 1, 0, 9),
            (0, 30, 1, 12, 15),
            (3, 2, 6, 0, 97),
            (3, 22, 7, 4, 107),
            (8, 2, 0, 16, 257),
            (15, 30, 15, 28, 495),
            (0, 34, 16, 0, 17),
            (16, 2, 32, 0, 513),
            (31, 62, 63, 28, 1023),
        ],
    );
}

#[test]
fn words_of_tf32() {
    let flipped = 0b1110 ^ 0b0100;
    // k = 8: as f16 k = 16, with pairs for chunks.
    check_places::<Tf32>(
        true,
        16,
        flipped,
        &[
            (0, 1, 0, 0, 0),
            (0, 7, 0, 12, 3),
            (6, 3, 6, 4, 49),
            (11, 5, 3, 24, 90),
            (0, 9, 8, 0, 4),
            (16, 1, 16, 0, 128),
        ],
    );
    // k = 16: as f16 k = 32.
    check_places::<Tf32>(
        false,
        32,
        flipped,
        &[
            (0, 1, 0, 0, 0),
            (0, 7, 0, 12, 3),
            (0, 9, 1, 0, 4),
            (6, 15, 13, 12, 103),
            (14, 3, 12, 20, 225),
            (0, 17, 16, 0, 8),
        ],
    );
}

#[test]
fn neighbouring_instructions_share_registers() {
    // Five instructions across, 17 rows: the second block of rows has words of its own.
    let matrix = encode::<F16>(&one(17, 70, 16, 64), true).expect("one entry");
    assert_eq!(matrix.metadata.len(), 2 * 5 * 8);
    assert_eq!(matrix.lane_of_word(0), Some((0, 0)));
    assert_eq!(matrix.lane_of_word(8 + 1), Some((5, 1)), "instruction 1, row 1");
    assert_eq!(matrix.lane_of_word(4 * 8 + 7), Some((28, 0)), "instruction 4 begins a new register");
    assert_eq!(matrix.lane_of_word(40 + 2 * 8), Some((2, 2)));
    assert_eq!(matrix.lane_of_word(80), None);
    assert_eq!(matrix.word_of_lane(0, 0, 5), Some(9));
    assert_eq!(matrix.word_of_lane(0, 1, 28), Some(39));
    assert_eq!(matrix.word_of_lane(0, 1, 29), None, "there is no instruction 5");
    assert_eq!(matrix.word_of_lane(2, 0, 0), None);
    assert_eq!(matrix.word_of_lane(0, 0, 32), None);
    assert_eq!(matrix.word_of_lane(0, usize::MAX, 0), None);
    for at in 0..80 {
        let (lane, selector) = matrix.lane_of_word(at).expect("in range");
        let (row_block, register) = (at / 40, at % 40 / 8 / 4);
        assert_eq!(matrix.word_of_lane(row_block, register, lane), Some(at));
        assert_eq!(selector, at % 40 / 8 % 4);
    }
}

#[test]
fn a_whole_matrix_in_f16_and_tf32() {
    let entries: Entries<F16> = picture(&[". 1 . 2 3 . .", ". . 4 . . 5 6"]);
    let found = encode(&entries, false).expect("two of four");
    assert_eq!((found.metadata.len(), found.values.len()), (16, 256));
    assert_eq!((found.metadata[0], found.metadata[2]), (0x4444_444d, 0x4444_4498));
    let row = |r: usize| found.values[16 * r..16 * r + 4].iter().map(|v| v.to_f64()).collect::<Vec<_>>();
    assert_eq!((row(0), row(1)), (vec![1.0, 2.0, 3.0, 0.0], vec![0.0, 4.0, 5.0, 6.0]));
    assert_eq!((found.entries(), found.nnz(), found.params()), (entries, 6, params(false)));
    let entries: Entries<Tf32> = picture(&[". 1 2 . . . . 3 4"]);
    let found = encode(&entries, true).expect("one of two");
    assert_eq!((found.metadata.len(), found.values.len()), (16, 128));
    assert_eq!((found.metadata[0], found.metadata[8]), (0x4444_e44e, 0x4444_4444));
    let values: Vec<f64> = found.values[..5].iter().map(|v| v.to_f64()).collect();
    assert_eq!(values, [1.0, 2.0, 0.0, 3.0, 4.0]);
    assert_eq!((found.entries(), found.nnz(), found.params()), (entries, 4, params(true)));
}

#[test]
fn a_chunk_that_is_too_full_and_other_types_are_refused() {
    let full = |row, column, found, limit| {
        Refusal::Request(RequestError::TooFull {
            what: "a chunk of 2:4 (values)",
            row,
            column,
            found,
            limit,
            remedy: "prune the matrix first",
        })
    };
    let entries: Entries<F16> = picture(&["1 . . 1 . . . .", ". 1 . 1 1 1 . 1", "1 1 1 1 . . . ."]);
    assert_eq!(encode(&entries, true), Err(full(1, 4, 3, 2)));
    let pairs: Entries<Tf32> = picture(&["1 . . 1", ". 1 1 1"]);
    assert_eq!(encode(&pairs, true), Err(full(1, 2, 2, 1)));
    let other: Entries<f32> = picture(&["1"]);
    let refusal = Refusal::Request(RequestError::Kind {
        field: "values",
        expected: "tf32, f16 or bf16".to_owned(),
        found: "f32".to_owned(),
    });
    assert_eq!(encode(&other, true), Err(refusal));
    let tall = one::<F16>(1 << 31, 3, 7, 1);
    assert!(
        matches!(encode(&tall, true), Err(Refusal::Limit(Limit { field: "slots", found, .. })) if found == 1 << 34)
    );
    let wide = one::<F16>(3, u32::MAX as usize, 2, u32::MAX - 1);
    assert!(
        matches!(encode(&wide, true), Err(Refusal::Limit(Limit { field: "slots", found, .. })) if found == 1 << 35)
    );
}
