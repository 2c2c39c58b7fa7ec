//! Whether samples determine the model, exactly: the rank of the rows (1, x, y, x^2, y^2) modulo two primes.
//!
//! Rank 5 modulo a prime needs a minor of order 5 that is no multiple of it, so it is never above the true rank. With x and y
//! up to 2^10 such a minor is below `5! * 2^(10 + 10 + 20 + 20) < 2^67`: one that is a multiple of both primes, whose
//! product is above 2^91, is 0.

use super::Sample;

const PRIMES: [u128; 2] = [(1 << 61) - 1, (1 << 31) - 1];

/// True when the five coefficients are determined. Thread counts are at most 2^10.
pub(super) fn is_full(samples: &[Sample]) -> bool {
    PRIMES.into_iter().any(|p| rank(samples, p) == 5)
}

/// By elimination; the basis has at most one row for each leading column.
fn rank(samples: &[Sample], p: u128) -> usize {
    let mut basis: [Option<[u128; 5]>; 5] = [None; 5];
    for s in samples {
        let (x, y) = (u128::from(s.csr_threads), u128::from(s.tile_threads));
        let mut row = [1, x, y, x * x % p, y * y % p];
        for lead in 0..5 {
            if row[lead] == 0 {
                continue;
            }
            let Some(known) = basis[lead] else {
                basis[lead] = Some(row);
                break;
            };
            let (mine, theirs) = (row[lead], known[lead]);
            for (r, k) in row.iter_mut().zip(known) {
                *r = (*r * theirs + (p - mine) * k) % p;
            }
        }
    }
    basis.iter().flatten().count()
}
