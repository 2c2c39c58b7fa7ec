//! Encoder and decoder of BitTCF of Acc-SpMM; the layout is that of [`BitTcfParts`](crate::format::BitTcfParts).

use super::tiles::{cut, filled, windows};
use crate::format::check::{SQUEEZED_COLS, check_slots};
use crate::format::{BitTcf, BitTcfParts, Codec, Entries, Entry, FormatParams, PAD, Tiling, ascending};
use crate::refusal::{Refusal, check_u32};
use crate::scalar::Scalar;
use sparse_types::format::bit_tcf::HEIGHT;

impl<T: Scalar> Codec<T> for BitTcf<T> {
    /// Encodes sorted entries; reads `balanced`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; more than [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) window offsets; 2^32 column
    /// slots or more.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let windows = entries.rows.div_ceil(HEIGHT);
        let mut row_window_offset = vec![0u32; check_slots("row_window_offset", windows as u128 + 1)?];
        let (mut tc_offset, mut tc_local_bit) = (vec![0u32], Vec::new());
        let (mut sparse_a_to_b, mut block_window, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let window_of = |e: &Entry<T>| e.row as usize / HEIGHT;
        for lane in entries.list.chunk_by(|a, b| window_of(a) == window_of(b)) {
            let mut columns: Vec<u32> = lane.iter().map(|e| e.col).collect();
            columns.sort_unstable();
            columns.dedup();
            let slots = (tc_local_bit.len() + columns.len().div_ceil(SQUEEZED_COLS)) * SQUEEZED_COLS;
            check_u32("slots", slots as u128)?;
            // (block of the window, bit, value), in stored order.
            let mut placed: Vec<(usize, u32, T)> = Vec::with_capacity(lane.len());
            for e in lane {
                let rank = columns.partition_point(|&c| c < e.col);
                let bit = e.row as usize % HEIGHT * SQUEEZED_COLS + rank % SQUEEZED_COLS;
                placed.push((rank / SQUEEZED_COLS, bit as u32, e.value));
            }
            let order = ascending(placed.iter().map(|&(block, bit, _)| (block as u32, bit)));
            let placed: Vec<(usize, u32, T)> = order.into_iter().map(|at| placed[at]).collect();
            for block in placed.chunk_by(|a, b| a.0 == b.0) {
                tc_local_bit.push(block.iter().fold(0u64, |bits, &(_, bit, _)| bits | 1 << bit));
                values.extend(block.iter().map(|&(_, _, value)| value));
                tc_offset.push(values.len() as u32);
                block_window.push(window_of(&lane[0]) as u32);
            }
            sparse_a_to_b.extend(columns);
            sparse_a_to_b.resize(tc_local_bit.len() * SQUEEZED_COLS, PAD);
            row_window_offset[window_of(&lane[0]) + 1] = tc_local_bit.len() as u32;
        }
        // A window without entries ends where the one before it does.
        for window in 0..windows {
            row_window_offset[window + 1] = row_window_offset[window + 1].max(row_window_offset[window]);
        }
        if !params.balanced {
            block_window.clear();
        }
        BitTcf::try_new(BitTcfParts {
            rows: entries.rows,
            cols: entries.cols,
            balanced: params.balanced,
            row_window_offset,
            tc_offset,
            tc_local_bit,
            sparse_a_to_b,
            block_window,
            values,
        })
    }

    /// Decodes: one entry per set bit, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(p.values.len());
        for (window, ends) in p.row_window_offset.windows(2).enumerate() {
            for block in ends[0] as usize..ends[1] as usize {
                let set = (0..64).filter(|bit| p.tc_local_bit[block] >> bit & 1 == 1);
                for (bit, at) in set.zip(p.tc_offset[block] as usize..) {
                    list.push(Entry {
                        row: (window * HEIGHT + bit / SQUEEZED_COLS) as u32,
                        col: p.sparse_a_to_b[block * SQUEEZED_COLS + bit % SQUEEZED_COLS],
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
        windows(&self.row_window_offset, 8, 0, |b| cut(&self.sparse_a_to_b, b, 8)).slots(self.rows)
    }
}
