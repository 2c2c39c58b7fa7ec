//! The arrays of a matrix as a result would carry them.

use super::convert::SparseCodec;
use super::{AnySparse, FormatKind, FormatParams, Parts, PartsElement, Sparse};
use crate::scalar::Element;
use crate::task::{Answer, RawSparse};

/// The arrays of a matrix.
pub trait RawOf<M> {
    /// The arrays of a general format as they are; a matrix in a format of the papers, whose arrays do not fit here, as its entries in
    /// COO.
    fn of(matrix: M) -> Self;
}

impl RawOf<AnySparse> for RawSparse {
    fn of(matrix: AnySparse) -> RawSparse {
        crate::each_sparse!(matrix, m => RawSparse::of(m))
    }
}

impl<T: Element + PartsElement> RawOf<Sparse<T>> for RawSparse {
    fn of(matrix: Sparse<T>) -> RawSparse {
        let (rows, cols) = matrix.shape();
        if FormatKind::GENERAL.contains(&matrix.kind()) {
            return match Answer::from_parts(Parts::from(matrix)) {
                Ok(Answer::Sparse(raw)) => raw,
                // A constructor has checked that block sides fit, and these formats are all general.
                _ => unreachable!("a general format has raw arrays"),
            };
        }
        let list = matrix.entries().list;
        RawSparse {
            kind: FormatKind::Coo,
            rows,
            cols,
            params: FormatParams::default(),
            width: 0,
            offsets: list.iter().map(|e| e.row).collect(),
            indices: list.iter().map(|e| e.col).collect(),
            values: T::wrap(list.iter().map(|e| e.value).collect()),
        }
    }
}
