//! What is written reads back bit for bit; what is read is what the text says; damage never panics.

use proptest::prelude::*;
use sparse_oracle::format::{Coo, CooParts, Csr, CsrParts};
use sparse_oracle::prelude::*;
use sparse_oracle::source::matrix_market::{
    Field, Symmetry, read_matrix_market, write_matrix_market, write_matrix_market_csr,
    write_matrix_market_pattern,
};
use sparse_oracle::source::smtx::{read_smtx, write_smtx};

/// Any f64 bit pattern, with the awkward ones made common.
fn value() -> impl Strategy<Value = f64> {
    let special = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        2.225_073_858_507_201e-308,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.1,
        1e23,
        9_007_199_254_740_993.0,
    ]);
    prop_oneof![any::<u64>().prop_map(f64::from_bits), special]
}

fn coo() -> impl Strategy<Value = Coo<f64>> {
    (1usize..40, 1usize..40).prop_flat_map(|(rows, cols)| {
        prop::collection::vec((0..rows as u32, 0..cols as u32, value()), 0..60).prop_map(move |list| {
            let mut parts = CooParts { rows, cols, ..CooParts::default() };
            for (r, c, v) in list {
                parts.row_idx.push(r);
                parts.col_idx.push(c);
                parts.values.push(v);
            }
            Coo::try_new(parts).expect("indices are in range")
        })
    })
}

fn mask() -> impl Strategy<Value = Csr<()>> {
    (0usize..12, 1usize..12).prop_flat_map(|(rows, cols)| {
        prop::collection::vec(prop::collection::btree_set(0..cols as u32, 0..=cols), rows).prop_map(
            move |lists| {
                let mut parts = CsrParts { rows, cols, row_ptr: vec![0], ..CsrParts::default() };
                for list in lists {
                    parts.col_idx.extend(list);
                    parts.row_ptr.push(parts.col_idx.len() as u32);
                }
                parts.values = vec![(); parts.col_idx.len()];
                Csr::try_new(parts).expect("sets are sorted")
            },
        )
    })
}

/// The bits, every NaN as the canonical one.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }).collect()
}

proptest! {
    #[test]
    fn written_triples_read_back_bit_for_bit(matrix in coo()) {
        let mut text = Vec::new();
        write_matrix_market(&matrix, &mut text).expect("a Vec takes everything");
        let (header, back) = read_matrix_market(&text[..]).expect("own output reads");
        prop_assert_eq!((header.field, header.symmetry), (Field::Real, Symmetry::General));
        prop_assert_eq!((back.rows, back.cols), (matrix.rows, matrix.cols));
        prop_assert_eq!((&back.row_idx, &back.col_idx), (&matrix.row_idx, &matrix.col_idx));
        // Read values are canonical already: no NaN may slip through with another payload.
        let read: Vec<u64> = back.values.iter().map(|v| v.to_bits()).collect();
        prop_assert_eq!(read, bits(&matrix.values));
    }

    #[test]
    fn masks_read_back(mask in mask()) {
        let mut text = Vec::new();
        write_smtx(&mask, &mut text).expect("a Vec takes everything");
        prop_assert_eq!(&read_smtx(&text[..]).expect("own output reads"), &mask);
        let mut text = Vec::new();
        write_matrix_market_pattern(&mask, &mut text).expect("a Vec takes everything");
        let (header, coo) = read_matrix_market(&text[..]).expect("own output reads");
        prop_assert_eq!((header.field, coo.rows, coo.cols), (Field::Pattern, mask.rows, mask.cols));
        prop_assert_eq!(&coo.col_idx, &mask.col_idx);
    }

    #[test]
    fn csr_is_written_as_its_triples(mask in mask(), start in value()) {
        let matrix = mask.map(|()| start);
        let (mut text, mut expected) = (Vec::new(), Vec::new());
        write_matrix_market_csr(&matrix, &mut text).expect("a Vec takes everything");
        let mut parts = CooParts { rows: matrix.rows, cols: matrix.cols, ..CooParts::default() };
        for e in matrix.entries().list {
            parts.row_idx.push(e.row);
            parts.col_idx.push(e.col);
            parts.values.push(e.value);
        }
        let coo = Coo::try_new(parts).expect("entries are in range");
        write_matrix_market(&coo, &mut expected).expect("a Vec takes everything");
        prop_assert_eq!(text, expected);
    }

    #[test]
    fn damage_never_panics(matrix in coo(), mask in mask(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..6)) {
        let (mut market, mut smtx) = (Vec::new(), Vec::new());
        write_matrix_market(&matrix, &mut market).expect("a Vec takes everything");
        write_smtx(&mask, &mut smtx).expect("a Vec takes everything");
        for (at, byte, kind) in edits {
            for text in [&mut market, &mut smtx] {
                damage(text, &at, byte, kind);
            }
        }
        // Whatever is still accepted is a valid matrix, by construction; errors must print.
        for error in [read_matrix_market(&market[..]).err(), read_smtx(&smtx[..]).err()].into_iter().flatten() {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn junk_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), gzip in any::<bool>()) {
        let mut input = if gzip { vec![0x1f, 0x8b] } else { Vec::new() };
        input.extend(&bytes);
        prop_assert!(read_matrix_market(&input[..]).is_err());
        let header = b"%%MatrixMarket matrix coordinate real general\n9 9 9\n".to_vec();
        let _ = read_matrix_market(&[header, bytes.clone()].concat()[..]);
        let _ = read_smtx(&[b"3, 3, 3\n".to_vec(), bytes].concat()[..]);
    }
}

/// Overwrites, removes or inserts a byte (often one that means something), or cuts the text.
fn damage(text: &mut Vec<u8>, at: &prop::sample::Index, byte: u8, kind: u8) {
    if text.is_empty() {
        return;
    }
    let at = at.index(text.len());
    let meaningful = b"0123456789 \n\r\t-+.eEinf%,";
    let byte = if byte < 200 { meaningful[byte as usize % meaningful.len()] } else { byte };
    match kind {
        0 => text[at] = byte,
        1 => drop(text.remove(at)),
        2 => text.insert(at, byte),
        _ => text.truncate(at),
    }
}

/// Triples of a text, as (row, column, value) with 0-based indices.
fn triples(text: &str) -> Vec<(u32, u32, f64)> {
    let (_, coo) = read_matrix_market(text.as_bytes()).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    (0..coo.nnz()).map(|i| (coo.row_idx[i], coo.col_idx[i], coo.values[i])).collect()
}

#[test]
fn symmetries_expand_in_file_order() {
    let text = |field: &str, symmetry: &str, body: &str| {
        format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n3 3 {}\n{body}", body.lines().count())
    };
    // Both triangles, the same position in both, a diagonal entry.
    let body = "2 1 5\n1 3 7\n3 1 8\n2 2 9\n";
    let expected =
        vec![(1, 0, 5.0), (0, 1, 5.0), (0, 2, 7.0), (2, 0, 7.0), (2, 0, 8.0), (0, 2, 8.0), (1, 1, 9.0)];
    assert_eq!(triples(&text("real", "symmetric", body)), expected);
    assert_eq!(triples(&text("Double", "Hermitian", body)), expected);
    assert_eq!(triples(&text("integer", "symmetric", body)), expected);
    let skew = triples(&text("real", "skew-symmetric", "2 1 5\n1 3 -7\n2 2 0\n3 2 0\n"));
    let expected =
        [(1, 0, 5.0), (0, 1, -5.0), (0, 2, -7.0), (2, 0, 7.0), (1, 1, 0.0), (2, 1, 0.0), (1, 2, -0.0)];
    assert_eq!(skew, expected);
    assert!(skew[6].2.is_sign_negative(), "a real zero is negated like any other value");
    let skew = triples(&text("integer", "skew-symmetric", "3 2 0\n2 1 -9223372036854775808\n"));
    assert!(skew.iter().all(|t| t.2 != 0.0 || t.2.is_sign_positive()), "an integer zero has no sign");
    assert_eq!(skew[3], (0, 1, 9_223_372_036_854_775_808.0));
    let nan = triples(&text("real", "skew-symmetric", "2 1 -NaN\n"));
    assert!(nan.iter().all(|t| t.2.to_bits() == f64::NAN.to_bits()));
}

#[test]
fn arrays_state_every_position() {
    let text =
        |symmetry: &str, body: &str| format!("%%MatrixMarket matrix array real {symmetry}\n% c\n2 2\n{body}");
    let all = vec![(0, 0, 1.0), (1, 0, 0.0), (0, 1, 3.0), (1, 1, 4.0)];
    assert_eq!(triples(&text("general", "1\n0\n\n3\n% c\n4")), all);
    let symmetric = vec![(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 4.0)];
    assert_eq!(triples(&text("symmetric", "1\n2\n4\n")), symmetric);
    assert_eq!(triples(&text("skew-symmetric", "2\n")), vec![(1, 0, 2.0), (0, 1, -2.0)]);
    for (symmetry, body, stored) in
        [("general", "1\n0\n3\n4", 4), ("symmetric", "1\n2\n4", 3), ("skew-symmetric", "2", 1)]
    {
        let (header, _) = read_matrix_market(text(symmetry, body).as_bytes()).expect("reads");
        assert_eq!(header.stored_entries, stored, "{symmetry}");
    }
    assert_eq!(triples("%%MatrixMarket matrix array real general\n0 5\n"), vec![]);
    let wide = "%%MatrixMarket matrix array integer general\n1 3\n1\n2\n3\n";
    assert_eq!(triples(wide), vec![(0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.0)]);
}

#[test]
fn value_words_and_roundings() {
    let one = |field: &str, word: &str| {
        triples(&format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {word}"))[0].2
    };
    for (word, expected) in [
        ("inf", f64::INFINITY),
        ("INF", f64::INFINITY),
        ("+Inf", f64::INFINITY),
        ("-infinity", f64::NEG_INFINITY),
        ("NaN", f64::NAN),
        ("-nan", f64::NAN),
        (".5", 0.5),
        ("5.", 5.0),
        ("+1E-2", 0.01),
        ("-0", -0.0),
        ("1e-9999", 0.0),
        ("2.4703282292062327208e-324", 0.0),
        ("2.4703282292062328e-324", 5e-324),
        ("1.7976931348623158e308", f64::MAX),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("9007199254740993.00000000000000000000000000001", 9_007_199_254_740_994.0),
    ] {
        assert_eq!(one("real", word).to_bits(), expected.to_bits(), "{word}");
    }
    for (field, word, expected) in [
        ("integer", "-0", 0.0),
        ("integer", "+7", 7.0),
        ("integer", "00000000000000000000000012", 12.0),
        ("integer", "9007199254740993", 9_007_199_254_740_992.0),
        ("integer", "9007199254740995", 9_007_199_254_740_996.0),
        ("integer", "-9223372036854775808", -9_223_372_036_854_775_808.0),
        ("integer", "18446744073709551615", 18_446_744_073_709_551_616.0),
        ("Unsigned-Integer", "18446744073709551615", 18_446_744_073_709_551_616.0),
    ] {
        assert_eq!(one(field, word).to_bits(), f64::to_bits(expected), "{field} {word}");
    }
}

#[test]
fn layout_is_free_within_the_rules() {
    let text = "  %MatrixMarket MATRIX Coordinate Real General \r\n\r\n% c\r\n\t2  2\t2 \r\n\n %c\n 1\t1 1\r\n%c\n2 2 2\n\n%end";
    assert_eq!(triples(text), vec![(0, 0, 1.0), (1, 1, 2.0)]);
    assert_eq!(triples("%%MatrixMarket matrix coordinate real general\n0 0 0"), vec![]);
}
