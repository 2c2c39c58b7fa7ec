//! Loose encodings of ME-TCF and BitTCF: columns and blocks that no entry uses.

use super::room::{Room, at, of_rows};
use sparse_oracle::format::{BitTcfParts, Entries, FormatParams, MeTcfParts, PAD};
use sparse_oracle::scalar::Scalar;

/// Columns of a block.
const COLS: usize = 8;

/// Windows cut into blocks of 8 columns.
struct Squeezed<T> {
    row_window_offset: Vec<u32>,
    tc_offset: Vec<u32>,
    sparse_a_to_b: Vec<u32>,
    /// Window of each block.
    block_window: Vec<u32>,
    /// Places `8 * r + c` inside its block of each value.
    places: Vec<u8>,
    values: Vec<T>,
}

fn squeezed<T: Scalar>(entries: &Entries<T>, height: usize, room: &mut Room) -> Squeezed<T> {
    let mut s = Squeezed {
        row_window_offset: vec![0],
        tc_offset: vec![0],
        sparse_a_to_b: Vec::new(),
        block_window: Vec::new(),
        places: Vec::new(),
        values: Vec::new(),
    };
    for (window, first) in (0..entries.rows).step_by(height).enumerate() {
        let inside = of_rows(&entries.list, first..first + height);
        for lane in room.columns(inside, 20, height).chunks(COLS) {
            for place in 0..height * COLS {
                let stored = lane.get(place % COLS).and_then(|&col| at(inside, first + place / COLS, col));
                if let Some(value) = stored {
                    s.places.push(place as u8);
                    s.values.push(value);
                }
            }
            s.block_window.push(window as u32);
            s.tc_offset.push(s.values.len() as u32);
            s.sparse_a_to_b.extend_from_slice(lane);
            s.sparse_a_to_b.resize(COLS * s.block_window.len(), PAD);
        }
        s.row_window_offset.push(s.block_window.len() as u32);
    }
    s
}

pub(super) fn me_tcf<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> MeTcfParts<T> {
    let s = squeezed(entries, 16, room);
    MeTcfParts {
        rows: entries.rows,
        cols: entries.cols,
        balanced: params.balanced,
        row_window_offset: s.row_window_offset,
        tc_offset: s.tc_offset,
        tc_local_id: s.places,
        sparse_a_to_b: s.sparse_a_to_b,
        block_window: if params.balanced { s.block_window } else { Vec::new() },
        values: s.values,
    }
}

pub(super) fn bit_tcf<T: Scalar>(
    entries: &Entries<T>,
    params: &FormatParams,
    room: &mut Room,
) -> BitTcfParts<T> {
    let s = squeezed(entries, 8, room);
    let bits = |ends: &[u32]| {
        let places = &s.places[ends[0] as usize..ends[1] as usize];
        places.iter().fold(0u64, |bits, &place| bits | 1 << place)
    };
    BitTcfParts {
        rows: entries.rows,
        cols: entries.cols,
        balanced: params.balanced,
        tc_local_bit: s.tc_offset.windows(2).map(bits).collect(),
        row_window_offset: s.row_window_offset,
        tc_offset: s.tc_offset,
        sparse_a_to_b: s.sparse_a_to_b,
        block_window: if params.balanced { s.block_window } else { Vec::new() },
        values: s.values,
    }
}
