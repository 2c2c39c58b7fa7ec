//! From checked slices to what the naked functions read.
//!
//! ```text
//! blocks of br rows              one call: rows `first..first + height` of every block, columns `j..j + columns`
//! [ chunk 0 | chunk 1 | . ]      height <= rows of a vector, columns <= what ZA holds
//! ```

use super::Outer;
use crate::arm::detected;
use crate::arm::panel::Panel;
use crate::feature::Feature;
use sparse_types::format::Loops;
use sparse_types::refusal::{EngineError, Refusal};
use std::ops::Range;

/// The argument of the naked functions, which read it at the offsets given. Sizes are in bytes where the name says so.
///
/// What must hold: for block i of `blocks`, with tiles `block_ptr[i]..block_ptr[i + 1]`, each tile t has a column at `block_col[t]` and
/// `height` elements at `values + t * tile_bytes`; for each such column k, `b + k * row_bytes` has `columns` elements. Of block
/// i, the rows `0..min(height, rows_left - i * br)` are stored, `columns` elements each, from `out + i * block_bytes` on, `out_bytes`
/// apart. Nothing else is read or written.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Call {
    block_ptr: *const u32,
    blocks: usize,
    block_col: *const u32,
    values: *const u8,
    tile_bytes: usize,
    b: *const u8,
    row_bytes: usize,
    out: *mut u8,
    out_bytes: usize,
    block_bytes: usize,
    height: usize,
    rows_left: usize,
    br: usize,
    pub(super) columns: usize,
}

const _: () = {
    assert!(size_of::<Call>() == 14 * 8);
    assert!(std::mem::offset_of!(Call, block_col) == 16);
    assert!(std::mem::offset_of!(Call, tile_bytes) == 32);
    assert!(std::mem::offset_of!(Call, row_bytes) == 48);
    assert!(std::mem::offset_of!(Call, out_bytes) == 64);
    assert!(std::mem::offset_of!(Call, height) == 80);
    assert!(std::mem::offset_of!(Call, br) == 96);
};

/// Writes the products of some blocks: row r of the first block to `out[r * ld..][..b.padded]`, and so on to the last row of the
/// last block that the matrix has. Nothing else of `out` is touched.
///
/// # Errors
/// [`EngineError::Unavailable`] where the CPU lacks one of `T::NEEDS`, or ZA holds the state of a caller.
///
/// # Panics
/// Where `out` is too short or `b` has fewer rows than `m` has columns: the kernels have checked both.
pub(crate) fn multiply<T: Outer>(
    m: &Loops<T>,
    blocks: Range<usize>,
    b: &Panel<'_, T>,
    out: &mut [T::Acc],
    ld: usize,
) -> Result<(), Refusal> {
    Feature::require(T::NEEDS, detected)?;
    let n = b.padded;
    let first_row = m.boundary + blocks.start * m.br;
    let rows = (blocks.len() * m.br).min(m.rows.saturating_sub(first_row));
    if rows == 0 || n == 0 {
        return Ok(());
    }
    let (right, row_step, right_rows) = b.all();
    check(m, &blocks, right_rows);
    assert!(n <= row_step && right_rows * row_step <= right.len(), "B is short");
    assert!(n <= ld && (rows - 1) * ld + n <= out.len(), "the output is short");
    // SAFETY: the CPU has T::NEEDS (required above).
    let chunk = unsafe { T::rows() };
    let (size, out_size) = (size_of::<T>(), size_of::<T::Acc>());
    for first in (0..m.br.min(rows)).step_by(chunk) {
        let mut j = 0;
        while j < n {
            // SAFETY: the CPU has T::NEEDS (required above).
            let columns = unsafe { T::columns(n - j) };
            let call = Call {
                block_ptr: m.block_ptr[blocks.start..].as_ptr(),
                blocks: blocks.len(),
                block_col: m.block_col.as_ptr(),
                values: m.values.as_ptr().cast::<u8>().wrapping_add(first * size),
                tile_bytes: m.br * size,
                b: right.as_ptr().wrapping_add(j).cast(),
                row_bytes: row_step * size,
                out: out[first * ld + j..].as_mut_ptr().cast(),
                out_bytes: ld * out_size,
                block_bytes: m.br * ld * out_size,
                height: chunk.min(m.br - first),
                rows_left: rows - first,
                br: m.br,
                columns,
            };
            // SAFETY: `check` has seen to it that offsets are tiles that are there and columns are rows of B; each tile has `br`
            // values, `first + height` at most being read. B has `n` elements in each row, `j + columns` at most being read. Rows
            // stored are below `rows`, columns below `n`, and `out` reaches that far. The CPU has T::NEEDS (required
            // above).
            let refused = unsafe { T::run(&call) } != 0;
            if refused {
                return Err(Refusal::Engine(EngineError::Unavailable {
                    feature: "free ZA storage (a caller's SME state is in it)",
                }));
            }
            j += columns;
        }
    }
    Ok(())
}

/// The invariants of the format that memory safety rests on, for these blocks.
fn check<T>(m: &Loops<T>, blocks: &Range<usize>, right_rows: usize) {
    let ptr = &m.block_ptr[blocks.start..=blocks.end];
    assert!(ptr.is_sorted(), "offsets of blocks descend");
    let (start, end) = (ptr[0] as usize, ptr[blocks.len()] as usize);
    let cols = &m.block_col[start..end];
    assert!(cols.iter().all(|&col| (col as usize) < right_rows), "a tile's column is past B");
    assert!(end * m.br <= m.values.len(), "a tile has no values");
}
