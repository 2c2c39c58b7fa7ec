//! Solves for the row lengths of a published matrix.
//!
//! ```text
//! shortest x 1 | body: (rows - 2 - spread) rows, mean solved | spread: one quantity solved | longest x 1
//! ```
//!
//! For each value of the spread (the length of the hubs, or the number of rows in the tail) the body is built to
//! make rows and entries exact; the spread is then found by bisection so that the standard deviation is met. All of
//! it is integer arithmetic on histograms: no row is touched, whatever the size of the matrix.

use super::histogram::Histogram;
use super::table::{Body, COUNT, PUBLISHED, Published, Spread};
use std::sync::OnceLock;

/// The row lengths of row `index` of the table; solved once.
pub(super) fn of(index: usize) -> &'static Histogram {
    static SOLVED: [OnceLock<Histogram>; COUNT] = [const { OnceLock::new() }; COUNT];
    SOLVED[index].get_or_init(|| solve(&PUBLISHED[index]))
}

/// Bisects for the spread whose sum of squares is nearest to the published one.
fn solve(published: &Published) -> Histogram {
    let target = squares_of(published);
    let (mut low, mut high) = (0, highest_spread(published));
    while low < high {
        let middle = low + (high - low) / 2;
        // A spread that leaves no legal body is too large.
        if with_spread(published, middle).is_none_or(|found| found.squares() >= target) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let candidates = [low.saturating_sub(1), low].into_iter().filter_map(|at| with_spread(published, at));
    candidates.min_by_key(|found| found.squares().abs_diff(target)).unwrap_or_default()
}

/// Sum of squared lengths that the printed standard deviation stands for.
fn squares_of(published: &Published) -> u128 {
    let hundredths: u128 = published.deviation.replace('.', "").parse().unwrap_or(0);
    let (rows, nnz) = (u128::from(published.rows), u128::from(published.nnz));
    rows * hundredths * hundredths / 10_000 + nnz * nnz / rows
}

fn highest_spread(published: &Published) -> u64 {
    match published.spread {
        Spread::Hubs(_) => published.longest.into(),
        Spread::Tail { .. } => published.rows.into(),
    }
}

/// Lengths with the spread set to `amount`, rows and entries exact; None when the body cannot make them so.
fn with_spread(published: &Published, amount: u64) -> Option<Histogram> {
    let ends = Histogram::new(vec![(published.shortest, 1), (published.longest, 1)]);
    let spread = match published.spread {
        Spread::Hubs(count) => Histogram::new(vec![(amount as u32, u64::from(count))]),
        Spread::Tail { low, high, power } => {
            let weight = |length: u32| (1u64 << 48) / u64::from(length).pow(power);
            let weights: Vec<_> = (low..=high).map(|length| (length, weight(length))).collect();
            Histogram::share_out(amount, &weights)
        }
    };
    let fixed = ends.merge(spread);
    let rows = u64::from(published.rows).checked_sub(fixed.rows())?;
    let entries = u64::from(published.nnz).checked_sub(fixed.entries())?;
    Some(fixed.merge(body(published, rows, entries)?))
}

/// `rows` rows of the body's shape that hold exactly `entries`.
fn body(published: &Published, rows: u64, entries: u64) -> Option<Histogram> {
    let (shortest, longest) = (published.shortest, published.longest);
    let steps = match published.body {
        Body::Near(_) => 16,
        Body::Decay(_) => 1,
    };
    let (mut low, mut high) = (0, u64::from(longest - shortest) * steps);
    // The largest position whose mean does not exceed the wanted one.
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if mean_at_most(&weights(published, middle), rows, entries) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Histogram::share_out(rows, &weights(published, low)).drift_to(entries, shortest, longest)
}

/// Weights of lengths with the body at a position: a centre in sixteenths, or a longest length.
fn weights(published: &Published, position: u64) -> Vec<(u32, u64)> {
    let shortest = published.shortest;
    match published.body {
        Body::Near(half_width) => {
            let centre = u64::from(shortest) * 16 + position;
            let reach = u64::from(half_width) * 16 + 16;
            let first = (centre.saturating_sub(reach) / 16).max(u64::from(shortest));
            let last = ((centre + reach) / 16).min(u64::from(published.longest));
            (first..=last)
                .map(|length| (length as u32, reach.saturating_sub(centre.abs_diff(length * 16))))
                .collect()
        }
        Body::Decay(offset) => {
            let weight = |above: u32| (1u64 << 32) / u64::from(above + offset);
            (0..=position as u32).map(|above| (shortest + above, weight(above))).collect()
        }
    }
}

fn mean_at_most(weights: &[(u32, u64)], rows: u64, entries: u64) -> bool {
    let total: u128 = weights.iter().map(|&(_, weight)| u128::from(weight)).sum();
    let moment: u128 = weights.iter().map(|&(length, weight)| u128::from(length) * u128::from(weight)).sum();
    moment * u128::from(rows) <= u128::from(entries) * total
}
