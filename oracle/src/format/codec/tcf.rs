//! Encoder and decoder of TCF of TC-GNN; the layout is that of [`TcfParts`](crate::format::TcfParts).

use super::tiles::{TileLines, TileList};
use crate::format::check::{SQUEEZED_COLS, check_slots};
use crate::format::{Codec, Entries, Entry, FormatParams, Tcf, TcfParts, Tiling};
use crate::refusal::Refusal;
use crate::scalar::Scalar;
use sparse_types::format::tcf::HEIGHT;
use std::collections::{BTreeMap, BTreeSet};

impl<T: Scalar> Codec<T> for Tcf<T> {
    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) row pointers.
    fn from_entries_with(entries: &Entries<T>, _params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let mut node_pointer = vec![0u32; check_slots("node_pointer", entries.rows as u128 + 1)?];
        let mut edge_to_column = Vec::with_capacity(entries.nnz());
        let mut block_partition = vec![0; entries.rows.div_ceil(HEIGHT)];
        let window_of = |e: &Entry<T>| e.row as usize / HEIGHT;
        for lane in entries.list.chunk_by(|a, b| window_of(a) == window_of(b)) {
            let mut rank: BTreeMap<u32, u32> = lane.iter().map(|e| (e.col, 0)).collect();
            for (place, rank) in rank.values_mut().enumerate() {
                *rank = place as u32;
            }
            edge_to_column.extend(lane.iter().map(|e| rank[&e.col]));
            block_partition[window_of(&lane[0])] = rank.len().div_ceil(SQUEEZED_COLS) as u32;
        }
        for e in &entries.list {
            node_pointer[e.row as usize + 1] += 1;
        }
        for row in 0..entries.rows {
            node_pointer[row + 1] += node_pointer[row];
        }
        Tcf::try_new(TcfParts {
            rows: entries.rows,
            cols: entries.cols,
            node_pointer,
            edge_list: entries.list.iter().map(|e| e.col).collect(),
            edge_to_column,
            edge_to_row: entries.list.iter().map(|e| e.row).collect(),
            block_partition,
            values: entries.list.iter().map(|e| e.value).collect(),
        })
    }

    /// Decodes: every entry, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let entry = |at| Entry { row: p.edge_to_row[at], col: p.edge_list[at], value: p.values[at] };
        Entries { rows: p.rows, cols: p.cols, list: (0..p.values.len()).map(entry).collect() }
    }

    /// The parameters that the matrix was encoded with: there are none.
    fn params(&self) -> FormatParams {
        FormatParams::default()
    }

    fn tiling(&self) -> Option<Tiling> {
        Some(Tiling {
            shape: (HEIGHT, SQUEEZED_COLS),
            count: self.blocks() as usize,
            windows: self.block_partition.iter().filter(|&&blocks| blocks > 0).count(),
            entries: self.nnz(),
            is_hybrid: false,
        })
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let window = |first: usize| {
            let end = self.rows.min(first + 16);
            let entries = self.node_pointer[first] as usize..self.node_pointer[end] as usize;
            let cols: BTreeSet<u32> = self.edge_list[entries].iter().copied().collect();
            TileLines { rows: first..end, cols: cols.into_iter().collect() }
        };
        TileList((0..self.rows).step_by(16).map(window).collect()).slots(self.rows)
    }
}
