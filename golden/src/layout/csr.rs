//! CSR on CUDA cores: a chain over the stored entries of a row, ascending.

use super::{Lane, stored};
use crate::error::GoldenError;
use sparse_oracle::format::{Csr, Entries};
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

/// One lane a row.
pub(super) fn lanes<T: Scalar>(entries: &Entries<T>) -> Result<Vec<Lane>, GoldenError> {
    let csr = Csr::from_entries(entries)?;
    let lane = |index| {
        let (cols, values) = csr.row(index);
        Lane { index, rest: stored(cols, values), ..Lane::default() }
    };
    Ok((0..csr.rows).map(lane).collect())
}
