//! Lengths of rows and numbers of entries past a block, a buffer, a field.
//!
//! ```text
//! a row of 700    [ 0..256 | 256..512 | 512..700 ]    chunks: the last one short, partial sums in shared memory, a carry
//! all entries     |-- 1024 --|-- 1024 --|-- .. --|    shares of a merge path: rows that begin at a border, rows that span three
//! ```

use super::super::bug::symptom::VALUE;
use super::super::bug::{Bug, Effect, Family};
use super::super::own::{HONEST, Lanes, StepInput, StepKernel, fused};
use super::scaled;
use sparse_oracle::model::chain::Unit;
use sparse_oracle::scalar::Precision;

const F: Family = Family::Sizes;

pub(super) static BUGS: &[Bug] = &[
    lanes("row length: byte", "a row of 256 entries has length 0, one of 300 has 44", |rows| {
        rows.iter_mut().for_each(|lane| lane.truncate(lane.len() & 0xff));
    }),
    lanes("row length: 16 bits", "a row of 65536 entries has length 0", |rows| {
        rows.iter_mut().for_each(|lane| lane.truncate(lane.len() & 0xffff));
    }),
    lanes("row length: 256 at most", "one entry a thread of a block", |rows| truncated(rows, 256)),
    lanes("row length: 1,024 at most", "one entry a thread of the largest block", |rows| {
        truncated(rows, 1024);
    }),
    lanes("row length: 4,096 at most", "a row is staged in shared memory", |rows| truncated(rows, 4096)),
    lanes("row length: 32,768 at most", "chunks of 1,024 are counted in 32 lanes", |rows| {
        truncated(rows, 32768);
    }),
    lanes(
        "long row: last short chunk lost",
        "rows past 512 are cut in chunks of 512, rounded down",
        |rows| {
            let long = rows.iter_mut().filter(|lane| lane.len() > 512);
            long.for_each(|lane| lane.truncate(lane.len() / 512 * 512));
        },
    ),
    lanes(
        "long row: whole chunks of 256 have no last one",
        "a length that 256 divides has a remainder of 0 entries, and one chunk too few",
        |rows| {
            let whole = rows.iter_mut().filter(|lane| lane.len().is_multiple_of(256));
            whole.for_each(|lane| lane.truncate(lane.len().saturating_sub(256)));
        },
    ),
    lanes("long row: eighth warp lost", "the partial sums of 8 warps are added up to the seventh", |rows| {
        for lane in rows.iter_mut().filter(|lane| lane.len() > 256) {
            let mut at = 0;
            lane.retain(|_| {
                at += 1;
                (at - 1) / 32 % 8 != 7
            });
        }
    }),
    lanes(
        "long row: only the last chunk stored",
        "chunks of 1,024 store their sums over one another",
        |rows| {
            for lane in rows.iter_mut().filter(|lane| lane.len() > 1024) {
                lane.drain(..(lane.len() - 1) / 1024 * 1024);
            }
        },
    ),
    lanes(
        "long row: first chunk twice",
        "past 4,096 entries the loop starts again from the first chunk of 256",
        |rows| {
            for lane in rows.iter_mut().filter(|lane| lane.len() > 4096) {
                let first: Vec<_> = lane[..256].to_vec();
                lane.extend(first);
            }
        },
    ),
    lanes("long row: second heavy one skipped", "the list of rows past 1,000 entries holds one", |rows| {
        rows.iter_mut().filter(|lane| lane.len() > 1000).skip(1).for_each(Vec::clear);
    }),
    sums(
        "long row: chunks rounded to a narrower type",
        "sums of 256 entries go through a half (a float, of f64) on their way to the next warp",
        |site, terms| {
            let narrow = if site.unit.precision == Precision::F64 { Precision::F32 } else { Precision::F16 };
            let narrow = Unit { precision: narrow };
            let chunks = terms.chunks(256).map(|chunk| narrow.add(fused(site, chunk), 0.0));
            match terms.len() > 256 {
                true => chunks.fold(0.0, |sum, chunk| site.unit.add(sum, chunk)),
                false => fused(site, terms),
            }
        },
    ),
    sums(
        "long row: A with two thirds of its bits",
        "rows past 150 entries go through a matrix unit, A as the sum of two narrower numbers instead of three",
        |site, terms| {
            let bits = site.types.a.spec().significand * 2 / 3;
            lossy(site, terms, |(a, b)| (shortened(a, bits), b))
        },
    ),
    sums(
        "long row: B with two thirds of its bits",
        "rows past 150 entries read B from a copy in a narrower type",
        |site, terms| {
            let bits = site.types.b.spec().significand * 2 / 3;
            lossy(site, terms, |(a, b)| (a, shortened(b, bits)))
        },
    ),
    lanes("entries: only the first 32,767", "the number of an entry is a signed short", |rows| {
        numbered(rows, |at, _| at < 0x7fff);
    }),
    lanes("entries: only the first 65,536", "one launch of 256 blocks of 256 entries", |rows| {
        numbered(rows, |at, _| at < 1 << 16);
    }),
    lanes(
        "entries: last share of 4,096 lost",
        "shares of 4,096 entries, rounded down, where there are more",
        |rows| {
            let all: usize = rows.iter().map(Vec::len).sum();
            numbered(rows, |at, _| all <= 4096 || at < all / 4096 * 4096);
        },
    ),
    lanes(
        "entries: row that begins at a share of 1,024",
        "its first entry is taken for the carry of the share before",
        |rows| {
            numbered(rows, |at, begin| at == 0 || at != begin || !at.is_multiple_of(1024));
        },
    ),
    lanes(
        "entries: row that spans three shares",
        "the share of 256 entries in the middle carries nothing on",
        |rows| {
            let mut begin = 0;
            for lane in rows.iter_mut() {
                let end = begin + lane.len();
                let (first, last) = (begin.div_ceil(256) * 256, end / 256 * 256);
                let inner = first..last.max(first);
                let mut at = begin;
                lane.retain(|_| {
                    at += 1;
                    !(inner.contains(&(at - 1)) && inner.start > begin && inner.end < end)
                });
                begin = end;
            }
        },
    ),
];

/// A bug in the walk over the rows of op(A).
const fn lanes(name: &'static str, story: &'static str, walk: fn(&mut Lanes)) -> Bug {
    Bug::new(F, name, story, scaled, Effect::Lanes(walk), &[VALUE])
}

const fn sums(name: &'static str, story: &'static str, sum: fn(&StepInput, &[(f64, f64)]) -> f64) -> Bug {
    Bug::new(F, name, story, scaled, Effect::StepKernel(StepKernel { sum, ..HONEST }), &[VALUE])
}

/// The sum of the terms, those of a long row changed.
fn lossy(site: &StepInput, terms: &[(f64, f64)], change: impl Fn((f64, f64)) -> (f64, f64)) -> f64 {
    if terms.len() <= 150 {
        return fused(site, terms);
    }
    let changed: Vec<(f64, f64)> = terms.iter().map(|&term| change(term)).collect();
    fused(site, &changed)
}

/// Rounded to so many bits of its significand, halves away from zero.
fn shortened(x: f64, bits: u32) -> f64 {
    let dropped = 53 - bits;
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    f64::from_bits((x.to_bits() + (1 << (dropped - 1))) >> dropped << dropped)
}

fn truncated(rows: &mut Lanes, most: usize) {
    rows.iter_mut().for_each(|lane| lane.truncate(most));
}

/// Keeps the entries for which `keep` holds: told the number of the entry, and that of the first of its row.
fn numbered(rows: &mut Lanes, keep: impl Fn(usize, usize) -> bool) {
    let mut at = 0;
    for lane in rows.iter_mut() {
        let begin = at;
        lane.retain(|_| {
            at += 1;
            keep(at - 1, begin)
        });
    }
}
