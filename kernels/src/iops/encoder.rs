//! The encoders: a stream of entries along k becomes RP-CSC (of A) or CP-CSR (of B), one buffer per group.
//!
//! ```text
//! stream (k, row)   (0,2) (1,0) (1,3) (2,0) ..          table I: locate the entry's group, append, count, set the bit
//! group 0 (rows 0 1)       0     .     0                 shared:  idx 0 1 2    bitmap 10 11 01
//! group 1 (rows 2 3) 0     .     1
//! ```
//!
//! A piece is what one half of a buffer holds. Where a tile does not fit, or a lane is longer than 8 bits can say, the rest
//! goes to another piece, a long lane's rest under the same k: the paper's "read the rest input matrices from DRAM".

use super::machine::{EXTENT, GROUPS, LANE};
use sparse_types::format::{CpCsrParts, RpCscParts};
use sparse_types::refusal::{Refusal, RequestError};

/// The entries of one k in one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupLane {
    pub(super) group: u8,
    pub(super) len: u8,
    /// First entry in the group's buffer.
    start: u32,
}

/// One group's buffer.
#[derive(Clone, Debug)]
struct GroupBuffer<T> {
    /// Row (column) inside the group.
    inner: Vec<u16>,
    values: Vec<T>,
}

/// A piece of a tile, encoded.
#[derive(Clone, Debug)]
pub(super) struct Piece<T> {
    /// k of each stored lane, ascending.
    pub(super) idx: Vec<u16>,
    /// Groups that store it.
    bitmap: Vec<u64>,
    /// Where the lanes of each stored k begin, and the end.
    lane_ptr: Vec<u32>,
    lanes: Vec<GroupLane>,
    groups: Vec<GroupBuffer<T>>,
    /// Entries.
    pub(super) entries: u64,
}

impl<T: Copy> Piece<T> {
    fn new(groups: usize) -> Piece<T> {
        let empty = || GroupBuffer { inner: Vec::new(), values: Vec::new() };
        Piece {
            idx: Vec::new(),
            bitmap: Vec::new(),
            lane_ptr: vec![0],
            lanes: Vec::new(),
            groups: std::iter::repeat_with(empty).take(groups).collect(),
            entries: 0,
        }
    }

    /// The lanes of the stored k at `at`, by group.
    #[inline]
    pub(super) fn lanes(&self, at: usize) -> &[GroupLane] {
        &self.lanes[self.lane_ptr[at] as usize..self.lane_ptr[at + 1] as usize]
    }

    /// Locations inside the group, and values.
    #[inline]
    pub(super) fn entries_of(&self, lane: GroupLane) -> (&[u16], &[T]) {
        let group = &self.groups[usize::from(lane.group)];
        let range = lane.start as usize..lane.start as usize + usize::from(lane.len);
        (&group.inner[range.clone()], &group.values[range])
    }

    /// Whether some k may be in both.
    pub(super) fn overlaps<U>(&self, other: &Piece<U>) -> bool {
        let ends = |idx: &[u16]| idx.first().copied().zip(idx.last().copied());
        match (ends(&self.idx), ends(&other.idx)) {
            (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
            _ => false,
        }
    }

    /// Lengths by group.
    fn lengths(&self) -> Vec<Vec<u8>> {
        let mut lengths = vec![Vec::new(); self.groups.len()];
        for lane in &self.lanes {
            lengths[usize::from(lane.group)].push(lane.len);
        }
        lengths
    }
}

/// An encoder at work.
#[derive(Debug)]
pub(super) struct Encoder<T> {
    groups: usize,
    /// Rows (columns) of a group.
    size: usize,
    /// Entries that a piece has room for.
    room: u64,
    piece: Piece<T>,
    done: Vec<Piece<T>>,
    /// Lanes that went on in another piece.
    pub(super) long_lanes: u64,
}

impl<T: Copy> Encoder<T> {
    pub(super) fn new(groups: usize, size: usize, room: u64) -> Encoder<T> {
        Encoder { groups, size, room, piece: Piece::new(groups), done: Vec::new(), long_lanes: 0 }
    }

    /// Takes the next entry, by k, then location in the tile.
    pub(super) fn push(&mut self, k: u16, at: usize, value: T) {
        let (group, inner) = (at / self.size, (at % self.size) as u16);
        let full = self.is_full_lane(k, group);
        if full || self.piece.entries == self.room {
            self.long_lanes += u64::from(full);
            self.next_piece();
        }
        let piece = &mut self.piece;
        if piece.idx.last() != Some(&k) {
            piece.idx.push(k);
            piece.bitmap.push(0);
            piece.lane_ptr.push(piece.lanes.len() as u32);
        }
        let slot = piece.idx.len() - 1;
        let buffer = &mut piece.groups[group];
        if piece.bitmap[slot] >> group & 1 == 0 {
            piece.bitmap[slot] |= 1 << group;
            piece.lanes.push(GroupLane { group: group as u8, len: 0, start: buffer.inner.len() as u32 });
        }
        if let Some(lane) = piece.lanes.last_mut() {
            lane.len += 1;
        }
        piece.lane_ptr[slot + 1] = piece.lanes.len() as u32;
        buffer.inner.push(inner);
        buffer.values.push(value);
        piece.entries += 1;
    }

    /// Whether the entry would be one more than a length can say.
    fn is_full_lane(&self, k: u16, group: usize) -> bool {
        let last = self.piece.lanes.last();
        self.piece.idx.last() == Some(&k)
            && last.is_some_and(|lane| usize::from(lane.group) == group && usize::from(lane.len) == LANE)
    }

    fn next_piece(&mut self) {
        let full = std::mem::replace(&mut self.piece, Piece::new(self.groups));
        self.done.push(full);
    }

    /// All pieces; none without an entry.
    pub(super) fn finish(mut self) -> Vec<Piece<T>> {
        if self.piece.entries > 0 {
            self.next_piece();
        }
        self.done
    }
}

/// What to call the sides of a whole matrix in refusals.
struct MatrixSides {
    other: &'static str,
    group: &'static str,
    lane: &'static str,
    remedy: &'static str,
    /// Lanes are columns, groups are of rows.
    columns: bool,
}

const RP_CSC: MatrixSides = MatrixSides {
    other: "cols",
    group: "rows of a group",
    lane: "a column of a group (col_len)",
    remedy: "use more groups, or cut the matrix into lower tiles",
    columns: true,
};
const CP_CSR: MatrixSides = MatrixSides {
    other: "rows",
    group: "columns of a group",
    lane: "a row of a group (row_len)",
    remedy: "use more groups, or cut the matrix into narrower tiles",
    columns: false,
};

/// Checks that the fields can hold a whole matrix of this shape as one tile, apart from its lengths: RP-CSC, or CP-CSR.
pub(super) fn check(groups: u32, (rows, cols): (usize, usize), rp_csc: bool) -> Result<(), Refusal> {
    let (sides, grouped, other) = if rp_csc { (RP_CSC, rows, cols) } else { (CP_CSR, cols, rows) };
    let groups = groups as usize;
    if groups == 0 {
        return Err(RequestError::Zero { field: "groups" }.into());
    }
    for (field, found, limit) in [
        ("groups", groups, GROUPS),
        (sides.other, other, EXTENT),
        (sides.group, grouped.div_ceil(groups), EXTENT),
    ] {
        if found > limit {
            return Err(RequestError::TooLarge { field, found: found as u128, limit: limit as u64 }.into());
        }
    }
    Ok(())
}

/// Encodes a whole matrix as one tile, whose extents have been checked: `lanes` gives the entries by k.
fn whole<'a, T: Copy + 'a>(
    groups: usize,
    (grouped, other): (usize, usize),
    sides: &MatrixSides,
    lanes: impl Fn(usize) -> (&'a [u32], &'a [T]),
) -> Result<Piece<T>, Refusal> {
    let size = grouped.div_ceil(groups);
    let mut encoder = Encoder::new(groups, size, u64::MAX);
    for k in 0..other {
        let (index, values) = lanes(k);
        for (&at, &value) in index.iter().zip(values) {
            encoder.push(k as u16, at as usize, value);
        }
        if encoder.long_lanes > 0 {
            return Err(too_long(index, size, k, sides));
        }
    }
    Ok(encoder.finish().pop().unwrap_or_else(|| Piece::new(groups)))
}

/// The first group in which this lane is too long.
fn too_long(index: &[u32], size: usize, k: usize, sides: &MatrixSides) -> Refusal {
    let mut groups = index.chunk_by(|&a, &b| a as usize / size == b as usize / size);
    let lane = groups.find(|lane| lane.len() > LANE).unwrap_or(index);
    let first = lane.first().map_or(0, |&at| at as usize / size * size);
    let (row, column) = if sides.columns { (first, k) } else { (k, first) };
    Refusal::Request(RequestError::TooFull {
        what: sides.lane,
        row,
        column,
        found: lane.len() as u64,
        limit: LANE as u64,
        remedy: sides.remedy,
    })
}

/// A whole matrix, given by columns, in RP-CSC.
pub(super) fn rp_csc<'a, T: Copy + 'a>(
    groups: u32,
    (rows, cols): (usize, usize),
    columns: impl Fn(usize) -> (&'a [u32], &'a [T]),
) -> Result<RpCscParts<T>, Refusal> {
    check(groups, (rows, cols), true)?;
    let piece = whole(groups as usize, (rows, cols), &RP_CSC, columns)?;
    let arrays = PieceBuffers::from(piece);
    Ok(RpCscParts {
        rows,
        cols,
        groups: groups as usize,
        col_idx: arrays.idx,
        group_bitmap: arrays.bitmap,
        group_col_ptr: arrays.length_ptr,
        col_len: arrays.lengths,
        group_value_ptr: arrays.value_ptr,
        row_idx: arrays.inner,
        values: arrays.values,
    })
}

/// A whole matrix, given by rows, in CP-CSR.
pub(super) fn cp_csr<'a, T: Copy + 'a>(
    groups: u32,
    (rows, cols): (usize, usize),
    by_rows: impl Fn(usize) -> (&'a [u32], &'a [T]),
) -> Result<CpCsrParts<T>, Refusal> {
    check(groups, (rows, cols), false)?;
    let piece = whole(groups as usize, (cols, rows), &CP_CSR, by_rows)?;
    let arrays = PieceBuffers::from(piece);
    Ok(CpCsrParts {
        rows,
        cols,
        groups: groups as usize,
        row_idx: arrays.idx,
        group_bitmap: arrays.bitmap,
        group_row_ptr: arrays.length_ptr,
        row_len: arrays.lengths,
        group_value_ptr: arrays.value_ptr,
        col_idx: arrays.inner,
        values: arrays.values,
    })
}

/// The buffers of a piece, one group after the other.
struct PieceBuffers<T> {
    idx: Vec<u16>,
    bitmap: Vec<u64>,
    length_ptr: Vec<u32>,
    lengths: Vec<u8>,
    value_ptr: Vec<u32>,
    inner: Vec<u16>,
    values: Vec<T>,
}

impl<T: Copy> From<Piece<T>> for PieceBuffers<T> {
    fn from(piece: Piece<T>) -> PieceBuffers<T> {
        let (mut length_ptr, mut lengths) = (vec![0], Vec::new());
        for group in piece.lengths() {
            lengths.extend(group);
            length_ptr.push(lengths.len() as u32);
        }
        let (mut value_ptr, mut inner, mut values) = (vec![0], Vec::new(), Vec::new());
        for group in piece.groups {
            inner.extend(group.inner);
            values.extend(group.values);
            value_ptr.push(inner.len() as u32);
        }
        PieceBuffers { idx: piece.idx, bitmap: piece.bitmap, length_ptr, lengths, value_ptr, inner, values }
    }
}
