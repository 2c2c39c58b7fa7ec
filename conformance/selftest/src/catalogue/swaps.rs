//! Right numbers in one another's place, where small or symmetric values do not tell.
//!
//! ```text
//! rows 0 and 64, columns j and j + 32, entries 32 and 33 of a row, halves of a fragment
//! ```

use super::super::bug::symptom::{PATTERN, STRUCTURE, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::{Dense, offset};
use super::super::edit::{edit_values, gathered};
use super::super::own::Lanes;
use super::{general_move, legal, scaled, spmm};
use sparse_conformance_core::case::Case;
use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;
use sparse_oracle::task::RawSparse;

const F: Family = Family::Swaps;

fn sddmm(case: &Case) -> bool {
    legal(case, Op::Sddmm)
}

fn product(case: &Case) -> bool {
    spmm(case) && scaled(case)
}

pub(super) static BUGS: &[Bug] = &[
    output("swap: rows 0 and 64", "two blocks of 64 rows take each other's first row", scaled, |d| {
        (0..d.cols).for_each(|j| d.swap((0, j), (64, j)));
    }),
    output("swap: rows 255 and 256", "the last thread of a block and the first of the next", scaled, |d| {
        (0..d.cols).for_each(|j| d.swap((255, j), (256, j)));
    }),
    output(
        "swap: last two columns of a wide C",
        "the tail of a vector is stored in reverse, where n > 64",
        product,
        |d| {
            if d.cols > 64 {
                (0..d.rows).for_each(|i| d.swap((i, d.cols - 1), (i, d.cols - 2)));
            }
        },
    ),
    output(
        "swap: columns 1 and 33",
        "two halves of a tile of 64 columns swap a lane, where there are 64",
        product,
        |d| {
            if d.cols >= 64 {
                (0..d.rows).for_each(|i| d.swap((i, 1), (i, 33)));
            }
        },
    ),
    output(
        "swap: fragment transposed past 64 x 64",
        "tiles of 8 x 8 are stored transposed in the kernel for large C",
        product,
        |d| {
            if d.rows >= 72 && d.cols >= 72 {
                for i in 0..8 {
                    (0..i).for_each(|j| d.swap((64 + i, 64 + j), (64 + j, 64 + i)));
                }
            }
        },
    ),
    output(
        "swap: two elements of a fragment",
        "lanes 4 and 8 of a fragment of 16 x 8 exchange one register",
        product,
        |d| {
            d.swap((9, 1), (1, 3));
        },
    ),
    output(
        "swap: rows of equal length",
        "the sort by length is undone as if it were stable, past 16 entries",
        scaled,
        |d| {
            let lengths = d.row_lengths();
            for i in 1..d.rows {
                if lengths[i] > 16 && lengths[i] == lengths[i - 1] {
                    (0..d.cols).for_each(|j| d.swap((i - 1, j), (i, j)));
                }
            }
        },
    ),
    lanes("swap: entries 32 and 33", "two warps exchange the values at their border", |rows| {
        exchanged(rows, |_| (32, 33));
    }),
    lanes("swap: last two entries past 256", "the tail of a long row takes its values in reverse", |rows| {
        exchanged(rows, |len| if len > 256 { (len - 2, len - 1) } else { (0, 0) });
    }),
    lanes(
        "swap: values of chunks of 128",
        "the second and third chunk of 128 entries have each other's values",
        |rows| {
            for at in 0..128 {
                exchanged(rows, |_| (128 + at, 256 + at));
            }
        },
    ),
    right(
        "swap: rows k and k + 64 of B",
        "two stages of a pipeline are filled in the other order",
        scaled,
        |b| {
            gathered(b, |i, j| {
                // The partner may lie past the end: then both stay.
                let other = i ^ 64;
                offset(b.layout, b.ld, if other < b.rows { other } else { i }, j)
            })
        },
    ),
    right(
        "swap: neighbours in x past 128",
        "pairs of a packed vector are unpacked in reverse",
        |c| legal(c, Op::Spmv) && scaled(c),
        |x| {
            gathered(x, |i, j| {
                let other = if i >= 128 { i ^ 1 } else { i };
                offset(x.layout, x.ld, if other < x.rows { other } else { i }, j)
            })
        },
    ),
    output(
        "swap: positions of SDDMM in pairs",
        "from position 32 on, pairs are stored in reverse",
        sddmm,
        |d| {
            (32..d.rows).step_by(2).for_each(|p| d.swap((p, 0), (p + 1, 0)));
        },
    ),
    right("swap: k and k + 32 of X", "two steps of a warp exchange X, and Y stays", sddmm, |x| {
        gathered(x, |i, k| {
            let other = k ^ 32;
            offset(x.layout, x.ld, i, if other < x.cols { other } else { k })
        })
    }),
    result(
        "swap: values in a long row of C",
        "the merge of two sorted lists takes indices from one and values from the other, past 32",
        |c| legal(c, Op::Spgemm),
        |raw| {
            in_long_lanes(raw, 32);
        },
    ),
    result(
        "swap: values in a long row, converted",
        "a sort of more than 64 pairs moves two values apart from their positions",
        |c| {
            general_move(c)
                && [FormatKind::Csr, FormatKind::Csc].contains(&c.contract.to.unwrap_or(c.contract.format))
        },
        |raw| in_long_lanes(raw, 64),
    ),
];

const fn output(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    edit: fn(&mut Dense<'_>),
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Output(edit), &[VALUE])
}

const fn lanes(name: &'static str, story: &'static str, walk: fn(&mut Lanes)) -> Bug {
    Bug::new(F, name, story, scaled, Effect::Lanes(walk), &[VALUE])
}

const fn right(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    read: fn(&sparse_oracle::task::DenseRef<'_>) -> Vec<u64>,
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Right(read), &[VALUE])
}

const fn result(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    edit: fn(&mut RawSparse),
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Result(edit), &[VALUE, PATTERN, STRUCTURE])
}

/// Two values of each row that has them change places; columns stay.
fn exchanged(rows: &mut Lanes, which: impl Fn(usize) -> (usize, usize)) {
    for lane in rows.iter_mut() {
        let (one, other) = which(lane.len());
        if one.max(other) < lane.len() {
            (lane[one].1, lane[other].1) = (lane[other].1, lane[one].1);
        }
    }
}

/// In each lane of more than `longest` entries, the values of the last two change places.
fn in_long_lanes(raw: &mut RawSparse, longest: usize) {
    let offsets = raw.offsets.clone();
    edit_values(raw, |bits| {
        for end in offsets.windows(2).filter(|w| w[1].saturating_sub(w[0]) as usize > longest) {
            let end = end[1] as usize;
            if end <= bits.len() {
                bits.swap(end - 1, end - 2);
            }
        }
    });
}
