//! COO: triples in any order, grouped into lanes first; a position stored more than once becomes one entry, the exact
//! sum rounded once to the element type.
//!
//! ```text
//! triples by lane (counting sort, stable)  ->  each lane by index (stable)  ->  runs of one index summed
//! ```

use super::{LaneFormat, Lanes};
use crate::portable::element::Stored;
use crate::portable::exact_sum::ExactSum;
use crate::portable::request::wrong_format;
use crate::portable::unit::Separate;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// Marks kernels for COO.
#[derive(Debug)]
pub(crate) struct AsCoo;

impl LaneFormat for AsCoo {
    const KIND: FormatKind = FormatKind::Coo;
    const BY_ROWS: bool = true;
    const PADS: Pads = Pads::Skipped;
    type Spmm = Separate;

    fn lanes<T: Stored>(matrix: &Sparse<T>) -> Result<impl Lanes<T>, Refusal> {
        let Sparse::Coo(coo) = matrix else {
            return Err(wrong_format("A", Self::KIND, matrix.kind()));
        };
        Ok(group(coo.rows, &coo.row_idx, &coo.col_idx, &coo.values))
    }
}

/// Compressed lanes without duplicates.
#[derive(Debug)]
pub(crate) struct Grouped<T> {
    /// `lanes + 1` offsets.
    pub(crate) ptr: Vec<u32>,
    /// Index inside the lane, ascending.
    pub(crate) index: Vec<u32>,
    /// Values.
    pub(crate) values: Vec<T>,
}

impl<T: Copy> Lanes<T> for Grouped<T> {
    #[inline]
    fn walk(&self, lane: usize, mut visit: impl FnMut(usize, T)) {
        let range = self.ptr[lane] as usize..self.ptr[lane + 1] as usize;
        for (&index, &value) in self.index[range.clone()].iter().zip(&self.values[range]) {
            visit(index as usize, value);
        }
    }
}

/// Groups triples by `major`, sorts each lane by `minor`, and settles duplicates. Allocates `lanes + 1` offsets: the
/// caller bounds `lanes`.
pub(crate) fn group<T: Stored>(lanes: usize, major: &[u32], minor: &[u32], values: &[T]) -> Grouped<T> {
    let mut next = vec![0u32; lanes + 1];
    for &lane in major {
        next[lane as usize + 1] += 1;
    }
    for lane in 0..lanes {
        next[lane + 1] += next[lane];
    }
    let mut order = vec![0u32; major.len()];
    for (triple, &lane) in major.iter().enumerate() {
        let slot = &mut next[lane as usize];
        order[*slot as usize] = triple as u32;
        *slot += 1;
    }
    // Each offset has moved to the end of its lane.
    let mut grouped = Grouped {
        ptr: Vec::with_capacity(lanes + 1),
        index: Vec::with_capacity(major.len()),
        values: Vec::with_capacity(major.len()),
    };
    grouped.ptr.push(0);
    let mut start = 0;
    for &end in &next[..lanes] {
        let lane = &mut order[start..end as usize];
        lane.sort_by_key(|&triple| minor[triple as usize]);
        for run in lane.chunk_by(|&a, &b| minor[a as usize] == minor[b as usize]) {
            grouped.index.push(minor[run[0] as usize]);
            grouped.values.push(settle(run, values));
        }
        grouped.ptr.push(grouped.index.len() as u32);
        start = end as usize;
    }
    grouped
}

/// The one entry that the triples of a run stand for. A single triple keeps its bits, and so do minus zeros alone.
fn settle<T: Stored>(run: &[u32], values: &[T]) -> T {
    let terms = || run.iter().map(|&triple| values[triple as usize].to_f64());
    let first = values[run[0] as usize];
    if run.len() == 1 || terms().all(|x| x == 0.0 && x.is_sign_negative()) {
        return first;
    }
    T::round_sum(&ExactSum::of(terms()))
}
