//! Encoder and decoder of CP-CSR; the layout is that of [`CpCsrParts`](crate::format::CpCsrParts).

use crate::format::{Codec, CpCsr, CpCsrParts, Entries, Entry, FormatParams, LANE_LIMIT};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::cp_csr::check_extents;
use std::collections::BTreeMap;

impl<T: Scalar> Codec<T> for CpCsr<T> {
    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `groups` of 0 or more than 64; then more than 2^16 rows, or columns of a
    /// group; then a row of more than 255 entries in one group: the smallest such row, in its first such group.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let groups = params.groups as usize;
        let width = check_extents(entries.rows, entries.cols, groups)?;
        let mut lists: Vec<Vec<Entry<T>>> = vec![Vec::new(); groups];
        for e in &entries.list {
            lists[e.col as usize / width].push(*e);
        }
        check_lanes(&lists, width)?;
        let mut parts = CpCsrParts {
            rows: entries.rows,
            cols: entries.cols,
            groups,
            row_idx: Vec::new(),
            group_bitmap: Vec::new(),
            group_row_ptr: vec![0],
            row_len: Vec::new(),
            group_value_ptr: vec![0],
            col_idx: Vec::new(),
            values: Vec::new(),
        };
        let mut bitmaps = BTreeMap::<u32, u64>::new();
        for (group, list) in lists.iter().enumerate() {
            for lane in list.chunk_by(|a, b| a.row == b.row) {
                *bitmaps.entry(lane[0].row).or_default() |= 1 << group;
                parts.row_len.push(lane.len() as u8);
            }
            parts.col_idx.extend(list.iter().map(|e| (e.col as usize - group * width) as u16));
            parts.values.extend(list.iter().map(|e| e.value));
            parts.group_row_ptr.push(parts.row_len.len() as u32);
            parts.group_value_ptr.push(parts.values.len() as u32);
        }
        parts.row_idx = bitmaps.keys().map(|&row| row as u16).collect();
        parts.group_bitmap = bitmaps.into_values().collect();
        CpCsr::try_new(parts)
    }

    /// Decodes: every stored element, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let width = p.cols.div_ceil(p.groups);
        let mut list = Vec::with_capacity(p.values.len());
        let (mut lane, mut at) = (0, 0);
        for group in 0..p.groups {
            for (&row, &bitmap) in p.row_idx.iter().zip(&p.group_bitmap) {
                if bitmap >> group & 1 == 0 {
                    continue;
                }
                for _ in 0..p.row_len[lane] {
                    list.push(Entry {
                        row: u32::from(row),
                        col: (group * width) as u32 + u32::from(p.col_idx[at]),
                        value: p.values[at],
                    });
                    at += 1;
                }
                lane += 1;
            }
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        FormatParams { groups: self.groups as u32, ..FormatParams::DEFAULT }
    }
}

/// No row of a group is longer than its 8-bit length can say.
fn check_lanes<T>(lists: &[Vec<Entry<T>>], width: usize) -> Result<(), Refusal> {
    let lanes = lists.iter().enumerate().flat_map(|(group, list)| {
        list.chunk_by(|a, b| a.row == b.row).map(move |lane| (lane[0].row, group, lane.len()))
    });
    match lanes.filter(|&(_, _, length)| length > LANE_LIMIT).min() {
        None => Ok(()),
        Some((row, group, length)) => Err(Refusal::Request(RequestError::TooFull {
            what: "a row of a group (row_len)",
            row: row as usize,
            column: group * width,
            found: length as u64,
            limit: LANE_LIMIT as u64,
            remedy: "use more groups, or cut the matrix into narrower tiles",
        })),
    }
}
