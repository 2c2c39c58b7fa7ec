//! Encoder and decoder of ME-TCF of DTC-SpMM; the layout is that of [`MeTcfParts`](crate::format::MeTcfParts).

use super::tiles::{cut, filled, windows};
use crate::format::check::{SQUEEZED_COLS, check_slots};
use crate::format::{Codec, Entries, Entry, FormatParams, MeTcf, MeTcfParts, PAD, Tiling, ascending};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use sparse_types::format::me_tcf::HEIGHT;

impl<T: Scalar> Codec<T> for MeTcf<T> {
    /// Encodes sorted entries; reads `balanced`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) window offsets; 2^32 column
    /// slots or more.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let windows = entries.rows.div_ceil(HEIGHT);
        let offsets = check_slots("row_window_offset", windows as u128 + 1)?;
        let mut blocks_of = vec![0u32; windows];
        let mut parts = MeTcfParts {
            rows: entries.rows,
            cols: entries.cols,
            balanced: params.balanced,
            row_window_offset: Vec::with_capacity(offsets),
            tc_offset: vec![0],
            tc_local_id: Vec::with_capacity(entries.nnz()),
            sparse_a_to_b: Vec::new(),
            block_window: Vec::new(),
            values: Vec::with_capacity(entries.nnz()),
        };
        let window_of = |e: &Entry<T>| e.row as usize / HEIGHT;
        for lane in entries.list.chunk_by(|a, b| window_of(a) == window_of(b)) {
            blocks_of[window_of(&lane[0])] = append_window(&mut parts, lane)?;
        }
        let mut blocks = 0;
        parts.row_window_offset.push(0);
        for (window, &count) in blocks_of.iter().enumerate() {
            blocks += count;
            parts.row_window_offset.push(blocks);
            if params.balanced {
                parts.block_window.resize(blocks as usize, window as u32);
            }
        }
        MeTcf::try_new(parts)
    }

    /// Decodes: one entry per local id, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(p.values.len());
        for (window, ends) in p.row_window_offset.windows(2).enumerate() {
            for block in ends[0] as usize..ends[1] as usize {
                for at in p.tc_offset[block] as usize..p.tc_offset[block + 1] as usize {
                    let (r, c) = (p.tc_local_id[at] / 8, p.tc_local_id[at] % 8);
                    list.push(Entry {
                        row: (window * HEIGHT) as u32 + u32::from(r),
                        col: p.sparse_a_to_b[block * SQUEEZED_COLS + c as usize],
                        value: p.values[at],
                    });
                }
            }
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        FormatParams { balanced: self.balanced, ..FormatParams::default() }
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (HEIGHT, SQUEEZED_COLS),
            count: self.blocks(),
            windows: filled(&self.row_window_offset),
            entries: self.nnz(),
            is_hybrid: false,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        windows(&self.row_window_offset, 16, 0, |b| cut(&self.sparse_a_to_b, b, 8)).slots(self.rows)
    }
}

/// Appends the blocks of one window, whose entries are `lane`, and returns how many there are.
fn append_window<T: Scalar>(parts: &mut MeTcfParts<T>, lane: &[Entry<T>]) -> Result<u32, Refusal> {
    let mut columns: Vec<u32> = lane.iter().map(|e| e.col).collect();
    columns.sort_unstable();
    columns.dedup();
    let blocks = columns.len().div_ceil(SQUEEZED_COLS);
    let slots = parts.sparse_a_to_b.len() + blocks * SQUEEZED_COLS;
    check_u32("slots", slots as u128)?;
    // Of each entry, in the order of rows: block of the window, position in it. The sort keeps that order in a block.
    let place = |e: &Entry<T>| {
        let rank = columns.partition_point(|&c| c < e.col);
        let id = e.row as usize % HEIGHT * SQUEEZED_COLS + rank % SQUEEZED_COLS;
        (rank / SQUEEZED_COLS, id as u8, e.value)
    };
    let placed: Vec<(usize, u8, T)> = lane.iter().map(place).collect();
    let order = ascending(placed.iter().map(|&(block, _, _)| (block as u32, 0)));
    let placed: Vec<(usize, u8, T)> = order.into_iter().map(|at| placed[at]).collect();
    for block in placed.chunk_by(|a, b| a.0 == b.0) {
        parts.tc_local_id.extend(block.iter().map(|&(_, id, _)| id));
        parts.values.extend(block.iter().map(|&(_, _, value)| value));
        parts.tc_offset.push(parts.values.len() as u32);
    }
    parts.sparse_a_to_b.extend(columns);
    parts.sparse_a_to_b.resize(slots, PAD);
    Ok(blocks as u32)
}
