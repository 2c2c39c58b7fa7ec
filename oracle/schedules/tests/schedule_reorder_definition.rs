//! Reordering against its definition: the same steps written the plainest way, all pairs compared, whole orders priced,
//! another spanning-forest algorithm.

use crate::matrices;
use sparse_oracle::prelude::*;

use matrices::patterns;
use proptest::prelude::*;
use sparse_oracle::format::{Csr, Entries, Entry};
use sparse_schedules::reorder::{COST_ONE, adjacent_cost, reorder, similarity};
use std::collections::BTreeSet;

/// The definition (SEMANTICS section 7b).
struct Definition {
    /// Columns of each row.
    rows: Vec<BTreeSet<u32>>,
    /// Similarity of each pair of rows.
    similar: Vec<Vec<f64>>,
    /// The first 256 rows that have each column.
    lists: Vec<Vec<u32>>,
}

impl Definition {
    fn new<T>(entries: &Entries<T>) -> Definition {
        let mut rows = vec![BTreeSet::new(); entries.rows];
        let mut lists = vec![Vec::new(); entries.cols];
        for e in &entries.list {
            rows[e.row as usize].insert(e.col);
            lists[e.col as usize].push(e.row);
        }
        let weight = |col: &u32| 1.0 / lists[*col as usize].len() as f64;
        let sum = |cols: &mut dyn Iterator<Item = &u32>| cols.fold(0.0, |sum, col| sum + weight(col));
        let jaccard = |a: &BTreeSet<u32>, b: &BTreeSet<u32>| {
            if a.is_disjoint(b) {
                return 0.0;
            }
            sum(&mut a.intersection(b)) / sum(&mut a.union(b))
        };
        let similar = rows.iter().map(|a| rows.iter().map(|b| jaccard(a, b)).collect()).collect();
        for list in &mut lists {
            list.truncate(256);
        }
        Definition { rows, similar, lists }
    }

    fn nearest(&self, row: u32, count: usize, allowed: impl Fn(u32) -> bool) -> Vec<u32> {
        let lists = self.rows[row as usize].iter().map(|&col| &self.lists[col as usize]);
        let proposed: BTreeSet<u32> = lists.flatten().copied().collect();
        let mut found: Vec<u32> = proposed.into_iter().filter(|&u| u != row && allowed(u)).collect();
        let similar = &self.similar[row as usize];
        // Stable: equal ones stay by id.
        found.sort_by(|&a, &b| similar[b as usize].total_cmp(&similar[a as usize]));
        found.truncate(count);
        found
    }

    /// Kruskal's algorithm: edges by (cost, ids), those that join two trees.
    fn forest(&self) -> Vec<(u64, u32, u32)> {
        let rows = 0..self.rows.len() as u32;
        let joined = rows.clone().flat_map(|row| {
            let near = self.nearest(row, 8, |_| true);
            near.into_iter().map(move |other| (row.min(other), row.max(other)))
        });
        let mut edges: Vec<(u64, u32, u32)> = joined.map(|(a, b)| (self.cost(a, b), a, b)).collect();
        edges.sort_unstable();
        let mut tree: Vec<u32> = rows.collect();
        edges.retain(|&(_, a, b)| {
            let (from, to) = (tree[a as usize], tree[b as usize]);
            tree.iter_mut().filter(|t| **t == from).for_each(|t| *t = to);
            from != to
        });
        edges
    }

    fn visit(&self, row: u32, forest: &[(u64, u32, u32)], order: &mut Vec<u32>) {
        order.push(row);
        let ends = forest.iter().filter(|e| e.1 == row || e.2 == row);
        let mut children: Vec<(u64, u32)> = ends.map(|e| (e.0, e.1 ^ e.2 ^ row)).collect();
        children.sort_unstable();
        for (_, child) in children {
            if !order.contains(&child) {
                self.visit(child, forest, order);
            }
        }
    }

    fn spanning(&self) -> Vec<u32> {
        let (forest, mut order) = (self.forest(), Vec::new());
        for root in 0..self.rows.len() as u32 {
            if !order.contains(&root) {
                self.visit(root, &forest, &mut order);
            }
        }
        order
    }

    fn cost(&self, a: u32, b: u32) -> u64 {
        let cost = (1.0 - self.similar[a as usize][b as usize]) * COST_ONE as f64;
        assert_eq!(cost.fract(), 0.0, "costs are multiples of 2^-53");
        cost as u64
    }

    fn total(&self, order: &[u32]) -> u128 {
        order.windows(2).map(|w| u128::from(self.cost(w[0], w[1]))).sum()
    }

    fn refined(&self, mut order: Vec<u32>) -> Vec<u32> {
        for start in (0..order.len()).step_by(8) {
            let end = order.len().min(start + 8);
            while let Some(better) = self.first_turn(&order, start, end) {
                order = better;
            }
        }
        order
    }

    fn first_turn(&self, order: &[u32], start: usize, end: usize) -> Option<Vec<u32>> {
        let now = self.total(order);
        for first in start..end {
            for last in first + 1..end {
                let mut turned = order.to_vec();
                turned[first..=last].reverse();
                if self.total(&turned) < now {
                    return Some(turned);
                }
            }
        }
        None
    }

    fn adjusted(&self, mut order: Vec<u32>) -> Vec<u32> {
        let similar = |a: u32, b: u32| self.similar[a as usize][b as usize] > 0.0;
        let fits =
            |order: &[u32], row: u32| order.windows(2).any(|w| w.contains(&row) && similar(w[0], w[1]));
        let isolated: Vec<u32> = order.iter().copied().filter(|&row| !fits(&order, row)).collect();
        for &row in &isolated {
            let rest: Vec<u32> = order.iter().copied().filter(|&other| other != row).collect();
            let with = |at: usize| {
                let mut order = rest.clone();
                order.insert(at, row);
                order
            };
            let place = |of: u32| rest.iter().position(|&other| other == of).expect("is there");
            let moved = match self.nearest(row, 1, |other| !isolated.contains(&other)).first() {
                None => with(rest.len()),
                Some(&fit) => {
                    let (ahead, behind) = (with(place(fit)), with(place(fit) + 1));
                    if self.total(&ahead) < self.total(&behind) { ahead } else { behind }
                }
            };
            if self.total(&moved) <= self.total(&order) {
                order = moved;
            }
        }
        order
    }
}

fn agrees<T: Copy>(entries: &Entries<T>) -> Result<(), TestCaseError> {
    let definition = Definition::new(entries);
    let spanning = definition.spanning();
    let refined = definition.refined(spanning.clone());
    let adjusted = definition.adjusted(refined.clone());
    let matrix = Csr::from_entries(entries).expect("encodes");
    let found = reorder(&matrix);
    prop_assert_eq!(found.spanning.rows(), spanning, "spanning");
    prop_assert_eq!(found.refined.rows(), refined, "refined");
    prop_assert_eq!(found.adjusted.rows(), &adjusted, "adjusted");
    prop_assert_eq!(adjacent_cost(&matrix, &found.adjusted), definition.total(&adjusted));
    if entries.rows > 1 {
        let (a, b) = (adjusted[0], adjusted[1]);
        let expected = definition.similar[a as usize][b as usize];
        prop_assert_eq!(similarity(&matrix, a, b).to_bits(), expected.to_bits());
        prop_assert_eq!(similarity(&matrix, b, a).to_bits(), expected.to_bits());
    }
    Ok(())
}

fn entries_of(cols: usize, lanes: &[BTreeSet<u32>]) -> Entries<()> {
    let list = lanes
        .iter()
        .zip(0..)
        .flat_map(|(lane, row)| lane.iter().map(move |&col| Entry { row, col, value: () }));
    Entries::try_new(lanes.len(), cols, list.collect()).expect("sorted")
}

/// More rows than a list holds. Most have columns 0 and 1, whose lists are cut, and a few of the others, which tell them
/// apart; what two rows share of the first two decides between rows that are equally similar but for that.
fn crowded() -> impl Strategy<Value = Entries<()>> {
    (257usize..320, 3u32..60).prop_flat_map(|(rows, cols)| {
        let some = prop::collection::btree_set(2..cols, 0..4);
        let long = prop::collection::btree_set(2..cols, 0..30);
        let lane =
            (prop_oneof![20 => some, 1 => long], prop::bool::weighted(0.95), prop::bool::weighted(0.9));
        prop::collection::vec(lane, rows).prop_map(move |lanes| {
            let lanes = lanes.into_iter().map(|(mut lane, zero, one)| {
                lane.extend([0, 1].into_iter().zip([zero, one]).filter(|c| c.1).map(|c| c.0));
                lane
            });
            entries_of(cols as usize, &lanes.collect::<Vec<_>>())
        })
    })
}

/// A few long rows and many that share a column or two with them and one another: trees that branch, so that the order
/// jumps, and rows are left beside strangers.
fn branching() -> impl Strategy<Value = Entries<()>> {
    (10usize..60, 10u32..70).prop_flat_map(|(rows, cols)| {
        let leaf = prop::collection::btree_set(0..cols, 0..3);
        let hub = prop::collection::btree_set(0..cols, 6..16.min(cols as usize));
        let lanes = prop::collection::vec(prop_oneof![8 => leaf, 1 => hub], rows);
        lanes.prop_map(move |lanes| entries_of(cols as usize, &lanes))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_matrices_are_reordered_as_defined(entries in patterns()) {
        agrees(&entries)?;
    }

    #[test]
    fn branching_trees_are_reordered_as_defined(entries in branching()) {
        agrees(&entries)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn crowded_columns_are_reordered_as_defined(entries in crowded()) {
        agrees(&entries)?;
    }
}

#[test]
fn a_list_is_cut_after_256_rows() {
    // Rows 0..256 fill the list of column 0, the last of them without another column. Rows 256 and 257 are alike, but
    // column 0 proposes neither to the other.
    let lane = |row: u32| match row {
        255 => BTreeSet::from([0]),
        0..255 => BTreeSet::from([0, row + 2]),
        256.. => BTreeSet::from([0, 1]),
    };
    let mut lanes: Vec<BTreeSet<u32>> = (0..258).map(lane).collect();
    let entries = entries_of(300, &lanes);
    assert_eq!(
        Definition::new(&entries).nearest(256, 3, |_| true),
        [257, 255, 0],
        "column 1 proposes row 257"
    );
    agrees(&entries).expect("as defined");
    lanes[256].remove(&1);
    lanes[257].remove(&1);
    let entries = entries_of(300, &lanes);
    assert_eq!(
        Definition::new(&entries).nearest(256, 3, |_| true),
        [255, 0, 1],
        "column 0 does not, though no rows are more alike"
    );
    agrees(&entries).expect("as defined");
}
