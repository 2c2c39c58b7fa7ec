//! Small matrices as pictures, and parameters of the N:M formats.

#![allow(dead_code, reason = "each test binary uses a part of it, some all")]

use sparse_oracle::Scalar;
use sparse_oracle::format::{Entries, Entry, FormatParams};
use sparse_oracle::prelude::*;

/// Entries from a picture: one line per row, one word per column, `.` for no entry.
pub(crate) fn picture<T: Scalar>(rows: &[&str]) -> Entries<T> {
    let cells = rows.iter().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let cells: Vec<Vec<&str>> = cells.collect();
    let mut list = Vec::new();
    for (row, words) in cells.iter().enumerate() {
        for (col, word) in words.iter().enumerate().filter(|(_, word)| **word != ".") {
            list.push(Entry {
                row: row as u32,
                col: col as u32,
                value: T::from_f64(word.parse().expect("a number")),
            });
        }
    }
    Entries::try_new(rows.len(), cells.first().map_or(0, Vec::len), list).expect("a picture is in order")
}

/// Parameters of N:M.
pub(crate) fn nm(n: u32, m: u32, l: u32) -> FormatParams {
    FormatParams { n, m, l, ..FormatParams::default() }
}

/// Parameters of V:N:M.
pub(crate) fn vnm(v: u32, n: u32, m: u32) -> FormatParams {
    FormatParams { v, n, m, ..FormatParams::default() }
}
