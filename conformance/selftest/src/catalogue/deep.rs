//! SDDMM past what a warp, a block or a buffer takes: the inner extent, the positions of a row, all positions.
//!
//! ```text
//! X_i . Y_j over k = 100:  32 lanes x 3 steps + a tail of 4
//! ```

use super::super::bug::symptom::{UNWRITTEN, VALUE};
use super::super::bug::{Bug, Effect, Family};
use super::super::dense::{after, offset};
use super::super::edit::gathered;
use super::legal;
use super::sddmm::{cut, positions, rows_of_y};
use sparse_conformance_core::backend::Failure;
use sparse_conformance_core::case::Case;
use sparse_oracle::contract::{Contract, Op};
use sparse_oracle::task::{Answer, SddmmMode, Task};

const F: Family = Family::Sddmm;

fn any(case: &Case) -> bool {
    legal(case, Op::Sddmm)
}

/// Cases in which the inner product shows.
fn multiplied(case: &Case) -> bool {
    any(case) && case.params.alpha != 0.0
}

pub(super) static BUGS: &[Bug] = &[
    inner("sddmm: inner extent of 32 at most", "one step of a warp", |c, t| cut(c, t, |k| k.min(32))),
    inner("sddmm: inner extent of 64 at most", "two rows of 64 in shared memory", |c, t| {
        cut(c, t, |k| k.min(64))
    }),
    inner("sddmm: inner extent of 128 at most", "four elements a lane in registers", |c, t| {
        cut(c, t, |k| k.min(128))
    }),
    inner("sddmm: inner extent of 256 at most", "eight elements a lane in registers", |c, t| {
        cut(c, t, |k| k.min(256))
    }),
    inner(
        "sddmm: tail after steps of 32",
        "past 32, what is left over after whole steps of a warp is forgotten",
        |c, t| cut(c, t, |k| if k > 32 { k / 32 * 32 } else { k }),
    ),
    inner(
        "sddmm: tail of vectors past 64",
        "the kernel for deep products loads vectors of 4, and no tail",
        |c, t| cut(c, t, |k| if k > 64 { k / 4 * 4 } else { k }),
    ),
    inner(
        "sddmm: inner extent of 512 in nine bits",
        "an inner extent of 512 and more is taken modulo 512",
        |c, t| cut(c, t, |k| k & 0x1ff),
    ),
    Bug::new(
        F,
        "sddmm: alpha forgotten past 128",
        "the kernel for deep products adds its halves and stores the sum",
        |c| multiplied(c) && c.params.alpha != 1.0,
        Effect::Request(|t| {
            if let Task::Sddmm { x, alpha, .. } = t
                && x.cols > 128
            {
                *alpha = 1.0;
            }
        }),
        &[VALUE],
    ),
    Bug::new(
        F,
        "sddmm: mode forgotten past 64",
        "the kernel for deep products knows a pattern only",
        |c| any(c) && c.params.mode != SddmmMode::Pattern,
        Effect::Request(|t| {
            if let Task::Sddmm { x, mode, .. } = t
                && x.cols > 64
            {
                *mode = SddmmMode::Pattern;
            }
        }),
        &[VALUE],
    ),
    inner("sddmm: row of Y in 12 bits", "row j of Y is row j modulo 4096", |c, t| {
        rows_of_y(c, t, |j, _| j & 0xfff)
    }),
    Bug::new(
        F,
        "sddmm: row of X in 10 bits",
        "row i of X is row i modulo 1024",
        multiplied,
        Effect::Right(|x| gathered(x, |i, k| offset(x.layout, x.ld, i & 0x3ff, k))),
        &[VALUE],
    ),
    left("sddmm: only the first 1,024 positions", "one position a thread of one block", |c, t| {
        leaves(c, t, |_, p| p >= 1024)
    }),
    left("sddmm: only the first 65,536 positions", "256 blocks of 256 threads", |c, t| {
        leaves(c, t, |_, p| p >= 1 << 16)
    }),
    left("sddmm: positions of a row past 256", "one position a thread of the block of its row", |c, t| {
        leaves(c, t, |first, p| p - first >= 256)
    }),
];

const fn inner(
    name: &'static str,
    story: &'static str,
    run: fn(&Contract, Task<'_>) -> Result<Answer, Failure>,
) -> Bug {
    Bug::new(F, name, story, multiplied, Effect::Runs(run), &[VALUE])
}

/// Positions that no thread is started for.
const fn left(
    name: &'static str,
    story: &'static str,
    run: fn(&Contract, Task<'_>) -> Result<Answer, Failure>,
) -> Bug {
    Bug::new(F, name, story, any, Effect::Runs(run), &[UNWRITTEN])
}

/// The honest result, positions left as they were: told the number of the first position of its row, and its own.
fn leaves(
    contract: &Contract,
    task: Task<'_>,
    left: impl Fn(usize, usize) -> bool,
) -> Result<Answer, Failure> {
    let (mut first, mut row) = (0, None);
    let mut lost = Vec::new();
    for (p, at) in positions(&task).into_iter().enumerate() {
        if row != Some(at.0) {
            (first, row) = (p, Some(at.0));
        }
        lost.push(left(first, p));
    }
    after(contract, task, |d| d.leave(|_, p, _| lost[p]))
}
