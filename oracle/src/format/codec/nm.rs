//! Encoder and decoder of vector-wise N:M; the layout is that of [`NmParts`](crate::format::NmParts).

use crate::format::check::check_slots;
use crate::format::{Codec, Entries, Entry, FormatParams, Nm, NmParts};
use crate::refusal::{Refusal, RequestError};
use crate::scalar::Scalar;
use sparse_types::format::nm::Windows;
use std::collections::{BTreeMap, BTreeSet};

impl<T: Scalar> Codec<T> for Nm<T> {
    /// Encodes sorted entries with the parameters `n`, `m` and `l`.
    ///
    /// # Errors
    /// Entries that fail [`Entries::check`]; a parameter of 0, `n` above `m`; more than
    /// [`SLOT_LIMIT`](crate::format::SLOT_LIMIT) slots; [`RequestError::TooFull`] for the first window (by rows, then columns) in
    /// which more than `n` vectors hold entries.
    fn from_entries_with(entries: &Entries<T>, params: &FormatParams) -> Result<Self, Refusal> {
        entries.check()?;
        let (n, m, l) = (params.n as usize, params.m as usize, params.l as usize);
        let windows = Windows::try_new((entries.rows, entries.cols), n, m, l)?;
        let slots = check_slots("slots", windows.slots)?;
        let groups = windows.groups as usize;
        let kept = kept_rows(entries, n, m, l)?;
        let mut index: Vec<u32> = (0..windows.vectors as usize).map(|at| (at / groups % n) as u32).collect();
        for (&(window, group), rows) in &kept {
            for (j, &offset) in rows.iter().enumerate() {
                index[(window * n + j) * groups + group] = offset;
            }
        }
        let mut values = vec![T::from_bits64(0); slots];
        for e in &entries.list {
            let (row, col) = (e.row as usize, e.col as usize);
            let rows = &kept[&(row / m, col / l)];
            let j = rows.partition_point(|&offset| (offset as usize) < row % m);
            values[(row / m * n + j) * groups * l + col] = e.value;
        }
        Nm::try_new(NmParts { rows: entries.rows, cols: entries.cols, n, m, l, index, values })
    }

    /// Decodes: every slot that is not bitwise +0.0.
    fn entries(&self) -> Entries<T> {
        let p = &**self;
        let mut list = Vec::with_capacity(self.nnz());
        for (at, &value) in p.values.iter().enumerate() {
            if !value.is_positive_zero() {
                let stride = p.cols.div_ceil(p.l) * p.l;
                let (u, col) = (at / stride, at % stride);
                list.push(Entry { row: self.row(u, col / p.l) as u32, col: col as u32, value });
            }
        }
        Entries::sorted(p.rows, p.cols, &list)
    }

    /// The parameters that the matrix was encoded with.
    fn params(&self) -> FormatParams {
        FormatParams { n: self.n as u32, m: self.m as u32, l: self.l as u32, ..FormatParams::DEFAULT }
    }

    fn tile_slots(&self) -> Vec<(u32, u32)> {
        let stride = self.cols.div_ceil(self.l) * self.l;
        let slot = |at: usize| {
            let (u, col) = (at / stride, at % stride);
            (self.row(u, col / self.l) as u32, col as u32)
        };
        (0..self.values.len()).map(slot).collect()
    }

    fn most_slots(entries: &Entries<T>, params: &FormatParams) -> u128 {
        let windows = |extent: usize, window: u32| (extent as u128).div_ceil(u128::from(window.max(1)));
        let (l, n) = (u128::from(params.l), u128::from(params.n));
        windows(entries.rows, params.m) * n * windows(entries.cols, params.l) * l
    }
}

/// The rows that each window with an entry names, as ascending offsets: those with entries and, up to `n`, the lowest
/// others.
fn kept_rows<T>(
    entries: &Entries<T>,
    n: usize,
    m: usize,
    l: usize,
) -> Result<BTreeMap<(usize, usize), Vec<u32>>, Refusal> {
    let mut stored: BTreeMap<(usize, usize), BTreeSet<u32>> = BTreeMap::new();
    for e in &entries.list {
        let (row, col) = (e.row as usize, e.col as usize);
        let offsets = stored.entry((row / m, col / l)).or_default();
        offsets.insert((row % m) as u32);
    }
    let mut kept = BTreeMap::new();
    for ((window, group), offsets) in stored {
        if offsets.len() > n {
            return Err(Refusal::Request(RequestError::TooFull {
                what: "an N:M window (row vectors)",
                row: window * m,
                column: group * l,
                found: offsets.len() as u64,
                limit: n as u64,
                remedy: "prune the matrix first",
            }));
        }
        let others = (0..m as u32).filter(|offset| !offsets.contains(offset));
        let mut names: Vec<u32> = others.take(n - offsets.len()).collect();
        names.extend(&offsets);
        names.sort_unstable();
        kept.insert((window, group), names);
    }
    Ok(kept)
}
