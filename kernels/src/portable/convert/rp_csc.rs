//! CSR to RP-CSC, and back. The rows of a group are neighbours in CSR, and so are its entries in RP-CSC: a group is a
//! transpose from a range of entries to the same range, and groups are transposed side by side.
//!
//! ```text
//! CSR      a b c | d e f g      entries of group 0 | entries of group 1, by row, then column
//! RP-CSC   a c b | e g d f      the same ranges, by column, then row
//! ```
//!
//! A group with many entries for its columns is transposed by counting, a sparse one by sorting packed
//! (column, row, offset) keys, so that a wide matrix of few entries costs little.

pub(super) mod groups;

use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use groups::{LANE, Sides, check_groups, each, pieces};
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, Parts, RpCsc, RpCscParts, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;

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
        let sides = Sides { other: "cols", group: "rows of a group" };
        let (groups, height) = check_groups(params, &sides, m.rows, m.cols)?;
        let parts = transpose_groups(m, groups, height)?;
        encoded(Parts::RpCsc(parts))
    }
}

/// One group on its way to RP-CSC.
struct Group<'a, T> {
    /// Offsets of its rows and the offset past the last.
    row_ptr: &'a [u32],
    row_idx: &'a mut [u16],
    values: &'a mut [T],
    /// Its columns with their lengths, ascending.
    lanes: &'a mut Vec<(u16, u32)>,
}

fn transpose_groups<T: Stored>(m: &Csr<T>, groups: usize, height: usize) -> Result<RpCscParts<T>, Refusal> {
    let first_row = |group: usize| (group * height).min(m.rows);
    let group_value_ptr: Vec<u32> = (0..=groups).map(|group| m.row_ptr[first_row(group)]).collect();
    let mut row_idx = vec![0; m.nnz()];
    let mut values = vec![T::default(); m.nnz()];
    let mut lanes = vec![Vec::new(); groups];
    let lengths = || group_value_ptr.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
    let slots = pieces(&mut row_idx, lengths()).zip(pieces(&mut values, lengths()));
    let tasks = slots.zip(&mut lanes).enumerate();
    let tasks = tasks.map(|(group, ((row_idx, values), lanes))| Group {
        row_ptr: &m.row_ptr[first_row(group)..=first_row(group + 1)],
        row_idx,
        values,
        lanes,
    });
    each(m.nnz(), tasks.collect(), |scratch: &mut TransposeScratch, group| {
        transpose_group(m, scratch, group);
    });
    check_lanes(&lanes, height)?;
    let (col_idx, group_bitmap) = union(m.cols, &lanes);
    let (group_col_ptr, col_len) = lengths_of(&lanes);
    Ok(RpCscParts {
        rows: m.rows,
        cols: m.cols,
        groups,
        col_idx,
        group_bitmap,
        group_col_ptr,
        col_len,
        group_value_ptr,
        row_idx,
        values,
    })
}

/// By counting where there are enough entries to make up for all columns, else by sorting.
fn transpose_group<T: Stored>(m: &Csr<T>, scratch: &mut TransposeScratch, group: Group<'_, T>) {
    let (row_ptr, nnz) = (group.row_ptr, group.values.len());
    let stored = row_ptr[0] as usize..row_ptr[0] as usize + nnz;
    if nnz * 4 < m.cols {
        scratch.sort(&m.col_idx, row_ptr, group.lanes);
        let slots = group.row_idx.iter_mut().zip(group.values);
        for (&key, (row, value)) in scratch.keys.iter().zip(slots) {
            *row = (key >> 32) as u16;
            *value = m.values[key as u32 as usize];
        }
        return;
    }
    scratch.count(m.cols, &m.col_idx[stored], group.lanes);
    for (row, ends) in row_ptr.windows(2).enumerate() {
        let entries = ends[0] as usize..ends[1] as usize;
        for (&col, &value) in m.col_idx[entries.clone()].iter().zip(&m.values[entries]) {
            let slot = &mut scratch.next[col as usize];
            group.row_idx[*slot as usize] = row as u16;
            group.values[*slot as usize] = value;
            *slot += 1;
        }
    }
}

/// The offsets of the groups in the lengths, and these.
fn lengths_of(lanes: &[Vec<(u16, u32)>]) -> (Vec<u32>, Vec<u8>) {
    let (mut offsets, mut lengths) = (vec![0], Vec::with_capacity(lanes.iter().map(Vec::len).sum()));
    for lanes in lanes {
        lengths.extend(lanes.iter().map(|&(_, length)| length as u8));
        offsets.push(lengths.len() as u32);
    }
    (offsets, lengths)
}

/// What a thread needs to transpose a group.
#[derive(Default)]
struct TransposeScratch {
    next: Vec<u32>,
    keys: Vec<u64>,
}

impl TransposeScratch {
    /// The columns of a group with their lengths, and in `next` where each begins.
    fn count(&mut self, cols: usize, col_idx: &[u32], lanes: &mut Vec<(u16, u32)>) {
        self.next.clear();
        self.next.resize(cols, 0);
        for &col in col_idx {
            self.next[col as usize] += 1;
        }
        let mut start = 0;
        for (col, slot) in self.next.iter_mut().enumerate() {
            if *slot > 0 {
                lanes.push((col as u16, *slot));
                start += std::mem::replace(slot, start);
            }
        }
    }

    /// The same, and in `keys` the entries in order: 16 bits of column, 16 of row, 32 of offset.
    fn sort(&mut self, col_idx: &[u32], row_ptr: &[u32], lanes: &mut Vec<(u16, u32)>) {
        self.keys.clear();
        for (row, ends) in row_ptr.windows(2).enumerate() {
            let keys = (ends[0]..ends[1])
                .map(|at| u64::from(col_idx[at as usize]) << 48 | (row as u64) << 32 | u64::from(at));
            self.keys.extend(keys);
        }
        self.keys.sort_unstable();
        for lane in self.keys.chunk_by(|a, b| a >> 48 == b >> 48) {
            lanes.push(((lane[0] >> 48) as u16, lane.len() as u32));
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
    Err(Refusal::Request(RequestError::TooFull {
        what: "a column of a group (col_len)",
        row: group * height,
        column: usize::from(col),
        found: u64::from(length),
        limit: LANE as u64,
        remedy: "use more groups, or cut the matrix into lower tiles",
    }))
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
        let height = m.rows.div_ceil(m.groups);
        let (mut row_ptr, mut col_idx) = (vec![0; m.rows + 1], vec![0; m.nnz()]);
        let mut values = vec![T::default(); m.nnz()];
        let ends = || m.group_value_ptr.windows(2);
        let lengths = || ends().map(|ends| (ends[1] - ends[0]) as usize);
        let heights = (0..m.groups).map(|group| height.min(m.rows.saturating_sub(group * height)));
        let tasks = pieces(&mut row_ptr[1..], heights)
            .zip(pieces(&mut col_idx, lengths()))
            .zip(pieces(&mut values, lengths()))
            .enumerate()
            .map(|(group, ((ends, col_idx), values))| GroupRows { group, ends, col_idx, values });
        each(m.nnz(), tasks.collect(), |next: &mut Vec<u32>, rows| {
            turn(m, next, rows);
        });
        let arrays = (row_ptr, col_idx, values);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

/// One group on its way to CSR.
struct GroupRows<'a, T> {
    group: usize,
    /// The ends of its rows.
    ends: &'a mut [u32],
    col_idx: &'a mut [u32],
    values: &'a mut [T],
}

/// Counting sort by row: columns stay ascending.
fn turn<T: Stored>(m: &RpCsc<T>, next: &mut Vec<u32>, rows: GroupRows<'_, T>) {
    let GroupRows { group, ends, col_idx, values } = rows;
    let first = m.group_value_ptr[group];
    count_rows(&m.row_idx[first as usize..first as usize + values.len()], first, next, ends);
    let mut at = first as usize;
    let lanes = m.col_idx.iter().zip(&m.group_bitmap);
    let lanes = lanes.filter(|(_, bits)| *bits >> group & 1 == 1);
    let lengths = &m.col_len[m.group_col_ptr[group] as usize..];
    for ((&col, _), &length) in lanes.zip(lengths) {
        let lane = at..at + usize::from(length);
        at = lane.end;
        for (&row, &value) in m.row_idx[lane.clone()].iter().zip(&m.values[lane]) {
            let slot = &mut next[usize::from(row)];
            col_idx[*slot as usize] = u32::from(col);
            values[*slot as usize] = value;
            *slot += 1;
        }
    }
}

/// Where each row ends, in CSR, and in `next` where it begins in its group, whose first entry is `first`.
fn count_rows(row_idx: &[u16], first: u32, next: &mut Vec<u32>, ends: &mut [u32]) {
    for &row in row_idx {
        ends[usize::from(row)] += 1;
    }
    next.clear();
    let mut end = 0;
    for count in ends {
        next.push(end);
        end += *count;
        *count = first + end;
    }
}
