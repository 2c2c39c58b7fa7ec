//! N:M as lists of terms: pads inside the matrix are terms of value +0.
//!
//! ```text
//! transposed     list of column j:  rows of W ascending, (row of B that u meets, W[u][j])
//! as stored      list of row i:     groups of columns ascending, those whose window names i, (column, value) of its vector
//! ```

use super::cut::{height, met};
use crate::cuda::listed::TermLists;
use crate::portable::element::Stored;
use sparse_types::format::NmParts;
use sparse_types::refusal::Refusal;

/// The terms of op(A).
pub(super) fn lists<T: Stored>(m: &NmParts<T>, transpose: bool) -> Result<TermLists<T>, Refusal> {
    let groups = m.cols.div_ceil(m.l);
    let vectors = (0..groups).flat_map(|group| (0..height(m)).map(move |u| (group, u)));
    let met = vectors.filter_map(|(group, u)| Some((group, u, met(m, u, group)?)));
    let terms = met.flat_map(|(group, u, row)| {
        let vector = &m.values[(u * groups + group) * m.l..][..m.l];
        let columns = (group * m.l..m.cols).zip(vector);
        columns.map(move |(col, &value)| (row as u32, col as u32, value))
    });
    TermLists::of((m.rows, m.cols), transpose, terms, T::from_bits64(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orientations_of_a_small_matrix() {
        // Window 0 keeps rows 0 and 2 (group 0), 1 and 2 (group 1); window 1 rows 3 and 4, of which row 4 does not exist.
        let m = NmParts {
            rows: 4,
            cols: 3,
            n: 2,
            m: 3,
            l: 2,
            index: vec![0, 1, 2, 2, 0, 0, 1, 1],
            values: vec![1.0f32, 2.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        };
        let turned = lists(&m, true).expect("small");
        assert_eq!(turned.ptr, [0, 3, 6, 9]);
        assert_eq!(turned.index, [0, 2, 3, 0, 2, 3, 1, 2, 3]);
        assert_eq!(turned.values, [1.0, 4.0, 6.0, 2.0, 0.0, 7.0, 3.0, 5.0, 0.0]);
        let stored = lists(&m, false).expect("small");
        assert_eq!(stored.ptr, [0, 2, 3, 6, 9]);
        assert_eq!(stored.index, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(stored.values, [1.0, 2.0, 3.0, 4.0, 0.0, 5.0, 6.0, 7.0, 0.0]);
    }
}
