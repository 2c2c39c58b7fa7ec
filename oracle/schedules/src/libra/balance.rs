//! Hybrid load balance (section 4.3): the blocks of a window in groups, the rest of a row in tiles, and which of them
//! add into memory that others add into as well.
//!
//! ```text
//! window_block_ptr 0 20 23       window_offset 0 16 20 23     blocks, cut at ts = 16 and at every window
//!                                cur_window    0  0  1
//! row_ptr 0 2 2 42 ..            row_offset    0 2 34 42 ..   entries: a short row is one tile, the others are
//!                                cur_row       0 2 2  ..      cut at cs = 32
//! atomic: one per segment of blocks, then one per tile
//! ```
//!
//! A row with fewer than `short_len` entries is a short tile, whatever `cs`; a row without entries has no tile. A window
//! is cut when its blocks make more than one segment or one of its rows more than one tile. In SpMM every segment and
//! tile of a cut window is atomic (of both parts: figure 8, windows 0 and 1), and with two streams also those of a window that
//! holds both parts. SDDMM writes every result once, and nothing is atomic.

use super::Streams;
use super::pieces::{Pieces, check_length, check_offsets};
use sparse_oracle::format::{LibraSddmm, LibraSpmm};
use sparse_oracle::refusal::{EncodingError, Refusal, RequestError};
use sparse_oracle::scalar::Scalar;
use std::ops::Deref;

/// What there is to cut: blocks per window, CUDA-core entries per row.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    window_rows: usize,
    window_block_ptr: &'a [u32],
    row_ptr: &'a [u32],
}

/// Where to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutLimits {
    /// Ts: blocks of a segment.
    pub ts: u32,
    /// Cs: entries of a tile of a long row.
    pub cs: u32,
    /// Rows with fewer entries are short.
    pub short_len: u32,
}

/// Who else adds to a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// SDDMM: nobody.
    Sddmm,
    /// SpMM: the other segments of the window, and with two streams the other part.
    Spmm(Streams),
}

/// The arrays of a balance, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BalanceParts {
    /// `WindowOffset`: `segments + 1` offsets, in blocks.
    pub window_offset: Vec<u32>,
    /// `CurWindow`: window of each segment.
    pub cur_window: Vec<u32>,
    /// `RowOffset`: `tiles + 1` offsets, in entries of the CUDA-core part.
    pub row_offset: Vec<u32>,
    /// `CurRow`: row of each tile.
    pub cur_row: Vec<u32>,
    /// `Atomic`: one per segment, then one per tile.
    pub atomic: Vec<bool>,
}

/// A valid balance. Reads as its [`BalanceParts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    parts: BalanceParts,
    limits: CutLimits,
}

impl<'a> Workload<'a> {
    /// Windows of `window_rows` rows: `window_block_ptr` in blocks, `row_ptr` in entries.
    ///
    /// # Errors
    /// No rows in a window; an array whose length does not fit the other; offsets that do not start at 0 or decrease.
    pub fn try_new(
        window_rows: usize,
        window_block_ptr: &'a [u32],
        row_ptr: &'a [u32],
    ) -> Result<Workload<'a>, Refusal> {
        if window_rows == 0 {
            return Err(RequestError::Zero { field: "window_rows" }.into());
        }
        check_offsets("row_ptr", row_ptr)?;
        let windows = (row_ptr.len() - 1).div_ceil(window_rows);
        check_length("window_block_ptr", windows + 1, window_block_ptr.len())?;
        check_offsets("window_block_ptr", window_block_ptr)?;
        Ok(Workload { window_rows, window_block_ptr, row_ptr })
    }

    /// The load of an SpMM matrix.
    pub fn of_spmm<T: Scalar>(matrix: &'a LibraSpmm<T>) -> Workload<'a> {
        Workload {
            window_rows: super::WINDOW,
            window_block_ptr: &matrix.window_block_ptr,
            row_ptr: &matrix.row_ptr,
        }
    }

    /// The load of an SDDMM matrix.
    pub fn of_sddmm<T: Scalar>(matrix: &'a LibraSddmm<T>) -> Workload<'a> {
        Workload {
            window_rows: super::WINDOW,
            window_block_ptr: &matrix.window_block_ptr,
            row_ptr: &matrix.row_ptr,
        }
    }

    /// Which segments and tiles are atomic, by their windows.
    fn atomic(&self, cur_window: &[u32], cur_row: &[u32], sharing: Sharing) -> Vec<bool> {
        let windows = self.window_block_ptr.len() - 1;
        let (mut segments, mut tiles, mut cut) = (vec![0; windows], vec![0; windows], vec![false; windows]);
        let tile_window = |row: u32| row as usize / self.window_rows;
        for &window in cur_window {
            segments[window as usize] += 1;
            cut[window as usize] |= segments[window as usize] > 1;
        }
        for (tile, &row) in cur_row.iter().enumerate() {
            tiles[tile_window(row)] += 1;
            cut[tile_window(row)] |= tile > 0 && cur_row[tile - 1] == row;
        }
        let shared = |window: usize| match sharing {
            Sharing::Sddmm => false,
            Sharing::Spmm(Streams::Sequential) => cut[window],
            Sharing::Spmm(Streams::Multi) => cut[window] || segments[window] > 0 && tiles[window] > 0,
        };
        let of_segments = cur_window.iter().map(|&window| shared(window as usize));
        let of_tiles = cur_row.iter().map(|&row| shared(tile_window(row)));
        of_segments.chain(of_tiles).collect()
    }
}

impl CutLimits {
    /// As published: 16 blocks, 32 entries, short below 3.
    pub const PUBLISHED: CutLimits = CutLimits { ts: 16, cs: 32, short_len: 3 };

    fn check(&self) -> Result<(), Refusal> {
        for (field, limit) in [("ts", self.ts), ("cs", self.cs)] {
            if limit == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        Ok(())
    }
}

impl Balance {
    /// Cuts every window and long row into full pieces and what is left of it.
    ///
    /// # Errors
    /// [`RequestError::Zero`] for `ts` or `cs`.
    pub fn of(load: Workload<'_>, limits: CutLimits, sharing: Sharing) -> Result<Balance, Refusal> {
        limits.check()?;
        let mut parts =
            BalanceParts { window_offset: vec![0], row_offset: vec![0], ..BalanceParts::default() };
        for (window, ends) in load.window_block_ptr.windows(2).enumerate() {
            for first in (ends[0]..ends[1]).step_by(limits.ts as usize) {
                parts.cur_window.push(window as u32);
                parts.window_offset.push(ends[1].min(first.saturating_add(limits.ts)));
            }
        }
        for (row, ends) in load.row_ptr.windows(2).enumerate() {
            let short = ends[1] - ends[0] < limits.short_len;
            let tile = if short { limits.short_len } else { limits.cs };
            for first in (ends[0]..ends[1]).step_by(tile as usize) {
                parts.cur_row.push(row as u32);
                parts.row_offset.push(ends[1].min(first.saturating_add(tile)));
            }
        }
        parts.atomic = load.atomic(&parts.cur_window, &parts.cur_row, sharing);
        Ok(Balance { parts, limits })
    }

    /// Checks that every block and entry is in exactly one piece, no piece leaves its window or row or exceeds its limit,
    /// and what must be atomic is, and nothing else. Pieces may be smaller than the limits allow.
    ///
    /// # Errors
    /// The first defect found. Rows of refusals are windows in `window_offset` and `cur_window`.
    pub fn try_new(
        parts: BalanceParts,
        load: Workload<'_>,
        limits: CutLimits,
        sharing: Sharing,
    ) -> Result<Balance, Refusal> {
        limits.check()?;
        let segments = Pieces {
            fields: ["window_offset", "cur_window"],
            offsets: &parts.window_offset,
            owners: &parts.cur_window,
            lanes: load.window_block_ptr,
        };
        segments.check(|_| limits.ts)?;
        let tiles = Pieces {
            fields: ["row_offset", "cur_row"],
            offsets: &parts.row_offset,
            owners: &parts.cur_row,
            lanes: load.row_ptr,
        };
        tiles.check(|entries| if entries < limits.short_len { entries } else { limits.cs })?;
        tiles.check_short(limits.short_len)?;
        check_length("atomic", parts.cur_window.len() + parts.cur_row.len(), parts.atomic.len())?;
        let expected = load.atomic(&parts.cur_window, &parts.cur_row, sharing);
        match expected.iter().zip(&parts.atomic).position(|(e, f)| e != f) {
            None => Ok(Balance { parts, limits }),
            Some(at) => Err(Refusal::Encoding(EncodingError::Unequal {
                field: "atomic",
                at,
                expected: u64::from(expected[at]),
                found: u64::from(parts.atomic[at]),
            })),
        }
    }

    /// Whether tile number `tile` is a short row.
    #[must_use]
    pub fn is_short(&self, tile: usize) -> bool {
        let p = &self.parts;
        let alone = [tile.checked_sub(1), Some(tile + 1)]
            .into_iter()
            .flatten()
            .all(|other| p.cur_row.get(other) != Some(&p.cur_row[tile]));
        alone && p.row_offset[tile + 1] - p.row_offset[tile] < self.limits.short_len
    }

    /// The arrays back.
    #[must_use]
    pub fn into_parts(self) -> BalanceParts {
        self.parts
    }
}

impl Deref for Balance {
    type Target = BalanceParts;

    fn deref(&self) -> &BalanceParts {
        &self.parts
    }
}
