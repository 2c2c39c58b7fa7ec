//! A loose encoding of RS-Tile: windows and residual rows cut by chance.

use super::room::{Room, at, of_rows};
use sparse_oracle::format::{Entries, PAD, RsTileParts};
use sparse_oracle::scalar::Scalar;

/// Rows of a window, and rows and columns of a block.
const SIDE: usize = 8;

/// The longest row that goes to the residual part by chance: it pads all others to its length.
const LONGEST: usize = 40;

/// Windows start at any row that is in no window yet, over empty rows too; any short row may be residual.
pub(super) fn rs_tile<T: Scalar>(entries: &Entries<T>, room: &mut Room) -> RsTileParts<T> {
    let mut p = RsTileParts {
        rows: entries.rows,
        cols: entries.cols,
        window_block_ptr: vec![0],
        block_value_ptr: vec![0],
        ..RsTileParts::default()
    };
    let mut row = 0;
    while row < entries.rows {
        let length = of_rows(&entries.list, row..row + 1).len();
        let residual = length <= LONGEST && room.one_in(3);
        // Of empty rows most are in neither part.
        let is_skipped = length == 0 && !(room.one_in(4) && room.spend(SIDE * SIDE));
        if is_skipped {
            row += 1;
        } else if residual {
            p.residual_row.push(row as u32);
            row += 1;
        } else {
            row += window(&mut p, entries, row, room);
        }
    }
    residual(&mut p, entries, room);
    p
}

/// Appends the window at a row; returns how many rows are done: one without a window, where no column would be in it.
fn window<T: Scalar>(p: &mut RsTileParts<T>, entries: &Entries<T>, first: usize, room: &mut Room) -> usize {
    let inside = of_rows(&entries.list, first..first + SIDE);
    let columns = room.columns(inside, 20, SIDE);
    if columns.is_empty() {
        return 1;
    }
    for lane in columns.chunks(SIDE) {
        let mut bitmap = 0u64;
        for bit in 0..SIDE * SIDE {
            let stored = lane.get(bit % SIDE).and_then(|&col| at(inside, first + bit / SIDE, col));
            if let Some(value) = stored {
                bitmap |= 1 << bit;
                p.values.push(value);
            }
        }
        p.bitmap.push(bitmap);
        p.block_value_ptr.push(p.values.len() as u32);
        p.block_col.extend_from_slice(lane);
        p.block_col.resize(SIDE * p.bitmap.len(), PAD);
    }
    p.window_row.push(first as u32);
    p.window_block_ptr.push(p.bitmap.len() as u32);
    SIDE
}

/// Writes the residual rows, with more slots than the longest needs.
fn residual<T: Scalar>(p: &mut RsTileParts<T>, entries: &Entries<T>, room: &mut Room) {
    let lane = |row: u32| of_rows(&entries.list, row as usize..row as usize + 1);
    let longest = p.residual_row.iter().map(|&row| lane(row).len()).max().unwrap_or(0);
    let more = room.random.between(0, 2) as usize;
    let fits = room.spend(more * p.residual_row.len());
    p.residual_width = longest + if fits { more } else { 0 };
    for (at, &row) in p.residual_row.iter().enumerate() {
        p.residual_col.extend(lane(row).iter().map(|e| e.col));
        p.residual_values.extend(lane(row).iter().map(|e| e.value));
        p.residual_col.resize((at + 1) * p.residual_width, PAD);
        p.residual_values.resize((at + 1) * p.residual_width, T::from_bits64(0));
    }
}
