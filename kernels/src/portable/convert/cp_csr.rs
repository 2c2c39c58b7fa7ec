//! CSR to CP-CSR, and back. A row is already sorted by group; what changes is that a group's pieces of all rows come
//! together. Rows are cut into chunks, and what a chunk has in each group is counted first, so that chunks are filled
//! side by side; then pieces are copied.
//!
//! ```text
//! row 0   a b | c | . d      group 0: a b e | group 1: c | group 2: d f g
//! row 1   . e | . | f g
//! ```

use super::rp_csc::groups::{LANE, PARALLEL, Sides, check_groups, each, pieces};
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{CpCsr, CpCsrParts, Csr, FormatKind, FormatParams, Parts, Sparse};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;
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
        let sides = Sides { other: "rows", group: "columns of a group" };
        let (groups, width) = check_groups(params, &sides, m.cols, m.rows)?;
        let (found, chunks) = take_census(&m.row_ptr, &m.col_idx, groups, width)?;
        let (group_row_ptr, group_value_ptr) = offsets(&found, groups);
        let mut parts = CpCsrParts {
            rows: m.rows,
            cols: m.cols,
            groups,
            row_idx: Vec::new(),
            group_bitmap: Vec::new(),
            row_len: vec![0; group_row_ptr[groups] as usize],
            group_row_ptr,
            group_value_ptr,
            col_idx: vec![0; m.nnz()],
            values: vec![T::default(); m.nnz()],
        };
        fill(m, width, &chunks, &found, &mut parts);
        for census in found {
            parts.row_idx.extend(census.row_idx);
            parts.group_bitmap.extend(census.group_bitmap);
        }
        encoded(Parts::CpCsr(parts))
    }
}

/// Cuts `count` lines into chunks for the threads, or one where threads are not worth it.
fn chunks(count: usize, entries: usize) -> Vec<Range<usize>> {
    let wanted = if entries < PARALLEL { 1 } else { rayon::current_num_threads() * 4 };
    let size = count.div_ceil(wanted).max(1);
    (0..count).step_by(size).map(|start| start..(start + size).min(count)).collect()
}

/// What a chunk of rows holds.
#[derive(Default)]
struct ChunkCounts {
    /// Per group: stored rows, entries.
    counts: Vec<(u32, u32)>,
    /// Rows with entries, and their groups.
    row_idx: Vec<u16>,
    group_bitmap: Vec<u64>,
    /// Lengths of the pieces, by row, then group.
    lengths: Vec<u8>,
    /// Row, group and length of the first piece that is too long.
    too_long: Option<(usize, usize, usize)>,
}

impl ChunkCounts {
    fn take(
        row_ptr: &[u32],
        col_idx: &[u32],
        rows: Range<usize>,
        groups: usize,
        width: usize,
    ) -> ChunkCounts {
        let mut census = ChunkCounts { counts: vec![(0, 0); groups], ..ChunkCounts::default() };
        for row in rows {
            let mut rest = &col_idx[row_ptr[row] as usize..row_ptr[row + 1] as usize];
            let mut bitmap = 0u64;
            while let Some(&col) = rest.first() {
                let group = col as usize / width;
                let bound = (group + 1) * width;
                let length = rest.iter().take_while(|&&col| (col as usize) < bound).count();
                rest = &rest[length..];
                bitmap |= 1 << group;
                census.counts[group].0 += 1;
                census.counts[group].1 += length as u32;
                census.lengths.push(length as u8);
                if length > LANE && census.too_long.is_none() {
                    census.too_long = Some((row, group, length));
                }
            }
            if bitmap != 0 {
                census.row_idx.push(row as u16);
                census.group_bitmap.push(bitmap);
            }
        }
        census
    }
}

/// Chunks of the rows, and what each holds.
fn take_census(
    row_ptr: &[u32],
    col_idx: &[u32],
    groups: usize,
    width: usize,
) -> Result<(Vec<ChunkCounts>, Vec<Range<usize>>), Refusal> {
    let chunks = chunks(row_ptr.len() - 1, col_idx.len());
    let mut found: Vec<ChunkCounts> = Vec::new();
    found.resize_with(chunks.len(), ChunkCounts::default);
    let tasks: Vec<_> = found.iter_mut().zip(&chunks).collect();
    each(col_idx.len(), tasks, |(): &mut (), (census, rows)| {
        *census = ChunkCounts::take(row_ptr, col_idx, rows.clone(), groups, width);
    });
    // Chunks are in row order, and the pieces of a row in group order.
    match found.iter().find_map(|census| census.too_long) {
        None => Ok((found, chunks)),
        Some((row, group, length)) => Err(Refusal::Request(RequestError::TooFull {
            what: "a row of a group (row_len)",
            row,
            column: group * width,
            found: length as u64,
            limit: LANE as u64,
            remedy: "use more groups, or cut the matrix into narrower tiles",
        })),
    }
}

/// The offsets of the groups, in lengths and in entries.
fn offsets(found: &[ChunkCounts], groups: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut lanes, mut entries) = (vec![0; groups + 1], vec![0; groups + 1]);
    for group in 0..groups {
        let counts = || found.iter().map(|census| census.counts[group]);
        lanes[group + 1] = lanes[group] + counts().map(|(lanes, _)| lanes).sum::<u32>();
        entries[group + 1] = entries[group] + counts().map(|(_, entries)| entries).sum::<u32>();
    }
    (lanes, entries)
}

/// Where a chunk puts what it has in one group; what is filled is cut off the front.
struct ChunkSlots<'a, T> {
    row_len: &'a mut [u8],
    col_idx: &'a mut [u16],
    values: &'a mut [T],
}

impl<T: Stored> ChunkSlots<'_, T> {
    fn push(&mut self, cols: &[u32], values: &[T], first_col: u32) {
        let (length, rest) = std::mem::take(&mut self.row_len).split_at_mut(1);
        length[0] = cols.len() as u8;
        self.row_len = rest;
        let (slots, rest) = std::mem::take(&mut self.col_idx).split_at_mut(cols.len());
        for (slot, &col) in slots.iter_mut().zip(cols) {
            *slot = (col - first_col) as u16;
        }
        self.col_idx = rest;
        let (slots, rest) = std::mem::take(&mut self.values).split_at_mut(values.len());
        slots.copy_from_slice(values);
        self.values = rest;
    }
}

/// Copies the pieces of all rows to their groups.
fn fill<T: Stored>(
    m: &Csr<T>,
    width: usize,
    chunks: &[Range<usize>],
    found: &[ChunkCounts],
    parts: &mut CpCsrParts<T>,
) {
    let counts = || (0..parts.groups).flat_map(|group| found.iter().map(move |census| census.counts[group]));
    let slots = pieces(&mut parts.row_len, counts().map(|(lanes, _)| lanes as usize))
        .zip(pieces(&mut parts.col_idx, counts().map(|(_, n)| n as usize)))
        .zip(pieces(&mut parts.values, counts().map(|(_, n)| n as usize)));
    // By group, then chunk; handed out by chunk.
    let mut tasks: Vec<_> = chunks.iter().zip(found).map(|task| (task, Vec::new())).collect();
    for (i, ((row_len, col_idx), values)) in slots.enumerate() {
        tasks[i % chunks.len()].1.push(ChunkSlots { row_len, col_idx, values });
    }
    each(m.nnz(), tasks, |(): &mut (), ((rows, census), mut slots)| {
        let mut at = m.row_ptr[rows.start] as usize;
        let mut lengths = census.lengths.iter();
        for &bitmap in &census.group_bitmap {
            for (group, &length) in bits(bitmap).zip(lengths.by_ref()) {
                let piece = at..at + usize::from(length);
                at = piece.end;
                let first_col = (group * width) as u32;
                slots[group].push(&m.col_idx[piece.clone()], &m.values[piece], first_col);
            }
        }
    });
}

/// The bits that are set, ascending.
fn bits(mut bitmap: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (bitmap != 0).then(|| bitmap.trailing_zeros() as usize)?;
        bitmap &= bitmap - 1;
        Some(bit)
    })
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
        let groups = Groups { row_idx: &m.row_idx, group_bitmap: &m.group_bitmap, row_len: &m.row_len };
        let chunks = chunks(m.row_idx.len(), m.nnz());
        let first: Cursors = m.group_row_ptr.iter().copied().zip(m.group_value_ptr.iter().copied()).collect();
        let (row_ptr, starts) = groups.row_ptr(m.rows, first, &chunks);
        let (col_idx, values) = join(m, &groups, &chunks, &starts);
        Ok(compressed(FormatKind::Csr, (m.rows, m.cols), (row_ptr, col_idx, values)))
    }
}

/// The rows of a CP-CSR matrix and the lengths of their pieces.
struct Groups<'a> {
    row_idx: &'a [u16],
    group_bitmap: &'a [u64],
    row_len: &'a [u8],
}

/// Per group: the next stored row and the next entry.
type Cursors = Vec<(u32, u32)>;

impl Groups<'_> {
    /// Visits the pieces of stored row number `i`: group, first entry, number of entries.
    fn walk(&self, cursors: &mut Cursors, i: usize, mut piece: impl FnMut(usize, usize, usize)) {
        for group in bits(self.group_bitmap[i]) {
            let (lane, entry) = &mut cursors[group];
            let length = self.row_len[*lane as usize];
            piece(group, *entry as usize, usize::from(length));
            *lane += 1;
            *entry += u32::from(length);
        }
    }

    /// Row pointers, and where each chunk of stored rows begins: in every group, and in CSR.
    fn row_ptr(
        &self,
        rows: usize,
        mut cursors: Cursors,
        chunks: &[Range<usize>],
    ) -> (Vec<u32>, Vec<(Cursors, u32)>) {
        let mut row_ptr = vec![0; rows + 1];
        let mut starts = Vec::with_capacity(chunks.len());
        let (mut next_row, mut total) = (0, 0u32);
        for chunk in chunks {
            starts.push((cursors.clone(), total));
            for i in chunk.clone() {
                let row = usize::from(self.row_idx[i]);
                row_ptr[next_row..=row].fill(total);
                next_row = row + 1;
                self.walk(&mut cursors, i, |_, _, length| total += length as u32);
            }
        }
        row_ptr[next_row..].fill(total);
        (row_ptr, starts)
    }
}

/// Columns and values, row by row.
fn join<T: Stored>(
    m: &CpCsr<T>,
    groups: &Groups<'_>,
    chunks: &[Range<usize>],
    starts: &[(Cursors, u32)],
) -> (Vec<u32>, Vec<T>) {
    let width = m.cols.div_ceil(m.groups);
    let (mut col_idx, mut values) = (vec![0; m.nnz()], vec![T::default(); m.nnz()]);
    let lengths = || {
        let ends = starts.iter().map(|&(_, start)| start as usize).skip(1).chain([m.nnz()]);
        starts.iter().zip(ends).map(|(&(_, start), end)| end - start as usize)
    };
    let slots = pieces(&mut col_idx, lengths()).zip(pieces(&mut values, lengths()));
    let tasks: Vec<_> = slots.zip(chunks).zip(starts).collect();
    each(m.nnz(), tasks, |(): &mut (), (((cols, values), chunk), (start, _))| {
        let (mut cursors, mut at) = (start.clone(), 0);
        for i in chunk.clone() {
            groups.walk(&mut cursors, i, |group, first, length| {
                let (from, to) = (first..first + length, at..at + length);
                let first_col = (group * width) as u32;
                for (slot, &col) in cols[to.clone()].iter_mut().zip(&m.col_idx[from.clone()]) {
                    *slot = first_col + u32::from(col);
                }
                values[to].copy_from_slice(&m.values[from]);
                at += length;
            });
        }
    });
    (col_idx, values)
}
