//! Loops that begin or end in the wrong place.
//!
//! ```text
//! row i of A  [ 0 1 2 3 | 4 5 6 7 | 8 9 ]      a tail: what is left over after whole blocks of 4
//! rows of C   [ 0..8 | 8..16 | 16..m ]         a halo: a row that two tiles both think theirs
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::own::{HONEST, Lanes, StepInput, StepKernel, fused, rows};
use super::{plain, scaled, spmm, spmm_csr};
use crate::edit::rebuilt;
use sparse_oracle::format::AnySparse;

const F: Family = Family::Bounds;

pub(super) static BUGS: &[Bug] = &[
    Bug::new(
        F,
        "term: last of a row dropped",
        "the loop over a row ends one entry early",
        plain,
        Effect::Left(last_dropped),
        &[VALUE],
    ),
    gathers("term: first of a row dropped", "the loop over a row starts one entry late", |lanes| {
        lanes.iter_mut().filter(|lane| !lane.is_empty()).for_each(|lane| {
            lane.remove(0);
        });
    }),
    gathers(
        "term: tail of an unrolled loop dropped",
        "entries left over after blocks of 4 are forgotten",
        |lanes| {
            lanes.iter_mut().for_each(|lane| lane.truncate(lane.len() / 4 * 4));
        },
    ),
    gathers("term: only one warp's worth", "a row of more than 32 entries is cut at 32", |lanes| {
        lanes.iter_mut().for_each(|lane| lane.truncate(32));
    }),
    gathers(
        "term: end of a row inclusive",
        "the loop runs to row_ptr[i + 1] inclusive and takes the next row's first entry",
        |lanes| {
            for i in 1..lanes.len() {
                let first = lanes[i].first().copied();
                lanes[i - 1].extend(first);
            }
        },
    ),
    gathers(
        "term: rows of one entry skipped",
        "a fast path for rows of one entry is never written",
        |lanes| {
            lanes.iter_mut().filter(|lane| lane.len() == 1).for_each(Vec::clear);
        },
    ),
    gathers("term: last column never used", "columns are compared with k - 1", |lanes| {
        let last = lanes.iter().flatten().map(|e| e.0).max();
        lanes.iter_mut().for_each(|lane| lane.retain(|e| Some(e.0) != last));
    }),
    gathers("row: off by one", "row i of C is computed from row i + 1 of A", |lanes| {
        if lanes.len() > 1 {
            lanes.rotate_left(1);
        }
    }),
    gathers("row: tail of a tile dropped", "rows left over after tiles of 8 get no terms", |lanes| {
        let whole = lanes.len() / 8 * 8;
        lanes.iter_mut().skip(whole).for_each(Vec::clear);
    }),
    gathers(
        "row: halo counted twice",
        "tiles of 8 rows overlap by one, and the shared row is added by both",
        |lanes| {
            for lane in lanes.iter_mut().skip(8).step_by(8) {
                let again = lane.clone();
                lane.extend(again);
            }
        },
    ),
    gathers(
        "row: halo read from the neighbour",
        "the first row of a tile still reads the last row of the tile before",
        |lanes| {
            for i in (8..lanes.len()).step_by(8) {
                lanes[i] = lanes[i - 1].clone();
            }
        },
    ),
    gathers(
        "row: empty row repeats the one above",
        "row_ptr is searched for the wrong side of an empty row",
        |lanes| {
            for i in 1..lanes.len() {
                if lanes[i].is_empty() {
                    lanes[i] = lanes[i - 1].clone();
                }
            }
        },
    ),
    gathers("row: only the first 64", "the grid has one block of 64 rows", |lanes| {
        lanes.iter_mut().skip(64).for_each(Vec::clear);
    }),
    gathers("row: longest row skipped", "rows of the long-row kernel are never launched", |lanes| {
        let longest = lanes.iter().map(Vec::len).max().filter(|&longest| longest > 0);
        lanes.iter_mut().filter(|lane| Some(lane.len()) == longest).for_each(Vec::clear);
    }),
    Bug::new(
        F,
        "column: tail of a vector dropped",
        "columns of C left over after vectors of 8 get no terms",
        |c| scaled(c) && c.params.n % 8 != 0,
        Effect::Output(|d| {
            let whole = d.cols / 8 * 8;
            d.change(|d, (_, j), _, before| {
                (j >= whole).then(|| if d.beta == 0.0 { 0 } else { d.bits(d.beta * d.number(before)) })
            });
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "column: right for n = 8 and 32 only",
        "the kernel is specialised for n = 8 and 32, and repeats column 0 for the others' last column",
        |c| spmm(c) && c.params.n != 8 && c.params.n != 32 && c.params.n > 1,
        Effect::Output(|d| {
            for i in 0..d.rows {
                let (first, last) = (d.offset(i, 0), d.offset(i, d.cols.saturating_sub(1)));
                d.after[last] = d.after[first];
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "column: added twice past the first",
        "the first pass over a row's columns is repeated by a remainder loop that starts at 1",
        |c| spmm_csr(c) && c.params.n > 1 && c.params.alpha != 0.0,
        Effect::StepKernel(StepKernel { sum: |site, terms| twice(site, terms), ..HONEST }),
        &[VALUE],
    ),
];

/// A bug in the walk over the rows of A.
const fn gathers(name: &'static str, story: &'static str, walk: fn(&mut Lanes)) -> Bug {
    Bug::new(F, name, story, scaled, Effect::Lanes(walk), &[VALUE])
}

/// The last entry of each row of op(A) is left out.
fn last_dropped(a: &AnySparse, transposed: bool) -> Result<AnySparse, String> {
    let last: Vec<Option<u32>> = rows(a, transposed).iter().map(|lane| lane.last().map(|e| e.0)).collect();
    rebuilt(a, |list, _| {
        list.retain(|e| {
            let (row, k) = if transposed { (e.col, e.row) } else { (e.row, e.col) };
            last.get(row as usize) != Some(&Some(k))
        });
    })
}

/// All columns but the first are summed twice.
fn twice(site: &StepInput, terms: &[(f64, f64)]) -> f64 {
    let sum = fused(site, terms);
    if site.at.1 == 0 { sum } else { site.unit.add(sum, sum) }
}
