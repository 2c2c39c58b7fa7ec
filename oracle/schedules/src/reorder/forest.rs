//! The minimum spanning forest of the neighbour graph, and the order in which depth-first search meets its rows.
//!
//! Edges are ordered by (cost, smaller id, larger id), all different, so that the forest is the only one that is least,
//! whoever finds it. A row without neighbours is a tree by itself.

use super::neighbours::Nearest;
use super::similarity::units;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An edge: cost in units of 2^-53, smaller id, larger id.
type Edge = (u64, u32, u32);

/// All rows: trees by their smallest row, each depth first from there, children by (cost, id).
pub(super) fn depth_first(rows: usize, nearest: &Nearest) -> Vec<u32> {
    let edges = graph(rows, nearest);
    let children = Children::new(rows, prim(&Graph::new(rows, &edges)));
    let mut order = Vec::with_capacity(rows);
    let mut stack = Vec::new();
    for root in 0..rows as u32 {
        if children.is_root[root as usize] {
            stack.push(root);
        }
        while let Some(row) = stack.pop() {
            order.push(row);
            stack.extend(children.of(row).rev());
        }
    }
    order
}

/// Every row and its nearest, as edges: two rows are joined if either is among the nearest of the other.
fn graph(rows: usize, nearest: &Nearest) -> Vec<Edge> {
    let mut edges = Vec::new();
    for row in 0..rows as u32 {
        for &(similarity, other) in nearest.of(row) {
            edges.push((units(similarity), row.min(other), row.max(other)));
        }
    }
    edges.sort_unstable();
    // Similarity is symmetric, bit for bit: an edge found from both sides is found twice alike.
    edges.dedup();
    edges
}

/// The edges at each row.
struct Graph<'a> {
    edges: &'a [Edge],
    starts: Vec<usize>,
    at: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new(rows: usize, edges: &'a [Edge]) -> Graph<'a> {
        let mut starts = vec![0usize; rows + 1];
        for &(_, low, high) in edges {
            starts[low as usize + 1] += 1;
            starts[high as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut at = vec![0; 2 * edges.len()];
        for (number, &(_, low, high)) in edges.iter().enumerate() {
            for row in [low, high] {
                at[next[row as usize]] = number as u32;
                next[row as usize] += 1;
            }
        }
        Graph { edges, starts, at }
    }

    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn edges_at(&self, row: u32) -> impl Iterator<Item = Edge> {
        let range = self.starts[row as usize]..self.starts[row as usize + 1];
        self.at[range].iter().map(|&number| self.edges[number as usize])
    }
}

/// Prim's algorithm from the smallest row not reached yet: (parent, cost, child) of every edge of the forest.
fn prim(graph: &Graph<'_>) -> Vec<(u32, u64, u32)> {
    let mut reached = vec![false; graph.rows()];
    let mut forest = Vec::new();
    let mut frontier = BinaryHeap::new();
    for root in 0..graph.rows() as u32 {
        if reached[root as usize] {
            continue;
        }
        reached[root as usize] = true;
        frontier.extend(graph.edges_at(root).map(Reverse));
        while let Some(Reverse((cost, low, high))) = frontier.pop() {
            let (parent, child) = if reached[low as usize] { (low, high) } else { (high, low) };
            if reached[child as usize] {
                continue;
            }
            reached[child as usize] = true;
            forest.push((parent, cost, child));
            frontier.extend(graph.edges_at(child).map(Reverse));
        }
    }
    forest
}

/// The children of each row, by (cost, id).
struct Children {
    edges: Vec<(u32, u64, u32)>,
    is_root: Vec<bool>,
}

impl Children {
    fn new(rows: usize, mut edges: Vec<(u32, u64, u32)>) -> Children {
        edges.sort_unstable();
        let mut is_root = vec![true; rows];
        for &(_, _, child) in &edges {
            is_root[child as usize] = false;
        }
        Children { edges, is_root }
    }

    fn of(&self, row: u32) -> impl DoubleEndedIterator<Item = u32> {
        let start = self.edges.partition_point(|e| e.0 < row);
        let end = self.edges.partition_point(|e| e.0 <= row);
        self.edges[start..end].iter().map(|e| e.2)
    }
}
