//! NM-SpMM: a column of the result takes the w compressed rows in ascending order.
//!
//! ```text
//! C[i][j] = sum over u < w of A[i][row(u, j / L)] * B'[u][j]        f32: a chain; tensor cores: k of them an instruction
//! ```
//!
//! Equation (1) as corrected (clause 10.12) and listing 1. A window is filled up to N vectors, and those slots are multiplied; rows past
//! the end meet zeros. Windows that store less than N vectors are what pruning leaves of a sparse pattern.

use super::{Lane, Term};
use crate::error::GoldenError;
use sparse_oracle::format::{Entries, FormatKind, FormatParams, Nm, PAD};
use sparse_oracle::op::prune;
use sparse_oracle::prelude::*;
use sparse_oracle::scalar::Scalar;

/// One lane a column, on tensor cores or not.
pub(super) fn lanes<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    tensor_cores: bool,
) -> Result<Vec<Lane>, GoldenError> {
    let m = Nm::from_entries_with(&prune(entries, FormatKind::Nm, params)?, params)?;
    let stride = m.cols.div_ceil(m.l) * m.l;
    let w = m.rows.div_ceil(m.m) * m.n;
    let lane = |index: usize| {
        let term = |u: usize| {
            let row = m.row(u, index / m.l);
            let row = if row < m.rows { row as u32 } else { PAD };
            (row, m.values[u * stride + index].bits64())
        };
        let terms: Vec<Term> = (0..w).map(term).collect();
        if tensor_cores {
            return Lane { index, tiles: terms, ..Lane::default() };
        }
        // A step of 0 * 0 changes nothing; one of 0 * a neither, but it is what the kernel does.
        let rest = terms.into_iter().filter(|&(row, _)| row != PAD).collect();
        Lane { index, rest, ..Lane::default() }
    };
    Ok((0..m.cols).map(lane).collect())
}
