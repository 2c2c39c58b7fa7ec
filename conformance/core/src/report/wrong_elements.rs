//! Where the wrong elements of a result are, in words and as a picture of cells.
//!
//! ```text
//! "192, in rows 48 to 63 of 256 (48 to 63 modulo 64) and columns 0 to 95 of 96"
//! "24*0 8*ffffffff"      rows of cells from the top, equal ones counted; bit j of the hex digits: the j-th cell from the left
//! ```

use super::show::count;
use serde::{Deserialize, Serialize};
use sparse_oracle::verdict::{self, CELLS, WrongLines};
use std::fmt;

/// The wrong elements of one result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "files", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WrongElements {
    /// How many there are.
    pub count: u64,
    /// The rows and columns that they are in.
    pub within: String,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: u64,
    /// Rows of cells from the top, each as hex digits (bit j: an element in the j-th cell from the left is wrong), after the number of
    /// times that it stands there where that is more than one. There are as many rows of cells, and cells in a row, as the result has
    /// rows and columns, but at most 32: then each cell is of several.
    #[cfg_attr(
        feature = "files",
        schemars(regex(pattern = r"^([0-9]+\*)?[0-9a-f]+( ([0-9]+\*)?[0-9a-f]+)*$"))
    )]
    pub cells: String,
}

impl From<&verdict::WrongElements> for WrongElements {
    fn from(wrong: &verdict::WrongElements) -> WrongElements {
        let (rows, columns) = wrong.shape;
        let runs = wrong.grid().0.chunk_by(|a, b| a == b).map(|run| match run {
            [cells] => format!("{cells:x}"),
            run => format!("{}*{:x}", run.len(), run[0]),
        });
        WrongElements {
            count: wrong.count as u64,
            within: format!(
                "{} and {}",
                words("row", wrong.rows, rows),
                words("column", wrong.cols, columns)
            ),
            rows: rows as u64,
            columns: columns as u64,
            cells: runs.collect::<Vec<_>>().join(" "),
        }
    }
}

impl WrongElements {
    /// Rows of cells from the top; bit j for the j-th from the left. None where the text is none, which a file may hold.
    #[must_use]
    pub fn picture(&self) -> Option<Vec<u32>> {
        let mut picture = Vec::new();
        for run in self.cells.split(' ') {
            let (times, cells) = run.split_once('*').unwrap_or(("1", run));
            let times: usize = times.parse().ok().filter(|times| *times <= CELLS)?;
            picture.extend(std::iter::repeat_n(u32::from_str_radix(cells, 16).ok()?, times));
            if picture.len() > CELLS {
                return None;
            }
        }
        (picture.len() as u64 == self.rows.min(CELLS as u64)).then_some(picture)
    }

    /// Cells in a row of the picture.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.columns.min(CELLS as u64) as u32
    }
}

impl fmt::Display for WrongElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, in {}", count(self.count), self.within)
    }
}

/// "row 17 of 64", "rows 0 to 63 of 64 (12 to 15 modulo 16)".
fn words(name: &str, lines: WrongLines, all: usize) -> String {
    let WrongLines { first, last, .. } = lines;
    if first == last {
        return format!("{name} {first} of {all}");
    }
    let modulo = period(lines).map(|(from, to, period)| match from == to {
        true => format!(" ({from} modulo {period})"),
        false => format!(" ({from} to {to} modulo {period})"),
    });
    format!("{name}s {first} to {last} of {all}{}", modulo.unwrap_or_default())
}

/// What all numbers are modulo a power of two, if that is one number or some that follow one another: the power that leaves the smallest
/// share of all numbers, of equals the smallest. None where it may be chance: two numbers are the same modulo something always.
fn period(lines: WrongLines) -> Option<(u32, u32, u32)> {
    let mut best: Option<(u32, u32, u32)> = None;
    let share = |(from, to, period): (u32, u32, u32)| (to - from + 1) * 64 / period;
    for bits in 1..=6 {
        let period = 1_u32 << bits;
        let folded = (0..64).step_by(period as usize).fold(0_u64, |folded, at| folded | lines.residues >> at);
        let folded = folded & (u64::MAX >> (64 - period));
        let (from, to) = (folded.trailing_zeros(), 63 - folded.leading_zeros());
        let follow = folded.count_ones() == to - from + 1 && folded.count_ones() < period;
        let is_chance = match period {
            ..=16 => lines.residues.count_ones() < 3 * folded.count_ones(),
            // 64 residues do not say how many numbers there are.
            _ => lines.last - lines.first < 3 * period as usize,
        };
        if follow && !is_chance && best.is_none_or(|best| share((from, to, period)) < share(best)) {
            best = Some((from, to, period));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: (usize, usize), places: impl Iterator<Item = (usize, usize)>) -> WrongElements {
        WrongElements::from(&verdict::WrongElements::of(shape, places).expect("one at least"))
    }

    #[test]
    fn words_say_which_rows_and_columns() {
        let all = |rows: usize, cols: usize| (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)));
        let of = |shape: (usize, usize), wrong: &dyn Fn(usize, usize) -> bool| {
            of(shape, all(shape.0, shape.1).filter(|&(i, j)| wrong(i, j))).to_string()
        };
        let cases: [(&str, String); 8] = [
            ("192, in rows 0 to 63 of 64 and columns 0 to 2 of 3", of((64, 3), &|_, _| true)),
            ("3, in row 17 of 64 and columns 0 to 2 of 3", of((64, 3), &|i, _| i == 17)),
            (
                "4, in rows 15 to 63 of 64 (15 modulo 16) and column 1 of 3",
                of((64, 3), &|i, j| i % 16 == 15 && j == 1),
            ),
            (
                "16, in rows 12 to 63 of 64 (12 to 15 modulo 16) and column 0 of 1",
                of((64, 1), &|i, _| i % 16 > 11),
            ),
            ("20, in rows 1 to 39 of 40 (1 modulo 2) and column 0 of 1", of((40, 1), &|i, _| i % 2 == 1)),
            (
                "4, in rows 63 to 255 of 256 (63 modulo 64) and column 0 of 1",
                of((256, 1), &|i, _| i % 64 == 63),
            ),
            ("2, in rows 3 to 19 of 64 and column 0 of 1", of((64, 1), &|i, _| i == 3 || i == 19)),
            ("3, in rows 3 to 61 of 64 and column 0 of 1", of((64, 1), &|i, _| [3, 20, 61].contains(&i))),
        ];
        for (expected, said) in cases {
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn the_picture_is_read_as_it_was_written() {
        let half = of((256, 96), (128..256).flat_map(|i| (0..96).map(move |j| (i, j))));
        assert_eq!(half.cells, "16*0 16*ffffffff");
        assert_eq!(half.picture().expect("cells"), [[0; 16], [u32::MAX; 16]].concat());
        let small = of((3, 5), [(2, 4), (0, 0)].into_iter());
        assert_eq!((small.cells.as_str(), small.width()), ("1 0 10", 5));
        assert_eq!(small.picture(), Some(vec![1, 0, 16]));
    }

    #[test]
    fn a_text_that_is_no_picture_is_none() {
        let good = of((3, 5), [(2, 4)].into_iter());
        for cells in ["", "1", "1 0 10 0", "3*", "4294967296*1", "32*0 32*0 32*0", "x 0 0", "1 0 100000000"] {
            let wrong = WrongElements { cells: cells.to_owned(), ..good.clone() };
            assert_eq!(wrong.picture(), None, "{cells}");
        }
    }
}
