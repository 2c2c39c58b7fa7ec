//! CSR to RP-CSC, and back. The rows of a group are neighbours in CSR, and so are its entries in RP-CSC: a group is a
//! transpose from a range of entries to the same range, and groups are transposed side by side.
//!
//! ```text
//! CSR entries        0 1 2 | 3 4 5 6      group 0 | group 1
//! RP-CSC position    0 2 1 | 4 6 3 5      `order`: where each stored value comes from, for any element type
//! ```
//!
//! A group with many entries for its columns is transposed by counting, a sparse one by sorting packed
//! (column, row, offset) keys, so that a wide matrix of few entries costs little.

pub(super) mod groups;

use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use groups::{LANE, Sides, check_groups, each, gather, pieces};
use sparse_oracle::contract::Op;
use sparse_oracle::format::{FormatKind, FormatParams, Parts, RpCscParts, Sparse};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::Answer;

/// CSR to RP-CSC.
#[derive(Debug)]
pub(crate) struct CsrToRpCsc;

/// RP-CSC to CSR.
#[derive(Debug)]
pub(crate) struct RpCscToCsr;

impl Move for CsrToRpCsc {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::RpCsc);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let sides = Sides {
            other: "cols",
            group: "rows of a group",
        };
        let (groups, height) = check_groups(params, &sides, m.rows, m.cols)?;
        let (parts, order) = transpose_groups(m.rows, m.cols, &m.row_ptr, &m.col_idx, groups, height)?;
        encoded(Parts::RpCsc(RpCscParts {
            rows: m.rows,
            cols: m.cols,
            groups,
            values: gather(&m.values, &order),
            col_idx: parts.col_idx,
            group_bitmap: parts.group_bitmap,
            group_col_ptr: parts.group_col_ptr,
            col_len: parts.col_len,
            group_value_ptr: parts.group_value_ptr,
            row_idx: parts.row_idx,
        }))
    }
}

/// One group on its way to RP-CSC.
struct Group<'a> {
    /// Offsets of its rows and the offset past the last.
    row_ptr: &'a [u32],
    order: &'a mut [u32],
    row_idx: &'a mut [u16],
    /// Its columns with their lengths, ascending.
    lanes: &'a mut Vec<(u16, u32)>,
}

/// All arrays but the values, and the order that these come in.
fn transpose_groups(
    rows: usize,
    cols: usize,
    row_ptr: &[u32],
    col_idx: &[u32],
    groups: usize,
    height: usize,
) -> Result<(RpCscParts<()>, Vec<u32>), Refusal> {
    let nnz = col_idx.len();
    let first_row = |group: usize| (group * height).min(rows);
    let mut parts = RpCscParts::<()> {
        group_value_ptr: (0..=groups).map(|group| row_ptr[first_row(group)]).collect(),
        row_idx: vec![0; nnz],
        ..RpCscParts::default()
    };
    let mut order = vec![0; nnz];
    let mut lanes = vec![Vec::new(); groups];
    let lengths = || {
        parts
            .group_value_ptr
            .windows(2)
            .map(|ends| (ends[1] - ends[0]) as usize)
    };
    let orders = pieces(&mut order, lengths());
    let row_indices = pieces(&mut parts.row_idx, lengths());
    let tasks = orders.zip(row_indices).zip(&mut lanes).enumerate();
    let tasks = tasks.map(|(group, ((order, row_idx), lanes))| Group {
        row_ptr: &row_ptr[first_row(group)..=first_row(group + 1)],
        order,
        row_idx,
        lanes,
    });
    each(nnz, tasks.collect(), |scratch: &mut Scratch, mut group| {
        if group.order.len() * 4 < cols {
            scratch.sort(col_idx, &mut group);
        } else {
            scratch.count(cols, col_idx, &mut group);
        }
    });
    check_lanes(&lanes, height)?;
    parts.group_col_ptr = Vec::with_capacity(groups + 1);
    parts.group_col_ptr.push(0);
    for lanes in &lanes {
        parts
            .col_len
            .extend(lanes.iter().map(|&(_, length)| length as u8));
        parts.group_col_ptr.push(parts.col_len.len() as u32);
    }
    (parts.col_idx, parts.group_bitmap) = union(cols, &lanes);
    Ok((parts, order))
}

/// What a thread needs to transpose a group.
#[derive(Default)]
struct Scratch {
    next: Vec<u32>,
    keys: Vec<u64>,
}

impl Scratch {
    /// Counting sort by column: rows stay ascending.
    fn count(&mut self, cols: usize, col_idx: &[u32], group: &mut Group<'_>) {
        let first = group.row_ptr[0];
        self.next.clear();
        self.next.resize(cols, 0);
        for &col in &col_idx[first as usize..first as usize + group.order.len()] {
            self.next[col as usize] += 1;
        }
        let mut start = 0;
        for (col, slot) in self.next.iter_mut().enumerate() {
            if *slot > 0 {
                group.lanes.push((col as u16, *slot));
                start += std::mem::replace(slot, start);
            }
        }
        for (row, ends) in group.row_ptr.windows(2).enumerate() {
            for at in ends[0]..ends[1] {
                let slot = &mut self.next[col_idx[at as usize] as usize];
                group.order[*slot as usize] = at;
                group.row_idx[*slot as usize] = row as u16;
                *slot += 1;
            }
        }
    }

    /// The same by comparison: 16 bits of column, 16 of row, 32 of offset.
    fn sort(&mut self, col_idx: &[u32], group: &mut Group<'_>) {
        self.keys.clear();
        for (row, ends) in group.row_ptr.windows(2).enumerate() {
            let keys = (ends[0]..ends[1])
                .map(|at| u64::from(col_idx[at as usize]) << 48 | (row as u64) << 32 | u64::from(at));
            self.keys.extend(keys);
        }
        self.keys.sort_unstable();
        for (slot, &key) in self.keys.iter().enumerate() {
            group.order[slot] = key as u32;
            group.row_idx[slot] = (key >> 32) as u16;
        }
        for lane in self.keys.chunk_by(|a, b| a >> 48 == b >> 48) {
            group.lanes.push(((lane[0] >> 48) as u16, lane.len() as u32));
        }
    }
}

/// Refuses the smallest column that is too long in some group, in the first such group.
fn check_lanes(lanes: &[Vec<(u16, u32)>], height: usize) -> Result<(), Refusal> {
    let first = |group: &Vec<(u16, u32)>| group.iter().copied().find(|&(_, length)| length as usize > LANE);
    let worst = lanes
        .iter()
        .enumerate()
        .filter_map(|(group, list)| first(list).map(|(col, length)| (col, group, length)))
        .min();
    let Some((col, group, length)) = worst else {
        return Ok(());
    };
    Err(Refusal::TooFull {
        what: "a column of a group (col_len)",
        row: group * height,
        column: usize::from(col),
        found: u64::from(length),
        limit: LANE as u64,
        remedy: "use more groups, or cut the matrix into lower tiles",
    })
}

/// The columns that any group has, ascending, and which groups have them.
fn union(cols: usize, lanes: &[Vec<(u16, u32)>]) -> (Vec<u16>, Vec<u64>) {
    let mut present = vec![0u64; cols.div_ceil(64)];
    for &(col, _) in lanes.iter().flatten() {
        present[usize::from(col) / 64] |= 1 << (col % 64);
    }
    // Stored columns before each word.
    let mut ranks = Vec::with_capacity(present.len());
    let mut col_idx = Vec::new();
    for (word, &bits) in present.iter().enumerate() {
        ranks.push(col_idx.len());
        let mut left = bits;
        while left != 0 {
            col_idx.push((word * 64) as u16 + left.trailing_zeros() as u16);
            left &= left - 1;
        }
    }
    let mut bitmaps = vec![0u64; col_idx.len()];
    for (group, list) in lanes.iter().enumerate() {
        for &(col, _) in list {
            let word = usize::from(col) / 64;
            let below = present[word] & ((1 << (col % 64)) - 1);
            bitmaps[ranks[word] + below.count_ones() as usize] |= 1 << group;
        }
    }
    (col_idx, bitmaps)
}

impl Move for RpCscToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::RpCsc;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::RpCsc(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let columns = Columns {
            col_idx: &m.col_idx,
            group_bitmap: &m.group_bitmap,
            col_len: &m.col_len,
            row_idx: &m.row_idx,
        };
        let extents = (m.rows, m.groups);
        let (row_ptr, col_idx, order) = columns.rows(extents, &m.group_col_ptr, &m.group_value_ptr);
        let arrays = (row_ptr, col_idx, gather(&m.values, &order));
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

/// The index arrays of an RP-CSC matrix.
struct Columns<'a> {
    col_idx: &'a [u16],
    group_bitmap: &'a [u64],
    col_len: &'a [u8],
    row_idx: &'a [u16],
}

/// One group on its way to CSR.
struct Rows<'a> {
    group: usize,
    /// Its first length and its first entry.
    lane: usize,
    start: usize,
    /// The ends of its rows.
    ends: &'a mut [u32],
    col_idx: &'a mut [u32],
    order: &'a mut [u32],
}

impl Columns<'_> {
    /// Row pointers, column indices, and the order that the values come in.
    fn rows(
        &self,
        (rows, groups): (usize, usize),
        col_ptr: &[u32],
        value_ptr: &[u32],
    ) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let nnz = self.row_idx.len();
        let height = rows.div_ceil(groups);
        let (mut row_ptr, mut col_idx, mut order) = (vec![0; rows + 1], vec![0; nnz], vec![0; nnz]);
        let lengths = || value_ptr.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let heights = (0..groups).map(|g| height.min(rows.saturating_sub(g * height)));
        let tasks = pieces(&mut row_ptr[1..], heights)
            .zip(pieces(&mut col_idx, lengths()))
            .zip(pieces(&mut order, lengths()));
        let tasks = tasks.enumerate().map(|(group, ((ends, col_idx), order))| Rows {
            group,
            lane: col_ptr[group] as usize,
            start: value_ptr[group] as usize,
            ends,
            col_idx,
            order,
        });
        each(nnz, tasks.collect(), |next: &mut Vec<u32>, mut rows| {
            self.turn(next, &mut rows);
        });
        (row_ptr, col_idx, order)
    }

    /// Counting sort by row: columns stay ascending.
    fn turn(&self, next: &mut Vec<u32>, rows: &mut Rows<'_>) {
        let stored = &self.row_idx[rows.start..rows.start + rows.order.len()];
        for &row in stored {
            rows.ends[usize::from(row)] += 1;
        }
        next.clear();
        let mut end = 0;
        for count in rows.ends.iter_mut() {
            next.push(end);
            end += *count;
            *count = end + rows.start as u32;
        }
        let lanes = self.col_idx.iter().zip(self.group_bitmap);
        let lanes = lanes.filter(|(_, bits)| *bits >> rows.group & 1 == 1);
        let mut at = 0;
        for ((&col, _), &length) in lanes.zip(&self.col_len[rows.lane..]) {
            for &row in &stored[at..at + usize::from(length)] {
                let slot = &mut next[usize::from(row)];
                rows.col_idx[*slot as usize] = u32::from(col);
                rows.order[*slot as usize] = (rows.start + at) as u32;
                *slot += 1;
                at += 1;
            }
        }
    }
}
