//! Rows and columns of A past a grid, a buffer, a field.
//!
//! ```text
//! rows     blocks of 256, a grid of at most 65535 blocks, an index of 15 or 16 bits
//! columns  a tile of the inner extent, x staged in shared memory, columns stored as differences of 8 bits
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::offset;
use super::super::edit::{gathered, rebuilt};
use super::super::own::Lanes;
use super::{legal, plain, scaled};
use sparse_oracle::contract::Op;

const F: Family = Family::Sizes;

pub(super) static BUGS: &[Bug] = &[
    lanes("rows: only the first 256", "a single block of 256 threads, one a row", |rows| cut(rows, 256)),
    lanes("rows: only the first 1,024", "a single block of 1,024 threads", |rows| cut(rows, 1024)),
    lanes("rows: only the first 4,096", "offsets of rows are staged in 16 KiB of shared memory", |rows| {
        cut(rows, 4096);
    }),
    lanes("rows: only the first 32,767", "the row is a signed short", |rows| cut(rows, 0x7fff)),
    lanes("rows: only the first 65,535", "one row a block of grid.y, which ends there", |rows| {
        cut(rows, 0xffff);
    }),
    lanes("rows: 16 bits", "row i is row i modulo 65536", |rows| {
        for i in 1 << 16..rows.len() {
            rows[i] = rows[i & 0xffff].clone();
        }
    }),
    lanes("rows: tail after tiles of 128", "rows left over after whole tiles of 128 are forgotten", |rows| {
        if rows.len() > 128 {
            cut(rows, rows.len() / 128 * 128);
        }
    }),
    lanes("rows: a last block of one", "the grid is (m - 1) / 256 blocks where m > 256", |rows| {
        if rows.len() > 256 && rows.len() % 256 == 1 {
            cut(rows, rows.len() - 1);
        }
    }),
    lanes("rows: border of 256 taken twice", "blocks of 256 rows overlap by one, and both add", |rows| {
        for lane in rows.iter_mut().skip(256).step_by(256) {
            let again = lane.clone();
            lane.extend(again);
        }
    }),
    lanes(
        "rows: second wave repeats the first",
        "the stride of a grid of 1,024 threads is added to a copy",
        |rows| {
            for i in 1024..rows.len() {
                rows[i] = rows[i - 1024].clone();
            }
        },
    ),
    lanes(
        "rows: after 64 empty ones",
        "the search for the row of an entry gives up after 64 offsets that are equal",
        |rows| {
            let mut empty = 0;
            for i in 0..rows.len() {
                if rows[i].is_empty() {
                    empty += 1;
                } else {
                    if empty >= 64 {
                        rows[i - empty] = std::mem::take(&mut rows[i]);
                    }
                    empty = 0;
                }
            }
        },
    ),
    lanes("column: 10 bits", "a packed entry has 10 bits of column", |rows| masked(rows, 0x3ff)),
    lanes("column: 12 bits", "a packed entry has 12 bits of column", |rows| masked(rows, 0xfff)),
    lanes("column: signed short", "columns from 32768 on are negative, and skipped", |rows| {
        rows.iter_mut().for_each(|lane| lane.retain(|e| e.0 < 1 << 15));
    }),
    lanes(
        "column: differences of 8 bits",
        "columns are stored as the distance to the one before, in a byte",
        |rows| {
            for lane in rows.iter_mut() {
                let mut before = (0, 0);
                for e in lane.iter_mut() {
                    let now = e.0;
                    e.0 = before.1 + ((now - before.0) & 0xff);
                    before = (now, e.0);
                }
            }
        },
    ),
    Bug::new(
        F,
        "inner: tail after tiles of 128",
        "B is loaded in tiles of 128 rows, and the last, short one is not",
        plain,
        Effect::Left(|a, transposed| {
            rebuilt(a, |list, (rows, cols)| {
                let inner = if transposed { rows } else { cols };
                let whole = if inner > 128 { inner / 128 * 128 } else { inner };
                list.retain(|e| ((if transposed { e.row } else { e.col }) as usize) < whole);
            })
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "inner: x staged in 2,048 elements",
        "x is kept in shared memory, and an index past its end wraps",
        |c| legal(c, Op::Spmv) && scaled(c),
        Effect::Right(|x| gathered(x, |i, j| offset(x.layout, x.ld, i & 0x7ff, j))),
        &[VALUE],
    ),
    Bug::new(
        F,
        "inner: rows of B past 512 read twice as far",
        "the second half of a split in k starts at twice its offset",
        plain,
        Effect::Left(|a, transposed| {
            rebuilt(a, |list, (rows, cols)| {
                let inner = if transposed { rows } else { cols } as u32;
                for e in list.iter_mut() {
                    let k = if transposed { &mut e.row } else { &mut e.col };
                    if *k >= 512 {
                        *k = (*k + 512).min(inner - 1);
                    }
                }
            })
        }),
        &[VALUE],
    ),
];

/// A bug in the walk over the rows of op(A).
const fn lanes(name: &'static str, story: &'static str, walk: fn(&mut Lanes)) -> Bug {
    Bug::new(F, name, story, scaled, Effect::Lanes(walk), &[VALUE])
}

/// Rows from `first` on get no terms.
fn cut(rows: &mut Lanes, first: usize) {
    rows.iter_mut().skip(first).for_each(Vec::clear);
}

fn masked(rows: &mut Lanes, mask: u32) {
    rows.iter_mut().flatten().for_each(|e| e.0 &= mask);
}
