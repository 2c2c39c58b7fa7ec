//! How each format gives its rows; one file per format or family.
//!
//! ```text
//! csr, tcf                                  their arrays are the rows
//! ell, bcsr, blocked_ell, sr_bcrs           row by row from their slots                 slots
//! rs_tile, bit_tcf, libra_*, me_tcf         row by row from bitmaps (popcnt, tzcnt)     bitmaps, libra
//! nm, two_four, vnm                         row by row from their indices               structured
//! csc, coo, rp_csc, cp_csr                  turned, grouped or decoded as a whole       compressed
//! loops                                     rows as CSR, tiles as they are              super::loops
//! ```
//!
//! A transpose is turned by a counting sort first, whatever the format: ascending columns stay ascending.

mod bitmaps;
mod by_row;
mod compressed;
mod libra;
mod slots;
mod structured;

pub(super) use bitmaps::{BitTcfRows, MeTcfRows, RsTileRows};
pub(super) use compressed::{CompressedRows, CooRows, CscRows, CsrRows, DecodedRows, TcfRows};
pub(super) use libra::{LibraSddmmRows, LibraSpmmRows};
pub(super) use slots::{BcsrRows, BlockedEllRows, EllRows, SrBcrsRows};
pub(super) use structured::{NmRows, TwoFourRows, VnmRows};

use super::lanes::{Boxed, Buffers, RowUnits};
use crate::portable::element::Stored;
use crate::portable::moves::turn;
use sparse_types::arithmetic::Pads;
use sparse_types::format::{FormatKind, Sparse};
use sparse_types::refusal::Refusal;

/// A storage format as rows.
pub(super) trait RowSource {
    /// Which format.
    const KIND: FormatKind;
    /// Whether rows hold the pads inside the matrix.
    const PADS: Pads;

    /// The rows of the matrix, or those of its transpose.
    ///
    /// # Errors
    /// A matrix in another format; one too large to be turned.
    fn lanes<T: Stored + Default>(matrix: &Sparse<T>, transpose: bool) -> Boxed<'_, T>;
}

/// Lanes as they are, or turned; `cols` is the number of columns.
fn opened<'a, T: Stored + Default>(
    lanes: impl RowUnits<T> + 'a,
    cols: usize,
    transpose: bool,
) -> Boxed<'a, T> {
    if transpose { Ok(Box::new(transposed(&lanes, cols)?)) } else { Ok(Box::new(lanes)) }
}

/// The rows of the transpose.
pub(super) fn transposed<T: Stored + Default>(
    lanes: &impl RowUnits<T>,
    cols: usize,
) -> Result<CompressedRows<'static, T>, Refusal> {
    let mut buffers = Buffers::default();
    let rows = lanes.read(0..lanes.units(), &mut buffers);
    let base = rows.ptr.first().copied().unwrap_or(0);
    debug_assert_eq!(base, 0, "all rows");
    Ok(CompressedRows::owned(turn("row_ptr", cols, rows.ptr, rows.cols, rows.values)?))
}
