//! Conversions that fall apart into bands of rows: every band is counted or filled on its own, all at once on many
//! threads. Results and refusals do not depend on how many.

use super::jobs::all;
use crate::portable::element::Stored;
use crate::portable::moves::{Arrays, check_slots};
use sparse_types::refusal::Refusal;

/// Elements to look at from which threads are worth their start.
const PARALLEL: usize = 1 << 14;

/// Bands that a matrix is cut into, at most: enough for threads to even out.
const BANDS: usize = 64;

/// Rows of a band, a multiple of `height`: the whole matrix where there is little `work`.
pub(super) fn band_rows(rows: usize, height: usize, work: usize) -> usize {
    let windows = rows.div_ceil(height).max(1);
    if work < PARALLEL { windows * height } else { windows.div_ceil(BANDS) * height }
}

/// Does every job; the refusal is that of the first one that refuses.
pub(super) fn run<J: Send>(
    jobs: Vec<J>,
    each: impl Fn(J) -> Result<(), Refusal> + Sync,
) -> Result<(), Refusal> {
    all(jobs, each).into_iter().collect()
}

/// CSR arrays, band by band of `band` rows. `count(first_row, lengths)` writes the number of entries of each row of a
/// band; `fill(first_row, starts, columns, values)` writes them, `starts` being the offsets of its rows in both.
pub(super) fn gather<T: Stored>(
    rows: usize,
    band: usize,
    count: impl Fn(usize, &mut [u32]) + Sync,
    fill: impl Fn(usize, Vec<u32>, &mut [u32], &mut [T]) + Sync,
) -> Result<Arrays<T>, Refusal> {
    let mut row_ptr = vec![0u32; check_slots("row_ptr", rows as u128 + 1)?];
    let lengths: Vec<_> = row_ptr[1..].chunks_mut(band).enumerate().collect();
    run(lengths, |(at, lengths)| {
        count(at * band, lengths);
        Ok(())
    })?;
    for row in 0..rows {
        row_ptr[row + 1] += row_ptr[row];
    }
    let entries = row_ptr[rows] as usize;
    let (mut columns, mut values) = (vec![0u32; entries], vec![T::from_bits64(0); entries]);
    let mut jobs = Vec::new();
    let (mut left, mut right) = (&mut columns[..], &mut values[..]);
    for (at, ends) in row_ptr[1..].chunks(band).enumerate() {
        let first = row_ptr[at * band];
        let here = (ends[ends.len() - 1] - first) as usize;
        let (these, rest) = left.split_at_mut(here);
        left = rest;
        let (those, rest) = right.split_at_mut(here);
        right = rest;
        jobs.push((at * band, &row_ptr[at * band..at * band + ends.len()], these, those));
    }
    run(jobs, |(first_row, starts, columns, values)| {
        let starts = starts.iter().map(|start| start - starts[0]).collect();
        fill(first_row, starts, columns, values);
        Ok(())
    })?;
    Ok((row_ptr, columns, values))
}
