//! Encoder and decoder of RP-CSC; the layout is that of [`RpCscParts`](crate::format::RpCscParts).

use crate::format::{Codec, Entries, Entry, FormatParams, RpCsc, RpCscParts, ascending};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::rp_csc::{LANE_LIMIT, check_extents};
use std::collections::BTreeMap;

impl<T: Scalar> Codec<T> for RpCsc<T> {
    /// Encodes sorted entries.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; `groups` of 0 or more than 64; then more than 2^16 columns, or rows of a
    /// group; then a column of more than 255 entries in one group: the smallest such column, in its first such group.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let groups = params.groups as usize;
        let height = check_extents(entries.rows, entries.cols, groups)?;
        let mut lists: Vec<Vec<Entry<T>>> = vec![Vec::new(); groups];
        for e in &entries.list {
            lists[e.row as usize / height].push(*e);
        }
        for list in &mut lists {
            *list = ascending(list.iter().map(|e| (e.col, e.row))).into_iter().map(|at| list[at]).collect();
        }
        check_lanes(&lists, height)?;
        let mut parts = RpCscParts {
            rows: entries.rows,
            cols: entries.cols,
            groups,
            col_idx: Vec::new(),
            group_bitmap: Vec::new(),
            group_col_ptr: vec![0],
            col_len: Vec::new(),
            group_value_ptr: vec![0],
            row_idx: Vec::new(),
            values: Vec::new(),
        };
        let mut bitmaps = BTreeMap::<u32, u64>::new();
        for (group, list) in lists.iter().enumerate() {
            for lane in list.chunk_by(|a, b| a.col == b.col) {
                *bitmaps.entry(lane[0].col).or_default() |= 1 << group;
                parts.col_len.push(lane.len() as u8);
            }
            parts.row_idx.extend(list.iter().map(|e| (e.row as usize - group * height) as u16));
            parts.values.extend(list.iter().map(|e| e.value));
            parts.group_col_ptr.push(parts.col_len.len() as u32);
            parts.group_value_ptr.push(parts.values.len() as u32);
        }
        parts.col_idx = bitmaps.keys().map(|&col| col as u16).collect();
        parts.group_bitmap = bitmaps.into_values().collect();
        RpCsc::try_new(parts)
    }

    /// Decodes: every stored element, explicit zeros included.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let height = p.rows.div_ceil(p.groups);
        let mut list = Vec::with_capacity(p.values.len());
        let (mut lane, mut at) = (0, 0);
        for group in 0..p.groups {
            for (&col, &bitmap) in p.col_idx.iter().zip(&p.group_bitmap) {
                if bitmap >> group & 1 == 0 {
                    continue;
                }
                for _ in 0..p.col_len[lane] {
                    list.push(Entry {
                        row: (group * height) as u32 + u32::from(p.row_idx[at]),
                        col: u32::from(col),
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

/// No column of a group is longer than its 8-bit length can say.
fn check_lanes<T>(lists: &[Vec<Entry<T>>], height: usize) -> Result<(), Refusal> {
    let lanes = lists.iter().enumerate().flat_map(|(group, list)| {
        list.chunk_by(|a, b| a.col == b.col).map(move |lane| (lane[0].col, group, lane.len()))
    });
    match lanes.filter(|&(_, _, length)| length > LANE_LIMIT).min() {
        None => Ok(()),
        Some((col, group, length)) => Err(Refusal::Request(RequestError::TooFull {
            what: "a column of a group (col_len)",
            row: group * height,
            column: col as usize,
            found: length as u64,
            limit: LANE_LIMIT as u64,
            remedy: "use more groups, or cut the matrix into lower tiles",
        })),
    }
}
