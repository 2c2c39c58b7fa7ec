//! CSR to V:N:M, and back.
//!
//! Two passes over a block row: the first collects the columns that each block uses, in a short sorted list; the second
//! places the entries of each row, which stand behind those before them and behind the free positions that are named.
//!
//! ```text
//! used columns 2 and 7                four named: 0 1 2 7        (the lowest free ones first)
//! n = 2, a row with an entry in 7     position 3, behind one free position that is named: index 0 and 3, slot 1
//! ```

use super::bands;
use crate::portable::element::Stored;
use crate::portable::moves::{Move, check_slots, compressed, encoded};
use crate::portable::request::wrong_format;
use sparse_types::contract::Op;
use sparse_types::format::{Csr, FormatKind, FormatParams, Parts, Sparse, VnmParts};
use sparse_types::refusal::{Refusal, RequestError};
use sparse_types::task::Answer;
use std::ops::Range;

/// CSR to V:N:M.
#[derive(Debug)]
pub(crate) struct CsrToVnm;

/// V:N:M to CSR.
#[derive(Debug)]
pub(crate) struct VnmToCsr;

/// Columns of a block that are named.
const KEPT: usize = 4;

/// The parameters, checked, and the number of block columns.
struct VnmCut {
    v: usize,
    n: usize,
    m: usize,
    across: usize,
}

impl VnmCut {
    fn new(cols: usize, params: FormatParams) -> Result<VnmCut, Refusal> {
        let FormatParams { v, n, m, .. } = params;
        for (field, extent) in [("v", v), ("n", n), ("m", m)] {
            if extent == 0 {
                return Err(RequestError::Zero { field }.into());
            }
        }
        if n > 4 {
            return Err(RequestError::TooLarge { field: "n", found: u128::from(n), limit: 4 }.into());
        }
        if m < 4 {
            return Err(Refusal::Request(RequestError::Parameter {
                field: "m",
                expected: "at least 4",
                found: u64::from(m),
            }));
        }
        let (v, n, m) = (v as usize, n as usize, m as usize);
        let across = cols.div_ceil(m);
        Ok(VnmCut { v, n, m, across })
    }

    /// The columns of a row, block by block: block column, offset of the first entry, number of entries.
    fn runs(&self, columns: &[u32]) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let block = *columns.get(at)? as usize / self.m;
            let end = (block + 1) * self.m;
            let start = at;
            while columns.get(at).is_some_and(|&col| (col as usize) < end) {
                at += 1;
            }
            Some((block, start..at))
        })
    }

    /// Where number `rank` of the `used` lines that stand before others goes, `free` being how many unused ones lie
    /// below it and `room` how many lines are named.
    fn slot(rank: usize, used: usize, free: usize, room: usize) -> usize {
        rank + free.min(room - used)
    }
}

impl Move for CsrToVnm {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Csr;
    const TO: Option<FormatKind> = Some(FormatKind::Vnm);

    fn perform<T: Stored>(matrix: &Sparse<T>, params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Csr(csr) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let cut = VnmCut::new(csr.cols, params)?;
        let down = csr.rows.div_ceil(cut.v);
        let blocks = down as u128 * cut.across as u128;
        let columns = check_slots("column", blocks * KEPT as u128)?;
        let lanes = blocks * cut.v as u128;
        let slots = check_slots("slots", lanes * cut.n as u128)?;
        // Position j in bits 2j and 2j + 1.
        let first = (0b1110_0100u16 & ((1 << (2 * cut.n)) - 1)) as u8;
        let mut column: Vec<u32> = [0, 1, 2, 3].repeat(columns / KEPT);
        let mut index = vec![first; lanes as usize];
        let mut values = vec![T::from_bits64(0); slots];
        if slots > 0 {
            let band = bands::band_rows(csr.rows, cut.v, csr.nnz());
            let lanes = index.chunks_mut(band * cut.across);
            let lanes = lanes.zip(values.chunks_mut(band * cut.across * cut.n));
            let jobs = column.chunks_mut(band / cut.v * cut.across * KEPT).zip(lanes);
            bands::run(jobs.enumerate().collect(), |(at, (column, (index, values)))| {
                let mut scratch = vec![0u8; cut.across];
                let rows = at * band..csr.rows.min((at + 1) * band);
                let blocks = rows.step_by(cut.v).zip(column.chunks_exact_mut(cut.across * KEPT));
                for (at, (first, column)) in blocks.enumerate() {
                    let lanes = at * cut.v * cut.across;
                    let block = first..csr.rows.min(first + cut.v);
                    select(csr, &cut, block.clone(), column, &mut scratch)?;
                    place(csr, &cut, block, column, &mut index[lanes..], &mut values[lanes * cut.n..]);
                }
                Ok(())
            })?;
        }
        encoded(Parts::Vnm(VnmParts {
            rows: csr.rows,
            cols: csr.cols,
            v: cut.v,
            n: cut.n,
            m: cut.m,
            column,
            index,
            values,
        }))
    }
}

/// Names four columns in every block of a block row; `used` has room for one number per block.
fn select<T: Stored>(
    csr: &Csr<T>,
    cut: &VnmCut,
    rows: Range<usize>,
    column: &mut [u32],
    used: &mut [u8],
) -> Result<(), Refusal> {
    used.fill(0);
    let mut full = false;
    for row in rows.clone() {
        let (columns, _) = csr.row(row);
        for (block, run) in cut.runs(columns) {
            full |= run.len() > cut.n;
            let named = &mut column[block * KEPT..(block + 1) * KEPT];
            for &col in &columns[run] {
                let offset = col - (block * cut.m) as u32;
                let count = usize::from(used[block]).min(KEPT);
                let at = named[..count].iter().filter(|&&other| other < offset).count();
                if at < count && named[at] == offset {
                    continue;
                }
                if count == KEPT {
                    full = true;
                    break;
                }
                named.copy_within(at..count, at + 1);
                named[at] = offset;
                used[block] += 1;
            }
        }
    }
    if full {
        return Err(too_full(csr, cut, rows));
    }
    for (named, &count) in column.chunks_exact_mut(KEPT).zip(&*used) {
        let count = usize::from(count);
        if count < KEPT {
            let stored = [named[0], named[1], named[2], named[3]];
            named.copy_from_slice(&[0, 1, 2, 3]);
            for (rank, &offset) in stored[..count].iter().enumerate() {
                named[VnmCut::slot(rank, count, offset as usize - rank, KEPT)] = offset;
            }
        }
    }
    Ok(())
}

/// Places the entries of a block row. No block of it uses more than four columns, no row more than `n` of them.
fn place<T: Stored>(
    csr: &Csr<T>,
    cut: &VnmCut,
    rows: Range<usize>,
    column: &[u32],
    index: &mut [u8],
    values: &mut [T],
) {
    for (at, row) in rows.enumerate() {
        let (columns, elements) = csr.row(row);
        for (block, run) in cut.runs(columns) {
            let lane = at * cut.across + block;
            let named = &column[block * KEPT..(block + 1) * KEPT];
            let used = run.len();
            for (rank, entry) in run.enumerate() {
                let offset = columns[entry] - (block * cut.m) as u32;
                let position = named.iter().filter(|&&other| other < offset).count();
                let slot = VnmCut::slot(rank, used, position - rank, cut.n);
                index[lane] = index[lane] & !(3 << (2 * slot)) | (position as u8) << (2 * slot);
                values[lane * cut.n + slot] = elements[entry];
            }
        }
    }
}

/// The refusal of a block row that does not fit: its first block with too many columns, or with a row of too many values.
fn too_full<T: Stored>(csr: &Csr<T>, cut: &VnmCut, rows: Range<usize>) -> Refusal {
    let mut blocks: Vec<(usize, u32, usize)> = Vec::new();
    for row in rows.clone() {
        let columns = csr.row(row).0.iter();
        blocks.extend(columns.map(|&col| (col as usize / cut.m, col, row)));
    }
    blocks.sort_unstable();
    let remedy = "prune the matrix first";
    for block in blocks.chunk_by(|a, b| a.0 == b.0) {
        let column = block[0].0 * cut.m;
        let distinct = block.chunk_by(|a, b| a.1 == b.1).count();
        if distinct > KEPT {
            return Refusal::Request(RequestError::TooFull {
                what: "a V:N:M block (columns)",
                row: rows.start,
                column,
                found: distinct as u64,
                limit: KEPT as u64,
                remedy,
            });
        }
        let mut rows: Vec<usize> = block.iter().map(|entry| entry.2).collect();
        rows.sort_unstable();
        if let Some(row) = rows.chunk_by(|a, b| a == b).find(|row| row.len() > cut.n) {
            return Refusal::Request(RequestError::TooFull {
                what: "a row of a V:N:M block (values)",
                row: row[0],
                column,
                found: row.len() as u64,
                limit: cut.n as u64,
                remedy,
            });
        }
    }
    unreachable!("only called where some block is too full")
}

impl Move for VnmToCsr {
    const OP: Op = Op::Convert;
    const FROM: FormatKind = FormatKind::Vnm;
    const TO: Option<FormatKind> = Some(FormatKind::Csr);

    fn perform<T: Stored>(matrix: &Sparse<T>, _params: FormatParams) -> Result<Answer, Refusal> {
        let Sparse::Vnm(vnm) = matrix else {
            return Err(wrong_format("A", Self::FROM, matrix.kind()));
        };
        let across = vnm.cols.div_ceil(vnm.m);
        let stride = across * vnm.n;
        let slots = |row: usize| &vnm.values[row * stride..(row + 1) * stride];
        let arrays = bands::gather(
            vnm.rows,
            bands::band_rows(vnm.rows, 1, vnm.values.len()),
            |first, lengths| {
                for (at, length) in lengths.iter_mut().enumerate() {
                    let filled = slots(first + at).iter().filter(|v| !v.is_positive_zero());
                    *length = filled.count() as u32;
                }
            },
            |first, starts, columns, values| {
                let mut at = 0;
                for row in first..first + starts.len() {
                    for (block, slots) in slots(row).chunks_exact(vnm.n).enumerate() {
                        let named = &vnm.column[(row / vnm.v * across + block) * KEPT..];
                        let index = vnm.index[row * across + block];
                        for (j, &value) in slots.iter().enumerate() {
                            if !value.is_positive_zero() {
                                let offset = named[usize::from(index >> (2 * j) & 3)];
                                columns[at] = (block * vnm.m) as u32 + offset;
                                values[at] = value;
                                at += 1;
                            }
                        }
                    }
                }
            },
        )?;
        Ok(compressed(FormatKind::Csr, (vnm.rows, vnm.cols), arrays))
    }
}
