//! Weighted Jaccard similarity of two rows.
//!
//! Sums run over ascending columns, from 0, in f64: two numbers are equal bit for bit whoever computes them. Since a sum
//! is a chain, the union of a long row and one that adds no column before some place starts with the long row's own
//! running sum, which is stored; that is all that is done about speed.

use super::COST_ONE;
use sparse_oracle::format::Csr;

/// The pattern of a matrix with what similarities need.
#[derive(Debug)]
pub(super) struct RowPatterns<'a> {
    row_ptr: &'a [u32],
    /// Rank of each entry's column among the columns that have entries: as ordered, but without gaps.
    ranks: Vec<u32>,
    /// Entries of each such column.
    degree: Vec<u32>,
    /// `1 / degree`.
    weight: Vec<f64>,
    /// Sum of the weights of a row, up to and including each entry.
    running: Vec<f64>,
}

impl<'a> RowPatterns<'a> {
    pub(super) fn new<T>(matrix: &'a Csr<T>) -> RowPatterns<'a> {
        let mut columns = matrix.col_idx.clone();
        columns.sort_unstable();
        let degree: Vec<u32> = columns.chunk_by(|a, b| a == b).map(|c| c.len() as u32).collect();
        columns.dedup();
        let rank = |col: &u32| columns.partition_point(|c| c < col) as u32;
        let ranks: Vec<u32> = matrix.col_idx.iter().map(rank).collect();
        let weight: Vec<f64> = degree.iter().map(|&d| 1.0 / f64::from(d)).collect();
        let mut running = Vec::with_capacity(ranks.len());
        for ends in matrix.row_ptr.windows(2) {
            let mut sum = 0.0;
            for &rank in &ranks[ends[0] as usize..ends[1] as usize] {
                sum += weight[rank as usize];
                running.push(sum);
            }
        }
        RowPatterns { row_ptr: &matrix.row_ptr, ranks, degree, weight, running }
    }

    /// Number of rows.
    pub(super) fn count(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of columns that have entries.
    pub(super) fn columns(&self) -> usize {
        self.degree.len()
    }

    /// Ranks of the columns of a row, ascending.
    pub(super) fn row(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.ranks[self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize]
    }

    /// Entries of the column of this rank.
    pub(super) fn degree(&self, rank: u32) -> u32 {
        self.degree[rank as usize]
    }

    /// Weight of the column of this rank.
    pub(super) fn weight(&self, rank: u32) -> f64 {
        self.weight[rank as usize]
    }

    /// Weight of a row.
    pub(super) fn total(&self, row: u32) -> f64 {
        self.up_to(row, self.row(row).len())
    }

    /// Weight of the first `count` entries of a row.
    fn up_to(&self, row: u32, count: usize) -> f64 {
        match count.checked_sub(1) {
            Some(last) => self.running[self.row_ptr[row as usize] as usize + last],
            None => 0.0,
        }
    }

    /// What it costs that two rows are neighbours, in units of 2^-53.
    pub(super) fn cost(&self, row: u32, other: u32) -> u64 {
        units(self.similarity(row, other))
    }

    /// The similarity; 0 for rows that share nothing, two empty ones included.
    pub(super) fn similarity(&self, row: u32, other: u32) -> f64 {
        let (short, long) = self.by_length(row, other);
        let (shared, first_alone) = self.shared(short, long);
        if shared == 0.0 {
            return 0.0;
        }
        let all = match first_alone {
            None => self.total(long),
            Some((in_short, in_long)) => self.union(
                self.up_to(long, in_long),
                &self.row(short)[in_short..],
                &self.row(long)[in_long..],
            ),
        };
        shared / all
    }

    /// Weight of the columns that two rows share.
    pub(super) fn shared_weight(&self, row: u32, other: u32) -> f64 {
        let (short, long) = self.by_length(row, other);
        self.shared(short, long).0
    }

    fn by_length(&self, row: u32, other: u32) -> (u32, u32) {
        if self.row(row).len() <= self.row(other).len() { (row, other) } else { (other, row) }
    }

    /// Weight of the columns that two rows share; and where the first column stands that only `short` has: its place
    /// there, and the number of smaller columns of `long`.
    fn shared(&self, short: u32, long: u32) -> (f64, Option<(usize, usize)>) {
        let (short, long) = (self.row(short), self.row(long));
        let (mut sum, mut first_alone, mut from) = (0.0, None, 0);
        for (at, &rank) in short.iter().enumerate() {
            from += step(&long[from..], rank);
            if long.get(from) == Some(&rank) {
                sum += self.weight(rank);
            } else {
                first_alone = first_alone.or(Some((at, from)));
            }
        }
        (sum, first_alone)
    }

    /// Adds the weights of the union of two lanes to `sum`, ascending.
    fn union(&self, mut sum: f64, mut a: &[u32], mut b: &[u32]) -> f64 {
        while let (Some(&left), Some(&right)) = (a.first(), b.first()) {
            sum += self.weight(left.min(right));
            a = &a[usize::from(left <= right)..];
            b = &b[usize::from(right <= left)..];
        }
        a.iter().chain(b).fold(sum, |sum, &rank| sum + self.weight(rank))
    }
}

/// `1 - similarity` in units of 2^-53. Exact: in [0, 1] every such difference is a multiple of that.
pub(super) fn units(similarity: f64) -> u64 {
    ((1.0 - similarity) * COST_ONE as f64) as u64
}

/// How many elements of an ascending lane are below `rank`: doubling steps, then bisection, since the answer is near.
fn step(lane: &[u32], rank: u32) -> usize {
    let mut reach = 1;
    while reach < lane.len() && lane[reach - 1] < rank {
        reach *= 2;
    }
    let reach = reach.min(lane.len());
    lane[..reach].partition_point(|&other| other < rank)
}
