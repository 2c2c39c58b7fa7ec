//! CSR to CP-CSR, and back. A row is already sorted by group; what changes is that a group's pieces of all rows come
//! together. Rows are cut into chunks, and what a chunk has in each group is counted first, so that chunks are filled
//! side by side.
//!
//! ```text
//! row 0   a b | c | . d      group 0: a b e | group 1: c | group 2: d f g
//! row 1   . e | . | f g
//! ```

use super::rp_csc::groups::{LANE, PARALLEL, Sides, check_groups, each, gather, pieces};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_oracle::contract::Op;
use sparse_oracle::format::{CpCsrParts, FormatKind, FormatParams, Parts, Sparse};
use sparse_oracle::refusal::Refusal;
use sparse_oracle::task::Answer;
use std::ops::Range;

/// CSR to CP-CSR.
#[derive(Debug)]
pub(crate) struct CsrToCpCsr;

/// CP-CSR to CSR.
#[derive(Debug)]
pub(crate) struct CpCsrToCsr;

impl Move for CsrToCpCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::CpCsr);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let sides = Sides {
            other: "rows",
            group: "columns of a group",
        };
        let (groups, width) = check_groups(params, &sides, m.cols, m.rows)?;
        let rows = Rows {
            row_ptr: &m.row_ptr,
            col_idx: &m.col_idx,
            width,
        };
        let (parts, order) = rows.split(m.rows, groups)?;
        encoded(Parts::CpCsr(CpCsrParts {
            rows: m.rows,
            cols: m.cols,
            groups,
            values: gather(&m.values, &order),
            row_idx: parts.row_idx,
            group_bitmap: parts.group_bitmap,
            group_row_ptr: parts.group_row_ptr,
            row_len: parts.row_len,
            group_value_ptr: parts.group_value_ptr,
            col_idx: parts.col_idx,
        }))
    }
}

/// Cuts `count` lines into chunks for the threads, or one where threads are not worth it.
fn chunks(count: usize, entries: usize) -> Vec<Range<usize>> {
    let wanted = if entries < PARALLEL {
        1
    } else {
        rayon::current_num_threads() * 4
    };
    let size = count.div_ceil(wanted).max(1);
    (0..count)
        .step_by(size)
        .map(|start| start..(start + size).min(count))
        .collect()
}

/// A CSR matrix without its values.
struct Rows<'a> {
    row_ptr: &'a [u32],
    col_idx: &'a [u32],
    /// Columns of a group.
    width: usize,
}

/// What a chunk of rows holds.
#[derive(Default)]
struct Census {
    /// Per group: stored rows, entries.
    counts: Vec<(u32, u32)>,
    row_idx: Vec<u16>,
    group_bitmap: Vec<u64>,
    /// Row, group and length of the first piece that is too long.
    too_long: Option<(usize, usize, usize)>,
}

/// Where a chunk puts what it has in one group.
struct Slots<'a> {
    row_len: &'a mut [u8],
    col_idx: &'a mut [u16],
    order: &'a mut [u32],
    /// How many of the above are filled.
    lanes: usize,
    entries: usize,
}

impl Rows<'_> {
    /// Calls `piece(group, start, end)` for every group that a row has entries in.
    fn pieces(&self, row: usize, mut piece: impl FnMut(usize, usize, usize)) {
        let (mut start, end) = (self.row_ptr[row] as usize, self.row_ptr[row + 1] as usize);
        while start < end {
            let group = self.col_idx[start] as usize / self.width;
            let bound = (group + 1) * self.width;
            let rest = &self.col_idx[start..end];
            let length = rest.iter().position(|&col| col as usize >= bound);
            let next = length.map_or(end, |length| start + length);
            piece(group, start, next);
            start = next;
        }
    }

    fn census(&self, rows: Range<usize>, groups: usize) -> Census {
        let mut census = Census {
            counts: vec![(0, 0); groups],
            ..Census::default()
        };
        for row in rows {
            let mut bitmap = 0u64;
            self.pieces(row, |group, start, end| {
                bitmap |= 1 << group;
                let (lanes, entries) = &mut census.counts[group];
                *lanes += 1;
                *entries += (end - start) as u32;
                if end - start > LANE && census.too_long.is_none() {
                    census.too_long = Some((row, group, end - start));
                }
            });
            if bitmap != 0 {
                census.row_idx.push(row as u16);
                census.group_bitmap.push(bitmap);
            }
        }
        census
    }

    /// All arrays but the values, and the order that these come in.
    fn split(&self, rows: usize, groups: usize) -> Result<(CpCsrParts<()>, Vec<u32>), Refusal> {
        let nnz = self.col_idx.len();
        let chunks = chunks(rows, nnz);
        let mut found: Vec<Census> = Vec::new();
        found.resize_with(chunks.len(), Census::default);
        let tasks = found.iter_mut().zip(&chunks).collect();
        each(
            nnz,
            tasks,
            |(): &mut (), (census, rows): (&mut Census, &Range<usize>)| {
                *census = self.census(rows.clone(), groups);
            },
        );
        // Chunks are in row order, and the pieces of a row in group order.
        if let Some((row, group, length)) = found.iter().find_map(|census| census.too_long) {
            return Err(Refusal::TooFull {
                what: "a row of a group (row_len)",
                row,
                column: group * self.width,
                found: length as u64,
                limit: LANE as u64,
                remedy: "use more groups, or cut the matrix into narrower tiles",
            });
        }
        let mut parts = offsets(&found, groups);
        let mut order = vec![0; nnz];
        self.fill(&chunks, &found, &mut parts, &mut order);
        for census in found {
            parts.row_idx.extend(census.row_idx);
            parts.group_bitmap.extend(census.group_bitmap);
        }
        Ok((parts, order))
    }

    fn fill(&self, chunks: &[Range<usize>], found: &[Census], parts: &mut CpCsrParts<()>, order: &mut [u32]) {
        let groups = parts.group_value_ptr.len() - 1;
        let counts = || (0..groups).flat_map(|group| found.iter().map(move |census| census.counts[group]));
        let slots = pieces(&mut parts.row_len, counts().map(|(lanes, _)| lanes as usize))
            .zip(pieces(&mut parts.col_idx, counts().map(|(_, n)| n as usize)))
            .zip(pieces(order, counts().map(|(_, n)| n as usize)));
        // By group, then chunk; handed out by chunk.
        let mut tasks: Vec<(Range<usize>, Vec<Slots<'_>>)> = chunks
            .iter()
            .map(|rows| (rows.clone(), Vec::with_capacity(groups)))
            .collect();
        for (i, ((row_len, col_idx), order)) in slots.enumerate() {
            tasks[i % chunks.len()].1.push(Slots {
                row_len,
                col_idx,
                order,
                lanes: 0,
                entries: 0,
            });
        }
        each(self.col_idx.len(), tasks, |(): &mut (), (rows, mut slots)| {
            for row in rows {
                self.pieces(row, |group, start, end| {
                    let first_col = (group * self.width) as u32;
                    slots[group].push(&self.col_idx[start..end], first_col, start);
                });
            }
        });
    }
}

impl Slots<'_> {
    /// One piece of a row, which starts at `start` in CSR.
    fn push(&mut self, cols: &[u32], first_col: u32, start: usize) {
        self.row_len[self.lanes] = cols.len() as u8;
        self.lanes += 1;
        let filled = self.entries..self.entries + cols.len();
        self.entries = filled.end;
        for (slot, &col) in self.col_idx[filled.clone()].iter_mut().zip(cols) {
            *slot = (col - first_col) as u16;
        }
        for (slot, at) in self.order[filled].iter_mut().zip(start as u32..) {
            *slot = at;
        }
    }
}

/// The offsets of the groups, and room for what they index.
fn offsets(found: &[Census], groups: usize) -> CpCsrParts<()> {
    let (mut lanes, mut entries) = (0, 0);
    let (mut group_row_ptr, mut group_value_ptr) = (vec![0; groups + 1], vec![0; groups + 1]);
    for group in 0..groups {
        for census in found {
            lanes += census.counts[group].0;
            entries += census.counts[group].1;
        }
        group_row_ptr[group + 1] = lanes;
        group_value_ptr[group + 1] = entries;
    }
    CpCsrParts {
        group_row_ptr,
        group_value_ptr,
        row_len: vec![0; lanes as usize],
        col_idx: vec![0; entries as usize],
        ..CpCsrParts::default()
    }
}

impl Move for CpCsrToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::CpCsr;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::CpCsr(m) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        check_slots("row_ptr", m.rows as u128 + 1)?;
        let groups = Groups {
            row_idx: &m.row_idx,
            group_bitmap: &m.group_bitmap,
            row_len: &m.row_len,
            col_idx: &m.col_idx,
            width: m.cols.div_ceil(m.groups),
        };
        let (row_ptr, col_idx, order) = groups.join(m.rows, &m.group_row_ptr, &m.group_value_ptr);
        let arrays = (row_ptr, col_idx, gather(&m.values, &order));
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), arrays))
    }
}

/// The index arrays of a CP-CSR matrix.
struct Groups<'a> {
    row_idx: &'a [u16],
    group_bitmap: &'a [u64],
    row_len: &'a [u8],
    col_idx: &'a [u16],
    /// Columns of a group.
    width: usize,
}

/// Per group: the next stored row and the next entry.
type Cursors = Vec<(u32, u32)>;

impl Groups<'_> {
    /// Visits the pieces of stored row number `i`: group, first entry, number of entries.
    fn walk(&self, cursors: &mut Cursors, i: usize, mut piece: impl FnMut(usize, usize, usize)) {
        let mut bits = self.group_bitmap[i];
        while bits != 0 {
            let group = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (lane, entry) = &mut cursors[group];
            let length = self.row_len[*lane as usize];
            piece(group, *entry as usize, usize::from(length));
            *lane += 1;
            *entry += u32::from(length);
        }
    }

    /// Row pointers, column indices, and the order that the values come in.
    fn join(&self, rows: usize, lane_ptr: &[u32], value_ptr: &[u32]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let nnz = self.col_idx.len();
        let chunks = chunks(self.row_idx.len(), nnz);
        let mut cursors: Cursors = lane_ptr.iter().copied().zip(value_ptr.iter().copied()).collect();
        let mut row_ptr = vec![0; rows + 1];
        // Cursors at the start of each chunk, and the entries of it.
        let mut starts = Vec::with_capacity(chunks.len());
        let (mut next_row, mut total) = (0, 0u32);
        for chunk in &chunks {
            let (before, at_start) = (total, cursors.clone());
            for i in chunk.clone() {
                let row = usize::from(self.row_idx[i]);
                row_ptr[next_row..=row].fill(total);
                next_row = row + 1;
                self.walk(&mut cursors, i, |_, _, length| total += length as u32);
            }
            starts.push((at_start, (total - before) as usize));
        }
        row_ptr[next_row..].fill(total);
        let (mut col_idx, mut order) = (vec![0; nnz], vec![0; nnz]);
        let lengths = || starts.iter().map(|&(_, entries)| entries);
        let slices = pieces(&mut col_idx, lengths()).zip(pieces(&mut order, lengths()));
        let tasks = slices.zip(chunks).zip(&starts).collect();
        each(nnz, tasks, |(): &mut (), (((cols, order), chunk), (start, _))| {
            let (mut cursors, mut at) = (Cursors::clone(start), 0);
            for i in chunk {
                self.walk(&mut cursors, i, |group, first, length| {
                    let stored = &self.col_idx[first..first + length];
                    let slots = cols[at..].iter_mut().zip(&mut order[at..]);
                    for ((slot, &col), (col_slot, order_slot)) in (first..).zip(stored).zip(slots) {
                        *col_slot = (group * self.width) as u32 + u32::from(col);
                        *order_slot = slot as u32;
                    }
                    at += length;
                });
            }
        });
        (row_ptr, col_idx, order)
    }
}
