//! Values that take three draws each, drawn side by side: the same ones as one after another.
//!
//! ```text
//! values   | piece 0: quarter | quarter | quarter | quarter | piece 1: ..      pieces on all threads;
//! stream   ^ 0                ^ ahead   ^ ahead   ^ ahead                      in a piece four streams take turns
//! ```
//!
//! A draw waits for the one before it in its stream, so that four streams together take hardly longer than one.

use crate::source::random::Random;
use rayon::prelude::*;

/// Values of a piece.
const PIECE: usize = 1 << 16;

/// Streams that take turns.
const STREAMS: usize = 4;

/// Draws that a value takes.
const DRAWS: u64 = 3;

/// `n` values; `random` is then as far as after drawing them one by one.
pub(super) fn fill(n: usize, random: &mut Random, value: impl Fn(&mut Random) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; n];
    let start = &*random;
    let piece = |(number, values): (usize, &mut [f64])| {
        fill_piece(values, start.ahead((number * PIECE) as u64 * DRAWS), &value);
    };
    if n <= PIECE {
        piece((0, &mut values));
    } else {
        values.par_chunks_mut(PIECE).enumerate().for_each(piece);
    }
    *random = random.ahead(n as u64 * DRAWS);
    values
}

#[inline(always)]
fn fill_piece(values: &mut [f64], start: Random, value: &impl Fn(&mut Random) -> f64) {
    let quarter = values.len() / STREAMS;
    let (first, rest) = values.split_at_mut(quarter);
    let (second, rest) = rest.split_at_mut(quarter);
    let (third, fourth) = rest.split_at_mut(quarter);
    let mut streams: [Random; STREAMS] =
        std::array::from_fn(|stream| start.ahead((stream * quarter) as u64 * DRAWS));
    for i in 0..quarter {
        let [a, b, c, d] = &mut streams;
        (first[i], second[i], third[i], fourth[i]) = (value(a), value(b), value(c), value(d));
    }
    fourth[quarter..].iter_mut().for_each(|to| *to = value(&mut streams[STREAMS - 1]));
}
