//! Matrices as drawings.

#![allow(dead_code, reason = "each test file uses its own part")]

use sparse_oracle::format::{Entries, Entry};

/// One line per row, one letter per column: `.` absent, `x` the value `100 * row + col + 1`, `0` an explicit zero, `-` -0.0.
pub(crate) fn drawn(lines: &[&str]) -> Entries<f64> {
    let cols = lines.first().map_or(0, |line| line.len());
    let mut list = Vec::new();
    for (row, line) in lines.iter().enumerate() {
        assert_eq!(line.len(), cols, "row {row}");
        for (col, letter) in line.chars().enumerate() {
            let value = match letter {
                '.' => continue,
                'x' => (100 * row + col + 1) as f64,
                '0' => 0.0,
                '-' => -0.0,
                other => panic!("{other} in a drawing"),
            };
            let (row, col) = (row as u32, col as u32);
            list.push(Entry { row, col, value });
        }
    }
    Entries::try_new(lines.len(), cols, list).expect("drawn in order")
}

/// The worked example of RS-Tile, for `tau_nnz` 2. As described, rows 1 and 10 are residual: column 3 is nowhere in
/// rows 2..9, column 14 nowhere else. Row 2 is too long, and row 11 adds nothing, since row 13 has column 4: windows
/// 2..10 and 11..16, the second of which runs past the matrix.
pub(crate) const WORKED: [&str; 16] = [
    "................",
    "...x.....x......",
    "xxx.............",
    ".0..............",
    "................",
    "x..............x",
    "..x..-..........",
    "......xxx.......",
    ".........x.x....",
    ".....x..........",
    "..............0.",
    "....x...........",
    "................",
    "....x.....x.....",
    "................",
    "..........x..x..",
];
