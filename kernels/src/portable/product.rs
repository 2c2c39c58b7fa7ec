//! The loops of SpMM and SpMV, for any format that can be read as lanes.
//!
//! ```text
//! gather, lanes are rows of op(A):       for each row i:  acc[0..n] = sum over the lane of a * B[k, 0..n]; store
//! scatter, lanes are columns of op(A):   for each panel of columns of B:
//!                                          for each lane k:  acc[i, panel] += a * B[k, panel]; then store all rows
//! ```
//!
//! Either way each output element takes its terms in ascending k, starting from +0, and is stored once. Rows without an
//! entry are stored too.

use super::dense::Strided;
use super::element::{Operand, Output};
use super::lanes::{LaneFormat, Lanes};
use super::request::Product;
use super::scaling::Scaling;
use super::unit::{Chain, Unit};
use sparse_types::refusal::Refusal;

/// Columns that `scatter` accumulates at a time: 8 f64 fill a cache line.
const PANEL: usize = 8;

/// Runs a checked product.
pub(crate) fn run<F, S, I, A, O>(request: Product<'_, I, A, O>) -> Result<(), Refusal>
where
    F: LaneFormat,
    S: Chain,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let Product { a, transpose_a, b, scaling, mut c } = request;
    // Nothing to write; and the extents of A are not bounded by any operand then.
    if c.rows == 0 || c.cols == 0 {
        return Ok(());
    }
    if !scaling.reads_product() {
        for i in 0..c.rows {
            for j in 0..c.cols {
                c.update(i, j, |old| scaling.without_product(old));
            }
        }
        return Ok(());
    }
    let lanes = F::lanes(a)?;
    let packed: Vec<A> = b.pack();
    if F::BY_ROWS != transpose_a {
        gather::<S, _, _, _, _>(&lanes, &packed, scaling, &mut c);
    } else {
        scatter::<S, _, _, _, _>(&lanes, &packed, scaling, &mut c);
    }
    Ok(())
}

#[inline(never)]
fn gather<S, L, I, A, O>(lanes: &L, b: &[A], scaling: Scaling<A>, c: &mut Strided<&mut [O]>)
where
    S: Chain,
    L: Lanes<I>,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let n = c.cols;
    let mut acc = vec![A::ZERO; n];
    for i in 0..c.rows {
        acc.fill(A::ZERO);
        lanes.walk(i, |k, value| {
            let a = value.load();
            for (acc, &b) in acc.iter_mut().zip(&b[k * n..(k + 1) * n]) {
                *acc = S::step(*acc, a, b);
            }
        });
        for (j, &acc) in acc.iter().enumerate() {
            c.update(i, j, |old| scaling.finish(acc, old));
        }
    }
}

#[inline(never)]
fn scatter<S, L, I, A, O>(lanes: &L, b: &[A], scaling: Scaling<A>, c: &mut Strided<&mut [O]>)
where
    S: Chain,
    L: Lanes<I>,
    I: Operand<A>,
    A: Unit,
    O: Output<A>,
{
    let (m, n) = (c.rows, c.cols);
    let mut acc = vec![A::ZERO; m * n.min(PANEL)];
    for first in (0..n).step_by(PANEL) {
        let width = PANEL.min(n - first);
        let acc = &mut acc[..m * width];
        acc.fill(A::ZERO);
        for (k, row) in b.chunks_exact(n).enumerate() {
            let b = &row[first..first + width];
            lanes.walk(k, |i, value| {
                let a = value.load();
                for (acc, &b) in acc[i * width..(i + 1) * width].iter_mut().zip(b) {
                    *acc = S::step(*acc, a, b);
                }
            });
        }
        for (i, acc) in acc.chunks_exact(width).enumerate() {
            for (j, &acc) in acc.iter().enumerate() {
                c.update(i, first + j, |old| scaling.finish(acc, old));
            }
        }
    }
}
