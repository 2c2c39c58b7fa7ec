//! Malformed inputs as strings: each must be refused with the variant, and the line, given here. Needs no data.

use sparse_oracle::source::file_error::FileError;
use sparse_oracle::source::matrix_market::{Limits, read_matrix_market, read_matrix_market_within};
use sparse_oracle::source::smtx::{read_smtx, read_smtx_within};
use std::io::Read;

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

/// The variant's name and the line it points at (0 where it has none).
fn found(error: &FileError) -> (String, u64) {
    let text = format!("{error:?}");
    let name = text.split([' ', '(']).next().unwrap_or_default().to_string();
    let line = text.split("line: ").nth(1).and_then(|t| t.split([',', ' ', '}']).next()?.parse().ok());
    (name, line.unwrap_or(0))
}

fn refused(text: &str, variant: &str, line: u64) {
    match read_matrix_market(text.as_bytes()) {
        Ok((header, coo)) => panic!("{text:?} was read: {header:?} {coo:?}"),
        Err(e) => {
            assert_eq!(found(&e), (variant.to_string(), line), "{text:?}: {e}");
            let message = e.to_string();
            assert!(message.starts_with(|c: char| c.is_lowercase()) && !message.ends_with('.'), "{message}");
        }
    }
}

#[test]
fn banners() {
    for (text, variant, line) in [
        ("", "Empty", 0),
        ("\n", "NoBanner", 0),
        ("3 3 1\n1 1 1\n", "NoBanner", 0),
        ("\u{feff}%%MatrixMarket matrix coordinate real general\n1 1 0\n", "NoBanner", 0),
        ("%%Matrix Market matrix coordinate real general\n1 1 0\n", "NoBanner", 0),
        ("%%%MatrixMarket matrix coordinate real general\n1 1 0\n", "NoBanner", 0),
        ("%%MatrixMarket", "BadWord", 1),
        ("%%MatrixMarket vector coordinate real general\n1 1\n", "BadWord", 1),
        ("%%MatrixMarket matrix triplets real general\n", "BadWord", 1),
        ("%%MatrixMarket matrix coordinate float general\n", "BadWord", 1),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", "BadWord", 1),
        ("%%MatrixMarket matrix coordinate complex antisymmetric\n", "BadWord", 1),
        ("%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", "TrailingToken", 1),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "UnsupportedField", 1),
        ("%%MatrixMarket matrix array complex hermitian\n1 1\n", "UnsupportedField", 1),
        ("%%MatrixMarket matrix array pattern general\n1 1\n", "IllegalCombination", 1),
        ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", "IllegalCombination", 1),
        ("%%MatrixMarket matrix coordinate pattern hermitian\n1 1 0\n", "IllegalCombination", 1),
        (
            "%%MatrixMarket matrix coordinate unsigned-integer skew-symmetric\n1 1 0\n",
            "IllegalCombination",
            1,
        ),
    ] {
        refused(text, variant, line);
    }
}

#[test]
fn size_lines() {
    for (rest, variant, line) in [
        ("", "NoSizeLine", 1),
        ("% only\n\n%comments\n", "NoSizeLine", 4),
        ("3 3\n", "MissingToken", 2),
        ("\n3\n", "MissingToken", 3),
        ("3 3 1 1\n", "TrailingToken", 2),
        ("-3 3 1\n", "BadNumber", 2),
        ("+3 3 1\n", "BadNumber", 2),
        ("3.0 3 1\n", "BadNumber", 2),
        ("3 x 1\n", "BadNumber", 2),
        ("4294967296 3 1\n", "TooLarge", 2),
        ("3 99999999999999999999999 1\n", "TooLarge", 2),
        ("3 3 10000000000000000000\n", "TooLarge", 2),
        ("4294967295 4294967295 4294967295\n", "TooFew", 2),
    ] {
        refused(&format!("{REAL}{rest}"), variant, line);
    }
    refused("%%MatrixMarket matrix coordinate real symmetric\n3 4 0\n", "NotSquare", 2);
    refused("%%MatrixMarket matrix array real hermitian\n3 4\n", "NotSquare", 2);
    refused("%%MatrixMarket matrix array real general\n3\n", "MissingToken", 2);
    refused("%%MatrixMarket matrix array real general\n3 4 12\n", "TrailingToken", 2);
    refused("%%MatrixMarket matrix array real general\n65536 65536\n", "TooLarge", 2);
    refused("%%MatrixMarket matrix array real symmetric\n4294967295 4294967295\n", "TooLarge", 2);
}

#[test]
fn entries() {
    for (rest, variant, line) in [
        ("2 2 2\n1 1 1\n", "TooFew", 3),
        ("2 2 1\n1 1 1\n2 2 1\n", "TooMany", 4),
        ("2 2 0\n% fine\n1 1 1\n", "TooMany", 4),
        ("2 2 1\n0 1 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n1 0 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n3 1 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n1 3 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n-1 1 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n18446744073709551617 1 1\n", "IndexOutOfRange", 3),
        ("0 0 1\n1 1 1\n", "IndexOutOfRange", 3),
        ("2 2 1\n1.0 1 1\n", "BadNumber", 3),
        ("2 2 1\none 1 1\n", "BadNumber", 3),
        ("2 2 1\n1 +1 1\n", "BadNumber", 3),
        ("2 2 1\n1\n", "MissingToken", 3),
        ("2 2 1\n1 1\n", "MissingToken", 3),
        ("2 2 1\n1 1 1 1\n", "TrailingToken", 3),
        ("2 2 1\n1 1 1 % no\n", "TrailingToken", 3),
        ("2 2 1\n1 1 1,5\n", "BadNumber", 3),
        ("2 2 1\n1 1 1.0D+00\n", "BadNumber", 3),
        ("2 2 1\n1 1 0x10\n", "BadNumber", 3),
        ("2 2 1\n1 1 1_000\n", "BadNumber", 3),
        ("2 2 1\n1 1 --1\n", "BadNumber", 3),
        ("2 2 1\n1 1 infinit\n", "BadNumber", 3),
        ("2 2 1\n1 1 nan(1)\n", "BadNumber", 3),
        ("2 2 1\n1 1 \u{0661}\n", "BadNumber", 3),
        ("2 2 1\n1 1 1\0\n", "BadNumber", 3),
        ("2 2 1\n1 1 1e309\n", "RealOverflow", 3),
        ("2 2 1\n1 1 -1E9999\n", "RealOverflow", 3),
        ("2 2 1\n1 1 1.7976931348623159e308\n", "RealOverflow", 3),
    ] {
        refused(&format!("{REAL}{rest}"), variant, line);
    }
    for (field, value, variant) in [
        ("integer", "1.0", "BadNumber"),
        ("integer", "nan", "BadNumber"),
        ("integer", "-", "BadNumber"),
        ("integer", "1e3", "BadNumber"),
        ("integer", "18446744073709551616", "IntegerOverflow"),
        ("integer", "-9223372036854775809", "IntegerOverflow"),
        ("unsigned-integer", "-1", "BadNumber"),
        ("unsigned-integer", "340282366920938463463374607431768211456", "IntegerOverflow"),
        ("pattern", "1", "TrailingToken"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {value}\n");
        refused(&text, variant, 3);
    }
    for value in ["1", "1e-320", "nan", "-inf"] {
        let text = format!("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 {value}\n");
        refused(&text, "SkewDiagonal", 3);
    }
    refused("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "TooFew", 5);
    refused("%%MatrixMarket matrix array real skew-symmetric\n2 2\n1\n2\n", "TooMany", 4);
    refused("%%MatrixMarket matrix array integer general\n2 2\n1 2\n3 4\n", "TrailingToken", 3);
}

#[test]
fn masks() {
    for (text, variant, line) in [
        ("", "Empty", 0),
        ("% a comment\n", "NoSizeLine", 1),
        ("2, 3\n", "MissingToken", 1),
        ("2, 3,\n0 0 0\n", "MissingToken", 1),
        ("2, 3, 1, 1\n", "BadNumber", 1),
        ("2, 3, 1 1\n", "TrailingToken", 1),
        ("2,, 3, 1\n", "BadNumber", 1),
        ("-2, 3, 1\n", "BadNumber", 1),
        ("2, 4294967296, 1\n", "TooLarge", 1),
        ("2, 3, 2\n0 1\n0 1\n", "TooFew", 2),
        ("2, 3, 2\n0 1 2 2\n0 1\n", "TooMany", 2),
        ("2, 3, 2\n0 1 2\n0\n", "TooFew", 3),
        ("2, 3, 2\n0 1 2\n0 1 2\n", "TooMany", 3),
        ("2, 3, 2\n0 1 2\n0 1\n\n2\n", "TooMany", 5),
        ("2, 3, 2\n0 1 2", "TooFew", 2),
        ("2, 3, 2\n\n0 1 2\n0 1\n", "TooFew", 2),
        ("2, 3, 2\n0 1 3\n0 1\n", "IndexOutOfRange", 2),
        ("2, 3, 2\n0 -1 2\n0 1\n", "IndexOutOfRange", 2),
        ("2, 3, 2\n0 1 2\n0 3\n", "IndexOutOfRange", 3),
        ("2, 3, 2\n0 1 2\n0 1.0\n", "BadNumber", 3),
        ("2, 3, 2\n0 1 2\n0 000000000000000000001\n", "BadNumber", 3),
        ("2, 3, 2\n0 2 1\n0 1\n", "Encoding", 3),
        ("2, 3, 2\n1 1 2\n0 1\n", "Encoding", 3),
        ("2, 3, 2\n0 1 1\n0 1\n", "Encoding", 3),
        ("2, 3, 2\n0 2 2\n1 0\n", "Encoding", 3),
        ("2, 3, 2\n0 2 2\n1 1\n", "Encoding", 3),
        ("1, 0, 1\n0 1\n0\n", "Encoding", 3),
        ("4294967295, 4294967295, 4294967295\n0 0\n", "TooFew", 2),
    ] {
        match read_smtx(text.as_bytes()) {
            Ok(mask) => panic!("{text:?} was read: {mask:?}"),
            Err(e) => {
                let (name, at) = found(&e);
                assert_eq!((name.as_str(), at), (variant, line), "{text:?}: {e}");
            }
        }
    }
    for text in ["2 3 2\n0 1 2\n0 1\n", "% c\n\n2,3,2\r\n0 1 2 \r\n 0\t1\r\n\r\n", "2, 3, 2\n0 1 2\n0 1"] {
        let mask = read_smtx(text.as_bytes()).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!((&mask.row_ptr[..], &mask.col_idx[..]), (&[0, 1, 2][..], &[0, 1][..]), "{text:?}");
    }
    for text in ["2, 0, 0\n0 0 0\n\n", "2, 0, 0\n0 0 0", "0, 0, 0\n0\n"] {
        assert_eq!(read_smtx(text.as_bytes()).map(|m| m.nnz()), Ok(0), "{text:?}");
    }
}

/// A byte repeated for ever.
struct Endless(u8);

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        out.fill(self.0);
        Ok(out.len())
    }
}

#[test]
fn endless_input_ends() {
    let limits = Limits { filler_bytes: 1 << 20, ..Limits::default() };
    let cases: [(&str, u8, &str); 5] = [
        ("", 0, "LineTooLong"),
        (REAL, b' ', "LineTooLong"),
        (REAL, b'\n', "TooMuchFiller"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n", b'\n', "TooMuchFiller"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1", b'1', "LineTooLong"),
    ];
    for (start, byte, variant) in cases {
        let error =
            read_matrix_market_within(start.as_bytes().chain(Endless(byte)), limits).expect_err("endless");
        assert_eq!(found(&error).0, variant, "{start:?}: {error}");
    }
    for (start, byte, variant) in [
        ("", 0, "LineTooLong"),
        ("2, 3, 2\n", b' ', "TooMuchFiller"),
        ("2, 3, 2\n", b'0', "BadNumber"),
        ("2, 3, 2\n0 1 2\n0 1", b'\n', "TooMuchFiller"),
    ] {
        let error = read_smtx_within(start.as_bytes().chain(Endless(byte)), limits).expect_err("endless");
        assert_eq!(found(&error).0, variant, "{start:?}: {error}");
    }
}

#[test]
fn the_callers_limits_hold() {
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n";
    let within = |entries| {
        let limits = Limits { entries, ..Limits::default() };
        read_matrix_market_within(text.as_bytes(), limits).map(|(_, coo)| coo.nnz())
    };
    assert_eq!(within(4), Ok(4));
    assert_eq!(within(3), Err(FileError::EntryLimit { line: 4, limit: 3 }));
    assert_eq!(within(1), Err(FileError::EntryLimit { line: 2, limit: 1 }));
    // One blank per number is free, the others add up over the whole file.
    let limits = Limits { filler_bytes: 10, ..Limits::default() };
    let mask =
        |gap: &str| read_smtx_within(format!("2, 3, 4\n0{gap}2{gap}4\n0 1{gap}0 1\n").as_bytes(), limits);
    assert_eq!(mask("    ").map(|m| m.nnz()), Ok(4));
    assert_eq!(mask("     "), Err(FileError::TooMuchFiller { line: 3, limit: 10 }));
}

/// Story: blanks behind an entry counted nowhere; a small archive kept a reader busy with 64 KiB a promised entry.
#[test]
fn long_lines_count_what_they_have_beyond_three_numbers() {
    let limits = Limits { filler_bytes: 1000, ..Limits::default() };
    let read = |gap: usize| {
        let text = format!("{REAL}2 2 2\n1 1{}5\n2 2 6\n", " ".repeat(gap));
        read_matrix_market_within(text.as_bytes(), limits).map(|(_, coo)| coo.nnz())
    };
    // 256 bytes are free: three of the numbers, their blank and the line's end among them.
    assert_eq!(read(251 + 1000), Ok(2));
    assert_eq!(read(252 + 1000), Err(FileError::TooMuchFiller { line: 3, limit: 1000 }));
}

#[test]
fn non_utf8_junk_is_shown_escaped() {
    let mut bytes = REAL.as_bytes().to_vec();
    bytes.extend(b"2 2 1\n1 1 \xff\x1b[31m\n");
    let error = read_matrix_market(&bytes[..]).expect_err("junk");
    assert_eq!(
        error.to_string(),
        "line 3, column 5: value is `\\xff\\x1b[31m`, expected a decimal number, `nan` or `inf`"
    );
    let long = format!("{REAL}2 2 1\n1 1 {}\n", "x".repeat(1000));
    let message = read_matrix_market(long.as_bytes()).expect_err("junk").to_string();
    assert!(message.len() < 160 && message.contains("xxx..."), "{message}");
}

/// Story (found by `mtx_parse` after 7 CPU-minutes): an array file of no rows and 3,333,333,333 columns, 54 bytes long, took 6 seconds,
/// because each column was gone through. Two hundred such files would take this test the better part of an hour.
#[test]
fn columns_without_a_row_take_no_time() {
    for _ in 0..200 {
        let text = format!("%%MatrixMarket matrix array real general\n0 {}\n", u32::MAX);
        let (header, coo) = read_matrix_market(text.as_bytes()).expect("a matrix without entries");
        assert_eq!((header.rows, header.cols, coo.nnz()), (0, u32::MAX, 0));
    }
    let extra = format!("%%MatrixMarket matrix array real general\n0 {}\n1.5\n", u32::MAX);
    assert!(read_matrix_market(extra.as_bytes()).is_err());
}
