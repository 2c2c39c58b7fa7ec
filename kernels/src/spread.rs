//! Pieces of work on all threads. What they compute does not depend on how many there are.
//!
//! ```text
//! pieces  0 1 2 | 3 4 5 | 6 7 8     cut into spans, several for each thread
//! ```
//!
//! Here, only [`spread`] has rayon run anything, by a function pointer. A generic function that calls rayon is compiled together with a
//! good part of rayon, for each type of element: that was a fifth of the code of this crate.

use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Spans for each thread: enough for threads to even out.
const SPANS: usize = 8;

/// Calls `work` with spans that make up `0..count`.
pub(crate) fn spread(count: usize, work: &(dyn Fn(Range<usize>) + Sync)) {
    let spans = count.min(SPANS * rayon::current_num_threads());
    (0..spans)
        .into_par_iter()
        .with_max_len(1)
        .for_each(|at| work(at * count / spans..(at + 1) * count / spans));
}

/// Calls `work` with the number and the elements of each piece of `length` elements; the last may be shorter.
///
/// # Panics
/// If `length` is 0.
pub(crate) fn each_piece<T: Send>(data: &mut [T], length: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let pieces: Vec<Mutex<&mut [T]>> = data.chunks_mut(length).map(Mutex::new).collect();
    spread(pieces.len(), &|span| {
        for number in span {
            work(number, &mut pieces[number].lock().unwrap_or_else(PoisonError::into_inner));
        }
    });
}

/// What `value` makes of each element, in their order; in pieces of at least `smallest` elements, on one thread if that is one piece.
pub(crate) fn mapped<I: Sync, T: Copy + Send>(
    from: &[I],
    smallest: usize,
    value: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    if from.len() <= smallest {
        return from.iter().map(value).collect();
    }
    let length = smallest.max(from.len().div_ceil(SPANS * rayon::current_num_threads()));
    let mut to = Vec::with_capacity(from.len());
    each_piece(&mut to.spare_capacity_mut()[..from.len()], length, |number, to| {
        for (to, from) in to.iter_mut().zip(&from[number * length..]) {
            to.write(value(from));
        }
    });
    #[expect(unsafe_code, reason = "elements that were written in place, in pieces")]
    // SAFETY: the pieces make up the first `from.len()` elements, which are within the capacity; piece `number` starts at element
    // `number * length`, from where on `from` has at least as many elements as the piece, so that each of the piece was written.
    unsafe {
        to.set_len(from.len());
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many threads as there are, or not: each element once, in its place.
    #[test]
    fn every_element_is_mapped_once_in_its_place() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            for (count, smallest) in [(0, 1), (1, 1), (2, 1), (100, 7), (1000, 999), (1001, 1), (4096, 64)] {
                let from: Vec<u32> = (0..count).collect();
                let expected: Vec<u64> = from.iter().map(|&x| 3 * u64::from(x) + 1).collect();
                let found = pool.install(|| mapped(&from, smallest, |&x| 3 * u64::from(x) + 1));
                assert_eq!(found, expected, "{count} by {smallest}, {threads} threads");
            }
        }
    }

    #[test]
    fn pieces_are_numbered_and_the_last_is_shorter() {
        let mut data = [0usize; 23];
        each_piece(&mut data, 5, |number, piece| {
            let count = piece.len();
            piece.fill(10 * number + count);
        });
        let expected: Vec<usize> = (0..23).map(|at| 10 * (at / 5) + if at < 20 { 5 } else { 3 }).collect();
        assert_eq!(data.as_slice(), expected);
        each_piece(&mut data[..0], 5, |_, _| unreachable!("there is no piece"));
    }
}
