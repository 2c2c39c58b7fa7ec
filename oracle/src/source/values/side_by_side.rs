//! Values that take three draws each, drawn side by side: the same ones as one after another.
//!
//! ```text
//! values   | piece 0: half | half | piece 1: half | half | ..      pieces on all threads;
//! stream   ^ 0             ^ ahead of it                           in a piece two streams take turns
//! ```
//!
//! A draw waits for the one before it in its stream, so that two streams together take hardly longer than one.

use crate::source::random::Random;
use rayon::prelude::*;

/// Values of a piece.
const PIECE: usize = 1 << 16;

/// Draws that a value takes: as many as [`Range::normal`](super::range::Range::normal) makes, which a test checks.
const DRAWS: u64 = 3;

/// Fills `values`; `random` is then as far as after drawing them one by one.
pub(super) fn fill<T: Send>(values: &mut [T], random: &mut Random, value: impl Fn(&mut Random) -> T + Sync) {
    let n = values.len();
    let start = &*random;
    let piece = |(number, values): (usize, &mut [T])| {
        fill_piece(values, start.ahead((number * PIECE) as u64 * DRAWS), &value);
    };
    if n <= PIECE {
        piece((0, values));
    } else {
        values.par_chunks_mut(PIECE).enumerate().for_each(piece);
    }
    *random = random.ahead(n as u64 * DRAWS);
}

#[inline(always)]
fn fill_piece<T>(values: &mut [T], mut first: Random, value: &impl Fn(&mut Random) -> T) {
    let half = values.len() / 2;
    let mut second = first.ahead(half as u64 * DRAWS);
    let (left, right) = values.split_at_mut(half);
    let (pairs, rest) = right.split_at_mut(half);
    for (left, right) in left.iter_mut().zip(pairs) {
        (*left, *right) = (value(&mut first), value(&mut second));
    }
    rest.iter_mut().for_each(|to| *to = value(&mut second));
}
