//! 2-opt: turning a piece of the order around where that is cheaper.
//!
//! ```text
//! window of positions 8..16:   ... p | a b c d e f g h | q ...       turning b c d:  p | a d c b e f g h | q
//!                                      costs that change: (a,b) (d,e)  ->  (a,d) (b,e)
//! ```
//!
//! Pieces lie inside one window; costs reach its outer neighbours p and q, so that no turn makes the whole order cost
//! more. Windows come one after another, once each. In a window the first turn that is cheaper, by first and then last
//! position, is made, and the search starts over until there is none.

use super::REFINED;
use super::similarity::RowPatterns;

/// Refines an order in place.
pub(super) fn two_opt(rows: &RowPatterns<'_>, order: &mut [u32]) {
    for start in (0..order.len()).step_by(REFINED) {
        let end = order.len().min(start + REFINED);
        // The window with its outer neighbours, as far as there are any.
        let (low, high) = (start.saturating_sub(1), order.len().min(end + 1));
        let costs = Costs::new(rows, &order[low..high]);
        let mut places: Vec<usize> = (0..high - low).collect();
        let inside = start - low..end - low;
        while let Some((first, last)) = improvement(&costs, &places, inside.clone()) {
            places[first..=last].reverse();
        }
        let before = order[low..high].to_vec();
        for (slot, &place) in order[low..high].iter_mut().zip(&places) {
            *slot = before[place];
        }
    }
}

/// Costs between some rows.
struct Costs {
    rows: usize,
    table: Vec<u64>,
}

impl Costs {
    fn new(rows: &RowPatterns<'_>, some: &[u32]) -> Costs {
        let mut table = vec![0; some.len() * some.len()];
        for (i, &a) in some.iter().enumerate() {
            for (j, &b) in some.iter().enumerate().skip(i + 1) {
                let cost = rows.cost(a, b);
                table[i * some.len() + j] = cost;
                table[j * some.len() + i] = cost;
            }
        }
        Costs { rows: some.len(), table }
    }

    /// The cost between two places of the list; 0 where there is no row.
    fn between(&self, a: Option<&usize>, b: Option<&usize>) -> u64 {
        a.zip(b).map_or(0, |(&a, &b)| self.table[a * self.rows + b])
    }
}

/// The first piece inside `window` that costs less turned around: its first and last position.
fn improvement(costs: &Costs, order: &[usize], window: std::ops::Range<usize>) -> Option<(usize, usize)> {
    let pairs = window.clone().flat_map(|first| (first + 1..window.end).map(move |last| (first, last)));
    let cheaper = |&(first, last): &(usize, usize)| {
        let before = first.checked_sub(1).and_then(|i| order.get(i));
        let (head, tail, after) = (order.get(first), order.get(last), order.get(last + 1));
        let now = costs.between(before, head) + costs.between(tail, after);
        costs.between(before, tail) + costs.between(head, after) < now
    };
    pairs.into_iter().find(cheaper)
}
