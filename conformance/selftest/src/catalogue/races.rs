//! Threads that share a row: right most of the time.
//!
//! ```text
//! call 1  ok    call 2  ok    call 3  half of row 7 lost    call 4  ok ..
//! ```
//!
//! Which calls go wrong is drawn from the number of the call and of the row, so that a hunt repeats; a kernel counts the calls of
//! each contract on its own.

use super::super::bug::symptom::{NONDETERMINISTIC, UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family, Symptom};
use super::super::dense::Dense;
use super::super::own::Lanes;
use super::{legal, scaled, spmm, spmm_with_c};
use sparse_conformance_core::case::Case;
use sparse_conformance_core::report::Defect;
use sparse_oracle::contract::Op;
use sparse_oracle::format::FormatKind;

const F: Family = Family::Races;
const LOST: &[Symptom] = &[VALUE, NONDETERMINISTIC, UNWRITTEN, Symptom::Wrong(Defect::Stale)];

pub(super) static BUGS: &[Bug] = &[
    race(
        "race: halves of a row past 64",
        "two threads share a row of more than 64 entries, and one time in four one overwrites the other",
        scaled,
        |call, rows| {
            struck(rows, call, 4, |lane| {
                if lane.len() > 64 {
                    lane.truncate(lane.len() / 2);
                }
            });
        },
    ),
    race(
        "race: three blocks of 256",
        "blocks of 256 entries add without atomics: one time in two the last writer wins",
        scaled,
        |call, rows| {
            struck(rows, call, 2, |lane| {
                if lane.len() > 512 {
                    drop(lane.drain(..(lane.len() - 1) / 256 * 256));
                }
            });
        },
    ),
    race(
        "race: rows at the border of a share",
        "shares of 128 entries both add to the row at their border: one time in 16 the first is lost",
        scaled,
        |call, rows| {
            let mut at = 0;
            for (i, lane) in rows.iter_mut().enumerate() {
                let (begin, end) = (at, at + lane.len());
                at = end;
                let border = begin.div_ceil(128) * 128;
                if border > begin && border < end && drawn(call, i, 16) {
                    lane.drain(..border - begin);
                }
            }
        },
    ),
    race(
        "race: one term in a transposed product",
        "A^T x scatters, and one time in 32 an update of a row is lost",
        |c| scaled(c) && c.params.transpose_a,
        |call, rows| {
            struck(rows, call, 32, |lane| lane.truncate(lane.len().saturating_sub(1)));
        },
    ),
    race(
        "race: COO without atomics",
        "neighbouring triples of one row go to two threads: one time in 16 the second is lost",
        |c| scaled(c) && c.contract.format == FormatKind::Coo,
        |call, rows| {
            struck(rows, call, 16, |lane| {
                if lane.len() > 1 {
                    lane.truncate(lane.len() - 1);
                }
            });
        },
    ),
    race(
        "race: a barrier too few",
        "one call in 16 reads the last row before its second half is there",
        scaled,
        |call, rows| {
            if let (Some(lane), true) = (rows.last_mut(), drawn(call, 0, 16)) {
                lane.truncate(lane.len().div_ceil(2));
            }
        },
    ),
    race(
        "race: one call in 64",
        "a flag is read before it is set: some row of one call in 64 is added twice",
        scaled,
        |call, rows| {
            let which = (call as usize * 31) % rows.len().max(1);
            if let (Some(lane), true) = (rows.get_mut(which), drawn(call, 1, 64)) {
                let again = lane.clone();
                lane.extend(again);
            }
        },
    ),
    race(
        "race: order of a long row",
        "chunks of 32 entries are added as they come in, declared one chain",
        scaled,
        |call, rows| {
            struck(rows, call, 2, |lane| {
                if lane.len() > 32 {
                    lane.rotate_left(32);
                }
            });
        },
    )
    .only_bits(),
    output(
        "race: last columns of a wide C",
        "one call in 16 returns before the thread of the last quarter of more than 64 columns is done",
        spmm,
        |call, d| {
            if d.cols > 64 && drawn(call, 0, 16) {
                let late = d.cols - d.cols / 4;
                d.leave(|_, _, j| j >= late);
            }
        },
    ),
    output(
        "race: C scaled by two threads",
        "one time in 8 both threads of a row of more than 16 entries add beta * C",
        spmm_with_c,
        |call, d| {
            let lengths = d.row_lengths();
            d.change(|d, (i, _), after, before| {
                (lengths[i] > 16 && drawn(call, i, 8))
                    .then(|| d.bits(d.number(after) + d.beta * d.number(before)))
            });
        },
    ),
    output(
        "race: cleared after the first add",
        "one call in 8 a row of more than 32 entries is cleared by a thread that comes late",
        |c| spmm(c) && !c.reads_c(),
        |call, d| {
            let lengths = d.row_lengths();
            d.change(|_, (i, _), _, _| (lengths[i] > 32 && drawn(call, i, 8)).then_some(0));
        },
    ),
    output(
        "race: positions of SDDMM",
        "one call in 8 leaves a warp's worth of positions past the first 256",
        |c| legal(c, Op::Sddmm),
        |call, d| {
            let warp = 256 + call as usize % 8 * 32;
            if drawn(call, 0, 8) {
                d.leave(|_, p, _| p >= warp && p < warp + 32);
            }
        },
    ),
];

const fn race(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    edit: fn(u64, &mut Lanes),
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::Races(edit), LOST)
}

const fn output(
    name: &'static str,
    story: &'static str,
    concerns: fn(&Case) -> bool,
    edit: fn(u64, &mut Dense<'_>),
) -> Bug {
    Bug::new(F, name, story, concerns, Effect::RacesForC(edit), LOST)
}

/// True for one (call, row) in so many.
fn drawn(call: u64, row: usize, one_in: u64) -> bool {
    let mut z =
        call.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (row as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).is_multiple_of(one_in)
}

/// What becomes of the rows that are drawn.
fn struck(rows: &mut Lanes, call: u64, one_in: u64, strike: impl Fn(&mut Vec<(u32, f64)>)) {
    for (i, lane) in rows.iter_mut().enumerate() {
        if drawn(call, i, one_in) {
            strike(lane);
        }
    }
}
